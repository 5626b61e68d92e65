"""Destinations of keys: the armature's own action, a new one, a strip on a new NLA track, or a temporary copy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ..blender_types import Action, CurveBag, NlaStrip, NlaTrack, Object
from ..lookup import object_named
from ..versions import assign_slot, ensure_action_bag, ensure_curve_bag, first_slot, own_slot, played_slots, strip_bag
from .clearing import has_baked_keys

LONGEST_NAME = 63
"""Bytes of UTF-8 that Blender stores of a name."""

ROOT = "twobone_root"
"""Custom property of the action of a planted leg's strip: name of the strip that moves its root."""


TRIAL_NAME = ".twobone_trial"
"""Name of temporary actions."""


@dataclass(frozen=True, slots=True)
class Made:
    """Data created to hold curves, so that clearing can remove it again."""

    kind: str = ""
    """`data`, `action` or `slot`, each with those after it; empty for none."""
    copied: tuple[str, bool] | None = None
    """Name of the action that was copied, and whether it had a fake user."""


@contextmanager
def open_destination(armature: Object, destination: str, name: str, start: float, end: float) -> Iterator[tuple[CurveBag, Made]]:
    """Yield the bag for the curves, and what was created for it; after the block the destination is in place.

    `ACTION`: the armature's own action and slot, created where they are missing. `NEW_ACTION`: a copy of the present
    action, so that everything else plays as before; the present one is kept in the file. `NLA`: a strip called
    `name` from `start` to `end`, on a new track above all others; an earlier bake's strip of that name is filled anew,
    unless somebody has keyed it since.
    """
    if destination == "NLA":
        name = _stored_name(name)
        strip = _baked_strip(armature, name)
        action = strip.action if strip else bpy.data.actions.new(name)
        bag = strip_bag(strip) if strip else ensure_action_bag(action, armature)
        for fcurve in list(bag.fcurves):
            bag.fcurves.remove(fcurve)
        yield bag, Made()
        _place_strip(strip or _new_strip(armature, action, name), start, end)
        return
    data = armature.animation_data
    kind = "data" if data is None else "action" if data.action is None else "" if played_slots(data) else "slot"
    copied = _renew_action(armature) if destination == "NEW_ACTION" else None
    yield ensure_curve_bag(armature), Made(kind, copied)


def _renew_action(armature: Object) -> tuple[str, bool] | None:
    """Assign a copy of the armature's action, if any; return the original's name, and whether it had a fake user."""
    data = armature.animation_data or armature.animation_data_create()
    old = data.action
    if old is None:
        return None
    identifier, copied = own_slot(data), (old.name, old.use_fake_user)
    # Without users the original action would not be saved.
    old.use_fake_user = True
    data.action = old.copy()
    data.action.use_fake_user = False
    if identifier:
        assign_slot(data, identifier)
    return copied


def _stored_name(name: str) -> str:
    """The name cut to what Blender stores, so that tracks and strips are found again by it."""
    return name.encode()[:LONGEST_NAME].decode(errors="ignore")


def note_root(armature: Object, names: Iterable[str], root: str) -> None:
    """Note on the strips of planted legs which strip moves their root, if that root has a strip."""
    if _baked_strip(armature, _stored_name(root)) is None:
        return
    for name in names:
        strip = _baked_strip(armature, _stored_name(name))
        if strip is not None:
            strip.action[ROOT] = _stored_name(root)


def strips_of(armature: Object, names: Sequence[str]) -> list[str]:
    """Names of the baked strip under the first of these names that has one, and of the strips planted together with it.

    A leg planted on a moving root is valid only with the root's strip, as are the other legs that stand on it.
    """
    named = {track.name: _baked_strip(armature, track.name) for track in _tracks(armature)}
    strips = {name: strip for name, strip in named.items() if strip is not None}
    own = next((name for name in map(_stored_name, names) if name in strips), None)
    if own is None:
        return []
    root = strips[own].action.get(ROOT)
    if root is None:
        return [own]
    together = [name for name, strip in strips.items() if strip.action.get(ROOT) == root]
    return [*together, *([root] if root in strips else [])]


