"""The frames of a bake: those that get keys, and the moments in between that have to be sampled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, KeyFrames, SampledFrames
from ...core.curves.frames import frame_grid, merge_frames, subframe_grid
from ...errors import RangeError
from ...said import Sentence
from ...scene.blender_types import Object, Scene
from ...scene.graph.motion_span import Span, motion_span, within_motion
from ...scene.keys.ledger import moving_frames
from ...scene.keys.reading import key_frames
from ...scene.lookup import find_object, read_once
from ...settings import BakeSettings

MOST_FRAMES = 1_000_000
"""More frames than this in one bake is treated as a typo: 11 hours at 25 frames a second."""

LAST_FRAME = 1_048_574
"""Blender's last frame; its first one is the negative. Frames beyond would be evaluated at this one."""

SAMPLES_PER_FRAME = 8
"""Samples per frame of the motion that reduced keys are compared with, so that nothing happens between two of them."""

SAMPLES_OF_ANGLES = 2
"""Times as many samples where a bone has an axis and an angle: near no rotation its angle turns around like a bouncing ball."""

FEWEST_SAMPLES_PER_FRAME, MANY_SAMPLES = 4, 600_000
"""Least number of samples per frame; ranges with more than `MANY_SAMPLES` samples are thinned to it, to fit into memory."""

SLOPE_STEP = 0.25
"""Frames before and after a key at which the motion is sampled as well, if handles follow its slope."""


@dataclass(frozen=True, slots=True)
class FrameChoice:
    """The frames of a bake."""

    sampled: SampledFrames
    """`(F,)`"""
    reported: Array
    """`(K,)` rows of the frames of the full rate; they get the keys, unless keys are reduced."""
    kept: Array
    """Sampled frames that keep their keys when keys are reduced: the target's key frames, if the settings ask for that."""

    @property
    def keyed(self) -> KeyFrames:
        """`(K,)` frames of the full rate."""
        return KeyFrames(self.sampled[self.reported])


def choose_frames(scene: Scene, settings: BakeSettings, armature: Object, bones: Sequence[str]) -> FrameChoice:
    """The frames that the settings ask for; raises `RangeError` if they cannot be determined."""
    start, end = frame_range(scene, settings)
    _refuse_long(start, end, settings.step)
    if settings.keys == "REDUCE":
        has_angles = any(armature.pose.bones[bone].rotation_mode == "AXIS_ANGLE" for bone in bones)
        return _reducible_frames(settings, start, end, SAMPLES_PER_FRAME * (SAMPLES_OF_ANGLES if has_angles else 1))
    keyed = _keyed_frames(settings, armature, bones, (start, end))
    if settings.interpolation != "BEZIER":
        return FrameChoice(SampledFrames(keyed), np.arange(len(keyed)), np.empty(0))
    around = np.clip(np.concatenate([keyed - SLOPE_STEP, keyed + SLOPE_STEP]), start, end)
    sampled = SampledFrames(merge_frames(keyed, around))
    return FrameChoice(sampled, np.searchsorted(sampled, keyed), np.empty(0))


