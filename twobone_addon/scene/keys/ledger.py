"""The ledger: the records of what runs replaced and wrote, kept with the action until it is cleared, and what is asked of them.

They are stored on the action, by slot, so that they follow the keys through copies, renamed actions, other files and undo.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.array_types import Array, Mask
from ..blender_types import Action, Channel, CurveBag, FCurve, Object
from ..lookup import animated_datablocks, key_of, owner_named, owner_of, read_once
from ..restoring import Edit
from ..versions import curve_bag, slot_key
from ..writer import assign, unset
from .nudges import by_slot, forget_nudges
from .reading import curves_at, key_frames, motion_curves, read_frames
from .replaced import (
    FITTED,
    FOUND,
    HELD,
    NOTHING_WRITTEN,
    NUDGED,
    WITH_FEET,
    Kept,
    Layer,
    Written,
    are_own,
    as_written,
    covers,
    limb_name,
    rows_at,
    written_keys,
)
from .tables import NO_KEYS, WIDTHS, KeyTable, are_lasting, are_within, are_within_any, number_type, read_keys, some_keys

VERSION = 4
"""Version of the records; those of any other one are not read."""

ILLEGIBLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, EOFError, RecursionError, zlib.error,
)  # fmt: skip
"""Errors from reading records that something else has overwritten; these count as empty, and the next run replaces them.
`MemoryError` is none: with little memory left, legible records would count as empty, and what they hold would be lost."""

PROPERTY = "twobone_replaced"
"""Property of actions that stores the records."""

PLANTING = {"plant", "root_motion", "finish_retarget", FITTED, WITH_FEET}
"""Tasks whose keys on several bones belong together."""


class CopiedAction(NamedTuple):
    """An action that was copied before the copy got keys."""

    name: str
    had_fake_user: bool


class SetProperty(NamedTuple):
    """What is known of a property that was set along with keys."""

    with_path: str
    """Data path of the keys with which it is restored."""
    before: Any
    """Its value before."""


@dataclass(slots=True)
class Ledger:
    """All records kept with the curves that one object plays of an action."""

    bag: CurveBag
    channels: dict[Channel, Kept] = field(default_factory=dict)
    """By channel, those written last at the end."""
    made: str = ""
    """Data created for the keys: `data`, `action` or `slot`, each with those after it; empty where there was a slot."""
    copied: CopiedAction | None = None
    """The action that this one is a copy of."""
    copies: list[CopiedAction] = field(default_factory=list)
    """The same of copies that runs made of it before they made this one of them."""
    sets: dict[str, SetProperty] = field(default_factory=dict)
    """Properties set along with keys, such as a constraint's mute, by data path."""
    packed: dict[int, tuple[KeyTable, bytes]] = field(default_factory=dict)
    """The tables that were unpacked, which nothing changes, with their bytes, by identity: they need no packing again."""

    @classmethod
    def of(cls, bag: CurveBag) -> Ledger:
        """The ledger of these curves; empty where it is not legible."""
        ledger = cls(bag)
        text = _texts(bag).get(slot_key(bag), "")
        try:
            if text:
                ledger._unpack(text)
        except ILLEGIBLE:
            return cls(bag)  # What was legible before the fault is no whole record either.
        return ledger

    @classmethod
    def present(cls, owner: Object) -> Ledger | None:
        """The ledger of the curves that an object plays now; `None` without any."""
        bag = curve_bag(owner)
        return None if bag is None else cls.of(bag)

    def save(self) -> None:
        """Store the ledger on the action."""
        texts = _texts(self.bag)
        texts.pop(slot_key(self.bag), None)
        if self.channels or self.made or self.copied or self.sets:
            texts[slot_key(self.bag)] = base64.b64encode(self._packed()).decode()
        if texts:
            assign(self.bag.id_data, PROPERTY, json.dumps(texts))
        else:
            unset(self.bag.id_data, PROPERTY)
        nudged = [(kept.limb.partition("\n")[2], path) for (path, _), kept in self.channels.items() if kept.task == NUDGED]
        # A limb whose upper bone another task has keyed since is nudged no more, whatever its end still has.
        forget_nudges(self.bag, but={upper for upper, path in nudged if owner_of(path) == owner_named(upper)})

    def note_held(self, fcurve: FCurve) -> None:
        """Record and save that the keys of a curve hold a property that another action's keys change."""
        table, channel = read_keys(fcurve), Channel.of(fcurve)
        spans = ((float(table["co"][0, 0]), float(table["co"][-1, 0])),)
        layers = (Layer(spans, NO_KEYS, NO_KEYS),)
        self.channels[channel] = Kept(HELD, (HELD,), "", None, layers, written_keys(table))
        self.save()

    def note_sets(self, owner: Object, with_path: str, paths: Iterable[str]) -> None:
        """Record the values of properties that are about to be set along with the keys at a data path.

        A property set along with keys of other actions before has the value from before these.
        """
        for path in (path for path in paths if path not in self.sets):
            before = _set_before(path, but=[self.bag.id_data])
            self.sets[path] = SetProperty(with_path, owner.path_resolve(path) if before is None else before.before)

    def set_by_hand(self, fcurve: FCurve) -> Mask:
        """Mask `(K,)` of a contact curve's keys that somebody has set, also of those that a run has written again."""
        kept, table = self.channels.get(Channel.of(fcurve)), read_keys(fcurve)
        if kept is None:
            return np.ones(len(table["co"]), dtype=bool)
        rows, _ = rows_at(kept.written.frames, table["co"][:, 0])
        by_hand = np.zeros(len(rows), dtype=bool) if kept.written.by_hand is None else kept.written.by_hand[rows]
        return by_hand | ~are_own(kept.written, table)

    def own_keys(self, fcurve: FCurve) -> KeyTable:
        """The keys of a curve that runs have written."""
        kept = self.channels.get(Channel.of(fcurve))
        return NO_KEYS if kept is None else some_keys(table := read_keys(fcurve), are_own(kept.written, table))

    def set_back(self, owner: Object, paths: Collection[str] | None = None) -> list[Edit]:
        """The values from before of properties set along with keys at these data paths, or all, where none of those is left.

        Properties that runs have set along with keys of another action too stay as they are. They count as restored.
        """
        still_keyed, values = {path for path, _ in self.channels} if paths is not None else set(), []
        for path, (with_path, value) in list(self.sets.items()):
            if (paths is None or with_path in paths) and with_path not in still_keyed:
                del self.sets[path]
                if _set_before(path, but=[self.bag.id_data]) is None:
                    values.append(Edit(owner, path, 0, value))
        return values

    def wrote(self, fcurve: FCurve) -> bool:
        """Whether runs wrote all keys of a curve."""
        kept = self.channels.get(Channel.of(fcurve))
        return kept is not None and bool(np.all(are_own(kept.written, read_keys(fcurve))))

    def limb_paths(self, limb: str, tasks: Collection[str] | None = None) -> set[str]:
        """Data paths keyed for a limb by these tasks, or by any but Find Contacts, whose keys are data."""
        return {
            path
            for (path, _), kept in self.channels.items()
            if kept.limb == limb and (kept.task in tasks if tasks is not None else kept.task != FOUND)
        }

    def last_task(self, paths: Collection[str], start: float, end: float) -> str:
        """The task that wrote all these data paths from `start` to `end`, if their limb was not keyed by another one since."""
        written: dict[str, Kept] = {}
        for channel, kept in self.channels.items():
            fcurve = self.bag.fcurves.find(channel.path, index=channel.array_index) if channel.path in paths else None
            is_there = fcurve is not None and len(fcurve.keyframe_points) > 0
            if is_there and any(covers(span, (start, end)) for span in kept.beginning.spans):
                written[channel.path] = kept
        if written.keys() != set(paths):
            return ""
        limbs = {kept.limb for kept in written.values()}
        tasks = {kept.task for kept in written.values()}
        latest = next((kept.task for kept in reversed(self.channels.values()) if kept.limb in limbs), "")
        return latest if tasks == {latest} else ""

    def holds(self, fcurve: FCurve, table: KeyTable) -> Mask:
        """Mask `(K,)` of a curve's keys with which runs only hold it beside the ranges that they keyed."""
        kept = self.channels.get(Channel.of(fcurve))
        if kept is None:
            return np.zeros(len(table["co"]), dtype=bool)
        spans = [span for layer in kept.layers for span in layer.spans]
        return are_own(kept.written, table) & as_written(kept.written, table) & ~are_within_any(table["co"][:, 0], spans)

    @property
    def is_cleared_copy(self) -> bool:
        """Whether the action is a copy that a run made, of whose keys none are left."""
        return bool(self.copied or self.copies) and self.tasks <= {HELD}

    @property
    def tasks(self) -> set[str]:
        """All tasks that have written."""
        return {task for kept in self.channels.values() for task in kept.tasks}

    def planted_paths(self) -> set[str]:
        """Data paths of what was planted, or moved for planting."""
        return {path for (path, _), kept in self.channels.items() if PLANTING.intersection(kept.tasks)}

    def fitted_paths(self) -> set[str]:
        """Data paths of what Fit Root moved, and no planting."""
        return {path for (path, _), kept in self.channels.items() if PLANTING.intersection(kept.tasks) == {FITTED}}

    def _in_order(self) -> list[tuple[Channel, Kept]]:
        """The records by limb, of each limb in the order in which tasks wrote: whichever channel a task wrote first."""
        latest = {(kept.limb, kept.task): position for position, kept in enumerate(self.channels.values())}
        return sorted(self.channels.items(), key=lambda item: (item[1].limb, latest[item[1].limb, item[1].task], item[0]))

    def _packed(self) -> bytes:
        parts = _Parts(self.packed)
        channels = [
            [
                *(path, index, kept.task, kept.tasks, kept.limb, kept.value),
                [
                    [layer.spans, parts.add_table(layer.keys), parts.add_table(layer.beside), parts.add_written(layer.written)]
                    for layer in kept.layers
                ],
                parts.add_written(kept.written),
            ]
            for (path, index), kept in self._in_order()
        ]
        sizes = [len(part) for part in parts.all]
        rest = {
            "version": VERSION,
            "made": self.made,
            "copied": self.copied,
            "copies": self.copies,
            "sets": self.sets,
            "sizes": sizes,
        }
        # The length of the header, the header, and all parts end to end.
        header = json.dumps({"channels": channels, **rest}).encode()
        return b"".join([len(header).to_bytes(8, "little"), header, *parts.all])

    def _unpack(self, text: str) -> None:
        header, channels, packed = _unpacked(text)
        self.channels, self.packed = dict(channels), dict(packed)
        self.made = header["made"]
        self.copied = CopiedAction(*header["copied"]) if header["copied"] else None
        self.copies = [CopiedAction(*copied) for copied in header.get("copies", ())]
        self.sets = {path: SetProperty(*noted) for path, noted in header["sets"].items()}


