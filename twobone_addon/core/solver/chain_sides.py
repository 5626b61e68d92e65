"""To which side a chain is bent, and its reference pose bent to the side that is asked for.

There is one answer for all joints, which never changes where the chain only changes its shape.

An arc has its joints on one side of the line from root to tip. A zigzag, such as a hind leg, has them on both, and the area
between chain and line, which tells the sides of an arc, is next to nothing and changes its sign while the leg walks. So the side
of a chain is that of its first bend, as for two links, and it is told once for a whole motion: the chain changes its side between
two frames only where it has every bend turned over, as an arc has that straightened in between.
"""

import numpy as np

from ..array_types import Array
from .angles import forward, hold

UNSEEN_BEND = np.radians(1.0)
"""Bend below which a pose says nothing about its side: less cannot be seen."""

CLEAR = 0.25
"""A bend this much of the chain's greatest one is its first bend; in those before it the chain is nearly straight."""

BEND_OF_STRAIGHT = 0.05
"""Radians per joint that a straight pose is bent by: enough to show a descent the side, and little beside what any target inside
the reach asks for."""


def bend_sides(crosses: Array, products: Array) -> Array:
    """On which side the first bend of a chain is at every frame, `(..., F)` of +1 and -1.

    crosses : (..., F, n - 1), cross product of each link with the next one, > 0 counter-clockwise
    products : (..., F, n - 1), product of their lengths

    Which bend is the first, and its side, is told by all frames together. A straight pose has the side of the frame before,
    leading ones that of the first bent one; a chain that is straight throughout has +1.
    """
    sines = np.divide(crosses, products, out=np.zeros_like(crosses), where=products > 0)
    bent = np.abs(sines).max(axis=-1) > np.sin(UNSEEN_BEND)
    shapes = np.moveaxis(hold(np.moveaxis(crosses, -1, 0), bent), 0, -1)
    # A shape and the one before turned over point against each other; any other two do not.
    turned_over = (shapes[..., 1:, :] * shapes[..., :-1, :]).sum(axis=-1) < 0
    sides = np.ones(bent.shape)
    sides[..., 1:] = np.cumprod(np.where(turned_over, -1.0, 1.0), axis=-1)
    strengths = np.abs(sines).sum(axis=-2)
    first = np.argmax(strengths >= CLEAR * strengths.max(axis=-1, keepdims=True), axis=-1)[..., np.newaxis]
    common = (sides[..., np.newaxis] * sines).sum(axis=-2)
    return np.where(np.take_along_axis(common, first, axis=-1) < 0, -sides, sides)


def bends_of(angles: Array, lengths: Array) -> tuple[Array, Array]:
    """`crosses` and `products` of poses, both `(..., F, n - 1)`, as `bend_sides` takes them.

    angles, lengths : (..., F, n)
    """
    products = lengths[..., :-1] * lengths[..., 1:]
    return products * np.sin(angles[..., 1:]), products


def preferred_pose(start: Array, lengths: Array, bend: Array, limits: Array) -> Array:
    """Poses `(..., F, n)`, inside the limits, that a chain is to stay near to.

    start : (..., F, n) radians
    lengths : (..., F, n)
    bend : (..., F) of +1 and -1
    limits : (..., F, n, 2)

    POSITIVE is where the first bend is counter-clockwise, which for two links is angle 2 >= 0 (see `bend_sides`). A pose on the
    other side is mirrored on the line from root to tip, with all its bends, so that a zigzag stays one; a straight one is bent a
    little.
    """
    crosses, products = bends_of(start, lengths)
    mirrored = bend_sides(crosses, products) * bend < 0
    asked = np.where(mirrored[..., np.newaxis], mirror(start, lengths), start)
    arc = np.zeros(start.shape)
    arc[..., 1:] = BEND_OF_STRAIGHT
    # Fades out with the pose's own bend, so that an animated pose never makes it jump.
    full = np.maximum(products.sum(axis=-1) * np.sin(BEND_OF_STRAIGHT), np.finfo(np.float64).tiny)
    strength = bend * np.clip(1.0 - np.abs(crosses).sum(axis=-1) / full, 0.0, 1.0)
    return np.clip(asked + strength[..., np.newaxis] * arc, limits[..., 0], limits[..., 1])


def mirror(angles: Array, lengths: Array) -> Array:
    """Poses `(..., F, n)` mirrored on the line from root to tip."""
    tip = forward(angles, lengths)[..., -1, :]
    mirrored = -angles
    mirrored[..., 0] += 2 * np.arctan2(tip[..., 1], tip[..., 0])
    return mirrored
