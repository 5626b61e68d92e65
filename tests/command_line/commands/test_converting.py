"""`convert` and `target`: what the operators do, and a file saved only when that was asked for."""

import json

import bpy
import numpy as np
import pytest

from tests.command_line.reports import without_times
from tests.command_line.shots import FIRST, LAST, LEG, keys_in, keys_of, make_shot, save, store_chain


@pytest.fixture
def on_ik(tmp_path, registered_addon):
    """A shot in which Blender's IK pulls the leg after the target."""
    rig, target = make_shot()
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


@pytest.fixture
def on_keys(tmp_path, registered_addon):
    """A shot in which the leg swings in the plane XZ by keys, with two stored chains that have a target each."""
    rig, target = make_shot()
    target.animation_data_clear()
    for bone, axis, angles in (("upper", (-0.6, 0.0, 0.8), (0.0, 0.6)), ("lower", (0.0, 0.0, 1.0), (0.2, 0.9))):
        pose = rig.pose.bones[bone]
        pose.rotation_mode = "AXIS_ANGLE"
        for frame, angle in zip((FIRST, LAST), angles, strict=True):
            pose.rotation_axis_angle = (angle, *axis)
            pose.keyframe_insert("rotation_axis_angle", frame=frame)
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    store_chain(rig, target, "leg")
    store_chain(rig, other, "again")
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def reopened(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))


def operator_report(name, **settings):
    assert getattr(bpy.ops.twobone, name)(**settings) == {"FINISHED"}
    return without_times(json.loads(bpy.context.window_manager.twobone_report))


def places_over_time(read):
    """World places `(F, 3)` that `read(depsgraph)` finds."""
    found = []
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        found.append(read(bpy.context.evaluated_depsgraph_get())[:])
    return np.array(found)


def knee(depsgraph):
    return bpy.data.objects["Rig"].evaluated_get(depsgraph).pose.bones["lower"].head


def tip(depsgraph):
    return bpy.data.objects["Rig"].evaluated_get(depsgraph).pose.bones["lower"].tail


def target(depsgraph):
    return bpy.data.objects["Target"].evaluated_get(depsgraph).matrix_world.translation


def test_convert_does_what_the_operator_does_and_nothing_moves(twobone, on_ik, tmp_path):
    reopened(on_ik)
    before = places_over_time(knee)
    by_operator = operator_report("convert_ik", armature="Rig", bone="lower", step=2)
    keys = keys_of(bpy.data.objects["Rig"])
    flags = ["--armature", "Rig", "--bone", "lower", "--step", "2"]
    ended = twobone("convert", "--file", on_ik, *flags, "--save", tmp_path / "fk.blend", "--report", "-")
    assert ended.code == 0, ended.complained
    assert without_times(json.loads(ended.said)) == by_operator
    assert keys_in(tmp_path / "fk.blend") == keys
    assert bpy.data.objects["Rig"].pose.bones["lower"].constraints[0].mute
    twobone("convert", "--file", on_ik, "--armature", "Rig", "--save")
    reopened(on_ik)
    np.testing.assert_allclose(places_over_time(knee), before, atol=2e-4 * 1.8)


def test_the_influence_is_keyed_away_where_that_is_asked_for(twobone, on_ik):
    assert twobone("convert", "--file", on_ik, "--armature", "Rig", "--switch-off", "influence", "--save").code == 0
    reopened(on_ik)
    constraint = bpy.data.objects["Rig"].pose.bones["lower"].constraints[0]
    bpy.context.scene.frame_set(FIRST)
    assert (constraint.mute, constraint.influence) == (False, 0.0)


def test_target_does_what_the_operator_does_and_a_bake_gives_the_motion_back(twobone, on_keys):
    reopened(on_keys)
    joints, tips = places_over_time(knee), places_over_time(tip)
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    names = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
    by_operator = operator_report("bake_target", **names)
    ended = twobone("target", "--file", on_keys, *LEG, "--save", "--report", "-")
    assert ended.code == 0, ended.complained
    assert without_times(json.loads(ended.said)) == by_operator
    reopened(on_keys)
    np.testing.assert_allclose(places_over_time(target), tips, atol=1e-6)
    assert twobone("bake", "--file", on_keys, *LEG, "--bend", "negative", "--save").code == 0
    reopened(on_keys)
    np.testing.assert_allclose(places_over_time(knee), joints, atol=1e-5 * 1.8)


def test_every_stored_chain_gives_its_motion_to_its_own_target(twobone, on_keys):
    report = json.loads(twobone("target", "--file", on_keys, "--stored", "--report", "-").said)
    assert [(chain["target"], chain["keys"]) for chain in report["chains"]] == [("Target", 3 * LAST), ("Other", 3 * LAST)]
    assert keys_of(bpy.data.objects["Target"]) == keys_of(bpy.data.objects["Other"])


@pytest.mark.parametrize("command", ["convert", "target"])
def test_without_save_the_shot_stays_as_it_is(twobone, on_ik, command):
    before = on_ik.read_bytes()
    flags = ["--armature", "Rig"] if command == "convert" else LEG
    assert twobone(command, "--file", on_ik, *flags).code == 0
    assert on_ik.read_bytes() == before


@pytest.mark.parametrize(
    "flags, code, hint",
    [
        (["convert", "--armature", "Rig", "--bone", "nose"], 1, "nose"),
        (["convert", "--armature", "Nobody"], 1, "Nobody"),
        (["convert", "--armature", "Rig", "--rigify"], 1, "Rigify"),
        (["convert", "--armature", "Rig", "--switch-off", "DELETE"], 2, "--switch-off"),
        (["convert", "--armature", "Rig", "--step", "0"], 2, "Step"),
        (["convert", "--armature", "Rig", "--plane", "XZ"], 2, "--plane"),
        (["convert", "--armature", "Rig", "--save", "nowhere/new.blend"], 1, "does not exist"),
        (["target", *LEG, "--target", "Nobody"], 1, "Nobody"),
        (["target", *LEG, "--frame-start", "nan"], 2, "Start"),
        (["target", *LEG, "--chain", "one", "--chain", "two"], 1, '"Target" is target or pole of two chains'),
    ],
)
def test_what_cannot_be_is_one_sentence_and_changes_nothing(twobone, on_ik, flags, code, hint):
    before = on_ik.read_bytes()
    command, *rest = flags
    ended = twobone(command, "--file", on_ik, "--save", *rest)
    assert (ended.code, len(ended.complained.splitlines())) == (code, 1), ended.complained
    assert hint in ended.complained
    assert not keys_of(bpy.data.objects["Rig"])
    assert on_ik.read_bytes() == before
