"""Prove that nothing outside changes: what a run may visibly move is looked at beside its keys, before and after writing.

A new key changes a channel up to the next key that stays, and a strip between its ends. Beside that everything must be where it
was, however it is played: on either side, to the end of what is played. It takes a few frames, since what changes there by
mistake does so over many.

Where only keys are written, and curves are all that plays, with their modifiers and their extrapolation, what is seen is what the
curves of the touched bones and objects say, which costs next to nothing. Where these differ afterwards, Blender evaluates what is
seen and what was, to say how far that is. Where strips or a constraint's mute have a say, it evaluates in any case, before and
after, all bones that show something of what is touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..core.array_types import Array, Mask
from ..core.arrays import magnitude
from ..core.curves.frames import NEAR_FRAME
from ..records import replace
from ..said import Sentence, note
from ..scene.actions import played_instead
from ..scene.blender_types import Channel, FCurve, Object, Scene
from ..scene.keys.reading import curve_values, read_frames
from ..scene.keys.replaced import Span
from ..scene.keys.tables import ChannelKeys, are_within_any
from ..scene.keys.writing import Change
from ..scene.lookup import bone_in, datablock_named
from ..scene.sampling.evaluate import Verified
from ..scene.sampling.quantities import Quantity, Samples
from ..scene.sampling.stepping import at_once
from ..scene.versions import curve_bag
from .motion.sampling import sample_steps
from .played import TRACKS, TakenOver, has_cycles, shown_frames
from .proof import seen_below
from .report.reports import MovedOutside
from .report.units import Units
from .story import Sample, Story, Write

ELSEWHERE = 1e-3
"""Distance, relative to the size of what moves, from which on something is seen in another place."""

FEW_LOOKS, MOST_LOOKS = 8, 24
"""Frames outside the new keys at which what is seen is compared; the greater number where what is played there gets keys."""

OTHERWISE = 1e-4
"""Difference of a curve's value, relative to its size, from which on it plays something else; single precision leaves less."""

EVERYWHERE = (-np.inf, np.inf)


Values: TypeAlias = Mapping[tuple[Object, Channel], Array]
"""What curves play at the frames `(F,)` of a look."""


@dataclass(frozen=True, slots=True)
class SeenOutside:
    """What is seen of all that a run may move, at some frames outside its keys, before these are written."""

    frames: Array
    """`(F,)`"""
    values: Values
    """What the curves of all that is touched play."""
    look: Sample
    """What Blender is to evaluate: of all that is touched; nothing where curves tell all."""
    before: Samples | None = None

    def changes(self, scene: Scene, action: str) -> Story[MovedOutside | None]:
        """What is somewhere else now, of all the most, with its frames; `None` where nothing is."""
        if self.before is not None:
            moved = _moved(self.look.quantities, self.before, (yield self.look), action)
            if moved is not None:
                return moved
        differ = dict(self._differing())
        if not differ:
            return None
        if self.before is None:
            moved = yield from self._moved_by(scene, differ, action)
            if moved is not None:
                return moved
        (owner, channel), rows = next(iter(differ.items()))
        at = self.frames[rows]
        return MovedOutside(bone_in(channel.path) or owner.name, action, None, float(at[0]), float(at[-1]))

    def _differing(self) -> Iterator[tuple[tuple[Object, Channel], Mask]]:
        """The curves that play something else now, or are gone, each with a mask `(F,)` of the frames."""
        for (owner, channel), before in self.values.items():
            bag = curve_bag(owner)
            fcurve = bag.fcurves.find(channel.path, index=channel.array_index) if bag is not None else None
            if fcurve is None:
                yield (owner, channel), np.ones(len(self.frames), dtype=bool)
                continue
            size = max(_size_of_values(owner, channel), float(np.abs(before).max()))
            differ = np.abs(curve_values(fcurve, self.frames) - before) > OTHERWISE * size
            if differ.any():
                yield (owner, channel), differ

    def _moved_by(self, scene: Scene, differ: Mapping[tuple[Object, Channel], Mask], action: str) -> Story[MovedOutside | None]:
        """What these curves have moved, measured at the frames at which they differ."""
        rows = np.logical_or.reduce(list(differ.values()))
        touched: dict[Object, set[str]] = {}
        for owner, channel in differ:
            touched.setdefault(owner, set()).add(bone_in(channel.path))
        quantities = _shown_of(touched)
        if not quantities or any(curve_bag(owner) is None for owner in touched):
            return None
        look = replace(self.look, quantities=quantities, frames=self.frames[rows])
        after = yield look
        # Nobody else is to see what is played in between, so this is not left to others.
        with played_instead(scene, {place: self.values[place][rows] for place in differ}, look.frames):
            before = at_once(sample_steps(scene, quantities, look.frames, evaluation=look.evaluation, verified=look.verified))
        return _moved(quantities, before, after, action)


