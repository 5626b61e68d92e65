"""A chain over time: what an animator sees when the target moves."""

import numpy as np
import pytest

from twobone_addon.core.solver.angles import forward
from twobone_addon.core.solver.chain import cheapest_sequence, solve_chain
from twobone_addon.core.solver.reach import Reach

CHAINS = [np.array([0.4, 0.35, 0.25]), np.array([0.4, 0.3, 0.2, 0.1]), np.full(6, 1 / 6)]


def circle(center, radius, frames, turns=1):
    heading = np.linspace(0, 2 * np.pi * turns, frames)
    return center + radius * np.stack([np.cos(heading), np.sin(heading)], axis=-1)


def line(begin, end, frames):
    return np.linspace(begin, end, frames)


def longest_step(angles):
    return np.abs(np.diff(angles, axis=-2)).max()


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("limits", [None, [-2.5, 2.5], [0.0, 2.8]])
def test_twice_the_frames_mean_half_the_step(lengths, limits):
    if limits is not None:
        limits = np.array([[-np.inf, np.inf], *[limits] * (len(lengths) - 1)])
    coarse, fine = (solve_chain(circle([0.5, 0.1], 0.25, frames), lengths, limits=limits, bend=1.0) for frames in (101, 201))
    assert (coarse.reach == Reach.REACHED).all()
    assert longest_step(fine.angles) < 0.6 * longest_step(coarse.angles)
    # The shorter range gives the same poses: nothing depends on the frames before.
    np.testing.assert_allclose(fine.angles[::2], coarse.angles, atol=1e-6)


@pytest.mark.parametrize("lengths", CHAINS)
def test_a_cycle_of_the_target_is_a_cycle_of_the_chain(lengths):
    angles = solve_chain(circle([0.5, 0.0], 0.3, 120), lengths).angles
    np.testing.assert_allclose(angles[-1], angles[0], atol=1e-6)


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_a_cycle_stays_one_where_limits_make_the_chain_jump(seed, limited):
    """The target goes round with a pose within the limits, so that every frame is in reach."""
    dice = np.random.default_rng(seed)
    links = dice.integers(3, 8)
    lengths, start = dice.uniform(0.4, 1, links), dice.uniform(-1, 1, links)
    turn = np.linspace(0, 2 * np.pi, 61)[:, np.newaxis]
    swings, phases = dice.uniform(0.2, 0.9, (2, links)), dice.uniform(0, 2 * np.pi, (2, links))
    around = swings[0] * np.sin(turn + phases[0]) + 0.5 * swings[1] * np.sin(2 * turn + phases[1])
    pose = np.clip(dice.uniform(-1.2, 1.2, links) + around, -2.2, 2.2)
    targets = forward(pose, lengths)[:, -1]
    noise = dice.normal(scale=1e-8, size=2)  # as single precision leaves it
    solution = solve_chain(
        np.concatenate([targets[:-1], targets[:1] + noise]),
        lengths,
        limits=np.tile([-2.2, 2.2], (links, 1)) if limited else None,
        start=start,
    )
    assert (solution.reach == Reach.REACHED).all()
    # An unlimited joint may go round: then it ends a whole turn further.
    apart = (solution.angles[-1] - solution.angles[0] + np.pi) % (2 * np.pi) - np.pi
    assert np.abs(apart).max() < 1e-5


@pytest.mark.parametrize("lengths", CHAINS)
def test_ten_turns_of_the_target_are_ten_turns_of_the_first_joint(lengths):
    angles = solve_chain(circle([0.0, 0.0], 0.6, 400, turns=10), lengths).angles
    assert (np.diff(angles[:, 0]) > 0).all()
    assert angles[-1, 0] - angles[0, 0] == pytest.approx(20 * np.pi, abs=1e-6)


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("end", [[1.3, 0.0], [1.2, 0.2]])
def test_the_chain_eases_out_of_reach_without_a_jump(lengths, end):
    steps = []
    for frames in (100, 400):
        solution = solve_chain(line([0.3, 0.0], end, frames), lengths)
        beyond = solution.reach == Reach.TOO_FAR
        assert beyond.any()
        np.testing.assert_allclose(np.abs(solution.angles[beyond, 1:]), 0, atol=1e-6)
        steps.append(longest_step(solution.angles))
    # The bend of a chain is like the square root of what is left to the limit: a quarter of the step, half the turn.
    assert steps[1] < 0.65 * steps[0]


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("offset", [0.0, 0.001, 0.01, 0.05])
def test_a_target_that_passes_the_root_joint_does_not_whip_the_chain_round(lengths, offset):
    solution = solve_chain(line([-0.7, offset], [0.7, offset], 250), lengths)
    assert (solution.reach == Reach.REACHED).all()
    # The direction to the target turns by up to half a turn in one frame.
    assert longest_step(solution.angles) < 0.25


def test_a_motion_made_within_the_limits_comes_back_without_missed_frames_and_mostly_without_jumps():
    generator = np.random.default_rng(4)
    count, frames, links = 8, 150, 5
    lengths = generator.uniform(0.3, 1.0, (count, 1, links))
    limits = np.sort(generator.uniform(-np.pi, np.pi, (count, 1, links, 2)), axis=-1)
    phase = generator.random((count, 1, links)) + np.linspace(0, 1, frames)[:, np.newaxis]
    made = limits[..., 0] + (0.5 + 0.45 * np.sin(2 * np.pi * phase)) * (limits[..., 1] - limits[..., 0])
    solution = solve_chain(forward(made, lengths)[..., -1, :], lengths, limits=limits)
    assert (solution.reach == Reach.REACHED).all()
    jumps = np.abs(np.diff(solution.angles, axis=1)).max(axis=-1) > 0.3
    assert jumps.sum() <= 2


def test_a_target_at_rest_leaves_the_chain_at_rest():
    path = np.concatenate([line([0.2, 0.5], [0.6, 0.1], 30), np.tile([0.6, 0.1], (20, 1))])
    angles = solve_chain(path, CHAINS[1]).angles[29:]
    np.testing.assert_allclose(angles, np.broadcast_to(angles[0], angles.shape), atol=1e-9)


def test_a_start_pose_that_moves_is_followed():
    wave = 0.6 + 0.2 * np.sin(np.linspace(0, 6, 80))[:, np.newaxis]
    start = wave * np.array([0.0, 0.8, 1.0, 1.2])
    solution = solve_chain(np.tile([0.6, 0.3], (80, 1)), CHAINS[1], start=start)
    assert (solution.reach == Reach.REACHED).all()
    assert 0 < longest_step(solution.angles) < 0.05


def test_the_bend_side_can_change_from_frame_to_frame():
    bend = np.where(np.arange(60) < 30, 1.0, -1.0)
    solution = solve_chain(np.tile([0.9, 0.0], (60, 1)), CHAINS[0], bend=bend)
    assert (solution.angles[0, 1:].sum() > 0) & (solution.angles[-1, 1:].sum() < 0)


@pytest.mark.parametrize("frames", [1, 2, 3, 6, 7])
def test_the_cheapest_sequence_is_cheaper_than_every_other(frames):
    generator = np.random.default_rng(frames)
    per_state, per_step = generator.random((frames, 3)), generator.random((frames - 1, 3, 3))

    def cost(states):
        pairs = zip(range(frames - 1), states[:-1], states[1:], strict=True)
        return per_state[np.arange(frames), states].sum() + sum(per_step[pair] for pair in pairs)

    every = np.stack(np.meshgrid(*[range(3)] * frames), axis=-1).reshape(-1, frames)
    assert cost(cheapest_sequence(per_state, per_step)) == pytest.approx(min(map(cost, every)))
