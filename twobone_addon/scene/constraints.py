"""Which constraints move a bone."""

from __future__ import annotations

from .blender_types import Constraint, PoseBone


def is_acting(constraint: Constraint) -> bool:
    """Whether a constraint does anything now."""
    return not constraint.mute and constraint.influence > 0.0


def runs_through(constraint: Constraint, carrier: PoseBone, bone: PoseBone) -> bool:
    """Whether an IK constraint on `carrier`, further down, turns `bone`."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return False
    above = [carrier, *carrier.parent_recursive]
    return bone in above[: constraint.chain_count or len(above)]


def is_constrained(bone: PoseBone) -> bool:
    """Whether constraints of its own, or IK from further down, may pose a bone other than its channels do."""
    if any(not constraint.mute for constraint in bone.constraints):
        return True
    return any(
        runs_through(constraint, below, bone) and not constraint.mute
        for below in bone.children_recursive
        for constraint in below.constraints
    )
