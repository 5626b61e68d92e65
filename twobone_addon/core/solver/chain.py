"""Planar chains of any number of links, with limits: the call, its checks and its answer.

Two links are left to the closed forms. Three or more have no unique answer, and with limits no closed one. The default method is
damped Gauss-Newton in the box of limits (`chain_descent`), started again elsewhere where it gets stuck (`chain_search`), Newton's
method for the closest pose of what stays out of reach (`settle`), and a plan over all frames for the chains that would jump
(`chain_paths`). It was chosen by measurement. Random reachable targets, 3 to 8 links, random limits, 100,000 for each number of
links, share reached: cyclic coordinate descent 85 to 94 %, one descent 92 to 95 %, with up to 16 restarts all of them.
tests/benchmark/bench_chain.py prints the table.
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
"""Chain lengths; targets beyond are brought to this distance, where only their direction matters."""

BESIDE_ROOT = 1e-100
"""Chain lengths; a target on the root joint is put this far from it, in the last direction."""


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """Targets and chains, every array with all frames, every number finite."""

    targets: Array
    """`(..., F, 2)`; where a frame is not readable, what was there before."""
    lengths: Array
    """`(..., F, n)`; where a frame is not readable, what was there before."""
    limits: Array
    """`(..., F, n, 2)` radians, infinite where there is no limit."""
    start: Array
    """`(..., F, n)` radians, inside the limits."""
    bend: Array
    """`(..., F)` of +1 and -1."""
    readable: Mask
    """`(..., F)`, whether the frame's numbers are finite and its chain has a length."""

    @property
    def chain_lengths(self) -> Array:
        """The sum of the lengths, `(..., F)`."""
        return self.lengths.sum(axis=-1)

    def to_problem(self) -> ChainProblem:
        """The same without units and joint-major, the frames of a chain side by side."""
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
    """Complete the arguments of `solve_chain`, see there."""
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
"""Distance of the tip, relative to the chain length, that counts as reached: a micrometre a metre."""


class ChainMethod(StrEnum):
    """How chains of three or more links are solved."""

    AUTO = "AUTO"
    """Does not lock, and is smooth over time."""

    SPRING = "SPRING"
    """All joints bend by one common factor, and like AUTO where that does not do."""

    CCD = "CCD"
    """Cyclic coordinate descent as published; it can lock, and each frame stands alone."""


@dataclass(frozen=True, slots=True)
class ChainSolution:
    """Poses that bring the tips to their targets, or as near to them as links and limits allow."""

    angles: Array
    """`(..., F, n)` radians: direction of link 1 from u, then each link relative to the one before."""
    reach: Codes
    """`(..., F)` int8 of `Reach`; out of reach is TOO_NEAR where the tip stays farther out than the target, else TOO_FAR."""
    distances: Array
    """`(..., F)`, from the tip to the target; 0 where the frame is DEGENERATE."""


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
    bend : scalar or (..., F) of +1 and -1; the side of the line from root to tip on which the joints are to be, +1 (POSITIVE) as
        angle 2 >= 0 of two links (see `preferred_pose`)
    limits : (n, 2) or broadcast against (..., F, n, 2), least and greatest value of each angle; the first is the direction of
        link 1 from u; radians, infinite where there is no limit
    start : (n,) or broadcast against (..., F, n), the pose to stay near to, such as the rest pose or the pose each frame has;
        None is the straight chain along u
    method : a `ChainMethod` or its name
    tolerance : distance of the tip, relative to the chain length, that counts as reached

    AUTO returns the pose whose angles after the first deviate least from `start` among those near it that reach. So the motion is
    continuous where that pose is, a cycle stays a cycle, and a chain without limits takes one shape per distance. Where that
    would jump, the sequence with the least motion is taken and spread over the frames around. A joint without limits turns on
    beyond half a turn. Out of reach it is the closest pose found, straight or folded if there are no limits; two poses that are
    equally close are told apart by `start`.

    SPRING bends all joints by one common factor of what they are bent in `start` (see `spring_pose`), and deviates from that as
    little as AUTO does where limits or a target too near for the shape leave no such pose.

    Never NaN, never outside the limits, the same input gives the same bits. Frames with a number that is not finite, or with all
    lengths 0, are DEGENERATE and hold the pose of the frame before (before the first good one: of that one; without any:
    `start`). A target on the root joint keeps the last direction. A link of length 0 stays near its `start`.
    """
    request = read_request(targets, lengths, bend, limits, start)
    if request.readable.size == 0:
        return _judge(request, request.start, tolerance)
    angles = _solve(request, ChainMethod(method), tolerance).T.reshape(request.lengths.shape)
    if not request.readable.all():
        any_readable = np.any(request.readable, axis=-1)[..., np.newaxis, np.newaxis]
        angles = np.where(any_readable, held(angles, request.readable), request.start)
    # Whole turns taken and given back leave angles a rounding outside.
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
    """The poses with what they achieve."""
    tips = forward(angles, request.lengths)[..., -1, :]
    distances = np.where(request.readable, span(request.targets - tips), 0.0)
    reach = np.where(span(tips) > span(request.targets), Reach.TOO_NEAR, Reach.TOO_FAR)
    reach = np.where(distances <= tolerance * request.chain_lengths, Reach.REACHED, reach)
    reach = np.where(request.readable, reach, Reach.DEGENERATE)
    return ChainSolution(angles, reach.astype(np.int8), distances)
