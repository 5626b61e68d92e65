"""Rest chains out of armatures."""

from __future__ import annotations

import numpy as np
from mathutils import Vector

from ...array_types import Array
from ...rig.bones import RestChain
from ..blender_types import Object, PoseBone
from ..rest_bones import read_rest_bone
from .chain_finding import COINCIDENT, ChainNames


def read_rest_chain(armature: Object, names: ChainNames, *, all_joints: bool) -> RestChain:
    """The bones from the upper one to the one that carries the tip, at rest, in armature space.

    `all_joints`: every bone from the upper to the lower one turns; else only these two.
    """
    bones = armature.pose.bones
    path = bone_path(bones[names.upper], bones[names.tip])
    carrier = path[-1].bone
    tip = np.array([0.0, carrier.length if names.tip_at_tail else 0.0, 0.0])
    lower = [bone.name for bone in path].index(names.lower)
    turning = tuple(range(lower + 1)) if all_joints else (0, lower)
    return RestChain(tuple(read_rest_bone(bone) for bone in path), turning, tip)


def all_places(armature: Object) -> Array:
    """Heads and tails `(4 b, 3)` of all bones of an armature, at rest and as they are posed now, armature space."""
    rest, posed = armature.data.bones, armature.pose.bones
    found = []
    for bones, names in ((rest, ("head_local", "tail_local")), (posed, ("head", "tail"))):
        for name in names:
            places = np.empty(3 * len(bones), dtype=np.float32)
            bones.foreach_get(name, places)
            found.append(places.reshape(-1, 3))
    return np.concatenate(found).astype(float)


def mesh_extents(armature: Object) -> Array:
    """Along each axis of the armature the extent `(3,)` of the meshes that hang from it, that of the largest one."""
    extents = [np.zeros(3)]
    to_armature = armature.matrix_world.inverted_safe()
    for thing in armature.children_recursive:
        if thing.type == "MESH":
            corners = [to_armature @ thing.matrix_world @ Vector(corner) for corner in thing.bound_box]
            extents.append(np.ptp(np.array(corners), axis=0))
    return np.max(extents, axis=0)


def bone_path(first: PoseBone, last: PoseBone) -> list[PoseBone]:
    """The bones from `first` down to `last`, both included."""
    path = [last]
    while path[-1] != first:
        path.append(path[-1].parent)
    return path[::-1]


def starts_at_tail(child: PoseBone) -> bool:
    """Whether a bone's head is its parent's tail."""
    gap = (child.bone.head_local - child.parent.bone.tail_local).length
    return gap <= COINCIDENT * child.parent.bone.length
