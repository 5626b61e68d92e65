"""What a chain is to follow, and how it is posed then."""

from __future__ import annotations

from dataclasses import dataclass

from ...array_types import Array, Codes
from ...solver import ChainMethod, ReachOptions
from ..bones import ChainMotion, RestChain
from .posing import Laying, Reference, Turned

TWO = 2
"""Links that the closed form solves."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a chain is to follow, per frame."""

    frames: Array
    """`(..., F, 3, 3)` plane frames, armature space."""
    targets: Array
    """`(..., F, 3)` armature space; what they have out of the plane is ignored."""
    bend: Array
    """`(..., F)` +1 or -1: sign of angle 2."""
    options: ReachOptions
    """Distances in them are in world units."""
    laying: Laying
    world_scale: Array
    """`(..., F)` world units per unit of armature space along the way to the target."""
    limits: Array | None = None
    """`(n, 2)` least and greatest angle of each joint: of the first its turn from rest, of each other the angle between
    its link and the one before; `None` without limits."""
    method: ChainMethod | str = ChainMethod.AUTO
    """How chains of more than two links are solved."""


@dataclass(frozen=True, slots=True)
class ChainPose:
    """A chain on its targets, per frame."""

    turned: Turned
    motion: ChainMotion
    """The motion with the scale of the solution."""
    ratio: Array
    """`(..., F)` scale of the links."""
    reach: Codes
    """`(..., F)` of `solver.Reach`."""
    goals: Array
    """`(..., F, 2)` where the tip is to be, in the plane, from the root joint."""


@dataclass(frozen=True, slots=True)
class Following:
    """One chain with all that it takes to pose it on its targets; or several of one shape, see `together`."""

    chain: RestChain
    motion: ChainMotion
    reference: Reference
    task: Task
