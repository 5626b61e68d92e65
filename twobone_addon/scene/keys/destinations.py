"""Destinations of keys: the armature's own action, a new one, a strip on a new NLA track, or a temporary copy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import bpy

from ..blender_types import Action, Channel, CurveBag, NlaStrip, NlaTrack, Object
from ..lookup import animated_datablocks, key_of, object_named
from ..restoring import Edit, animating_bags, apply_edits
from ..versions import (
    all_bags,
    assign_slot,
    ensure_action_bag,
    ensure_curve_bag,
    first_slot,
    new_action,
    own_slot,
    played_slots,
    strip_bag,
)
from ..writer import (
    animate,
    assign,
    assign_item,
    drop_action,
    drop_animation,
    drop_curve,
    drop_track,
    make,
    play,
    playing,
    tracks_of,
)
from .clearing import release
from .ledger import CopiedAction, Ledger
from .replaced import FITTED, is_untouched
from .tables import read_keys

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
    copied: CopiedAction | None = None


@contextmanager
def open_destination(
    armature: Object, destination: str, name: str, within: tuple[float, float]
) -> Iterator[tuple[CurveBag, Made]]:
    """Yield the bag for the curves, and what was created for it; after the block the destination is in place.

    `ACTION`: the armature's own action and slot, created where they are missing. `NEW_ACTION`: a copy of the present
    action, so that everything else plays as before; the present one is kept in the file. `NLA`: a strip called
    `name` over the range `within`, on a new track above all others; an earlier bake's strip of that name is filled anew,
    unless somebody has keyed it since.
    """
    if destination == "NLA":
        name = _stored_name(name)
        strip = _baked_strip(armature, name)
        kind = "" if armature.animation_data is not None else "data"
        action = strip.action if strip else new_action(name)
        bag = strip_bag(strip) if strip else ensure_action_bag(action, armature)
        for fcurve in list(bag.fcurves):
            drop_curve(bag, fcurve)
        yield bag, Made(kind)
        _place_strip(strip or _new_strip(armature, action, name), *within)
        return
    data = armature.animation_data
    kind = "data" if data is None else "action" if data.action is None else "" if played_slots(data) else "slot"
    copied = _renew_action(armature) if destination == "NEW_ACTION" else None
    yield ensure_curve_bag(armature), Made(kind, copied)


def animated_channels(owner: Object, but: Collection[Action] = ()) -> set[Channel]:
    """Channels that an object's action and strips animate, those of some actions left out."""
    bags = animating_bags(owner) if owner.animation_data is not None else ()
    return {Channel.of(fcurve) for bag in bags if bag.id_data not in but for fcurve in bag.fcurves}


def _values_without(owner: Object, actions: Collection[Action]) -> list[Edit]:
    """The values that channels had before baked strips with these actions, where nothing else animates them."""
    animated = animated_channels(owner, but=actions)
    kept = {channel: kept for action in actions for bag in all_bags(action) for channel, kept in Ledger.of(bag).channels.items()}
    return [
        Edit(owner, *channel, record.value)
        for channel, record in kept.items()
        if record.value is not None and channel not in animated
    ]


def _renew_action(armature: Object) -> CopiedAction | None:
    """Assign a copy of the armature's action, if any; return the original."""
    data = animate(armature)
    old = data.action
    if old is None:
        return None
    copied = CopiedAction(old.name, old.use_fake_user)
    # Without users the original action would not be saved.
    assign(old, "use_fake_user", value=True)
    play(data, make(old.copy, bpy.data.actions.remove), own_slot(data))
    assign(data.action, "use_fake_user", value=False)
    return copied


def _stored_name(name: str) -> str:
    """The name cut to what Blender stores, so that tracks and strips are found again by it."""
    return name.encode()[:LONGEST_NAME].decode(errors="ignore")


def note_root(armature: Object, names: Iterable[str], root: str) -> None:
    """Note on the strips of planted legs which strip moves their root, if that root has a strip."""
    if _baked_strip(armature, root) is None:
        return
    for name in names:
        strip = _baked_strip(armature, name)
        if strip is not None:
            assign_item(strip.action, ROOT, _stored_name(root))


