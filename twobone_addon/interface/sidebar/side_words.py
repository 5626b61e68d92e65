"""The side to which a chain bends, in the words of somebody who looks at the character."""

import bpy
import numpy as np

from ...core.array_types import Array
from ...errors import ChainError
from ...pipeline.plan.completing import StoredChain
from ...tasks.find_limbs.facing import ahead, feet_of, foot_of_chain
from ..overlay import data as overlay_data
from .remembering import Memory

CLEAR = 0.7
"""Cosine of the angle within which a direction has a name: a little less than 45 degrees, so that it has one at most."""

STRAIGHT = 1e-3
"""Distance of the middle joint from the line between the others, relative to its length, below which there is no side."""

OPPOSITE = {
    "Forward": "Backward", "Backward": "Forward", "Up": "Down", "Down": "Up", "Positive": "Negative", "Negative": "Positive",
}  # fmt: skip


feet: Memory[list[tuple[str, str]]] = Memory()
"""Of an armature with these bones at rest."""


def flipped_side(context: bpy.types.Context, chain: StoredChain) -> str:
    """Where Flip would bend the chain: forward, backward, up or down as the overlay shows it, else the sign."""
    armature, sign = chain.id_data, chain.bend.capitalize()
    if not armature.twobone.show_overlay:
        return OPPOSITE[sign]
    picture = overlay_data.update(context, armature).picture
    seen = seen_side(picture.joints, forward_of(chain)) if picture is not None else ""
    return OPPOSITE[seen or sign]


def forward_of(chain: StoredChain) -> Array:
    """Where the character of a chain looks now, `(3,)` as `ahead` has it; zeros where nothing tells."""
    armature = chain.id_data
    places = np.empty(3 * len(armature.data.bones), dtype=np.float32)
    armature.data.bones.foreach_get("head_local", places)
    found = feet.recall((armature.name, places.tobytes()), lambda: feet_of(armature))
    try:
        own = found or foot_of_chain(armature, chain.upper, chain.lower, chain.tip, chain.tip_end)
        return ahead(armature, own, chain.upper)
    except (ChainError, KeyError):  # a bone was renamed, which the overlay notices a moment later
        return np.zeros(3)


def seen_side(joints: Array, forward: Array) -> str:
    """The side to which joints `(n + 1, 3)`, world space, bend: `Forward`, `Backward`, `Up`, `Down`, or nothing.

    forward : (3,) where the character looks, or zeros
    """
    along, out = joints[-1] - joints[0], joints[1] - joints[0]
    out = out - along * (out @ along / max(along @ along, np.finfo(float).tiny))
    length = np.sqrt(out @ out)
    if length <= STRAIGHT * np.sqrt(along @ along) or length == 0.0:
        return ""
    up = np.array([0.0, 0.0, 1.0])
    named = {"Forward": forward, "Backward": -forward, "Up": up, "Down": -up}
    return next((name for name, direction in named.items() if out @ direction > CLEAR * length), "")
