"""Motion as arrays: what Blender evaluates at every frame, without touching the user's scene.

A temporary scene holds probe empties that copy the transforms of what is asked for. Setting that scene's frame
evaluates the probes and what they depend on, nothing else: not the user's scene, not its meshes, not unkeyed edits.
Where something reads the scene itself (a driver, a simulation), the probes are put into the user's scene for the walk,
and everything the walk disturbs there is put back.

A scene with a hundred characters takes four times as long for each of them as one with ten. So characters that share
nothing, no object and nothing that objects depend on, are evaluated in batches, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
import numpy as np

from ...core.array_types import Array
from ...core.arrays import still_row
from ..blender_types import Object, Scene
from ..graph.animation_reading import read_animation
from ..graph.rig_graph import RigGraph
from ..lookup import objects_by_name, rotation_values
from ..restoring import frame_and_edits_kept
from .probes import Probes, Read
from .quantities import Quantity, Samples
from .reduced_rigs import ReducedRig, Verified, reduced_rigs, shown_values
from .stage import FRAME_HANDLERS, empty_stage, unheard
from .stepping import Pace, Steps, at_once, part_of

FEW_OBJECTS = 32
"""Objects in a scene up to which each takes about as long as it does alone."""


def batches(quantities: Sequence[Quantity], objects: Mapping[str, Object]) -> list[list[Quantity]]:
    """The quantities in batches, each with all that is needed of any object; one where there are few objects.

    Objects that depend on one another, or on the same object, stay together; `objects` are all of the file, by name.
    """
    if len({quantity.object for quantity in quantities}) <= FEW_OBJECTS:
        return [list(quantities)] if quantities else []
    by_set: dict[int, list[Quantity]] = {}
    set_of = _connected_sets(quantities, objects)
    for quantity in quantities:
        by_set.setdefault(set_of[quantity.object], []).append(quantity)
    found: list[list[Quantity]] = []
    room = 0
    for connected in by_set.values():
        size = len({quantity.object for quantity in connected})
        if size > room:
            found.append([])
            room = FEW_OBJECTS
        found[-1] += connected
        room -= size
    return found


def _connected_sets(quantities: Iterable[Quantity], objects: Mapping[str, Object]) -> dict[str, int]:
    """For each object, a number that it shares with all that it shares something with."""
    finder = RigGraph(objects)
    members: dict[int, set[str]] = {}
    set_of: dict[str, int] = {}
    for number, (name, bone) in enumerate(dict.fromkeys((quantity.object, quantity.bone) for quantity in quantities)):
        connected = {name, *(owner for owner, _ in finder.above([(name, bone)]).nodes)}
        for other in {set_of[each] for each in connected if each in set_of}:
            connected |= members.pop(other)
        members[number] = connected
        set_of |= dict.fromkeys(connected, number)
    return set_of


__all__ = ["Place", "Quantity", "Samples", "Verified", "animation_times", "evaluate", "prepared_place"]


@dataclass(frozen=True, slots=True)
class Place:
    """A scene of our own for one or several walks, with what stands in for big armatures there, by their names."""

    stage: Scene
    reduced: Mapping[str, ReducedRig]
    things: Mapping[str, Object]
    """The file's objects by their names: to look for them at each walk would take longer than short walks do."""


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
    """Let Blender evaluate `quantities` at `frames` `(F,)` (which may be fractional), in one walk over time.

    Of what is still, one row.

    place : where to walk if not in the scene itself; by default in a `prepared_place` for this walk alone
    verified : what was compared before, for that place
    lead_in : row of the frame that is evaluated before the first one, for a fresh scene may show some things as they were
        elsewhere (meshes that read bones) until it is evaluated again
    """
    if not quantities:
        return {}
    if in_scene:
        with frame_and_edits_kept(scene):
            return (yield from _walk(scene, quantities, frames, in_scene=True, things=objects_by_name(), lead_in=lead_in))
    prepared = nullcontext(place) if place else prepared_place(scene, quantities, frames, verified)
    with prepared as ours:
        return (yield from _walk_apart(ours, quantities, frames, ours.reduced, lead_in))


