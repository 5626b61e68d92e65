"""Keep what is played beside the keys of a change: modifiers, extrapolation, and NLA tracks below the action.

A curve plays more than its keys. New keys beside the old ones end a line that its extrapolation draws, and stretch the cycle that
a Cycles modifier repeats; the first key of a channel that only strips animate holds it at all frames. So before anything is
written, whatever a change would take over like that is keyed as it is played now: over the scene's range, to the end of a cycle
or of the strips. Where keys are for all of a motion, what holds still beside them holds as they leave it. A strip of its own
(destination NLA) takes nothing over.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..core.array_types import Array
from ..core.curves.frames import NEAR_FRAME, merge_frames
from ..errors import WriteError
from ..records import replace
from ..said import INFO, Sentence
from ..scene.actions import key_span
from ..scene.blender_types import Channel, FCurve, NlaTrack, Object, Property, Scene
from ..scene.keys.reading import curve_values, read_frames
from ..scene.keys.replaced import NUDGED, Span, united
from ..scene.keys.tables import (
    INTERPOLATION,
    NO_KEYS,
    ChannelKeys,
    KeyTable,
    StraightKeys,
    are_within_any,
    new_keys,
    read_keys,
    some_keys,
)
from ..scene.keys.writing import Change
from ..scene.lookup import bone_in, datablock_named, resolved
from ..scene.sampling.evaluate import values_over
from ..scene.sampling.quantities import Quantity
from ..scene.versions import curve_bag, strip_curves, strips_in
from ..scene.writer import tracks_of
from .story import Sample, Story, Write

MOST_FRAMES = 20_000
"""Frames of one channel that are keyed for what is played beside a change; with more, nobody could edit the curve."""

KEYS_OF_LINE = 2
"""Number of keys at an end of a curve that decide the line by which it is extrapolated."""

CYCLES, LINE, HELD, TRACKS = "CYCLES", "LINE", "HELD", "TRACKS"
"""What plays a channel beside its keys: a Cycles modifier, extrapolation, linear or constant, or tracks below the action."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """A channel whose motion beside the new keys does not come from keys of its own."""

    owner: Object
    channel: Channel
    spans: tuple[Span, ...]
    """Ranges that get new keys."""
    source: str
    """`CYCLES`, `LINE`, `HELD` or `TRACKS`."""
    frames: Array
    """`(F,)` frames at which it is keyed as it is played, also inside the spans: what a later run starts from."""
    track: str = ""
    """Name of the uppermost track that plays it."""
    own: Span = (0.0, 0.0)
    """Frames of the first and the last key of its own curve, which is its cycle where it repeats."""

    @property
    def animated(self) -> Property:
        """Its property, with the number of the component of one that has several."""
        path, index = self.channel
        has_components = hasattr(resolved(self.owner, path), "__len__") and not isinstance(resolved(self.owner, path), str)
        return Property(self.owner, f"{path}[{index}]" if has_components else path)

    @property
    def beside(self) -> Array:
        """`(K,)` its frames outside the spans."""
        return self.frames[~are_within_any(self.frames, self.spans)]


@dataclass(frozen=True, slots=True)
class Kept:
    """What is to be written, with keys that keep what is played beside it."""

    write: Write
    said: Sequence[Sentence] = ()
    """Sentences that say what was keyed for that."""
    taken: Sequence[TakenOver] = ()
    """What was keyed for that."""


def keeping_played(scene: Scene, write: Write, options: Collection[str]) -> Story[Kept]:
    """What is to be written, with keys that keep what is played beside it.

    options : names of the task's settings, of which a refusal names those that help

    Raises `WriteError` where that would take too many keys.
    """
    changes = list(write.changes or ())
    found = list(_taken_over(scene, changes))
    if not found:
        return Kept(write)
    taken = [kept for kept in found if len(kept.beside)]
    again = _repeated([kept for kept in found if kept.source == CYCLES and not len(kept.beside)])
    _refuse_too_long(scene, taken, options)
    values = yield from _played_values(scene, taken)
    tables = {(kept.owner, kept.channel): _table(kept, played) for kept, played in zip(taken, values, strict=True)}
    spans = {(kept.owner, kept.channel): kept.spans for kept in taken}
    kept_changes, noted = [], set[tuple[Object, Channel]]()
    for change in changes:
        owner = datablock_named(change.owner)
        keys = []
        for entry in change.keys:
            place = (owner, entry.channel)
            if change.destination == "NLA" or place not in tables:
                keys.append(entry)
                continue
            keys.append(_with_played(owner, entry, tables[place], spans[place], is_first=place not in noted))
        noted |= {(owner, entry.channel) for entry in change.keys}
        kept_changes.append(replace(change, keys=keys))
    return Kept(replace(write, changes=kept_changes), [*_sentences(taken), *again], taken) if taken else Kept(write, again)


@dataclass(slots=True)
class _Keyed:
    """What a run keys of one channel."""

    spans: list[Span] = field(default_factory=list)
    """Ranges that get keys."""
    meant: list[Span] = field(default_factory=list)
    """Ranges that were asked for: over a whole cycle every repeat is meant, also where only some of its frames get keys."""
    in_pieces: bool = False
    is_part: bool = False
    """Whether the keys are for a part of the motion, of a task that has no setting to hold the curve beside them."""


def _keyed_channels(changes: Sequence[Change]) -> dict[tuple[Object, Channel], _Keyed]:
    """The channels of which anything but the new keys may be played."""
    channels: dict[tuple[Object, Channel], _Keyed] = {}
    for change in changes:
        owner = datablock_named(change.owner)
        if change.destination == "NLA" or change.repeats or not _plays(owner):
            continue
        for entry in change.keys:
            span = (float(entry.frames[0]), float(entry.frames[-1])) if change.in_pieces else change.within
            keyed = channels.setdefault((owner, entry.channel), _Keyed())
            keyed.spans.append(span)
            keyed.meant.append(span if change.task == NUDGED else change.within)  # A nudge may be of one repeat.
            keyed.in_pieces |= change.in_pieces
            keyed.is_part |= change.in_pieces and not change.is_whole
    return channels


def _taken_over(scene: Scene, changes: Sequence[Change]) -> Iterator[TakenOver]:
    motions = dict[Object, Span]()
    for (owner, channel), keyed in _keyed_channels(changes).items():
        bag, spans = curve_bag(owner), tuple(keyed.spans)
        fcurve = bag.fcurves.find(channel.path, index=channel.array_index) if bag is not None else None
        shown = shown_frames(scene, spans)
        if fcurve is not None and len(fcurve.keyframe_points):
            source, frames = _own_reach(fcurve, spans, keyed.meant, shown)
            if not source and keyed.in_pieces:
                if owner not in motions:
                    motions[owner] = _motion_of(scene, owner)
                source, frames = _held_reach(scene, keyed, motions[owner])
            if source:
                own = read_frames(fcurve)[[0, -1]]
                frames = frames[(frames < own[0] - NEAR_FRAME) | (frames > own[1] + NEAR_FRAME)]
                yield TakenOver(owner, channel, spans, source, frames, own=(float(own[0]), float(own[1])))
            continue
        tracks = [track for track in _playing_tracks(owner) if any(True for _ in _strips_at(track, channel.path))]
        if tracks:
            strips = [strip for track in tracks for strip in _strips_at(track, channel.path)]
            first = min(shown[0], *(strip.frame_start for strip in strips))
            last = max(shown[1], *(strip.frame_end for strip in strips))
            yield TakenOver(owner, channel, spans, TRACKS, _whole(first, last), tracks[-1].name)


def _held_reach(scene: Scene, keyed: _Keyed, motion: Span) -> tuple[str, Array]:
    """Frames at which a curve is held beside the new keys where these have no setting for it: where it is seen, or goes on.

    motion : see `_motion_of`
    """
    is_held = np.array([motion[0] < scene.frame_start, motion[1] > scene.frame_end]) | keyed.is_part
    frames = np.array([min(first for first, _ in keyed.spans) - 1.0, max(last for _, last in keyed.spans) + 1.0])
    frames = frames[is_held & (frames >= motion[0]) & (frames <= motion[1])]
    return (HELD, frames) if len(frames) else ("", frames)


def _motion_of(scene: Scene, owner: Object) -> Span:
    """The scene's range, and all frames between the first and the last key of a datablock's action."""
    action = owner.animation_data.action
    first, last = (action and key_span(action)) or (scene.frame_start, scene.frame_end)
    return min(float(scene.frame_start), first), max(float(scene.frame_end), last)


def _plays(owner: Object) -> bool:
    """Whether anything has keys or strips for a datablock."""
    data = owner.animation_data
    return data is not None and (data.action is not None or bool(_playing_tracks(owner)))


def shown_frames(scene: Scene, spans: Sequence[Span]) -> Span:
    """First and last frame that are looked at: of the scene, of its preview, and beside the new keys."""
    firsts, lasts = [first - 1.0 for first, _ in spans], [last + 1.0 for _, last in spans]
    ranges = [(scene.frame_start, scene.frame_end)]
    if scene.use_preview_range:
        ranges.append((scene.frame_preview_start, scene.frame_preview_end))
    return float(min([*firsts, *(first for first, _ in ranges)])), float(max([*lasts, *(last for _, last in ranges)]))


def _whole(first: float, last: float) -> Array:
    """Both frames, and the whole ones between them."""
    return merge_frames(np.array([first, last]), np.arange(math.ceil(first), math.floor(last) + 1.0))


def _cycles(fcurve: FCurve) -> list[Object]:
    return [modifier for modifier in fcurve.modifiers if modifier.type == "CYCLES" and not modifier.mute]


def has_cycles(fcurve: FCurve) -> bool:
    """Whether a Cycles modifier repeats a curve's keys."""
    return bool(_cycles(fcurve))


