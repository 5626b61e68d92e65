"""Solve planar chains of any number of links, with limits: the entry point, its input checks and its result.

Two links are left to the closed forms. Three or more have no unique solution, and with limits no closed form. The default is
damped Gauss-Newton in the box of limits (`descend`), restarted elsewhere where it gets stuck (`solve_frames`), Newton's method
for the closest pose to targets out of reach (`settle`), and planning over all frames for chains that would jump
(`agree_over_time`). It was chosen by measurement. Share of targets reached, for random reachable targets, 3 to 8 links and random
limits, 100,000 targets for each number of links: cyclic coordinate descent 85 to 94 %, one descent 92 to 95 %, up to 16 restarts
100 %. tests/benchmark/bench_chain.py prints the table.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ...records import replace
from ..array_types import Array, Codes, Mask
from ..arrays import held, span
from .angles import forward, hold, wrap
from .chain_descent import REACHED, RELAXING_DAMPING, bounded_step, descend, evenly_spread, reach_out, solve_frames, spread_poses
from .chain_methods import coordinate_descent, spring_pose
from .chain_problem import ChainProblem
from .chain_sides import preferred_pose
from .reach import Reach, room_for_sums

SMALLEST_JUMP = 0.1
"""Radians per frame; a smaller step counts as a jump only if it stands out from its neighbours."""

JUMP_PER_TRAVEL = 8.0
"""Radians that a joint may turn per chain length of target motion without counting as a jump."""

SMALLEST_SPIKE = 0.01
SPIKE_RATIO = 3.0
"""Ratio to the steps before and after from which a step stands out."""

SPREAD_BRANCHES = 6
"""Number of starts besides the preferred pose and its mirror image; more changed little when measured."""

COST_OF_DEVIATION = 1e-4
"""Cost of a frame one radian off the preferred pose, relative to a step of one radian."""

COST_OF_WRONG_SIDE = 0.1
"""Cost of a frame bent opposite to the preferred pose: as much as a step of a third of a radian."""

CLEARLY_BENT = 1e-3
"""Least |`likeness`| of a clear side: bends of two degrees."""

COST_OF_MISSING = 1e3
"""Cost of missing a reachable target: more than any motion."""

SHORTEST_CYCLE = 3
"""Frames; fewer have no middle."""

SAME_ENDS = 1e-6
"""Greatest difference between the inputs of first and last frame of a cycle, in chain lengths or radians: single precision."""


def agree_over_time(problem: ChainProblem, angles: Array, distances: Array, frames: int) -> tuple[Array, Array]:
    """Remove whole turns and avoidable jumps between frames.

    problem : C chains of `frames` frames each, the frames of a chain next to each other
    angles, distances : (n, C * frames) and (C * frames,), the independent solution of each frame

    Returns both; beyond whole turns only chains that jump are changed. No distance grows by more than `REACHED`.
    """
    angles = unwrap(problem, angles, frames)
    if frames < 2:  # noqa: PLR2004 - nothing to agree with
        return angles, distances
    for chain_index in np.flatnonzero(find_jumps(problem, angles, frames).any(axis=1)):
        columns = slice(chain_index * frames, (chain_index + 1) * frames)
        chain = problem.take(columns)
        given = np.concatenate([chain.targets, chain.lengths, chain.lower, chain.upper, chain.preferred, [chain.bend]])
        is_cycle = chain.size > SHORTEST_CYCLE and np.allclose(given[:, 0], given[:, -1], rtol=0.0, atol=SAME_ENDS)
        replan = _replan_cycle if is_cycle else _replan
        angles[:, columns] = replan(chain, angles[:, columns], distances[columns])
        distances[columns] = chain.distances(angles[:, columns])
    return angles, distances


def unwrap(problem: ChainProblem, angles: Array, frames: int) -> Array:
    """Angles (n, C * frames) with unlimited joints moved by whole turns.

    Each frame is brought within half a turn of the previous one, the first frame of its preferred pose.
    """
    by_chain = (len(angles), -1, frames)
    paths, preferred = angles.reshape(by_chain), problem.preferred.reshape(by_chain)[:, :, :1]
    first = preferred + wrap(paths[:, :, :1] - preferred)
    turned = np.cumsum(np.concatenate([first, wrap(np.diff(paths, axis=2))], axis=2), axis=2)
    # Summing the steps rounds; adding whole turns does not.
    turned = paths + 2 * np.pi * np.rint((turned - paths) / (2 * np.pi))
    return np.where(_turns_freely(problem).reshape(by_chain).all(axis=2, keepdims=True), turned, paths).reshape(angles.shape)


def _turns_freely(problem: ChainProblem) -> Mask:
    """Joints `(n, P)` without limits, for which a whole turn changes nothing."""
    return np.isinf(problem.lower) & np.isinf(problem.upper)


def find_jumps(problem: ChainProblem, angles: Array, frames: int) -> Mask:
    """Steps (C, frames - 1) of each chain that neither target nor preferred pose explains."""
    by_chain = (len(angles), -1, frames)
    steps = np.abs(np.diff(angles.reshape(by_chain), axis=2)).max(axis=0)
    moves = np.diff(problem.targets.reshape(2, -1, frames), axis=2)
    travel = np.hypot(moves[0], moves[1])
    given = np.abs(np.diff(problem.preferred.reshape(by_chain), axis=2)).max(axis=0)
    beside = np.pad(steps, [(0, 0), (1, 1)])
    usual = SPIKE_RATIO * np.maximum(np.maximum(beside[:, :-2], beside[:, 2:]), travel)
    too_long = (steps > SMALLEST_JUMP + JUMP_PER_TRAVEL * travel + given) | (steps > SMALLEST_SPIKE + usual + given)
    return too_long & ~asked_flips(problem, frames)


def asked_flips(problem: ChainProblem, frames: int) -> Mask:
    """Steps (C, frames - 1) at which the requested side changes, so that a jump is intended."""
    sides = problem.bend.reshape(-1, frames)
    return sides[:, 1:] != sides[:, :-1]


def _replan_cycle(chain: ChainProblem, path: Array, distances: Array) -> Array:
    """The smoothest path `(n, F)` found for one chain that ends as it begins (a cycle)."""
    period = chain.size - 1
    # Three rounds in a row, of which the middle one has the same motion before it and after it.
    rounds = np.append(np.tile(np.arange(period), 3), period)
    replanned = _replan(chain.take(rounds), path[:, rounds], distances[rounds])
    replanned = unwrap(chain, replanned[:, period : 2 * period + 1], chain.size)
    turns = np.where(_turns_freely(chain).all(axis=1), np.rint((replanned[:, -1] - replanned[:, 0]) / (2 * np.pi)), 0.0)
    closing = replanned[:, 0] + 2 * np.pi * turns
    if np.abs(closing - replanned[:, -1]).max() < SMALLEST_SPIKE:
        replanned[:, -1:], _ = descend(chain.take(np.array([period])), closing[:, np.newaxis])
    return replanned


def _replan(chain: ChainProblem, path: Array, distances: Array) -> Array:
    """The smoothest path `(n, F)` found for one chain."""
    poses, remaining = branches(chain)
    poses = np.concatenate([path[np.newaxis], poses])
    remaining = np.concatenate([distances[np.newaxis], remaining])
    planned = unwrap(chain, least_motion(chain, poses, remaining), chain.size)
    candidates = []
    # Where one branch splits in two, the plan may jump although spreading the jumps of the original path would not.
    for candidate in (planned, path):
        drawn, missing = descend(chain, draw_out(chain, candidate, find_jumps(chain, candidate, chain.size)[0]))
        candidates.append(np.where(missing <= chain.distances(candidate) + REACHED, drawn, candidate))
    # The fewest jumps, and of equals the least motion.
    return min(candidates, key=lambda drawn: (find_jumps(chain, drawn, chain.size).sum(), (np.diff(drawn, axis=1) ** 2).sum()))


def branches(chain: ChainProblem) -> tuple[Array, Array]:
    """Solutions of every frame from several starts: poses `(K, n, F)`, distances `(K, F)`."""
    mirrored = chain.preferred.copy()
    mirrored[1:] *= -1.0
    fractions = evenly_spread(SPREAD_BRANCHES, chain.lengths.shape[0])
    starts = [chain.preferred, chain.clip(mirrored), *spread_poses(chain, fractions)]
    solved = [reach_out(chain, start) for start in starts]
    return np.stack([poses for poses, _ in solved]), np.stack([distances for _, distances in solved])


def least_motion(chain: ChainProblem, poses: Array, distances: Array) -> Array:
    """Pick one pose per frame so that the joints turn least over the whole range.

    poses : (K, n, F); distances : (K, F), remaining

    Returns `(n, F)`. Squared steps are summed, so one big step costs more than many small ones.
    """
    turns_freely = np.asarray(_turns_freely(chain).all(axis=1))
    deviations = poses - chain.preferred
    deviations = np.where(turns_freely[:, np.newaxis], wrap(deviations), deviations)
    per_pose = COST_OF_DEVIATION * (deviations[:, 1:] ** 2).sum(axis=1)
    per_pose += COST_OF_WRONG_SIDE * (likeness(chain, poses) < -CLEARLY_BENT)
    per_pose += COST_OF_MISSING * (distances > distances.min(axis=0) + REACHED)
    count, joints, frames = poses.shape
    per_step = np.zeros((frames - 1, count, count))
    for joint in range(joints):
        here = poses[:, joint].T
        step = here[1:, np.newaxis, :] - here[:-1, :, np.newaxis]
        per_step += (wrap(step) if turns_freely[joint] else step) ** 2
    # Where the other side is asked for, the jump is wanted and costs nothing.
    per_step[asked_flips(chain, frames)[0]] = 0.0
    chosen = cheapest_sequence(per_pose.T, per_step)
    return poses[chosen, :, np.arange(frames)].T


def likeness(chain: ChainProblem, poses: Array) -> Array:
    """Similarity `(K, F)` of the bends of poses `(K, n, F)` to the preferred bends; < 0 where they are opposite.

    From -1 to 1 for any chain: mean over the joints of the product of the sines of both bends, weighted by their links.
    """
    products = chain.lengths[:-1] * chain.lengths[1:]
    both = products * np.sin(poses[:, 1:]) * np.sin(chain.preferred[1:])
    return both.sum(axis=1) / np.maximum(products.sum(axis=0), np.finfo(np.float64).tiny)


def cheapest_sequence(per_state: Array, per_step: Array) -> Array:
    """The states `(F,)` with the least total cost: Viterbi's solution, computed by halving.

    per_state : (F, K), cost of being in a state
    per_step : (F - 1, K, K), cost of the transition from a state (row) to the next (column)

    Each round eliminates every second frame by keeping its best state for each pair of neighbouring states, all frames at once;
    there are log2(F) rounds.
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


