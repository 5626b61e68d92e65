"""What single properties, such as switches and influences, hold over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array
from ..blender_types import Object, Scene
from ..moves.animation_reading import read_animation
from .evaluate import animation_times
from .restoring import frame_and_edits_kept


def values_over(scene: Scene, properties: Sequence[tuple[Object, str]], frames: Array) -> Array:
    """Numbers `(P, F)` of properties, each a datablock and a data path, at `frames` `(F,)`.

    Where more than F-curves has a say, Blender evaluates the scene at every frame.
    """
    times, values = animation_times(scene, frames), np.zeros((len(properties), len(frames)))
    for number, (owner, path) in enumerate(properties):
        present = owner.path_resolve(path)
        known = read_animation(owner).values(path, np.array([float(present)]), times)
        if known is None:
            return _evaluated(scene, properties, frames)
        # Blender takes whole numbers from curves, and booleans from 1 on.
        values[number] = np.trunc(known[:, 0]) if isinstance(present, int) else known[:, 0]
    return values


def _evaluated(scene: Scene, properties: Sequence[tuple[Object, str]], frames: Array) -> Array:
    rows = []
    with frame_and_edits_kept(scene):
        for frame in frames:
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(frame - whole))
            rows.append([float(owner.path_resolve(path)) for owner, path in properties])
    return np.array(rows).T
