"""What is right already stays as it is: a target on the tip, in the plane of the pose, changes no bone's orientation."""

import math

import bpy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.blank import empty
from tests.tasks.checks.measuring import PROMISE, evaluate, unit
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed, target_on
from tests.tasks.scenes import LEG, PARENT, STRAIGHT_LEG, BoneShape, Limb, bake, bent, build_armature, key_channel, set_range

RIG = Limb("Rig")
FRAMES = range(1, 13)
AS_POSED = {"plane": "POSE", "reference": "POSE"}

SKEWED = bent(bent(LEG, "upper", tail=(0.4, -0.3, 0.3), roll=0.4), "lower", head=(0.4, -0.3, 0.3), tail=(-0.1, 0.5, -0.4))
TWISTED = (
    PARENT,
    BoneShape("upper", (0, 0, 1), (0.1, 0, 0.6), "parent", roll=1.0),
    BoneShape("twist", (0.1, 0, 0.6), (0.2, -0.1, 0.2), "upper"),
    BoneShape("lower", (0.2, -0.1, 0.2), (0.1, 0.3, -0.4), "twist", roll=-0.6),
)
TENTACLE = (
    PARENT,
    BoneShape("upper", (0, 0, 1), (0, 0.2, 0.6), "parent"),
    BoneShape("middle", (0, 0.2, 0.6), (0.1, 0.1, 0.2), "upper", connected=True),
    BoneShape("hock", (0.1, 0.1, 0.2), (0.1, 0.4, -0.1), "middle", connected=True),
    BoneShape("lower", (0.1, 0.4, -0.1), (0, 0.3, -0.5), "hock", connected=True),
)
SHAPES = {"bent": LEG, "straight": STRAIGHT_LEG, "skewed": SKEWED, "twist bone": TWISTED}
MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def swing(rig, seed, modes, size=1.0):
    """Random motion of every bone of the rig, and of the rig itself."""
    chance = np.random.default_rng(seed)
    for bone, mode in zip(rig.pose.bones, [*modes, *modes], strict=False):
        bone.rotation_mode = "XYZ"
        for frame in (1, 5, 9, 12):
            bone.rotation_euler = chance.normal(size=3) * size
            in_mode = bone.rotation_euler.to_quaternion()
            bone.rotation_mode = mode
            set_rotation(bone, mode, in_mode)
            bone.keyframe_insert(channel_of(mode), frame=frame)
            bone.rotation_mode = "XYZ"
        bone.rotation_mode = mode
    key_channel(rig, "rotation_euler", {1: (0, 0, 0), 12: chance.normal(size=3)})
    key_channel(rig, "location", {1: (0, 0, 0), 12: chance.normal(size=3)})


