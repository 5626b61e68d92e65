"""Motion as arrays: what Blender evaluates at every frame, without touching the user's scene.

A temporary scene holds probe empties that copy the transforms of what is asked for. Setting that scene's frame
evaluates the probes and what they hang from, nothing else: not the user's scene, not its meshes, not unkeyed edits.
Where something reads the scene itself (a driver, a simulation), the probes are put into the user's scene for the walk,
and everything the walk disturbs there is put back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial

import numpy as np
from bpy.app import handlers

from ...array_types import Array
from ...arrays import still_row
from ..blender_types import Object, Scene
from .doubles import Double, doubles_of
from .probes import Probes, Read
from .quantities import Quantity, Samples
from .restoring import frame_and_edits_kept
from .stage import FRAME_HANDLERS, empty_stage, unheard
from .stepping import FRAMES_PER_STEP, Steps, at_once

__all__ = ["Double", "Quantity", "Samples", "animation_times", "believed_doubles", "evaluate"]


def evaluate(
    scene: Scene,
    quantities: list[Quantity],
    frames: Array,
    *,
    in_scene: bool,
    doubles: Mapping[str, Double] | None = None,
) -> Steps[dict[Quantity, Array]]:
    """Let Blender evaluate `quantities` at `frames` `(F,)` (which may be fractional), in one walk over time.

    Of what is still, one row.

    doubles : what stands in for big armatures, if `believed_doubles` were made before; else they are made where they pay
    """
    if in_scene:
        return (yield from _walk(scene, quantities, frames, in_scene=True, doubles={}))
    made = believed_doubles(scene, quantities, frames) if doubles is None else nullcontext(doubles)
    with made as found:
        return (yield from _walk(scene, quantities, frames, in_scene=False, doubles=_fitting(found, quantities)))


@contextmanager
def believed_doubles(scene: Scene, quantities: list[Quantity], frames: Array) -> Iterator[dict[str, Double]]:
    """Doubles of big armatures, by their names, that are posed as these are, to the last bit, where we look."""
    with doubles_of(quantities, len(frames)) as made:
        compared = [quantity for quantity in quantities if quantity.object in made]
        at = frames[[0, len(frames) // 2, -1]] if made else frames[:0]
        ways = ({}, _fitting(made, compared))
        known, tried = (at_once(_walk(scene, compared, at, in_scene=False, doubles=way)) for way in ways)
        wrong = {quantity.object for quantity in compared if not np.array_equal(known[quantity], tried[quantity])}
        yield {name: double for name, double in made.items() if name not in wrong}


def _fitting(doubles: Mapping[str, Double], quantities: list[Quantity]) -> dict[str, Object]:
    """The objects that stand in for armatures, where they have all the bones that are asked for."""
    wanted: dict[str, list[str]] = {}
    for quantity in quantities:
        if quantity.object in doubles:
            wanted.setdefault(quantity.object, []).extend([quantity.bone] if quantity.bone else [])
    return {name: doubles[name].thing for name, bones in wanted.items() if doubles[name].has(bones)}


def _walk(
    scene: Scene, quantities: list[Quantity], frames: Array, *, in_scene: bool, doubles: Mapping[str, Object]
) -> Steps[dict[Quantity, Array]]:
    if not quantities:
        return {}
    probed = partial(Probes, alone=not in_scene, doubles=doubles)
    with _stage(scene, in_scene=in_scene) as stage, probed(stage, quantities, len(frames)) as probes:
        layer, readers = stage.view_layers[0], list[Read]()
        depsgraph = None
        set_frame = partial(_set_frame if in_scene else _set_frame_quietly, stage)
        whole = np.floor(frames)
        steps = zip(whole.astype(int).tolist(), (frames - whole).tolist(), strict=True)
        for row, (frame, part) in enumerate(steps):
            set_frame(frame, part)
            # Asking for a depsgraph costs a third of a small frame. That of our own stage stays; the user's may be made anew.
            if depsgraph is None or in_scene:
                depsgraph = layer.depsgraph
            # Finding what is read takes as long as reading it. It stays until somebody else has a turn: see the yield.
            if in_scene or row % FRAMES_PER_STEP == 0:
                readers = probes.readers(depsgraph)
            for read in readers:
                read(row)
            if row % FRAMES_PER_STEP == FRAMES_PER_STEP - 1:
                yield (row + 1) / len(frames)
        return {quantity: still_row(probes.values(quantity)) for quantity in quantities}


def _set_frame(scene: Scene, frame: int, part: float) -> None:
    scene.frame_set(frame, subframe=part)


def _set_frame_quietly(scene: Scene, frame: int, part: float) -> None:
    """The same in a scene that concerns nobody else: what other add-ons do when the frame changes stays undone."""
    if not (handlers.frame_change_pre or handlers.frame_change_post):
        scene.frame_set(frame, subframe=part)
        return
    with unheard(FRAME_HANDLERS):
        scene.frame_set(frame, subframe=part)


def animation_times(scene: Scene, frames: Array) -> list[float]:
    """Times at which F-curves are evaluated at `frames` `(F,)`: time remapping applied, in Blender's single precision."""
    whole = np.floor(frames)
    at = whole.astype(np.float32) + (frames - whole).astype(np.float32)
    remapping = np.float32(scene.render.frame_map_old) / np.float32(scene.render.frame_map_new)
    return (at * remapping).tolist()


@contextmanager
def _stage(scene: Scene, *, in_scene: bool) -> Iterator[Scene]:
    """The scene to walk in: the user's, put back afterwards, or an empty one in which time runs alike."""
    if in_scene:
        with frame_and_edits_kept(scene):
            yield scene
        return
    with empty_stage() as stage:
        for setting in ("fps", "fps_base", "frame_map_old", "frame_map_new"):
            setattr(stage.render, setting, getattr(scene.render, setting))
        yield stage
