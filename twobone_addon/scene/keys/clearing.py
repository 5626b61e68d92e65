"""Remove baked keys from F-curves and restore what they replaced: keys, handles, curves, actions, values without keys."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import bpy

from ..blender_types import Action, Channel, CurveBag, FCurve, Object
from ..restoring import Edit, apply_edits
from ..versions import all_bags, new_fcurve, own_slot
from ..writer import assign, at_end, drop_action, drop_animation, drop_curve, on_failure, play, remaining_curves
from .ledger import PROPERTY, Ledger, is_set
from .reading import curves_at
from .replaced import HELD, WITH_FEET, given_back, is_untouched
from .tables import HANDLES, NO_KEYS, KeyTable, put_keys, read_keys


@dataclass(frozen=True, slots=True)
class ClearedKeys:
    """Numbers of baked keys removed and left."""

    removed: int = 0
    edited: int = 0
    """Number of keys that stay because somebody has edited them."""

    def __add__(self, other: ClearedKeys) -> ClearedKeys:
        return ClearedKeys(self.removed + other.removed, self.edited + other.edited)


def clear_keys(owner: Object, ledger: Ledger, paths: Collection[str], start: float, end: float) -> ClearedKeys:
    """Remove an object's baked keys from `start` to `end` on the curves at the data paths, and restore what they replaced.

    Curves and groups made for them are removed, and the channels' earlier values set again. Time and memory grow with the
    number of keys. The ledger is changed, not saved.
    """
    removed, edited, values = 0, 0, []
    for curve in _recorded_curves(ledger, paths):
        kept = ledger.channels.pop(curve.channel)
        # Clearing planted contacts brings back those that Find Contacts had keyed before, not the ones from before that.
        has_found_contacts = kept.task == WITH_FEET and len(kept.layers) > 1
        restored = given_back(kept, curve.table, start, end, to_beginning=has_found_contacts)
        put_table(ledger.bag, curve.channel, curve.group, restored.table, present=curve.table, stays=kept.had_curve)
        removed, edited = removed + restored.removed, edited + restored.edited
        if has_found_contacts:
            ledger.channels[curve.channel] = kept.without_last()
        elif restored.left is not None:
            ledger.channels[curve.channel] = restored.left
        elif not len(restored.table["co"]) and kept.value is not None:
            values.append(Edit(owner, *curve.channel, kept.value))
    values += ledger.set_back(owner, paths)
    apply_edits(values)
    release(ledger.bag.id_data, set(paths) - {path for path, _ in ledger.channels})
    return ClearedKeys(removed, edited)


def release(cleared: Action, paths: Collection[str], gone: Collection[Action] = ()) -> None:
    """Remove the keys that hold properties in other actions than the cleared one, where no run keys these any more.

    gone : actions that are about to be removed, which need nothing held
    """
    settings = {path for path in paths if ".constraints[" in path or path.endswith("]")}
    actions = [action for action in bpy.data.actions if settings and getattr(action, PROPERTY, "")]
    ledgers = [ledger for action in actions if action not in (cleared, *gone) for ledger in map(Ledger.of, all_bags(action))]
    for path in settings:
        kept = [(ledger, ledger.channels[Channel(path)]) for ledger in ledgers if Channel(path) in ledger.channels]
        for holding, record in kept if all(record.task == HELD for _, record in kept) else ():
            del holding.channels[Channel(path)]
            fcurve = holding.bag.fcurves.find(path)
            if fcurve is not None:
                present = read_keys(fcurve)
                table = given_back(record, present, -math.inf, math.inf).table
                put_table(holding.bag, Channel(path), "", table, stays=False, present=present)
            holding.save()


class _RecordedCurve(NamedTuple):
    """A recorded channel, with the group and the keys of its curve."""

    channel: Channel
    group: str
    table: KeyTable


def _recorded_curves(ledger: Ledger, paths: Collection[str]) -> list[_RecordedCurve]:
    """The recorded channels at data paths, also those whose curve somebody has deleted."""
    present = [
        _RecordedCurve(Channel.of(fcurve), fcurve.group.name if fcurve.group else "", read_keys(fcurve))
        for fcurve in curves_at(ledger.bag, paths)
        if not fcurve.sampled_points and Channel.of(fcurve) in ledger.channels
    ]
    there = {curve.channel for curve in present}
    gone = [channel for channel in ledger.channels if channel.path in paths and channel not in there]
    # The group of a deleted curve was named after its bone.
    return [
        *present,
        *(_RecordedCurve(channel, channel.path.split('"')[1] if '"' in channel.path else "", NO_KEYS) for channel in gone),
    ]


def rewriting(fcurve: FCurve, present: KeyTable) -> None:
    """Note the present keys of a curve, which are about to be changed."""

    def restore() -> None:
        fcurve.keyframe_points.clear()
        put_keys(fcurve, present)
        # Blender's update of the curve would compute handles anew.
        fcurve.id_data.update_tag()

    on_failure(restore)


def replace_keys(fcurve: FCurve, table: KeyTable, *, present: KeyTable) -> None:
    """Replace the present keys of a curve by those of a table, with the table's handles."""
    rewriting(fcurve, present)
    fcurve.keyframe_points.clear()
    put_keys(fcurve, table)
    fcurve.update()
    # `update` recalculates automatic handles; these keys must stay as they were.
    for name in HANDLES:
        fcurve.keyframe_points.foreach_set(name, table[name].ravel())