def channel_of(mode):
    return {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")


def set_rotation(bone, mode, quaternion):
    if mode == "QUATERNION":
        bone.rotation_quaternion = quaternion
    elif mode == "AXIS_ANGLE":
        axis, angle = quaternion.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = quaternion.to_euler(mode)


def turned_by_baking(rig, **chosen):
    """Degrees `(F, b)` by which a bake to a target on the tip turns the rig's bones; and its report."""
    names = [bone.name for bone in rig.pose.bones]
    target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    before = posed(rig, names, FRAMES)
    report = bake(RIG, target="Target", **{**AS_POSED, **chosen})
    assert report["reached"] == len(FRAMES)
    return degrees_between(before, posed(rig, names, FRAMES))


rigs = st.fixed_dictionaries(
    {
        "shapes": st.sampled_from(sorted(SHAPES)),
        "modes": st.tuples(*[st.sampled_from(MODES)] * 3),
        "roll": st.floats(-math.pi, math.pi),
        "size": st.sampled_from((1.0, 0.3, 1e-3)),
        "seed": st.integers(0, 10**6),
    }
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(rigs, st.sampled_from(("POSITIVE", "KEEP")))
def test_a_target_on_the_tip_turns_no_bone(registered_addon, drawn, bend):
    empty()
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(bent(SHAPES[drawn["shapes"]], "upper", roll=drawn["roll"]))
    swing(rig, drawn["seed"], drawn["modes"], drawn["size"])
    assert turned_by_baking(rig, bend=bend).max() < UNSEEN


@pytest.mark.parametrize("scale", [(0.01, 0.01, 0.01), (1.5, 0.7, 1.0), (-1.0, 1.0, 1.0)])
def test_nor_does_it_on_a_scaled_armature(empty_file, scale):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(SKEWED)
    swing(rig, 3, ("QUATERNION",))
    rig.scale = scale
    assert turned_by_baking(rig).max() < UNSEEN


@pytest.mark.parametrize("inherit", ["FULL", "ALIGNED", "FIX_SHEAR", "NONE"])
def test_nor_does_it_under_a_parent_that_is_scaled_unevenly(empty_file, inherit):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(SKEWED)
    for name in ("upper", "lower"):
        rig.data.bones[name].inherit_scale = inherit
    swing(rig, 4, ("QUATERNION",))
    key_channel(rig.pose.bones["parent"], "scale", {1: (1, 1, 1), 12: (1.4, 0.8, 1.1)})
    assert turned_by_baking(rig).max() < UNSEEN


def test_nor_does_it_where_the_limb_stands_still(empty_file):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(STRAIGHT_LEG)
    assert turned_by_baking(rig).max() < UNSEEN


def knees(rig, degrees_of_frames):
    """Key a knee about X, and hold it between."""
    rig.pose.bones["lower"].rotation_mode = "XYZ"
    key_channel(rig.pose.bones["lower"], "rotation_euler", {f: (math.radians(d), 0, 0) for f, d in degrees_of_frames.items()})


def test_a_knee_that_is_overstretched_for_a_while_stays_so(empty_file):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(STRAIGHT_LEG)
    knees(rig, {1: 40, 5: 0.2, 6: -0.4, 7: 0, 12: 30})
    assert turned_by_baking(rig).max() < UNSEEN


def bent_by(rig, frames):
    """Vectors `(F, 3)` along the axis of the knee's bend, as long as its sine."""
    links = unit(evaluate(rig, RIG, frames).links)
    return np.cross(links[:, 0], links[:, 1])


def lifted_target(rig, by=(0, 0, 0.15)):
    target = target_on(rig, FRAMES, lambda bones: bones["lower"].tail)
    target.delta_location = by
    return target


def test_straight_frames_bend_in_the_plane_of_the_frames_around_them(empty_file):
    """The thigh turns on meanwhile, and takes its knee along."""
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(STRAIGHT_LEG)
    knees(rig, {1: 40, 4: 0, 9: 0, 12: 40})
    rig.pose.bones["upper"].rotation_mode = "XYZ"
    key_channel(rig.pose.bones["upper"], "rotation_euler", {1: (0, 0, 0), 12: (0, 1.2, 0)})
    before = posed(rig, ["upper"], FRAMES)[:, 0]
    lifted_target(rig)
    bake(RIG, target="Target", **AS_POSED)
    axes = bent_by(rig, FRAMES)
    assert np.linalg.norm(axes, axis=-1).min() > 0.3
    assert np.sum(unit(axes) * unit(before[:, :, 0]), axis=-1).min() > 0.999


def test_an_overstretched_frame_bends_to_the_side_of_the_others(empty_file):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(STRAIGHT_LEG)
    knees(rig, {1: 40, 5: 0.2, 6: -0.4, 7: 0.2, 12: 30})
    lifted_target(rig)
    bake(RIG, target="Target", **AS_POSED)
    assert bent_by(rig, FRAMES)[:, 0].min() > 0.3


@pytest.mark.parametrize("lifted, least", [(0.15, 0.3), (0.0127, 0.2)], ids=["much", "by fourteen degrees"])
@pytest.mark.parametrize("last", [12, 9])
def test_a_limb_that_is_overstretched_for_a_while_does_not_snap_over_when_it_has_to_bend(empty_file, last, lifted, least):
    """By three degrees, as fast walks are: far less than the bend that the target asks for; also at the end of the range."""
    set_range(FRAMES[0], last)
    rig = build_armature(STRAIGHT_LEG)
    knees(rig, {1: 40, 6: 9.5, 7: -3, 9: -2, 12: 30})
    lifted_target(rig, (0.0, 0.0, lifted))
    bake(RIG, target="Target", **AS_POSED)
    assert bent_by(rig, FRAMES[:last])[:, 0].min() > least


def test_a_limb_that_is_overstretched_and_has_to_bend_hardly_more_stays_overstretched(empty_file):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(STRAIGHT_LEG)
    knees(rig, {1: 40, 5: -8, 8: -8, 12: 30})
    lifted_target(rig, (0.0, 0.0, 0.002))
    bake(RIG, target="Target", **AS_POSED)
    assert bent_by(rig, FRAMES[4:8])[:, 0].max() < -0.13


@pytest.mark.parametrize("bend", ["POSITIVE", "NEGATIVE"])
def test_the_plane_is_the_poses_turned_no_farther_than_the_target_asks(empty_file, bend):
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(SKEWED)
    swing(rig, 8, ("QUATERNION",), 0.5)
    before = evaluate(rig, RIG, FRAMES)
    normals = unit(bent_by(rig, FRAMES))
    lifted_target(rig, (0.1, -0.2, 0.1))
    report = bake(RIG, target="Target", bend=bend, **AS_POSED)
    after = evaluate(rig, RIG, FRAMES, target=bpy.data.objects["Target"])
    reached = np.ones(len(FRAMES), dtype=bool)
    for first, last in report["out_of_reach"]:
        reached[int(first) - 1 : int(last)] = False
    assert reached.sum() >= 6
    apart = np.linalg.norm(after.joints[:, 2] - after.targets, axis=-1)
    assert np.all((apart <= PROMISE * after.scales)[reached])
    now = unit(bent_by(rig, FRAMES)) * (1 if bend == "POSITIVE" else -1)
    leans = np.sum(normals * unit(after.targets - before.joints[:, 0]), axis=-1)
    turned = np.arccos(np.clip(np.sum(normals * now, axis=-1), -1, 1))
    # Least: by the angle between the target and the plane, and no more.
    assert np.abs(turned - np.abs(np.arcsin(leans)))[reached].max() < 1e-3


def test_all_joints_of_a_longer_chain_stay(empty_file):
    """Also beside any plane: a tentacle in space is carried over as it is."""
    set_range(FRAMES[0], FRAMES[-1])
    rig = build_armature(TENTACLE)
    swing(rig, 5, ("QUATERNION",), 0.4)
    assert turned_by_baking(rig, joints="ALL").max() < UNSEEN
