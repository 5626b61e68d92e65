"""Find the direction in which a character faces, from its feet."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array
from ...core.limbs.body.judging import Kind
from ...core.limbs.finding import find_limbs
from ...scene.blender_types import Object
from ...scene.rig.chain_finding import chain_from_names
from ...scene.rig.rest_reading import read_skeleton

AHEAD = 0.3
"""Least horizontal part of the feet's direction, relative to its length, that gives a heading; a hanging foot has less."""

BESIDE = 0.02
"""Distance from a bone's tail, relative to its length, within which a child begins at the tail."""


def feet_of(armature: Object) -> list[tuple[str, str]]:
    """Foot bone and toe bone of every leg found; the toe is empty where there is none."""
    legs = (limb for limb in find_limbs(read_skeleton(armature)).limbs if limb.kind is Kind.LEG and not limb.tip_at_tail)
    return [(leg.tip, leg.toe) for leg in legs]


def foot_of_chain(armature: Object, upper: str, lower: str, tip: str, tip_end: str) -> list[tuple[str, str]]:
    """Bones that begin at a chain's tip, as feet without toes; raises `ChainError` where there is no such chain."""
    names = chain_from_names(armature, upper, lower, tip, tip_end)
    if not names.tip_at_tail:
        return [(names.tip, "")]
    last = armature.data.bones[names.tip]
    near = BESIDE * last.length
    return [(bone.name, "") for bone in last.children if (bone.head_local - last.tail_local).length < near]


def ahead(armature: Object, feet: list[tuple[str, str]], upper: str) -> Array:
    """Horizontal unit direction `(3,)`, world space: that of the feet at rest, rotated with the parent of the limb `upper`.

    Zeros where the feet give no direction.
    """
    bones = armature.data.bones
    total = np.zeros(3)
    for foot, toe in feet:
        direction = np.array((bones[toe].head_local if toe else bones[foot].tail_local) - bones[foot].head_local)
        total += direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
    parent = armature.pose.bones[upper].parent
    posed_from_rest = parent.matrix.to_3x3() @ parent.bone.matrix_local.to_3x3().inverted() if parent else np.eye(3)
    total = np.array(armature.matrix_world)[:3, :3] @ np.array(posed_from_rest) @ total
    horizontal = total * (1.0, 1.0, 0.0)
    length = float(np.linalg.norm(horizontal))
    return horizontal / length if length > AHEAD * np.linalg.norm(total) else np.zeros(3)
