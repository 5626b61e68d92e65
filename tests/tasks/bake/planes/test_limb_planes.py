"""Planes that are not letters: the limb's own, a pole's, an object's; flattening, and the pose that is turned from."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.checking import BENDS, RIG, bake_and_evaluate
from tests.tasks.checks.measuring import PROMISE, evaluate, unit
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

FRAMES = range(1, 25)
COUNT = len(FRAMES)

REST_MATRICES = 1e-4
"""Blender's rest matrices are orthonormal to 2.4e-5 only (measured on this rig), so a turning bone changes its length."""

each_bend = pytest.mark.parametrize("bend", BENDS)


@pytest.fixture
def rig(empty_file):
    set_range(1, COUNT)
    return build_armature()


def wandering_target(name="Target", centre=(0.1, 0.2, 0.1), size=0.7):
    """An empty that wanders through space below the hip, in reach of the leg."""
    turn = 2 * np.pi * np.arange(COUNT) / COUNT
    places = np.array(centre) + size * np.stack([np.sin(2 * turn), np.cos(turn), 0.5 * np.sin(turn)], axis=-1)
    target = add_empty(name)
    key_places(target, places)
    return target


def in_space(rig, target, **settings):
    """Bake, and give report, joints and targets in armature space, and how far tip and target are apart there."""
    report = bake(RIG, target=target.name, **{"bend": "POSITIVE", **settings})
    baked = evaluate(rig, RIG, FRAMES, target=target, target_bone=settings.get("target_bone", ""))
    return report, baked, np.linalg.norm(baked.joints[:, 2] - baked.targets, axis=-1)


def planes_through(baked, points):
    """Sine between the bent limb's normal and the line to each point: 0 where the plane holds it."""
    normals = unit(np.cross(baked.links[:, 0], baked.links[:, 1]))
    return np.abs(np.einsum("fi,fi->f", normals, unit(points - baked.joints[:, 0])))


@each_bend
def test_rest_follows_the_target_through_space_and_bends_as_at_rest(rig, bend):
    report, baked, apart = in_space(rig, wandering_target(), plane="REST", bend=bend)
    assert report["reached"] == COUNT
    assert np.all(apart <= PROMISE * baked.scales)
    normals = np.cross(baked.links[:, 0], baked.links[:, 1])
    rest = np.array([[0, -0.1, -1.0], [0, 0.2, -0.8]])  # the links of LEG
    sign = np.sign(normals @ np.cross(*rest)) * (1 if bend == "POSITIVE" else -1)
    assert np.all(sign > 0)


def test_rest_twists_least(rig):
    """A target in the limb's own plane moves no joint out of it."""
    target = add_empty()
    turn = 2 * np.pi * np.arange(COUNT) / COUNT
    key_places(target, np.stack([np.full(COUNT, 0.1), 0.2 + np.sin(turn), 0.2 + 0.3 * np.cos(turn)], axis=-1))
    _, baked, _ = in_space(rig, target, plane="REST")
    assert np.abs(baked.joints[:, :, 0] - 0.1).max() < 1e-6


@pytest.mark.parametrize("plane", ["REST", "POLE"])
def test_a_target_on_the_limbs_normal_holds_the_plane_of_the_frame_before(rig, plane):
    places = [(0.1 + 0.9 * np.sin(a), 0.2 + 0.9 * np.cos(a), 1.1) for a in np.linspace(0.5, np.pi / 2, 12)]
    target = add_empty()
    key_places(target, [*places, *[places[-1]] * 12])
    pole = add_empty("Pole")
    pole.location = (3.1, 0.2, 1.1)  # behind the target, on the same line at last
    report, baked, apart = in_space(rig, target, plane=plane, pole="Pole")
    assert report["plane_held"] == 13
    assert any("plane was undefined" in note for note in report["notes"])
    assert np.all(apart <= PROMISE * baked.scales)
    normals = unit(np.cross(baked.links[:, 0], baked.links[:, 1]))
    assert np.all(np.sum(normals[1:] * normals[:-1], axis=-1) > 0.9)