def _reducible_frames(settings: BakeSettings, start: float, end: float, per_frame: int) -> FrameChoice:
    """The frames of a bake whose keys will be reduced, sampled densely between whole frames."""
    whole = frame_grid(start, end, settings.step)
    densest = max(FEWEST_SAMPLES_PER_FRAME, MANY_SAMPLES // len(whole))
    per_step = max(FEWEST_SAMPLES_PER_FRAME, round(per_frame * settings.step))
    sampled = subframe_grid(whole, min(per_step, densest))
    if settings.keep_keys not in {"TARGET", "BOTH"}:
        return FrameChoice(SampledFrames(sampled), np.searchsorted(sampled, whole), np.empty(0))
    target_keys = _keys_of_target(settings)
    target_keys = target_keys[(target_keys >= start) & (target_keys <= end)]
    sampled = merge_frames(sampled, target_keys)
    # Merging takes frames that are nearly the same for one, so the nearest sample stands for a key of the target.
    after = np.clip(np.searchsorted(sampled, target_keys), 1, len(sampled) - 1)
    kept = np.where(target_keys - sampled[after - 1] < sampled[after] - target_keys, sampled[after - 1], sampled[after])
    return FrameChoice(SampledFrames(sampled), np.searchsorted(sampled, whole), np.unique(kept))


def _keyed_frames(settings: BakeSettings, armature: Object, bones: Sequence[str], within: tuple[float, float]) -> Array:
    start, end = within
    if settings.keys == "FRAMES":
        return frame_grid(start, end, settings.step)
    if settings.keys == "TARGET_KEYS":
        owner, frames = Sentence('Target "{target}"', {"target": settings.target}), _keys_of_target(settings)
    else:
        owner, frames = Sentence("The chain"), merge_frames(*(key_frames(armature, bone) for bone in bones))
    inside = merge_frames(frames[(frames >= start) & (frames <= end)])
    if not len(inside):
        raise RangeError(
            "{owner} has no keys between {start:g} and {end:g} to take the frames from. Choose every frame instead.",
            owner=owner,
            start=start,
            end=end,
        )
    return inside


def frame_range(scene: Scene, settings: BakeSettings) -> tuple[float, float]:
    """First and last frame of the range of the settings; raises `RangeError` if it cannot be determined."""
    if settings.frame_range == "CUSTOM":
        start, end = settings.frame_start, settings.frame_end
        _refuse_long(start, end, settings.step)
        if max(-start, end) > LAST_FRAME:
            raise RangeError(
                "The range from {start:g} to {end:g} is outside Blender's frame range, which ends at frame {last:,}. "
                "Choose frames nearer to 0.",
                start=start,
                end=end,
                last=LAST_FRAME,
            )
        return start, end
    if settings.frame_range == "TARGET":
        motion = _motion_of_target(settings)
        if not len(motion):
            raise RangeError(
                'Target "{target}" has no keys of its own to take the range from. Choose another frame range.',
                target=settings.target,
            )
        return float(motion[0]), float(motion[-1])
    if settings.frame_range == "AUTO" and settings.target:
        motion = _motion_of_target(settings)
        # Keys at a single frame are a pose and have no range.
        if len(motion) and motion[-1] > motion[0]:
            return float(motion[0]), float(motion[-1])
        return within_motion(_span_of_all(settings), (float(scene.frame_start), float(scene.frame_end)))
    if settings.frame_range == "PREVIEW" and scene.use_preview_range:
        return float(scene.frame_preview_start), float(scene.frame_preview_end)
    return float(scene.frame_start), float(scene.frame_end)


def _keys_of_target(settings: BakeSettings) -> Array:
    """Frames `(K,)` of the target's own keys; raises `ObjectError` without a target."""
    return key_frames(find_object("Target", settings.target, settings.target_bone), settings.target_bone)


def _motion_of_target(settings: BakeSettings) -> Array:
    """Frames `(K,)` of the target's keys, without those with which a run holds its motion beside a range."""
    return moving_frames(find_object("Target", settings.target, settings.target_bone), settings.target_bone)


def _span_of_all(settings: BakeSettings) -> Span | None:
    """First and last key of all that moves the target or the limb, see `motion_span`."""
    armature, bone = settings.armature, settings.lower or settings.upper
    starts = [(settings.target, settings.target_bone), *([(armature, bone)] if armature and bone else [])]
    return read_once(motion_span, tuple(starts))


def _refuse_long(start: float, end: float, step: float) -> None:
    if (end - start) / step > MOST_FRAMES:
        raise RangeError(
            "The range from {start:g} to {end:g} has more than {most:,} frames at step {step:g}. Choose a shorter range or a "
            "larger step.",
            start=start,
            end=end,
            most=MOST_FRAMES,
            step=step,
        )
