"""Keys into F-curves, in bulk: the one place that writes them.

Inside the range a curve gets exactly the new keys; outside it every key stays as it is, to the last bit. What goes is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Mask
from ..blender_types import CurveBag, FCurve, Object, Scene
from ..lookup import datablock_named
from ..restoring import Edit, apply_edits, edits_kept, present_values
from ..versions import copied_fcurve, new_fcurve
from .clearing import clear_keys, put_table
from .destinations import open_destination
from .replaced import Channel, Ledger, Span, Writing, Written, given_back, note, written_keys
from .tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    INTERPOLATION,
    KEY_GENERATED,
    NO_KEYS,
    ChannelKeys,
    KeyTable,
    are_within,
    are_within_any,
    joined_keys,
    lasting_keys,
    new_keys,
    put_keys,
    read_keys,
    some_keys,
    straight_keys,
)

COLOR_MODES = {"rotation_quaternion": "AUTO_YRGB"}
"""How `keyframe_insert` colours new curves; all others are `AUTO_RGB`."""


@dataclass(frozen=True, slots=True)
class Change:
    """New keys of one object, made by one task over one range."""

    owner: str
    """Key of the datablock, see `lookup.key_of`: an object's name."""
    keys: Sequence[ChannelKeys]
    """Of each channel once; or its pieces, which differ in frames, values and handles only, and each of which replaces what is
    there from its first to its last key."""
    within: Span
    """The range."""
    task: str
    limb: str = ""
    """Armature and upper bone of the limb that they are for, see `limb_name`."""
    destination: str = "ACTION"
    strip: str = ""
    """Name of the strip, for the destination `NLA`."""
    in_pieces: bool = False
    sets: Sequence[str] = ()
    """Data paths of properties that are set along with the keys, such as the mute of a constraint."""
    is_from_elsewhere: bool = False
    """Whether the keys tell what something else does, so that the task's next run needs nothing that was there before."""
    emptied: Sequence[str] = ()
    """Data paths of scales that a bake of 2.0.0 has stretched, which are not kept: its keys go."""


NewCurves = dict[tuple[int, str, bool], FCurve]
"""One that was made for a change, by the number of its keys, their interpolation and whether they last."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a task's last run has written, taken back while this one was made."""

    owner: str
    channels: frozenset[Channel]
    within: Span


def write(scene: Scene, changes: Sequence[Change], earlier: Sequence[Earlier] = ()) -> None:
    """Put all keys where they belong; edits that are not keyed stay."""
    owners = {name: datablock_named(name) for name in dict.fromkeys([each.owner for each in (*changes, *earlier)])}
    paths = {(owners[change.owner], key.path) for change in changes for key in change.keys}
    paths |= {(owners[each.owner], path) for each in earlier for path, _ in each.channels}
    with edits_kept(scene, list(owners.values()), paths):
        put(changes, earlier)


def put(changes: Sequence[Change], earlier: Sequence[Earlier] = ()) -> None:
    """The same where somebody else looks after edits that are not keyed.

    What the last run wrote and this one does not write again gets back what was there before. All changes of an object that
    go into a new action share one.
    """
    together: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        strip = change.strip if change.destination == "NLA" else ""
        together.setdefault((change.owner, change.destination, strip), []).append(change)
    for (name, destination, strip), own in together.items():
        spans = [change.within for change in own]
        within = min(first for first, _ in spans), max(last for _, last in spans)
        owner = datablock_named(name)
        with open_destination(owner, destination, strip, *within) as (bag, made):
            if destination == "NLA":
                for change in own:
                    _put(bag, change)
                continue
            ledger = Ledger.of(bag, owner)
            if not ledger.channels:
                ledger.made, ledger.copied = ledger.made or made.kind, ledger.copied or made.copied
            taken = {channel: each.within for each in earlier if each.owner == name for channel in each.channels}
            for change in own:
                _put(bag, change, owner, ledger, taken)
            _release(ledger, [each for each in earlier if each.owner == name], own)
            ledger.save(owner)
    for name in {each.owner for each in earlier} - {change.owner for change in changes}:
        ledger = Ledger.present(datablock_named(name))
        if ledger is not None:
            _release(ledger, [each for each in earlier if each.owner == name], ())
            ledger.save()