@lru_cache(maxsize=1)
def _unpacked(text: str) -> tuple[Any, dict[Channel, Kept], dict[int, tuple[KeyTable, bytes]]]:
    """Header, channels, and `Ledger.packed` of a text, none of which anybody changes; a run reads one text several times."""
    data, packed = base64.b64decode(text), dict[int, tuple[KeyTable, bytes]]()
    header, end = _header(data)
    ends = end + np.cumsum([0, *header["sizes"]])
    parts = [data[first:last] for first, last in pairwise(ends)]

    def table_at(place: Sequence[int]) -> KeyTable:
        table = _table(parts, place)
        # The table is kept along, as Python gives the identity of a freed one to another.
        if place[0]:
            packed[id(table)] = table, parts[place[1]]
        return table

    channels = {
        Channel(path, index): Kept(
            *(task, tuple(tasks), limb, value),
            tuple(
                Layer(
                    tuple(map(tuple, spans)),
                    *(table_at(table) for table in tables[:2]),
                    *(_written(parts, table) for table in tables[2:]),
                )
                for spans, *tables in layers
            ),
            _written(parts, written),
        )
        for path, index, task, tasks, limb, value, layers, written in header["channels"]
    }
    return header, channels, packed


def forget_unpacked() -> None:
    """Let go of the text that was unpacked last, which may be large; called where a run ends."""
    _unpacked.cache_clear()


