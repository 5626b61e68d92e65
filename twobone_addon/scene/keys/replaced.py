"""Records of what runs replaced (keys, handles, curves and values), kept with the action until it is cleared.

They are stored on the action, by slot, so that they follow the keys through copies, renamed actions, other files and undo. Each
channel has one or two layers: what a person had before any run, for Clear; and, where it differs, what was there before the
task that wrote last, for its next run.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from ...core.array_types import Array, Mask
from ...core.curves.frames import NEAR_FRAME
from ..blender_types import CurveBag, FCurve, Object
from ..versions import curve_bag, slot_key
from .nudges import forget_nudges
from .tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    INTERPOLATION,
    KEY_GENERATED,
    KEY_PLAIN,
    NO_KEYS,
    WIDTHS,
    KeyTable,
    are_within,
    are_within_any,
    joined_keys,
    number_type,
    some_keys,
)

Channel = tuple[str, int]
"""Data path and index."""
Span = tuple[float, float]

PROPERTY = "twobone_replaced"
"""Property of actions that stores the records."""

HANDLING = ("handle_left", "handle_right", "handle_left_type", "handle_right_type")
"""Attributes of the keys next to replaced ones that change when new keys hold the curve beside them."""

SAME_HEIGHT, LEAST_HEIGHT = 5e-3, 1e-4
"""Relative and absolute tolerance within which a handle's height counts as unedited: heights are stored in half precision,
and Blender straightens aligned handles now and then."""

ILLEGIBLE = (
    ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError, EOFError, MemoryError, OSError, RecursionError,
    NotImplementedError, binascii.Error, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""Errors from reading records that something else has overwritten; these count as empty, and the next run replaces them."""

FOUND, WITH_FEET = "find_contacts", "plant_contacts"
"""Tasks that key contacts: Find Contacts; and Plant Feet, which keys them along with the feet and clears both together."""

NUDGED = "nudge"
"""Task that keys nudges, see `nudges`."""

APART = 2.0 * NEAR_FRAME
"""Gap in frames between the part removed from a span and the parts that remain."""

PLANTING = {"plant", "root_motion", "fit_root", WITH_FEET}
"""Tasks whose keys on several bones belong together."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Keys of a channel that were replaced within some spans of frames."""

    spans: tuple[Span, ...]
    keys: KeyTable
    """Keys within the spans."""
    beside: KeyTable
    """Keys next to the spans, whose handles change."""


@dataclass(frozen=True, slots=True)
class Written:
    """Keys as runs wrote them, to tell later which ones somebody has edited."""

    frames: Array
    """`(K,)` ascending, single precision."""
    values: Array
    """`(K,)`"""
    heights: Array
    """`(K, 2)` heights of the handles above their keys, half precision; `(0, 2)` where handles do not matter."""

    def some(self, which: Mask) -> Written:
        """A subset of the keys."""
        return Written(self.frames[which], self.values[which], self.heights[which] if len(self.heights) else self.heights)


NOTHING_WRITTEN = Written(np.empty(0, np.float32), np.empty(0, np.float32), np.empty((0, 2), np.float16))


@dataclass(frozen=True, slots=True)
class Kept:
    """Record of one channel."""

    task: str
    """Task that wrote last, such as `bake`."""
    tasks: tuple[str, ...]
    """All tasks that have written."""
    limb: str
    """Limb that the last keys are for, see `limb_name`; empty where they are for several."""
    value: Any
    """Value of the channel before it had a curve; `None` where it had one."""
    layers: tuple[Layer, ...]
    written: Written

    @property
    def beginning(self) -> Layer:
        """Layer of what was there before the task that wrote last."""
        return self.layers[-1]

    @property
    def had_curve(self) -> bool:
        """Whether the channel had a curve before, which stays even without keys."""
        return self.value is None and bool(self.layers[0].spans)

    def started_over(self, table: KeyTable, start: float, end: float) -> tuple[Kept, KeyTable]:
        """Record of a channel and its keys `table`, both with the last task's keys from `start` to `end` removed."""
        layer = self.beginning
        rest = _outside(layer.spans, start, end)
        written = self.written.some(are_within_any(self.written.frames, [(first - 1.0, last + 1.0) for first, last in rest]))
        # Restored keys no longer count as replaced: the next run might not write there.
        left = replace(layer, spans=rest) if rest else Layer((), NO_KEYS, NO_KEYS)
        kept = replace(self, layers=(*self.layers[:-1], left), written=written)
        return kept, given_back(self, table, start, end, to_beginning=True).table

    def without_last(self) -> Kept:
        """Record once the last task's keys are removed: the task of the keys that stay is unknown, unless it is Find Contacts."""
        return replace(self, task=FOUND if FOUND in self.tasks else "", layers=self.layers[:1], written=NOTHING_WRITTEN)


