"""Read existing animation: frames of keys, keys around a range, and what animates a property."""

from __future__ import annotations

from collections.abc import Collection

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import FRAME_DECIMALS, NEAR_FRAME
from ..blender_types import Channel, CurveBag, FCurve, Object, PoseBone
from ..bones import rotation_channel
from ..lookup import BONES, owner_of, read_once, resolved
from ..restoring import component
from ..versions import curve_bag, strip_curves, strips_in
from .tables import Keyed, KeyTable, read_keys

MOTION = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


AT_REST = {
    "location": (0.0, 0.0, 0.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}
"""A bone's own channels and their values at rest."""

NOT_AT_REST = 1e-4
"""Difference from its rest value above which a channel counts as posed."""


def _by_owner(bag: CurveBag) -> dict[str, list[tuple[int, FCurve]]]:
    """F-curves by the bone they belong to, see `owner_of`, with their numbers in the action."""
    by_owner: dict[str, list[tuple[int, FCurve]]] = {}
    for number, fcurve in enumerate(bag.fcurves):
        by_owner.setdefault(owner_of(fcurve.data_path), []).append((number, fcurve))
    return by_owner


def curves_of(bag: CurveBag | None, owners: Collection[str]) -> list[FCurve]:
    """The F-curves that belong to any of these owners, in the action's order."""
    by_owner = read_once(_by_owner, bag) if bag else {}
    return [fcurve for _, fcurve in sorted(entry for owner in set(owners) for entry in by_owner.get(owner, ()))]


def curves_at(bag: CurveBag | None, paths: Collection[str]) -> list[FCurve]:
    """The F-curves at any of these data paths, in the action's order."""
    return [fcurve for fcurve in curves_of(bag, set(map(owner_of, paths))) if fcurve.data_path in paths]


def motion_curves(thing: Object, bone: str = "") -> list[FCurve]:
    """The F-curves of the present action that move an object, or one of its bones."""
    bag = curve_bag(thing)
    if bag is None:
        return []
    prefix = f'pose.bones["{bpy.utils.escape_identifier(bone)}"].' if bone else ""
    paths = {prefix + channel for channel in (*MOTION, "delta_location", "delta_rotation_euler", "delta_scale")}
    return [fcurve for fcurve in curves_of(bag, (owner_of(prefix),)) if fcurve.data_path in paths]


def key_frames(thing: Object, bone: str = "") -> Array:
    """Frames `(K,)`, ascending, of all keys that move an object or bone; empty without keys."""
    frames = [read_frames(fcurve) for fcurve in motion_curves(thing, bone)]
    return np.unique(np.concatenate(frames)) if frames else np.empty(0)


def read_frames(fcurve: FCurve) -> Array:
    """Frames `(K,)` of a curve's keys."""
    points = np.empty(2 * len(fcurve.keyframe_points), dtype=np.float32)
    fcurve.keyframe_points.foreach_get("co", points)
    # Single precision stores 0.8 as 0.800000012; rounding recovers the intended frame.
    return np.round(points[::2].astype(float), FRAME_DECIMALS)


def read_keyed(thing: Object, path: str, index: int, start: float, end: float, *, baked: bool = False) -> Keyed:
    """The keys of a channel around the range from `start` to `end`; whether any are `baked`, the ledger knows."""
    bag = curve_bag(thing)
    fcurve = bag.fcurves.find(path, index=index) if bag else None
    if fcurve is None or not fcurve.keyframe_points:
        return Keyed(None, (None, None), (None, None), baked=baked)
    points = fcurve.keyframe_points
    frames = read_frames(fcurve)
    before, after = np.flatnonzero(frames < start - NEAR_FRAME), np.flatnonzero(frames > end + NEAR_FRAME)
    beside = points[before[-1]].co[1] if len(before) else None, points[after[0]].co[1] if len(after) else None
    at_ends = fcurve.evaluate(start - 1.0), fcurve.evaluate(end + 1.0)
    return Keyed(read_keys(fcurve), beside, at_ends, baked)


def read_curve(bag: CurveBag, channel: Channel) -> KeyTable | None:
    """The keys of a channel; `None` where it has no curve, or a sampled one."""
    fcurve = bag.fcurves.find(channel.path, index=channel.array_index)
    return None if fcurve is None or fcurve.sampled_points else read_keys(fcurve)


def repeats(thing: Object, bone: str = "") -> bool:
    """Whether the animation of an object or of one of its bones is cyclic, by its action or by its curves' modifiers."""
    data = thing.animation_data
    if data is not None and data.action is not None and data.action.use_frame_range and data.action.use_cyclic:
        return True
    modifiers = (modifier for fcurve in motion_curves(thing, bone) for modifier in fcurve.modifiers)
    return any(modifier.type == "CYCLES" and not modifier.mute for modifier in modifiers)


def curve_values(fcurve: FCurve, frames: Array) -> Array:
    """Values `(F,)` that a curve plays at frames `(F,)`, with its modifiers and what lies beyond its keys."""
    return np.array(list(map(fcurve.evaluate, frames.tolist())))


def is_rotation_animated(bone: PoseBone) -> bool:
    """Whether curves, strips or a driver may animate the rotation of a bone."""
    return any(is_animated(bone.id_data, bone.path_from_id(name)) for name in ("rotation_quaternion", "rotation_euler"))


def is_animated(thing: Object, path: str) -> bool:
    """Whether curves, strips or a driver may animate the property at a data path."""
    data = thing.animation_data
    if data is None:
        return False
    # Muted strips count as well: they may be unmuted.
    strips = strips_in(strip for track in data.nla_tracks for strip in track.strips)
    channel = component(path)
    return bool(moving_curves(thing, path)) or any(
        fcurve.data_path == channel.path and (path == channel.path or fcurve.array_index == channel.array_index)
        for strip in strips
        for fcurve in strip_curves(strip)
    )


def is_posed_without_keys(armature: Object, bone: str) -> bool:
    """Whether any channel of a bone that nothing animates is not at rest."""
    pose_bone = armature.pose.bones[bone]
    prefix = f'{BONES}{bpy.utils.escape_identifier(bone)}"].'
    channels = ("location", rotation_channel(pose_bone.rotation_mode), "scale")
    return any(not _is_at_rest(pose_bone, channel) and not is_animated(armature, prefix + channel) for channel in channels)


def _is_at_rest(bone: PoseBone, channel: str) -> bool:
    away = np.abs(np.subtract(getattr(bone, channel), AT_REST[channel]))
    # Without an angle an axis means nothing, and a quaternion and its negative are the same.
    decisive = {"rotation_axis_angle": slice(0, 1), "rotation_quaternion": slice(1, 4)}.get(channel, slice(None))
    return bool(np.all(away[decisive] <= NOT_AT_REST))


def is_keyed_to(bag: CurveBag | None, path: str, value: float) -> bool:
    """Whether the property at a data path has keys, all of this value."""
    fcurve = bag.fcurves.find(path) if bag is not None else None
    if fcurve is None or not fcurve.keyframe_points:
        return False
    return bool(np.all(read_keys(fcurve)["co"][:, 1] == value))


def moving_curves(thing: Object, path: str) -> list[FCurve]:
    """The F-curves of the present action and the drivers that animate the property at a data path."""
    element = component(path)
    if element.path != path:
        curves = moving_curves(thing, element.path)
        return [fcurve for fcurve in curves if fcurve.array_index == element.array_index]
    bag, data = curve_bag(thing), thing.animation_data
    holders = [holder for holder in (bag.fcurves if bag else None, data.drivers if data else None) if holder]
    value = resolved(thing, path)
    if value is None:  # Nothing is there any more, but its curves may be.
        return [fcurve for curves in holders for fcurve in curves if fcurve.data_path == path]
    # Blender looks for a curve a hundred times faster than a loop over all of them.
    components = range(1 if isinstance(value, str) or not hasattr(value, "__len__") else len(value))
    fcurves = [curves.find(path, index=component) for curves in holders for component in components]
    return [fcurve for fcurve in fcurves if fcurve is not None]
