"""The side to which a chain bends, in the words of somebody who looks at the character."""

import bpy
import numpy as np

from ...array_types import Array
from ...baking.plan.completing import StoredChain
from ..overlay import data as overlay_data

CLEAR = 0.7
"""Cosine of the angle within which a direction has a name: a little less than 45 degrees, so that it has one at most."""

STRAIGHT = 1e-3
"""Distance of the middle joint from the line between the others, relative to its length, below which there is no side."""

OPPOSITE = {
    "Forward": "Backward", "Backward": "Forward", "Up": "Down", "Down": "Up", "Positive": "Negative", "Negative": "Positive",
}  # fmt: skip


def flipped_side(context: bpy.types.Context, chain: StoredChain) -> str:
    """Where Flip would bend the chain: forward, backward, up or down as the overlay shows it, else the sign."""
    armature, sign = chain.id_data, chain.bend.capitalize()
    if not armature.twobone.show_overlay:
        return OPPOSITE[sign]
    picture = overlay_data.update(context, armature).picture
    seen = seen_side(picture.joints, np.array(armature.matrix_world)[:3, :3]) if picture is not None else ""
    return OPPOSITE[seen or sign]


def seen_side(joints: Array, world_from_armature: Array) -> str:
    """The side to which joints `(n + 1, 3)`, world space, bend: `Forward`, `Backward`, `Up`, `Down`, or nothing.

    Characters look along -Y where the armature's Z points up, and along Z where Y does, as in files of other programs.
    """
    along, out = joints[-1] - joints[0], joints[1] - joints[0]
    out = out - along * (out @ along / max(along @ along, np.finfo(float).tiny))
    length = np.sqrt(out @ out)
    if length <= STRAIGHT * np.sqrt(along @ along) or length == 0.0:
        return ""
    axes = world_from_armature / np.maximum(np.linalg.norm(world_from_armature, axis=0), np.finfo(float).tiny)
    up = np.array([0.0, 0.0, 1.0])
    forward = -axes[:, 1] if axes[:, 2] @ up > CLEAR else axes[:, 2] if axes[:, 1] @ up > CLEAR else np.zeros(3)
    named = {"Forward": forward, "Backward": -forward, "Up": up, "Down": -up}
    return next((name for name, direction in named.items() if out @ direction > CLEAR * length), "")
