"""Names for the side to which a chain bends, relative to the character."""

import bpy
import numpy as np

from ...core.array_types import Array
from ...errors import ChainError
from ...pipeline.plan.completing import StoredChain
from ...tasks.find_limbs.facing import ahead, feet_of, foot_of_chain
from ..overlay import data as overlay_data
from .remembering import Memory

CLEAR = 0.7
"""Cosine of the largest angle to a named direction; about 45 degrees, so that a side has hardly more than one name."""

STRAIGHT = 1e-3
"""Distance of the middle joint from the line between root and tip, relative to its length, below which there is no side."""

OPPOSITE = {
    "Forward": "Backward", "Backward": "Forward", "Up": "Down", "Down": "Up", "Positive": "Negative", "Negative": "Positive",
}  # fmt: skip


feet: Memory[list[tuple[str, str]]] = Memory()
"""Cache of the foot and toe bones of an armature, by its name and the rest positions of its bones."""


def flipped_side(context: bpy.types.Context, chain: StoredChain) -> str:
    """Return the side to which Flip would bend the chain, as shown by the overlay; else the opposite sign of the bend."""
    armature, sign = chain.id_data, chain.bend.capitalize()
    if not armature.twobone.show_overlay:
        return OPPOSITE[sign]
    picture = overlay_data.update(context, armature).picture
    seen = seen_side(picture.joints, forward_of(chain)) if picture is not None else ""
    return OPPOSITE[seen or sign]


def forward_of(chain: StoredChain) -> Array:
    """Return the horizontal direction `(3,)` in which the chain's character faces, see `ahead`; zeros if unknown."""
    armature = chain.id_data
    places = np.empty(3 * len(armature.data.bones), dtype=np.float32)
    armature.data.bones.foreach_get("head_local", places)
    found = feet.recall((armature.name, places.tobytes()), lambda: feet_of(armature))
    try:
        foot_bones = found or foot_of_chain(armature, chain.upper, chain.lower, chain.tip, chain.tip_end)
        return ahead(armature, foot_bones, chain.upper)
    except (ChainError, KeyError):  # A bone was renamed, and the overlay has not noticed it yet.
        return np.zeros(3)


def seen_side(joints: Array, forward: Array) -> str:
    """Return the side to which joints `(n + 1, 3)`, world space, bend: `Forward`, `Backward`, `Up`, `Down`; empty if unclear.

    forward : (3,) direction in which the character faces, or zeros
    """
    along, out = joints[-1] - joints[0], joints[1] - joints[0]
    out = out - along * (out @ along / max(along @ along, np.finfo(float).tiny))
    length = np.sqrt(out @ out)
    if length <= STRAIGHT * np.sqrt(along @ along) or length == 0.0:
        return ""
    up = np.array([0.0, 0.0, 1.0])
    named = {"Forward": forward, "Backward": -forward, "Up": up, "Down": -up}
    return next((name for name, direction in named.items() if out @ direction > CLEAR * length), "")
