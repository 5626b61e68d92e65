"""Remove baked keys from F-curves and restore what they replaced: keys, handles, curves, actions, values without keys."""

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
    for path, index, group, table in _tables(ledger, paths):
        kept = ledger.channels.pop((path, index), None)
        # Clearing planted contacts brings back those that Find Contacts had keyed before, not the ones from before that.
        has_found_contacts = kept is not None and kept.task == WITH_FEET and len(kept.layers) > 1
        restored = _without_baked(table, start, end)
        if kept is not None:
            restored = given_back(kept, table, start, end, to_beginning=has_found_contacts)
        put_table(ledger.bag, (path, index), group, restored.table, stays=kept is not None and kept.had_curve)
        removed, edited = removed + restored.removed, edited + restored.edited
        if has_found_contacts and kept is not None:
            ledger.channels[path, index] = kept.without_last()
        elif restored.left is not None:
            ledger.channels[path, index] = restored.left
        elif not len(restored.table["co"]):
            values += _value_before(owner, kept, path, index, was_baked=restored.removed > 0)
    left = {path for path, _ in ledger.channels}
    for path, (with_path, value) in list(ledger.sets.items()):
        if with_path in paths and with_path not in left:
            del ledger.sets[path]
            if not _is_set_by_others(ledger.bag, path):
                values.append(Edit(owner, path, 0, value))
    apply_edits(values)
    return ClearedKeys(removed, edited)


def _is_set_by_others(bag: CurveBag, path: str) -> bool:
    """Whether the property, such as a constraint's mute, was set along with keys of another action too."""
    others = (action for action in bpy.data.actions if action != bag.id_data and getattr(action, PROPERTY, ""))
    return any(path in Ledger.of(other).sets for action in others for other in all_bags(action))


def _tables(ledger: Ledger, paths: Collection[str]) -> list[tuple[str, int, str, KeyTable]]:
    """Path, index, group and keys of the channels at data paths, including channels whose curve somebody has deleted."""
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
    """Set a channel's keys, adding a curve if there is none; without keys its curve is removed, unless it `stays`."""
    path, index = channel
    fcurve = bag.fcurves.find(path, index=index)
    if len(table["co"]) or (stays and fcurve is not None):
        replace_keys(fcurve or new_fcurve(bag, path, index, group), table)
    elif fcurve is not None and not fcurve.sampled_points:
        remove_curve(bag, fcurve)


def _value_before(owner: Object, kept: Kept | None, path: str, index: int, *, was_baked: bool) -> list[Edit]:
    """Edit that restores the value of a channel left without keys; for scales stretched by 2.0.0 from its record. Else none."""
    if kept is not None and kept.value is not None:
        return [Edit(owner, path, index, kept.value)]
    if path.endswith(".scale") and was_baked:
        return [Edit(owner, path, index, own_scale(owner, path)[index])]
    return []


def count_baked_keys(bag: CurveBag, paths: Iterable[str], start: float = -np.inf, end: float = np.inf) -> int:
    """Number of baked keys from `start` to `end` on the curves at the data paths."""
    tables = (read_keys(fcurve) for fcurve in curves_at(bag, set(paths)) if fcurve.keyframe_points)
    return sum(
        int(np.count_nonzero((table["type"][:, 0] == KEY_GENERATED) & are_within(table["co"][:, 0], start, end)))
        for table in tables
    )


def has_baked_keys(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether a curve has keys between `start` and `end`, all of them baked."""
    table = read_keys(fcurve)
    inside = are_within(table["co"][:, 0], start, end)
    return bool(inside.any() and np.all(table["type"][inside, 0] == KEY_GENERATED))


def is_stretched(fcurve: FCurve, start: float, end: float) -> bool:
    """Whether a scale curve has keys between `start` and `end`, all of them a bake's stretch."""
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
        [_contents(fcurve) for fcurve in one.fcurves] == [_contents(fcurve) for fcurve in other.fcurves]
        for one, other in zip(first, second, strict=True)
    )


def _contents(fcurve: FCurve) -> tuple[object, ...]:
    keys = b"".join(values.tobytes() for values in read_keys(fcurve).values())
    modifiers = [modifier.type for modifier in fcurve.modifiers]
    return fcurve.data_path, fcurve.array_index, fcurve.extrapolation, fcurve.mute, fcurve.lock, modifiers, keys
