"""Records of what runs replaced (keys, handles, curves and values), kept until they are cleared.

Each channel has one or two layers: what a person had before any run, for Clear; and, where it differs, what was there before the
task that wrote last, for its next run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.array_types import Array, Mask
from ...core.curves.frames import NEAR_FRAME
from ...records import replace
from .tables import (
    HANDLE_ALIGNED,
    HANDLE_FREE,
    INTERPOLATION,
    KEY_GENERATED,
    KEY_PLAIN,
    NO_KEYS,
    BareTable,
    KeyTable,
    are_within,
    are_within_any,
    joined_keys,
    some_keys,
)

Span = tuple[float, float]

HANDLING = ("handle_left", "handle_right", "handle_left_type", "handle_right_type")
"""Attributes of the keys next to replaced ones that change when new keys hold the curve beside them."""

SAME_HEIGHT, LEAST_HEIGHT = 5e-3, 1e-4
"""Relative and absolute tolerance within which a handle's height counts as unedited: heights are stored in half precision,
and Blender straightens aligned handles now and then."""

FOUND, WITH_FEET = "find_contacts", "plant_contacts"
"""Tasks that key contacts: Find Contacts; and Plant Feet, which keys them along with the feet and clears both together."""

NUDGED = "nudge"
"""Task that keys nudges, see `nudges`."""

HELD = "held"
"""Task of a key that holds a property, such as a constraint's influence, in other actions than the one that was keyed."""

PLAYED = "played"
"""Stands for a task, where keys were added of what modifiers, extrapolation or tracks play beside those of a task."""

FITTED = "fit_root"
"""Task that moves a root for limbs that reach for their targets."""

APART = 2.0 * NEAR_FRAME
"""Gap in frames between the part removed from a span and the parts that remain."""

NO_MARKS = np.empty(0, dtype=bool)


@dataclass(frozen=True, slots=True)
class Layer:
    """Keys of a channel that were replaced within some spans of frames."""

    spans: tuple[Span, ...]
    keys: KeyTable
    """Keys within the spans."""
    beside: KeyTable
    """Keys next to the spans, whose handles change."""
    written: Written | None = None
    """Which of the keys within the spans other runs had written; `None` for none."""


