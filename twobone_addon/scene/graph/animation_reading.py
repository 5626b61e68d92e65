"""Read what animates a datablock, as far as F-curves alone do.

`Animation` answers for single properties: a still value, a curve per component, or nothing where other things (strips,
drivers, blending, damaged curves) have an effect, so that only Blender's own evaluation tells.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.array_types import Array
from ..blender_types import AnimData, FCurve, Object
from ..keys.tables import INTERPOLATION, key_numbers
from ..versions import curve_bag, mixes_layers, present_fcurves

POSE_NEUTRAL = ("bbone_", "hide", "is_visible", "is_solo", "layers", "show_", "color", "envelope")
"""Prefixes of names of armature data's properties that affect only how bones look and deform, not their poses."""


REAL_NUMBERS = {"location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"}
"""Names of properties that are surely real numbers, so that values between keys are not rounded."""

WORTH_READING = 32
"""Number of times below which Blender evaluates all of them."""

RARE_KEYS = 4
"""Number of times per key of a curve above which Blender evaluates all of them."""

ON_KEY, APART = np.float32(1e-4), 1e-3
"""Frames: distance from a key within which Blender takes its value; and minimum distance of keys for that to be a single key."""


@dataclass(slots=True)
class Animation:
    """The F-curves of one datablock, and where they do not decide alone."""

    mixed: bool = False
    """Whether strips, tweak mode, influence or blending change the effect of curves."""
    curves: dict[str, dict[int, FCurve]] = field(default_factory=dict)
    """Curves with an effect, by data path and component."""
    doubtful: set[str] = field(default_factory=set)
    """Data paths that something other than plain curves animates."""

    def touches(self, prefix: str) -> bool:
        """Whether anything animates a property whose path starts with the prefix."""
        return self.mixed or any(path.startswith(prefix) for paths in (self.curves, self.doubtful) for path in paths)

    def moves(self, path: str) -> bool:
        """Whether anything animates the property at this path."""
        return self.mixed or path in self.curves or path in self.doubtful

    def values(self, path: str, still: Array, times: Array) -> Array | None:
        """Values `(F, k)` of a property at the animation's `times` `(F,)`; one row if it does not change, even with flat curves.

        `still` `(k,)` has the values of components without a curve. `None` where curves alone do not tell.
        """
        if self.mixed or path in self.doubtful:
            return None
        curves = self.curves.get(path)
        if curves is None:
            return still[None]
        # A curve left over from another rotation mode, or by a script, may be of a component that there is not.
        if max(curves) >= len(still):
            return None
        still = still.astype(float)
        moving = {}
        for component, fcurve in curves.items():
            if is_flat(fcurve):
                still[component] = fcurve.keyframe_points[0].co[1]
            else:
                moving[component] = fcurve
        values = np.repeat(still[None], len(times) if moving else 1, axis=0)
        for component, fcurve in moving.items():
            read = keyed_values(fcurve, times) if path.rpartition(".")[2] in REAL_NUMBERS else None
            values[:, component] = list(map(fcurve.evaluate, times.tolist())) if read is None else read
        return values


def read_animation(datablock: Object) -> Animation:
    """Read everything that animates a datablock."""
    data: AnimData | None = getattr(datablock, "animation_data", None)
    if data is None:
        return Animation()
    animation = Animation(mixed=is_mixed(data))
    if animation.mixed:
        return animation
    animation.doubtful.update(driver.data_path for driver in data.drivers)
    for fcurve in present_fcurves(datablock):
        if fcurve.mute:
            continue
        # Empty curves, as left by removed keys, do nothing; with a modifier they act.
        if not fcurve.keyframe_points and not fcurve.sampled_points and not fcurve.modifiers:
            continue
        components = animation.curves.setdefault(fcurve.data_path, {})
        if not _is_plain(fcurve) or fcurve.array_index in components:
            animation.doubtful.add(fcurve.data_path)
        components[fcurve.array_index] = fcurve
    return animation


