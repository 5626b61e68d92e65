"""Solve planar chains of any number of links, with limits: the entry point, its input checks and its result.

Two links are left to the closed forms. Three or more have no unique solution, and with limits no closed form. The default is
damped Gauss-Newton in the box of limits (`chain_descent`), restarted elsewhere where it gets stuck (`chain_search`), Newton's
method for the closest pose to targets out of reach (`settle`), and planning over all frames for chains that would jump
(`chain_paths`). It was chosen by measurement. Share of targets reached, for random reachable targets, 3 to 8 links and random
limits, 100,000 targets for each number of links: cyclic coordinate descent 85 to 94 %, one descent 92 to 95 %, up to 16 restarts
100 %. tests/benchmark/bench_chain.py prints the table.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import held, span
from .angles import forward, hold
from .chain_methods import coordinate_descent, spring_pose
from .chain_paths import agree_over_time, unwrap
from .chain_problem import ChainProblem
from .chain_search import solve_frames
from .chain_sides import preferred_pose
from .reach import Reach

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

    @property
    def chain_lengths(self) -> Array:
        """Sum of the link lengths, `(..., F)`."""
        return self.lengths.sum(axis=-1)

    def to_problem(self) -> ChainProblem:
        """The problem relative to the chain length and joint-major, the frames of a chain side by side."""
        preferred = preferred_pose(self.start, self.lengths, self.bend, self.limits)
        return ChainProblem(
            _joint_major(self._targets_beside_root()),
            _joint_major(self.lengths / self.chain_lengths[..., np.newaxis]),
            _joint_major(self.limits[..., 0]),
            _joint_major(self.limits[..., 1]),
            _joint_major(preferred),
            self.bend.reshape(-1),
        )

    def _targets_beside_root(self) -> Array:
        """Targets `(..., F, 2)` in chain lengths, each with a direction."""
        distance = span(self.targets)
        heading = hold(np.arctan2(self.targets[..., 1], self.targets[..., 0]), distance > 0)
        with np.errstate(over="ignore"):
            distance = np.clip(distance / self.chain_lengths, BESIDE_ROOT, FARTHEST)
        return distance[..., np.newaxis] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)


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
    readable &= np.where(readable, lengths.sum(axis=-1), 0.0) > 0
    if not readable.all():
        targets = _hold_rows(targets, readable)
        lengths = _hold_rows(lengths, readable)
        # A chain without a readable frame is solved as any chain, and then not used.
        lengths = np.where(lengths.sum(axis=-1, keepdims=True) > 0, lengths, 1.0)
    return ChainRequest(targets, lengths, limits, start, bend, readable)


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
    return ChainSolution(angles, reach.astype(np.int8), distances)
