"""Where the mid joint is, without angles: the intersection of two circles."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array
from .forward import forward
from .ring import Block, blocks, ring_limits
from .two_bone import solve_two_bone


def mid_joint(targets: ArrayLike, lengths: ArrayLike, bend: ArrayLike) -> Array:
    """The joint between two links whose tip is on the target, or as near as can be.

    targets : (..., F, 2), relative to the root joint
    lengths : (..., F, 2) or (2,), both >= 0
    bend : scalar or (..., F) of +1 and -1, as in `solve_two_bone`

    Returns `(..., F, 2)`, the same point as forward kinematics of `solve_two_bone` to rounding.

    Quilez's circle intersection ("Inverse Kinematics", 2D): from the target's distance, one
    square root and one division, no trigonometry. The radicand is written as a product, as
    in Heron's formula, so that it is exact next to the limits. Problems in which some frame
    leaves the pose free go through the angles, which are held there.
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
    """Fill joints `(B, 2)`; return whether every frame fixes its joint."""
    distance = np.hypot(block.x, block.y)
    near, far = ring_limits(block.length_1, block.length_2)
    inside = np.clip(distance, near, far)
    radicand = ((far - inside) * (far + inside)) * ((inside - near) * (inside + near))
    # Both are scaled by 2 * inside * distance, which the one division takes away.
    along = inside * inside + (block.length_1 - block.length_2) * far
    across = np.copysign(np.sqrt(radicand), block.bend)
    scale = 0.5 / (inside * distance)
    along *= scale
    across *= scale
    joints[:, 0] = block.x * along + block.y * across
    joints[:, 1] = block.y * along - block.x * across
    # Not finite: no point, or no direction. An empty ring: a link vanishes.
    return bool((near < far).all() and np.isfinite(joints).all())
