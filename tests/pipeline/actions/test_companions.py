"""What a limb follows and plays actions of its own: several actions are each done, and proved, with what belongs to them."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel

LAST = 10
NAMES = {"Idle": 0.0, "Run": 0.4}
FRAMES = range(1, LAST + 1)


def own_actions(thing, suffix, keyed):
    """An action for each of the names, in which `keyed(way)` keys the thing."""
    for name, way in NAMES.items():
        thing.animation_data_create().action = None
        keyed(way)
        thing.animation_data.action.name = name + suffix
        thing.animation_data.action.use_fake_user = True


def plays(thing, name):
    thing.animation_data.action = bpy.data.actions[name]
    if hasattr(thing.animation_data, "action_slot"):
        thing.animation_data.action_slot = bpy.data.actions[name].slots[0]


def moving_empty(name, place):
    thing = add_empty(name)

    def key(way):
        x, y, z = place
        key_channel(thing, "location", {1: (x, y, z), LAST: (x, y + way, z + 0.3 * way)})

    return thing, key


@pytest.fixture
def rig(empty_file):
    return build_armature(LEG)


def follow_target(rig):
    other, key = moving_empty("Goal", (0.1, 0.35, -0.5))
    ik(rig, other)
    return other, key


def follow_pole(rig):
    goal = add_empty("Still")
    goal.location = (0.1, 0.35, -0.5)
    other, key = moving_empty("Aim", (0.1, -2.0, 0.2))
    constraint = ik(rig, goal)
    constraint.pole_target = other
    return other, lambda way: key(4 * way)


def hang_from_parent(rig):
    goal = add_empty("Still")
    goal.location = (0.1, 0.35, -0.5)
    ik(rig, goal)
    other, key = moving_empty("Horse", (0, 0, 0))
    rig.parent = other
    return other, key


def follow_other_rig(rig):
    other = build_armature((BoneShape("grip", (0, 0, 0), (0, 0.3, 0)),), "Gun")
    ik(rig, other, other.data.bones[0].name)
    bone = other.pose.bones[0]
    other.location = (0.1, 0.35, -0.5)
    return other, lambda way: key_channel(bone, "location", {1: (0, 0, 0), LAST: (0.2 * way, way, 0)})


def ik(rig, target, bone=""):
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.chain_count, constraint.iterations = target, bone, 2, 500
    return constraint


WAYS = [follow_target, follow_pole, hang_from_parent, follow_other_rig]


def build(rig, way, suffix=" other"):
    other, key = way(rig)
    for name, turn in NAMES.items():
        rig.animation_data_create().action = None
        angles = {1: (1, 0.2, 0, 0), LAST: (1, 0.2 + 0.1 * turn, 0, 0)}
        for bone in ("upper", "lower"):
            key_channel(rig.pose.bones[bone], "rotation_quaternion", angles)
        rig.animation_data.action.name = name
        rig.animation_data.action.use_fake_user = True
    own_actions(other, suffix, key)
    return other


def seen(rig, other, name, suffix=" other"):
    plays(rig, name)
    plays(other, name + suffix)
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(posed.matrix_world @ getattr(posed.pose.bones[bone], end)) for bone in ("upper", "lower")
                      for end in ("head", "tail")])  # fmt: skip
    return np.array(found)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("playing", NAMES)
def test_each_action_is_converted_with_what_belongs_to_it_and_nothing_else_changes(rig, way, playing):
    other = build(rig, way)
    before = {name: seen(rig, other, name) for name in NAMES}
    plays(rig, playing)
    plays(other, f"{playing} other")
    own = {name: keys_in(name) for name in ("Idle other", "Run other")}
    assert bpy.ops.twobone.convert_ik(armature="Rig", actions="ALL") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert any(f'"{other.name}"' in note and '"Idle other", "Run other"' in note for note in report["notes"])
    assert other.animation_data.action.name == f"{playing} other"
    for name, places in before.items():
        assert np.abs(seen(rig, other, name) - places).max() < 5e-4
    for name, keys in own.items():
        assert keys_in(name) == keys


def keys_in(name):
    from twobone_addon.scene.versions import all_bags

    curves = [curve for bag in all_bags(bpy.data.actions[name]) for curve in bag.fcurves]
    return [tuple(key.co) for curve in curves for key in curve.keyframe_points]


@pytest.mark.parametrize("way", WAYS)
def test_an_action_for_which_the_other_has_none_is_refused_by_name(rig, way):
    other = build(rig, way)
    bpy.data.actions["Idle other"].name = "Something else"
    plays(rig, "Run")
    plays(other, "Run other")
    before = dump_file()
    with pytest.raises(RuntimeError, match='has no action "Idle other" to play along with "Idle"'):
        bpy.ops.twobone.convert_ik(armature="Rig", actions="Idle")
    assert differences(before, dump_file()) == []


def test_an_own_action_of_another_name_is_played_along_with_all_and_named(rig):
    other = build(rig, follow_target)
    bpy.data.actions["Run other"].name = "To and fro"
    plays(rig, "Idle")
    plays(other, "To and fro")
    assert bpy.ops.twobone.convert_ik(armature="Rig", actions="ALL") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert '"Goal" played "To and fro" along with all actions.' in report["notes"]
