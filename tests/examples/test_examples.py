"""Every example runs from a fresh Blender and leaves a file; each in a process of its own, as its reader would run it."""

import importlib.util
import json
import subprocess
import sys

import pytest

from tools.build_zip import ROOT

# The examples' common ground, which does nothing by itself, and what has a test of its own.
LEFT_OUT = {"stage.py", "body.py", "chart.py", "bake_and_export.py", "batch.py"}
DEMO = ROOT / "examples" / "demo.py"
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name not in LEFT_OUT and path != DEMO)

pytestmark = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="there is no Blender in this Python")


def run(example, folder, *arguments):
    command = [sys.executable, str(example), "--output", str(folder), "--no-picture", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_leaves_a_file(example, tmp_path):
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(tmp_path.rglob("*.blend")), "no Blender file was saved"
    assert "Traceback" not in done.stderr


def test_the_demo_plants_the_feet_moves_the_arms_and_says_so(tmp_path):
    done = run(DEMO, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [chain["upper"] for chain in report["chains"]] == ["upper_arm_fk.L", "upper_arm_fk.R"]
    assert all(chain["reached"] == chain["frames"] == 96 for chain in report["chains"])
    assert all(chain["keys"] < 0.2 * chain["frames"] * chain["channels"] for chain in report["chains"])
    assert (tmp_path / "demo.blend").is_file()
    assert str(tmp_path / "report.json") in done.stdout
    planted = json.loads((tmp_path / "planted_report.json").read_text(encoding="utf-8"))
    contacts = [contact for chain in planted["chains"] for contact in chain["contacts"]]
    assert max(contact["slide_before"] for contact in contacts) > 0.03
    assert max(contact["slide_after"] for contact in contacts) < 1e-5


def test_the_batch_names_the_two_shots_that_are_wrong_and_bakes_the_others(tmp_path):
    done = run(ROOT / "examples" / "batch.py", tmp_path)
    assert "Exit code 1: 6 of 8 shots done" in done.stdout
    assert len(list((tmp_path / "baked").glob("*.blend"))) == 6