REACH_OF_A_JUMP = 24
"""Frames before and after a jump that take part: one second each at 24 frames per second."""

SWEEPS = 60
"""Relaxation passes over all frames; more made hardly any difference when measured."""

OVER_RELAXATION = 1.5
LONGEST_PULL = 0.2
"""Radians per sweep; a longer linear step would leave the curve of poses that keep the tip."""

CORRECTIONS = 2
"""Newton steps that put the tip back; each squares the remaining error."""

TIP_MAY_DRIFT = 1e-7
"""Tolerance of the tip during relaxation, relative to the chain length; a descent follows."""


def draw_out(chain: ChainProblem, path: Array, jumps: Mask) -> Array:
    """Spread the motion of each jump in `path` over the frames around it.

    chain : one chain, a problem per frame
    path : (n, F), radians, continuous except at the jumps
    jumps : (F - 1,) bool, the steps that are too long

    Returns `(n, F)`, inside the limits. Frames far from every jump are unchanged.
    """
    if not jumps.any():
        return path
    path = path.copy()
    frames = path.shape[1]
    # +1 where the surroundings of a jump begin, -1 after their end: frames with a positive sum are near one.
    at_jump, changes = np.flatnonzero(jumps), np.zeros(frames + 1, dtype=int)
    np.add.at(changes, np.maximum(at_jump + 1 - REACH_OF_A_JUMP, 0), 1)
    np.add.at(changes, np.minimum(at_jump + 1 + REACH_OF_A_JUMP, frames), -1)
    involved = np.flatnonzero(np.cumsum(changes)[:frames] > 0)
    # Odd and even frames in turn, so that each frame moves while its neighbours stand.
    halves = [involved[involved % 2 == parity] for parity in (1, 0)]
    problems = [chain.take(half) for half in halves]
    for _ in range(SWEEPS):
        for half, problem in zip(halves, problems, strict=True):
            # At an end of the range the only neighbour counts twice.
            before = np.where(half > 0, half - 1, half + 1)
            after = np.where(half < frames - 1, half + 1, half - 1)
            path[:, half] = _pull(problem, path[:, half], 0.5 * (path[:, before] + path[:, after]))
    return path