def strips_of(armature: Object, names: Sequence[str]) -> list[str]:
    """Names of the baked strip under the first of these names that has one, and of the strips that are of use only with it.

    A leg planted on a moving root is valid only with the root's strip, as are the other legs that stand on it. A root fitted
    for the limbs is of no use once none of them has a strip.
    """
    named = {track.name: _baked_strip(armature, track.name) for track in tracks_of(armature.animation_data)}
    strips = {name: strip for name, strip in named.items() if strip is not None}
    present = [name for name in map(_stored_name, names) if name in strips][:1]
    root = strips[present[0]].action.get(ROOT) if present else None
    if root is not None:
        present = [name for name, strip in strips.items() if name == root or strip.action.get(ROOT) == root]
    fitted = [name for name, strip in strips.items() if Ledger.of(strip_bag(strip)).tasks == {FITTED}]
    return [*present, *(name for name in fitted if name not in present and not strips.keys() - {*present, *fitted})]


def strips_elsewhere(armature: Object, limb: str, tasks: Collection[str] | None) -> list[tuple[str, str]]:
    """Baked strips of other datablocks than the armature with keys for a limb, each as its owner's key and its name.

    tasks : whose keys they are; `None` for any task's
    """
    found = []
    for owner in animated_datablocks():
        for track in tracks_of(owner.animation_data) if owner != armature else ():
            strip = _baked_strip(owner, track.name)
            if strip is not None and Ledger.of(strip_bag(strip)).limb_paths(limb, tasks):
                found.append((key_of(owner), str(track.name)))
    return found


def tasks_of_strips(armature: Object, names: Iterable[str]) -> set[str]:
    """The tasks whose keys baked strips have."""
    strips = [strip for strip in (_baked_strip(armature, name) for name in names) if strip is not None]
    return {task for strip in strips for task in Ledger.of(strip_bag(strip)).tasks}


def paths_of_strips(armature: Object, names: Iterable[str]) -> set[str]:
    """Data paths that baked strips animate."""
    strips = [strip for strip in (_baked_strip(armature, name) for name in names) if strip is not None]
    return {fcurve.data_path for strip in strips for fcurve in strip_bag(strip).fcurves}


def remove_baked_strip(armature: Object, name: str) -> int:
    """Remove the track with the baked strip of that name, and its action; return the number of keys removed.

    Channels that nothing animates any more get the values that they had before.

    A strip that somebody has keyed since stays.
    """
    strip = _baked_strip(armature, name)
    if strip is None:
        return 0
    action, count = strip.action, sum(len(fcurve.keyframe_points) for fcurve in strip_bag(strip).fcurves)
    ledger = Ledger.of(strip_bag(strip))
    release(action, {path for path, _ in ledger.channels})
    # Read before the track and the action go, which know what was there before them.
    values = _values_without(armature, [action])
    drop_track(armature.animation_data, _track_of(armature, name))
    drop_action(action)
    apply_edits([*values, *ledger.set_back(armature)])
    if ledger.made == "data":
        drop_animation(armature)
    return count


def is_untouched_strip(armature: Object, name: str) -> bool | None:
    """Whether the baked strip of that name has exactly the keys that a run wrote; `None` without such a strip."""
    strip = _baked_strip(armature, name)
    if strip is None:
        return None
    channels = Ledger.of(strip_bag(strip)).channels
    curves = {Channel.of(fcurve): fcurve for fcurve in strip_bag(strip).fcurves}
    return not channels or (  # versions before 4.0 recorded nothing of strips
        channels.keys() == curves.keys()
        and all(is_untouched(kept, read_keys(curves[channel])) for channel, kept in channels.items())
    )


def baked_strips(armature: Object) -> list[str]:
    """Names of the strips of an armature that play nothing but baked keys."""
    return [track.name for track in tracks_of(armature.animation_data) if _baked_strip(armature, track.name) is not None]


def is_planted(armature: Object) -> bool:
    """Whether any keys of a planting are left, in the action that an armature plays or in strips."""
    strips = [_baked_strip(armature, name) for name in baked_strips(armature)]
    of_action = Ledger.present(armature)
    ledgers = [Ledger.of(strip_bag(strip)) for strip in strips] + ([of_action] if of_action else [])
    return any(ledger.planted_paths() for ledger in ledgers) or any(strip.action.get(ROOT) for strip in strips)


