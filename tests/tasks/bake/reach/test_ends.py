"""The end bone, the target's offset, and bones in between."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import select_bones
from tests.tasks.checks.checking import RIG, assert_bake_reaches
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.measuring import PROMISE, evaluate
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed
from tests.tasks.scenes import BoneShape, Limb, add_empty, bake, build_armature, key_channel, key_places, refusal, set_range

COUNT = 24
FRAMES = range(1, COUNT + 1)
LEG_WITH_FOOT = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0.1, 0.2, 1.1), (0.1, 0.1, 0.1), "parent"),
    BoneShape("lower", (0.1, 0.1, 0.1), (0.1, 0.3, -0.7), "upper"),
    BoneShape("foot", (0.1, 0.3, -0.7), (0.1, -0.1, -0.8), "lower"),
)
TWISTED_LEG = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0.1, 0.2, 1.1), (0.1, 0.15, 0.6), "parent"),
    BoneShape("upper_twist", (0.1, 0.15, 0.6), (0.1, 0.1, 0.1), "upper"),
    BoneShape("lower", (0.1, 0.1, 0.1), (0.1, 0.2, -0.3), "upper_twist"),
    BoneShape("lower_twist", (0.1, 0.2, -0.3), (0.1, 0.3, -0.7), "lower"),
    BoneShape("foot", (0.1, 0.3, -0.7), (0.1, -0.1, -0.8), "lower_twist"),
)
MODES = ("QUATERNION", "XYZ", "ZYX", "AXIS_ANGLE")


@pytest.fixture
def rig(empty_file):
    set_range(1, COUNT)
    return build_armature(LEG_WITH_FOOT)


def walking_target():
    turn = 2 * np.pi * np.arange(COUNT) / COUNT
    target = add_empty()
    key_places(target, np.stack([0.1 + 0 * turn, 0.2 + 0.6 * np.sin(turn), -0.2 + 0.3 * np.cos(turn)], axis=-1))
    key_channel(target, "rotation_euler", {1: (0.0, 0.1, 0.0), COUNT: (1.2, 0.4, -0.6)})
    return target


def orientations(thing, bone="", frames=FRAMES):
    """Rotation matrices `(F, 3, 3)` in the world, as Blender evaluates them."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = evaluated.matrix_world @ evaluated.pose.bones[bone].matrix if bone else evaluated.matrix_world
        found.append(np.array(matrix.to_quaternion().to_matrix()))
    return np.array(found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("more", [{"end_rotation": "KEEP"}, {"reference": "POSE"}], ids=["kept foot", "from the pose"])
def test_what_is_taken_from_the_pose_comes_back_the_same_from_a_second_bake(rig, mode, more):
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    target = walking_target()
    settings = {"target": target.name, "plane": "YZ", "bend": "POSITIVE", **more}
    bake(RIG, **settings)
    before = dump_file()
    bake(RIG, **settings)
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("mode", MODES)
def test_the_foot_keeps_its_orientation_in_the_armature(rig, mode):
    rig.pose.bones["foot"].rotation_mode = mode
    rest = np.array(rig.pose.bones["foot"].matrix.to_quaternion().to_matrix())
    assert_bake_reaches(rig, walking_target(), end_rotation="KEEP")
    assert np.abs(orientations(rig, "foot") - rest).max() < 1e-4  # rest matrices are orthonormal to some 2e-5
    assert rig.pose.bones["foot"].rotation_mode == mode


@pytest.mark.parametrize("mode", MODES)
def test_the_foot_copies_the_target(rig, mode):
    rig.pose.bones["foot"].rotation_mode = mode
    rig.rotation_euler = (0.2, 0.5, 0.1)
    target = walking_target()
    add_empty("Pole").location = (0.1, -3, 0.3)
    bake(RIG, target="Target", plane="POLE", pole="Pole", end_rotation="TARGET")
    assert np.abs(orientations(rig, "foot") - orientations(target)).max() < 1e-4


def test_with_offset_the_foot_turns_as_the_target_turns(rig):
    target = walking_target()
    before = orientations(rig, "foot", [1])[0]
    bake(RIG, target="Target", plane="REST", end_rotation="TARGET", target_offset="KEEP")
    turned = orientations(target)
    wanted = turned @ turned[0].T @ before
    assert np.abs(orientations(rig, "foot") - wanted).max() < 1e-4


def test_with_offset_the_tip_stays_where_the_target_had_it(rig):
    target = walking_target()
    before = evaluate(rig, RIG, [1], target=target)
    report = bake(RIG, target="Target", plane="REST", target_offset="KEEP")
    baked = evaluate(rig, RIG, FRAMES, target=target)
    offset = orientations(target)[0].T @ (before.joints[0, 2] - before.targets[0])
    wanted = baked.targets + orientations(target) @ offset
    reached = np.ones(COUNT, dtype=bool)
    for first, last in report["out_of_reach"]:
        reached[int(first) - 1 : int(last)] = False
    assert reached.any()
    assert np.linalg.norm(baked.joints[:, 2] - wanted, axis=-1)[reached].max() < 1e-5
    assert report["max_error"] < 1e-5


@pytest.mark.parametrize("keys", ["TARGET_KEYS", "CHAIN_KEYS"])
@pytest.mark.parametrize("interpolation", ["LINEAR", "BEZIER"])
def test_with_offset_nothing_moves_at_the_first_frame_that_is_keyed(rig, keys, interpolation):
    target = add_empty()
    key_channel(target, "location", {5: (0.1, 0.2, -0.3), 9: (0.1, 0.4, -0.2)})
    key_channel(target, "rotation_euler", {5: (0.0, 0.1, 0.0), 9: (1.2, 0.4, -0.6)})
    bones = rig.pose.bones
    for name in ("upper", "lower", "foot"):
        bones[name].rotation_mode = "XYZ"
    key_channel(bones["upper"], "rotation_euler", {1: (-0.4, 0.0, 0.0), 5: (0.2, 0.0, 0.0), 9: (0.5, 0.0, 0.0)})
    key_channel(bones["foot"], "rotation_euler", {1: (-0.9, 0.0, 0.0), 9: (0.5, 0.0, 0.0)})
    before = evaluate(rig, RIG, [5], target=target).joints[0, 2], orientations(rig, "foot", [5])
    more = {"target_offset": "KEEP", "end_rotation": "TARGET", "keys": keys, "interpolation": interpolation}
    bake(RIG, target="Target", plane="YZ", depth="KEEP", bend="KEEP", frame_range="CUSTOM", frame_start=4, frame_end=9, **more)
    assert np.abs(evaluate(rig, RIG, [5], target=target).joints[0, 2] - before[0]).max() < 1e-5
    assert np.abs(orientations(rig, "foot", [5]) - before[1]).max() < 1e-5


def test_a_leg_without_a_foot_has_no_end_to_turn(empty_file):
    build_armature()
    add_empty()
    assert "the end bone is ambiguous" in refusal(RIG, target="Target", end_rotation="KEEP")


def test_twist_bones_ride_along(empty_file):
    set_range(1, COUNT)
    rig = build_armature(TWISTED_LEG)
    for name in ("upper_twist", "lower_twist"):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {1: (0, 0, 0), COUNT: (0.1, 1.2, 0)})
        key_channel(bone, "location", {1: (0, 0, 0), COUNT: (0, 0.05, 0)})
    limb = Limb("Rig", carrier="foot", at_tail=False)
    report = bake(limb, target=walking_target().name, tip="foot", plane="YZ", bend="POSITIVE")
    baked = evaluate(rig, limb, FRAMES, target=bpy.data.objects["Target"])
    assert report["reached"] == COUNT
    assert np.all(baked.errors <= PROMISE * baked.scales)
    written = {curve.data_path for curve in rotations_of(rig)}
    assert written == {f'pose.bones["{name}"].rotation_quaternion' for name in ("upper", "lower")}


