"""Where a pole has to be for a limb to stay as it is: the reverse of the plane through a pole."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from .rotations import about_axis, unit

STRAIGHT_LIMB = 2e-6
"""Height of the middle joint over the line, relative to the limb, below which it points nowhere: twice the noise of single
precision, and what a pole anywhere else would move it by stays below a hundred-thousandth."""


def pole_places(joints: Array, sides: Array, angle: float) -> tuple[Array, Mask]:
    """Places `(F, 3)` of poles that keep a limb's plane, and where they were undecided, `(F,)`.

    joints : (F, n + 1, 3)
    sides : (F,) of +1 and -1: on which side of the line the bend is to be, as `plane_through_pole` counts it
    angle : radians, the pole angle that will be used

    A pole stands one length of the limb farther than its middle joint from the line through root and tip. A
    straight limb keeps the direction of the frame before (leading frames that of the first bent one).
    """
    root, tip = joints[:, 0], joints[:, -1]
    middle = joints[:, 1:-1].mean(axis=1)
    size = np.sqrt(np.sum(np.diff(joints, axis=1) ** 2, axis=-1)).sum(axis=-1)
    along = unit(tip - root)
    aside = _across(middle - root, along)
    foot, height = middle - aside, np.sqrt(np.sum(aside * aside, axis=-1))
    bent = height > STRAIGHT_LIMB * size
    aside = unit(_across(_held(aside, bent), along)) * sides[:, None]
    if angle:
        aside = (about_axis(along, np.asarray(-angle)) @ aside[..., None])[..., 0]
    return foot + aside * (height + size)[:, None], ~bent


def _across(vectors: Array, along: Array) -> Array:
    return vectors - along * np.sum(vectors * along, axis=-1, keepdims=True)


def _held(vectors: Array, valid: Mask) -> Array:
    rows = np.maximum.accumulate(np.where(valid, np.arange(len(vectors)), np.argmax(valid)))
    return vectors[rows]