@each_bend
def test_pole_holds_target_and_pole_and_bends_towards_it(rig, bend):
    pole = wandering_target("Pole", centre=(0.1, -2.0, 0.5), size=1.2)
    target = wandering_target()
    report, baked, apart = in_space(rig, target, plane="POLE", pole="Pole", bend=bend)
    poles = evaluate(rig, RIG, FRAMES, target=pole).targets
    assert report["reached"] == COUNT
    assert np.all(apart <= PROMISE * baked.scales)
    assert planes_through(baked, poles).max() < 1e-5
    line = unit(baked.joints[:, 2] - baked.joints[:, 0])
    knee = baked.links[:, 0] - line * np.einsum("fi,fi->f", baked.links[:, 0], line)[:, None]
    towards = np.einsum("fi,fi->f", knee, poles - baked.joints[:, 0])
    assert np.all(towards > 0) if bend == "POSITIVE" else np.all(towards < 0)


def test_pole_angle_turns_the_knee_about_the_line_to_the_target(rig):
    add_empty("Pole").location = (0.1, -3, 0.5)
    target = wandering_target()
    _, straight, _ = in_space(rig, target, plane="POLE", pole="Pole")
    _, turned_by, apart = in_space(rig, target, plane="POLE", pole="Pole", pole_angle=0.5)
    assert np.all(apart <= PROMISE * turned_by.scales)
    normals = [unit(np.cross(baked.links[:, 0], baked.links[:, 1])) for baked in (straight, turned_by)]
    assert np.allclose(np.sum(normals[0] * normals[1], axis=-1), np.cos(0.5), atol=1e-5)


def test_pole_and_target_may_be_bones(rig):
    other = build_armature(name="Other")
    other.location = (0.2, -1.5, -0.6)
    key_channel(other, "rotation_euler", {1: (0, 0, 0), COUNT: (0.4, 0.2, 0.8)})
    names = {"target_bone": "upper", "plane": "POLE", "pole": "Other", "pole_bone": "lower"}
    report, baked, apart = in_space(rig, other, **names)
    reached = baked.frames[apart <= PROMISE * (baked.scales + 4)]
    assert len(reached) == report["reached"] > 0


def test_an_objects_plane_moves_with_it(rig):
    plane = add_empty("Plane")
    key_channel(plane, "rotation_euler", {1: (1.5, 0.1, 0), COUNT: (1.2, 0.5, 0.9)})
    plane.scale = (1, 2, 0.5)
    target = wandering_target()
    report, baked, _ = in_space(rig, target, plane="OBJECT", plane_object="Plane", depth="FLATTEN")
    for row, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(frame)
        axes = np.array(plane.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world)[:3, :3]
        normal = unit(np.cross(axes[:, 0], axes[:, 1]))
        assert np.abs(baked.links[row] @ normal).max() < 1e-5
        off = baked.joints[row, 2] - baked.targets[row]
        assert np.linalg.norm(off - normal * (off @ normal)) < 1e-5 or row + 1 in flat(report["out_of_reach"])


def flat(ranges):
    return {frame for first, last in ranges for frame in range(int(first), int(last) + 1)}


@pytest.mark.parametrize("plane", ["XY", "XZ", "YZ"])
def test_flatten_lays_both_links_into_the_plane(empty_file, plane):
    set_range(1, COUNT)
    rig = build_armature(bent(LEG, "lower", tail=(0.3, 0.3, -0.7)))
    report, baked = bake_and_evaluate(rig, wandering_target(), plane=plane, depth="FLATTEN")
    assert np.abs(baked.depths).max() < 2e-6
    assert report["max_off_plane"] < 2e-6
    lengths = np.linalg.norm(baked.links_plane, axis=-1)
    assert np.allclose(lengths, lengths[0], rtol=REST_MATRICES), "nothing is shortened by laying it down"