def remove_baked_strip(armature: Object, name: str) -> int:
    """Remove the track with the baked strip of that name, and its action; return the number of keys removed.

    A strip that somebody has keyed since stays.
    """
    name = _stored_name(name)
    strip = _baked_strip(armature, name)
    if strip is None:
        return 0
    action, count = strip.action, sum(len(fcurve.keyframe_points) for fcurve in strip_bag(strip).fcurves)
    tracks = armature.animation_data.nla_tracks
    tracks.remove(_track_of(armature, name))
    bpy.data.actions.remove(action)
    return count


def _baked_strip(armature: Object, name: str) -> NlaStrip | None:
    """The only strip of the topmost track of that name, if it plays nothing but baked keys of its own."""
    track = _track_of(armature, name)
    if track is None or len(track.strips) != 1:
        return None
    strip = track.strips[0]
    bag = strip_bag(strip)
    if strip.name != name or bag is None or strip.action.users != 1 or not strip.action.is_editable:
        return None
    return strip if all(has_baked_keys(fcurve, -math.inf, math.inf) for fcurve in bag.fcurves) else None


def _track_of(armature: Object, name: str) -> NlaTrack | None:
    return next((track for track in _tracks(armature)[::-1] if track.name == name), None)


def _tracks(armature: Object) -> list[NlaTrack]:
    data = armature.animation_data
    return list(data.nla_tracks) if data else []


def _new_strip(armature: Object, action: Action, name: str) -> NlaStrip:
    """Add a strip of the action on a new track above all others, both of that name; its range is not set yet."""
    data = armature.animation_data or armature.animation_data_create()
    tracks, active = data.nla_tracks, data.nla_tracks.active
    track = tracks.new()
    track.name, tracks.active = name, active
    # A new strip begins at a whole frame; `_place_strip` sets its exact range.
    strip = track.strips.new(name, 0, action)
    assign_slot(strip, first_slot(action))
    strip.extrapolation = "NOTHING"
    strip.blend_type = "REPLACE"
    return strip


def _place_strip(strip: NlaStrip, start: float, end: float) -> None:
    """Let a strip play the frames `start` to `end` of its action at these same frames."""
    strip.action_frame_start, strip.action_frame_end = start, end
    strip.frame_start_ui, strip.frame_end_ui = start, end


@dataclass(frozen=True, slots=True)
class _Original:
    """An object's own animation, and the action that replaces it for a while."""

    thing: Object
    was_animated: bool
    action: Action | None
    slot: str
    trial: Action


@contextmanager
def trial_actions(things: Sequence[Object]) -> Iterator[None]:
    """Give each object a copy of its action in a block; afterwards its own one is assigned again, and the copy removed."""
    originals: list[_Original] = []
    try:
        originals.extend(_assign_trial(thing) for thing in things)
        yield
    finally:
        for original in originals:
            _restore(original)


def _assign_trial(thing: Object) -> _Original:
    data = thing.animation_data
    was_animated, data = data is not None, data or thing.animation_data_create()
    action = data.action
    identifier = own_slot(data)
    trial = action.copy() if action else bpy.data.actions.new(TRIAL_NAME)
    original = _Original(thing, was_animated, action, identifier, trial)
    data.action = trial
    assign_slot(data, identifier)
    return original


def _restore(original: _Original) -> None:
    data = original.thing.animation_data
    data.action = original.action
    if original.action is not None:
        assign_slot(data, original.slot)
    if not original.was_animated:
        original.thing.animation_data_clear()
    bpy.data.actions.remove(original.trial)


@contextmanager
def muted_strips(names: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Mute baked strips in a block, each given by the names of its object and its own."""
    found = [(object_named(owner), _stored_name(name)) for owner, name in names]
    muted = [(owner, name) for owner, name in found if _baked_strip(owner, name) is not None and not _track_of(owner, name).mute]
    try:
        for owner, name in muted:
            _track_of(owner, name).mute = True
        yield
    finally:
        for owner, name in muted:
            _track_of(owner, name).mute = False
