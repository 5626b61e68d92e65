"""From contact to contact in time."""

from __future__ import annotations

import numpy as np

from ...scene.blender_types import Object
from ...scene.keys.contact_keys import contact_changes

SAME_FRAME = 0.01
"""Frames nearer than this are the same one."""


def contact_frame(armature: Object, frame: float, *, forward: bool) -> float | None:
    """The next frame, or the one before, at which a contact of any chain begins, changes or ends; `None` without one."""
    changes = [contact_changes(armature, chain) for chain in armature.twobone.chains]
    found = np.unique(np.concatenate(changes)) if changes else np.empty(0)
    beyond = found[found > frame + SAME_FRAME] if forward else found[found < frame - SAME_FRAME][::-1]
    return float(beyond[0]) if len(beyond) else None
