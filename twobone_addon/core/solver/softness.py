"""Soft reach, in which the knee slows down before the chain is straight, or folded; and stretch.

A target that moves away at constant speed straightens the knee faster and faster, infinitely fast at the limit, and then the knee
stops: the "pop" of inverse kinematics.

What is known: the exponential soft IK (A. Nicholas; ozz-animation) is never quite straight, and Spine's parabola begins with
slope 1 and is exactly straight at the end. Near the limit the missing distance is as the square of the knee angle, so the
parabola is, to first order, a knee that turns at constant speed.

Here that is the definition. From where softening begins the knee goes on turning at just the speed it has there, per distance
that the target moves, until it is straight (folded):

    angle(d) = angle_0 - (d - d_0) / travel,
    travel = |dd / dangle| at d_0 = sqrt((far^2 - d_0^2) (d_0^2 - near^2)) / (2 d_0)

and the tip is at the distance which that knee angle gives (law of cosines):

    e(angle) = hypot(far cos(angle / 2), near sin(angle / 2))

- Value and slope are continuous where softening begins, by construction.
- The knee's speed is at most 1 / travel times the target's, through both limits. No curve that has the right slope where it
  begins can do with less.
- Straight at exactly d_0 + angle_0 travel, about as far beyond the limit as softening begins before it. Folded, likewise, at d_0
  - (pi - angle_0) travel, which is never negative.
- The tip never passes the target: e is concave in the knee angle, so it lies below its tangent e = d, as long as d_0^2 >= near
  far. Below that e is convex and the folded side is the exact mirror. So sqrt(near far), where the knee turns slowest, parts the
  two zones, and amounts that overlap are cut there. With equal links it is 0: such a knee turns at a finite speed when folding
  and needs no softening there.

Stretch scales both links by one ratio, so that the tip stays on the target. Unreal scales its limbs linearly from a start ratio
on, so that they are straight where the scale ends: the ratio has a kink where it begins, and the knee still snaps where it ends.
Here the knee follows the curve of soft reach, which has no such places, and the links make up for what that curve holds back. To
start stretching early is therefore the same as to soften early, and the earlier of both counts. With softness 0 and start 1 the
chain is straight first and stretched then.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array
from .reach import Triangle, measure, ring_limits


@dataclass(frozen=True, slots=True)
class SoftZone:
    """The distances over which the knee turns at constant speed; fields are shaped alike."""

    start: Array
    """Target distance at which softening begins."""
    end: Array
    """Target distance from which on the chain is exactly straight, or folded."""
    turn: Array
    """Radians that the knee has still to turn at `start`."""
    travel: Array
    """Distance per radian; the knee's speed is at most 1 / travel times the target's."""


def far_zone(lengths: ArrayLike, softness: ArrayLike) -> SoftZone:
    """Where and how a chain eases into being straight.

    lengths : (..., 2)
    softness : broadcast against (...), fraction of the chain length before the limit, 0 to 1

    With softness 0 start and end are the limit, turn and travel are 0.
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    start = np.maximum((1.0 - np.asarray(softness)) * far, _parting(near, far))
    triangle = measure(start, lengths[..., 0], lengths[..., 1])
    turn = _turn(triangle.foldedness, triangle.straightness)
    travel = _travel(triangle)
    return SoftZone(start, start + turn * travel, turn, travel)


def near_zone(lengths: ArrayLike, softness_near: ArrayLike) -> SoftZone:
    """Where and how a chain eases into being folded; the mirror of `far_zone`."""
    lengths = np.asarray(lengths, dtype=np.float64)
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    start = np.minimum(near + np.asarray(softness_near) * far, _parting(near, far))
    triangle = measure(start, lengths[..., 0], lengths[..., 1])
    turn = _turn(triangle.straightness, triangle.foldedness)
    travel = _travel(triangle)
    return SoftZone(start, start - turn * travel, turn, travel)


def soften(distances: ArrayLike, lengths: ArrayLike, softness: ArrayLike, softness_near: ArrayLike = 0.0) -> Array:
    """How far from the root joint the tip is for targets at these distances.

    distances : (..., F), >= 0
    lengths : (..., F, 2) or (2,)
    softness, softness_near : scalar or (..., F), 0 to 1, fractions of the chain length over which the chain eases into the far
        and the folded limit; 0 clamps hard

    Returns `(..., F)`, within the ring, never beyond the target on the far side nor nearer than the target on the folded side.
    The curve is described at the top of this file. Infinite distances are beyond the end; NaN stays NaN.
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
    """The radians to straight (folded) after the target has gone `passed` into a zone."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        turned = passed / zone.travel
    # A zone without width is passed at once.
    return np.where(zone.travel > 0, np.clip(zone.turn - turned, 0.0, zone.turn), 0.0)


def _parting(near: Array, far: Array) -> Array:
    """The distance at which the knee turns slowest: the geometric mean of the limits."""
    return np.sqrt(near) * np.sqrt(far)


def _turn(passing: Array, staying: Array) -> Array:
    """How far the knee is from a limit; 0 for a chain that has no length."""
    return np.nan_to_num(2.0 * np.arctan2(passing, staying))


def _travel(triangle: Triangle) -> Array:
    """|d distance / d angle 2|, the double area of the triangle over its third side."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slant = triangle.straightness * triangle.far / triangle.inside
    # Only equal links can meet at distance 0, and with them straightness * far = distance.
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
    """How much to scale both links, and the goal of the unscaled chain's tip.

    distances : (..., F), of the target from the root joint
    lengths : (..., F, 2) or (2,)
    start : fraction of the chain length at which stretching begins, 0 to 1
    maximum : largest ratio, >= 1; at 1 this is soft reach without stretch
    compress_min : smallest ratio, > 0 and <= 1; at 1 the chain does not shrink
    softness, softness_near : as in `soften`

    Returns (ratio, reduced), both `(..., F)`: knee angle and direction are solved with the given lengths for the distance
    `reduced`, and the tip is then at ratio * reduced. That is the target's distance, except where the ratio is at a bound: there
    the tip stays behind as in soft reach. The ratio is continuous, its slope too but for the bounds, and 1 between the zones. A
    target on the root joint of equal links, and one that is no finite number, has 1.
    """
    distances = np.asarray(distances, dtype=np.float64)
    reduced = soften(distances, lengths, np.maximum(softness, 1.0 - start), softness_near)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.clip(distances / reduced, compress_min, maximum)
    return np.where(np.isfinite(distances) & (reduced > 0), ratio, 1.0), reduced
