"""Chains over time: every frame solved by itself, then the frames made to agree.

A pose that depends on its own target alone is the best one to bake: a cyclic target gives a
cyclic motion, and a shorter range gives the same keys. It is continuous as long as the solution
nearest to the preferred pose stays on one branch. Where it leaves its branch (limits cut it off,
the target passes the root joint), the motion would jump. Only chains in which that happens are
solved again, with all frames in view:

1. several solutions per frame, each from another start (`branches`);
2. the sequence of them with the least motion, by dynamic programming (`least_motion`);
3. what still jumps is drawn out along the poses that keep the tip in place (`chain_band`).

Measured on 40 random chains over 400 frames each, whose targets came from a continuous motion
within random limits (5 links): following from frame to frame with the least turn, as trackers
do, runs into dead ends, loses the target in 959 frames and jumps 48 times; this loses it in none
and jumps 10 times. It also needs no loop over the frames.
"""

import numpy as np

from .angles import wrap
from .chain_band import draw_out
from .chain_descent import descend
from .chain_problem import ChainProblem, norm
from .chain_search import REACHED, evenly_spread, reach_out, spread_poses

SMALLEST_JUMP = 0.1
"""Radians in one frame; less is never called a jump unless it stands out from its neighbours."""

JUMP_PER_TRAVEL = 8.0
"""Radians that a joint may turn while the target moves by one chain length."""

SMALLEST_SPIKE = 0.01
SPIKE_RATIO = 3.0
"""A step this many times greater than those before and after it stands out."""

SPREAD_BRANCHES = 6
"""Starts besides the preferred pose and its mirror image; more changed little when measured."""

COST_OF_DEVIATION = 1e-4
"""Weight of being one radian off the preferred pose for a frame, against a step of one radian."""

COST_OF_MISSING = 1e3
"""More than any motion: a reachable target is reached."""


def agree_over_time(
    problem: ChainProblem, angles: np.ndarray, distances: np.ndarray, frames: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses with whole turns and avoidable jumps between frames removed.

    problem : C chains of `frames` frames each, the frames of a chain next to each other
    angles, distances : (n, C * frames) and (C * frames,), each frame's own solution

    Returns both, changed only for chains that jump. No distance grows by more than `REACHED`.
    """
    if frames < 2:
        return angles, distances
    for first in range(0, problem.size, frames):
        columns = slice(first, first + frames)
        chain = problem.take(columns)
        path = unwrap(chain, angles[:, columns])
        if find_jumps(chain, path).any():
            path = _replan(chain, path, distances[columns])
            distances[columns] = chain.distances(path)
        angles[:, columns] = path
    return angles, distances


def unwrap(chain: ChainProblem, path: np.ndarray) -> np.ndarray:
    """Return `path` (n, F) with the unlimited joints brought near the frame before by whole turns.

    The first frame is brought within half a turn of its preferred pose.
    """
    turns_freely = np.isinf(chain.lower).all(axis=1) & np.isinf(chain.upper).all(axis=1)
    start = chain.preferred[:, :1] + wrap(path[:, :1] - chain.preferred[:, :1])
    steps = wrap(np.diff(path, axis=1))
    unwrapped = np.cumsum(np.concatenate([start, steps], axis=1), axis=1)
    return np.where(turns_freely[:, np.newaxis], unwrapped, path)


def find_jumps(chain: ChainProblem, path: np.ndarray) -> np.ndarray:
    """Return which steps (F - 1,) of `path` (n, F) the target's own motion does not explain."""
    steps = np.abs(np.diff(path, axis=1)).max(axis=0)
    travel = norm(np.diff(chain.targets, axis=1))
    beside = np.concatenate([[0.0], steps, [0.0]])
    usual = SPIKE_RATIO * np.maximum(np.maximum(beside[:-2], beside[2:]), travel)
    return (steps > SMALLEST_JUMP + JUMP_PER_TRAVEL * travel) | (steps > SMALLEST_SPIKE + usual)


def _replan(chain: ChainProblem, path: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Return the smoothest path (n, F) found for one chain."""
    poses, left = branches(chain)
    poses = np.concatenate([path[np.newaxis], poses])
    left = np.concatenate([distances[np.newaxis], left])
    planned = unwrap(chain, least_motion(chain, poses, left))
    drawn = draw_out(chain, planned, find_jumps(chain, planned))
    return descend(chain, drawn)[0]


def branches(chain: ChainProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return solutions of every frame from several starts: poses (K, n, F), distances (K, F)."""
    mirrored = chain.preferred.copy()
    mirrored[1:] *= -1.0
    fractions = evenly_spread(SPREAD_BRANCHES, chain.lengths.shape[0])
    starts = [chain.preferred, chain.clip(mirrored), *spread_poses(chain, fractions)]
    solved = [reach_out(chain, start) for start in starts]
    return np.stack([poses for poses, _ in solved]), np.stack([left for _, left in solved])


def least_motion(chain: ChainProblem, poses: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Pick one pose per frame such that the joints turn least over the whole range.

    poses : (K, n, F); left : (K, F), distances

    Returns (n, F). Squared steps are summed, so one big step costs more than many small ones.
    """
    turns_freely = np.isinf(chain.lower).all(axis=1) & np.isinf(chain.upper).all(axis=1)
    deviations = poses - chain.preferred
    deviations = np.where(turns_freely[:, np.newaxis], wrap(deviations), deviations)
    per_pose = COST_OF_DEVIATION * (deviations[:, 1:] ** 2).sum(axis=1)
    per_pose += COST_OF_MISSING * (left > left.min(axis=0) + REACHED)
    count, joints, frames = poses.shape
    per_step = np.zeros((frames - 1, count, count))
    for joint in range(joints):
        here = poses[:, joint].T
        step = here[1:, np.newaxis, :] - here[:-1, :, np.newaxis]
        per_step += (wrap(step) if turns_freely[joint] else step) ** 2
    chosen = cheapest_sequence(per_pose.T, per_step)
    return poses[chosen, :, np.arange(frames)].T


def cheapest_sequence(per_state: np.ndarray, per_step: np.ndarray) -> np.ndarray:
    """Return the states (F,) whose summed cost is least: Viterbi's answer by halving.

    per_state : (F, K), cost of being in a state
    per_step : (F - 1, K, K), cost of going from a state (row) to the next one (column)

    Every second frame is eliminated by keeping its best state for each pair of neighbours, so
    all frames of a round are handled at once and there are log2(F) rounds.
    """
    frames = len(per_state)
    if frames == 1:
        return per_state.argmin(axis=1)
    if frames % 2 == 0:
        to_last = per_step[-1] + per_state[-1]
        folded = np.concatenate([per_state[:-2], [per_state[-2] + to_last.min(axis=1)]])
        before = cheapest_sequence(folded, per_step[:-1])
        return np.append(before, to_last[before[-1]].argmin())
    into = per_step[0::2] + per_state[1::2, np.newaxis, :]
    out_of = per_step[1::2]
    through = (into[:, :, :, np.newaxis] + out_of[:, np.newaxis]).min(axis=2)
    outer = cheapest_sequence(per_state[0::2], through)
    pairs = np.arange(frames // 2)
    between = into[pairs, outer[:-1]] + out_of[pairs, :, outer[1:]]
    states = np.empty(frames, dtype=int)
    states[0::2], states[1::2] = outer, between.argmin(axis=1)
    return states
