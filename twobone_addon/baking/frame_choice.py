"""Which frames a bake is about: those that get keys, and the moments in between that it needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..curves.frames import frame_grid, merge_frames, subframe_grid
from ..errors import RangeError
from ..scene.blender_types import Object, Scene
from ..scene.keys_reading import key_frames
from ..scene.lookup import find_object
from ..settings import BakeSettings

MOST_FRAMES = 1_000_000
"""More frames than this in one bake is taken for a slip of the pen: 11 hours at 25 frames a second."""

LAST_FRAME = 1_048_574
"""Blender's time ends here, and as many frames before 0; what is asked for beyond is evaluated here."""

SAMPLES_PER_FRAME = 8
"""Of the motion that reduced keys are held against, so that nothing happens between two of them."""

SLOPE_STEP = 0.25
"""Frames to either side of a key at which the motion is known as well, where handles follow its slope."""


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """Frames of a bake."""

    sampled: Array
    """`(F,)` frames at which motion is sampled and solved, ascending."""
    reported: Array
    """`(K,)` which of them are of the full rate; they get the keys, unless keys are reduced."""


def choose_frames(scene: Scene, settings: BakeSettings, target: Object, armature: Object, bones: Sequence[str]) -> FrameChoice:
    """The frames that the settings ask for; raises `RangeError` where they cannot be told."""
    start, end = frame_range(scene, settings)
    if (end - start) / settings.step > MOST_FRAMES:
        raise RangeError(
            f"The range from {start:g} to {end:g} has more than {MOST_FRAMES:,} frames at step {settings.step:g}. "
            "Choose a shorter range or a larger step."
        )
    if max(-start, end) > LAST_FRAME:
        raise RangeError(
            f"The range from {start:g} to {end:g} leaves Blender's time, which ends at frame {LAST_FRAME:,}. "
            "Choose frames nearer to 0."
        )
    if settings.keys == "REDUCE":
        whole = frame_grid(start, end, settings.step)
        per_step = max(1, round(SAMPLES_PER_FRAME * settings.step))
        sampled = subframe_grid(whole, per_step)
        return FrameChoice(sampled, np.arange(len(whole)) * per_step)
    keyed = _keyed_frames(settings, target, armature, bones, (start, end))
    if settings.interpolation != "BEZIER":
        return FrameChoice(keyed, np.arange(len(keyed)))
    around = np.clip(np.concatenate([keyed - SLOPE_STEP, keyed + SLOPE_STEP]), start, end)
    sampled = merge_frames(keyed, around)
    return FrameChoice(sampled, np.searchsorted(sampled, keyed))


def _keyed_frames(
    settings: BakeSettings, target: Object, armature: Object, bones: Sequence[str], within: tuple[float, float]
) -> Array:
    start, end = within
    if settings.keys == "FRAMES":
        return frame_grid(start, end, settings.step)
    if settings.keys == "TARGET_KEYS":
        whose, found = f'Target "{target.name}"', key_frames(target, settings.target_bone)
    else:
        whose, found = "The chain", merge_frames(*(key_frames(armature, bone) for bone in bones))
    inside = merge_frames(found[(found >= start) & (found <= end)])
    if not len(inside):
        raise RangeError(
            f"{whose} has no keys between {start:g} and {end:g} to take the frames from. Choose every frame instead."
        )
    return inside


def frame_range(scene: Scene, settings: BakeSettings) -> tuple[float, float]:
    """First and last frame of the range that the settings mean; raises `RangeError` where it cannot be told."""
    if settings.frame_range == "CUSTOM":
        return settings.frame_start, settings.frame_end
    if settings.frame_range == "TARGET":
        target = find_object("Target", settings.target, settings.target_bone)
        found = key_frames(target, settings.target_bone)
        if not len(found):
            raise RangeError(f'Target "{target.name}" has no keys of its own to take the range from. Choose another frame range.')
        return float(found[0]), float(found[-1])
    if settings.frame_range == "PREVIEW" and scene.use_preview_range:
        return float(scene.frame_preview_start), float(scene.frame_preview_end)
    return float(scene.frame_start), float(scene.frame_end)
