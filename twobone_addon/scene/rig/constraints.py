"""Which constraints move a bone, and which bones a constraint moves."""

from __future__ import annotations

from ..blender_types import Constraint, PoseBone
from ..moves.dependencies import inverse_kinematics


def is_acting(constraint: Constraint) -> bool:
    """Whether a constraint does anything now."""
    return not constraint.mute and constraint.influence > 0.0


def is_constrained(bone: PoseBone) -> bool:
    """Whether constraints of its own, or IK from further down, may pose a bone other than its channels do."""
    turning = inverse_kinematics(bone.id_data).get(bone.name, [])
    return any(not constraint.mute for constraint in (*bone.constraints, *turning))


def turned_bones(constraint: Constraint, carrier: PoseBone) -> list[PoseBone]:
    """The bones that an IK constraint on `carrier` turns, last one first."""
    above = [carrier, *carrier.parent_recursive]
    # An IK that spares its own bone begins one bone further up.
    turned = above if constraint.use_tail else above[1:]
    return turned[: constraint.chain_count or len(turned)]