def put_table(bag: CurveBag, channel: Channel, group: str, table: KeyTable, *, present: KeyTable, stays: bool) -> None:
    """Set a channel's keys, adding a curve if there is none; without keys its curve is removed, unless it `stays`."""
    path, index = channel
    fcurve = bag.fcurves.find(path, index=index)
    if len(table["co"]) or (stays and fcurve is not None):
        replace_keys(fcurve or new_fcurve(bag, path, index, group), table, present=present)
    elif fcurve is not None and not fcurve.sampled_points:
        drop_curve(bag, fcurve)


def unmake(owner: Object, ledger: Ledger) -> None:
    """Remove the slot, action and animation data that were made for keys, where nothing is left in them.

    If the action is a copy that nobody has changed, the original is assigned again.
    """
    if ledger.channels:
        return
    data, bag = owner.animation_data, ledger.bag
    action, identifier = data.action, own_slot(data)
    if ledger.copied is not None:
        name, had_fake_user = ledger.copied
        original = bpy.data.actions.get(name)
        if original is None or not _same_curves(all_bags(original), all_bags(action)):
            return
        copies = _copies_of_runs(
            ledger, {_contents(fcurve) for original_bag in all_bags(original) for fcurve in original_bag.fcurves}
        )
        play(data, original, identifier)
        assign(original, "use_fake_user", value=had_fake_user)
        _remove_copies(owner, action, copies)
        drop_action(action)
        return
    if not ledger.made or remaining_curves(bag):
        return
    if ledger.made == "slot":
        at_end(partial(action.slots.remove, data.action_slot))
        return
    play(data, None, "")
    _remove_copies(owner, action, _copies_of_runs(ledger, set()))
    drop_action(action)
    if ledger.made == "data":
        drop_animation(owner)


def _copies_of_runs(ledger: Ledger, kept_contents: set[tuple[object, ...]]) -> dict[Action, bool]:
    """The actions of which runs made copies, where they have no keys but those of runs, unedited, and the kept ones.

    kept_contents : contents of the curves that the original has as well, see `_contents`

    With each, whether it had a fake user.
    """
    had_fake_users = {}
    for name, had_fake_user in ledger.copies:
        action = bpy.data.actions.get(name)
        curves = [
            (fcurve, ledger_of_copy.channels.get(Channel.of(fcurve)))
            for ledger_of_copy in map(Ledger.of, all_bags(action) if action else ())
            for fcurve in remaining_curves(ledger_of_copy.bag)
        ]
        if action is not None and all(
            _contents(fcurve) in kept_contents if kept is None else is_untouched(kept, read_keys(fcurve))
            for fcurve, kept in curves
        ):
            had_fake_users[action] = had_fake_user
    return had_fake_users


def _remove_copies(owner: Object, cleared: Action, copies: Mapping[Action, bool]) -> None:
    """Remove the copies of the cleared action; what only they needed held, or had set, is as before."""
    recorded = {path for copy in copies for bag in all_bags(copy) for path, _ in Ledger.of(bag).channels}
    release(cleared, recorded, list(copies))
    for action, had_fake_user in copies.items():
        assign(action, "use_fake_user", value=had_fake_user)
        drop_action(action)
    sets = {path: value for action in copies for bag in all_bags(action) for path, (_, value) in Ledger.of(bag).sets.items()}
    apply_edits([Edit(owner, path, 0, value) for path, value in sets.items() if not is_set(path, but=list(copies))])


def _same_curves(first: Sequence[CurveBag], second: Sequence[CurveBag]) -> bool:
    """Whether the bags have the same curves, apart from those that runs made to hold a property in one of them."""
    return len(first) == len(second) and all(
        _contents_of(curve) == _contents_of(other) for curve, other in zip(first, second, strict=True)
    )


def _contents_of(bag: CurveBag) -> list[tuple[object, ...]]:
    held = {channel for channel, kept in Ledger.of(bag).channels.items() if kept.task == HELD}
    return [_contents(fcurve) for fcurve in remaining_curves(bag) if Channel.of(fcurve) not in held]


def _contents(fcurve: FCurve) -> tuple[object, ...]:
    keys = b"".join(values.tobytes() for values in read_keys(fcurve).values())
    modifiers = tuple(modifier.type for modifier in fcurve.modifiers)
    return fcurve.data_path, fcurve.array_index, fcurve.extrapolation, fcurve.mute, fcurve.lock, modifiers, keys
