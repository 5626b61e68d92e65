"""Every example runs from a fresh Blender and leaves a file; each in a process of its own, as its reader would run it."""

import importlib.util
import json
import re
import subprocess
import sys

import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tools.build_zip import ROOT

# The examples' common ground, which does nothing by itself, and what has a test of its own.
LEFT_OUT = {"stage", "body", "chart", "walker", "bake_and_export", "batch"}
ALSO_TELLS = {"bvh_to_fbx", "nudge_hand", "follow_character", "audit_folder", "demo"}
EXAMPLES = sorted({path.stem for path in (ROOT / "examples").glob("*.py")} - LEFT_OUT - ALSO_TELLS)

pytestmark = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="there is no Blender in this Python")


def run(example, folder):
    """What an example prints; its files are in the folder afterwards."""
    command = [sys.executable, str(ROOT / "examples" / f"{example}.py"), "--output", str(folder), "--no-picture"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_IN_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


SLIDING = {"open_me", "sliding_walk"}
"""Files whose feet slide, as their reader is to see."""
AS_AT_REST, SUNKEN, STILL = 0.99, -0.005, 0.8
"""Least cosine between the axis of a joint and that at rest; metres below its place at rest at which a ball is in the ground; and
the share of a standing ball's steps in which it is still: those that are not are the first and last of a step,
a larger share of a small character's. Of feet that slide none is."""


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs_and_what_is_seen_in_its_file_is_right(example, tmp_path, registered_addon):
    run(example, tmp_path)
    assert_seen(tmp_path)


def assert_seen(folder):
    """Joints bend as at rest, and feet are neither in the ground nor slide, in every file that an example leaves."""
    files = [path for path in folder.rglob("*.blend") if path.parent.name != "clips"]
    assert files, "no Blender file was saved"
    for stem, character in ((file.stem, character) for file in files for character in seen_in(file).values()):
        assert min(character["joints"].values()) > AS_AT_REST, character
        assert all(low > SUNKEN for low in character["lowest"].values()), character
        is_still = [share > STILL for share in character["still"].values()]
        assert not any(is_still) if stem in SLIDING else all(is_still), character


def seen_in(path):
    """What tests/examples/seen.py measures in a file."""
    import bpy

    from tests.examples.seen import characters

    bpy.ops.wm.open_mainfile(filepath=str(path))
    return characters()


def test_a_recording_is_handed_over_with_feet_that_stand(tmp_path, registered_addon):
    told = run("bvh_to_fbx", tmp_path)
    before, after = (float(number) for number in re.findall(r"feet slide by up to ([\d.]+) mm", told))
    assert before > 50.0
    assert after < 1.0
    assert_seen(tmp_path)


def test_a_hand_is_nudged_to_its_place_and_nowhere_else(tmp_path, registered_addon):
    measured = re.findall(r"^(?:At frame .* is|than) ([\d.]+) mm", run("nudge_hand", tmp_path), re.MULTILINE)
    assert [float(number) < 0.1 for number in measured] == [True, True]
    assert_seen(tmp_path)


def test_the_small_character_moves_as_the_large_one(tmp_path, registered_addon):
    (off,) = re.findall(r"at most ([\d.]+) mm", run("follow_character", tmp_path))
    assert float(off) < 0.1
    assert_seen(tmp_path)


def test_the_audit_of_a_folder_names_what_is_wrong_with_which_clip(tmp_path):
    clips = dict(re.findall(r"^(clean|slides|pops): (.+)$", run("audit_folder", tmp_path), re.MULTILINE))
    assert "fine" in clips["clean"]
    assert "slide" in clips["slides"]
    assert "slide" not in clips["pops"]
    assert "pops at frame 40" in clips["pops"]


def test_the_demo_plants_the_feet_moves_the_arms_and_says_so(tmp_path, registered_addon):
    """What its reports say, and by own measures of the file that it leaves: elbows bend as elbows do, and feet stand."""
    told = run("demo", tmp_path)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [chain["upper"] for chain in report["chains"]] == ["upper_arm_fk.L", "upper_arm_fk.R"]
    assert all(chain["reached"] == chain["frames"] == 96 for chain in report["chains"])
    assert all(chain["keys"] < 0.2 * chain["frames"] * chain["channels"] for chain in report["chains"])
    assert str(tmp_path / "report.json") in told
    assert f"all within {1000.0 * report['max_distance_to_target']:.1f} mm of their targets" in report["sentence"]
    planted = json.loads((tmp_path / "planted_report.json").read_text(encoding="utf-8"))
    assert f"`{planted['sentence']}`" in (ROOT / "docs" / "plant_the_feet.md").read_text(encoding="utf-8")
    contacts = [contact for chain in planted["chains"] for contact in chain["contacts"]]
    assert max(contact["slide_before"] for contact in contacts) > 0.03
    assert max(contact["slide_after"] for contact in contacts) < 1e-5
    seen = seen_in(tmp_path / "demo.blend")["rig"]
    arms = [cosine for name, cosine in seen["joints"].items() if name.startswith("upper_arm_fk")]
    assert len(arms) == 2
    assert min(arms) > AS_AT_REST
    assert min(seen["still"].values()) > 0.66  # In the others a low foot swings.


def test_the_batch_names_the_two_shots_that_are_wrong_and_bakes_the_others(tmp_path):
    assert "Exit code 1: 6 of 8 shots done" in run("batch", tmp_path)  # It fails if examples/job/expected_summary.json differs.
    assert len(list((tmp_path / "baked").glob("*.blend"))) == 6
