"""Ways to reach: softness, stretch, distances, limits, influence; as Blender evaluates what was keyed."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.checking import RIG, bake_and_evaluate
from tests.tasks.checks.measuring import PROMISE, evaluate, unit
from tests.tasks.scenes import LEG, add_empty, bake, build_armature, key_channel, key_places, set_range

COUNT = 40
LENGTH = np.sqrt(1.01) + np.sqrt(0.68)  # of LEG, both links in YZ
FOLDED = np.sqrt(1.01) - np.sqrt(0.68)
HIP = np.array((0.1, 0.2, 1.1))


@pytest.fixture
def rig(empty_file):
    set_range(1, COUNT)
    return build_armature()


def outward(distances, direction=(0.0, 0.3, -1.0)):
    """A target that goes out from the hip to these distances."""
    target = add_empty()
    key_places(target, HIP + np.outer(distances, unit(np.array(direction))))
    return target


def distances_of(baked):
    return np.linalg.norm(baked.tips_plane, axis=-1), np.linalg.norm(baked.targets_plane, axis=-1)


def knee_angles(baked):
    first, second = baked.links_plane[:, 0], baked.links_plane[:, 1]
    return np.arctan2(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0], np.sum(first * second, axis=-1))


def test_a_soft_leg_never_passes_its_target_and_is_straight_at_last(rig):
    wanted = np.linspace(0.8, 1.25, COUNT) * LENGTH
    report, baked = bake_and_evaluate(rig, outward(wanted), reach="SOFTEN", softness=0.1)
    tip, target = distances_of(baked)
    assert np.all(tip <= target + 1e-6)
    untouched = wanted < 0.9 * LENGTH
    assert np.abs(tip - target)[untouched].max() <= PROMISE * 4
    assert np.abs(tip[-1] - LENGTH) < 1e-4  # what rest matrices leave
    assert report["max_goal_error"] <= PROMISE * 4
    assert np.all(np.diff(tip) > -1e-6)


def test_a_soft_knee_turns_at_a_bounded_speed_through_the_limit(rig):
    wanted = np.linspace(0.8, 1.25, COUNT) * LENGTH
    _, hard = bake_and_evaluate(rig, outward(wanted))
    bpy.data.objects.remove(bpy.data.objects["Target"])
    _, soft = bake_and_evaluate(rig, outward(wanted), reach="SOFTEN", softness=0.1)
    hard_speed, soft_speed = (np.abs(np.diff(knee_angles(baked))).max() for baked in (hard, soft))
    start = np.sqrt((LENGTH**2 - (0.9 * LENGTH) ** 2) * ((0.9 * LENGTH) ** 2 - FOLDED**2)) / (1.8 * LENGTH)
    assert soft_speed <= (wanted[1] - wanted[0]) / start * 1.001
    assert soft_speed < 0.5 * hard_speed


@pytest.mark.parametrize("inherit", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_a_stretching_leg_stays_on_its_target_without_shear(rig, inherit):
    rig.data.bones["lower"].inherit_scale = inherit
    wanted = np.linspace(0.6, 1.8, COUNT) * LENGTH
    report, baked = bake_and_evaluate(rig, outward(wanted), reach="STRETCH", stretch_max=2.0)
    assert report["reached"] == COUNT
    assert np.all(baked.errors <= PROMISE * baked.scales)
    for frame in (1, 20, COUNT):
        bpy.context.scene.frame_set(frame)
        for name in ("upper", "lower"):
            axes = np.array(rig.pose.bones[name].matrix)[:3, :3]
            sizes = np.linalg.norm(axes, axis=0)
            assert np.abs((axes / sizes).T @ (axes / sizes) - np.eye(3)).max() < 1e-4
            assert np.ptp(sizes) < 1e-4
    assert any("scale" in note for note in report["notes"])


def test_stretch_ends_at_its_maximum(rig):
    report, baked = bake_and_evaluate(rig, outward(np.linspace(1, 2, COUNT) * LENGTH), reach="STRETCH", stretch_max=1.5)
    tip, _ = distances_of(baked)
    assert tip.max() <= 1.5 * LENGTH + 1e-4
    assert report["too_far"] == np.count_nonzero(np.linspace(1, 2, COUNT) > 1.5)


def test_a_soft_stretch_stays_on_the_target_while_the_knee_eases(rig):
    wanted = np.linspace(0.8, 1.5, COUNT) * LENGTH
    _, baked = bake_and_evaluate(rig, outward(wanted), reach="STRETCH", softness=0.1)
    assert np.all(baked.errors <= PROMISE * baked.scales)
    assert np.abs(np.diff(knee_angles(baked))).max() < 0.15


def test_a_compressing_leg_reaches_inside_its_folded_ring(rig):
    wanted = np.linspace(0.5, 0.6, COUNT) * FOLDED
    report, baked = bake_and_evaluate(rig, outward(wanted), reach="STRETCH", compress_min=0.4)
    assert report["reached"] == COUNT
    assert np.all(baked.errors <= PROMISE * baked.scales)


def test_stretching_is_taken_back_by_the_next_bake(rig):
    target = outward(np.linspace(0.6, 1.8, COUNT) * LENGTH)
    bake_and_evaluate(rig, target)
    plain = evaluate(rig, RIG, range(1, COUNT + 1)).joints
    bake_and_evaluate(rig, target, reach="STRETCH")
    bake_and_evaluate(rig, target)
    assert np.abs(evaluate(rig, RIG, range(1, COUNT + 1)).joints - plain).max() < 1e-6


def test_a_bone_keeps_its_own_scale_through_stretching(rig):
    target = outward(np.linspace(0.6, 1.8, COUNT) * LENGTH)
    rig.pose.bones["upper"].scale = (0.8, 0.9, 0.8)
    frames = range(1, COUNT + 1)
    bake_and_evaluate(rig, target)
    plain = evaluate(rig, RIG, frames).joints
    bake_and_evaluate(rig, target, reach="STRETCH")
    stretched = evaluate(rig, RIG, frames).joints
    bake_and_evaluate(rig, target, reach="STRETCH")
    assert np.abs(evaluate(rig, RIG, frames).joints - stretched).max() < 1e-6
    bake_and_evaluate(rig, target)
    assert np.abs(evaluate(rig, RIG, frames).joints - plain).max() < 1e-6
    assert np.allclose(rig.pose.bones["upper"].scale, (0.8, 0.9, 0.8))


def test_clearing_gives_a_bone_its_own_scale_back(rig):
    outward(np.linspace(0.6, 1.8, COUNT) * LENGTH)
    rig.pose.bones["upper"].scale = (0.8, 0.8, 0.8)
    bake(RIG, target="Target", plane="YZ", reach="STRETCH")
    bpy.ops.twobone.clear_baked(**RIG.names(), target="Target")
    assert np.allclose(rig.pose.bones["upper"].scale, (0.8, 0.8, 0.8))


def test_a_bone_in_between_that_passes_no_scale_on_is_refused(empty_file):
    set_range(1, 5)
    from tests.tasks.scenes import BoneShape, Limb, refusal

    rig = build_armature(
        (
            BoneShape("upper", (0, 0, 2), (0, -0.1, 1.5)),
            BoneShape("twist", (0, -0.1, 1.5), (0, -0.2, 1), "upper"),
            BoneShape("lower", (0, -0.2, 1), (0, 0, 0), "twist"),
        )
    )
    rig.data.bones["twist"].inherit_scale = "NONE"
    add_empty()
    said = refusal(Limb("Rig"), target="Target", reach="STRETCH")
    assert '"twist"' in said
    assert "Inherit Scale" in said


def test_a_bone_that_carries_the_tip_at_its_tail_and_takes_no_scale_is_refused(empty_file):
    set_range(1, 5)
    from tests.tasks.scenes import BoneShape, Limb, refusal

    rig = build_armature((*LEG, BoneShape("foot", (0.1, 0.3, -0.7), (0.1, 0.0, -0.8), "lower")))
    rig.data.bones["foot"].inherit_scale = "NONE"
    add_empty()
    assert '"foot"' in refusal(Limb("Rig"), tip="foot", tip_end="TAIL", target="Target", reach="STRETCH")
    bake(Limb("Rig"), tip="foot", tip_end="HEAD", target="Target", reach="STRETCH")


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_distances_are_in_world_units(rig, size):
    rig.scale = (size,) * 3
    target = outward(np.linspace(0.5, 1.0, COUNT) * LENGTH)
    target.parent = rig
    settings = {"min_distance": 0.7 * LENGTH * size, "max_distance": 0.8 * LENGTH * size}
    _, baked = bake_and_evaluate(rig, target, **settings)
    tip, wanted = distances_of(baked)
    assert np.allclose(tip, np.clip(wanted, 0.7 * LENGTH, 0.8 * LENGTH), atol=1e-5)


def test_joint_limits_hold_and_the_tip_is_as_near_as_they_allow(rig):
    turn = 2 * np.pi * np.arange(COUNT) / COUNT
    target = add_empty()
    key_places(target, HIP + np.stack([0 * turn, 1.2 * np.cos(turn), 1.2 * np.sin(turn)], axis=-1))
    limits = {"upper_min": -0.8, "upper_max": 0.6, "lower_min": 0.2, "lower_max": 1.9}
    _, baked = bake_and_evaluate(rig, target, use_limits=True, **limits)
    first = np.arctan2(baked.links_plane[:, 0, 1], baked.links_plane[:, 0, 0]) - np.arctan2(-1.0, -0.1)
    first = np.angle(np.exp(1j * first))
    knee = knee_angles(baked)
    slack = 1e-4
    assert first.min() >= -0.8 - slack
    assert first.max() <= 0.6 + slack
    assert knee.min() >= 0.2 - slack
    assert knee.max() <= 1.9 + slack
    lengths = np.linalg.norm(baked.links_plane[0], axis=-1)
    tries = np.stack(np.meshgrid(np.linspace(-0.8, 0.6, 141), np.linspace(0.2, 1.9, 171), indexing="ij"), axis=-1)
    one = tries[..., 0] + np.arctan2(-1.0, -0.1)
    tips = lengths[0] * np.exp(1j * one) + lengths[1] * np.exp(1j * (one + tries[..., 1]))
    wanted = baked.targets_plane @ np.array([1, 1j])
    nearest = np.abs(tips[None] - wanted[:, None, None]).min(axis=(1, 2))
    assert np.all(baked.errors <= nearest + 1e-4)


def test_influence_goes_from_the_present_pose_to_the_solved_one(rig):
    target = outward(np.linspace(0.6, 0.9, COUNT) * LENGTH)
    for name in ("upper", "lower"):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0.2, 0.0, 0.0)
    present = evaluate(rig, RIG, range(1, COUNT + 1), target=target)
    _, none = bake_and_evaluate(rig, target, influence=0.0)
    assert np.allclose(none.joints, present.joints, atol=1e-6)
    clear(rig)
    _, half = bake_and_evaluate(rig, target, influence=0.5)
    clear(rig)
    _, whole = bake_and_evaluate(rig, target)
    angles = [knee_angles(baked) for baked in (present, half, whole)]
    assert np.allclose(angles[1], 0.5 * (angles[0] + angles[2]), atol=1e-4)


def clear(rig):
    rig.animation_data_clear()
    for name in ("upper", "lower"):
        rig.pose.bones[name].rotation_euler = (0.2, 0.0, 0.0)


def test_influence_and_bend_of_a_stored_chain_are_read_per_frame(rig):
    target = outward(np.full(COUNT, 0.7 * LENGTH))
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "leg", "upper", "lower", target, "YZ"
    for frame, side in ((1, "POSITIVE"), (20, "NEGATIVE")):
        chain.bend = side
        chain.keyframe_insert("bend", frame=frame)
    key_channel(chain, "influence", {1: 1.0, 30: 1.0, 31: 0.0})
    rig.twobone.active_index = 0
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    baked = evaluate(rig, RIG, range(1, COUNT + 1), target=target)
    assert np.all(baked.seen_bends[:19] > 0)
    assert np.all(baked.seen_bends[19:30] < 0)
    rest = evaluate(rig, RIG, [1]).links[0] * 0 + np.array([[0, -0.1, -1.0], [0, 0.2, -0.8]])
    assert np.allclose(baked.links[30:], rest, atol=1e-4)


def test_the_present_side_is_kept_and_does_not_chatter_when_nearly_straight(rig):
    upper, lower = rig.pose.bones["upper"], rig.pose.bones["lower"]
    upper.rotation_mode = lower.rotation_mode = "XYZ"
    rest = np.arctan2(*LEG_BEND)
    noise = 0.004 * (-1.0) ** np.arange(COUNT)
    angle = np.where(np.arange(COUNT) < 10, 0.5, np.where(np.arange(COUNT) < 30, noise, -0.5))
    key_channel(lower, "rotation_euler", {frame: (value - rest, 0, 0) for frame, value in enumerate(angle, start=1)})
    before = evaluate(rig, RIG, range(1, COUNT + 1))
    assert np.count_nonzero(np.diff(np.sign(before.seen_bends))) > 10
    target = outward(np.full(COUNT, 0.7 * LENGTH))
    bake(RIG, target=target.name, plane="YZ", bend="KEEP")
    baked = evaluate(rig, RIG, range(1, COUNT + 1), target=target)
    sides = np.sign(baked.seen_bends)
    assert np.count_nonzero(np.diff(sides)) == 1
    assert sides[0] == np.sign(before.seen_bends[0])
    assert sides[-1] == np.sign(before.seen_bends[-1])
    assert np.all(baked.errors <= PROMISE * baked.scales)


LEG_LINKS = [np.subtract(shape.tail, shape.head) for shape in LEG[1:]]
LEG_BEND = (
    LEG_LINKS[0][1] * LEG_LINKS[1][2] - LEG_LINKS[0][2] * LEG_LINKS[1][1],
    LEG_LINKS[0] @ LEG_LINKS[1],
)
"""Sine and cosine of the knee's angle at rest, seen in YZ, times the same number."""
