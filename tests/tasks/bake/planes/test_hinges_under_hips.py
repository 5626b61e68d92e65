"""Hinges of legs under hips that move: what counts is whether the hips leave the plane, not whether they are keyed."""

import math
import re

import bpy
import pytest
from mathutils import Matrix

from tests.tasks.checks.checking import RIG
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.rigs.hinge_legs import forecast
from tests.tasks.scenes import BoneShape, bake, build_armature, set_range

CUT_OUT = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0, 0, 0), (0.1, 0, -1), "parent"),
    BoneShape("lower", (0.1, 0, -1), (0, 0, -1.75), "upper", connected=True),
)
"""A leg drawn in the plane XZ, under hips."""


@pytest.fixture
def scene(empty_file):
    set_range()
    return bpy.context.scene


def align(**settings):
    return bpy.ops.twobone.align_hinge(**RIG.names(), **settings)


def refusal(**settings):
    with pytest.raises(RuntimeError) as caught:
        align(**settings)
    return str(caught.value)


def turning_hips(rig, turns):
    """Hips keyed by world directions, not by their own channels: `{frame: (axis, degrees)}`."""
    hips = rig.pose.bones["parent"]
    hips.rotation_mode = "QUATERNION"
    rest = hips.bone.matrix_local.to_3x3()
    for frame, (axis, degrees) in turns.items():
        turn = Matrix.Rotation(math.radians(degrees), 3, axis)
        hips.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        hips.keyframe_insert("rotation_quaternion", frame=frame)
        hips.location = (0.1 * frame, 0, 0)
        hips.keyframe_insert("location", frame=frame)


@pytest.mark.parametrize("plane_space", ["ARMATURE", "WORLD"])
def test_hips_that_turn_in_the_plane_only_leave_the_hinges_alone(scene, plane_space):
    rig = build_armature(CUT_OUT)
    turning_hips(rig, {1: ("Y", 0), 10: ("Y", 30), 24: ("Y", -50)})
    target = circling_target(rig, RIG)
    settings = {"plane": "XZ", "plane_space": plane_space}
    assert align(**settings, roll=True) == {"FINISHED"}
    assert forecast(**settings) == (2, ())
    assert bake(RIG, target=target.name, **settings)["channels"] == 2


def test_hips_that_leave_the_plane_are_told_how_far_and_which_plane_goes_with_them(scene):
    rig = build_armature(CUT_OUT)
    turning_hips(rig, {1: ("Y", 0), 10: ("Z", 20), 24: ("Y", -50)})
    said = refusal(plane="XZ")
    assert "the parent bones rotate 20 degrees out of the plane between frames 1 and 10" in said
    found = re.search("; plane (..) in Parent space rotates with them", said)
    assert found, said
    assert align(plane=found[1], plane_space="PARENT", roll=True) == {"FINISHED"}


def test_hips_that_turn_round_are_told_in_plain_digits(scene):
    rig = build_armature(CUT_OUT)
    turning_hips(rig, {1: ("Z", 0), 10: ("Z", 90), 19: ("Z", 166)})
    assert "the parent bones rotate 166 degrees out of the plane" in refusal(plane="XZ")


def test_hips_that_leave_the_plane_between_keys_are_noticed(scene):
    rig = build_armature(CUT_OUT)
    turning_hips(rig, {1: ("Y", 0), 10: ("Y", 20)})
    wobble = next(curve for curve in curves_of(rig) if curve.data_path.endswith("rotation_quaternion") and curve.array_index == 1)
    wobble.keyframe_points[0].handle_right.y += 0.3
    assert "out of the plane" in refusal(plane="XZ")


@pytest.mark.parametrize("kind", ["NOISE", "GENERATOR"])
def test_hips_that_a_modifier_may_turn_are_taken_for_moving(scene, kind):
    rig = build_armature(CUT_OUT)
    turning_hips(rig, {1: ("Y", 0), 10: ("Y", 20)})
    curves_of(rig)[0].modifiers.new(kind)
    assert "may move relative" in refusal(plane="XZ")
