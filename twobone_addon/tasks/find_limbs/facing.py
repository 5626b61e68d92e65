"""Where a character looks, as its feet tell."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.limbs.body.judging import Kind
from ...core.limbs.finding import find_limbs
from ...scene.blender_types import Object
from ...scene.rig.chain_finding import chain_from_names
from ...scene.rig.rest_reading import read_skeleton

AHEAD = 0.3
"""Part of a foot's length that has to be level for the foot to point anywhere: less has one that hangs down."""

BESIDE = 0.02
"""Part of a bone's length within which another one begins at its tail."""


def feet_of(armature: Object) -> list[tuple[str, str]]:
    """The foot of every leg that is found, with the bone of its toes, or none."""
    legs = (limb for limb in find_limbs(read_skeleton(armature)).limbs if limb.kind is Kind.LEG and not limb.tip_at_tail)
    return [(leg.tip, leg.toe) for leg in legs]


def foot_of_chain(armature: Object, upper: str, lower: str, tip: str, tip_end: str) -> list[tuple[str, str]]:
    """What begins at the end of a chain; raises `ChainError` where there is no such chain."""
    names = chain_from_names(armature, upper, lower, tip, tip_end)
    if not names.tip_at_tail:
        return [(names.tip, "")]
    last = armature.data.bones[names.tip]
    near = BESIDE * last.length
    return [(bone.name, "") for bone in last.children if (bone.head_local - last.tail_local).length < near]


def ahead(armature: Object, feet: list[tuple[str, str]], upper: str) -> Array:
    """A level direction `(3,)`, world space, of length 1: that of the feet at rest, turned as what carries the limb is now.

    Zeros where no foot tells.
    """
    bones = armature.data.bones
    told = np.zeros(3)
    for foot, toe in feet:
        way = np.array((bones[toe].head_local if toe else bones[foot].tail_local) - bones[foot].head_local)
        told += way / max(float(np.linalg.norm(way)), np.finfo(float).tiny)
    carrier = armature.pose.bones[upper].parent
    turned = carrier.matrix.to_3x3() @ carrier.bone.matrix_local.to_3x3().inverted() if carrier else np.eye(3)
    told = np.array(armature.matrix_world)[:3, :3] @ np.array(turned) @ told
    level = told * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(level))
    return level / length if length > AHEAD * np.linalg.norm(told) else np.zeros(3)