def has_baked_strip(armature: Object, name: str, start: float, end: float) -> bool:
    """Whether there is a baked strip of that name from `start` to `end`."""
    strip = _baked_strip(armature, name)
    return strip is not None and strip.frame_start <= start and strip.frame_end >= end


def _baked_strip(armature: Object, name: str) -> NlaStrip | None:
    """The only strip of the topmost track of that name, if it plays nothing but baked keys of its own."""
    track = _track_of(armature, name)
    if track is None or len(track.strips) != 1:
        return None
    strip = track.strips[0]
    bag = strip_bag(strip)
    if bag is None or strip.action.users != 1 or not strip.action.is_editable:
        return None
    ledger = Ledger.of(bag)
    return strip if ledger.channels and all(map(ledger.wrote, bag.fcurves)) else None


def _track_of(armature: Object, name: str) -> NlaTrack | None:
    tracks, name = tracks_of(armature.animation_data), _stored_name(name)
    return next((track for track in reversed(tracks) if track.name == name), None)


def _new_strip(armature: Object, action: Action, name: str) -> NlaStrip:
    """Add a strip of the action on a new track above all others, both of that name; its range is not set yet."""
    tracks = animate(armature).nla_tracks
    # A new track becomes the active one; the user's choice stays.
    active = tracks.active
    track = make(tracks.new, tracks.remove)
    track.name, tracks.active = name, active
    # A new strip begins at a whole frame; `_place_strip` sets its exact range.
    strip = track.strips.new(name, 0, action)
    assign_slot(strip, first_slot(action))
    strip.extrapolation = "NOTHING"
    strip.blend_type = "REPLACE"
    return strip


def _place_strip(strip: NlaStrip, start: float, end: float) -> None:
    """Let a strip play the frames `start` to `end` of its action at these same frames."""
    frames = {"action_frame_start": start, "action_frame_end": end, "frame_start_ui": start, "frame_end_ui": end}
    for name, frame in frames.items():
        assign(strip, name, frame)


COPY_OF = "twobone_copy_of"
"""Custom property of a copy that is only tried: the name of its original, under which notes on it are kept."""


def played_name(armature: Object) -> str:
    """Name of the action that an armature plays, or of the original where that is a copy to try something on; else empty."""
    action = armature.animation_data.action if armature.animation_data is not None else None
    return "" if action is None else str(action.get(COPY_OF, action.name))


@contextmanager
def trial_actions(things: Sequence[Object]) -> Iterator[None]:
    """Give each object a copy of its action in a block; afterwards its own one is assigned again, and the copy removed."""
    with ExitStack() as stack:
        for thing in things:
            data = thing.animation_data
            was_animated, data = data is not None, data or thing.animation_data_create()
            action, identifier = data.action, own_slot(data)
            trial = action.copy() if action else bpy.data.actions.new(TRIAL_NAME)
            if action:
                trial[COPY_OF] = action.name
            stack.callback(bpy.data.actions.remove, trial)
            if not was_animated:
                stack.callback(thing.animation_data_clear)
            stack.callback(playing(data))
            data.action = trial
            # The slots of a copy have the same identifiers.
            assign_slot(data, identifier)
        yield


@contextmanager
def muted_strips(names: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Mute baked strips in a block, each given by the names of its object and its own.

    What only they animate has the values from before them.
    """
    strips = [(object_named(owner), name) for owner, name in names]
    muted = [(owner, name) for owner, name in strips if _baked_strip(owner, name) is not None and not _track_of(owner, name).mute]
    actions: dict[Object, list[Action]] = {}
    for owner, name in muted:
        actions.setdefault(owner, []).append(_baked_strip(owner, name).action)
    try:
        for owner, name in muted:
            _track_of(owner, name).mute = True
        apply_edits([edit for owner, baked in actions.items() for edit in _values_without(owner, baked)])
        yield
    finally:
        for owner, name in muted:
            _track_of(owner, name).mute = False
