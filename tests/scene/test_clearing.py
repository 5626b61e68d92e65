"""Taking a bake back: what it wrote goes, whatever else is there stays."""

import math

import bpy
import pytest

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.busy_file import make_busy_file
from tests.tasks.scenes import add_empty, bake, build_armature, key_channel, key_places, pose_mode, set_range

SETTINGS = {"plane": "YZ", "bend": "POSITIVE"}


def clear(**settings):
    return bpy.ops.twobone.clear_baked(**{**RIG.names(), **settings})


@pytest.fixture
def limb(empty_file):
    set_range()
    rig = build_armature()
    return rig, circling_target(rig, RIG)


def test_a_bake_into_nothing_leaves_nothing(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    assert clear() == {"FINISHED"}
    assert curves_of(rig) == []
    assert clear() == {"CANCELLED"}


@pytest.mark.parametrize("keys", ["FRAMES", "REDUCE"])
@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
def test_own_keys_stay_to_the_last_bit(limb, keys, interpolation):
    rig, target = limb
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {-5: (1, 0, 0, 0), 0: (0.8, 0.6, 0, 0), 40: (0, 1, 0, 0)})
    key_channel(rig.pose.bones["upper"], "location", {-5: (1, 0, 0), 12: (0, 2, 0)})
    before = dump_file()
    bake(RIG, target=target.name, keys=keys, interpolation=interpolation, **SETTINGS)
    assert clear() == {"FINISHED"}
    assert [path for path in differences(before, dump_file()) if "fcurves" in path or "groups" in path] == []


def test_held_keys_go_with_the_bake_that_held_them(limb):
    rig, target = limb
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {-5: (1, 0, 0, 0), 40: (0, 1, 0, 0)})
    held = {"key_before": True, "key_after": True}
    bake(RIG, target=target.name, **held, **SETTINGS)
    frames = {key.co.x for curve in curves_of(rig) for key in curve.keyframe_points}
    assert {0, 25} <= frames
    clear(**held)
    assert {key.co.x for curve in curves_of(rig) for key in curve.keyframe_points} == {-5, 40}


