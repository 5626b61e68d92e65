"""A bake that bends a limb the other way says so with its frames; a twist is what a joint shows of it."""

import math

import bpy
import pytest

from tests.tasks.bake.report.seen_feet import kinds
from tests.tasks.scenes import BoneShape, Limb, add_empty, bake, build_armature, key_channel, key_places, set_range

LAST = 12
ARM = Limb("Rig", "upper", "lower")


def bent_arm(angles):
    """An arm straight at rest, along X, with an elbow that turns about Z by these degrees over time."""
    set_range(1, LAST)
    shapes = (
        BoneShape("chest", (0, 0, 0), (0, 0, 0.5)),
        BoneShape("upper", (0, 0, 0), (1, 0, 0), "chest"),
        BoneShape("lower", (1, 0, 0), (2, 0, 0), "upper", connected=True),
    )
    rig = build_armature(shapes)
    axis = rig.data.bones["lower"].matrix_local.to_3x3().inverted() @ (rig.matrix_world.to_3x3().inverted().col[2])
    for frame, angle in angles.items():
        half = math.radians(angle) / 2.0
        turn = (math.cos(half), *(math.sin(half) * part for part in axis))
        key_channel(rig.pose.bones["lower"], "rotation_quaternion", {frame: turn})
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(1)
    return rig


def target_at(distance):
    target = add_empty()
    key_places(target, [(distance, 0.001 * frame, 0) for frame in range(LAST)])


def flipped(report):
    return [each for each in report["statements"] if each["kind"] == "FLIPPED"]


@pytest.mark.parametrize("bent", [-60, -100, 60, 100])
def test_an_elbow_that_a_bake_turns_inside_out_is_said_with_its_frames(empty_file, bent):
    bent_arm({1: bent, LAST: bent})
    target_at(1.2)
    report = bake(ARM, target="Target", plane="XY", plane_space="WORLD")
    assert kinds(report)[0] == "ALL_ON_TARGET"
    found = flipped(report)
    assert bool(found) == (bent < 0)  # bend is positive unless it is asked for
    if found:
        assert found[0]["ranges"] == [[1, LAST]]
        assert f"lower bends to the other side than before at frames 1-{LAST}" in report["sentence"]


def test_only_the_frames_at_which_it_flips_are_named(empty_file):
    bent_arm({1: 80, 6: 80, 7: -80, LAST: -80})
    target_at(1.2)
    (found,) = flipped(bake(ARM, target="Target", plane="XY", plane_space="WORLD"))
    assert found["ranges"] == [[7, LAST]]


@pytest.mark.parametrize("asked", ["POSITIVE", "NEGATIVE"])
def test_a_side_that_is_asked_for_is_none_of_its_business(empty_file, asked):
    bent_arm({1: -80, LAST: 80})
    target_at(1.2)
    assert flipped(bake(ARM, target="Target", plane="XY", plane_space="WORLD", bend=asked)) == []


def stored_arm(rig, **settings):
    """The arm as a stored chain that follows the target in the plane seen in Top view."""
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Arm", "upper", "lower", bpy.data.objects["Target"]
    for name, value in {"plane": "XY", "plane_space": "WORLD", **settings}.items():
        setattr(chain, name, value)
    return chain


@pytest.mark.parametrize(
    "plane, bend, is_said",
    [("XY", "AUTO", True), ("XY", "POSITIVE", False), ("XY", "NEGATIVE", False), ("XY", "KEEP", False), ("POSE", "AUTO", False),
     ("POSE", "POSITIVE", False), ("POSE", "NEGATIVE", False), ("REST", "AUTO", True), ("REST", "POSITIVE", False)],
)  # fmt: skip
def test_the_side_of_a_stored_chain_is_chosen_unless_it_is_automatic(empty_file, plane, bend, is_said):
    rig = bent_arm({1: -80, LAST: 80})
    target_at(1.2)
    stored_arm(rig, plane=plane, bend=bend)
    for _ in range(2):  # The second bake replaces the keys of the first.
        assert bool(flipped(bake())) == is_said


def test_a_bend_that_is_flipped_or_keyed_is_chosen(empty_file):
    rig = bent_arm({1: 80, LAST: 80})
    target_at(1.2)
    chain = stored_arm(rig, bend="AUTO")
    assert flipped(bake()) == []
    bpy.ops.twobone.flip()
    assert chain.bend == "NEGATIVE"
    assert flipped(bake()) == []
    bpy.ops.twobone.flip()
    for frame, side in ((1, "POSITIVE"), (6, "NEGATIVE")):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)
    chain.bend = "AUTO"
    assert flipped(bake()) == []


@pytest.mark.parametrize("bent", [0, 1, -1])
def test_an_arm_that_was_straight_had_no_side(empty_file, bent):
    bent_arm({1: bent, LAST: bent})
    target_at(1.2)
    assert flipped(bake(ARM, target="Target", plane="XY", plane_space="WORLD")) == []


@pytest.mark.parametrize("plane", ["POSE", "XY"])
@pytest.mark.parametrize("distance", [0.4, 0.7, 1.9])
def test_a_hinge_that_folds_far_has_no_twist(empty_file, plane, distance):
    bent_arm({1: 5, LAST: 20})
    target_at(distance)
    report = bake(ARM, target="Target", plane=plane, **({"plane_space": "WORLD"} if plane == "XY" else {}))
    assert report["max_twist"] < 1.0
    assert not any("around its own axis" in note for note in report["notes"])


@pytest.mark.parametrize("twist", [30, 60])
def test_a_lower_bone_that_loses_its_twist_is_told_by_how_much(empty_file, twist):
    rig = bent_arm({1: 40, LAST: 40})
    pose = rig.pose.bones["lower"]
    half = math.radians(twist) / 2.0
    from mathutils import Quaternion

    bent = Quaternion(pose.rotation_quaternion)
    key_channel(
        pose, "rotation_quaternion", {frame: bent @ Quaternion((math.cos(half), 0, math.sin(half), 0)) for frame in (1, LAST)}
    )
    target_at(1.5)
    report = bake(ARM, target="Target", plane="XY", plane_space="WORLD", reference="REST")
    assert report["max_twist"] == pytest.approx(twist, abs=1.0)