@dataclass(frozen=True, slots=True)
class Written:
    """Keys as runs wrote them, to tell later which ones somebody has edited."""

    frames: Array
    """`(K,)` ascending, single precision."""
    values: Array
    """`(K,)`"""
    heights: Array
    """`(K, 2)` heights of the handles above their keys, half precision; `(0, 2)` where handles do not matter."""
    earlier: Mask | None = None
    """`(K,)` of keys that other tasks wrote before the last one; `None` where there are none."""
    by_hand: Mask | None = None
    """`(K,)` of contacts keyed by hand that a run wrote again; `None` where there are none."""

    def some(self, which: Mask) -> Written:
        """A subset of the keys."""
        marks = (None if mask is None else mask[which] for mask in (self.earlier, self.by_hand))
        return Written(self.frames[which], self.values[which], self.heights[which] if len(self.heights) else self.heights, *marks)

    def columns(self) -> list[Array]:
        """The arrays as they are stored; empty ones for masks that are `None`."""
        marks = (NO_MARKS if mask is None else mask for mask in (self.earlier, self.by_hand))
        return [self.frames, self.values, self.heights, *marks]

    @classmethod
    def of_columns(cls, frames: Array, values: Array, heights: Array, *marks: Mask) -> Written:
        """The keys from stored arrays."""
        return cls(frames, values, heights.reshape(-1, 2), *(mask if len(mask) else None for mask in marks))

    @property
    def types(self) -> Array:
        """`(K,)` types that the keys were given."""
        return (
            np.where(self.by_hand, KEY_PLAIN, KEY_GENERATED)
            if self.by_hand is not None
            else np.full(len(self.frames), KEY_GENERATED)
        )

    @property
    def own(self) -> Mask:
        """`(K,)` of keys that the task that wrote last has written."""
        return np.ones(len(self.frames), dtype=bool) if self.earlier is None else ~self.earlier


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

    @property
    def is_beside_played(self) -> bool:
        """Whether one task alone has written here, and beside its keys are those of what is played."""
        return PLAYED in self.tasks and len(set(self.tasks)) == 2  # noqa: PLR2004 - it and the task

    def is_all(self, table: KeyTable, start: float, end: float) -> bool:
        """Whether keys from `start` to `end` are all of a channel, as the last task wrote them into an empty one.

        Most channels are like that when a task runs again; what would be computed of each key is known then.
        """
        layer, written, frames = self.beginning, self.written, table["co"][:, 0]
        if len(layer.spans) != 1 or len(layer.keys["co"]) or len(layer.beside["co"]) or not len(frames) or len(written.heights):
            return False
        if written.earlier is not None or written.by_hand is not None or (layer.written and len(layer.written.frames)):
            return False
        first, last = layer.spans[0]
        return (
            start <= first <= last <= end
            and bool(first - NEAR_FRAME <= frames[0] and frames[-1] <= last + NEAR_FRAME)
            and np.array_equal(frames, written.frames)
            and np.array_equal(table["co"][:, 1], written.values)
            and bool(np.all(table["type"] == KEY_GENERATED))
        )

    def is_whole(self, start: float, end: float) -> bool:
        """Whether one task wrote all there is, from `start` to `end`, and with it keys of what is played beside that.

        Without them its next run starts from what is played, not from keys of it.
        """
        return set(self.tasks) == {PLAYED, self.task} and not _outside(self.layers[0].spans, start, end)

    def started_over(self, table: KeyTable, start: float, end: float) -> tuple[Kept, KeyTable]:
        """Record of a channel and its keys `table`, both with the last task's keys from `start` to `end` removed."""
        if self.is_all(table, start, end):
            nothing = Layer((), NO_KEYS, NO_KEYS)
            return replace(self, layers=(*self.layers[:-1], nothing), written=NOTHING_WRITTEN), NO_KEYS
        if self.is_whole(start, end):
            kept = replace(self, layers=(Layer((), NO_KEYS, NO_KEYS),), written=NOTHING_WRITTEN)
            return kept, given_back(self, table, start, end).table
        layer = self.beginning
        rest = _outside(layer.spans, start, end)
        still = are_within_any(self.written.frames, [(first - 1.0, last + 1.0) for first, last in rest])
        written = joined(self.written.some(still | ~self.written.own), as_earlier(layer.written))
        # Restored keys no longer count as replaced: the next run might not write there.
        rest_of_layer = replace(layer, spans=rest) if rest else Layer((), NO_KEYS, NO_KEYS)
        kept = replace(self, layers=(*self.layers[:-1], rest_of_layer), written=written)
        return kept, given_back(self, table, start, end, to_beginning=True).table

    def without_last(self) -> Kept:
        """Record once the last task's keys are removed: the task of the keys that stay is unknown, unless it is Find Contacts."""
        written = joined(self.written.some(~self.written.own), as_earlier(self.beginning.written))
        return replace(self, task=FOUND if FOUND in self.tasks else "", layers=self.layers[:1], written=written)


def limb_name(armature: str, upper: str) -> str:
    """Name of a limb in the records: its armature and its upper bone."""
    return f"{armature}\n{upper}"


def written_keys(table: KeyTable) -> Written:
    """Record of keys that are about to be written."""
    is_any_smooth = (table["interpolation"] == INTERPOLATION["BEZIER"]).any()
    by_hand = table["type"][:, 0] != KEY_GENERATED
    written = replace(written_bare(table), by_hand=by_hand if by_hand.any() else None)
    return replace(written, heights=_heights(table)) if is_any_smooth else written


def written_bare(table: BareTable) -> Written:
    """Record of straight keys that are about to be written: their handles do not matter."""
    return Written(table["co"][:, 0], table["co"][:, 1], NOTHING_WRITTEN.heights)


def _heights(table: KeyTable) -> Array:
    """`(K, 2)` heights of the handles above their keys; NaN for handles that Blender computes."""
    sides = []
    # Half precision ends at 65504: a greater height is infinite, now and when it is compared.
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


def with_played(kept: Kept | None, table: KeyTable, played: KeyTable, value: Any) -> tuple[Kept, KeyTable]:
    """Record of a channel, and its keys `table`, with keys of what was played there without any, as if an earlier run wrote them.

    So they are what a task starts from that runs again, and go with the last of the keys that they were written for.
    """
    new = some_keys(played, ~are_among(played["co"][:, 0], table["co"][:, 0]))
    kept = kept or Kept(PLAYED, (), "", value, (Layer((), NO_KEYS, NO_KEYS),), NOTHING_WRITTEN)
    tasks = tuple(dict.fromkeys((*kept.tasks, PLAYED)))
    return replace(kept, tasks=tasks, written=joined(kept.written, as_earlier(written_keys(new)))), united(table, new)