def said_moved(moved: MovedOutside, units: Units) -> Sentence:
    """A warning about what moved outside the new keys."""
    values: dict[str, str | float] = {"name": moved.name, "first": moved.frame_start, "last": moved.frame_end}
    text = 'Outside the new keys "{name}" moves otherwise than before, from frame {first:g} to {last:g}.'
    if moved.max_moved_outside is not None:
        text = 'Outside the new keys "{name}" is up to {distance} from where it was, from frame {first:g} to {last:g}.'
        values["distance"] = units.text(moved.max_moved_outside)
    return replace(note(text, **values), frames=((moved.frame_start, moved.frame_end),))


def _moved(quantities: Sequence[Quantity], before: Samples, after: Samples, action: str) -> MovedOutside | None:
    """What has moved most, relative to its size; `None` where nothing has moved."""
    worst: tuple[float, str, Array] | None = None
    for quantity in quantities:
        size = _size_of(quantity, before)
        points = np.vstack([np.zeros(3), size * np.eye(3)])
        moved = magnitude(_carried(after, quantity, points) - _carried(before, quantity, points)).max(axis=-1)
        if moved.max() > ELSEWHERE * size and (worst is None or moved.max() / size > worst[0]):
            worst = float(moved.max() / size), quantity.bone or quantity.object, moved
    if worst is None:
        return None
    share, name, moved = worst
    at = after.frames[moved > ELSEWHERE * moved.max() / share]
    return MovedOutside(name, action, float(moved.max()), float(at[0]), float(at[-1]))


def _carried(samples: Samples, quantity: Quantity, points: Array) -> Array:
    """World places `(F, P, 3)` of points that something carries along."""
    matrices = samples.every(quantity)
    return points @ np.swapaxes(matrices[:, :3, :3], 1, 2) + matrices[:, None, :3, 3]


def _size_of(quantity: Quantity, samples: Samples) -> float:
    """Length of a bone; of an object, the extent of its motion, and at least a unit."""
    if quantity.bone:
        return max(float(datablock_named(quantity.object).data.bones[quantity.bone].length), 1e-9)
    return max(1.0, float(np.ptp(samples.every(quantity)[:, :3, 3], axis=0).max()))


def seen_outside(
    scene: Scene, write: Write, taken: Sequence[TakenOver], *, in_scene: bool, verified: Verified | None
) -> Story[SeenOutside | None]:
    """What is seen outside the keys that are about to be written, of all that these may move; `None` without such frames.

    taken : what is played beside the keys and gets keys
    in_scene : whether something that is looked at reads the user's own scene
    verified : reduced rigs that were compared before
    """
    frames = _frames_to_look_at(scene, write.changes, taken)
    if not len(frames):
        return None
    touched = _touched(write)
    values = {
        (owner, Channel.of(fcurve)): curve_values(fcurve, frames)
        for owner, bones in touched.items()
        for fcurve in _curves_of(owner, bones)
    }
    is_below = any(kept.source == TRACKS for kept in taken)
    is_more_than_curves = is_below or write.paths() or any(change.destination == "NLA" or change.sets for change in write.changes)
    quantities = _shown_of(touched) if is_more_than_curves else []
    look = Sample(quantities, frames, "SCENE" if in_scene else "PROBES", verified=verified or Verified())
    return SeenOutside(frames, values, look, (yield look) if quantities else None)


def _size_of_values(owner: Object, channel: Channel) -> float:
    """What a difference of a channel's values is small against: of a bone's place its length, which also tiny rigs have."""
    if owner.id_type != "OBJECT" or not bone_in(channel.path) or not channel.path.endswith(".location"):
        return 1.0
    bone = owner.pose.bones.get(bone_in(channel.path)) if owner.pose is not None else None
    return 1.0 if bone is None else max(min(1.0, float(bone.length)), 1e-9)


