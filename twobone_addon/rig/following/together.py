"""Chains of one shape as one, with a leading dimension: what NumPy is asked once, it answers for a hundred of them.

A stack is a `Following` whose arrays are `(C, F, ...)` for `C` chains; what does not move has one row, `(C, 1, ...)`. A single
chain is a stack of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...array_types import Array
from ..bones import BoneChannels, ChainMotion, RestBone, RestChain
from ..local_rotations import OneOfSeveral
from ..rotations import AXES
from .posing import Laying, Reference, Turned, present_reference, rest_reference
from .tasks import TWO, ChainPose, Following, Task

ROWS_AT_ONCE = 16384
"""Frames of all chains of a stack: many, for each call has its cost, few enough for a core's cache."""


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
    return _inheriting(chain), asked, _shapes(_arrays(one))


def _inheriting(chain: RestChain) -> Hashable:
    bones = tuple(
        (bone.parent_rest is None, bone.inherit_scale, bone.inherit_rotation, bone.local_location, bone.connected)
        for bone in chain.bones
    )
    return bones, chain.turning


def _shapes(arrays: Iterable[Array | None]) -> Hashable:
    return tuple(None if array is None else array.shape for array in arrays)


def _motion_arrays(motion: ChainMotion) -> Iterator[Array | None]:
    yield motion.parent_pose
    for channels in motion.channels:
        yield from (channels.location, channels.rotation, channels.scale)


def _arrays(one: Following) -> Iterator[Array | None]:
    reference, task = one.reference, one.task
    yield from _motion_arrays(one.motion)
    yield from (reference.joints, *reference.inherited, *reference.links, *reference.rotations)
    yield from (task.frames, task.targets, task.bend, task.world_scale, task.laying.normal, task.laying.own)


def references(chains: Sequence[RestChain], motions: Sequence[ChainMotion], at_rest: Sequence[bool]) -> list[Reference]:
    """The poses from which the bones of chains are turned, see `posing`, worked out for all chains of a shape at once.

    at_rest : whether the bones are turned from no rotation of their own; else from that which each frame has
    """
    by_shape: dict[tuple[bool, Hashable, Hashable], list[int]] = {}
    for number, (chain, motion, rest) in enumerate(zip(chains, motions, at_rest, strict=True)):
        by_shape.setdefault((rest, _inheriting(chain), _shapes(_motion_arrays(motion))), []).append(number)
    found: dict[int, Reference] = {}
    for (rest, *_), numbers in by_shape.items():
        for part in _parts(numbers, max(len(array) for array in _motion_arrays(motions[numbers[0]]) if array is not None)):
            stack = _chains([chains[number] for number in part]), _motions([motions[number] for number in part])
            reference = (rest_reference if rest else present_reference)(*stack)
            found |= {number: _reference_of_one(reference, place) for place, number in enumerate(part)}
    return [found[number] for number in range(len(chains))]


def stacked(several: Sequence[Following]) -> Following:
    """Chains of one shape, see `alike`, as one."""
    return Following(
        _chains([one.chain for one in several]),
        _motions([one.motion for one in several]),
        _references([one.reference for one in several]),
        _tasks([one.task for one in several]),
    )


def pose_of_one(pose: ChainPose, place: int, one: Following) -> ChainPose:
    """What became of one of the chains of a stack."""
    turned, motion = pose.turned, _motion_of_one(pose.motion, place)
    known = turned.known_poses and tuple(poses[place] for poses in turned.known_poses)
    rotations = tuple(OneOfSeveral(each, place) for each in turned.rotations)
    of_one = Turned(one.chain, motion, rotations, known, None if known else (turned, place))
    return ChainPose(of_one, motion, pose.ratio[place], pose.reach[place], pose.goals[place])


def _motion_of_one(motion: ChainMotion, place: int) -> ChainMotion:
    channels = (BoneChannels(each.location[place], each.rotation[place], each.scale[place]) for each in motion.channels)
    return ChainMotion(None if motion.parent_pose is None else motion.parent_pose[place], tuple(channels))


def _reference_of_one(reference: Reference, place: int) -> Reference:
    return Reference(
        joints=reference.joints[place],
        inherited=tuple(each[place] for each in reference.inherited),
        links=tuple(each[place] for each in reference.links),
        # No rotation at all is the same for all chains.
        rotations=tuple(each if each.ndim == AXES else each[place] for each in reference.rotations),
    )


def _chains(chains: list[RestChain]) -> RestChain:
    bones = tuple(map(_bones, zip(*(chain.bones for chain in chains), strict=True)))
    return RestChain(bones, chains[0].turning, _stack([chain.tip for chain in chains], 1))


def _bones(bones: tuple[RestBone, ...]) -> RestBone:
    above = _stack_known([bone.parent_rest for bone in bones], 2)
    return replace(bones[0], rest=_stack([bone.rest for bone in bones], 2), parent_rest=above)


def _motions(motions: list[ChainMotion]) -> ChainMotion:
    channels = (
        BoneChannels(
            _stack([each.location for each in bones], 1),
            _stack([each.rotation for each in bones], 2),
            _stack([each.scale for each in bones], 1),
        )
        for bones in zip(*(motion.channels for motion in motions), strict=True)
    )
    return ChainMotion(_stack_known([motion.parent_pose for motion in motions], 2), tuple(channels))


def _references(references: list[Reference]) -> Reference:
    return Reference(
        joints=_stack([each.joints for each in references], 2),
        inherited=_stack_all((each.inherited for each in references), 2),
        links=_stack_all((each.links for each in references), 1),
        rotations=_stack_all((each.rotations for each in references), 2),
    )


def _tasks(tasks: list[Task]) -> Task:
    layings, tolerances = [task.laying for task in tasks], np.array([[task.options.tolerance] for task in tasks])
    return replace(
        tasks[0],
        frames=_stack([task.frames for task in tasks], 2),
        targets=_stack([task.targets for task in tasks], 1),
        bend=_stack([task.bend for task in tasks], 0),
        options=replace(tasks[0].options, tolerance=tolerances),
        laying=Laying(
            layings[0].flatten,
            _stack_known([laying.normal for laying in layings], 1),
            _stack_known([laying.own for laying in layings], 2),
        ),
        world_scale=_stack([task.world_scale for task in tasks], 0),
    )


def _stack_all(arrays: Iterable[tuple[Array, ...]], size: int) -> tuple[Array, ...]:
    return tuple(_stack(list(each), size) for each in zip(*arrays, strict=True))


def _stack_known(arrays: list[Array | None], size: int) -> Array | None:
    """The same of arrays that all chains have, or none."""
    known = [array for array in arrays if array is not None]
    return _stack(known, size) if known else None


def _stack(arrays: list[Array], size: int) -> Array:
    """Arrays `(F, ...)` with `size` axes a row as `(C, F, ...)`; one that has no rows has one. A single one is not copied."""
    rows = [array if array.ndim > size else array[None] for array in arrays]
    return rows[0][None] if len(rows) == 1 else np.stack(rows)
