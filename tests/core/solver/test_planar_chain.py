"""Ways to reach with many links: the same ring, softness, stretch and bounds as with two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.solver import Reach, ReachOptions, forward, links_with_same_ring, solve_planar, solve_planar_chain

FRAMES = 60
lengths_of_chains = st.lists(st.floats(0.1, 3.0), min_size=3, max_size=6).map(np.array)


def ring_of(lengths):
    """Inner and outer radius by growing the disc link by link, without the polygon inequality."""
    near = far = lengths[0]
    for length in lengths[1:]:
        inside = 0.0 if near <= length <= far else min(abs(near - length), abs(far - length))
        near, far = inside, far + length
    return near, far


def around_the_root(lengths, low=-0.3, high=1.3):
    """Targets all around, from inside the ring's hole to beyond its rim: (F, 2)."""
    near, far = ring_of(lengths)
    turn = np.linspace(0.0, 2.0 * np.pi, FRAMES)
    distance = np.maximum(near + (far - near) * (low + (high - low) * 0.5 * (1 - np.cos(3 * turn))), 0.02 * far)
    return np.stack([distance * np.cos(turn), distance * np.sin(turn)], axis=-1)


def arc(lengths):
    return np.concatenate([[0.0], np.full(len(lengths) - 1, 0.2)])


def tips_of(solution, lengths):
    return solution.ratio[:, np.newaxis] * forward(solution.angles, lengths)[:, -1]


@given(lengths_of_chains)
def test_two_links_stand_in_with_the_same_ring(lengths):
    first, second = links_with_same_ring(lengths)
    near, far = ring_of(lengths)
    assert second >= 0.0
    assert first + second == pytest.approx(far)
    assert first - second == pytest.approx(near, abs=1e-12 * far)


@pytest.mark.parametrize("count", [3, 4, 6])
@pytest.mark.parametrize(
    "options",
    [
        ReachOptions(),
        ReachOptions(mode="SOFTEN", softness=0.1),
        ReachOptions(mode="STRETCH", stretch_max=1.4),
        ReachOptions(mode="STRETCH", stretch_max=2.0, softness=0.1),
        ReachOptions(min_distance=0.4, max_distance=1.1),
    ],
    ids=["clamp", "soften", "stretch", "soft stretch", "bounds"],
)
def test_many_links_reach_where_two_with_the_same_ring_do(count, options):
    lengths = np.random.default_rng(count).uniform(0.3, 1.0, count)
    targets = around_the_root(lengths)
    many = solve_planar_chain(targets, lengths, 1.0, options, start=arc(lengths))
    two = solve_planar(targets, links_with_same_ring(lengths), 1.0, options)
    np.testing.assert_allclose(tips_of(many, lengths), many.goals, atol=1e-6 * lengths.sum())
    np.testing.assert_allclose(many.goals, two.goals, atol=1e-9)
    np.testing.assert_array_equal(many.reach, two.reach)
    np.testing.assert_allclose(many.ratio, two.ratio)


def test_limits_are_kept_and_what_they_forbid_is_said():
    lengths = np.ones(4)
    limits = np.array([[-np.inf, np.inf]] + [[-0.1, 0.8]] * 3)
    solution = solve_planar_chain(around_the_root(lengths), lengths, 1.0, start=arc(lengths), limits=limits)
    assert np.all((solution.angles >= limits[:, 0]) & (solution.angles <= limits[:, 1]))
    misses = np.linalg.norm(tips_of(solution, lengths) - around_the_root(lengths), axis=-1)
    assert np.array_equal(solution.reach == Reach.REACHED, misses <= 1e-6 * lengths.sum())
    assert {Reach.REACHED, Reach.TOO_FAR, Reach.TOO_NEAR} <= set(solution.reach.tolist())


def test_a_joint_that_may_turn_all_the_way_round_turns_on():
    lengths = np.ones(3)
    turn = np.linspace(0.0, 4.0 * np.pi, 4 * FRAMES)
    targets = 2.0 * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    limits = np.array([[-np.pi, np.pi], [-1.5, 1.5], [-1.5, 1.5]])
    solution = solve_planar_chain(targets, lengths, 1.0, start=arc(lengths), limits=limits)
    assert np.all(np.abs(np.diff(solution.angles, axis=0)) < 0.1)
    assert solution.angles[-1, 0] - solution.angles[0, 0] == pytest.approx(4.0 * np.pi, abs=1e-6)


@pytest.mark.parametrize("method", ["AUTO", "SPRING", "CCD"])
def test_targets_that_are_no_points_hold_the_pose(method):
    lengths = np.ones(3)
    targets = np.array([[1.0, 1.0], [np.nan, 0.0], [1.0, 1.2], [np.inf, 1.0]])
    solution = solve_planar_chain(targets, lengths, 1.0, start=arc(lengths), method=method)
    assert np.isfinite(solution.angles).all()
    assert np.isfinite(solution.goals).all()
    assert solution.reach.tolist() == [Reach.REACHED, Reach.DEGENERATE, Reach.REACHED, Reach.DEGENERATE]
    np.testing.assert_array_equal(solution.angles[1], solution.angles[0])


def test_a_target_on_the_root_kept_away_stays_in_its_last_direction():
    targets = np.array([[0.0, 1.0], [np.inf, 1.0], [1.0, np.nan], [0.0, 0.0]])
    solution = solve_planar_chain(targets, np.ones(3), 1.0, ReachOptions(min_distance=0.5), start=arc(np.ones(3)))
    np.testing.assert_allclose(solution.goals[-1], [0.0, 0.5], atol=1e-12)


def test_what_softness_alone_keeps_away_counts_as_reached_within_limits():
    """A target in the soft zone: the tip is held back from it, and without softness would be on it."""
    lengths, limits = np.ones(4), np.array([[-np.inf, np.inf]] + [[-2.0, 2.0]] * 3)
    targets = np.array([[3.9, 0.0], [4.1, 0.0]])
    options = ReachOptions(mode="SOFTEN", softness=0.2)
    solution = solve_planar_chain(targets, lengths, 1.0, options, start=arc(lengths), limits=limits)
    misses = np.linalg.norm(tips_of(solution, lengths) - targets, axis=-1)
    assert misses[0] > 1e-3
    assert solution.reach.tolist() == [Reach.REACHED, Reach.TOO_FAR]


def test_what_only_softness_brings_within_limits_is_too_far():
    """Knees that keep bent by 0.2 reach `sin(0.4) / sin(0.1)`: the softened goal is nearer than that, its target is not."""
    lengths, limits = np.ones(4), np.array([[-np.inf, np.inf]] + [[0.2, 2.0]] * 3)
    reach = np.sin(0.4) / np.sin(0.1)
    targets = np.array([[reach - 0.02, 0.0], [reach + 0.02, 0.0]])
    options = ReachOptions(mode="SOFTEN", softness=0.3)
    solution = solve_planar_chain(targets, lengths, 1.0, options, start=arc(lengths), limits=limits)
    assert np.all(np.hypot(*tips_of(solution, lengths).T) < reach - 0.02)
    assert solution.reach.tolist() == [Reach.REACHED, Reach.TOO_FAR]