def is_flat(fcurve: FCurve) -> bool:
    """Whether a curve has the value of its first key at all times: equal keys and handles, no easing, no modifiers."""
    points = fcurve.keyframe_points
    if not points or fcurve.modifiers or fcurve.sampled_points or points[0].co[1] != points[-1].co[1]:
        return False
    if np.any(key_numbers(fcurve, "interpolation") > INTERPOLATION["BEZIER"]):
        return False
    heights = (key_numbers(fcurve, name)[:, 1] for name in ("co", "handle_left", "handle_right"))
    return all(np.all(values == points[0].co[1]) for values in heights)


def keyed_values(fcurve: FCurve, times: Array) -> Array | None:
    """Values `(F,)` of a curve of real numbers at `times` `(F,)`, bit-identical to Blender's: its keys' or between linear ones.

    A recording has a key at every frame: to let Blender evaluate each takes twenty times as long, so it evaluates only the
    other frames. `None` for a curve that only Blender can evaluate, or one with few keys.
    """
    if len(times) < WORTH_READING or fcurve.modifiers or fcurve.sampled_points or fcurve.extrapolation != "CONSTANT":
        return None
    straight = not np.any(key_numbers(fcurve, "interpolation") != INTERPOLATION["LINEAR"])
    if not straight and len(fcurve.keyframe_points) * RARE_KEYS < len(times):
        return None
    frames, heights = key_numbers(fcurve, "co").T
    lengths, at = np.diff(frames), times.astype(np.float32, copy=False)
    if not len(lengths) or np.any(lengths < APART):
        return None
    # Single precision throughout, in the order of Blender's own operations: else the last bit differs.
    before = np.clip(np.searchsorted(frames, at, side="right") - 1, 0, len(lengths) - 1)
    heights_at = np.diff(heights)[before] * (at - frames[before]) / lengths[before] + heights[before]
    known = np.full(len(at), straight)
    for key in (before, before + 1):
        is_on = np.abs(at - frames[key]) <= ON_KEY
        heights_at, known = np.where(is_on, heights[key], heights_at), known | is_on
    for end, is_outside in ((0, at <= frames[0]), (-1, at >= frames[-1])):
        heights_at, known = np.where(is_outside, heights[end], heights_at), known | is_outside
    heights_at[~known] = list(map(fcurve.evaluate, at[~known].tolist()))
    return heights_at


def may_be_animated(datablock: Object, path: str) -> bool:
    """Whether anything might animate the property without components at a path; any strips count as if they did."""
    data: AnimData | None = datablock.animation_data
    if data is None:
        return False
    bag = curve_bag(datablock)
    curve = bag.fcurves.find(path) if bag else None
    return is_mixed(data) or curve is not None or any(driver.data_path == path for driver in data.drivers)


def steers_bones(armature_data: Object) -> bool:
    """Whether animation of the armature's data, not of its pose, may move bones: flags of inheritance, rest position."""
    animation = read_animation(armature_data)
    paths = (*animation.curves, *animation.doubtful)
    return animation.mixed or not all(path.rpartition(".")[2].startswith(POSE_NEUTRAL) for path in paths)


def is_mixed(data: AnimData | None) -> bool:
    """Whether strips, tweak mode, influence, blending or layers change the effect of curves."""
    if data is None:
        return False
    if (data.nla_tracks and data.use_nla) or data.use_tweak_mode:
        return True
    if data.action is None:
        return False
    return data.action_influence != 1.0 or data.action_blend_type != "REPLACE" or mixes_layers(data.action)


def _is_plain(fcurve: FCurve) -> bool:
    """Whether Blender surely evaluates the curve, by its keys or samples.

    It skips curves that it once found broken, and, before actions had layers, those of a muted group.
    """
    muted = fcurve.group is not None and fcurve.group.mute
    return fcurve.is_valid and not muted and bool(fcurve.keyframe_points or fcurve.sampled_points)
