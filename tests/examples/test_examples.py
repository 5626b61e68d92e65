"""Every example runs from a fresh Blender and leaves a file; each in a process of its own, as its reader would run it."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tools.build_zip import ROOT

# The examples' common ground, which does nothing by itself, and what has a test of its own.
LEFT_OUT = {"stage.py", "body.py", "chart.py", "walker.py", "bake_and_export.py", "batch.py"}
DEMO = ROOT / "examples" / "demo.py"
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name not in LEFT_OUT and path != DEMO)

pytestmark = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="there is no Blender in this Python")


def run(example, folder, *arguments):
    command = [sys.executable, str(example), "--output", str(folder), "--no-picture", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_IN_SECONDS)


SLIDING = {"open_me", "sliding_walk"}
"""Files whose feet slide, as their reader is to see."""
AS_AT_REST, SUNKEN, STILL = 0.99, -0.005, 0.8
"""Least cosine between the axis of a joint and that at rest; metres below its place at rest at which a ball is in the ground; and
the share of a standing ball's steps in which it is still: those that are not are the first and last of a step,
a larger share of a small character's. Of feet that slide none is."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_what_is_seen_in_its_file_is_right(example, tmp_path):
    done = run(example, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    files = [path for path in tmp_path.rglob("*.blend") if path.parent.name != "clips"]
    assert files or example.stem == "audit_folder", "no Blender file was saved"
    for stem, character in ((file.stem, character) for file in files for character in seen_in(file).values()):
        assert min(character["joints"].values()) > AS_AT_REST, character
        assert all(low > SUNKEN for low in character["lowest"].values()), character
        is_still = [share > STILL for share in character["still"].values()]
        assert not any(is_still) if stem in SLIDING else all(is_still), character


def seen_in(path):
    """What tests/examples/seen.py measures in a file."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    script = ROOT / "tests" / "examples" / "seen.py"
    command = [sys.executable, str(script), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_IN_SECONDS, env=environment)
    (told,) = re.findall(r"^SEEN (.+)$", ended.stdout, re.MULTILINE) or [pytest.fail(ended.stdout + ended.stderr)]
    return json.loads(told)


def test_a_recording_is_handed_over_with_feet_that_stand(tmp_path):
    told = run(ROOT / "examples" / "bvh_to_fbx.py", tmp_path).stdout
    before, after = (float(number) for number in re.findall(r"feet slide by up to ([\d.]+) mm", told))
    assert before > 50.0
    assert after < 1.0


def test_a_hand_is_nudged_to_its_place_and_nowhere_else(tmp_path):
    told = run(ROOT / "examples" / "nudge_hand.py", tmp_path).stdout
    measured = re.findall(r"^(?:At frame .* is|than) ([\d.]+) mm", told, re.MULTILINE)
    assert [float(number) < 0.1 for number in measured] == [True, True]


def test_the_small_character_moves_as_the_large_one(tmp_path):
    (off,) = re.findall(r"at most ([\d.]+) mm", run(ROOT / "examples" / "follow_character.py", tmp_path).stdout)
    assert float(off) < 0.1


def test_the_audit_of_a_folder_names_what_is_wrong_with_which_clip(tmp_path):
    clips = dict(
        re.findall(r"^(clean|slides|pops): (.+)$", run(ROOT / "examples" / "audit_folder.py", tmp_path).stdout, re.MULTILINE)
    )
    assert "fine" in clips["clean"]
    assert "slide" in clips["slides"]
    assert "slide" not in clips["pops"]
    assert "pops at frame 40" in clips["pops"]


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


def test_the_demos_elbows_bend_as_elbows_do_and_its_feet_stand(tmp_path):
    """By own measures of the file that it leaves: none is taken from a report."""
    done = run(DEMO, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = seen_in(tmp_path / "demo.blend")["rig"]
    arms = [cosine for name, cosine in seen["joints"].items() if name.startswith("upper_arm_fk")]
    assert len(arms) == 2
    assert min(arms) > AS_AT_REST
    assert min(seen["still"].values()) > 0.66  # In the others a low foot swings.


def test_the_batch_names_the_two_shots_that_are_wrong_and_bakes_the_others(tmp_path):
    done = run(ROOT / "examples" / "batch.py", tmp_path)
    assert done.returncode == 0, "the summary is not as examples/job/expected_summary.json says"
    assert "Exit code 1: 6 of 8 shots done" in done.stdout
    assert len(list((tmp_path / "baked").glob("*.blend"))) == 6
