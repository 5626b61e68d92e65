"""Animation on twos: what holds between keys holds on the other side as well, at every quarter of a frame."""

import bpy
import numpy as np
import pytest

from tests.tasks.rigs.control_rig import LAST, LENGTH, control_rig, drive_by_property, limb_over_time
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, set_range
from twobone_addon.scene.versions import curve_bag

QUARTERS = np.arange(4 * 1, 4 * LAST + 1) / 4.0
SEEN = 2e-4
NAMES = {"armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot"}


def places(rig, names=("upper", "lower", "foot")):
    found = []
    for frame in QUARTERS:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([(seen.matrix_world @ seen.pose.bones[name].head)[:] for name in names])
    return np.array(found)


def hold(thing, until=LAST + 1):
    for curve in curve_bag(thing).fcurves:
        for key in curve.keyframe_points:
            if key.co.x < until:
                key.interpolation = "CONSTANT"


def thin(thing, every):
    """Leave every second or third key."""
    for curve in curve_bag(thing).fcurves:
        for key in reversed(list(curve.keyframe_points)):
            if (round(key.co.x) - 1) % every:
                curve.keyframe_points.remove(key)


def stepped_rig(every=2, until=LAST + 1):
    rig = control_rig()
    drive_by_property(rig)
    thin(rig, every)
    hold(rig, until)
    bpy.context.scene.frame_set(1)
    return rig


@pytest.mark.parametrize("every", [1, 2, 3])
def test_steps_survive_the_way_to_ik_and_back(empty_file, every):
    rig = stepped_rig(every)
    before = places(rig)
    for to in ("IK", "FK"):
        assert bpy.ops.twobone.switch(**NAMES, to=to) == {"FINISHED"}
        assert np.abs(places(rig) - before).max() < SEEN * LENGTH


def test_a_take_that_steps_and_then_glides_does_both(empty_file):
    rig = stepped_rig(1, until=9)
    before = places(rig)
    assert bpy.ops.twobone.switch(**NAMES, to="IK") == {"FINISHED"}
    stepped = QUARTERS < 9
    after = places(rig)
    assert np.abs(after - before)[stepped].max() < SEEN * LENGTH
    kinds = {key.co.x: key.interpolation for key in curve_bag(rig).fcurves.find('pose.bones["Foot.L"].location').keyframe_points}
    assert {kinds[frame] for frame in range(1, 9)} == {"CONSTANT"}
    assert {kinds[frame] for frame in range(9, LAST)} == {"LINEAR"}


def stepped_leg(kind):
    """A leg, and a target on twos that it is to follow: by a bake, or already by IK."""
    set_range(1, LAST)
    rig = build_armature((*LEG, BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.0, -0.75), "lower")))
    target = add_empty("Target")
    key_channel(target, "location", {frame: (0.1, 0.4 - 0.03 * frame, -0.5) for frame in range(1, LAST + 1, 2)})
    hold(target)
    if kind == "convert":
        ik = rig.pose.bones["lower"].constraints.new("IK")
        ik.target, ik.chain_count, ik.iterations = target, 2, 500
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(1)
    return rig, target


def tips(rig, target):
    found = []
    for frame in QUARTERS[QUARTERS < LAST]:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        goal = target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        found.append((seen.matrix_world @ seen.pose.bones["lower"].tail - goal).length)
    return max(found)


@pytest.mark.parametrize("kind", ["bake", "convert"])
def test_a_target_on_twos_is_followed_on_twos(empty_file, kind):
    rig, target = stepped_leg(kind)
    if kind == "bake":
        assert bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="POSE") == {"FINISHED"}
    else:
        assert bpy.ops.twobone.convert_ik(armature="Rig") == {"FINISHED"}
    assert tips(rig, target) < SEEN * LENGTH


def test_a_leg_on_twos_gives_its_target_its_steps(empty_file):
    rig, target = stepped_leg("bake")
    for bone, angle in (("upper", 0.02), ("lower", 0.04)):
        turns = {frame: (1, angle * frame, 0, 0) for frame in range(1, LAST + 1, 2)}
        key_channel(rig.pose.bones[bone], "rotation_quaternion", turns)
    hold(rig)
    assert bpy.ops.twobone.bake_target(armature="Rig", upper="upper", lower="lower", target="Target") == {"FINISHED"}
    assert tips(rig, target) < SEEN * LENGTH


@pytest.mark.parametrize("interpolation", ["BEZIER", "CONSTANT"])
def test_another_interpolation_is_what_keys_get(empty_file, interpolation):
    rig, _ = stepped_leg("convert")
    assert bpy.ops.twobone.convert_ik(armature="Rig", interpolation=interpolation) == {"FINISHED"}
    kinds = {key.interpolation for curve in curve_bag(rig).fcurves for key in curve.keyframe_points}
    assert kinds == {interpolation}


def test_a_limb_whose_hips_glide_below_a_stepped_foot_glides(empty_file):
    rig, _ = stepped_leg("convert")
    key_channel(rig.pose.bones["parent"], "location", {1: (0, 0, 0), LAST: (0.2, 0, 0)})
    before = limb_over_time(rig, names=("lower", "foot"))[0]
    assert bpy.ops.twobone.convert_ik(armature="Rig") == {"FINISHED"}
    assert np.abs(limb_over_time(rig, names=("lower", "foot"))[0] - before).max() < SEEN * LENGTH
    curve = curve_bag(rig).fcurves.find('pose.bones["upper"].rotation_quaternion', index=1)
    assert {key.interpolation for key in curve.keyframe_points} == {"LINEAR"}
