"""Steps that bring controls to their goals: how long they are, and what they turn and move."""

import numpy as np
import pytest

from tests.core.rig.matrices import affine, rotations
from tests.core.rig.turns import about
from twobone_addon.core.rig.bones import BoneChannels, RestBone
from twobone_addon.core.rig.inheritance import pose_with_channels
from twobone_addon.core.rig.steering import (
    Relaxation,
    bends,
    changed_channels,
    displacement,
    hinges,
    rolls,
    rotation_vectors,
    swung,
    without_rotation,
)

FRAMES = 30


def carried(matrices, points):
    return np.einsum("fij,fj->fi", matrices[:, :3, :3], points) + matrices[:, :3, 3]


@pytest.mark.parametrize("answer", [0.4, 0.9, 1.0, 1.6])
def test_what_answers_a_step_in_proportion_is_met_by_the_second_one(rng, answer):
    goals, now = rng.normal(size=(2, FRAMES, 3))
    relaxation = Relaxation(3.0, 1e-9)
    for step in range(2):
        factors = relaxation.factors(goals - now)
        assert factors == pytest.approx(np.full(FRAMES, 1.0 if step == 0 else 1.0 / answer))
        now = now + answer * factors[:, np.newaxis] * (goals - now)
    assert now == pytest.approx(goals)


def test_steps_stay_within_their_bounds_and_nothing_is_learnt_from_noise_or_from_going_astray():
    missing = np.array([[1.0, 0, 0]] * 5)
    relaxation = Relaxation(3.0, 1e-3)
    assert relaxation.factors(missing).tolist() == [1.0] * 5
    after = missing * np.array([[0.9], [-9.0], [0.9999], [2.0], [0.5]])  # hardly moved, far too far, noise, away, half way
    assert relaxation.factors(after) == pytest.approx([3.0, 0.3, 1.0, 1.0, 2.0])
    assert relaxation.factors(after) == pytest.approx([3.0, 0.3, 1.0, 1.0, 2.0])


def test_a_displacement_turns_about_the_point_that_it_moves(rng):
    turns, (start, end) = rotations(rng, FRAMES), rng.normal(size=(2, FRAMES, 3))
    matrices, away = displacement(turns, start, end), rng.normal(size=(FRAMES, 3))
    assert carried(matrices, start) == pytest.approx(end)
    assert carried(matrices, start + away) - end == pytest.approx(np.einsum("fij,fj->fi", turns, away))
    assert np.all(matrices[:, 3] == [0, 0, 0, 1])


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_a_roll_brings_the_middle_joint_to_its_side_and_leaves_root_and_tip(rng, size):
    joints, angles = size * rng.normal(size=(FRAMES, 3, 3)), rng.uniform(-3.0, 3.0, FRAMES)
    line = joints[:, 2] - joints[:, 0]
    unit = line / np.linalg.norm(line, axis=-1, keepdims=True)
    turns = np.stack([about(axis, -angle) for axis, angle in zip(unit, angles, strict=True)])
    away = rng.uniform(0.5, 2.0, (FRAMES, 1)) * np.einsum("fij,fj->fi", turns, joints[:, 1] - joints[:, 0])
    found = rolls(joints, joints[:, 0] + away)
    assert found == pytest.approx(angles)
    turning = swung(joints, found)
    assert carried(turning, joints[:, 0]) == pytest.approx(joints[:, 0])
    assert carried(turning, joints[:, 2]) == pytest.approx(joints[:, 2])
    direction = carried(turning, joints[:, 0] + away) - joints[:, 0]
    assert np.cross(direction, joints[:, 1] - joints[:, 0]) == pytest.approx(np.zeros((FRAMES, 3)), abs=1e-9 * size**2)


def test_a_straight_limb_is_not_rolled():
    joints = np.array([[[0.0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0.0, 0, 0], [1, 1, 0], [2, 0, 0]]])
    nearly = joints + np.array([0.0, 1e-4, 0.0]) * np.array([0.0, 1.0, 0.0])[:, np.newaxis]
    assert rolls(nearly, np.array([[1.0, -1, 0], [1.0, -1e-4, 0]])).tolist() == [0.0, 0.0]
    assert hinges(joints)[0].tolist() == [0.0, 0.0, 0.0]
    assert bends(joints) == pytest.approx([0.0, np.pi / 2])


def test_a_hinge_is_square_to_both_links_and_a_bend_is_the_turn_about_it(rng):
    joints = rng.normal(size=(FRAMES, 3, 3))
    upper, lower = joints[:, 1] - joints[:, 0], joints[:, 2] - joints[:, 1]
    axes, angles = hinges(joints), bends(joints)
    assert np.linalg.norm(axes, axis=-1) == pytest.approx(np.ones(FRAMES))
    assert np.all((angles >= 0.0) & (angles <= np.pi))
    for axis, angle, first, second in zip(axes, angles, upper, lower, strict=True):
        straightened = about(axis, angle) @ second
        assert straightened / np.linalg.norm(straightened) == pytest.approx(first / np.linalg.norm(first))


def test_a_rotation_vector_is_axis_times_angle(rng):
    axes, angles = rng.normal(size=(FRAMES, 3)), rng.uniform(0.0, 3.1, FRAMES)
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    turns = np.stack([about(axis, angle) for axis, angle in zip(axes, angles, strict=True)])
    assert rotation_vectors(turns) == pytest.approx(axes * angles[:, np.newaxis])


@pytest.mark.parametrize("has_parent", [True, False])
@pytest.mark.parametrize("is_carried", [True, False])
@pytest.mark.parametrize("frames", [1, FRAMES])
def test_changed_channels_bring_a_bone_that_constraints_move_to_where_it_is_wanted(rng, has_parent, is_carried, frames):
    """Constraints carry what the channels make as a whole, or add to its place and turn it about its own axes."""
    bone = RestBone("bone", affine(rng), affine(rng) if has_parent else None, 1.0, "XYZ")
    parents = affine(rng, frames) if has_parent else None
    before = BoneChannels(rng.normal(size=(frames, 3)), rotations(rng, frames), np.ones((frames, 3)))
    carrying, moved, turned = affine(rng, FRAMES), rng.normal(size=(FRAMES, 3)), rotations(rng, FRAMES)

    def seen(channels):
        own = pose_with_channels(bone, parents, channels)
        if is_carried:
            return carrying @ own
        pose = np.broadcast_to(own, carrying.shape).copy()
        pose[:, :3, :3] = pose[:, :3, :3] @ turned
        pose[:, :3, 3] += moved
        return pose

    wanted = affine(rng, FRAMES)
    location, rotation = changed_channels(bone, parents, before, seen(before), wanted, carried=is_carried)
    assert seen(BoneChannels(location, rotation, np.ones((FRAMES, 3)))) == pytest.approx(wanted)


def test_without_rotation_a_bone_lies_as_its_parent_carries_it(rng):
    rest, parent_rest, parents = affine(rng), affine(rng), affine(rng, FRAMES)
    bone = RestBone("bone", rest, parent_rest, 1.0, "XYZ")
    wanted = parents[:, :3, :3] @ np.linalg.inv(parent_rest[:3, :3]) @ rest[:3, :3]
    assert without_rotation(bone, parents, FRAMES) == pytest.approx(wanted)
