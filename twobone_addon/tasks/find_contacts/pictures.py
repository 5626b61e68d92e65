"""What the overlay shows of contacts, in world space: the paths of heel and ball, and where each foot stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Codes
from ...core.arrays import magnitude
from ...core.contacts.points import posed_point
from ...core.contacts.states import on_ball, on_heel, runs
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import names_of
from ...scene.blender_types import Object, Scene
from ...scene.keys.contact_keys import contact_curve, keyed_states
from .plan import FootPlan, foot_plan

MOST_FRAMES = 20_000
"""Of a range that is shown; of longer ones nothing is."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One time on the ground."""

    first: float
    last: float
    """Frames."""
    ends: Array
    """`(2, 3)` where heel and ball stand on average; of a foot that stands on one of them only, that one twice."""


@dataclass(frozen=True, slots=True)
class FootPicture:
    """One foot over the scene's range."""

    frames: Array
    """`(F,)`"""
    ways: Array
    """`(2, F, 3)` of heel and ball."""
    states: Codes
    """`(F,)` as they are keyed, see `contacts.states`."""
    prints: tuple[Footprint, ...]

    @property
    def length(self) -> float:
        """Of the foot, from heel to ball."""
        return float(np.median(magnitude(self.ways[1] - self.ways[0])))


def foot_pictures(scene: Scene, armature: Object) -> list[FootPicture]:
    """The feet of all enabled chains whose contact is keyed; raises a `TwoBoneError` where such a chain is broken."""
    chains = [chain for chain in armature.twobone.chains if chain.enabled and contact_curve(armature, chain) is not None]
    frames = np.arange(scene.frame_start, scene.frame_end + 1, dtype=float)
    if not chains or not 0 < len(frames) <= MOST_FRAMES:
        return []
    feet = [foot_plan(armature, chain.name, names_of(chain), chain.toe) for chain in chains]
    samples = sample(scene, [foot.foot for foot in feet], frames)
    states = [keyed_states(armature, chain, frames) for chain in chains]
    matrices = [samples.every(foot.foot) for foot in feet]
    return [_picture(foot, each, code, frames) for foot, each, code in zip(feet, matrices, states, strict=True)]


def _picture(foot: FootPlan, matrices: Array, states: Codes, frames: Array) -> FootPicture:
    ways = np.array([posed_point(point, matrices) for point in (foot.points.heel, foot.points.ball)])
    prints = tuple(
        _print(ways[:, first : last + 1], states[first : last + 1], frames[[first, last]]) for first, last in runs(states > 0)
    )
    return FootPicture(frames, ways, states, prints)


def _print(ways: Array, states: Codes, ends: Array) -> Footprint:
    stands = [on_heel(states), on_ball(states)]
    known = [way[on].mean(axis=0) for way, on in zip(ways, stands, strict=True) if on.any()]
    return Footprint(float(ends[0]), float(ends[1]), np.array([known[0], known[-1]]))