def _own_reach(fcurve: FCurve, spans: Sequence[Span], meant: Sequence[Span], shown: Span) -> tuple[str, Array]:
    """What plays a curve beside its keys, empty if these are all, and the frames at which it is to be keyed.

    meant : ranges that were asked for, of which the spans may be parts
    """
    first, last = (float(frame) for frame in read_frames(fcurve)[[0, -1]])
    period = last - first
    cycles = _cycles(fcurve)
    if cycles and period > NEAR_FRAME:
        start, end = min(start for start, _ in meant), max(end for _, end in meant)
        turns = (end - start) / period
        if start <= first + NEAR_FRAME and end >= last - NEAR_FRAME and abs(turns - round(turns)) * period <= 2.0 * NEAR_FRAME:
            return "", np.empty(0)  # The cycle itself is keyed anew, and repeats as before.
        # At whole cycles the modifier goes on where the keys end.
        before = max(0, math.ceil((first - shown[0]) / period - NEAR_FRAME)) if cycles[0].mode_before != "NONE" else 0
        after = max(0, math.ceil((shown[1] - last) / period - NEAR_FRAME)) if cycles[0].mode_after != "NONE" else 0
        return CYCLES, _whole(first - before * period, last + after * period)
    if fcurve.extrapolation == "LINEAR":
        # The line goes on from the last two keys: where both stay, it stays.
        frames, start, end = read_frames(fcurve), min(start for start, _ in spans), max(end for _, end in spans)
        stays_before = np.count_nonzero(frames < start - NEAR_FRAME) >= KEYS_OF_LINE
        stays_after = np.count_nonzero(frames > end + NEAR_FRAME) >= KEYS_OF_LINE
        if not (stays_before and stays_after):
            return LINE, _whole(first if stays_before else min(first, shown[0]), last if stays_after else max(last, shown[1]))
    return "", np.empty(0)


