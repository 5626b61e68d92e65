"""Determine to which side a chain is bent, and bend its reference pose to the requested side.

A chain has one side for all its joints, which never flips while the chain merely changes its shape.

An arc has its joints on one side of the line from root to tip. A zigzag, such as a hind leg, has them on both; the signed area
between chain and line, which gives the side of an arc, is then close to zero and changes its sign while the leg walks. So the
side of a chain is the side of its first bend, as for two links, and it is decided once for a whole motion: it changes between two
frames only where every bend is reversed, as in an arc that straightened in between.
"""

import numpy as np

from ..array_types import Array
from .angles import forward, hold

UNSEEN_BEND = np.radians(1.0)
"""Bend in radians below which a pose has no side of its own; it is too small to see."""

CLEAR = 0.25
"""Least ratio to the chain's greatest bend at which a bend counts as its first; joints before it are nearly straight."""

BEND_OF_STRAIGHT = 0.05
"""Radians per joint by which a straight pose is bent: enough to start a descent on the right side, and little compared with the
bend that any target within reach needs."""


def bend_sides(crosses: Array, products: Array) -> Array:
    """Side of a chain's first bend at every frame, `(..., F)` of +1 and -1.

    crosses : (..., F, n - 1), cross product of each link with the next, > 0 counter-clockwise
    products : (..., F, n - 1), product of both lengths

    All frames together decide which bend is the first, and its side. A straight pose has the side of the previous frame, leading
    straight poses the side of the first bent one; a chain that is always straight has +1.
    """
    sines = np.divide(crosses, products, out=np.zeros_like(crosses), where=products > 0)
    bent = np.abs(sines).max(axis=-1) > np.sin(UNSEEN_BEND)
    shapes = np.moveaxis(hold(np.moveaxis(crosses, -1, 0), bent), 0, -1)
    # The dot product of two consecutive shapes is negative only where the bends are reversed.
    turned_over = (shapes[..., 1:, :] * shapes[..., :-1, :]).sum(axis=-1) < 0
    sides = np.ones(bent.shape)
    sides[..., 1:] = np.cumprod(np.where(turned_over, -1.0, 1.0), axis=-1)
    strengths = np.abs(sines).sum(axis=-2)
    first = np.argmax(strengths >= CLEAR * strengths.max(axis=-1, keepdims=True), axis=-1)[..., np.newaxis]
    common = (sides[..., np.newaxis] * sines).sum(axis=-2)
    return np.where(np.take_along_axis(common, first, axis=-1) < 0, -sides, sides)


def bends_of(angles: Array, lengths: Array) -> tuple[Array, Array]:
    """`crosses` and `products` of poses, both `(..., F, n - 1)`, for `bend_sides`.

    angles, lengths : (..., F, n)
    """
    products = lengths[..., :-1] * lengths[..., 1:]
    return products * np.sin(angles[..., 1:]), products


def preferred_pose(start: Array, lengths: Array, bend: Array, limits: Array) -> Array:
    """Reference poses `(..., F, n)`, inside the limits, that a chain should stay near.

    start : (..., F, n) radians
    lengths : (..., F, n)
    bend : (..., F) of +1 and -1
    limits : (..., F, n, 2)

    POSITIVE means that the first bend is counter-clockwise, for two links angle 2 >= 0 (see `bend_sides`). A pose on the other
    side is mirrored across the line from root to tip with all its bends, so that a zigzag stays one; a straight pose is bent
    slightly.
    """
    crosses, products = bends_of(start, lengths)
    mirrored = bend_sides(crosses, products) * bend < 0
    on_side = np.where(mirrored[..., np.newaxis], mirror(start, lengths), start)
    arc = np.zeros(start.shape)
    arc[..., 1:] = BEND_OF_STRAIGHT
    # Fades out as the pose's own bend grows, so that an animated pose stays continuous.
    full = np.maximum(products.sum(axis=-1) * np.sin(BEND_OF_STRAIGHT), np.finfo(np.float64).tiny)
    strength = bend * np.clip(1.0 - np.abs(crosses).sum(axis=-1) / full, 0.0, 1.0)
    return np.clip(on_side + strength[..., np.newaxis] * arc, limits[..., 0], limits[..., 1])


def mirror(angles: Array, lengths: Array) -> Array:
    """Poses `(..., F, n)` mirrored across the line from root to tip."""
    tip = forward(angles, lengths)[..., -1, :]
    mirrored = -angles
    mirrored[..., 0] += 2 * np.arctan2(tip[..., 1], tip[..., 0])
    return mirrored
