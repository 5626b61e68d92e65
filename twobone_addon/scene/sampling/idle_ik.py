"""IK that acts on nothing, taken out of the way while poses are sampled.

Where the chain of an IK that is muted, or has no influence, overlaps that of another, Blender orders the evaluation of the
bones as if both were solved together, but solves one: about once in three thousand evaluations some bone is posed before the
bone above it is. A chain of one bone overlaps nothing, and an idle one may have any length.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from ..blender_types import Constraint, Object
from ..graph.animation_reading import may_be_animated
from ..graph.rig_graph import turned_by
from ..versions import all_bags


@contextmanager
def idle_ik_shortened(armatures: Iterable[Object]) -> Iterator[None]:
    """Give idle IK that overlaps another's chain a chain of one bone during the block."""
    lengths = [(constraint, constraint.chain_count) for armature in armatures for constraint in _overlapping_idle_ik(armature)]
    for constraint, _ in lengths:
        constraint.chain_count = 1
    try:
        yield
    finally:
        for constraint, length in lengths:
            constraint.chain_count = length


def _overlapping_idle_ik(armature: Object) -> list[Constraint]:
    chains = [
        (constraint, {turned.name for turned in turned_by(bone, constraint)})
        for bone in (armature.pose.bones if armature.pose else ())
        for constraint in bone.constraints
        if constraint.type == "IK"
    ]
    return [
        constraint
        for constraint, bones in chains
        if any(other != constraint and bones & turned for other, turned in chains) and _is_idle(armature, constraint)
    ]


def _is_idle(armature: Object, constraint: Constraint) -> bool:
    """Whether the IK acts on nothing, and no action that might be played during the block changes that."""
    if not constraint.mute and constraint.influence != 0.0:
        return False
    paths = [f"{constraint.path_from_id()}.{name}" for name in ("mute", "influence")]
    curves = (bag.fcurves for action in bpy.data.actions for bag in all_bags(action))
    return not any(may_be_animated(armature, path) for path in paths) and not any(
        of_action.find(path) for of_action in curves for path in paths
    )