def _pull(part: ChainProblem, here: Array, middle: Array) -> Array:
    """Poses `(n, P)` moved towards `middle` with their tips kept; `here` where that fails."""
    wish = np.clip(OVER_RELAXATION * (middle - here), -LONGEST_PULL, LONGEST_PULL)
    distances = part.distances(here)
    there = _keep_tip(part, here, wish)
    for _ in range(CORRECTIONS):
        there = _keep_tip(part, there, np.zeros_like(there))
    keeps_tip = part.distances(there) <= np.maximum(distances, TIP_MAY_DRIFT)
    is_nearer = _squared(there - middle) <= _squared(here - middle)
    return np.where(keeps_tip & is_nearer, there, here)


def _keep_tip(part: ChainProblem, here: Array, wish: Array) -> Array:
    arms = part.arms(here)
    room = np.stack([part.lower - here, part.upper - here])
    damping = np.full(part.size, RELAXING_DAMPING)
    return part.clip(here + bounded_step(arms, part.residuals(arms), room, damping, wish))


def _squared(turns: Array) -> Array:
    return (turns * turns).sum(axis=0)


FARTHEST = 1e12
"""Greatest target distance in chain lengths; farther targets are moved to it, where only their direction matters."""

BESIDE_ROOT = 1e-100
"""Distance in chain lengths at which a target on the root joint is put, in the last direction."""


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """Targets and chains broadcast to all frames, with unreadable frames filled in; all but limits are finite."""

    targets: Array
    """`(..., F, 2)`; unreadable frames hold the last readable value."""
    lengths: Array
    """`(..., F, n)`; unreadable frames hold the last readable value."""
    limits: Array
    """`(..., F, n, 2)` radians, infinite where there is no limit."""
    start: Array
    """`(..., F, n)` radians, inside the limits."""
    bend: Array
    """`(..., F)` of +1 and -1."""
    readable: Mask
    """`(..., F)`, whether the frame's numbers are finite and its chain length is not 0."""
    unit: Array
    """`(..., F)`, what 1 of the scaled targets and lengths was in the arguments."""

    @property
    def chain_lengths(self) -> Array:
        """Sum of the link lengths, `(..., F)`."""
        return self.lengths.sum(axis=-1)

    def to_problem(self) -> ChainProblem:
        """The problem relative to the chain length and joint-major, the frames of a chain side by side."""
        relative = self.lengths / self.chain_lengths[..., np.newaxis]
        preferred = preferred_pose(self.start, relative, self.bend, self.limits)
        distance = span(self.targets)
        # A target on the root joint keeps the last direction, because a descent needs one.
        heading = hold(np.arctan2(self.targets[..., 1], self.targets[..., 0]), distance > 0)
        with np.errstate(over="ignore"):
            distance = np.clip(distance / self.chain_lengths, BESIDE_ROOT, FARTHEST)
        targets = distance[..., np.newaxis] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
        return ChainProblem(
            _joint_major(targets),
            _joint_major(relative),
            _joint_major(self.limits[..., 0]),
            _joint_major(self.limits[..., 1]),
            _joint_major(preferred),
            self.bend.reshape(-1),
        )


