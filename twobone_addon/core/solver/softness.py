"""Soft reach, which slows the knee down before the chain is straight or folded, and stretch.

A target that moves away at constant speed straightens the knee faster and faster, infinitely fast at the limit, where it suddenly
stops: the "pop" of inverse kinematics.

Prior art: exponential soft IK (A. Nicholas; ozz-animation) never gets quite straight; Spine's parabola begins with slope 1 and is
exactly straight at the end. Near the limit the missing distance is proportional to the square of the knee angle, so the parabola
is, to first order, a knee that turns at constant speed.

Here constant speed is the definition. From where softening begins, the knee keeps the speed it has there, per distance that the
target moves, until it is straight (folded):

    angle(d) = angle_0 - (d - d_0) / travel,
    travel = |dd / dangle| at d_0 = sqrt((far^2 - d_0^2) (d_0^2 - near^2)) / (2 d_0)

and the tip's distance follows from the knee angle (law of cosines):

    e(angle) = hypot(far cos(angle / 2), near sin(angle / 2))

- Value and slope are continuous where softening begins, by construction.
- The knee's speed is at most 1 / travel times the target's, through both limits. No curve with the right initial slope can do
  with less.
- The chain is straight at exactly d_0 + angle_0 travel, about as far beyond the limit as softening begins before it. Likewise it
  is folded at d_0 - (pi - angle_0) travel, which is never negative.
- The tip never passes the target: e is concave in the knee angle, so it lies below its tangent e = d, as long as d_0^2 >= near
  far. Below that e is convex and the folded side is the exact mirror image. So the two zones are separated at sqrt(near far),
  where the knee turns slowest, and are cut there where they would overlap. With equal links that is 0: such a knee folds at a
  finite speed and needs no softening there.

Stretch scales both links by one ratio so that the tip stays on the target. Unreal scales linearly from a start ratio on, with
straight limbs where the scaling ends: the ratio has a kink at its start, and the knee still snaps at the end. Here the knee
follows the curve of soft reach, which has neither, and scaling the links makes up the distance that the curve holds back.
Starting to stretch early is therefore the same as softening early, and the earlier of both counts. With softness 0 and start 1
the chain first straightens and then stretches.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array
from .reach import Triangle, measure, ring_limits


@dataclass(frozen=True, slots=True)
class SoftZone:
    """Range of target distances over which the knee turns at constant speed; all fields have one shape."""

    start: Array
    """Target distance at which softening begins."""
    end: Array
    """Target distance at and beyond which the chain is exactly straight, or folded."""
    turn: Array
    """Radians that the knee turns between `start` and `end`."""
    travel: Array
    """Distance of the target per radian of the knee."""


def far_zone(lengths: ArrayLike, softness: ArrayLike) -> SoftZone:
    """Zone in which a chain eases into straight.

    lengths : (..., 2)
    softness : broadcast against (...), width of the zone before the limit as a fraction of the chain length, 0 to 1

    With softness 0, start and end are the limit, and turn and travel are 0.
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    start = np.maximum((1.0 - np.asarray(softness)) * far, _zone_boundary(near, far))
    triangle = measure(start, lengths[..., 0], lengths[..., 1])
    turn = _turn(triangle.foldedness, triangle.straightness)
    travel = _travel(triangle)
    return SoftZone(start, start + turn * travel, turn, travel)


def near_zone(lengths: ArrayLike, softness_near: ArrayLike) -> SoftZone:
    """Zone in which a chain eases into folded; the mirror image of `far_zone`."""
    lengths = np.asarray(lengths, dtype=np.float64)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    start = np.minimum(near + np.asarray(softness_near) * far, _zone_boundary(near, far))
    triangle = measure(start, lengths[..., 0], lengths[..., 1])
    turn = _turn(triangle.straightness, triangle.foldedness)
    travel = _travel(triangle)
    return SoftZone(start, start - turn * travel, turn, travel)