def _playing_tracks(owner: Object) -> list[NlaTrack]:
    """The tracks that play below the action, lowest first."""
    data = owner.animation_data
    return [track for track in tracks_of(data) if not track.mute] if data.use_nla else []


def _strips_at(track: NlaTrack, path: str) -> Iterator[Object]:
    """The strips of a track that animate the property at a data path."""
    for strip in track.strips:
        inside = strips_in([strip])
        if not strip.mute and any(curve.data_path == path for part in inside for curve in strip_curves(part)):
            yield strip


IN_STRIP, WHOLE_CYCLE, EACH_REPEAT = "IN_STRIP", "WHOLE_CYCLE", "EACH_REPEAT"
"""Kinds of refusals of too much that is played, for buttons and scripts: a strip of the keys' own helps, a whole cycle, or a
nudge that repeats."""


def _refuse_too_long(scene: Scene, taken: Sequence[TakenOver], options: Collection[str]) -> None:
    too_long = [kept for kept in taken if len(kept.beside) > MOST_FRAMES]
    if not too_long:
        return
    kept = too_long[0]
    # Either of both ends may be the farther one.
    shorter = Sentence("the scene's range or its preview range") if scene.use_preview_range else Sentence("the scene's range")
    what, remedy, kind, ends = Sentence("Linear extrapolation"), Sentence("Shorten {range}.", {"range": shorter}), "", {}
    if kept.source == TRACKS:
        track, length = _longest_track(kept)
        what = Sentence('NLA track "{track}"', {"track": track.name})
        # Beyond its strips a track holds still, and that is keyed as far as the scene goes.
        shorter = Sentence("that track's strips") if length > MOST_FRAMES else shorter
        helps = "Choose the destination NLA Strip, or shorten {range}." if "destination" in options else "Shorten {range}."
        remedy, kind = Sentence(helps, {"range": shorter}), IN_STRIP if "destination" in options else ""
    elif kept.source == CYCLES:
        what, cycle = Sentence("A Cycles modifier"), _common_cycle([other for other in taken if other.source == CYCLES])
        if "frame_range" in options and cycle is not None:
            kind, ends = WHOLE_CYCLE, {"first": cycle[0], "last": cycle[1]}
            helps = "Choose the frames of the cycle, {first:g} to {last:g}, so that all repeats change, or shorten {range}."
            remedy = Sentence(helps, {**ends, "range": shorter})
        elif "remove" in options:
            kind, helps = EACH_REPEAT, "Turn Loop on, so that the nudge shows in each repeat, or shorten {range}."
            remedy = Sentence(helps, {"range": shorter})
    values = {"what": what, "curve": f"{kept.channel.path}[{kept.channel.array_index}]", "count": len(kept.beside)}
    text = "{what} plays {curve} over {count:,} frames, which is too many to key. {remedy}"
    raise WriteError(Sentence(text, {**values, **ends, "remedy": remedy}, kind=kind))


