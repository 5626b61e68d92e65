"""Knees: their angle from the way of the ankle, and what is done where they would bend too suddenly."""

import numpy as np
import pytest

from twobone_addon.contacts.states import ContactState
from twobone_addon.planting.knees import accelerations, calming_moves, gentler, knee_angles

LINKS = np.tile([0.5, 0.4], (60, 1))


def ways_of(angles):
    """Ankles of legs whose knee is bent by `angles`, by forward kinematics."""
    ways = np.zeros((len(angles), 3))
    ways[:, 2] = -np.hypot(0.5 + 0.4 * np.cos(angles), 0.4 * np.sin(angles))
    return ways


def test_the_angle_that_forward_kinematics_bends_the_knee_by():
    angles = np.linspace(0.05, 2.5, 60)
    assert np.allclose(knee_angles(ways_of(angles), LINKS), angles, atol=1e-9)


def test_out_of_reach_is_straight():
    assert knee_angles(np.array([[0.0, 0.0, -2.0]]), LINKS[:1])[0] == 0.0


def test_a_leg_without_a_shin_is_straight():
    assert knee_angles(np.array([[0.0, 0.0, -0.5]]), np.array([[0.5, 0.0]]))[0] == 0.0


def test_a_shaken_knee_is_calmed_by_moves_smaller_than_the_shaking():
    angles = np.full(60, 0.5)
    ways = ways_of(angles)
    ways[30, 2] += 0.01

    def bent(moves):
        return knee_angles(ways + moves[:, None] * np.array([0.0, 0.0, 1.0]), LINKS)[None]

    limit = np.abs(np.diff(bent(np.zeros(60))[0], 2)).max() / 3.0
    moves = calming_moves(bent, 60, np.array([limit]), np.ones((1, 60), bool))
    assert np.abs(np.diff(bent(moves)[0], 2)).max() <= limit
    assert 0.0 < np.abs(moves).max() < 0.01
    assert not moves[:20].any()
    assert not moves[40:].any()


def test_where_nobody_looks_nothing_is_calmed():
    ways = ways_of(np.where(np.arange(60) == 30, 0.6, 0.5))

    def bent(moves):
        return knee_angles(ways + moves[:, None] * np.array([0.0, 0.0, 1.0]), LINKS)[None]

    moves = calming_moves(bent, 60, np.array([0.01]), np.zeros((1, 60), bool))
    assert not moves.any()


def test_acceleration_is_none_where_a_knee_bends_steadily_and_at_the_ends():
    bends = 0.2 + 0.1 * np.arange(6.0)
    bends[4:] += 0.3
    assert accelerations(bends) == pytest.approx([0.0, 0.0, 0.0, 0.3, -0.3, 0.0])


def test_a_foot_rolls_for_longer_where_its_knee_pops():
    states = np.array([0] * 5 + [1] * 6 + [3] * 16 + [2] * 6 + [0] * 5)
    sudden = np.zeros(len(states), bool)
    sudden[[11, 26]] = True
    gentle = gentler(states, sudden)
    assert np.count_nonzero(gentle == ContactState.BOTH) < 16
    assert np.array_equal(gentle != 0, states != 0)
    assert gentle[11] == ContactState.HEEL
    assert gentle[26] == ContactState.BALL


def test_a_foot_comes_later_and_leaves_earlier_where_its_knee_pops():
    states = np.array([0] * 5 + [2] * 16 + [0] * 5)
    sudden = np.zeros(len(states), bool)
    sudden[[5, 20]] = True
    assert np.count_nonzero(gentler(states, sudden)) == 14