def _release(ledger: Ledger, earlier: Sequence[Earlier], changes: Sequence[Change]) -> None:
    """Give back what was there before the last run in the channels that this one leaves alone."""
    written = {(key.path, key.index) for change in changes for key in change.keys}
    for each in earlier:
        for channel in sorted(each.channels - written):
            kept = ledger.channels.pop(channel, None)
            fcurve = ledger.bag.fcurves.find(channel[0], index=channel[1])
            if kept is None or fcurve is None:
                continue
            found = given_back(kept, read_keys(fcurve), *each.within, to_beginning=True)
            put_table(ledger.bag, channel, "", found.table, stays=kept.had_curve)
            if not len(found.table["co"]) and kept.value is not None:
                apply_edits([Edit(datablock_named(each.owner), *channel, kept.value)])
            if len(kept.layers) > 1:
                ledger.channels[channel] = kept.without_last()
            elif found.left is not None:
                ledger.channels[channel] = found.left


def _put(
    bag: CurveBag,
    change: Change,
    owner: Object | None = None,
    ledger: Ledger | None = None,
    taken: Mapping[Channel, Span] | None = None,
) -> None:
    if ledger is not None and owner is not None and change.keys:
        ledger.note_sets(owner, change.keys[0].path, change.sets)
    for path in change.emptied:
        if owner is not None and ledger is not None:
            _empty(ledger, owner, path, change.within)
    new: NewCurves = {}
    channels: dict[Channel, list[ChannelKeys]] = {}
    for keys in change.keys:
        channels.setdefault((keys.path, keys.index), []).append(keys)
    for channel, pieces in channels.items():
        fcurve = bag.fcurves.find(channel[0], index=channel[1])
        is_new, fcurve = fcurve is None, fcurve or _new_curve(bag, pieces[0], new, may_copy=not change.in_pieces)
        spans: tuple[Span, ...] = (change.within,)
        if change.in_pieces:
            spans = tuple((float(each.frames[0]), float(each.frames[-1])) for each in pieces)
        old = NO_KEYS if is_new or not len(fcurve.keyframe_points) else read_keys(fcurve)
        kept = ledger.channels.get(channel) if ledger is not None else None
        if kept is not None and taken and channel in taken:
            kept, old = kept.started_over(old, *taken[channel])
        held = [each.value for each in present_values(owner, [channel])] if is_new and owner is not None else []
        written = _rewrite(fcurve, old, pieces, spans, is_new=is_new, in_pieces=change.in_pieces)
        if ledger is not None:
            is_again = change.is_from_elsewhere or (bool(taken) and channel in taken)
            writing = Writing(spans, written, change.task, change.limb, held[0] if held else None, is_again)
            ledger.channels[channel] = note(kept, old, writing)


def write_keys(bag: CurveBag, channels: Sequence[ChannelKeys], start: float, end: float) -> None:
    """Replace what the channels' curves have from `start` to `end` by these keys, and keep nothing of it."""
    _put(bag, Change("", channels, (start, end), ""))


def _empty(ledger: Ledger, owner: Object, path: str, within: Span) -> None:
    kept = {channel for channel in ledger.channels if channel[0] == path}
    if not kept:
        clear_keys(owner, ledger, {path}, *within)


