"""Closed-form solutions for two links: both angles, or the mid joint without angles."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes
from .angles import forward, hold, wrap
from .reach import ROUNDING_SLACK, Block, Reach, blocks, classify, measure, ring_limits, room_for_sums, target_distances


@dataclass(frozen=True, slots=True)
class TwoBoneSolution:
    """Poses that bring the tip to the target, or as near as the links allow."""

    angles: Array
    """`(..., F, 2)` radians: direction of link 1 from u, and link 2 relative to link 1."""
    reach: Codes
    """`(..., F)` int8 of `Reach`."""


def solve_two_bone(
    targets: ArrayLike,
    lengths: ArrayLike,
    bend: ArrayLike,
    *,
    tolerance: ArrayLike = ROUNDING_SLACK,
    distances: ArrayLike | None = None,
) -> TwoBoneSolution:
    """Solve planar two-link chains for targets, in closed form.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (..., F, 2) or (2,), both >= 0, any scale
    bend : scalar or (..., F) of +1 and -1; +1 (POSITIVE) means angle 2 >= 0
    tolerance : scalar or broadcast against (..., F), distance outside the ring, relative to the chain length, that counts as
        reached
    distances : (..., F) or None; if given, the tip is brought to this distance from the root joint in the direction of the
        target, and reach is about this distance

    Outside the ring the closest pose is taken: straight towards the target, or folded.

    Angle 2 is twice the angle of a right triangle whose legs measure the distance to either limit; angle 1 is Juckett's
    arctangent ("Analytic Two-Bone IK in 2D", 2008), with sine and cosine of angle 2 from the same two legs. So the tip is exact
    to rounding at any ratio of lengths, even next to the limits, and no absolute tolerance is needed.

    Never NaN. Angles that the target does not determine are held from the last frame that determined them (see `hold`): angle 1
    where the target is on the root joint or link 1 vanishes, angle 2 where link 2 vanishes, both where a number is not finite.
    Where link 1 vanishes, the sum of the angles still points link 2 at the target.
    """
    targets = np.asarray(targets, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    bend = np.asarray(bend, dtype=np.float64)
    if distances is not None:
        distances = np.asarray(distances, dtype=np.float64)
    room = room_for_sums(targets, lengths)
    if room is not None:
        targets, lengths = targets * room, lengths * room
        distances = None if distances is None else distances * room[..., 0]
    shape = targets.shape[:-1]
    angles = np.empty((*shape, 2))
    reach = np.empty(shape, dtype=np.int8)
    flat_angles, flat_reach = angles.reshape(-1, 2), reach.reshape(-1)
    all_determined = True
    # Frames without a triangle divide by zero here and are corrected below.
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for block in blocks(targets, lengths, bend, distances, tolerance):
            determined = _solve_block(block, flat_angles[block.frames], flat_reach[block.frames])
            all_determined = all_determined and determined
    if not all_determined:
        _hold_undetermined(targets, lengths, distances, angles, reach)
    return TwoBoneSolution(angles, reach)


def _solve_block(block: Block, angles: Array, reach: Codes) -> bool:
    """Fill angles `(B, 2)` and reach `(B,)`; return whether every frame determines both angles."""
    span = np.hypot(block.x, block.y)
    distance = span if block.distance is None else block.distance
    triangle = measure(distance, block.length_1, block.length_2)
    legs = triangle.straightness, np.copysign(triangle.foldedness, block.bend)
    np.multiply(2.0, np.arctan2(legs[1], legs[0]), out=angles[:, 1])
    # The tip seen from link 1, over |legs|^2: (l1 + l2 cos a2, l2 sin a2) without trigonometry.
    difference = (block.length_1 - block.length_2) / triangle.far
    along = legs[0] * legs[0] + difference * (legs[1] * legs[1])
    across = 2.0 * (block.length_2 / triangle.far) * legs[0] * legs[1]
    u, v = block.x / span, block.y / span
    np.arctan2(v * along - u * across, u * along + v * across, out=angles[:, 0])
    reach[:] = classify(distance, triangle.near, triangle.far, block.tolerance * triangle.far)
    # NaN compares false, and so does the ring of a chain with a vanishing link.
    regular = (span > 0) & (span < np.inf) & (triangle.near < triangle.far)
    if block.distance is not None:
        regular &= np.isfinite(distance)
    return bool(regular.all())


def _hold_undetermined(targets: Array, lengths: Array, distances: Array | None, angles: Array, reach: Codes) -> None:
    """Replace, in place, every angle that its frame does not determine."""
    length_1, length_2 = lengths[..., 0], lengths[..., 1]
    span = target_distances(targets)
    distance = span if distances is None else distances
    with np.errstate(invalid="ignore"):
        near, far = ring_limits(length_1, length_2)
    finite = np.isfinite(span) & np.isfinite(distance) & np.isfinite(far)
    # A link vanishes where adding it to the other changes nothing in floating point: no epsilon needed.
    vanishing = finite & (near == far)
    first_vanishes = vanishing & (length_1 <= length_2)
    second_vanishes = vanishing & (length_2 <= length_1)
    aimed = finite & (span > 0)
    folds_onto_root = (distance == 0) & (near == 0)
    reach[~finite | vanishing | folds_onto_root] = Reach.DEGENERATE

    heading = np.arctan2(targets[..., 1], targets[..., 0])
    angles[..., 0] = np.where(second_vanishes, heading, angles[..., 0])
    angles[..., 0] = hold(angles[..., 0], aimed & ~first_vanishes)
    sum_is_fixed = first_vanishes & aimed & ~second_vanishes
    angles[..., 1] = np.where(sum_is_fixed, wrap(heading - angles[..., 0]), angles[..., 1])
    angles[..., 1] = hold(angles[..., 1], finite & ~vanishing | sum_is_fixed)


def mid_joint(targets: ArrayLike, lengths: ArrayLike, bend: ArrayLike) -> Array:
    """Joint between two links whose tip is on the target, or as near as possible.

    targets : (..., F, 2), relative to the root joint
    lengths : (..., F, 2) or (2,), both >= 0
    bend : scalar or (..., F) of +1 and -1, as in `solve_two_bone`

    Returns `(..., F, 2)`, up to rounding the same point as forward kinematics of `solve_two_bone`.

    Quilez's circle intersection ("Inverse Kinematics", 2D): one square root and one division beyond the target's distance, no
    trigonometry. The radicand is written as a product, as in Heron's formula, so that it is exact next to the limits. Problems
    with an undetermined frame are solved by angles instead, which are held there.
    """
    targets = np.asarray(targets, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    bend = np.asarray(bend, dtype=np.float64)
    joints = np.empty(targets.shape)
    flat_joints = joints.reshape(-1, 2)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        for block in blocks(targets, lengths, bend):
            if not _intersect_block(block, flat_joints[block.frames]):
                return forward(solve_two_bone(targets, lengths, bend).angles, lengths)[..., 1, :]
    return joints


def _intersect_block(block: Block, joints: Array) -> bool:
    """Fill joints `(B, 2)`; return whether every frame determines its joint."""
    # The radicand is a fourth power, which would underflow for tiny limbs. A power of two scales without rounding.
    _, exponent = np.frexp(block.length_1 + block.length_2)
    x, y, length_1, length_2 = (np.ldexp(side, -exponent) for side in (block.x, block.y, block.length_1, block.length_2))
    distance = np.hypot(x, y)
    near, far = ring_limits(length_1, length_2)
    inside = np.clip(distance, near, far)
    radicand = ((far - inside) * (far + inside)) * ((inside - near) * (inside + near))
    # Both are scaled by 2 * inside * distance, which the one division removes.
    along = inside * inside + (length_1 - length_2) * far
    across = np.copysign(np.sqrt(radicand), block.bend)
    scale = 0.5 / (inside * distance)
    along *= scale
    across *= scale
    joints[:, 0] = np.ldexp(x * along + y * across, exponent)
    joints[:, 1] = np.ldexp(y * along - x * across, exponent)
    # Not finite: the target has no position or no direction. An empty ring: a link vanishes.
    return bool((near < far).all() and np.isfinite(joints).all())