def _longest_track(kept: TakenOver) -> tuple[NlaTrack, float]:
    """The track that plays a channel over most frames, and their number."""
    lengths = []
    for track in _playing_tracks(kept.owner):
        ends = [end for strip in _strips_at(track, kept.channel.path) for end in (strip.frame_start, strip.frame_end)]
        lengths.append((track, float(max(ends) - min(ends)) if ends else 0.0))
    return max(lengths, key=lambda entry: entry[1])


def _common_cycle(cycling: Sequence[TakenOver]) -> Span | None:
    """The shortest range in which each of these cycles fits as a whole, several times where they differ in length.

    `None` where there is none that could be keyed, such as for lengths that are no whole frames.
    """
    periods = {kept.own[1] - kept.own[0] for kept in cycling}
    start, end = min(kept.own[0] for kept in cycling), max(kept.own[1] for kept in cycling)
    (once, *others) = sorted(periods)
    if others and any(abs(period - round(period)) > NEAR_FRAME for period in periods):
        return None
    whole = math.lcm(*(round(period) for period in periods)) if others else once
    last = start + whole * max(1, math.ceil((end - start) / whole - NEAR_FRAME))
    return (start, last) if last - start <= MOST_FRAMES else None


def _played_values(scene: Scene, taken: Sequence[TakenOver]) -> Story[list[Array]]:
    """Values `(F,)` of each channel at its frames, as they are played now."""
    sampled = [kept for kept in taken if kept.source == TRACKS and kept.owner.id_type == "OBJECT"]
    samples = None
    if sampled:
        quantities = [_quantity(kept) for kept in sampled]
        samples = yield Sample(quantities, np.unique(np.concatenate([kept.frames for kept in sampled])), "PROBES")
    values = []
    for kept in taken:
        bag = curve_bag(kept.owner) if kept.source != TRACKS else None
        if bag is not None:
            fcurve = bag.fcurves.find(kept.channel.path, index=kept.channel.array_index)
            values.append(curve_values(fcurve, kept.frames))
        elif samples is not None and kept.owner.id_type == "OBJECT":
            values.append(samples.on(kept.frames).every(_quantity(kept)))
        else:
            values.append(values_over(scene, [kept.animated], kept.frames)[0])
    return values


