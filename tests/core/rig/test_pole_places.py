"""Where a pole has to stand so that a limb stays as it is."""

import numpy as np
import pytest

from tests.core.rig.matrices import rotations
from tests.core.rig.turns import about
from twobone_addon.core.rig.limb_planes import pole_places, seen_normals

FRAMES = 20


def limbs(rng, size=1.0):
    """Joints of two links in general position, unit directions from root to tip, and plane normals."""
    joints = size * rng.normal(size=(FRAMES, 3, 3))
    along = joints[:, 2] - joints[:, 0]
    normals = np.cross(along, joints[:, 1] - joints[:, 0])
    return (
        joints,
        along / np.linalg.norm(along, axis=-1, keepdims=True),
        normals / np.linalg.norm(normals, axis=-1, keepdims=True),
    )


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("angle", [0.0, 0.7, -2.0])
def test_a_pole_is_one_limb_beyond_the_middle_joint_on_the_side_that_is_asked_for(rng, angle, size):
    joints, along, normals = limbs(rng, size)
    sides, signs = rng.choice([-1.0, 1.0], (2, FRAMES))
    poles = pole_places(joints, sides, angle, signs[:, np.newaxis] * normals)
    lengths = np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum(axis=-1)
    for frame, (root, middle, _) in enumerate(joints):
        foot = root + along[frame] * ((middle - root) @ along[frame])
        height = np.linalg.norm(middle - foot)
        straight_up = (middle - foot) / height * (height + lengths[frame])
        assert poles[frame] == pytest.approx(foot + sides[frame] * about(along[frame], -angle) @ straight_up, abs=1e-9 * size)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_pole_of_a_straight_limb_makes_it_bend_counter_clockwise_around_the_plane(side):
    """Seen from +Z, an elbow below a line to the right turns counter-clockwise."""
    joints = np.array([[[0.0, 0, 0], [1, 0, 0], [2, 0, 0]]])
    poles = pole_places(joints, np.array([side]), 0.0, np.array([[0.0, 0, 1]]))
    assert poles[0] == pytest.approx([1.0, -2.0 * side, 0.0])


@pytest.mark.parametrize("bends", [(0.6, -0.5, 0.4), (-0.6, 0.5, 0.4), (0.6, 0.5, 0.4)])
def test_of_more_links_the_first_bend_tells_the_side(rng, bends):
    """The first bend to the left puts joints to the right of the line, and the other way round."""
    angles = np.cumsum([0.0, *bends])
    flat = np.concatenate([np.zeros((1, 3)), np.cumsum(np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1), axis=0)])
    turn, offset = rotations(rng), rng.normal(size=3)
    joints = (flat @ turn.T + offset)[np.newaxis]
    pole = ((pole_places(joints, np.ones(1), 0.0, turn[np.newaxis, :, 2]) - offset) @ turn)[0]
    tip = flat[-1]
    assert pole[2] == pytest.approx(0.0, abs=1e-9)
    assert pole @ tip == pytest.approx(0.0, abs=1e-9)
    assert np.sign(np.cross(tip, pole)[2]) == -np.sign(bends[0])
    assert np.linalg.norm(pole) > 4.0


def test_normals_are_those_of_the_planes_that_are_seen_and_told_ones_where_limbs_are_straight(rng):
    joints, along, normals = limbs(rng)
    told = rng.normal(size=(FRAMES, 3))
    joints[:5, 1] = joints[:5, 0] + 0.4 * (joints[:5, 2] - joints[:5, 0])
    joints[5, 1] = joints[5, 0] + 0.4 * (joints[5, 2] - joints[5, 0]) + 1e-4 * np.cross(normals[5], along[5])
    found = seen_normals(joints, told)
    assert np.array_equal(found[:5], told[:5])
    signs = np.sign(np.sum(normals * told, axis=-1))
    assert found[5:] == pytest.approx((signs[:, np.newaxis] * normals)[5:])
    assert seen_normals(1e-4 * joints, told) == pytest.approx(found)
