"""The root moves as little as needed, never less, and smoothly; held against a search by brute force."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies
from hypothesis.extra import numpy as arrays

from twobone_addon.core.planting.root_fit import needed_moves, shortest_moves, smooth_moves, smooth_ways

DOWN = np.array([0.0, 0.0, -1.0])
places = arrays.arrays(float, (2, 1, 3), elements=strategies.floats(-1.5, 1.5))


@hypothesis.given(places, strategies.sampled_from([[0, 1], [0, 1], [0], [1]]))
@hypothesis.example(np.array([[[1.0, 0.0, 1.0]], [[0.0, 0.0, 0.0]]]), [0, 1])  # one place only reaches both
def test_the_smallest_move_with_which_all_limbs_reach(ways, counting):
    wanted = np.isin([[0], [1]], counting)
    moves = needed_moves(ways, np.ones((2, 1)), wanted, DOWN, least=-2.0, most=2.0)
    tried = np.linspace(-2.0, 2.0, 4001)
    reached = np.all(np.linalg.norm(ways[counting] - tried[:, None] * DOWN, axis=-1) <= 1.0, axis=0)
    left = np.linalg.norm(ways[counting, 0] - moves[0] * DOWN, axis=-1).max()
    assert reached.any() == (left <= 1.0 + 1e-9) or left > 1.0 - 1e-6
    hypothesis.assume(reached.any())
    best = tried[reached][np.argmin(np.abs(tried[reached]))]
    assert abs(moves[0] - best) < 2e-3


@hypothesis.given(places, strategies.sampled_from([1.0, 1e-3, 1e3]))
def test_the_shortest_way_to_where_all_limbs_reach(ways, size):
    """Of many places around, none from which all reach is nearer; a place deep inside both reaches has to be there at all."""
    middle = ways.mean(axis=0)
    hypothesis.assume(np.linalg.norm(ways - middle, axis=-1).max() < 0.9)
    move = shortest_moves(size * ways, np.full((2, 1), size), np.ones((2, 1), bool))[0] / size
    assert np.linalg.norm(ways[:, 0] - move, axis=-1).max() <= 1.0 + 1e-6
    spread = np.random.default_rng(0).normal(size=(2000, 3))
    nearer = spread / np.linalg.norm(spread, axis=1)[:, None] * (np.linalg.norm(move) - 1e-3)
    reached = np.all(np.linalg.norm(ways[:, 0, None] - nearer, axis=-1) <= 1.0, axis=0)
    assert np.linalg.norm(move) <= 1e-3 or not reached.any()


def test_limits_hold():
    ways = np.array([[[0.0, 0.0, -1.2]]])
    moves = needed_moves(ways, np.ones((1, 1)), np.ones((1, 1), bool), DOWN, least=0.0, most=0.1)
    assert moves[0] == 0.1


def test_goals_that_do_not_count_ask_for_nothing():
    ways = np.array([[[0.0, 0.0, -1.2]]])
    moves = needed_moves(ways, np.ones((1, 1)), np.zeros((1, 1), bool), DOWN, least=-1.0, most=1.0)
    assert moves[0] == 0.0


@hypothesis.given(arrays.arrays(float, 80, elements=strategies.sampled_from([0.0, 0.0, 0.0, 0.01, 0.02])))
def test_smoothed_moves_cover_every_need_and_none_is_larger_than_the_largest(needs):
    smooth = smooth_moves(needs, 15)
    assert np.all(smooth >= needs - 1e-12)
    assert smooth.max() <= needs.max() + 1e-12


def test_needs_to_the_other_side_are_smoothed_alike_and_each_for_itself():
    needs = np.zeros(300)
    needs[[80, 90, 200]] = 0.5, 1.0, -0.7
    upwards, downwards = smooth_moves(np.maximum(needs, 0.0), 41), smooth_moves(np.maximum(-needs, 0.0), 41)
    assert downwards[200] == pytest.approx(0.7)
    np.testing.assert_array_equal(smooth_moves(-needs, 41), -smooth_moves(needs, 41))
    np.testing.assert_allclose(smooth_moves(needs, 41), upwards - downwards, atol=1e-12)
    np.testing.assert_array_equal(smooth_ways(np.outer(needs, [1.0, 0.0, -2.0]), 41)[:, 1], 0.0)
    np.testing.assert_allclose(
        smooth_ways(np.outer(needs, [1.0, 0.0, -2.0]), 41)[:, 2], -2.0 * smooth_moves(needs, 41), atol=1e-12
    )


def test_without_a_window_moves_are_as_they_are_needed():
    needs = np.array([0.0, 0.3, 0.0, -0.2])
    assert smooth_moves(needs, 1).tolist() == needs.tolist()


def test_a_single_need_is_met_without_a_jolt():
    needs = np.zeros(200)
    needs[100] = 1.0
    window = 41
    smooth = smooth_moves(needs, window)
    assert smooth[100] > 1.0 - 1e-12
    assert np.abs(np.diff(smooth, 2)).max() < 10.0 / window**2
    assert not smooth[: 100 - window].any()