def _quantity(kept: TakenOver) -> Quantity:
    return Quantity("VALUE", kept.owner.name, path=kept.animated.path)


def _table(kept: TakenOver, values: Array) -> KeyTable:
    """Keys of a channel at its frames, straight from one to the next; of switches and choices constant."""
    owner, path = kept.animated
    is_number = isinstance(resolved(owner, path), float)
    return new_keys(kept.frames, values, INTERPOLATION["LINEAR" if is_number else "CONSTANT"])


def _with_played(owner: Object, entry: ChannelKeys, played: KeyTable, spans: Sequence[Span], *, is_first: bool) -> ChannelKeys:
    """New keys of a channel with those that keep what is played beside all of its spans."""
    outside = entry.outside
    if outside is None and is_first:
        bag = curve_bag(owner)
        fcurve = bag.fcurves.find(entry.path, index=entry.index) if bag is not None else None
        outside = NO_KEYS if fcurve is None else read_keys(fcurve)
    if outside is not None:
        outside = united(some_keys(played, ~are_within_any(played["co"][:, 0], spans)), outside)
    # One call each, since the two kinds of keys have fields of their own.
    noted = played if is_first else None
    if isinstance(entry, StraightKeys):
        return replace(entry, outside=outside, played=noted)
    return replace(entry, outside=outside, played=noted)


def _sentences(taken: Sequence[TakenOver]) -> list[Sentence]:
    """What was keyed for what is played, once for each source and object."""
    texts = {
        CYCLES: "The cycle of {names} was keyed from frame {first:g} to {last:g}, so nothing changes outside the new keys there. "
        "Farther away its Cycles modifier repeats all of that.",
        LINE: "The linear extrapolation of {names} was keyed from frame {first:g} to {last:g}, so nothing changes outside the "
        "new keys.",
        TRACKS: 'NLA track "{track}" plays below {names}. Its motion was keyed from frame {first:g} to {last:g}, so nothing '
        "changes outside the new keys.",
    }
    said = []
    for source, owner, track in dict.fromkeys((kept.source, kept.owner, kept.track) for kept in taken if kept.source in texts):
        same = [kept for kept in taken if (kept.source, kept.owner, kept.track) == (source, owner, track)]
        values = {
            "names": _names(owner, (kept.channel.path for kept in same)),
            "first": min(float(kept.frames[0]) for kept in same),
            "last": max(float(kept.frames[-1]) for kept in same),
        }
        said.append(Sentence(texts[source], values | ({"track": track} if track else {}), level=INFO))
    return said


def _repeated(within: Sequence[TakenOver]) -> list[Sentence]:
    """What becomes of the keys on a part of a cycle beyond the frames that are looked at, once for each object and cycle."""
    text = "The Cycles modifier of {names} repeats the new keys before and after its cycle, frames {first:g} to {last:g}."
    ends = [(kept.owner, kept.own) for kept in within]
    said = []
    for place in dict.fromkeys(ends):
        paths = [kept.channel.path for kept, known in zip(within, ends, strict=True) if known == place]
        owner, (first, last) = place
        said.append(Sentence(text, {"names": _names(owner, paths), "first": first, "last": last}, level=INFO))
    return said


def _names(owner: Object, paths: Iterable[str]) -> str:
    """Names of what the data paths move, in quotes: bones, or the object."""
    names = dict.fromkeys(bone_in(path) or owner.name for path in paths)
    return ", ".join(f'"{name}"' for name in names)
