"""Parts of the chain solver that its answers hide behind later steps: mirrored starts, common factors, distances left."""

from dataclasses import replace

import numpy as np
import pytest

from twobone_addon.core.solver import forward
from twobone_addon.core.solver.chain import CLEARLY_BENT, likeness
from twobone_addon.core.solver.chain_descent import settled_angles
from twobone_addon.core.solver.chain_methods import spring_pose
from twobone_addon.core.solver.chain_problem import ChainProblem
from twobone_addon.core.solver.chain_sides import preferred_pose

UNLIMITED = np.array([-np.inf, np.inf])


def test_a_pose_on_the_other_side_is_mirrored_on_the_line_from_root_to_tip(rng):
    count, links = 50, 5
    start, lengths = rng.uniform(-1.0, 1.0, (count, 1, links)), rng.uniform(0.3, 1.0, (count, 1, links))
    start[..., 1] = np.abs(start[..., 1]) + 0.5
    limits = np.broadcast_to(UNLIMITED, (count, 1, links, 2))
    before = forward(start, lengths)
    tips = before[..., -1:, :] @ [1.0, 1.0j]
    ways = (before @ [1.0, 1.0j]) / tips
    after = forward(preferred_pose(start, lengths, -np.ones((count, 1)), limits), lengths) @ [1.0, 1.0j]
    assert after == pytest.approx(tips * ways.conj(), abs=1e-12)
    same = preferred_pose(start, lengths, np.ones((count, 1)), limits)
    assert same == pytest.approx(start)


BENDS = [(1.0, 1.2, 0.8), (1.3, -0.9, 1.1), (-0.6, -0.7, -1.0), (0.9, 1.0, -1.2)]


@pytest.mark.parametrize("upper", [np.inf, 1.5])
@pytest.mark.parametrize("bends", BENDS)
@pytest.mark.parametrize("lengths", [(0.2, 0.35, 0.3, 0.15), (0.6, 0.2, 0.1, 0.1)])
def test_the_common_factor_is_the_least_that_reaches_or_else_brings_the_ends_nearest_before_they_part(lengths, bends, upper):
    """Against all factors on a fine grid; bends beyond the limits stay on them."""
    base, wanted = np.array([0.3, *bends]), np.concatenate([np.linspace(0.02, 0.98, 25), [1.0, 1.3]])
    limit = np.array([np.inf, upper, upper, upper])
    factors = np.tan(0.5 * np.linspace(0.0, np.pi, 20_001)[:-1]) / np.abs(np.tan(0.5 * base[1:])).max()
    tried = np.zeros((len(factors), 4))
    tried[:, 1:] = 2.0 * np.arctan(factors[:, np.newaxis] * np.tan(0.5 * base[1:]))
    tried = np.clip(tried, -limit, limit)
    spans = np.linalg.norm(forward(tried, lengths)[:, -1], axis=-1)
    rising = np.flatnonzero(np.diff(spans) > 1e-9)
    last = rising[0] if rising.size else len(spans) - 1
    wanted = wanted[(wanted < spans[last]) | (wanted > spans[last] + 0.02)]  # hardly more: a bracket may miss that

    def columns(values):
        return np.repeat(np.asarray(values)[:, np.newaxis], len(wanted), axis=1)

    targets = np.stack([wanted, 0.0 * wanted])
    problem = ChainProblem(targets, columns(lengths), columns(-limit), columns(limit), columns(base), np.ones(len(wanted)))
    found = spring_pose(problem)
    assert np.all(found[0] == base[0])
    reached = np.linalg.norm(forward(found.T, lengths)[:, -1], axis=-1)
    for column, distance in enumerate(wanted):
        near = np.flatnonzero(spans[: last + 1] <= distance)
        assert not near.size or reached[column] == pytest.approx(min(distance, 1.0), abs=1e-9)
        assert near.size or spans[last] - 1e-4 <= reached[column] <= spans[last] + 1e-9  # a step of the grid is 1e-4
        assert found[1:, column] == pytest.approx(tried[near[0] if near.size else last, 1:], abs=2e-3)
    assert wanted[0] < spans[last] < wanted[-3] or lengths[0] < 0.5


def test_distances_left_are_those_of_the_poses_that_come_with_them(rng):
    count, links = 40, 4
    lower = rng.uniform(-1.0, 0.0, (links, count))
    upper, lengths = lower + rng.uniform(0.2, 1.0, (links, count)), rng.uniform(0.1, 1.0, (links, count))
    lengths /= lengths.sum(axis=0)
    start = lower + (upper - lower) * rng.uniform(0.0, 1.0, (links, count))
    problem = ChainProblem(rng.uniform(-1.5, 1.5, (2, count)), lengths, lower, upper, start, np.ones(count))
    poses, left = settled_angles(problem, start)
    before, after = (np.linalg.norm(problem.targets.T - forward(each.T, lengths.T)[:, -1], axis=-1) for each in (start, poses))
    assert left == pytest.approx(after, abs=1e-12)
    assert np.all(after <= before + 1e-12)
    assert np.count_nonzero(after < before - 1e-3) > count / 2


def test_a_bend_that_cannot_be_seen_makes_no_pose_unlike_the_preferred_one(rng):
    """Else a chain that is nearly straight would be held for bent to the wrong side. Likeness is 1 where all bends are square."""
    links, count = 4, 50
    lengths = rng.uniform(0.1, 1.0, (links, count))
    bends = rng.uniform(0.3, 1.2, (links, count))
    problem = ChainProblem(
        np.zeros((2, count)), lengths / lengths.sum(axis=0), -9 + 0 * bends, 9 + 0 * bends, bends, np.ones(count)
    )
    unseen, seen = np.radians(-0.05), np.radians(-20.0)
    for bend, is_unlike in ((unseen, False), (seen, True)):
        assert np.all((likeness(problem, np.full((1, links, count), bend)) < -CLEARLY_BENT) == is_unlike)
    square = replace(problem, preferred=np.full((links, count), np.pi / 2))
    assert likeness(square, square.preferred[np.newaxis]) == pytest.approx(1.0)
    assert np.abs(likeness(problem, rng.uniform(-3, 3, (20, links, count)))).max() <= 1.0
