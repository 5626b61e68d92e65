"""What an animator finds in the Graph Editor: one curve per joint, no flips, joined to the keys around the range."""

import math

import bpy
import numpy as np
import pytest

from tests.tasks.checks.checking import RIG, assert_bake_reaches
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.scenes import (
    LEG,
    STRAIGHT_LEG,
    BoneShape,
    add_empty,
    bake,
    bent,
    build_armature,
    key_channel,
    key_places,
    set_range,
)

HALF_TURN = math.pi
FRAMES = (1, 60)
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")

HINGE_LEG = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0, 0, 0), (0, 0, -1), "parent"),
    BoneShape("lower", (0, 0, -1), (0, 0, -1.75), "upper", connected=True),
)
"""Bones without roll that hang down: their X axis is the hinge of the plane YZ."""


def values_of(rig, path, index, frames=FRAMES):
    fcurve = next(curve for curve in curves_of(rig) if (curve.data_path, curve.array_index) == (path, index))
    return np.array([key.co.y for key in fcurve.keyframe_points if frames[0] <= key.co.x <= frames[1]])


def path_of(bone, channel):
    return f'pose.bones["{bone}"].{channel}'


def going_round(turns, radius=1.2, centre=(0, 0, 0), frames=FRAMES):
    """A target that goes round the root joint several times, its distance changing all the while."""
    angles = np.linspace(0, 2 * math.pi * turns, frames[1] - frames[0] + 1)
    target = add_empty()
    key_places(target, [(0, centre[1] + radius * math.cos(a), centre[2] + radius * math.sin(a)) for a in angles], frames[0])
    return target


@pytest.fixture
def scene(empty_file):
    set_range(*FRAMES)
    return bpy.context.scene