def read_request(targets: Array, lengths: Array, bend: float | Array, limits: Array | None, start: Array | None) -> ChainRequest:
    """Broadcast and complete the arguments of `solve_chain`."""
    targets = np.asarray(targets, dtype=np.float64)
    frames = targets.shape[:-1]
    joints = np.shape(lengths)[-1]
    lengths = np.broadcast_to(np.asarray(lengths, dtype=np.float64), (*frames, joints))
    limits = np.broadcast_to([-np.inf, np.inf] if limits is None else limits, (*frames, joints, 2)).astype(np.float64)
    start = np.broadcast_to(np.asarray(0.0 if start is None else start, dtype=np.float64), (*frames, joints))
    start = np.clip(np.where(np.isfinite(start), start, 0.0), limits[..., 0], limits[..., 1])
    bend = np.where(np.broadcast_to(bend, frames) < 0, -1.0, 1.0)
    readable = np.isfinite(targets).all(axis=-1) & np.isfinite(lengths).all(axis=-1)
    room = room_for_sums(targets, lengths)
    room = np.ones((*frames, 1)) if room is None else room
    targets, lengths = targets * room, lengths * room
    readable &= np.where(readable, lengths.sum(axis=-1), 0.0) > 0
    if not readable.all():
        targets = _hold_rows(targets, readable)
        lengths = _hold_rows(lengths, readable)
        # A chain without a readable frame is solved as any chain, and then not used.
        lengths = np.where(lengths.sum(axis=-1, keepdims=True) > 0, lengths, 1.0)
    return ChainRequest(targets, lengths, limits, start, bend, readable, 1.0 / room[..., 0])