def limb_name(armature: str, upper: str) -> str:
    """Name of a limb in the records: its armature and its upper bone."""
    return f"{armature}\n{upper}"


def written_keys(table: KeyTable) -> Written:
    """Record of keys that are about to be written."""
    heights = _heights(table) if (table["interpolation"] == INTERPOLATION["BEZIER"]).any() else NOTHING_WRITTEN.heights
    return Written(table["co"][:, 0], table["co"][:, 1], heights)


def _heights(table: KeyTable) -> Array:
    """`(K, 2)` heights of the handles above their keys; NaN for handles that Blender computes."""
    sides = []
    with np.errstate(over="ignore"):
        for side in ("handle_left", "handle_right"):
            is_explicit = np.isin(table[f"{side}_type"][:, 0], (HANDLE_FREE, HANDLE_ALIGNED))
            sides.append(np.where(is_explicit, table[side][:, 1] - table["co"][:, 1], np.nan).astype(np.float16))
    return np.stack(sides, axis=-1)


@dataclass(frozen=True, slots=True)
class Writing:
    """Keys that are about to be written into one channel."""

    spans: tuple[Span, ...]
    """Spans whose present keys are replaced."""
    written: Written
    """All new keys, including those that hold the curve beside the spans."""
    task: str
    limb: str
    value: Any
    """Present value of the channel, if it has no curve."""
    is_again: bool
    """Whether they were solved without the task's own earlier keys: from what was there before these, or from other data."""


def note(kept: Kept | None, table: KeyTable, writing: Writing) -> Kept:
    """Updated record of a channel with the present keys `table`, for keys about to be written.

    Keys made by runs never count as a person's; of a person's keys at one frame the latest counts.
    """
    if kept is None:
        origin = writing.task, (writing.task,), writing.limb, writing.value
        if not len(table["co"]):  # shortcut for most limbs that are baked for the first time
            return Kept(*origin, (Layer(tuple(sorted(set(writing.spans))), NO_KEYS, NO_KEYS),), writing.written)
        kept = Kept(*origin, (Layer((), NO_KEYS, NO_KEYS),), NOTHING_WRITTEN)
    inside, nearest = _touched(table["co"][:, 0], writing.spans)
    foreign = ~_made_by_runs(kept, table)
    foreign_or_edited = foreign | ~_as_written(kept.written, table)
    last = kept.beginning
    first = _extended(kept.layers[0], writing.spans, some_keys(table, inside & foreign), some_keys(table, nearest & foreign))
    overlaps = _overlap(writing.spans, last.spans)
    if kept.task != writing.task or (overlaps and not writing.is_again):
        layers: tuple[Layer, ...] = (first, Layer(writing.spans, some_keys(table, inside), some_keys(table, nearest)))
    elif len(kept.layers) > 1 or np.any(inside & foreign_or_edited & ~foreign):
        own = (some_keys(table, where & foreign_or_edited) for where in (inside, nearest))
        layers = (first, _extended(last, writing.spans, *own))
    else:
        layers = (first,)
    frames = kept.written.frames
    before = kept.written.some(~are_within_any(frames, writing.spans) & ~_at(frames, writing.written.frames))
    return replace(
        kept,
        task=writing.task,
        tasks=tuple(dict.fromkeys((*kept.tasks, writing.task))),
        limb=writing.limb,
        layers=layers,
        written=_joined(before, writing.written),
    )