@pytest.mark.parametrize("order", ORDERS)
def test_an_euler_bone_whose_hinge_is_a_local_axis_gets_one_curve(scene, order):
    rig = build_armature(HINGE_LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = order
    assert_bake_reaches(rig, going_round(1))
    assert {(fcurve.data_path, fcurve.array_index) for fcurve in curves_of(rig)} == {
        (path_of("upper", "rotation_euler"), 0),
        (path_of("lower", "rotation_euler"), 0),
    }


def long_hinge_leg():
    """A leg of Euler hinges, and time for ten turns of it."""
    set_range(1, 240)
    rig = build_armature(HINGE_LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    return rig


def are_ten_turns(values):
    steps = np.diff(values)
    steady = np.all(steps > 0) or np.all(steps < 0)
    return steady and abs(values[-1] - values[0]) == pytest.approx(20 * math.pi, abs=1e-4)


@pytest.mark.parametrize("turns", [10, -10])
def test_ten_turns_are_ten_turns_of_an_euler_curve(scene, turns):
    rig = long_hinge_leg()
    assert_bake_reaches(rig, going_round(turns, frames=(1, 240)))
    assert are_ten_turns(values_of(rig, path_of("upper", "rotation_euler"), 0, (1, 240)))


def test_ten_turns_of_a_quaternion_without_a_sign_jump(scene):
    set_range(1, 240)
    rig = build_armature()
    assert_bake_reaches(rig, going_round(10, radius=1.0, centre=LEG[1].head, frames=(1, 240)))
    for bone in ("upper", "lower"):
        values = np.stack([values_of(rig, path_of(bone, "rotation_quaternion"), index, (1, 240)) for index in range(4)], axis=-1)
        assert np.all(np.sum(values[1:] * values[:-1], axis=-1) > 0)


def drawn(rig, path, indices, frames):
    """Channels `(F, k)` of a curve as the Graph Editor draws them, eight moments to a frame."""
    moments = np.arange(8 * frames[0], 8 * frames[1] + 1) / 8
    curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(rig)}
    return np.array([[curves[path, index].evaluate(moment) for index in indices] for moment in moments])


@pytest.mark.parametrize("turns", [10, -10])
def test_ten_turns_of_an_euler_curve_stay_ten_turns_in_few_keys(scene, turns):
    rig = long_hinge_leg()
    bake(RIG, target=going_round(turns, frames=(1, 240)).name, plane="YZ", bend="POSITIVE", keys="REDUCE")
    assert are_ten_turns(drawn(rig, path_of("upper", "rotation_euler"), [0], (1, 240))[:, 0])


def test_ten_turns_of_a_quaternion_in_few_keys_without_a_sign_jump(scene):
    set_range(1, 240)
    rig = build_armature()
    target = going_round(10, radius=1.0, centre=LEG[1].head, frames=(1, 240))
    bake(RIG, target=target.name, plane="YZ", bend="POSITIVE", keys="REDUCE")
    for bone in ("upper", "lower"):
        values = drawn(rig, path_of(bone, "rotation_quaternion"), range(4), (1, 240))
        assert np.all(np.sum(values[1:] * values[:-1], axis=-1) > 0.9)


@pytest.mark.parametrize("mode", [*ORDERS, "AXIS_ANGLE"])
def test_no_channel_jumps_more_than_half_a_turn(scene, mode):
    shapes = bent(bent(LEG, "upper", roll=0.6), "lower", roll=-0.9)
    rig = build_armature(shapes)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    assert_bake_reaches(rig, going_round(3, radius=1.0, centre=LEG[1].head))
    channel, count = ("rotation_axis_angle", 4) if mode == "AXIS_ANGLE" else ("rotation_euler", 3)
    for bone in ("upper", "lower"):
        for index in range(count):
            values = values_of(rig, path_of(bone, channel), index)
            assert np.abs(np.diff(values)).max() <= HALF_TURN, (bone, index)


@pytest.mark.parametrize("bone", ["upper", "lower"])
@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("turns", [-3, 2])
@pytest.mark.parametrize("keys", ["FRAMES", "REDUCE"])
def test_euler_turns_meet_the_key_next_to_the_range(scene, bone, where, turns, keys):
    rig = build_armature(HINGE_LEG)
    for each in rig.pose.bones:
        each.rotation_mode = "XYZ"
    there = -9 if where == "before" else 70
    key_channel(rig.pose.bones[bone], "rotation_euler", {there: (2 * math.pi * turns, 0, 0)})
    bake(RIG, target=going_round(0.3).name, plane="YZ", bend="POSITIVE", keys=keys)
    values = values_of(rig, path_of(bone, "rotation_euler"), 0)
    near = values[0] if where == "before" else values[-1]
    assert abs(near - 2 * math.pi * turns) <= HALF_TURN


@pytest.mark.parametrize("where", ["before", "after"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("keys", ["FRAMES", "REDUCE"])
def test_quaternion_signs_meet_the_key_next_to_the_range(scene, where, sign, keys):
    rig = build_armature()
    there = -9 if where == "before" else 70
    around = tuple(sign * part for part in (0.8, 0.6, 0, 0))
    key_channel(rig.pose.bones["upper"], "rotation_quaternion", {there: around})
    bake(RIG, target=going_round(0.2, 1.0, LEG[1].head).name, plane="YZ", bend="POSITIVE", keys=keys)
    values = np.array([values_of(rig, path_of("upper", "rotation_quaternion"), index) for index in range(4)])
    near = values[:, 0] if where == "before" else values[:, -1]
    assert near @ np.array(around) >= 0


@pytest.mark.parametrize("held", [(-1.0, 0.0, 0.0, 0.0), (-0.8, -0.6, 0.0, 0.0)])
def test_a_held_pose_without_keys_is_joined_the_short_way_by_quaternions(scene, held):
    rig = build_armature()
    rig.pose.bones["upper"].rotation_quaternion = held
    bake(RIG, target=going_round(0.2, 1.0, LEG[1].head).name, plane="YZ", bend="POSITIVE", key_before=True, key_after=True)
    path, around = path_of("upper", "rotation_quaternion"), (FRAMES[0] - 1, FRAMES[1] + 1)
    values = np.array([values_of(rig, path, index, around) for index in range(4)])
    assert np.allclose(values[:, 0], held, atol=1e-6)
    assert np.allclose(values[:, -1], held, atol=1e-6)
    assert np.all(np.sum(values[:, 1:] * values[:, :-1], axis=0) >= 0)


@pytest.mark.parametrize("turns", [1, -2])
def test_a_held_pose_without_keys_is_joined_by_the_turn_it_has(scene, turns):
    rig = build_armature(HINGE_LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    rig.pose.bones["upper"].rotation_euler.x = 2 * math.pi * turns
    bake(RIG, target=going_round(0.3).name, plane="YZ", bend="POSITIVE", key_before=True, key_after=True)
    values = values_of(rig, path_of("upper", "rotation_euler"), 0, (FRAMES[0] - 1, FRAMES[1] + 1))
    assert values[0] == pytest.approx(2 * math.pi * turns)
    assert np.abs(np.diff(values)).max() <= HALF_TURN


def test_keys_inside_the_range_are_replaced_also_those_between_frames(scene):
    rig = build_armature(HINGE_LEG)
    rig.pose.bones["upper"].rotation_mode = "XYZ"
    key_channel(rig.pose.bones["upper"], "rotation_euler", dict.fromkeys((-5, 10.5, 33.25, 80), (9, 0, 0)))
    bake(RIG, target=going_round(0.5).name, plane="YZ", bend="POSITIVE")
    fcurve = next(curve for curve in curves_of(rig) if curve.array_index == 0 and '"upper"' in curve.data_path)
    frames = [key.co.x for key in fcurve.keyframe_points]
    assert frames == [-5, *range(1, 61), 80]


def test_motion_through_the_straight_pose_and_out_of_reach_has_no_jump(scene):
    rig = build_armature(STRAIGHT_LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    target = add_empty()
    key_places(target, [(0, 0.3, -1.2 - 0.8 * math.sin(frame / 10)) for frame in range(60)])
    report = bake(RIG, target=target.name, plane="YZ", bend="NEGATIVE")
    assert report["too_far"] > 5
    lower = values_of(rig, path_of("lower", "rotation_euler"), 0)
    assert np.abs(np.diff(lower)).max() < 0.7  # the knee's speed goes like a square root at the limit, but does not flip
    assert np.all(lower <= 1e-3) or np.all(lower >= -1e-3)


def test_a_fully_circling_target_in_and_out_of_reach_stays_continuous(scene):
    rig = build_armature()
    bake(RIG, target=circling_target(rig, RIG, frames=FRAMES, part=(-0.3, 1.3)).name, plane="YZ", bend="POSITIVE")
    for bone in ("upper", "lower"):
        values = np.stack([values_of(rig, path_of(bone, "rotation_quaternion"), index) for index in range(4)], axis=-1)
        assert np.all(np.sum(values[1:] * values[:-1], axis=-1) > 0)
