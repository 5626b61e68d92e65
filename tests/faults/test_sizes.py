"""Very small and very large: units, places, rigs and ranges."""

import math
from dataclasses import replace

import bpy
import numpy as np
import pytest

from tests.faults.attacking import make_leg, report_or_refusal
from tests.tasks.checks.checking import RIG, assert_bake_reaches
from tests.tasks.checks.targets import circling_target
from tests.tasks.scenes import (
    LEG,
    STRAIGHT_LEG,
    BoneShape,
    Limb,
    add_empty,
    bake,
    build_armature,
    key_channel,
    key_places,
    set_range,
)

SIZES = (0.001, 0.1, 100.0, 10_000.0)
"""Meters of about half a leg."""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shapes", [LEG, STRAIGHT_LEG], ids=["bent", "straight"])
@pytest.mark.parametrize("how", ["bones", "object", "unit"])
def test_legs_of_ants_and_of_giants(empty_file, shapes, size, how):
    set_range()
    factor = size if how == "bones" else 1.0
    rig = build_armature([scaled(shape, factor) for shape in shapes])
    if how == "object":
        rig.scale = (size,) * 3
    bpy.context.scene.unit_settings.scale_length = size if how == "unit" else 1.0
    assert_bake_reaches(rig, circling_target(rig, RIG))


def scaled(shape, factor):
    return replace(shape, head=tuple(factor * np.array(shape.head)), tail=tuple(factor * np.array(shape.tail)))


@pytest.mark.parametrize("distance", [1e3, 1e5, 1e7])
@pytest.mark.parametrize("plane", ["YZ", "REST"])
def test_far_from_the_origin_the_tip_is_as_near_as_single_precision_allows(empty_file, distance, plane):
    rig, target = make_leg()
    rig.location = (distance, -distance, distance)
    target.parent = rig
    target.matrix_parent_inverse.identity()
    report = bake(RIG, target="Target", plane=plane)
    assert report["reached"] == report["frames"]
    # Blender holds where the target is in 24 bits, and subtracts the armature's place from it.
    assert report["max_error"] <= 4 * distance * 2.0**-23


@pytest.mark.parametrize("first", [-1_048_574, 1_048_560])
def test_at_the_ends_of_blenders_time_a_bake_works(empty_file, first):
    rig, target = make_leg()
    key_channel(target, "location", {first: (0.1, 0.9, 0.5), first + 10: (0.1, -0.3, 0.4)})
    assert_bake_reaches(rig, target, frame_range="CUSTOM", frame_start=first, frame_end=first + 10)


@pytest.mark.parametrize("first, last", [(1_048_570, 1_048_580), (-2e6, -1_999_990), (3.4e38, 3.4e38), (2.0**31, 2.0**31 + 9)])
def test_beyond_blenders_time_a_bake_is_refused(empty_file, first, last):
    make_leg()
    sentence = report_or_refusal(target="Target", frame_range="CUSTOM", frame_start=first, frame_end=last)
    assert "Blender's frame range" in sentence


def test_a_million_frames(empty_file):
    rig, target = make_leg()
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"  # two curves with a million keys each are enough
    key_channel(target, "location", {-499_999: (0.1, 0.9, 0.5), 500_000: (0.1, -0.3, 0.4)})
    report = bake(RIG, target="Target", frame_range="CUSTOM", frame_start=-499_999, frame_end=500_000, verify=False)
    assert report["frames"] == report["reached"] == 1_000_000
    assert report["keys"] == 2_000_000
    for frame in (-499_999, 123_456, 500_000):
        bpy.context.scene.frame_set(frame)
        missed = rig.pose.bones["lower"].tail - target.matrix_world.translation
        assert math.hypot(missed.y, missed.z) < 1e-5


def test_an_armature_of_ten_thousand_bones(empty_file):
    set_range(1, 6)
    rig = build_armature(LEG)
    bpy.ops.object.mode_set(mode="EDIT")
    parent = rig.data.edit_bones["lower"]
    for number in range(10_000):
        bone = rig.data.edit_bones.new(f"more {number}")
        bone.head, bone.tail = parent.tail, (0.1 + 0.001 * number, 1.0, -0.7)
        bone.parent = parent if number % 3 else rig.data.edit_bones["parent"]
        parent = bone if number % 3 else parent
    bpy.ops.object.mode_set(mode="OBJECT")
    key_places(add_empty(), [(0.1, 0.9, 0.5 + 0.1 * frame) for frame in range(6)])
    assert_bake_reaches(rig, bpy.data.objects["Target"])


def test_a_chain_of_a_hundred_joints(empty_file):
    set_range(1, 6)
    places = [(0.0, 0.01 * (number % 2), 0.02 * number) for number in range(101)]
    names = ["", *(f"link {number}" for number in range(100))]
    build_armature([BoneShape(*limb) for limb in zip(names[1:], places, places[1:], names, strict=False)])
    key_places(add_empty(), [(0, 0.1, 1.0 + 0.1 * frame) for frame in range(6)])
    report = bake(Limb("Rig", "link 0", "link 99"), target="Target", joints="ALL", plane="YZ", bend="POSITIVE")
    assert report["reached"] == 6
    assert report["max_error"] < 1e-5
