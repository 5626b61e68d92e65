"""`--strict` and `--max-error`, and `report`, which measures without baking."""

import json

import bpy
import pytest

from tests.command_line.shots import LEG, keys_in, keys_of, make_shot, save

FAR = {1: (1.2, 0.0, 1.0), 24: (9.0, 0.0, 2.0)}


def test_a_frame_out_of_reach_is_exit_code_3_and_nothing_is_saved(twobone, tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend", places=FAR)
    goal, report = tmp_path / "baked.blend", tmp_path / "report.json"
    ended = twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--strict", "--save", goal, "--report", report)
    assert ended.code == 3
    assert "out of reach" in ended.complained
    assert "24" in ended.complained
    assert not goal.exists()
    assert json.loads(report.read_text())["too_far"] > 0
    assert twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--save", goal).code == 0
    assert goal.exists()


@pytest.mark.parametrize("limit, code", [("1e-3", 0), ("0", 3)])
def test_max_error_is_held_against_the_measured_error(twobone, registered_addon, limit, code):
    make_shot()
    assert twobone("bake", *LEG, "--max-error", limit).code == code


def test_an_error_that_was_not_measured_is_not_taken_for_a_small_one(twobone, registered_addon):
    make_shot()
    ended = twobone("bake", *LEG, "--no-verify", "--max-error", "1")
    assert ended.code == 3
    assert "not measured" in ended.complained


def test_strictness_may_stand_in_the_job(twobone, tmp_path, registered_addon):
    make_shot(places=FAR)
    job = tmp_path / "job.toml"
    job.write_text("strict = true\n")
    assert twobone("bake", *LEG, "--job", job).code == 3


def test_report_measures_what_is_there_and_changes_nothing(twobone, tmp_path, registered_addon):
    make_shot()
    twobone("bake", *LEG)
    keys = keys_of(bpy.data.objects["Rig"])
    good = json.loads(twobone("report", *LEG, "--report", "-", "--max-error", "1e-4").said)
    assert (good["keys"], good["channels"], good["frames"]) == (24 * 8, 8, 24)
    assert good["max_error"] < 1e-5
    bpy.data.objects["Target"].delta_location.y = bpy.data.objects["Target"].delta_location.z = 0.25
    ended = twobone("report", *LEG, "--max-error", "1e-4")
    assert ended.code == 3
    worse = json.loads(twobone("report", *LEG, "--report", "-").said)
    assert worse["max_error"] == pytest.approx(0.25, abs=1e-4)
    assert keys_of(bpy.data.objects["Rig"]) == keys


def test_report_before_any_bake_finds_no_keys(twobone, registered_addon):
    make_shot()
    found = json.loads(twobone("report", *LEG, "--report", "-").said)
    assert (found["keys"], found["channels"]) == (0, 0)
    assert found["max_error"] > 0.1


def test_chains_lists_what_is_stored(twobone, tmp_path, registered_addon):
    from tests.command_line.shots import store_chain

    rig, target = make_shot()
    store_chain(rig, target, "left leg", softness=0.25)
    save(tmp_path / "shot.blend")
    ended = twobone("chains", "--file", tmp_path / "shot.blend", "--report", "-")
    listed = json.loads(ended.said)["chains"]
    assert [(chain["name"], chain["enabled"], chain["target"], chain["softness"]) for chain in listed] == [
        ("left leg", True, "Target", 0.25)
    ]
    assert "left leg" in twobone("chains").said


def test_clear_removes_what_bake_wrote_and_keeps_what_people_keyed(twobone, tmp_path, registered_addon):
    rig, _ = make_shot()
    bone = rig.pose.bones["upper"]
    bone.keyframe_insert("location", frame=5)
    bone.keyframe_insert("rotation_quaternion", frame=40)
    before = keys_of(rig)
    save(tmp_path / "shot.blend")
    twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--save")
    assert len(keys_in(tmp_path / "shot.blend")) > len(before)
    ended = twobone("clear", "--file", tmp_path / "shot.blend", *LEG, "--save", "--report", "-")
    assert json.loads(ended.said)["keys_removed"] == 24 * 8
    assert keys_in(tmp_path / "shot.blend") == before
