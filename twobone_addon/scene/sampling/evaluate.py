"""Let Blender evaluate motion at every frame, as arrays, without touching the user's scene.

A temporary scene holds probe empties that copy the requested transforms. Setting that scene's frame evaluates the
probes and their dependencies, nothing else: not the user's scene, not its meshes, not unkeyed edits. Where something
reads the scene itself (a driver, a simulation), the probes are put into the user's scene for the pass over the frames,
and everything that the pass changes there is restored.

A scene with a hundred characters takes four times as long for each of them as one with ten. So characters that share
no dependencies are evaluated in batches, one after the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.arrays import still_row
from ..blender_types import Object, Property, Scene
from ..graph.animation_reading import read_animation
from ..graph.rig_graph import RigGraph
from ..lookup import objects_by_name, rotation_values
from ..restoring import component, frame_and_edits_kept
from .idle_ik import idle_ik_shortened
from .probes import Probes, Read
from .quantities import Quantity, Samples
from .reduced_rigs import ReducedRig, Verified, reduced_rigs, shown_values
from .stage import FRAME_HANDLERS, empty_stage, unheard
from .stepping import Pace, Steps, at_once, part_of_steps

FEW_OBJECTS = 32
"""Number of objects in a scene up to which each takes about as long as it does alone."""


def batches(quantities: Sequence[Quantity], objects: Mapping[str, Object]) -> list[list[Quantity]]:
    """The quantities in batches, each with all quantities of its objects; a single batch where there are few objects.

    Objects that depend on one another, or on the same object, stay together; `objects` are all of the file, by name.
    """
    if len({quantity.object for quantity in quantities}) <= FEW_OBJECTS:
        return [list(quantities)] if quantities else []
    by_set: dict[int, list[Quantity]] = {}
    set_of = _connected_sets(quantities, objects)
    for quantity in quantities:
        by_set.setdefault(set_of[quantity.object], []).append(quantity)
    made: list[list[Quantity]] = []
    room = 0
    for connected in by_set.values():
        size = len({quantity.object for quantity in connected})
        # A set that is larger than a batch gets one of its own.
        if size > room:
            made.append([])
            room = FEW_OBJECTS
        made[-1] += connected
        room -= size
    return made


def _connected_sets(quantities: Iterable[Quantity], objects: Mapping[str, Object]) -> dict[str, int]:
    """Number of each object's set: objects that share a dependency, directly or through others, are in one set."""
    finder = RigGraph(objects)
    members: dict[int, set[str]] = {}
    set_of: dict[str, int] = {}
    for number, (name, bone) in enumerate(dict.fromkeys((quantity.object, quantity.bone) for quantity in quantities)):
        connected = {name, *(owner for owner, _ in finder.above([(name, bone)]).nodes)}
        for other in {set_of[node] for node in connected if node in set_of}:
            connected |= members.pop(other)
        members[number] = connected
        set_of |= dict.fromkeys(connected, number)
    return set_of


__all__ = ["Place", "Quantity", "Samples", "Verified", "animation_times", "evaluate", "prepared_place"]


class Moment(NamedTuple):
    """A time as Blender takes it."""

    frame: int
    subframe: float
    """From 0 up to 1, also before frame 0."""


ReadFrames = Callable[[Probes, int, Sequence[Moment]], None]
"""Reads some frames of the probes' scene into rows from a first one on."""