def _extended(layer: Layer, spans: tuple[Span, ...], inside: KeyTable, nearest: KeyTable) -> Layer:
    """The layer with more spans and keys: of keys at one frame the new one wins within, the old one beside the spans."""
    keys = united(inside, layer.keys)
    beside = united(layer.beside, nearest)
    if len(beside["co"]):
        beside = some_keys(beside, ~_at(beside["co"][:, 0], keys["co"][:, 0]))
    return Layer(tuple(sorted({*layer.spans, *spans})), keys, beside)


def _joined(first: Written, second: Written) -> Written:
    if len(first.frames) == 0:
        return second
    heights = [
        each.heights if len(each.heights) else np.full((len(each.frames), 2), np.nan, np.float16) for each in (first, second)
    ]
    has_heights = len(first.heights) or len(second.heights)
    frames = np.concatenate([first.frames, second.frames])
    order = np.argsort(frames, kind="stable")
    values = np.concatenate([first.values, second.values])[order]
    return Written(frames[order], values, np.concatenate(heights)[order] if has_heights else NOTHING_WRITTEN.heights)


def _touched(frames: Array, spans: Sequence[Span]) -> tuple[Mask, Mask]:
    """Masks `(K,)` of keys within a span, and of the nearest ones around where it is held, one frame beside it."""
    inside, nearest = are_within_any(frames, spans), np.zeros(len(frames), dtype=bool)
    edges = np.array(spans, dtype=float).reshape(-1, 2) + np.array([-NEAR_FRAME - 1.0, NEAR_FRAME + 1.0])
    for first, last in np.searchsorted(frames, edges).tolist():
        nearest[max(first - 1, 0) : last + 1] = True
    return inside, nearest & ~inside


def _overlap(spans: Sequence[Span], others: Sequence[Span]) -> bool:
    """Whether any of the spans overlaps any of the others."""
    starts, ends = np.array(spans, dtype=float).reshape(-1, 2, 1).swapaxes(0, 1)
    return any(bool(np.any((starts <= end) & (ends >= start))) for start, end in others)


def _covers(outer: Span, inner: Span) -> bool:
    return inner[0] >= outer[0] - NEAR_FRAME and inner[1] <= outer[1] + NEAR_FRAME


def _outside(spans: Iterable[Span], start: float, end: float) -> tuple[Span, ...]:
    """The parts of the spans before `start` and after `end`."""
    sides = [each for first, last in spans for each in ((first, min(last, start - APART)), (max(first, end + APART), last))]
    return tuple((first, last) for first, last in sides if first <= last)


def _made_by_runs(kept: Kept, table: KeyTable) -> Mask:
    """Mask `(K,)` of keys made by runs: generated ones, and plain keys of contacts that are as a run wrote them."""
    made = table["type"][:, 0] == KEY_GENERATED
    if not {FOUND, WITH_FEET}.intersection(kept.tasks):
        return made
    return made | ((table["type"][:, 0] == KEY_PLAIN) & _as_written(kept.written, table))


def _rows_at(frames: Array, places: Array) -> tuple[Array, Mask]:
    """For each of `places` `(M,)` the row of that frame among ascending `frames` `(K,)`, and whether it is there."""
    rows = np.searchsorted(frames, places - NEAR_FRAME)
    rows = np.minimum(rows, max(len(frames) - 1, 0))
    found = np.abs(frames[rows] - places) <= NEAR_FRAME if len(frames) else np.zeros(len(places), dtype=bool)
    return rows, found


def _at(places: Array, frames: Array) -> Mask:
    """Mask `(M,)` of `places` that are among ascending `frames`."""
    return _rows_at(frames, places)[1]


def _as_written(written: Written, table: KeyTable) -> Mask:
    """Mask `(K,)` of keys that are as a run wrote them: value, and heights of the handles where these matter."""
    rows, found = _rows_at(written.frames, table["co"][:, 0])
    if not len(written.frames):
        return found
    same = found & (written.values[rows] == table["co"][:, 1])
    if len(written.heights):
        now, then = _heights(table).astype(float), written.heights[rows].astype(float)
        is_same = np.isnan(then) | (now == then) | (np.abs(now - then) <= LEAST_HEIGHT + SAME_HEIGHT * np.abs(then))
        same &= np.all(is_same, axis=-1)
    return same


