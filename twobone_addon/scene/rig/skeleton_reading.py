"""An armature's bones at rest, as the search for limbs takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...array_types import Array
from ...limbs.skeleton import Skeleton
from ..blender_types import Constraint, Object
from ..moves.dependencies import inverse_kinematics

TURNING = {
    "COPY_TRANSFORMS", "COPY_ROTATION", "TRANSFORM", "DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO", "ARMATURE",
}  # fmt: skip
"""Constraints after which a bone's own rotation is not what is seen."""

FOLLOWING = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "CHILD_OF", "ARMATURE"}
"""Constraints by which a bone stands for another one, where both begin at one place."""


def read_skeleton(armature: Object) -> Skeleton:
    """The bones of an armature, with which of them constraints move."""
    bones = armature.data.bones
    number = {bone.name: index for index, bone in enumerate(bones)}
    turned = inverse_kinematics(armature)
    copies: list[tuple[int, int]] = []
    bound: set[int] = set()
    for bone in armature.pose.bones:
        turning = [each for each in bone.constraints if each.type in TURNING]
        if any(not each.mute for each in (*turning, *turned.get(bone.name, ()))):
            bound.add(number[bone.name])
        copies += [(number[bone.name], number[name]) for name in _followed(armature, bone.constraints) if name in number]
    world_from_armature = np.array(armature.matrix_world)[:3, :3]
    down = np.linalg.lstsq(world_from_armature, np.array([0.0, 0.0, -1.0]), rcond=None)[0]
    return Skeleton(
        names=tuple(number),
        parents=tuple(number[bone.parent.name] if bone.parent else -1 for bone in bones),
        heads=_places(armature, "head_local"),
        tails=_places(armature, "tail_local"),
        deforms=tuple(bone.use_deform for bone in bones),
        copies=tuple(copies),
        bound=frozenset(bound),
        down=(float(down[0]), float(down[1]), float(down[2])),
        mirrored=bool(np.linalg.det(world_from_armature) < 0.0),
    )


def _followed(armature: Object, constraints: Iterable[Constraint]) -> Iterator[str]:
    """Names of the bones of the same armature that constraints make a bone follow."""
    for constraint in constraints:
        if constraint.type not in FOLLOWING:
            continue
        if constraint.type == "ARMATURE":
            yield from (entry.subtarget for entry in constraint.targets if entry.target == armature)
        elif constraint.target == armature:
            yield constraint.subtarget


def _places(armature: Object, name: str) -> Array:
    places = np.empty(3 * len(armature.data.bones), dtype=np.float32)
    armature.data.bones.foreach_get(name, places)
    return places.reshape(-1, 3).astype(float)
