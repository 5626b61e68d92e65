"""Which frames a bake is about."""

from __future__ import annotations

import numpy as np

from ..array_types import Array
from ..curves.frames import frame_grid
from ..errors import RangeError
from ..scene.blender_types import Object, Scene
from ..scene.keys_reading import key_range
from ..settings import BakeSettings

MOST_FRAMES = 1_000_000
"""More frames than this in one bake is taken for a slip of the pen: 11 hours at 25 frames a second."""


def bake_frames(scene: Scene, settings: BakeSettings, target: Object) -> Array:
    """Frames `(F,)` that the settings ask for; raises `RangeError` where they cannot be told."""
    start, end = _range(scene, settings, target)
    if (end - start) / settings.step > MOST_FRAMES:
        raise RangeError(
            f"The range from {start:g} to {end:g} has more than {MOST_FRAMES:,} frames at step {settings.step:g}. "
            "Choose a shorter range or a larger step."
        )
    return np.asarray(frame_grid(start, end, settings.step))


def _range(scene: Scene, settings: BakeSettings, target: Object) -> tuple[float, float]:
    if settings.frame_range == "CUSTOM":
        return settings.frame_start, settings.frame_end
    if settings.frame_range == "TARGET":
        found = key_range(target, settings.target_bone)
        if found is None:
            raise RangeError(f'Target "{target.name}" has no keys of its own to take the range from. Choose another frame range.')
        return found
    if settings.frame_range == "PREVIEW" and scene.use_preview_range:
        return float(scene.frame_preview_start), float(scene.frame_preview_end)
    return float(scene.frame_start), float(scene.frame_end)