def _hold_rows(rows: Array, readable: Mask) -> Array:
    """Rows `(..., F, k)` with unreadable frames replaced by the last readable one."""
    return np.moveaxis(hold(np.moveaxis(rows, -1, 0), readable), 0, -1)


def _joint_major(rows: Array) -> Array:
    """Rows `(..., F, k)` as `(k, C * F)`."""
    return np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]).T)


REACH_TOLERANCE = 1e-6
"""Distance of the tip, relative to the chain length, that counts as reached: a micrometre per metre."""


class ChainMethod(StrEnum):
    """Solution method for chains of three or more links."""

    AUTO = "AUTO"
    """Damped least squares with restarts; does not lock, and is smooth over time."""

    SPRING = "SPRING"
    """All joints bend by one common factor; where no factor reaches the target, as near to that pose as AUTO gets."""

    CCD = "CCD"
    """Cyclic coordinate descent as published; it can lock, and solves each frame independently."""


@dataclass(frozen=True, slots=True)
class ChainSolution:
    """Poses that bring the tips to their targets, or as near as links and limits allow."""

    angles: Array
    """`(..., F, n)` radians: direction of link 1 from u, then each link relative to the previous one."""
    reach: Codes
    """`(..., F)` int8 of `Reach`; out of reach is TOO_NEAR where the tip stays farther out than the target, else TOO_FAR."""
    distances: Array
    """`(..., F)` distance from tip to target; 0 where the frame is DEGENERATE."""


