"""Planar chains of any number of links, with limits: the call, its checks and its answer.

Two links are left to the closed forms. Three or more have no unique answer, and with limits
no closed one. The default method is damped Gauss-Newton in the box of limits (`chain_descent`),
started again elsewhere where it gets stuck (`chain_search`), Newton's method for the closest pose
of what stays out of reach (`chain_closest`), and a plan over all frames for the chains that would
jump (`chain_paths`). It was chosen by measurement. Random reachable targets, 3 to 8 links, random
limits, 100,000 for each number of links, share reached: cyclic coordinate descent 85 to 94 %, one
descent 92 to 95 %, with up to 16 restarts at least 99.998 %. tests/benchmark/bench_chain.py prints
the table.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ...array_types import Array, Codes
from ..angles import hold
from ..forward import forward
from ..reach import Reach
from .coordinate_descent import coordinate_descent
from .paths import agree_over_time, unwrap
from .request import ChainRequest, read_request
from .search import solve_frames
from .spring import spring_pose

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
    """`(..., F)` int8 of `Reach`; out of reach is TOO_NEAR where the tip stays farther out than
    the target, else TOO_FAR."""
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
    bend : scalar or (..., F) of +1 and -1; the side of the line from root to tip on which the
        joints are to be, +1 (POSITIVE) as angle 2 >= 0 of two links (see `preferred_pose`)
    limits : (n, 2) or broadcast against (..., F, n, 2), least and greatest value of each angle;
        the first is the direction of link 1 from u; radians, infinite where there is no limit
    start : (n,) or broadcast against (..., F, n), the pose to stay near to, such as the rest pose
        or the pose each frame has; None is the straight chain along u
    method : a `ChainMethod` or its name
    tolerance : distance of the tip, relative to the chain length, that counts as reached

    AUTO returns the pose whose angles after the first deviate least from `start` among those near
    it that reach. So the motion is continuous where that pose is, a cycle stays a cycle, and
    a chain without limits takes one shape per distance. Where that would jump, the sequence with
    the least motion is taken and spread over the frames around. A joint without limits turns on
    beyond half a turn. Out of reach it is the closest pose found, straight or folded if there
    are no limits; two poses that are equally close are told apart by `start`.

    SPRING bends all joints by one common factor of what they are bent in `start` (see `chain_spring`), and
    deviates from that as little as AUTO does where limits or a target too near for the shape leave no such pose.

    Never NaN, never outside the limits, the same input gives the same bits. Frames with a number
    that is not finite, or with all lengths 0, are DEGENERATE and hold the pose of the frame
    before (before the first good one: of that one; without any: `start`). A target on the root
    joint keeps the last direction. A link of length 0 stays near its `start`.
    """
    request = read_request(targets, lengths, bend, limits, start)
    if request.readable.size == 0:
        return _judge(request, request.start, tolerance)
    poses = request.from_joint_major(_solve(request, ChainMethod(method), tolerance))
    return _judge(request, _hold_poses(request, poses), tolerance)


def _solve(request: ChainRequest, method: ChainMethod, tolerance: float) -> Array:
    """The poses, `(n, C * F)`: by the closed forms where there are two links, else by the method."""
    problem = request.to_problem()
    frames, links = request.readable.shape[-1], request.lengths.shape[-1]
    if method == ChainMethod.CCD:
        starts = request.start.reshape(-1, links).T
        poses, _ = coordinate_descent(problem, starts, tolerance)
        return unwrap(problem, poses, frames)
    if method == ChainMethod.SPRING:
        problem = replace(problem, preferred=spring_pose(problem))
    poses, _ = agree_over_time(problem, *solve_frames(problem), frames)
    return poses


def _hold_poses(request: ChainRequest, angles: Array) -> Array:
    """Angles `(..., F, n)` with the frames that cannot be read holding the pose before, all within the limits."""
    if not request.readable.all():
        held = np.moveaxis(hold(np.moveaxis(angles, -1, 0), request.readable), 0, -1)
        any_readable = np.any(request.readable, axis=-1, keepdims=True)
        angles = np.where(np.asarray(any_readable)[..., np.newaxis], held, request.start)
    # Whole turns taken and given back leave angles a rounding outside.
    return np.clip(angles, request.limits[..., 0], request.limits[..., 1])


def _judge(request: ChainRequest, angles: Array, tolerance: float) -> ChainSolution:
    """The poses with what they achieve."""
    tips = forward(angles, request.lengths)[..., -1, :]
    left = request.targets - tips
    distances = np.where(request.readable, np.hypot(left[..., 0], left[..., 1]), 0.0)
    tip_is_outside = np.hypot(tips[..., 0], tips[..., 1]) > np.hypot(request.targets[..., 0], request.targets[..., 1])
    reach = np.where(tip_is_outside, Reach.TOO_NEAR, Reach.TOO_FAR)
    reach = np.where(distances <= tolerance * request.chain_lengths, Reach.REACHED, reach)
    reach = np.where(request.readable, reach, Reach.DEGENERATE)
    return ChainSolution(angles, reach.astype(np.int8), distances)
