"""Sample quantities at every frame, each with the cheapest method that is exact for it.

`STILL`: nothing moves it, so one evaluation holds for all frames. `CURVES`: F-Curves alone move it and all its parents, so
the curves are evaluated and composed. `PROBES`: Blender evaluates it in a temporary scene. `SCENE`: Blender evaluates it
in the user's own scene, because something it depends on reads that scene or is simulated.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from ...core.array_types import Array
from ...core.rig.inheritance import ChannelValues, carried_matrices, placed_object, posed_bone
from ...scene.blender_types import Object, Scene
from ...scene.graph.lineage_reading import LineageReader
from ...scene.graph.rig_graph import RigGraph, Stillness
from ...scene.lookup import objects_known
from ...scene.sampling.evaluate import Place, Samples, Verified, animation_times, evaluate
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import Steps, at_once
from ..machine import refuse_more_than_is_free


class CurveMotion:
    """Computes quantities at the same times; what several of them depend on is computed once and cached."""

    def __init__(self, reader: LineageReader) -> None:
        self._reader = reader
        self._worlds: dict[str, Array | None] = {}
        self._poses: dict[tuple[str, str], Array | None] = {}

    def find(self, quantity: Quantity) -> Array | None:
        """The quantity's values, one row if it does not move; `None` if curves alone do not determine it."""
        lineage = self._reader.parents(quantity.object)
        thing = lineage[-1]
        if quantity.kind == "VALUE":
            return self._reader.value(thing, quantity.path)
        if quantity.kind == "CHANNELS":
            channels = self._reader.channels(thing, thing.pose.bones[quantity.bone])
            return None if channels is None else joined(channels)
        if quantity.kind == "POSE":
            return self._pose(thing, quantity.bone)
        world = self._world(lineage)
        if world is None or not quantity.bone:
            return world
        pose = self._pose(thing, quantity.bone)
        return None if pose is None else world @ pose

    def _world(self, lineage: list[Object]) -> Array | None:
        world = None
        for thing in lineage:
            if thing.name not in self._worlds:
                self._worlds[thing.name] = self._placed(thing, world)
            world = self._worlds[thing.name]
            if world is None:
                return None
        return world

    def _placed(self, thing: Object, parent_world: Array | None) -> Array | None:
        """World matrices of an object, from those of its parent; `None` if curves alone do not determine them."""
        link = self._reader.object_link(thing)
        if link is None:
            return None
        if parent_world is not None and thing.parent_type == "BONE":
            carrier = self._reader.carrier(thing)
            pose = self._pose(thing.parent, thing.parent_bone)
            if carrier is None or pose is None:
                return None
            parent_world = carried_matrices(carrier, parent_world, pose)
        return placed_object(link, parent_world)

    def _pose(self, armature: Object, name: str) -> Array | None:
        bone = armature.pose.bones[name]
        path = [bone, *bone.parent_recursive]
        pose = None
        for above in reversed(path):
            node = (armature.name, above.name)
            if node not in self._poses:
                link = self._reader.bone_link(armature, above.name)
                self._poses[node] = None if link is None else posed_bone(link, pose)
            pose = self._poses[node]
            if pose is None:
                return None
        return pose


def joined(channels: ChannelValues) -> Array:
    """Location, rotation and scale side by side, `(F, 10)`."""
    parts = (channels.location, channels.rotation, channels.scale)
    rows = max(len(part) for part in parts)
    return np.concatenate([np.broadcast_to(part, (rows, part.shape[-1])) for part in parts], axis=-1)


SLICE = 0.05
"""Seconds for which curves are evaluated before yielding, so that the user can stop."""

METHODS = ("STILL", "CURVES", "PROBES", "SCENE")
"""Sampling methods, cheapest first."""


def sample(scene: Scene, quantities: Iterable[Quantity], frames: Array, *, evaluation: str = "AUTO") -> Samples:
    """`sample_steps` in one go."""
    return at_once(sample_steps(scene, quantities, frames, evaluation=evaluation))


def sample_steps(
    scene: Scene,
    quantities: Iterable[Quantity],
    frames: Array,
    *,
    evaluation: str = "AUTO",
    place: Place | None = None,
    verified: Verified | None = None,
    held: int = 0,
) -> Steps[Samples]:
    """Sample `quantities` at `frames` `(F,)`, which may be fractional, in at most one pass over time.

    `evaluation`: `AUTO` chooses a method per quantity; `PROBES` and `SCENE` leave everything to Blender's evaluation.
    Raises `RangeError` beforehand if memory has no room for `held` bytes per quantity and frame.

    `place` is a prepared place in which Blender evaluates everything, and `verified` remembers which reduced rigs were compared
    with their armatures; see `evaluate`.
    """
    unique = list(dict.fromkeys(quantities))
    refuse_more_than_is_free(len(unique), frames, held)
    if evaluation != "AUTO":
        # Evaluate the last frame first: what still shows the frame before would otherwise be equally wrong in bake and proof.
        in_scene = evaluation == "SCENE"
        values = yield from evaluate(scene, unique, frames, in_scene=in_scene, place=place, verified=verified, lead_in=-1)
        return Samples(values, frames, evaluation)
    motion = CurveMotion(LineageReader(animation_times(scene, frames)))
    known: dict[Quantity, Array | None] = {}
    while len(known) < len(unique):
        if known:
            yield len(known) / len(unique)
        # Between two slices the user may rename or remove objects.
        with objects_known():
            end = time.perf_counter() + SLICE
            for quantity in unique[len(known) :]:
                known[quantity] = motion.find(quantity)
                if time.perf_counter() > end:
                    break
    values = {quantity: value for quantity, value in known.items() if value is not None}
    methods = {quantity: "STILL" if len(value) == 1 else "CURVES" for quantity, value in values.items()}
    remaining = [quantity for quantity in unique if quantity not in values]
    for method, group in _evaluated(remaining).items():
        at = frames[:1] if method == "STILL" else frames
        values.update((yield from evaluate(scene, group, at, in_scene=method == "SCENE", verified=verified)))
        methods.update(dict.fromkeys(group, method))
    return Samples(values, frames, _summary(methods))


def _evaluated(quantities: list[Quantity]) -> dict[str, list[Quantity]]:
    """Method by which to evaluate each quantity that curves alone do not determine, in as few passes as possible."""
    if not quantities:
        return {}
    finder = RigGraph()
    stillness = Stillness(finder)
    above = {quantity: finder.above([(quantity.object, quantity.bone)]) for quantity in quantities}
    moving = [quantity for quantity in quantities if not stillness.holds(above[quantity].nodes)]
    still = [quantity for quantity in quantities if quantity not in moving]
    # One pass is cheaper than two, so what needs the user's scene takes the others along.
    moving_method = "SCENE" if any(above[quantity].reads_scene for quantity in moving) else "PROBES"
    return {method: group for method, group in (("STILL", still), (moving_method, moving)) if group}


def _summary(methods: dict[Quantity, str]) -> str | dict[str, str]:
    """The costliest method for each object; one word if it is the same for all."""
    worst: dict[str, str] = {}
    for quantity, method in methods.items():
        worst[quantity.object] = max(method, worst.get(quantity.object, "STILL"), key=METHODS.index)
    return next(iter(worst.values())) if len(set(worst.values())) == 1 else worst