def noted(kept: Kept | None, table: KeyTable, writing: Writing) -> Kept:
    """Updated record of a channel with the present keys `table`, for keys about to be written.

    Keys made by runs never count as a person's; of a person's keys at one frame the latest counts.
    """
    if kept is None:
        origin = writing.task, (writing.task,), writing.limb, writing.value
        if not len(table["co"]):  # shortcut for most limbs that are baked for the first time
            return Kept(*origin, (Layer(tuple(sorted(set(writing.spans))), NO_KEYS, NO_KEYS),), writing.written)
        kept = Kept(*origin, (Layer((), NO_KEYS, NO_KEYS),), NOTHING_WRITTEN)
    last = kept.beginning
    tasks = tuple(dict.fromkeys((*kept.tasks, writing.task)))
    was_empty = not (len(kept.written.frames) or len(last.keys["co"]) or len(last.beside["co"]))
    if was_empty and kept.task == writing.task and writing.is_again and len(kept.layers) == 1 and not len(table["co"]):
        layer = replace(last, spans=tuple(sorted({*last.spans, *writing.spans})))
        return replace(kept, tasks=tasks, limb=writing.limb, layers=(layer,), written=writing.written)
    inside, nearest = _touched(table["co"][:, 0], writing.spans)
    foreign = ~are_own(kept.written, table)
    foreign_or_edited = foreign | ~as_written(kept.written, table)
    # Keys of earlier tasks, which are there again where this task starts over, are what it replaces.
    rows, known = rows_at(kept.written.frames, table["co"][:, 0])
    before_task = foreign_or_edited | (known & ~kept.written.own[rows] if known.any() else known)
    replaced, bottom = inside & foreign, kept.layers[0]
    if known.any() and PLAYED in tasks and len(tasks) == 2:  # noqa: PLR2004 - see `is_beside_played`
        # What was keyed for what is played there is needed again where this range alone is cleared.
        is_played = (inside | are_among(table["co"][:, 0], writing.written.frames)) & known & ~kept.written.own[rows] & ~foreign
        replaced |= is_played
        played = joined(bottom.written or NOTHING_WRITTEN, written_bare(some_keys(table, is_played)))
        bottom = replace(bottom, written=played)
    first = _extended(bottom, writing.spans, some_keys(table, replaced), some_keys(table, nearest & foreign))
    starts, ends = np.array(writing.spans, dtype=float).reshape(-1, 2, 1).swapaxes(0, 1)
    overlaps = any(bool(np.any((starts <= end) & (ends >= start))) for start, end in last.spans)
    frames = kept.written.frames
    is_gone = are_within_any(frames, writing.spans) | are_among(frames, writing.written.frames)
    before, gone = kept.written.some(~is_gone), kept.written.some(is_gone)
    if kept.task != writing.task or (overlaps and not writing.is_again):
        before = replace(before, earlier=np.ones(len(before.frames), dtype=bool))
        layers: tuple[Layer, ...] = (first, Layer(writing.spans, some_keys(table, inside), some_keys(table, nearest), gone))
    elif len(kept.layers) > 1 or np.any(inside & before_task & ~foreign):
        before_run = (some_keys(table, where & before_task) for where in (inside, nearest))
        more = joined(last.written or NOTHING_WRITTEN, gone.some(~gone.own))
        layers = (first, replace(_extended(last, writing.spans, *before_run), written=more))
    else:
        layers = (first,)
    return replace(
        kept,
        task=writing.task,
        tasks=tasks,
        limb=writing.limb,
        layers=layers,
        written=joined(before, writing.written),
    )


def _extended(layer: Layer, spans: tuple[Span, ...], inside: KeyTable, nearest: KeyTable) -> Layer:
    """The layer with more spans and keys: of keys at one frame the new one wins within, the old one beside the spans."""
    keys = united(inside, layer.keys)
    beside = united(layer.beside, nearest)
    if len(beside["co"]):
        beside = some_keys(beside, ~are_among(beside["co"][:, 0], keys["co"][:, 0]))
    return Layer(tuple(sorted({*layer.spans, *spans})), keys, beside, layer.written)


def joined(first: Written, second: Written) -> Written:
    """The keys of both records by frame."""
    if len(first.frames) == 0:
        return second
    if len(second.frames) == 0:
        return first
    heights = [
        written.heights if len(written.heights) else np.full((len(written.frames), 2), np.nan, np.float16)
        for written in (first, second)
    ]
    has_heights = len(first.heights) or len(second.heights)
    frames = np.concatenate([first.frames, second.frames])
    order = np.argsort(frames, kind="stable")
    earlier = np.concatenate([~first.own, ~second.own])[order]
    by_hand = np.concatenate([first.types, second.types])[order] != KEY_GENERATED
    return Written(
        frames[order],
        np.concatenate([first.values, second.values])[order],
        np.concatenate(heights)[order] if has_heights else NOTHING_WRITTEN.heights,
        earlier if earlier.any() else None,
        by_hand if by_hand.any() else None,
    )


