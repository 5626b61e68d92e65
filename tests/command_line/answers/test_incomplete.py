"""Shots in which something is missing that moves the chain: they bake, and the result is wrong, so that must be said."""

import json
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import LEG, keys_in, make_shot, save

INCOMPLETE = 4


@pytest.fixture
def shot(tmp_path, registered_addon):
    """A rig that hangs from a moving car of another file, which is lost; `prop.blend` is lost as well and moves nothing."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    car = bpy.data.objects.new("Car", None)
    bpy.context.scene.collection.objects.link(car)
    for frame in (1, 24):
        car.location = (0, frame * 0.05, 0)
        car.keyframe_insert("location", frame=frame)
    save(tmp_path / "car.blend")
    rig, _ = make_shot()
    rig.parent = linked(tmp_path / "car.blend", "Car")
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def linked(library, name):
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.objects = [name]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def lose(folder):
    (folder / "car.blend").rename(folder / "car.gone")


def test_a_lost_library_is_an_outcome_of_its_own_and_nothing_is_saved(twobone, shot):
    goal, report = shot.parent / "baked.blend", shot.parent / "report.json"
    words = ["bake", "--file", shot, *LEG, "--save", goal, "--report", report]
    assert twobone(*words).code == 0
    goal.unlink()
    lose(shot.parent)
    for more in ([], ["--strict"], ["--dry-run"]):
        ended = twobone(*words, *more)
        assert ended.code == INCOMPLETE
        assert '"Car"' in ended.complained
        assert "car.blend" in ended.complained
        assert not goal.exists()
        assert any('"Car"' in sentence for sentence in json.loads(report.read_text())["incomplete"])


def test_incomplete_may_be_allowed_and_is_a_warning_then(twobone, shot):
    lose(shot.parent)
    goal, report = shot.parent / "baked.blend", shot.parent / "report.json"
    ended = twobone("bake", "--file", shot, *LEG, "--save", goal, "--report", report, "--allow-incomplete")
    assert ended.code == 0
    assert len(keys_in(goal)) == 24 * 8
    told = json.loads(report.read_text())
    assert told["incomplete"]
    assert set(told["incomplete"]) <= set(told["provenance"]["warnings"])


@pytest.mark.parametrize("command", ["report", "target"])
def test_other_commands_say_it_as_well(twobone, shot, command):
    lose(shot.parent)
    assert twobone(command, "--file", shot, *LEG).code == INCOMPLETE


def test_what_moves_nothing_may_be_missing_but_is_named(twobone, shot):
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.data.objects["Rig"].parent = None
    save(shot)
    lose(shot.parent)
    ended = twobone("bake", "--file", shot, *LEG)
    assert ended.code == 0
    assert "car.blend" in ended.complained


def test_an_object_that_its_library_no_longer_has(twobone, shot):
    bpy.ops.wm.open_mainfile(filepath=str(shot.parent / "car.blend"))
    bpy.data.objects["Car"].name = "Carriage"
    save(shot.parent / "car.blend")
    ended = twobone("bake", "--file", shot, *LEG)
    assert ended.code == INCOMPLETE
    assert '"Car"' in ended.complained


def test_a_missing_rig_says_which_library_is_missing(twobone, tmp_path, registered_addon):
    make_shot(tmp_path / "rig.blend")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    linked(tmp_path / "rig.blend", "Rig")
    save(tmp_path / "shot.blend")
    (tmp_path / "rig.blend").unlink()
    for armature in ("Rig", "Another"):
        ended = twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--armature", armature)
        assert ended.code == 1
        assert str(Path("rig.blend")) in ended.complained.splitlines()[-1]


def driven(path, expression):
    _, target = make_shot()
    target.driver_add("location", 1).driver.expression = expression
    save(path)


def test_a_driver_that_may_not_run_is_incomplete_and_one_that_needs_no_scripts_is_not(twobone, tmp_path, registered_addon):
    driven(tmp_path / "blocked.blend", '__import__("math").sin(frame)')
    ended = twobone("bake", "--file", tmp_path / "blocked.blend", *LEG)
    assert ended.code == INCOMPLETE
    assert "--scripts" in ended.complained
    assert twobone("bake", "--file", tmp_path / "blocked.blend", *LEG, "--scripts").code == 0
    driven(tmp_path / "simple.blend", "sin(frame) * 0.1")
    assert twobone("bake", "--file", tmp_path / "simple.blend", *LEG).code == 0


def test_a_driver_that_cannot_be_evaluated_is_incomplete(twobone, tmp_path, registered_addon):
    driven(tmp_path / "broken.blend", "no_such_thing + frame")
    assert twobone("bake", "--file", tmp_path / "broken.blend", *LEG).code == INCOMPLETE


def test_a_batch_counts_them_on_their_own(twobone, shot):
    lose(shot.parent)
    make_shot(shot.parent / "whole.blend")
    chain = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
    job = shot.parent / "job.json"
    job.write_text(json.dumps({"shots": ["shot.blend", "whole.blend"], "output": "baked/{shot}.blend", **chain}))
    assert twobone("batch", job, "--jobs", 2).code == INCOMPLETE
    summary = json.loads((shot.parent / "job.json.summary.json").read_text())
    assert (summary["incomplete"], summary["done"]) == (1, 1)
    assert [row["state"] for row in summary["shots"]] == ["incomplete", "done"]
    assert '"Car"' in summary["shots"][0]["reason"]
    assert twobone("batch", job, "--allow-incomplete", "--resume").code == 0
    summary = json.loads((shot.parent / "job.json.summary.json").read_text())
    assert '"Car"' in " ".join(summary["shots"][0]["warnings"])