def rotations_of(rig):
    from tests.tasks.checks.targets import curves_of

    return [curve for curve in curves_of(rig) if "rotation_quaternion" in curve.data_path]


def test_a_twist_bone_under_a_constraint_is_taken_as_it_is_posed(empty_file):
    set_range(1, COUNT)
    rig = build_armature(TWISTED_LEG)
    constraint = rig.pose.bones["lower_twist"].constraints.new("LIMIT_LOCATION")
    constraint.use_min_y = True
    constraint.min_y = 0.07
    constraint.owner_space = "LOCAL"
    limb = Limb("Rig", carrier="foot", at_tail=False)
    report = bake(limb, target=walking_target().name, tip="foot", plane="YZ", bend="POSITIVE")
    baked = evaluate(rig, limb, FRAMES, target=bpy.data.objects["Target"])
    assert report["reached"] == COUNT
    assert np.all(baked.errors <= PROMISE * baked.scales)
    assert np.linalg.norm(baked.links[0, 1]) > 0.86


def test_constraints_on_the_chain_itself_are_told(rig):
    rig.pose.bones["lower"].constraints.new("LIMIT_ROTATION").name = "Knee Limit"
    report = bake(RIG, target=walking_target().name, plane="YZ")
    assert any("Knee Limit" in note for note in report["notes"])


@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1), (1.5, 0.7, 1)])
def test_a_new_target_that_is_copied_turns_no_foot(empty_file, scale):
    """Add Target turns the empty as the bone at the tip, so that nothing turns until somebody turns the empty."""
    set_range(1, 4)
    rig = build_armature(LEG_WITH_FOOT)
    rig.scale, rig.rotation_euler = scale, (0.4, 0.2, 1.1)
    for name, turn in (("upper", (0.3, 0.2, 0.1)), ("foot", (0.5, -0.8, 0.4))):
        rig.pose.bones[name].rotation_mode = "XYZ"
        rig.pose.bones[name].rotation_euler = turn
    select_bones(rig, "lower")
    bpy.ops.twobone.add_target()
    rig.twobone.chains[0].end_rotation = "TARGET"
    before = posed(rig, ["foot"], [1])
    bpy.ops.twobone.bake()
    assert degrees_between(before, posed(rig, ["foot"], range(1, 5))).max() < UNSEEN
