"""Write keys into F-curves in bulk; the only module that does.

Inside the range a curve gets exactly the new keys; outside it every key stays bit-identical. Replaced keys are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...core.array_types import Mask
from ...records import replace
from ..blender_types import Channel, CurveBag, FCurve, Object, Property, Scene
from ..lookup import datablock_named
from ..restoring import Edit, apply_edits, edits_kept, present_values
from ..versions import copied_fcurve, new_fcurve
from ..writer import on_failure
from .clearing import put_table, rewriting
from .destinations import animated_channels, open_destination, remove_baked_strip
from .ledger import Ledger
from .replaced import Span, Writing, Written, are_among, given_back, noted, with_played, written_bare, written_keys
from .tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    HANDLES,
    INTERPOLATION,
    NO_KEYS,
    BareTable,
    ChannelKeys,
    KeyTable,
    SmoothKeys,
    StraightKeys,
    are_within,
    are_within_any,
    bare_keys,
    joined_keys,
    key_numbers,
    new_keys,
    put_keys,
    read_keys,
    some_keys,
)

COLOR_MODES = {"rotation_quaternion": "AUTO_YRGB"}
"""Color mode that `keyframe_insert` gives new curves, by property; all others get `AUTO_RGB`."""


@dataclass(frozen=True, slots=True)
class Change:
    """New keys of one object, made by one task over one range."""

    owner: str
    """Key of the datablock, see `lookup.key_of`; that of an object is its name."""
    keys: Sequence[ChannelKeys]
    """One entry per channel; or, `in_pieces`, several that differ in frames, values and handles only, each of which replaces the
    keys from its first to its last frame."""
    within: Span
    """Range whose keys are replaced."""
    task: str
    limb: str = ""
    """Armature and upper bone of the limb that the keys are for, see `limb_name`."""
    destination: str = "ACTION"
    strip: str = ""
    """Name of the strip, for the destination `NLA`."""
    in_pieces: bool = False
    is_whole: bool = False
    """Whether the keys are for all of the motion: before the first and after the last of them it is held as they leave it."""
    sets: Sequence[str] = ()
    """Data paths of properties set along with the keys, such as a constraint's mute."""
    is_from_elsewhere: bool = False
    """Whether the keys follow from other data, so that the task's next run does not need the keys from before this one."""
    repeats: bool = False
    """Whether the keys are meant for a whole cycle, so that they show in all of its repeats."""


NewCurves = dict[tuple[int, str, bool], FCurve]
"""Curves of straight keys made for a change that others can copy, by number of keys, interpolation and `lasting`."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """Keys of a task's previous run, undone while the new ones were solved."""

    owner: str
    channels: frozenset[Channel]
    within: Span
    strip: str = ""
    """Name of the NLA strip that held them; empty for keys of an action."""


def write(scene: Scene, changes: Sequence[Change], earlier: Sequence[Earlier] = ()) -> None:
    """Write all changes to their destinations; unkeyed edits stay."""
    owners = {name: datablock_named(name) for name in dict.fromkeys([change.owner for change in (*changes, *earlier)])}
    paths = {Property(owners[change.owner], key.path) for change in changes for key in change.keys}
    paths |= {Property(owners[undone.owner], path) for undone in earlier for path, _ in undone.channels}
    with edits_kept(scene, list(owners.values()), paths):
        put(changes, earlier)


def put(changes: Sequence[Change], earlier: Sequence[Earlier] = ()) -> None:
    """Write all changes to their destinations, where the caller keeps unkeyed edits.

    Channels of the previous run that are not written again get their earlier keys back, and its strips that are not filled
    again are removed. All changes of an object that go into a new action share one.
    """
    grouped: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        strip = change.strip if change.destination == "NLA" else ""
        grouped.setdefault((change.owner, change.destination, strip), []).append(change)
    for (name, destination, strip), group in grouped.items():
        spans = [change.within for change in group]
        within = min(first for first, _ in spans), max(last for _, last in spans)
        owner = datablock_named(name)
        with open_destination(owner, destination, strip, within) as (bag, made):
            if destination == "NLA":
                _write_strip(owner, bag, group, made.kind)
                continue
            ledger = Ledger.of(bag)
            if not ledger.channels:
                ledger.made, ledger.copied = ledger.made or made.kind, ledger.copied or made.copied
            elif made.copied:
                ledger.copies.append(made.copied)
            undone = {channel: taken.within for taken in earlier if taken.owner == name for channel in taken.channels}
            for change in group:
                _write_change(bag, change, owner, ledger, undone)
            _restore_unwritten(ledger, [taken for taken in earlier if taken.owner == name], group)
            ledger.save()
    _take_back_unwritten(changes, earlier)


