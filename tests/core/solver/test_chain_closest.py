"""Targets out of reach: no pose within the limits is closer, checked by trying."""

import itertools

import numpy as np
import pytest

from twobone_addon.core.solver.angles import forward
from twobone_addon.core.solver.chain import solve_chain
from twobone_addon.core.solver.reach import Reach

LINKS = 3
FIRST_GRID, ZOOM_GRID, ZOOM, ROUNDS = 17, 5, 0.5, 30


def closest_by_trying(target, lengths, limits):
    """Distance of the closest of a grid of poses, then of ever finer grids around the best few of it."""
    low, high = limits.T
    fractions = np.array(list(itertools.product(np.linspace(0, 1, FIRST_GRID), repeat=LINKS)))
    poses = low + fractions * (high - low)
    gaps = gaps_of(poses, target, lengths)
    offsets = np.array(list(itertools.product(np.linspace(-1, 1, ZOOM_GRID), repeat=LINKS)))
    best = np.inf
    for pose in poses[gaps.argsort()[:40:8]]:
        step = (high - low) / (FIRST_GRID - 1)
        here = pose
        for _ in range(ROUNDS):
            nearby = np.clip(here + offsets * step, low, high)
            nearby_gaps = gaps_of(nearby, target, lengths)
            here, step = nearby[nearby_gaps.argmin()], step * ZOOM
        best = min(best, nearby_gaps.min())
    return best


def gaps_of(poses, target, lengths):
    return np.linalg.norm(forward(poses, lengths)[:, -1] - target, axis=-1)


@pytest.mark.parametrize("half_width", [0.3, 1.0, 2.5])
def test_no_pose_on_a_fine_grid_is_closer(half_width):
    generator = np.random.default_rng(7)
    compared = 0
    for _ in range(25):
        lengths = generator.uniform(0.2, 1.0, LINKS)
        center = generator.uniform(-np.pi, np.pi, LINKS)
        width = generator.uniform(0, half_width, LINKS)
        limits = np.stack([center - width, center + width], axis=-1)
        heading = generator.uniform(-np.pi, np.pi)
        target = generator.uniform(0, 1.3) * lengths.sum() * np.array([np.cos(heading), np.sin(heading)])
        solution = solve_chain(target[np.newaxis], lengths, limits=limits)
        if solution.reach[0] != Reach.REACHED:
            compared += 1
            assert solution.distances[0] <= closest_by_trying(target, lengths, limits) + 1e-9 * lengths.sum()
    assert compared >= 5


def test_beyond_reach_the_chain_is_straight_to_rounding():
    targets = np.array([[1.5, 0.0], [0.0, 1.001], [-3.0, 4.0]])
    solution = solve_chain(targets[:, np.newaxis], np.array([0.3, 0.3, 0.2, 0.2]))
    assert (solution.reach == Reach.TOO_FAR).all()
    np.testing.assert_allclose(solution.distances[:, 0], [0.5, 0.001, 4.0], rtol=0, atol=1e-12)


def test_inside_a_long_link_the_chain_is_folded_back():
    targets = np.array([[0.1, 0.0], [0.0, 0.25]])
    solution = solve_chain(targets[:, np.newaxis], np.array([0.7, 0.2, 0.1]))
    assert (solution.reach == Reach.TOO_NEAR).all()
    np.testing.assert_allclose(solution.distances[:, 0], [0.3, 0.15], rtol=0, atol=1e-12)


def test_at_the_very_limit_the_target_is_reached():
    targets = np.array([[1.0, 0.0], [0.0, 1.0 - 1e-12], [-(1.0 - 1e-6), 0.0], [0.6, 0.8]])
    solution = solve_chain(targets[:, np.newaxis], np.array([0.3, 0.3, 0.2, 0.2]))
    assert (solution.reach == Reach.REACHED).all()
    assert solution.distances.max() < 1e-9