@each_bend
def test_a_straight_limb_bends_in_its_own_plane_to_the_chosen_side(empty_file, bend):
    set_range(1, COUNT)
    rig = build_armature(STRAIGHT_LEG)
    report, baked, apart = in_space(rig, wandering_target(centre=(0, 0.1, -1.0)), plane="REST", bend=bend)
    assert report["reached"] == COUNT
    assert np.all(apart <= PROMISE * baked.scales)
    hinge = np.array(rig.data.bones["upper"].matrix_local)[:3, 0]
    sides = np.sign(np.cross(baked.links[:, 0], baked.links[:, 1]) @ hinge)
    assert np.all(sides == sides[0])


@pytest.mark.parametrize("reference", ["REST", "POSE"])
@pytest.mark.parametrize("plane", ["POSE", "REST", "POLE"])
@pytest.mark.parametrize("gap", [0.0, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("along", [(0, 0, -1), (0.48, 0.6, 0.64)], ids=["down", "slanting"])
def test_equal_links_folded_onto_each_other_at_rest_reach_as_others_do(empty_file, plane, reference, gap, along):
    """At rest the tip is on the root, or nearly: the line between them says nothing of where the links are."""
    set_range(1, COUNT)
    along = np.array(along, dtype=float)
    tip = gap * unit(np.cross(along, (0.3, 0.9, 0.1)))
    upper, lower = (BoneShape("upper", (0, 0, 0), along), BoneShape("lower", along, tip, "upper", connected=True))
    rig = build_armature((upper, lower))
    turn = 2 * np.pi * np.arange(COUNT) / COUNT
    ways = np.stack([np.sin(2 * turn), np.cos(turn), 0.4 + 0.5 * np.sin(turn)], axis=-1)
    target = add_empty()
    key_places(target, unit(ways) * (1.1 + 0.7 * np.sin(3 * turn))[:, None])
    add_empty("Pole").location = (0.3, -2.0, 0.2)
    more = {"pole": "Pole"} if plane == "POLE" else {}
    report, _, apart = in_space(rig, target, plane=plane, reference=reference, **more)
    assert report["reached"] == COUNT
    assert apart.max() <= PROMISE * 2


def test_a_turned_parent_carries_the_rest_plane(rig):
    rig.pose.bones["parent"].rotation_mode = "XYZ"
    key_channel(rig.pose.bones["parent"], "rotation_euler", {1: (0, 0, 0), COUNT: (0, 0.6, 0)})
    report, baked, apart = in_space(rig, wandering_target(size=0.3), plane="REST")
    assert report["reached"] == COUNT
    assert np.all(apart <= PROMISE * baked.scales)


def test_the_present_pose_as_reference_keeps_its_twist(rig):
    """A pose that already is on its target stays as it is, twist included."""
    for name, turn in (("upper", (0.9, 0.3, 0.2, 0.1)), ("lower", (0.95, -0.2, 0.1, 0.05))):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "QUATERNION"
        key_channel(bone, "rotation_quaternion", {1: unit(np.array(turn)), COUNT: unit(np.array(turn))})
    before = evaluate(rig, RIG, FRAMES)
    target, pole = add_empty(), add_empty("Pole")
    target.location, pole.location = before.joints[0, 2], before.joints[0, 1]
    matrices = {name: rig.pose.bones[name].matrix.copy() for name in ("upper", "lower")}
    bake(RIG, target="Target", plane="POLE", pole="Pole", reference="POSE")
    for name, matrix in matrices.items():
        assert np.abs(np.array(rig.pose.bones[name].matrix) - np.array(matrix)).max() < 2e-6


@pytest.mark.parametrize("scale", [(1, 1, 1), (0.01, 0.01, 0.01), (1.5, 0.7, 1), (-1, 1, 1)])
@pytest.mark.parametrize("plane", ["REST", "POLE"])
def test_any_object_scale(rig, plane, scale):
    rig.scale = scale
    rig.rotation_euler = (0.3, 0.2, -0.5)
    bpy.context.view_layer.update()
    holder = add_empty("Holder", parent=rig)
    assert holder.parent == rig
    target, pole = wandering_target(), wandering_target("Pole", centre=(0.1, -2, 0.5))
    for thing in (target, pole):
        thing.parent = rig
    report, baked, apart = in_space(rig, target, plane=plane, pole="Pole")
    assert report["reached"] == COUNT
    assert np.all(apart <= PROMISE * baked.scales)