def is_untouched(kept: Kept, table: KeyTable) -> bool:
    """Whether the keys within the last task's spans are exactly those that it wrote."""
    spans = kept.beginning.spans
    now = some_keys(table, are_within_any(table["co"][:, 0], spans))
    count = int(np.count_nonzero(are_within_any(kept.written.frames, spans)))
    return len(now["co"]) == count and bool(np.all(_as_written(kept.written, now) & _made_by_runs(kept, now)))


@dataclass(frozen=True, slots=True)
class GivenBack:
    """A channel with its earlier keys restored."""

    table: KeyTable
    removed: int
    """Number of baked keys removed."""
    edited: int
    """Number of baked keys that stay because somebody has edited them."""
    left: Kept | None
    """Record still to be kept, if any."""


def given_back(kept: Kept, table: KeyTable, start: float, end: float, *, to_beginning: bool = False) -> GivenBack:
    """Restore a channel's earlier keys from `start` to `end`; keys that a person has set since win.

    to_beginning : restore what was there before the last task, instead of before all

    Keys that hold the curve beside a span are removed with it.
    """
    layer = kept.beginning if to_beginning else kept.layers[0]
    frames = table["co"][:, 0]
    covered = [span for span in layer.spans if _covers((start, end), span)]
    near = are_within_any(frames, [(first - 1.0, last + 1.0) for first, last in covered]) & ~are_within_any(frames, layer.spans)
    if layer.spans:
        # A task writes no keys between its spans: generated ones there are an earlier bake's.
        own = are_within_any(frames, layer.spans) if to_beginning else True
        removable = (are_within(frames, start, end) & own) | (near & _at(frames, kept.written.frames))
    else:  # recorded by 2.0.0, which held curves one frame beside the range
        removable = are_within(frames, start - 1.0, end + 1.0)
    baked = removable & _made_by_runs(kept, table)
    edited = baked & _are_edited(kept, table, baked)
    gone = baked & ~edited
    back = are_within(layer.keys["co"][:, 0], start, end)
    merged = united(some_keys(table, ~gone), some_keys(layer.keys, back))
    rest = _outside(layer.spans, start, end)
    is_done = not rest if layer.spans else bool(back.all())
    if is_done:
        merged = _with_handles(_with_handles(merged, layer.beside), some_keys(layer.keys, back))
    left = None
    if edited.any():
        # Nothing written is recorded any more, so that clearing again removes the edited keys as well.
        still = ~back | _at(layer.keys["co"][:, 0], frames[edited])
        left = replace(kept, layers=(replace(layer, keys=some_keys(layer.keys, still)),), written=NOTHING_WRITTEN)
    elif not is_done:
        remaining = Layer(rest, some_keys(layer.keys, ~back), layer.beside)
        left = replace(kept, layers=(remaining,), written=kept.written.some(~are_within(kept.written.frames, start, end)))
    return GivenBack(merged, int(gone.sum()), int(edited.sum()), left)


def _are_edited(kept: Kept, table: KeyTable, baked: Mask) -> Mask:
    """Mask `(K,)` of written keys whose value or handle height was edited; none where the `baked` ones were moved in time."""
    known = _at(table["co"][:, 0], kept.written.frames)
    if not len(kept.written.frames) or np.any(baked & ~known):
        return np.zeros(len(known), dtype=bool)
    return known & ~_as_written(kept.written, table)


def _with_handles(table: KeyTable, beside: KeyTable) -> KeyTable:
    """The keys, with the handles of those in `beside` that have the same frame and value."""
    rows, found = _rows_at(table["co"][:, 0], beside["co"][:, 0])
    same = np.flatnonzero(found)
    same = same[table["co"][rows[same], 1] == beside["co"][same, 1]]
    for name in HANDLING if len(same) else ():
        table = table | {name: table[name].copy()}
        table[name][rows[same]] = beside[name][same]
    return table


def united(first: KeyTable, second: KeyTable) -> KeyTable:
    """The keys of both tables by frame; where both have one, that of the first."""
    if not len(second["co"]):
        return first
    if not len(first["co"]):
        return second
    merged = joined_keys(first, some_keys(second, ~_at(second["co"][:, 0], first["co"][:, 0])))
    return some_keys(merged, np.argsort(merged["co"][:, 0], kind="stable"))


