"""Records of what a chain follows and of its resulting pose, and stacks of chains of one shape.

Chains of one shape are posed together with a leading dimension, so that one NumPy call serves a hundred of them. A stack is a
`FollowingChain` whose arrays are `(C, F, ...)` for `C` chains; arrays that are constant over time have one row, `(C, 1, ...)`. A
single chain is a stack of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...records import replace
from ..array_types import Array, Codes, MatrixRows, NumberRows, VectorRows
from ..rows import ROWS_AT_ONCE, of_stack, row_arrays, stack
from ..solver import ChainMethod, ReachOptions
from .bones import ChainMotion, RestChain
from .channels import OneOfSeveral
from .posing import Laying, Reference, TurnedChain, joints_of, pose_path, present_reference, rest_reference

TWO = 2
"""Number of links that the closed form solves."""


@dataclass(frozen=True, slots=True)
class ChainGoal:
    """Plane, target and options of a chain, per frame."""

    frames: MatrixRows
    """`(..., F, 3, 3)` plane frames, armature space."""
    targets: VectorRows
    """`(..., F, 3)` armature space; their component along the plane's normal is ignored."""
    bend: NumberRows
    """`(..., F)` +1 or -1: sign of angle 2."""
    options: ReachOptions
    """Reach options, with distances in world units."""
    laying: Laying
    world_scale: NumberRows
    """`(..., F)` world units per unit of armature space in the direction of the target."""
    limits: Array | None = None
    """`(n, 2)` least and greatest angle of each joint, radians: for the first its turn from rest, for each other the angle
    between its link and the previous one; `None` without limits."""
    method: ChainMethod | str = ChainMethod.AUTO
    """Solution method for chains of more than two links."""


@dataclass(frozen=True, slots=True)
class ChainPose:
    """A chain posed on its targets, per frame."""

    turned: TurnedChain
    motion: ChainMotion
    """The motion, with the scale of the solution applied."""
    ratio: Array
    """`(..., F)` scale of the links."""
    reach: Codes
    """`(..., F)` of `solver.Reach`."""
    goals: Array
    """`(..., F, 2)` goals of the tip, in the plane, relative to the root joint."""


@dataclass(frozen=True, slots=True)
class FollowingChain:
    """All inputs for posing one chain on its targets, or a stack of chains of one shape (see `stacked`)."""

    chain: RestChain
    motion: ChainMotion
    reference: Reference
    task: ChainGoal


def alike(several: Sequence[FollowingChain]) -> list[list[int]]:
    """Group chains of one shape into stacks of limited size; returns their indices."""
    by_shape: dict[Hashable, list[int]] = {}
    for number, following in enumerate(several):
        by_shape.setdefault(_shape_key(following) if len(following.chain.turning) == TWO else number, []).append(number)
    return [part for numbers in by_shape.values() for part in _batches(numbers, len(several[numbers[0]].task.targets))]


def _batches(numbers: list[int], frames: int) -> Iterator[list[int]]:
    most = max(1, ROWS_AT_ONCE // max(1, frames))
    for start in range(0, len(numbers), most):
        yield numbers[start : start + most]


def _shape_key(following: FollowingChain) -> Hashable:
    """Key that is equal for chains of one stack: everything that affects the computation except array values."""
    task, chain = following.task, following.chain
    limits = None if task.limits is None else task.limits.tobytes()
    solving = (replace(task.options, tolerance=0.0), limits, task.method, task.laying.flatten)
    return _inheritance_key(chain), solving, _array_shapes(following.motion, following.reference, following.task)


def _inheritance_key(chain: RestChain) -> Hashable:
    bones = tuple(
        (bone.parent_rest is None, bone.inherit_scale, bone.inherit_rotation, bone.local_location, bone.connected)
        for bone in chain.bones
    )
    return bones, chain.turning


def _array_shapes(*records: Any) -> Hashable:
    return tuple(None if array is None else array.shape for record in records for array in row_arrays(record))


def references(chains: Sequence[RestChain], motions: Sequence[ChainMotion], at_rest: Sequence[bool]) -> list[Reference]:
    """Reference poses from which the bones of chains are turned (see `posing`), computed for all chains of one shape at once.

    at_rest : for each chain, whether its reference has no local rotations; else it has each frame's own
    """
    of_chain: dict[int, Reference] = {}
    for rest, numbers, several in _stacks(chains, motions, at_rest):
        reference = (rest_reference if rest else present_reference)(*several)
        of_chain |= {number: of_stack(reference, index) for index, number in enumerate(numbers)}
    return [of_chain[number] for number in range(len(chains))]


def posed_joints(chains: Sequence[RestChain], motions: Sequence[ChainMotion]) -> list[tuple[list[Array], Array]]:
    """Posed matrices `(F, 4, 4)` of each bone, and joints `(F, n + 1, 3)`, of chains with the motions' own channels.

    They are in armature space, computed for all chains of one shape at once.
    """
    of_chain: dict[int, tuple[list[Array], Array]] = {}
    for _, numbers, (chain, motion) in _stacks(chains, motions, [None] * len(chains)):
        poses = pose_path(chain, motion)
        joints = joints_of(chain, poses)
        of_chain |= {number: ([pose[index] for pose in poses], joints[index]) for index, number in enumerate(numbers)}
    return [of_chain[number] for number in range(len(chains))]


def _stacks(
    chains: Sequence[RestChain], motions: Sequence[ChainMotion], kinds: Sequence[Any]
) -> Iterator[tuple[Any, list[int], tuple[RestChain, ChainMotion]]]:
    """The chains of one kind and shape as stacks of limited size: each with its kind and the numbers of its chains."""
    by_shape: dict[Hashable, list[int]] = {}
    for number, (chain, motion, kind) in enumerate(zip(chains, motions, kinds, strict=True)):
        by_shape.setdefault((kind, _inheritance_key(chain), _array_shapes(motion)), []).append(number)
    for numbers in by_shape.values():
        for part in _batches(numbers, max(len(array) for array in row_arrays(motions[numbers[0]]) if array is not None)):
            several = stack(*(chains[number] for number in part)), stack(*(motions[number] for number in part))
            yield kinds[part[0]], part, several


def stacked(several: Sequence[FollowingChain]) -> FollowingChain:
    """Stack chains of one shape (see `alike`)."""
    together, tolerances = stack(*several), np.array([[following.task.options.tolerance] for following in several])
    # Options are no rows: those of the first chain stand for all (see `alike`), except the tolerance, which may differ.
    return replace(together, task=replace(together.task, options=replace(together.task.options, tolerance=tolerances)))


def pose_of_one(pose: ChainPose, index: int, following: FollowingChain) -> ChainPose:
    """The pose of one chain of a stack."""
    turned, motion = pose.turned, of_stack(pose.motion, index)
    known = turned.known_poses and tuple(poses[index] for poses in turned.known_poses)
    rotations = tuple(OneOfSeveral(rotation, index) for rotation in turned.rotations)
    of_one = TurnedChain(following.chain, motion, rotations, known, None if known else (turned, index))
    return ChainPose(of_one, motion, pose.ratio[index], pose.reach[index], pose.goals[index])