def _take_back_unwritten(changes: Sequence[Change], earlier: Sequence[Earlier]) -> None:
    """Take back what the previous run keyed on objects, and in strips, that the changes do not key."""
    filled = {(change.owner, change.strip) for change in changes if change.destination == "NLA"}
    for taken in earlier:
        if taken.strip and (taken.owner, taken.strip) not in filled:
            remove_baked_strip(datablock_named(taken.owner), taken.strip)
    for name in {taken.owner for taken in earlier} - {change.owner for change in changes}:
        ledger = Ledger.present(datablock_named(name))
        if ledger is not None:
            _restore_unwritten(ledger, [taken for taken in earlier if taken.owner == name], ())
            ledger.save()


def _write_strip(owner: Object, bag: CurveBag, changes: Sequence[Change], made: str) -> None:
    """Write changes into the action of an object's strip, and note what the object had without it."""
    before, animated = Ledger.of(bag), animated_channels(owner)
    new = {key.channel for change in changes for key in change.keys} - before.channels.keys() - animated
    values = {channel: kept.value for channel, kept in before.channels.items()}
    # What a channel without any curve has now is what it gets back once the strip is cleared.
    values |= {Channel(edit.path, edit.index): edit.value for edit in present_values(owner, sorted(new))}
    ledger = Ledger(bag, made=before.made or made, sets=before.sets)
    for change in changes:
        _write_change(bag, change, owner, ledger)
    ledger.channels = {channel: replace(kept, value=values.get(channel)) for channel, kept in ledger.channels.items()}
    ledger.save()


def _restore_unwritten(ledger: Ledger, earlier: Sequence[Earlier], changes: Sequence[Change]) -> None:
    """Restore the keys from before the previous run in channels that the changes do not write."""
    written = {key.channel for change in changes for key in change.keys}
    for taken in earlier:
        for channel in sorted(taken.channels - written):
            kept = ledger.channels.pop(channel, None)
            fcurve = ledger.bag.fcurves.find(channel.path, index=channel.array_index)
            if kept is None or fcurve is None:
                continue
            present = read_keys(fcurve)
            restored = given_back(kept, present, *taken.within, to_beginning=True)
            put_table(ledger.bag, channel, "", restored.table, present=present, stays=kept.had_curve)
            if not len(restored.table["co"]) and kept.value is not None:
                apply_edits([Edit(datablock_named(taken.owner), *channel, kept.value)])
            if len(kept.layers) > 1:
                ledger.channels[channel] = kept.without_last()
            elif restored.left is not None:
                ledger.channels[channel] = restored.left


def _write_change(
    bag: CurveBag,
    change: Change,
    owner: Object | None = None,
    ledger: Ledger | None = None,
    undone: Mapping[Channel, Span] | None = None,
) -> None:
    """Write one change into a curve bag, and note what it replaces in the ledger, if there is one.

    undone : for channels of the previous run its range; its keys there count as removed
    """
    if ledger is not None and owner is not None and change.keys:
        ledger.note_sets(owner, change.keys[0].path, change.sets)
    new: NewCurves = {}
    channels: dict[Channel, list[ChannelKeys]] = {}
    for keys in change.keys:
        channels.setdefault(keys.channel, []).append(keys)
    curves = {channel: bag.fcurves.find(channel.path, index=channel.array_index) for channel in channels}
    without = [channel for channel, fcurve in curves.items() if fcurve is None]
    present = present_values(owner, without) if owner is not None else []
    # Removing a new curve again leaves the value that it had last.
    on_failure(partial(apply_edits, present))
    values = {(edit.path, edit.index): edit.value for edit in present}
    for channel, pieces in channels.items():
        fcurve = curves[channel]
        is_new, fcurve = fcurve is None, fcurve or _new_curve(bag, pieces[0], new, may_copy=not change.in_pieces)
        spans: tuple[Span, ...] = (change.within,)
        if change.in_pieces:
            spans = tuple((float(piece.frames[0]), float(piece.frames[-1])) for piece in pieces)
        old = NO_KEYS if is_new or not len(fcurve.keyframe_points) else read_keys(fcurve)
        if not is_new:
            rewriting(fcurve, old)
        kept = ledger.channels.pop(channel, None) if ledger is not None else None
        if kept is not None and undone and channel in undone:
            kept, old = kept.started_over(old, *undone[channel])
        if pieces[0].played is not None:
            kept, old = with_played(kept, old, pieces[0].played, values.get(channel))
        written = _rewrite(fcurve, old, pieces, spans, is_new=is_new, in_pieces=change.in_pieces)
        if ledger is not None:
            is_again = change.is_from_elsewhere or (bool(undone) and channel in undone)
            writing = Writing(spans, written, change.task, change.limb, values.get(channel), is_again)
            ledger.channels[channel] = noted(kept, old, writing)


def write_keys(bag: CurveBag, channels: Sequence[ChannelKeys], start: float, end: float) -> None:
    """Replace the keys of the channels' curves from `start` to `end` by these, without keeping the old ones."""
    _write_change(bag, Change("", channels, (start, end), ""))