@dataclass(slots=True)
class Ledger:
    """All records kept with the curves that one object plays of an action."""

    bag: CurveBag
    channels: dict[Channel, Kept] = field(default_factory=dict)
    made: str = ""
    """Data created for the keys: `data`, `action` or `slot`, each with those after it; empty where there was a slot."""
    copied: tuple[str, bool] | None = None
    """Name of the action that this one is a copy of, and whether that had a fake user before."""
    sets: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """Properties set along with keys, such as a constraint's mute, by data path: the data path of the keys with which they are
    restored, and the value before."""

    @classmethod
    def of(cls, bag: CurveBag, owner: Object | None = None) -> Ledger:
        """The ledger of these curves, with what 2.0.0 recorded on their owner; empty where it is not legible."""
        ledger = cls(bag)
        text = _texts(bag).get(slot_key(bag), "")
        try:
            if text:
                ledger._unpack(base64.b64decode(text))
        except ILLEGIBLE:
            return cls(bag)
        if owner is not None:
            ledger.channels = _noted_by_2_0(owner, bag) | ledger.channels
        return ledger

    @classmethod
    def present(cls, owner: Object) -> Ledger | None:
        """The ledger of the curves that an object plays now; `None` without any."""
        bag = curve_bag(owner)
        return None if bag is None else cls.of(bag, owner)

    def save(self, owner: Object | None = None) -> None:
        """Store the ledger on the action."""
        texts = _texts(self.bag)
        texts.pop(slot_key(self.bag), None)
        if self.channels or self.made or self.copied or self.sets:
            texts[slot_key(self.bag)] = base64.b64encode(self._packed()).decode()
        if texts:
            setattr(self.bag.id_data, PROPERTY, json.dumps(texts))
        else:
            self.bag.id_data.property_unset(PROPERTY)
        nudged = (kept.limb for kept in self.channels.values() if kept.task == NUDGED)
        forget_nudges(self.bag, but={limb.partition("\n")[2] for limb in nudged})
        if owner is not None and owner.id_type == "OBJECT" and owner.twobone.replaced_keys:
            owner.twobone.replaced_keys = ""

    def note_sets(self, owner: Object, with_path: str, paths: Iterable[str]) -> None:
        """Record the values of properties that are about to be set along with the keys at a data path."""
        for path in paths:
            self.sets.setdefault(path, (with_path, owner.path_resolve(path)))

    def limb_paths(self, limb: str, tasks: Collection[str] | None = None) -> set[str]:
        """Data paths keyed for a limb by these tasks, or by any but Find Contacts, whose keys are data."""
        return {
            path
            for (path, _), kept in self.channels.items()
            if kept.limb == limb and (kept.task in tasks if tasks is not None else kept.task != FOUND)
        }

    def planted_paths(self) -> set[str]:
        """Data paths of what was planted, or moved for planting."""
        return {path for (path, _), kept in self.channels.items() if PLANTING.intersection(kept.tasks)}

    def _packed(self) -> bytes:
        parts = _Parts()
        channels = [
            [
                *(path, index, kept.task, kept.tasks, kept.limb, kept.value),
                [[layer.spans, parts.add_table(layer.keys), parts.add_table(layer.beside)] for layer in kept.layers],
                [parts.add(values.tobytes()) for values in (kept.written.frames, kept.written.values, kept.written.heights)],
            ]
            for (path, index), kept in self.channels.items()
        ]
        sizes = [len(part) for part in parts.all]
        rest = {"made": self.made, "copied": self.copied, "sets": self.sets, "sizes": sizes}
        header = json.dumps({"channels": channels, **rest}).encode()
        return b"".join([len(header).to_bytes(8, "little"), header, *parts.all])

    def _unpack(self, packed: bytes) -> None:
        end = 8 + int.from_bytes(packed[:8], "little")
        header: Any = json.loads(packed[8:end])
        ends = end + np.cumsum([0, *header["sizes"]])
        parts = [packed[first:last] for first, last in pairwise(ends)]
        for path, index, task, tasks, limb, value, layers, written in header["channels"]:
            frames, values, heights = (np.frombuffer(parts[number], kind) for number, kind in zip(written, "ffe", strict=True))
            self.channels[path, index] = Kept(
                *(task, tuple(tasks), limb, value),
                tuple(Layer(tuple(map(tuple, spans)), *(_table(parts, each) for each in tables)) for spans, *tables in layers),
                Written(frames, values, heights.reshape(-1, 2)),
            )
        self.made = header["made"]
        self.copied = tuple(header["copied"]) if header["copied"] else None
        self.sets = {path: (with_path, value) for path, (with_path, value) in header["sets"].items()}