def _touched(write: Write) -> dict[Object, set[str]]:
    """Names of the bones that a run writes anything of, by their armatures; an empty name for an object itself."""
    bones: dict[Object, set[str]] = {}
    for change in write.changes:
        paths = (*(entry.path for entry in change.keys), *change.sets)
        bones.setdefault(datablock_named(change.owner), set()).update(map(bone_in, paths))
    for owner, path in write.paths():
        bones.setdefault(owner, set()).add(bone_in(path))
    return bones


def _curves_of(owner: Object, bones: Collection[str]) -> Iterator[FCurve]:
    bag = curve_bag(owner)
    for fcurve in bag.fcurves if bag is not None else ():
        if bone_in(fcurve.data_path) in bones and not fcurve.sampled_points:
            yield fcurve


def _shown_of(touched: Mapping[Object, Collection[str]]) -> list[Quantity]:
    """All that shows something of what is touched: of bones those that are seen, and objects."""
    quantities: dict[Quantity, None] = {}
    for owner, names in touched.items():
        if owner.id_type != "OBJECT":
            continue
        known = [name for name in sorted(names) if owner.pose is not None and name in owner.pose.bones]
        nodes = seen_below(owner, known) if known else ((owner.name, ""),)
        quantities |= dict.fromkeys(Quantity("WORLD", *node) for node in nodes)
    return list(quantities)


def _frames_to_look_at(scene: Scene, changes: Sequence[Change], taken: Sequence[TakenOver]) -> Array:
    """Some whole frames at which nothing may change: those next to what may, and others to the end of what is played."""
    known = {(kept.owner, kept.channel): kept for kept in taken}
    parts = []
    for part in (part for change in changes for part in _changed_parts(change, known)):
        if part[1] == EVERYWHERE:
            return np.empty(0)
        parts.append(part)
    spans = list(dict.fromkeys(span for _, span in parts))
    if not spans:
        return np.empty(0)
    first, last = shown_frames(scene, [span for span in spans if np.isfinite(span).all()])
    keyed = np.concatenate([np.empty(0), *(frames for frames, _ in parts)])
    if len(keyed):
        first, last = min(first, float(keyed.min())), max(last, float(keyed.max()))
    frames = np.arange(np.ceil(first), np.floor(last) + 1.0)
    frames = frames[~are_within_any(frames, spans)]
    if not len(frames):
        return frames
    spread = np.linspace(0, len(frames) - 1, min(MOST_LOOKS if taken else FEW_LOOKS, len(frames))).round().astype(int)
    beside = np.flatnonzero(np.diff(frames) > 1.0)[: FEW_LOOKS // 2]
    return frames[np.unique([*spread, *beside, *(beside + 1)])]


def _frames_that_stay(entry: ChannelKeys, fcurve: FCurve | None) -> Array:
    if entry.outside is not None:
        return entry.outside["co"][:, 0]
    return read_frames(fcurve) if fcurve is not None else np.empty(0)


def _changed_parts(change: Change, taken: Mapping[tuple[Object, Channel], TakenOver]) -> Iterator[tuple[Array, Span]]:
    """For each channel of a change, its first and last key outside, and the frames between which it may change."""
    if change.destination == "NLA":
        yield np.empty(0), change.within
        return
    owner = datablock_named(change.owner)
    bag = curve_bag(owner)
    own_frames: dict[Channel, Array] = {}
    for entry in change.keys:
        fcurve = bag.fcurves.find(entry.path, index=entry.index) if bag is not None else None
        kept = taken.get((owner, entry.channel))
        if change.repeats or (kept is None and fcurve is not None and has_cycles(fcurve)):
            yield np.empty(0), EVERYWHERE  # The cycle itself is another one.
            continue
        first, last = (float(entry.frames[0]), float(entry.frames[-1])) if change.in_pieces else change.within
        if entry.channel not in own_frames or entry.outside is not None:
            own_frames[entry.channel] = _frames_that_stay(entry, fcurve)
        own = own_frames[entry.channel]
        before, after = own[own < first - NEAR_FRAME][-1:], own[own > last + NEAR_FRAME][:1]
        yield own[[0, -1]] if len(own) else own, (before[0] if len(before) else -np.inf, after[0] if len(after) else np.inf)
        if kept is not None and fcurve is not None and has_cycles(fcurve):  # Farther away it repeats what is keyed now.
            yield np.empty(0), (-np.inf, float(kept.frames[0]) - 1.0)
            yield np.empty(0), (float(kept.frames[-1]) + 1.0, np.inf)