def is_set(path: str, but: Sequence[Action] = ()) -> bool:
    """Whether a property, such as a constraint's mute, is set along with keys of any action but some."""
    return _set_before(path, but) is not None


def _set_before(path: str, but: Sequence[Action]) -> SetProperty | None:
    """What the ledgers of other actions note of a property that was set along with their keys; `None` where none has."""
    for action in bpy.data.actions:
        for text in by_slot(action, PROPERTY, str).values() if action not in but and getattr(action, PROPERTY, "") else ():
            try:
                noted = _header_of(text)["sets"].get(path)
            except ILLEGIBLE:
                continue
            if noted is not None:
                return SetProperty(*noted)
    return None


def _header(packed: bytes) -> tuple[Any, int]:
    """A packed ledger without its tables, and where these begin; raises one of `ILLEGIBLE`, also for another version's."""
    end = 8 + int.from_bytes(packed[:8], "little")
    header = json.loads(packed[8:end])
    if header["version"] != VERSION:
        raise ValueError(header["version"])
    return header, end


def _header_of(text: str) -> Any:
    """The header of a ledger as it is stored, without decoding its tables, which are most of it."""
    end = 8 + int.from_bytes(base64.b64decode(text[:12])[:8], "little")
    return _header(base64.b64decode(text[: 4 * -(-end // 3)]))[0]


class _Parts:
    """Numbered byte strings, equal ones only once: many channels have keys on the same frames."""

    def __init__(self, packed: dict[int, tuple[KeyTable, bytes]]) -> None:
        self.all: dict[bytes, int] = {}
        self.packed = packed

    def add(self, part: bytes) -> int:
        return self.all.setdefault(part, len(self.all))

    def add_written(self, written: Written | None) -> list[int]:
        """Numbers of the arrays of a record; none without keys, so that equal records are equal bytes."""
        if written is None or not len(written.frames):
            return []
        return [self.add(values.tobytes() if len(values) else b"") for values in written.columns()]

    def add_table(self, table: KeyTable) -> list[int]:
        """Number of keys, and number of their bytes; most columns are constant, which compresses well."""
        if not len(table["co"]):
            return [0, 0]
        if id(table) in self.packed:
            return [len(table["co"]), self.add(self.packed[id(table)][1])]
        columns = (np.ascontiguousarray(table[name], dtype=number_type(name)).tobytes() for name in WIDTHS)
        return [len(table["co"]), self.add(zlib.compress(b"".join(columns), 1))]


def _table(parts: Sequence[bytes], numbers: Sequence[int]) -> KeyTable:
    count, number = numbers
    if not count:
        return NO_KEYS
    sizes = {name: count * width * np.dtype(number_type(name)).itemsize for name, width in WIDTHS.items()}
    flat = zlib.decompressobj().decompress(parts[number], sum(sizes.values()))  # No more, whatever the part promises.
    table, start = {}, 0
    for name, width in WIDTHS.items():
        end = start + sizes[name]
        table[name] = np.frombuffer(flat[start:end], number_type(name)).reshape(count, width)
        start = end
    return table


def _written(parts: Sequence[bytes], numbers: Sequence[int]) -> Written:
    # Frames and values in single precision, heights in half, then the masks.
    columns = [np.frombuffer(parts[row], kind) for row, kind in zip(numbers, "ffe??", strict=False)]
    return Written.of_columns(*columns) if columns else NOTHING_WRITTEN


def _texts(bag: CurveBag) -> dict[str, str]:
    """Packed ledgers of an action, by slot; one stored by Blender 4.2, which has no slots, belongs to this bag's slot."""
    texts = by_slot(bag.id_data, PROPERTY, str)
    if "" in texts and slot_key(bag):
        texts[slot_key(bag)] = texts.pop("")
    return texts


def ledgers_by_owner() -> dict[str, Ledger]:
    """Ledgers of what all datablocks play now, by their keys (`lookup.key_of`); without those whose action has none."""
    ledgers = {}
    for owner in animated_datablocks():
        ledger = Ledger.present(owner) if getattr(owner.animation_data.action, PROPERTY, "") else None
        if ledger is not None:
            ledgers[key_of(owner)] = ledger
    return ledgers


def moving_frames(thing: Object, bone: str = "") -> Array:
    """Frames `(K,)`, ascending, of the keys that move an object or bone, without those that only hold it beside a run's range."""
    ledger = read_once(Ledger.present, thing)
    if ledger is None or not ledger.channels:
        return key_frames(thing, bone)
    frames = [read_frames(fcurve)[~ledger.holds(fcurve, read_keys(fcurve))] for fcurve in motion_curves(thing, bone)]
    return np.unique(np.concatenate([np.empty(0), *frames]))


def nudged_paths(armature: Object, upper: str, start: float, end: float) -> set[str]:
    """The data paths on which nudges of the limb with this upper bone have keys from `start` to `end`."""
    ledger, limb = read_once(Ledger.present, armature), limb_name(armature.name, upper)
    return {
        channel.path
        for channel, kept in (ledger.channels.items() if ledger is not None else ())
        if kept.task == NUDGED
        and kept.limb == limb
        and any(first <= end and last >= start for first, last in kept.beginning.spans)
    }


def count_baked_keys(owner: Object, paths: Collection[str], start: float = -np.inf, end: float = np.inf) -> int:
    """Number of keys from `start` to `end` that runs have written on an object's curves at data paths."""
    ledger = read_once(Ledger.present, owner)
    curves = curves_at(ledger.bag, paths) if ledger is not None and ledger.channels else ()
    return sum(int(np.count_nonzero(are_within(ledger.own_keys(fcurve)["co"][:, 0], start, end))) for fcurve in curves)


def baked_channels(owner: Object, paths: Collection[str]) -> set[Channel]:
    """The channels at data paths, in an object's present action, that have keys of runs."""
    ledger = read_once(Ledger.present, owner) if paths else None
    curves = curves_at(ledger.bag, paths) if ledger is not None and ledger.channels else ()
    return {Channel.of(fcurve) for fcurve in curves if len(ledger.own_keys(fcurve)["co"])}


def stretched_paths(armature: Object, paths: Iterable[str], start: float, end: float) -> set[str]:
    """Those data paths of scales whose keys from `start` to `end` are all a bake's stretch."""
    ledger, stretched = read_once(Ledger.present, armature), set()
    for path in paths if ledger is not None and ledger.channels else ():
        fcurve = ledger.bag.fcurves.find(path)
        kept = ledger.channels.get(Channel(path))
        if fcurve is not None and kept is not None:
            table = read_keys(fcurve)
            inside = are_within(table["co"][:, 0], start, end)
            if inside.any() and np.all((are_own(kept.written, table) & ~are_lasting(table))[inside]):
                stretched.add(path)
    return stretched