@contextmanager
def prepared_place(scene: Scene, quantities: list[Quantity], frames: Array, verified: Verified | None = None) -> Iterator[Place]:
    """A place for walks over `frames`, with reduced rigs where they pay.

    These are posed as the armatures are, to the last bit, where we look, or have been: `verified` says which were compared
    before, and learns of those that are now.
    """
    verified = verified or Verified()
    with _stage(scene) as stage, reduced_rigs(quantities, len(frames)) as made:
        things = objects_by_name()
        new = {name: rig for name, rig in made.items() if not verified.covers(name, rig)}
        compared = [quantity for quantity in quantities if quantity.object in new]
        wrong = _wrong(scene, Place(stage, new, things), compared, frames)
        wrong |= {name for name, rig in made.items() if rig.parented_to_rig in wrong}
        verified.add({name: rig for name, rig in new.items() if name not in wrong})
        yield Place(stage, {name: rig for name, rig in made.items() if name not in wrong}, things)


def _wrong(scene: Scene, place: Place, quantities: list[Quantity], frames: Array) -> set[str]:
    """Names of the armatures that are posed otherwise than their reduced rigs in a place."""

    def walk(compared: list[Quantity], at: Array, ways: Mapping[str, ReducedRig]) -> dict[Quantity, Array]:
        return at_once(_walk_apart(place, compared, at, ways))

    if not place.reduced:
        return set()
    shown = shown_values(scene, quantities)
    found = walk(quantities, np.array([scene.frame_current + scene.frame_subframe]), place.reduced)
    doubtful = {quantity.object for quantity in quantities if not np.array_equal(shown.get(quantity), found[quantity])}
    left = [quantity for quantity in quantities if quantity.object in doubtful]
    at = frames[[0, len(frames) // 2, -1]]
    known, tried = (walk(left, at, way) for way in ({}, place.reduced))
    return {quantity.object for quantity in left if not np.array_equal(known[quantity], tried[quantity])}


def _fitting(reduced: Mapping[str, ReducedRig], quantities: list[Quantity]) -> dict[str, Object]:
    """The objects that stand in for armatures, where they have all the bones that are asked for."""
    wanted: dict[str, list[str]] = {}
    for quantity in quantities:
        if quantity.object in reduced:
            wanted.setdefault(quantity.object, []).extend([quantity.bone] if quantity.bone else [])
    return {name: reduced[name].thing for name, bones in wanted.items() if reduced[name].has(bones)}


def _walk_apart(
    place: Place, quantities: list[Quantity], frames: Array, reduced: Mapping[str, ReducedRig], lead_in: int | None = None
) -> Steps[dict[Quantity, Array]]:
    """Walk in a place of our own, with each batch alone, and with reduced rigs where they have what is asked for."""
    values: dict[Quantity, Array] = {}
    things = {**place.things, **_fitting(reduced, quantities)}
    apart = batches(quantities, place.things)
    for number, batch in enumerate(apart):
        walk = _walk(place.stage, batch, frames, in_scene=False, things=things, lead_in=lead_in)
        values |= yield from part_of(walk, number, len(apart))
    return values


def _walk(
    stage: Scene, quantities: list[Quantity], frames: Array, *, in_scene: bool, things: Mapping[str, Object], lead_in: int | None
) -> Steps[dict[Quantity, Array]]:
    with Probes(stage, quantities, len(frames), alone=not in_scene, things=things) as probes:
        take, pace = partial(_take_in_scene if in_scene else _take_apart, stage, probes), Pace()
        whole = np.floor(frames)
        moments = list(zip(whole.astype(int).tolist(), (frames - whole).tolist(), strict=True))
        row = 0
        if len(moments) > 1 and lead_in is not None and not in_scene:
            take(0, [moments[lead_in]])
        while row < len(moments):
            step = pace.next_step()
            take(row, moments[row : row + step])
            row += step
            if row <= len(moments):
                yield row / len(moments)
        return {quantity: still_row(probes.values(quantity)) for quantity in quantities}


def _take_in_scene(scene: Scene, probes: Probes, first: int, moments: Sequence[tuple[int, float]]) -> None:
    """Fetch some frames of the user's scene, in which anybody's code may run, into rows from the `first` on."""
    layer = scene.view_layers[0]
    for row, (frame, part) in enumerate(moments, first):
        scene.frame_set(frame, subframe=part)
        for read in probes.readers(layer.depsgraph):
            read(row)


def _take_apart(stage: Scene, probes: Probes, first: int, moments: Sequence[tuple[int, float]]) -> None:
    """The same in a scene that concerns nobody else: what other add-ons do when the frame changes stays undone.

    To find what is read takes as long as to read it, and to ask for the depsgraph a third of a small frame. As nobody
    else has a turn until all are fetched, both stay.
    """
    set_frame, readers = stage.frame_set, list[Read]()
    with unheard(FRAME_HANDLERS):
        for row, (frame, part) in enumerate(moments, first):
            set_frame(frame, subframe=part)
            readers = readers or probes.readers(stage.view_layers[0].depsgraph)
            for read in readers:
                read(row)


def animation_times(scene: Scene, frames: Array) -> list[float]:
    """Times at which F-curves are evaluated at `frames` `(F,)`: time remapping applied, in Blender's single precision."""
    whole = np.floor(frames)
    at = whole.astype(np.float32) + (frames - whole).astype(np.float32)
    remapping = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    return (at * remapping).tolist()


@contextmanager
def _stage(scene: Scene) -> Iterator[Scene]:
    """An empty scene in which time runs as in the user's."""
    with empty_stage() as stage:
        for setting in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(stage.render, setting, getattr(scene.render, setting))
        yield stage


def values_over(scene: Scene, properties: Sequence[tuple[Object, str]], frames: Array) -> Array:
    """Numbers `(P, F)` of properties, each a datablock and a data path, at `frames` `(F,)`.

    Where more than F-curves has a say, Blender evaluates the scene at every frame.
    """
    times, values = animation_times(scene, frames), np.zeros((len(properties), len(frames)))
    for number, (owner, path) in enumerate(properties):
        present = owner.path_resolve(path)
        known = read_animation(owner).values(path, np.array([float(present)]), times)
        if known is None:
            return _evaluated(scene, properties, frames)
        # Blender takes whole numbers from curves, and booleans from 1 on.
        values[number] = np.trunc(known[:, 0]) if isinstance(present, int) else known[:, 0]
    return values


def _evaluated(scene: Scene, properties: Sequence[tuple[Object, str]], frames: Array) -> Array:
    rows = []
    with frame_and_edits_kept(scene):
        for frame in frames:
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(frame - whole))
            rows.append([float(owner.path_resolve(path)) for owner, path in properties])
    return np.array(rows).T


ENTRY = re.compile(r"(?P<list>.+)\[(?P<index>\d+)\]\.")
"""Data path of an entry of a list, up to its own property."""


def present_samples(depsgraph: Any, quantities: Iterable[Quantity], frames: Array) -> Samples:
    """One row of each quantity, as the depsgraph has it; `frames` `(1,)` says when that is."""
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
    bone = thing.pose.bones[quantity.bone]
    return np.array([*bone.location, *rotation_values(bone), *bone.scale])


def _number(evaluated: Any, path: str) -> float:
    """A property's value; of an entry of a list that is newer than the evaluated copy, that of the original."""
    entry = ENTRY.match(path)
    is_new = entry is not None and int(entry["index"]) >= len(evaluated.path_resolve(entry["list"]))
    thing = evaluated.original if is_new else evaluated
    value = thing.path_resolve(path)
    if isinstance(value, str):
        owner, _, name = path.rpartition(".")
        return thing.path_resolve(owner).bl_rna.properties[name].enum_items[value].value
    return float(value)