def soften(distances: ArrayLike, lengths: ArrayLike, softness: ArrayLike, softness_near: ArrayLike = 0.0) -> Array:
    """Distances of the tips from the root joint for targets at these distances.

    distances : (..., F), >= 0
    lengths : (..., F, 2) or (2,)
    softness, softness_near : scalar or (..., F), 0 to 1, fractions of the chain length over which the chain eases into the far
        and the folded limit; 0 clamps hard

    Returns `(..., F)`, within the ring, never beyond the target on the far side nor nearer than the target on the folded side.
    The curve is described at the top of this file. Infinite distances count as beyond the end; NaN stays NaN.
    """
    distances = np.asarray(distances, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    softened = np.clip(distances, near, far)
    if np.any(softness):
        zone = far_zone(lengths, softness)
        rest = _remaining_turn(distances - zone.start, zone) / 2
        eased = np.hypot(far * np.cos(rest), near * np.sin(rest))
        softened = np.where(distances > zone.start, np.minimum(eased, softened), softened)
    if np.any(softness_near):
        zone = near_zone(lengths, softness_near)
        rest = _remaining_turn(zone.start - distances, zone) / 2
        eased = np.hypot(near * np.cos(rest), far * np.sin(rest))
        softened = np.where(distances < zone.start, np.maximum(eased, softened), softened)
    return softened


def _remaining_turn(passed: Array, zone: SoftZone) -> Array:
    """Radians left until straight (folded) when the target is a distance `passed` into a zone."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turned = passed / zone.travel
    # A zone of width 0 is passed at once.
    return np.where(zone.travel > 0, np.clip(zone.turn - turned, 0.0, zone.turn), 0.0)


def _zone_boundary(near: Array, far: Array) -> Array:
    """Distance at which the knee turns slowest: the geometric mean of the limits."""
    return np.sqrt(near) * np.sqrt(far)


def _turn(passing: Array, staying: Array) -> Array:
    """Radians between the knee and a limit; 0 for a chain of length 0."""
    return np.nan_to_num(2.0 * np.arctan2(passing, staying))


def _travel(triangle: Triangle) -> Array:
    """|d distance / d angle 2|: twice the area of the triangle divided by its third side."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slant = triangle.straightness * triangle.far / triangle.inside
    # Only equal links can have distance 0, and for them straightness * far = distance.
    slant = np.where(triangle.inside > 0, slant, 1.0)
    return np.nan_to_num(slant * triangle.foldedness * triangle.far / 2)


def stretch_ratio(
    distances: ArrayLike,
    lengths: ArrayLike,
    *,
    start: float = 1.0,
    maximum: float = np.inf,
    compress_min: float = 1.0,
    softness: float = 0.0,
    softness_near: float = 0.0,
) -> tuple[Array, Array]:
    """Scale of both links, and the distance of the unscaled chain's tip.

    distances : (..., F), of the target from the root joint
    lengths : (..., F, 2) or (2,)
    start : fraction of the chain length at which stretching begins, 0 to 1
    maximum : largest ratio, >= 1; 1 is soft reach without stretch
    compress_min : smallest ratio, > 0 and <= 1; with 1 the chain does not shrink
    softness, softness_near : as in `soften`

    Returns (ratio, reduced), both `(..., F)`: the pose is solved with the given lengths for the distance `reduced`, and the tip
    is then at ratio * reduced. That is the target's distance, except where the ratio is at a bound: there the tip stays behind as
    in soft reach. The ratio is continuous, its slope too except at the bounds, and it is 1 between the zones. It is also 1 for a
    target on the root joint of equal links and for a target that is not finite.
    """
    distances = np.asarray(distances, dtype=np.float64)
    reduced = soften(distances, lengths, np.maximum(softness, 1.0 - start), softness_near)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.clip(distances / reduced, compress_min, maximum)
    return np.where(np.isfinite(distances) & (reduced > 0), ratio, 1.0), reduced