def test_only_the_range_is_cleared(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    clear(frame_range="CUSTOM", frame_start=5.5, frame_end=12)
    assert {key.co.x for curve in curves_of(rig) for key in curve.keyframe_points} == {*range(1, 6), *range(13, 25)}


def test_keys_that_somebody_has_made_their_own_stay(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    for curve in curves_of(rig):
        curve.keyframe_points[6].type = "EXTREME"
    clear()
    assert {key.co.x for curve in curves_of(rig) for key in curve.keyframe_points} == {7}


def test_other_bones_baked_keys_stay(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    bone = rig.pose.bones["parent"]
    bone.keyframe_insert("rotation_quaternion", frame=3, keytype="GENERATED")
    clear()
    assert {curve.data_path for curve in curves_of(rig)} == {'pose.bones["parent"].rotation_quaternion'}


def test_the_target_may_be_gone(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    bpy.data.objects.remove(target)
    assert clear() == {"FINISHED"}
    assert curves_of(rig) == []


def test_without_names_the_selection_is_meant(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    with pose_mode(rig):
        for bone in rig.pose.bones:
            holder = bone if hasattr(bone, "select") else bone.bone
            holder.select = bone.name in {"upper", "lower"}
        assert bpy.ops.twobone.clear_baked() == {"FINISHED"}
    assert curves_of(rig) == []


def test_without_names_the_stored_chain_is_meant(limb):
    rig, target = limb
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", target, "YZ"
    bpy.ops.twobone.bake()
    assert curves_of(rig) != []
    assert bpy.ops.twobone.clear_baked() == {"FINISHED"}
    assert curves_of(rig) == []


def test_stretched_scales_come_back_to_one(limb):
    rig, _ = limb
    far = add_empty("Far")
    key_places(far, [(0.1, 3 * math.cos(frame), 3 * math.sin(frame)) for frame in range(24)])
    bake(RIG, target=far.name, reach="STRETCH", **SETTINGS)
    assert any(curve.data_path.endswith("scale") for curve in curves_of(rig))
    clear(reach="STRETCH")
    assert curves_of(rig) == []
    assert tuple(rig.pose.bones["upper"].scale) == (1, 1, 1)


def test_a_strip_goes_with_its_track_and_action(limb):
    rig, target = limb
    actions = set(bpy.data.actions)
    bake(RIG, target=target.name, destination="NLA", **SETTINGS)
    assert clear(destination="NLA") == {"FINISHED"}
    assert rig.animation_data is None
    assert set(bpy.data.actions) == actions


def test_a_strip_that_somebody_has_keyed_stays(limb):
    rig, target = limb
    bake(RIG, target=target.name, destination="NLA", **SETTINGS)
    action = rig.animation_data.nla_tracks[0].strips[0].action
    curves = action.fcurves if not hasattr(action, "layers") else action.layers[0].strips[0].channelbag(action.slots[0]).fcurves
    curves[0].keyframe_points[3].type = "KEYFRAME"
    assert clear(destination="NLA") == {"CANCELLED"}
    assert len(rig.animation_data.nla_tracks) == 1


def test_a_busy_file_loses_nothing_but_the_bake(empty_file):
    _, target = make_busy_file()
    before = dump_file()
    bake(RIG, target=target.name, **SETTINGS)
    assert differences(before, dump_file()) != []
    clear()
    assert differences(before, dump_file()) == []


def test_locked_curves_are_refused(limb):
    rig, target = limb
    bake(RIG, target=target.name, **SETTINGS)
    curves_of(rig)[1].lock = True
    with pytest.raises(RuntimeError, match="is locked"):
        clear()
    assert len(curves_of(rig)) == 8


POSES = {
    "rotation_quaternion": ("QUATERNION", (0.5, 0.5, 0.5, 0.5)),
    "rotation_axis_angle": ("AXIS_ANGLE", (0.7, 0.0, 0.6, 0.8)),
    "rotation_euler": ("XYZ", (0.5, 0.1, 0.2)),
}


def posed(rig, channel):
    for name in ("upper", "lower"):
        bone = rig.pose.bones[name]
        bone.rotation_mode, values = POSES[channel]
        setattr(bone, channel, values)
    bpy.context.view_layer.update()


def poses(rig, channel):
    bpy.context.scene.frame_set(3)
    return [tuple(getattr(rig.pose.bones[name], channel)) for name in ("upper", "lower")]


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION", "NLA"])
@pytest.mark.parametrize("channel", POSES)
@pytest.mark.parametrize("runs", [1, 2])
def test_a_pose_without_keys_comes_back_from_every_destination(limb, destination, channel, runs):
    rig, target = limb
    posed(rig, channel)
    before, file = poses(rig, channel), dump_file()
    for _ in range(runs):
        bake(RIG, target=target.name, destination=destination, **SETTINGS)
    assert poses(rig, channel) != before
    clear(destination=destination)
    assert poses(rig, channel) == before
    assert differences(file, dump_file()) == []


def test_a_strip_gives_back_only_what_nothing_else_plays(limb):
    rig, target = limb
    posed(rig, "rotation_quaternion")
    before = poses(rig, "rotation_quaternion")
    bake(RIG, target=target.name, destination="NLA", **SETTINGS)
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {1: (0, 1, 0, 0), 9: (0, 1, 0, 0)})
    clear(destination="NLA")
    assert poses(rig, "rotation_quaternion") == [(0, 1, 0, 0), before[1]]


@pytest.mark.parametrize("first", ["ACTION", "NEW_ACTION"])
def test_new_actions_made_again_and_again_all_go(limb, first):
    _, target = limb
    before = {(action.name, action.use_fake_user) for action in bpy.data.actions}
    for destination in (first, "NEW_ACTION", "NEW_ACTION"):
        bake(RIG, target=target.name, destination=destination, **SETTINGS)
    clear(destination="NEW_ACTION")
    assert {(action.name, action.use_fake_user) for action in bpy.data.actions} == before


def test_a_new_action_in_which_somebody_has_keyed_stays(limb):
    rig, target = limb
    for _ in range(2):
        bake(RIG, target=target.name, destination="NEW_ACTION", **SETTINGS)
    now, first = rig.animation_data.action, next(action for action in bpy.data.actions if action.use_fake_user)
    rig.animation_data.action = first
    if hasattr(first, "slots"):
        rig.animation_data.action_slot = first.slots[0]
    curves_of(rig)[0].keyframe_points[3].co.y += 0.1
    rig.animation_data.action = now
    if hasattr(now, "slots"):
        rig.animation_data.action_slot = now.slots[0]
    clear(destination="NEW_ACTION")
    assert first.use_fake_user
