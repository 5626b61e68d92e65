"""Motion as arrays: what Blender evaluates at every frame, without touching the user's scene.

A temporary scene holds probe empties that copy the transforms of what is asked for. Setting that scene's frame
evaluates the probes and what they hang from, nothing else: not the user's scene, not its meshes, not unkeyed edits.
Where something reads the scene itself (a driver, a simulation), the probes are put into the user's scene for the walk,
and everything the walk disturbs there is put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...array_types import Array
from ...arrays import still_row
from ..blender_types import Object, Scene
from ..lookup import objects_by_name
from .companies import companies
from .doubles.believing import Trust, shown_values
from .doubles.doubles import Double, doubles_of
from .probes import Probes, Read
from .quantities import Quantity, Samples
from .restoring import frame_and_edits_kept
from .stage import FRAME_HANDLERS, empty_stage, unheard
from .stepping import Pace, Steps, at_once, part_of

__all__ = ["Place", "Quantity", "Samples", "Trust", "animation_times", "evaluate", "prepared_place"]


@dataclass(frozen=True, slots=True)
class Place:
    """A scene of our own for one or several walks, with what stands in for big armatures there, by their names."""

    stage: Scene
    doubles: Mapping[str, Double]
    things: Mapping[str, Object]
    """The file's objects by their names: to look for them at each walk would take longer than short walks do."""


def evaluate(
    scene: Scene,
    quantities: list[Quantity],
    frames: Array,
    *,
    in_scene: bool,
    place: Place | None = None,
    trust: Trust | None = None,
) -> Steps[dict[Quantity, Array]]:
    """Let Blender evaluate `quantities` at `frames` `(F,)` (which may be fractional), in one walk over time.

    Of what is still, one row.

    place : where to walk if not in the scene itself; by default in a `prepared_place` for this walk alone
    trust : what was compared before, for that place
    """
    if not quantities:
        return {}
    if in_scene:
        with frame_and_edits_kept(scene):
            return (yield from _walk(scene, quantities, frames, in_scene=True, things=objects_by_name()))
    prepared = nullcontext(place) if place else prepared_place(scene, quantities, frames, trust)
    with prepared as ours:
        return (yield from _walk_apart(ours, quantities, frames, ours.doubles))


@contextmanager
def prepared_place(scene: Scene, quantities: list[Quantity], frames: Array, trust: Trust | None = None) -> Iterator[Place]:
    """A place for walks over `frames`, with doubles where they pay.

    These are posed as the armatures are, to the last bit, where we look, or have been: `trust` says which were compared
    before, and learns of those that are now.
    """
    trust = trust or Trust()
    with _stage(scene) as stage, doubles_of(quantities, len(frames)) as made:
        things = objects_by_name()
        new = {name: double for name, double in made.items() if not trust.covers(name, double)}
        compared = [quantity for quantity in quantities if quantity.object in new]
        wrong = _wrong(scene, Place(stage, new, things), compared, frames)
        wrong |= {name for name, double in made.items() if double.hangs_from in wrong}
        trust.add({name: double for name, double in new.items() if name not in wrong})
        yield Place(stage, {name: double for name, double in made.items() if name not in wrong}, things)


def _wrong(scene: Scene, place: Place, quantities: list[Quantity], frames: Array) -> set[str]:
    """Names of the armatures that are posed otherwise than their doubles in a place."""

    def walk(compared: list[Quantity], at: Array, ways: Mapping[str, Double]) -> dict[Quantity, Array]:
        return at_once(_walk_apart(place, compared, at, ways))

    if not place.doubles:
        return set()
    shown = shown_values(scene, quantities)
    found = walk(quantities, np.array([scene.frame_current + scene.frame_subframe]), place.doubles)
    doubtful = {quantity.object for quantity in quantities if not np.array_equal(shown.get(quantity), found[quantity])}
    left = [quantity for quantity in quantities if quantity.object in doubtful]
    at = frames[[0, len(frames) // 2, -1]]
    known, tried = (walk(left, at, way) for way in ({}, place.doubles))
    return {quantity.object for quantity in left if not np.array_equal(known[quantity], tried[quantity])}


def _fitting(doubles: Mapping[str, Double], quantities: list[Quantity]) -> dict[str, Object]:
    """The objects that stand in for armatures, where they have all the bones that are asked for."""
    wanted: dict[str, list[str]] = {}
    for quantity in quantities:
        if quantity.object in doubles:
            wanted.setdefault(quantity.object, []).extend([quantity.bone] if quantity.bone else [])
    return {name: doubles[name].thing for name, bones in wanted.items() if doubles[name].has(bones)}


def _walk_apart(
    place: Place, quantities: list[Quantity], frames: Array, doubles: Mapping[str, Double]
) -> Steps[dict[Quantity, Array]]:
    """Walk in a place of our own, with each company alone, and with doubles where they have what is asked for."""
    values: dict[Quantity, Array] = {}
    things = {**place.things, **_fitting(doubles, quantities)}
    apart = companies(quantities, place.things)
    for number, company in enumerate(apart):
        walk = _walk(place.stage, company, frames, in_scene=False, things=things)
        values |= yield from part_of(walk, number, len(apart))
    return values


def _walk(
    stage: Scene, quantities: list[Quantity], frames: Array, *, in_scene: bool, things: Mapping[str, Object]
) -> Steps[dict[Quantity, Array]]:
    with Probes(stage, quantities, len(frames), alone=not in_scene, things=things) as probes:
        take, pace = partial(_take_in_scene if in_scene else _take_apart, stage, probes), Pace()
        whole = np.floor(frames)
        moments = list(zip(whole.astype(int).tolist(), (frames - whole).tolist(), strict=True))
        row = 0
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