def _rewrite(
    fcurve: FCurve, old: KeyTable, pieces: Sequence[ChannelKeys], spans: Sequence[Span], *, is_new: bool, in_pieces: bool
) -> Written:
    """Replace a curve's keys `old` within the spans by the pieces, one for each; return the new keys, also any beside the spans.

    `in_pieces`: the last key of each piece is linear, for the next key may have no handle towards it.
    """
    outside, first = pieces[0].outside, pieces[0]
    has_keys = len(old["co"]) > 0
    if outside is None and not in_pieces and (not has_keys or bool(np.all(are_within(old["co"][:, 0], *spans[0])))):
        table: BareTable
        if isinstance(first, StraightKeys) and first.held is None:
            table = bare_keys(first.frames, first.values, INTERPOLATION[first.interpolation], lasting=first.lasting)
            written = written_bare(table)
        else:
            table = full = _full_table(first)
            written = written_keys(full)
        if is_new and len(fcurve.keyframe_points):  # a copy, see `_new_curve`
            # Its other attributes are those of the curve that it was copied from, which are alike.
            fcurve.keyframe_points.foreach_set("co", table["co"].ravel())
        else:
            fcurve.keyframe_points.clear()
            put_keys(fcurve, table)
        fcurve.update()
        return written
    base = old if outside is None else outside
    frames = base["co"][:, 0]
    kept = some_keys(base, ~are_within_any(frames, spans))
    smooth = [piece for piece in pieces if isinstance(piece, SmoothKeys) and piece.lasting == first.lasting]
    fresh = joined_keys(*map(_full_table, [SmoothKeys.in_one(smooth)] if len(smooth) == len(pieces) else pieces))
    if in_pieces:
        fresh["interpolation"][np.cumsum([len(piece.frames) for piece in pieces]) - 1] = INTERPOLATION["LINEAR"]
    merged = joined_keys(kept, fresh)
    order = np.argsort(merged["co"][:, 0], kind="stable")
    merged = some_keys(merged, order)
    fcurve.keyframe_points.clear()
    put_keys(fcurve, merged)
    fcurve.update()
    # The kept keys came first when all were joined, so where a row was before sorting tells whether it is one of them.
    is_kept = order < len(kept["co"])
    _restore_handles(fcurve, merged, is_kept)
    # Keys that hold the curve beside the spans are new as well; those that were there before are somebody else's.
    return written_keys(some_keys(merged, ~is_kept | ~are_among(merged["co"][:, 0], old["co"][:, 0])))


def _new_curve(bag: CurveBag, channel: ChannelKeys, new: NewCurves, *, may_copy: bool) -> FCurve:
    """Make a curve: empty, or a copy of one of the `new` ones, whose keys differ in frames and values only.

    Copying is faster: most of the cost of new keys is their selection, which Blender sets one by one.
    """
    identity, kind = (channel.path, channel.index, channel.group), None
    if may_copy and isinstance(channel, StraightKeys) and channel.outside is None and channel.held is None:
        kind = len(channel.frames), channel.interpolation, channel.lasting
    fcurve = copied_fcurve(new[kind], bag, *identity) if kind in new else None
    if fcurve is None:
        fcurve = new_fcurve(bag, *identity)
        if kind is not None:
            new[kind] = fcurve
    # Curves made by scripts are coloured like a rainbow; those of inserted keys by channel.
    fcurve.color_mode = COLOR_MODES.get(channel.path.rpartition(".")[2], "AUTO_RGB")
    return fcurve


def _restore_handles(fcurve: FCurve, merged: KeyTable, kept: Mask) -> None:
    """Restore the handles of the `kept` keys `(K,)`: `update` recalculates automatic and aligned ones."""
    if not kept.any():
        return
    if len(fcurve.keyframe_points) != len(merged["co"]):
        return  # The user's kept keys were so close together that `update` merged them.
    for name in HANDLES:
        values = np.where(kept[:, None], merged[name], key_numbers(fcurve, name))
        fcurve.keyframe_points.foreach_set(name, values.ravel())


def _full_table(keys: ChannelKeys) -> KeyTable:
    if isinstance(keys, StraightKeys):
        table = new_keys(keys.frames, keys.values, INTERPOLATION[keys.interpolation], lasting=keys.lasting)
        if keys.held is not None:
            table["interpolation"][keys.held] = INTERPOLATION["CONSTANT"]
        return table
    table = new_keys(keys.frames, keys.values, INTERPOLATION["BEZIER"], lasting=keys.lasting)
    table["handle_left"][:], table["handle_right"][:] = keys.left, keys.right
    kinds = HANDLE_ALIGNED if keys.smooth is None else np.where(keys.smooth, HANDLE_ALIGNED, HANDLE_FREE)
    table["handle_left_type"][:, 0] = table["handle_right_type"][:, 0] = kinds
    return table