def as_earlier(written: Written | None) -> Written:
    """A record as of keys that other tasks wrote before the last one."""
    return NOTHING_WRITTEN if written is None else replace(written, earlier=np.ones(len(written.frames), dtype=bool))


def _touched(frames: Array, spans: Sequence[Span]) -> tuple[Mask, Mask]:
    """Masks `(K,)` of keys within a span, and of the nearest ones around where it is held, one frame beside it."""
    inside, nearest = are_within_any(frames, spans), np.zeros(len(frames), dtype=bool)
    edges = np.array(spans, dtype=float).reshape(-1, 2) + np.array([-NEAR_FRAME - 1.0, NEAR_FRAME + 1.0])
    for first, last in np.searchsorted(frames, edges).tolist():
        nearest[max(first - 1, 0) : last + 1] = True
    return inside, nearest & ~inside


def covers(outer: Span, inner: Span) -> bool:
    """Whether a span lies within another, up to `NEAR_FRAME`."""
    return inner[0] >= outer[0] - NEAR_FRAME and inner[1] <= outer[1] + NEAR_FRAME


def _outside(spans: Iterable[Span], start: float, end: float) -> tuple[Span, ...]:
    """The parts of the spans before `start` and after `end`."""
    sides = [side for first, last in spans for side in ((first, min(last, start - APART)), (max(first, end + APART), last))]
    return tuple((first, last) for first, last in sides if first <= last)


def are_own(written: Written, table: KeyTable) -> Mask:
    """Mask `(K,)` of keys that runs have written, edited or not; keys that somebody has set anew or marked are theirs.

    Keys that were moved in time are recognised by their values, which still follow each other as written.
    """
    rows, is_there = rows_at(written.frames, table["co"][:, 0])
    if not len(written.frames):
        return is_there
    is_marked = table["type"][:, 0] == KEY_GENERATED
    if np.any(is_marked & ~is_there) and _follow(written.values, table["co"][is_marked, 1]):
        return is_marked
    by_hand = written.types[rows] == KEY_PLAIN
    return is_there & np.where(by_hand, (table["type"][:, 0] == KEY_PLAIN) & as_written(written, table), is_marked)


def _follow(values: Array, some: Array) -> bool:
    """Whether `some` values are among the `values`, in the same order."""
    if len(some) == len(values):
        return np.array_equal(some, values)
    # `in` consumes what it passes, so each value is looked for after the one before.
    rest = iter(values.tolist())
    return all(value in rest for value in some.tolist())


def rows_at(frames: Array, sought: Array) -> tuple[Array, Mask]:
    """For each of `sought` `(M,)` the row of that frame among ascending `frames` `(K,)`, and whether it is there."""
    rows = np.searchsorted(frames, sought - NEAR_FRAME)
    rows = np.minimum(rows, max(len(frames) - 1, 0))
    is_there = np.abs(frames[rows] - sought) <= NEAR_FRAME if len(frames) else np.zeros(len(sought), dtype=bool)
    return rows, is_there


def are_among(sought: Array, frames: Array) -> Mask:
    """Mask `(M,)` of `sought` that are among ascending `frames`."""
    return rows_at(frames, sought)[1]


def as_written(written: Written, table: KeyTable) -> Mask:
    """Mask `(K,)` of keys that are as a run wrote them: value, and heights of the handles where these matter."""
    rows, is_there = rows_at(written.frames, table["co"][:, 0])
    if not len(written.frames):
        return is_there
    same = is_there & (written.values[rows] == table["co"][:, 1])
    if len(written.heights):
        now, then = _heights(table).astype(float), written.heights[rows].astype(float)
        is_same = np.isnan(then) | (now == then) | (np.abs(now - then) <= LEAST_HEIGHT + SAME_HEIGHT * np.abs(then))
        same &= np.all(is_same, axis=-1)
    return same


