"""Sample quantities at every frame, each with the cheapest method that is exact for it.

`STILL`: nothing moves it, so one evaluation holds for all frames. `CURVES`: F-Curves alone move it and all its parents, so
the curves are evaluated and composed. `PROBES`: Blender evaluates it in a temporary scene. `SCENE`: Blender evaluates it
in the user's own scene, because something it depends on reads that scene or is simulated.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ...core.array_types import Array
from ...scene.blender_types import Scene
from ...scene.graph.lineage_reading import LineageReader
from ...scene.graph.rig_graph import RigGraph
from ...scene.graph.stillness import Stillness
from ...scene.lookup import objects_known
from ...scene.sampling.evaluate import Place, Quantity, Samples, Verified, animation_times, evaluate
from ...scene.sampling.stepping import Steps, at_once
from ..machine import refuse_more_than_is_free
from .curve_motion import CurveMotion

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
    found: dict[Quantity, Array | None] = {}
    while len(found) < len(unique):
        if found:
            yield len(found) / len(unique)
        with objects_known():
            end = time.perf_counter() + SLICE
            for quantity in unique[len(found) :]:
                found[quantity] = motion.find(quantity)
                if time.perf_counter() > end:
                    break
    values = {quantity: value for quantity, value in found.items() if value is not None}
    methods = {quantity: "STILL" if len(value) == 1 else "CURVES" for quantity, value in values.items()}
    remaining = [quantity for quantity in unique if quantity not in values]
    for method, share in _evaluated(remaining).items():
        at = frames[:1] if method == "STILL" else frames
        values.update((yield from evaluate(scene, share, at, in_scene=method == "SCENE", verified=verified)))
        methods.update(dict.fromkeys(share, method))
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
    walk_method = "SCENE" if any(above[quantity].reads_scene for quantity in moving) else "PROBES"
    return {method: share for method, share in (("STILL", still), (walk_method, moving)) if share}


def _summary(methods: dict[Quantity, str]) -> str | dict[str, str]:
    """The costliest method for each object; one word if it is the same for all."""
    worst: dict[str, str] = {}
    for quantity, method in methods.items():
        worst[quantity.object] = max(method, worst.get(quantity.object, "STILL"), key=METHODS.index)
    return next(iter(worst.values())) if len(set(worst.values())) == 1 else worst
