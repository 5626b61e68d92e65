"""What a chain is to follow, and how it is posed then.

Chains of one shape are posed as one, with a leading dimension: what NumPy is asked once, it answers for a hundred of them. A
stack is a `Following` whose arrays are `(C, F, ...)` for `C` chains; what does not move has one row, `(C, 1, ...)`. A single
chain is a stack of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..array_types import Array, Codes, MatrixRows, NumberRows, VectorRows
from ..rows import ROWS_AT_ONCE, of_stack, row_arrays, stack
from ..solver import ChainMethod, ReachOptions
from .bones import ChainMotion, RestChain
from .channels import OneOfSeveral
from .posing import Laying, Reference, Turned, present_reference, rest_reference

TWO = 2
"""Links that the closed form solves."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a chain is to follow, per frame."""

    frames: MatrixRows
    """`(..., F, 3, 3)` plane frames, armature space."""
    targets: VectorRows
    """`(..., F, 3)` armature space; what they have out of the plane is ignored."""
    bend: NumberRows
    """`(..., F)` +1 or -1: sign of angle 2."""
    options: ReachOptions
    """Distances in them are in world units."""
    laying: Laying
    world_scale: NumberRows
    """`(..., F)` world units per unit of armature space along the way to the target."""
    limits: Array | None = None
    """`(n, 2)` least and greatest angle of each joint: of the first its turn from rest, of each other the angle between its link
    and the one before; `None` without limits."""
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
    """`(..., F, 2)`, the tip's goals, in the plane, from the root joint."""


@dataclass(frozen=True, slots=True)
class Following:
    """One chain with all that it takes to pose it on its targets; or several of one shape, see `stacked`."""

    chain: RestChain
    motion: ChainMotion
    reference: Reference
    task: Task


def alike(several: Sequence[Following]) -> list[list[int]]:
    """Numbers of the chains in stacks: chains of one shape, as many as are worth it."""
    by_shape: dict[Hashable, list[int]] = {}
    for number, one in enumerate(several):
        by_shape.setdefault(_shape(one) if len(one.chain.turning) == TWO else number, []).append(number)
    return [part for numbers in by_shape.values() for part in _parts(numbers, len(several[numbers[0]].task.targets))]


def _parts(numbers: list[int], frames: int) -> Iterator[list[int]]:
    most = max(1, ROWS_AT_ONCE // max(1, frames))
    for start in range(0, len(numbers), most):
        yield numbers[start : start + most]


def _shape(one: Following) -> Hashable:
    """What chains of one stack have in common: all that decides what is done with them, but for the numbers themselves."""
    task, chain = one.task, one.chain
    limits = None if task.limits is None else task.limits.tobytes()
    asked = (replace(task.options, tolerance=0.0), limits, task.method, task.laying.flatten)
    return _inheriting(chain), asked, _shapes(one.motion, one.reference, one.task)


def _inheriting(chain: RestChain) -> Hashable:
    bones = tuple(
        (bone.parent_rest is None, bone.inherit_scale, bone.inherit_rotation, bone.local_location, bone.connected)
        for bone in chain.bones
    )
    return bones, chain.turning


def _shapes(*records: Any) -> Hashable:
    return tuple(None if array is None else array.shape for record in records for array in row_arrays(record))


def references(chains: Sequence[RestChain], motions: Sequence[ChainMotion], at_rest: Sequence[bool]) -> list[Reference]:
    """The poses from which the bones of chains are turned, see `posing`, worked out for all chains of a shape at once.

    at_rest : whether the bones are turned from no rotation of their own; else from that which each frame has
    """
    by_shape: dict[tuple[bool, Hashable, Hashable], list[int]] = {}
    for number, (chain, motion, rest) in enumerate(zip(chains, motions, at_rest, strict=True)):
        by_shape.setdefault((rest, _inheriting(chain), _shapes(motion)), []).append(number)
    found: dict[int, Reference] = {}
    for (rest, *_), numbers in by_shape.items():
        for part in _parts(numbers, max(len(array) for array in row_arrays(motions[numbers[0]]) if array is not None)):
            several = stack(*(chains[number] for number in part)), stack(*(motions[number] for number in part))
            reference = (rest_reference if rest else present_reference)(*several)
            found |= {number: of_stack(reference, place) for place, number in enumerate(part)}
    return [found[number] for number in range(len(chains))]


def stacked(several: Sequence[Following]) -> Following:
    """Chains of one shape, see `alike`, as one."""
    found, tolerances = stack(*several), np.array([[one.task.options.tolerance] for one in several])
    return replace(found, task=replace(found.task, options=replace(found.task.options, tolerance=tolerances)))


def pose_of_one(pose: ChainPose, place: int, one: Following) -> ChainPose:
    """What became of one of the chains of a stack."""
    turned, motion = pose.turned, of_stack(pose.motion, place)
    known = turned.known_poses and tuple(poses[place] for poses in turned.known_poses)
    rotations = tuple(OneOfSeveral(each, place) for each in turned.rotations)
    of_one = Turned(one.chain, motion, rotations, known, None if known else (turned, place))
    return ChainPose(of_one, motion, pose.ratio[place], pose.reach[place], pose.goals[place])
