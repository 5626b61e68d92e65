"""To which side a chain is bent in a pose, as seen in a plane."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.contacts.states import runs
from ...core.planting.knees import knee_angles, links_of
from ...core.rig.following import TWO
from ...core.rig.limb_normals import LITTLE
from ...core.rig.posing import link_vectors
from ...core.solver import UNSEEN_BEND, bend_sides, sides_with_hysteresis

FAR_MORE = 2.0
"""Times as far as a limb is overstretched that it has to bend for that to count for nothing."""

ALL_TO_ONE_SIDE = 0.8
"""Part of its bends that an arc has to one side; a zigzag's count against each other."""


def kept_sides(frames: Array, joints: Array, resting: Array | None) -> Array:
    """Sides `(F,)`, +1 or -1, of a chain with joints `(F, n + 1, 3)` that keeps the side it has at each frame.

    resting : (F, n + 1, 3), the joints that its bones are turned from, where these are not those of the frame itself

    An arc at rest that is turned over joint by joint is no mirror image in between, and yet has another side in the end.
    """
    many = joints.shape[-2] - 1 > TWO
    bends = _seen_area(frames, joints) if many and resting is not None and _is_arc(frames, resting) else seen_bend(frames, joints)
    return sides_with_hysteresis(bends, UNSEEN_BEND)


def seen_bend(frames: Array, joints: Array) -> Array:
    """Bend `(F,)` in radians of joints `(F, n + 1, 3)` as seen in the plane of `frames`, counter-clockwise positive.

    Of two links the angle between them; of more, what their bends come to on average, on the side of the first.
    """
    links = link_vectors(frames, joints)
    crosses, products = _bends(links)
    if links.shape[-2] == TWO:
        return np.arctan2(crosses[..., 0], np.sum(links[..., 0, :] * links[..., 1, :], axis=-1))
    return bend_sides(crosses, products) * _mean_bend(np.abs(crosses), products)


def needed_bends(joints: Array, targets: Array) -> Array:
    """Angle `(F,)` between the two links of joints `(F, 3, 3)` once the tip is on `targets` `(F, 3)`, or as near as it gets."""
    return knee_angles(targets - joints[..., 0, :], links_of(joints))


def overstretched_sides(sides: Array, bends: Array, needed: Array, clear: Array) -> Array:
    """Sides `(F,)`, where a limb that is a little overstretched has to bend far more those of the frames around instead.

    sides, bends : (F,) to which the limb would bend, and how far it is bent now, radians
    needed : (F,) how far it has to bend
    clear : (F,) to which side it is bent clearly at the frames around

    For as long as it is overstretched the side is one and the same, so that the joint does not snap over meanwhile.
    """
    found, clear = sides.copy(), np.broadcast_to(clear, sides.shape)
    for first, last in runs((sides != clear) & (np.abs(bends) <= LITTLE)):
        rows = slice(first, last + 1)
        if needed[rows].max() > max(FAR_MORE * float(np.abs(bends[rows]).max()), LITTLE):
            found[rows] = clear[rows]
    return found


def _seen_area(frames: Array, joints: Array) -> Array:
    """The same `(F,)` with the bends of an S counted against each other, as the area between the chain and its ends does."""
    return _mean_bend(*_bends(link_vectors(frames, joints)))


def _is_arc(frames: Array, joints: Array) -> bool:
    """Whether all bends of joints `(F, n + 1, 3)` go to one side, or nearly so."""
    crosses, _ = _bends(link_vectors(frames, joints))
    return bool(np.abs(crosses.sum(axis=-1)).sum() >= ALL_TO_ONE_SIDE * np.abs(crosses).sum())


def _bends(links: Array) -> tuple[Array, Array]:
    """Cross product `(F, n - 1)` of each link `(F, n, 2)` with the next one, and product of their lengths."""
    first, second = links[..., :-1, :], links[..., 1:, :]
    lengths = np.hypot(links[..., 0], links[..., 1])
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0], lengths[..., :-1] * lengths[..., 1:]


def _mean_bend(crosses: Array, products: Array) -> Array:
    largest = products.sum(axis=-1)
    sine = np.divide(crosses.sum(axis=-1), largest, out=np.zeros_like(largest), where=largest > 0.0)
    return np.arcsin(np.clip(sine, -1.0, 1.0))
