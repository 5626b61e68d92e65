"""Data of the contact overlay, in world space: the paths of heel and ball, and where each foot stands."""

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
"""Longest range that is shown, in frames."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One stance of a foot."""

    first: float
    last: float
    """First and last frame."""
    ends: Array
    """`(2, 3)` mean positions of heel and ball while they stand; if only one of them does, twice the same."""


@dataclass(frozen=True, slots=True)
class FootPicture:
    """Paths and contacts of one foot over the scene's range."""

    frames: Array
    """`(F,)`"""
    ways: Array
    """`(2, F, 3)` paths of heel and ball."""
    states: Codes
    """`(F,)` keyed contact states, see `core.contacts.states`."""
    prints: tuple[Footprint, ...]

    @property
    def length(self) -> float:
        """Length of the foot from heel to ball."""
        return float(np.median(magnitude(self.ways[1] - self.ways[0])))


def foot_pictures(scene: Scene, armature: Object) -> list[FootPicture]:
    """Feet of all enabled chains with contact keys; none if the range is too long. Raises `TwoBoneError` for a broken chain."""
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
    paths = np.array([posed_point(point, matrices) for point in (foot.points.heel, foot.points.ball)])
    prints = tuple(
        _print(paths[:, first : last + 1], states[first : last + 1], frames[[first, last]]) for first, last in runs(states > 0)
    )
    return FootPicture(frames, paths, states, prints)


def _print(paths: Array, states: Codes, ends: Array) -> Footprint:
    stands = [on_heel(states), on_ball(states)]
    places = [way[on].mean(axis=0) for way, on in zip(paths, stands, strict=True) if on.any()]
    return Footprint(float(ends[0]), float(ends[1]), np.array([places[0], places[-1]]))