def _rewrite(
    fcurve: FCurve, old: KeyTable, pieces: Sequence[ChannelKeys], spans: Sequence[Span], *, is_new: bool, in_pieces: bool
) -> Written:
    """Replace the keys `old` of a curve within the spans by the pieces, one for each; returns what is new, also beside the spans.

    From the last key of one of several pieces the curve goes straight to the next key, which may have no handles to lead there.
    """
    outside, first = pieces[0].outside, pieces[0]
    has_keys = len(old["co"]) > 0
    if outside is None and not in_pieces and (not has_keys or bool(np.all(are_within(old["co"][:, 0], *spans[0])))):
        # Vector handles are worked out by the update.
        table = _straight(first) if first.left is None else _baked(first)
        if is_new and len(fcurve.keyframe_points):  # a copy, see `_new_curve`
            fcurve.keyframe_points.foreach_set("co", table["co"].ravel())
        else:
            fcurve.keyframe_points.clear()
            put_keys(fcurve, table)
        fcurve.update()
        return written_keys(table)
    base = old if outside is None else outside
    frames = base["co"][:, 0]
    kept = some_keys(base, ~are_within_any(frames, spans))
    fresh = _baked(_in_one(pieces))
    if in_pieces:
        fresh["interpolation"][np.cumsum([len(piece.frames) for piece in pieces]) - 1] = INTERPOLATION["LINEAR"]
    merged = joined_keys(kept, fresh)
    order = np.argsort(merged["co"][:, 0], kind="stable")
    merged = some_keys(merged, order)
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    is_kept = order < len(kept["co"])
    _set_back_at(fcurve, merged, is_kept)
    beside = [(start - 1.0, end + 1.0) for start, end in spans] if outside is not None else []
    is_near = are_within_any(merged["co"][:, 0], beside)
    return written_keys(some_keys(merged, ~is_kept | (is_near & (merged["type"][:, 0] == KEY_GENERATED))))


def _new_curve(bag: CurveBag, channel: ChannelKeys, new: NewCurves, *, may_copy: bool) -> FCurve:
    """A curve without keys; or a copy of one of the `new` ones, whose keys differ in their places only.

    Most of the time that new keys take goes into their selection, which Blender sets one by one.
    """
    place, look = (channel.path, channel.index, channel.group), (len(channel.frames), channel.interpolation, channel.lasting)
    may_copy = may_copy and channel.left is None and channel.outside is None
    fcurve = copied_fcurve(new[look], bag, *place) if may_copy and look in new else None
    if fcurve is None:
        fcurve = new_fcurve(bag, *place)
        if may_copy:
            new[look] = fcurve
    fcurve.color_mode = COLOR_MODES.get(channel.path.rpartition(".")[2], "AUTO_RGB")
    return fcurve


def _set_back_at(fcurve: FCurve, merged: KeyTable, kept: Mask) -> None:
    """Undo what `update` did to the keys that are `kept` `(K,)`: it recalculates automatic and aligned handles."""
    if not kept.any():
        return
    now = read_keys(fcurve)
    if len(now["co"]) != len(merged["co"]):
        return  # Kept keys were closer than Blender keeps apart: the user's own doing, merged by it.
    for name in ("handle_left", "handle_right"):
        values = np.where(kept[:, None], merged[name], now[name])
        fcurve.keyframe_points.foreach_set(name, values.ravel())


def _straight(channel: ChannelKeys) -> KeyTable:
    table = straight_keys(channel.frames, channel.values, INTERPOLATION[channel.interpolation])
    return lasting_keys(table) if channel.lasting else table


def _in_one(pieces: Sequence[ChannelKeys]) -> ChannelKeys:
    """The keys of all pieces of a channel."""
    if len(pieces) == 1:
        return pieces[0]
    columns = {}
    for name in ("frames", "values", "left", "right", "smooth"):
        parts = [getattr(piece, name) for piece in pieces]
        columns[name] = None if parts[0] is None else np.concatenate(parts)
    return replace(pieces[0], **columns)


def _baked(channel: ChannelKeys) -> KeyTable:
    table = new_keys(channel.frames, channel.values, INTERPOLATION[channel.interpolation])
    if channel.left is not None and channel.right is not None:
        table["handle_left"][:], table["handle_right"][:] = channel.left, channel.right
        kinds = HANDLE_ALIGNED if channel.smooth is None else np.where(channel.smooth, HANDLE_ALIGNED, HANDLE_FREE)
        table["handle_left_type"][:, 0] = table["handle_right_type"][:, 0] = kinds
    return lasting_keys(table) if channel.lasting else table