def solve_chain(
    targets: Array,
    lengths: Array,
    *,
    bend: float | Array = 1.0,
    limits: Array | None = None,
    start: Array | None = None,
    method: ChainMethod | str = ChainMethod.AUTO,
    tolerance: float = REACH_TOLERANCE,
) -> ChainSolution:
    """Solve planar chains of n > 2 links for targets that move over the frames.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (n,) or broadcast against (..., F, n), >= 0, any scale
    bend : scalar or (..., F) of +1 and -1; the side of the line from root to tip on which the joints should be, +1 (POSITIVE)
        meaning angle 2 >= 0 for two links (see `preferred_pose`)
    limits : (n, 2) or broadcast against (..., F, n, 2), least and greatest value of each angle; the first is the direction of
        link 1 from u; radians, infinite where there is no limit
    start : (n,) or broadcast against (..., F, n), the pose to stay near, such as the rest pose or each frame's own pose; None
        is the straight chain along u
    method : a `ChainMethod` or its name
    tolerance : distance of the tip, relative to the chain length, that counts as reached

    AUTO returns, among the poses near `start` that reach, the one whose angles after the first deviate least from it. So the
    motion is continuous where that pose is, a cycle stays a cycle, and a chain without limits has one shape per distance. Where
    the motion would jump, the sequence of poses with the least motion is taken and the rest of the jump spread over neighbouring
    frames. A joint without limits keeps turning beyond half a turn. Out of reach, the closest pose found is returned, straight or
    folded if there are no limits; `start` decides between equally close poses.

    SPRING multiplies all bends of `start` by one common factor (see `spring_pose`). Where limits, or a target too near for the
    shape, allow no such pose, it deviates from it as little as AUTO does.

    Never NaN, never outside the limits; the same input gives bit-identical output. Frames with a non-finite number, or with all
    lengths 0, are DEGENERATE and hold the pose of the last good frame (leading ones the pose of the first good frame; without
    any, `start`). A target on the root joint keeps the last direction. A link of length 0 stays near its `start`.
    """
    request = read_request(targets, lengths, bend, limits, start)
    if request.readable.size == 0:
        return _judge(request, request.start, tolerance)
    angles = _solve(request, ChainMethod(method), tolerance).T.reshape(request.lengths.shape)
    if not request.readable.all():
        any_readable = np.any(request.readable, axis=-1)[..., np.newaxis, np.newaxis]
        angles = np.where(any_readable, held(angles, request.readable), request.start)
    # Adding and subtracting whole turns may leave angles outside the limits by a rounding error.
    return _judge(request, np.clip(angles, request.limits[..., 0], request.limits[..., 1]), tolerance)


def _solve(request: ChainRequest, method: ChainMethod, tolerance: float) -> Array:
    """The poses, `(n, C * F)`."""
    problem = request.to_problem()
    frames, links = request.readable.shape[-1], request.lengths.shape[-1]
    if method == ChainMethod.CCD:
        poses, _ = coordinate_descent(problem, request.start.reshape(-1, links).T, tolerance)
        return unwrap(problem, poses, frames)
    if method == ChainMethod.SPRING:
        problem = replace(problem, preferred=spring_pose(problem))
    poses, _ = agree_over_time(problem, *solve_frames(problem), frames)
    return poses


def _judge(request: ChainRequest, angles: Array, tolerance: float) -> ChainSolution:
    """The poses with their reach and remaining distances."""
    tips = forward(angles, request.lengths)[..., -1, :]
    distances = np.where(request.readable, span(request.targets - tips), 0.0)
    reach = np.where(span(tips) > span(request.targets), Reach.TOO_NEAR, Reach.TOO_FAR)
    reach = np.where(distances <= tolerance * request.chain_lengths, Reach.REACHED, reach)
    reach = np.where(request.readable, reach, Reach.DEGENERATE)
    return ChainSolution(angles, reach.astype(np.int8), distances * request.unit)