@dataclass(slots=True)
class Place:
    """A temporary scene for one or several passes over frames, with the reduced rigs that replace armatures, by their names.

    The probes of a pass stay for the next one that asks for the same, since Blender takes as long to put them there as to
    evaluate many frames.
    """

    stage: Scene
    reduced: Mapping[str, ReducedRig]
    things: Mapping[str, Object]
    """The file's objects by name: collecting them takes longer than a short pass."""
    _probes: Probes | None = None
    _asked: tuple[Sequence[Quantity], int, Sequence[Object]] = ((), 0, ())
    """What the probes are for: the quantities, the number of rows, and the objects that stand for theirs."""

    def players(self, quantities: Sequence[Quantity]) -> Mapping[str, Object]:
        """The objects that are evaluated for these quantities, by name: the file's own, or what stands in for them.

        Keys that are to show in a pass are written to these.
        """
        return {**self.things, **_usable(self.reduced, quantities)}

    def probes(self, quantities: Sequence[Quantity], count: int, things: Mapping[str, Object]) -> Probes:
        """Probes for a pass of up to `count` rows, in place until others are asked for, or more rows."""
        asked = (tuple(quantities), count, [things[quantity.object] for quantity in quantities if quantity.object])
        if self._probes is None or asked[::2] != self._asked[::2] or count > self._asked[1]:
            self.clear()
            self._probes, self._asked = Probes(self.stage, list(quantities), count, alone=True, things=things), asked
            self._probes.put()
        return self._probes

    def clear(self) -> None:
        """Remove the probes."""
        probes, self._probes = self._probes, None
        if probes is not None:
            probes.remove()


def evaluate(
    scene: Scene,
    quantities: list[Quantity],
    frames: Array,
    *,
    in_scene: bool,
    place: Place | None = None,
    verified: Verified | None = None,
    lead_in: int = 1,
) -> Steps[dict[Quantity, Array]]:
    """Let Blender evaluate `quantities` at `frames` `(F,)` (which may be fractional), in one pass over them.

    Quantities that do not change have one row.

    place : temporary scene to use if not `in_scene`; by default a `prepared_place` for this pass alone
    verified : reduced rigs that were compared before, for that place
    lead_in : row of the frame that is evaluated before the first one, because a fresh scene may show some things (meshes that
        read bones) as they were elsewhere until it is evaluated again
    """
    if not quantities:
        return {}
    if in_scene:
        with idle_ik_shortened(_sampled(quantities)), frame_and_edits_kept(scene):
            return (yield from _evaluate_in_scene(scene, quantities, frames, objects_by_name()))
    prepared = nullcontext(place) if place else prepared_place(scene, quantities, frames, verified)
    with prepared as used:
        return (yield from _evaluate_in_batches(used, quantities, frames, used.reduced, lead_in))


@contextmanager
def prepared_place(scene: Scene, quantities: list[Quantity], frames: Array, verified: Verified | None = None) -> Iterator[Place]:
    """A place for passes over `frames`, with reduced rigs where they pay.

    Only reduced rigs are used whose poses are bit-identical to the armatures' where compared: `verified` says which were
    compared before, and records those compared now.
    """
    verified = verified or Verified()
    with (
        idle_ik_shortened(_sampled(quantities)),
        empty_stage() as stage,
        reduced_rigs(quantities, len(frames)) as made,
        ExitStack() as cleared,
    ):
        # Frame rate and time remapping decide what is evaluated at a frame.
        for setting in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(stage.render, setting, getattr(scene.render, setting))
        things = objects_by_name()
        new = {name: rig for name, rig in made.items() if not verified.covers(name, rig)}
        compared = [quantity for quantity in quantities if quantity.object in new]
        comparing = Place(stage, new, things)
        cleared.callback(comparing.clear)
        wrong = _wrong(scene, comparing, compared, frames)
        wrong |= {name for name, rig in made.items() if rig.parented_to_rig in wrong}
        verified.add({name: rig for name, rig in new.items() if name not in wrong})
        comparing.clear()
        place = Place(stage, {name: rig for name, rig in made.items() if name not in wrong}, things)
        cleared.callback(place.clear)
        yield place


def _sampled(quantities: Iterable[Quantity]) -> list[Object]:
    """The armatures whose bones are sampled."""
    named = dict.fromkeys(quantity.object for quantity in quantities if quantity.bone)
    things = objects_by_name()
    return [things[name] for name in named if name in things]


