"""Baked keys out of F-curves again, and back what they replaced: keys, handles, curves, actions, values without keys."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ..blender_types import CurveBag, FCurve, Object
from ..restoring import Edit, apply_edits
from ..versions import all_bags, assign_slot, new_fcurve, own_slot
from .replaced import PROPERTY, WITH_FEET, Channel, GivenBack, Kept, Ledger, curves_at, given_back, own_scale
from .tables import KEY_GENERATED, NO_KEYS, KeyTable, are_stretch, are_within, read_keys, replace_keys, some_keys


@dataclass(frozen=True, slots=True)
class ClearedKeys:
    """What became of baked keys."""

    removed: int = 0
    edited: int = 0
    """How many stay, since somebody has edited them."""

    def __add__(self, other: ClearedKeys) -> ClearedKeys:
        return ClearedKeys(self.removed + other.removed, self.edited + other.edited)


def clear_keys(owner: Object, ledger: Ledger, paths: Collection[str], start: float, end: float) -> ClearedKeys:
    """Remove an object's baked keys from `start` to `end` on the curves at the data paths, and put back what they replaced.

    Curves and groups that were made for them go, and what the channels held before is set again. Time and memory grow with the
    number of keys. The ledger is changed, not saved.
    """
    removed, edited, values = 0, 0, []
    for path, index, group, table in _tables(ledger, paths):
        kept = ledger.channels.pop((path, index), None)
        # Contacts that were found before feet were planted stay with those that they were found for.
        is_below = kept is not None and kept.task == WITH_FEET and len(kept.layers) > 1
        found = _without_baked(table, start, end)
        if kept is not None:
            found = given_back(kept, table, start, end, to_beginning=is_below)
        put_table(ledger.bag, (path, index), group, found.table, stays=kept is not None and kept.had_curve)
        removed, edited = removed + found.removed, edited + found.edited
        if is_below and kept is not None:
            ledger.channels[path, index] = kept.without_last()
        elif found.left is not None:
            ledger.channels[path, index] = found.left
        elif not len(found.table["co"]):
            values += _held_before(owner, kept, path, index, was_baked=found.removed > 0)
    left = {path for path, _ in ledger.channels}
    for path, (with_path, value) in list(ledger.sets.items()):
        if with_path in paths and with_path not in left:
            del ledger.sets[path]
            if not _is_set_by_others(ledger.bag, path):
                values.append(Edit(owner, path, 0, value))
    apply_edits(values)
    return ClearedKeys(removed, edited)


def _is_set_by_others(own: CurveBag, path: str) -> bool:
    """Whether another action has keys with which the property was set as well, such as the mute of a constraint."""
    others = (action for action in bpy.data.actions if action != own.id_data and getattr(action, PROPERTY, ""))
    return any(path in Ledger.of(bag).sets for action in others for bag in all_bags(action))


def _tables(ledger: Ledger, paths: Collection[str]) -> list[tuple[str, int, str, KeyTable]]:
    """Path, index, group and keys of the channels at data paths; those too of which somebody has deleted the curve."""
    found = [
        (fcurve.data_path, fcurve.array_index, fcurve.group.name if fcurve.group else "", read_keys(fcurve))
        for fcurve in curves_at(ledger.bag, paths)
        if not fcurve.sampled_points
    ]
    there = {(path, index) for path, index, _, _ in found}
    gone = [channel for channel in ledger.channels if channel[0] in paths and channel not in there]
    return [*found, *((path, index, path.split('"')[1] if '"' in path else "", NO_KEYS) for path, index in gone)]


def _without_baked(table: KeyTable, start: float, end: float) -> GivenBack:
    gone = are_within(table["co"][:, 0], start, end) & (table["type"][:, 0] == KEY_GENERATED)
    return GivenBack(some_keys(table, ~gone), int(gone.sum()), 0, None)


def put_table(bag: CurveBag, channel: Channel, group: str, table: KeyTable, *, stays: bool) -> None:
    """Give a channel these keys, and a curve where it has none; without any its curve goes, unless it `stays`."""
    path, index = channel
    fcurve = bag.fcurves.find(path, index=index)
    if len(table["co"]) or (stays and fcurve is not None):
        replace_keys(fcurve or new_fcurve(bag, path, index, group), table)
    elif fcurve is not None and not fcurve.sampled_points:
        remove_curve(bag, fcurve)


def _held_before(owner: Object, kept: Kept | None, path: str, index: int, *, was_baked: bool) -> list[Edit]:
    """What a channel held that has no keys any more; of scales that 2.0.0 has stretched it is known as well."""
    if kept is not None and kept.value is not None:
        return [Edit(owner, path, index, kept.value)]
    if path.endswith(".scale") and was_baked:
        return [Edit(owner, path, index, own_scale(owner, path)[index])]
    return []


def count_baked_keys(bag: CurveBag, paths: Iterable[str], start: float = -np.inf, end: float = np.inf) -> int:
    """How many baked keys the curves at the data paths have from `start` to `end`."""
    tables = (read_keys(fcurve) for fcurve in curves_at(bag, set(paths)) if fcurve.keyframe_points)
    return sum(
        int(np.count_nonzero((table["type"][:, 0] == KEY_GENERATED) & are_within(table["co"][:, 0], start, end)))
        for table in tables
    )


def has_baked_keys(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether all keys of a curve between `start` and `end` are baked, and there are some."""
    table = read_keys(fcurve)
    inside = are_within(table["co"][:, 0], start, end)
    return bool(inside.any() and np.all(table["type"][inside, 0] == KEY_GENERATED))


def is_stretched(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether all keys of a scale's curve between `start` and `end` are a bake's stretch, and there are some."""
    table = read_keys(fcurve)
    inside = are_within(table["co"][:, 0], start, end)
    return bool(inside.any() and np.all(are_stretch(table)[inside]))


def remove_curve(bag: CurveBag, fcurve: FCurve) -> None:
    """Remove a curve, and its group if that was its last one."""
    name = fcurve.group.name if fcurve.group else ""
    bag.fcurves.remove(fcurve)
    # Some versions of Blender remove a group with its last curve by themselves.
    group = bag.groups.get(name)
    if group is not None and not group.channels:
        bag.groups.remove(group)


def unmake(owner: Object, ledger: Ledger) -> None:
    """Take away the slot, action and animation data that were made for keys, where nothing is in them any more.

    Of an action that is a copy the original comes back, if nobody has changed the copy.
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
        data.action = original
        if identifier:
            assign_slot(data, identifier)
        original.use_fake_user = had_fake_user
        _remove_unused(action)
        return
    if not ledger.made or bag.fcurves:
        return
    if ledger.made == "slot":
        action.slots.remove(data.action_slot)
        return
    data.action = None
    _remove_unused(action)
    if ledger.made == "data" and not data.nla_tracks and not data.drivers:
        owner.animation_data_clear()


def _remove_unused(action: bpy.types.Action) -> None:
    if action.users == 0:
        bpy.data.actions.remove(action)


def _same_curves(first: Sequence[CurveBag], second: Sequence[CurveBag]) -> bool:
    return len(first) == len(second) and all(
        [_looks(fcurve) for fcurve in one.fcurves] == [_looks(fcurve) for fcurve in other.fcurves]
        for one, other in zip(first, second, strict=True)
    )


def _looks(fcurve: FCurve) -> tuple[object, ...]:
    keys = b"".join(values.tobytes() for values in read_keys(fcurve).values())
    modifiers = [modifier.type for modifier in fcurve.modifiers]
    return fcurve.data_path, fcurve.array_index, fcurve.extrapolation, fcurve.mute, fcurve.lock, modifiers, keys