def is_untouched(kept: Kept, table: KeyTable) -> bool:
    """Whether the keys within the last task's spans are exactly those that it wrote."""
    if kept.is_all(table, -math.inf, math.inf):
        return True
    spans = kept.beginning.spans
    now = some_keys(table, are_within_any(table["co"][:, 0], spans))
    count = int(np.count_nonzero(are_within_any(kept.written.frames, spans)))
    return len(now["co"]) == count and bool(np.all(as_written(kept.written, now) & are_own(kept.written, now)))


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
    to_beginning = to_beginning and not kept.is_whole(start, end)
    layer = kept.beginning if to_beginning else kept.layers[0]
    frames = table["co"][:, 0]
    if layer is kept.beginning and kept.is_all(table, start, end):
        return GivenBack(NO_KEYS, len(frames), 0, None)
    covered = [span for span in layer.spans if covers((start, end), span)]
    near = are_within_any(frames, [(first - 1.0, last + 1.0) for first, last in covered]) & ~are_within_any(frames, layer.spans)
    rest = _outside(layer.spans, start, end)
    is_part = kept.is_beside_played and bool(rest)
    holding = kept.written.frames[kept.written.own] if to_beginning or is_part else kept.written.frames
    # A task writes no keys between its spans: generated ones there are an earlier bake's.
    in_layer = are_within_any(frames, layer.spans) if to_beginning else True
    removable = (are_within(frames, start, end) & in_layer) | (near & are_among(frames, holding))
    if not rest and not to_beginning:
        # With the last of them goes what was keyed beside them for what is played there, however far away.
        removable |= are_among(frames, kept.written.frames)
    if is_part:
        removable &= ~are_among(frames, kept.written.frames[~kept.written.own])
    baked = removable & are_own(kept.written, table)
    edited = baked & _are_edited(kept, table, baked)
    gone = baked & ~edited
    replaced = layer.keys["co"][:, 0]
    back = are_within(replaced, start, end)
    if kept.is_beside_played and layer.written is not None:
        is_played = are_among(replaced, layer.written.frames)
        beside = are_within_any(replaced, [(first - 1.0, last + 1.0) for first, last in covered])
        # With the last range goes what was keyed for what is played.
        back = (back | (is_played & beside)) if rest else back & ~is_played
    merged = united(some_keys(table, ~gone), some_keys(layer.keys, back))
    if not rest:
        merged = _with_handles(_with_handles(merged, layer.beside), some_keys(layer.keys, back))
    left = None
    if edited.any():
        # The edited keys count as written by an unknown run, so that clearing again removes them as well.
        still = ~back | are_among(layer.keys["co"][:, 0], frames[edited])
        layer_left = replace(layer, keys=some_keys(layer.keys, still))
        task = FOUND if kept.task == FOUND else ""
        left = replace(kept, task=task, layers=(layer_left,), written=written_keys(some_keys(table, edited)))
    elif rest:
        of_played = layer.written if is_part else None
        stays = ~are_within(kept.written.frames, start, end)
        written = kept.written.some(stays | ~kept.written.own if is_part else stays)
        if of_played is not None:
            again = are_among(of_played.frames, replaced[back])
            written = written.some(~are_among(written.frames, of_played.frames[again]))
            written, of_played = joined(written, as_earlier(of_played.some(again))), of_played.some(~again)
        layer_left = Layer(rest, some_keys(layer.keys, ~back), layer.beside, of_played)
        left = replace(kept, layers=(layer_left,), written=written)
    return GivenBack(merged, int(gone.sum()), int(edited.sum()), left)


def keys_before(kept: Kept, table: KeyTable, *, to_beginning: bool) -> KeyTable:
    """Keys of a channel as they were before any run, or before the last task `to_beginning`, whether edited since or not."""
    layer, frames = kept.beginning if to_beginning else kept.layers[0], table["co"][:, 0]
    written = kept.written.frames[kept.written.own] if to_beginning else kept.written.frames
    rest = some_keys(table, ~(are_within_any(frames, layer.spans) | are_among(frames, written)))
    return _with_handles(_with_handles(united(rest, layer.keys), layer.beside), layer.keys)


def _are_edited(kept: Kept, table: KeyTable, baked: Mask) -> Mask:
    """Mask `(K,)` of written keys whose value or handle height was edited; none where the `baked` ones were moved in time."""
    known = are_among(table["co"][:, 0], kept.written.frames)
    if not len(kept.written.frames) or np.any(baked & ~known):
        return np.zeros(len(known), dtype=bool)
    return known & ~as_written(kept.written, table)


def _with_handles(table: KeyTable, beside: KeyTable) -> KeyTable:
    """The keys, with the handles of those in `beside` that have the same frame and value."""
    rows, is_there = rows_at(table["co"][:, 0], beside["co"][:, 0])
    same = np.flatnonzero(is_there)
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
    merged = joined_keys(first, some_keys(second, ~are_among(second["co"][:, 0], first["co"][:, 0])))
    return some_keys(merged, np.argsort(merged["co"][:, 0], kind="stable"))