def _wrong(scene: Scene, place: Place, quantities: list[Quantity], frames: Array) -> set[str]:
    """Names of the armatures in a place whose reduced rigs are posed differently."""

    def evaluated(compared: list[Quantity], at: Array, reduced: Mapping[str, ReducedRig]) -> dict[Quantity, Array]:
        return at_once(_evaluate_in_batches(place, compared, at, reduced))

    if not place.reduced:
        return set()
    shown = shown_values(scene, quantities)
    # The present frame costs nothing extra of the big rig: it has been evaluated for the window.
    present = evaluated(quantities, np.array([scene.frame_current + scene.frame_subframe]), place.reduced)
    doubtful = {quantity.object for quantity in quantities if not np.array_equal(shown.get(quantity), present[quantity])}
    doubtful_quantities = [quantity for quantity in quantities if quantity.object in doubtful]
    # Few frames, as each takes as long as the whole rig does.
    at = frames[[0, len(frames) // 2, -1]]
    whole, reduced = (evaluated(doubtful_quantities, at, rigs) for rigs in ({}, place.reduced))
    return {quantity.object for quantity in doubtful_quantities if not np.array_equal(whole[quantity], reduced[quantity])}


def _usable(reduced: Mapping[str, ReducedRig], quantities: Sequence[Quantity]) -> dict[str, Object]:
    """Objects of the reduced rigs that have all requested bones, by the armatures' names."""
    requested: dict[str, list[str]] = {}
    for quantity in quantities:
        if quantity.object in reduced:
            requested.setdefault(quantity.object, []).extend([quantity.bone] if quantity.bone else [])
    return {name: reduced[name].thing for name, bones in requested.items() if reduced[name].has(bones)}


def _evaluate_in_batches(
    place: Place, quantities: list[Quantity], frames: Array, reduced: Mapping[str, ReducedRig], lead_in: int | None = None
) -> Steps[dict[Quantity, Array]]:
    """Evaluate in a place, batch by batch, with reduced rigs where they have all requested bones."""
    values: dict[Quantity, Array] = {}
    things = {**place.things, **_usable(reduced, quantities)}
    split = batches(quantities, place.things)
    for number, batch in enumerate(split):
        probes = place.probes(batch, len(frames), things)
        values |= yield from part_of_steps(_passed(probes, batch, frames, _read_apart, lead_in), number, len(split))
    return values


def _evaluate_in_scene(
    scene: Scene, quantities: list[Quantity], frames: Array, things: Mapping[str, Object]
) -> Steps[dict[Quantity, Array]]:
    """Evaluate in the user's own scene."""
    with Probes(scene, quantities, len(frames), alone=False, things=things) as probes:
        return (yield from _passed(probes, quantities, frames, _read_in_scene, None))


def _passed(
    probes: Probes, quantities: list[Quantity], frames: Array, read: ReadFrames, lead_in: int | None
) -> Steps[dict[Quantity, Array]]:
    """Values read by the probes in one pass over the frames; `lead_in` as in `evaluate`."""
    take, pace = partial(read, probes), Pace()
    moments = moments_of(frames)
    row = 0
    if len(moments) > 1 and lead_in is not None:
        take(0, [moments[lead_in]])
    while row < len(moments):
        step = pace.next_step()
        take(row, moments[row : row + step])
        row += step
        if row <= len(moments):
            yield row / len(moments)
    # There may be more rows than frames, of an earlier pass.
    return {quantity: still_row(probes.values(quantity)[: len(moments)]) for quantity in quantities}


def moments_of(frames: Array) -> list[Moment]:
    """Whole frame and subframe of each of `frames` `(F,)`."""
    whole = np.floor(frames)
    return list(map(Moment, whole.astype(int).tolist(), (frames - whole).tolist()))


def _read_in_scene(probes: Probes, first: int, moments: Sequence[Moment]) -> None:
    """Read some frames of the user's scene, in which other add-ons' code may run, into rows from the `first` on."""
    scene = probes.stage
    layer = scene.view_layers[0]
    for row, (frame, subframe) in enumerate(moments, first):
        scene.frame_set(frame, subframe=subframe)
        for read in probes.readers(layer.depsgraph):
            read(row)


def _read_apart(probes: Probes, first: int, moments: Sequence[Moment]) -> None:
    """Read some frames of a temporary scene into rows from the `first` on, without other add-ons' frame handlers.

    Finding the evaluated copies takes as long as reading them, and getting the depsgraph a third of a small frame. As no
    other code runs until all frames are read, both are kept.
    """
    stage, readers = probes.stage, list[Read]()
    set_frame = stage.frame_set
    with unheard(FRAME_HANDLERS):
        for row, (frame, subframe) in enumerate(moments, first):
            set_frame(frame, subframe=subframe)
            readers = readers or probes.readers(stage.view_layers[0].depsgraph)
            for read in readers:
                read(row)


def animation_times(scene: Scene, frames: Array) -> Array:
    """Times `(F,)` at which F-curves are evaluated at `frames` `(F,)`: with time remapping, in Blender's single precision."""
    whole = np.floor(frames)
    at = whole.astype(np.float32) + (frames - whole).astype(np.float32)
    remapping = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    return at * remapping


def values_over(scene: Scene, properties: Sequence[Property], frames: Array) -> Array:
    """Values `(P, F)` of numeric properties, each a datablock and a data path, at `frames` `(F,)`.

    Where F-curves alone do not decide them, Blender evaluates the scene at every frame.
    """
    times, values = animation_times(scene, frames), np.zeros((len(properties), len(frames)))
    animations = {owner: read_animation(owner) for owner in dict.fromkeys(owner for owner, _ in properties)}
    for number, (owner, path) in enumerate(properties):
        present, channel = owner.path_resolve(path), component(path)
        still = np.array([float(present)] if channel.path == path else owner.path_resolve(channel.path), dtype=float)
        known = animations[owner].values(channel.path, still, times)
        if known is None:
            break
        # Blender truncates the curve's value for integers, and takes booleans as true from 1 on.
        at = known[:, channel.array_index]
        values[number] = np.trunc(at) if isinstance(present, int) else at
    else:
        return values
    with frame_and_edits_kept(scene):
        for column, (frame, subframe) in enumerate(moments_of(frames)):
            scene.frame_set(frame, subframe=subframe)
            values[:, column] = [float(owner.path_resolve(path)) for owner, path in properties]
    return values


@contextmanager
def at_frame(scene: Scene, frame: float) -> Iterator[None]:
    """Show another frame in a block, then the one before, with all unkeyed edits."""
    whole = math.floor(frame)
    with frame_and_edits_kept(scene):
        scene.frame_set(whole, subframe=frame - whole)
        yield


ENTRY = re.compile(r"(?P<list>.+)\[(?P<index>\d+)\]\.")
"""Data path of a property of a collection's entry."""


def present_samples(depsgraph: Any, quantities: Iterable[Quantity], frames: Array) -> Samples:
    """One row of each quantity, as evaluated in the depsgraph; `frames` `(1,)` is the frame of that."""
    values = {quantity: np.array([_read(depsgraph, quantity)], dtype=float) for quantity in dict.fromkeys(quantities)}
    return Samples(values, frames, "PRESENT")


def _read(depsgraph: Any, quantity: Quantity) -> Array:
    thing = bpy.data.objects[quantity.object].evaluated_get(depsgraph)
    if quantity.kind == "WORLD":
        world = np.array(thing.matrix_world)
        return world @ np.array(thing.pose.bones[quantity.bone].matrix) if quantity.bone else world
    if quantity.kind == "POSE":
        return np.array(thing.pose.bones[quantity.bone].matrix)
    if quantity.kind == "VALUE":
        return np.array(_number(thing, quantity.path))
    return np.array(_channel_numbers(thing.pose.bones[quantity.bone]))


def _channel_numbers(bone: Any) -> tuple[float, ...]:
    return *bone.location, *rotation_values(bone), *bone.scale


def _number(evaluated: Any, path: str) -> float:
    """A property's value, numbers for enums; of a collection's entry newer than the evaluated copy, that of the original."""
    entry = ENTRY.match(path)
    is_new = entry is not None and int(entry["index"]) >= len(evaluated.path_resolve(entry["list"]))
    thing = evaluated.original if is_new else evaluated
    value = thing.path_resolve(path)
    if isinstance(value, str):
        owner, _, name = path.rpartition(".")
        return thing.path_resolve(owner).bl_rna.properties[name].enum_items[value].value
    return float(value)
