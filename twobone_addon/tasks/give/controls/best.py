"""What is tried with a base in which rounds, and the best of it, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....core.rig.bones import BoneChannels

TRIAL_STEPS = (2e-3, 5e-2)
"""By how much the base's scale (its logarithm) and pitch (radians) are changed to find out what that does."""

NEAR_STEPS = (1e-4, 2e-3)
"""The same where it is smooth."""

FEW_ROUNDS = ((0.0, False), (0.0, True), (0.0, True))
"""By how much the pitch, radians, is changed before a round, and whether its changes are small."""

KICKS = (0.08, -0.08, 0.16, -0.16, 0.24, -0.24, 0.05, -0.05, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)
SHAPE_ROUNDS = (*FEW_ROUNDS, *(each for kick in KICKS for each in ((kick, False), (0.0, True))))
"""The same where only the base turns the limb: other beginnings for the frames that are not there."""

CHORDS = 2
"""Steps that are taken with what was found out."""

LARGEST_STEPS = (0.02, 0.3)
"""By which scale (its logarithm) and pitch (radians) change in a round."""

SINGULAR = 2e-4
"""Ratio of the effects of two combinations of them below which the weaker one does nothing."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Shapes and turns of a base, targets, and what they lead to."""

    shape: Array
    """`(F, 2)`"""
    turn: Array
    """`(F,)`"""
    beyond: Array
    """`(F, 3)`"""
    off: Array
    """`(F, 4)` errors of the joints."""
    short: Array
    """`(F, 3)` from the tip to its goal, world units."""
    held: dict[str, BoneChannels]
    """What the controls held, by their roles. To be put back as it was: other last bits make the IK's search end elsewhere."""

    def or_better(self, other: Tried) -> Tried:
        """The same with those of the frames at which the other ones are better."""
        better = magnitude(other.off) < magnitude(self.off)
        at = better[:, None]
        shape, off = np.where(at, other.shape, self.shape), np.where(at, other.off, self.off)
        beyond = np.where(at, other.beyond, self.beyond)
        held = {role: _chosen(better, channels, self.held[role]) for role, channels in other.held.items()}
        short = np.where(at, other.short, self.short)
        return Tried(shape, np.where(better, other.turn, self.turn), beyond, off, short, held)


def _chosen(better: Array, channels: BoneChannels, others: BoneChannels) -> BoneChannels:
    at = better[:, None]
    rotation = np.where(at[:, None], channels.rotation, others.rotation)
    return BoneChannels(np.where(at, channels.location, others.location), rotation, np.where(at, channels.scale, others.scale))


def trial_steps(*, near: bool) -> Array:
    """Changes `(2, 2)` of scale and pitch, one of each."""
    return np.diag(NEAR_STEPS if near else TRIAL_STEPS)


def inverse_of(effects: Sequence[Array]) -> Array:
    """From how far the middle joint is off to scale and pitch, `(F, 2, 2)`; effects of each `(F, 2)`."""
    return np.linalg.pinv(np.stack(effects, axis=-1), rcond=SINGULAR)


def step_towards(inverse: Array, off: Array) -> Array:
    """Changes `(F, 2)` of scale and pitch against errors of the joints `(F, 4)`."""
    return np.clip(-(inverse @ off[:, :2, None])[..., 0], -np.array(LARGEST_STEPS), LARGEST_STEPS)