class _Parts:
    """Numbered byte strings, equal ones only once: many channels have keys on the same frames."""

    def __init__(self) -> None:
        self.all: dict[bytes, int] = {}

    def add(self, part: bytes) -> int:
        return self.all.setdefault(part, len(self.all))

    def add_table(self, table: KeyTable) -> list[int]:
        """Number of keys, and number of their bytes; most columns are constant, which compresses well."""
        if not len(table["co"]):
            return [0, 0]
        columns = (np.ascontiguousarray(table[name], dtype=number_type(name)).tobytes() for name in WIDTHS)
        return [len(table["co"]), self.add(zlib.compress(b"".join(columns), 1))]


def _table(parts: Sequence[bytes], place: Sequence[int]) -> KeyTable:
    count, number = place
    if not count:
        return NO_KEYS
    flat, table, start = zlib.decompress(parts[number]), {}, 0
    for name, width in WIDTHS.items():
        end = start + count * width * np.dtype(number_type(name)).itemsize
        table[name] = np.frombuffer(flat[start:end], number_type(name)).reshape(count, width)
        start = end
    return table


def _texts(bag: CurveBag) -> dict[str, str]:
    """Packed ledgers of an action, by slot; one stored by Blender 4.2, which has no slots, belongs to this bag's slot."""
    try:
        texts = json.loads(getattr(bag.id_data, PROPERTY, "") or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        return {}
    if "" in texts and slot_key(bag):
        texts[slot_key(bag)] = texts.pop("")
    return texts


def _noted_by_2_0(owner: Object, bag: CurveBag) -> dict[Channel, Kept]:
    """Records for one action of what Plant Feet replaced in files of 2.0.0, which stored them on the armature."""
    text = owner.twobone.replaced_keys if owner.id_type == "OBJECT" else ""
    if not text:
        return {}
    try:
        with np.load(io.BytesIO(base64.b85decode(text)), allow_pickle=False) as file:
            action, names = json.loads(str(file["names"]))
            if action != bag.id_data.name:
                return {}
            found = {}
            for number, (path, index) in enumerate(names):
                keys, beside = ({name: file[f"{number}_{kind}{name}"] for name in WIDTHS} for kind in ("", "beside_"))
                for table in (keys, beside):
                    if any(table[name].shape != (len(table["co"]), width) for name, width in WIDTHS.items()):
                        raise ValueError(path)
                found[path, index] = Kept("plant", ("plant",), "", None, (Layer((), keys, beside),), NOTHING_WRITTEN)
            return found
    except ILLEGIBLE:
        return {}


def ledgers_of_objects() -> dict[str, Ledger]:
    """Ledgers of what all objects play now, by their names; without objects whose action has none."""
    found = {}
    for thing in bpy.data.objects:
        action = thing.animation_data.action if thing.animation_data is not None else None
        ledger = Ledger.present(thing) if getattr(action, PROPERTY, "") else None
        if ledger is not None:
            found[thing.name] = ledger
    return found


def own_scale(armature: Object, path: str) -> tuple[float, ...]:
    """Scale of a bone before a bake of 2.0.0 keyed the data path; 1 where it is not known."""
    kept = armature.twobone.own_scales.get(path)
    return (1.0, 1.0, 1.0) if kept is None else tuple(kept.scale)


def curves_at(bag: CurveBag, paths: Collection[str]) -> list[FCurve]:
    """The bag's curves at the data paths."""
    return [fcurve for fcurve in bag.fcurves if fcurve.data_path in paths]
