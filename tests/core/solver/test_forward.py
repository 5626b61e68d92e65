"""Angles to joints: the picture everybody draws on paper."""

import numpy as np
import pytest

from tests.core.solver.problems import tips
from twobone_addon.core.solver import forward


@pytest.mark.parametrize(
    "degrees, lengths, joints",
    [
        ([0, 0], [3, 4], [[0, 0], [3, 0], [7, 0]]),
        ([90, 0], [3, 4], [[0, 0], [0, 3], [0, 7]]),
        ([0, 90], [3, 4], [[0, 0], [3, 0], [3, 4]]),
        ([0, 180], [3, 4], [[0, 0], [3, 0], [-1, 0]]),
        ([90, -90], [3, 4], [[0, 0], [0, 3], [4, 3]]),
        ([0, 90, 90, 90], [1, 1, 1, 1], [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]),
        ([45], [2], [[0, 0], [np.sqrt(2), np.sqrt(2)]]),
    ],
)
def test_joints_are_where_a_protractor_puts_them(degrees, lengths, joints):
    assert np.allclose(forward(np.radians([degrees]), lengths), [joints], atol=1e-14)


def test_every_chain_and_frame_has_its_own_lengths(rng):
    angles = rng.uniform(-9, 9, (3, 7, 2))
    lengths = rng.uniform(0, 5, (3, 7, 2))
    joints = forward(angles, lengths)
    assert joints.shape == (3, 7, 3, 2)
    assert np.all(joints[..., 0, :] == 0)
    assert np.allclose(joints[..., 1:, :], tips(angles, lengths).astype(float), atol=1e-13)


def test_links_keep_their_lengths(rng):
    lengths = rng.uniform(0, 5, (11, 6))
    links = np.diff(forward(rng.uniform(-9, 9, (11, 6)), lengths), axis=-2)
    assert np.allclose(np.hypot(links[..., 0], links[..., 1]), lengths)


def test_no_frames_give_no_joints():
    assert forward(np.zeros((0, 2)), [1, 2]).shape == (0, 3, 2)
