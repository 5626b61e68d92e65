"""`contacts`: what the operator does, and a file saved only when that was asked for."""

import json

import bpy
import pytest

from tests.command_line.shots import save
from tests.command_line.validators import validator
from tests.core.contacts.gait import WALK, feet_of, on_belt
from tests.tasks.find_contacts.walker import make_walker


@pytest.fixture
def shot(tmp_path, empty_file):
    """A character that walks on a belt."""
    make_walker(rate=30, feet=on_belt(feet_of(WALK, rate=30, seconds=3.0), [0.0, -0.9 * WALK.speed, 0.0]))
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def test_the_command_does_what_the_operator_does(twobone, shot, tmp_path):
    ended = twobone(
        "contacts", "--file", shot, "--armature", "Walker", "--save", tmp_path / "done.blend", "--report", tmp_path / "r.json"
    )
    assert ended.code == 0, ended.complained
    document = json.loads((tmp_path / "r.json").read_text())
    validator("contacts").validate(document)
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    assert bpy.ops.twobone.find_contacts(armature="Walker") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    for name in ("chains", "ground_height", "ground_velocity", "frames", "sentence"):
        assert document[name] == report[name]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "done.blend"))
    assert len(bpy.data.objects["Walker"].twobone.chains[0].found_contacts) > 0


def test_flags_are_the_operators_settings(twobone, shot, tmp_path):
    words = ["--frame-start", "10", "--frame-end", "40", "--ground-moves", "given", "--ground-velocity", "0", "-1.2", "0"]
    ended = twobone("contacts", "--file", shot, "--armature", "Walker", *words, "--report", tmp_path / "r.json")
    assert ended.code == 0, ended.complained
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["frame_start"], document["frame_end"]) == (10, 40)
    assert document["ground_velocity"] == [0.0, -1.2, 0.0]
    assert "Not saved" in ended.said


def test_a_shot_without_legs_is_refused(twobone, shot, tmp_path):
    walker = bpy.data.objects["Walker"]
    walker.twobone.chains.clear()
    walker.data = bpy.data.armatures.new("Empty")
    save(tmp_path / "none.blend")
    ended = twobone("contacts", "--file", tmp_path / "none.blend", "--armature", "Walker")
    assert ended.code == 1
    assert "no enabled chain that is a leg" in ended.complained
