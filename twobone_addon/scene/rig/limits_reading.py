"""Limits that a rig sets to the turns of its bones: by Limit Rotation constraints, or by the bones' own IK limits."""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ..blender_types import Constraint, PoseBone
from .constraints import is_acting

AXES = "xyz"

FREE = (-np.inf, np.inf)


def turn_limits(bone: PoseBone) -> Array:
    """Least and greatest turn `(3, 2)` of a bone from rest about each of its own axes; infinite where it is free.

    A Limit Rotation constraint in local space counts; without one, the bone's IK limits and locks do.
    """
    limiting = [constraint for constraint in bone.constraints if _limits_locally(constraint)]
    if limiting:
        ranges = np.array([[_range(constraint, axis) for axis in AXES] for constraint in limiting])
        return np.stack([ranges[..., 0].max(axis=0), ranges[..., 1].min(axis=0)], axis=-1)
    return np.array([_ik_range(bone, axis) for axis in AXES])


def _limits_locally(constraint: Constraint) -> bool:
    return constraint.type == "LIMIT_ROTATION" and constraint.owner_space == "LOCAL" and is_acting(constraint)


def _range(constraint: Constraint, axis: str) -> tuple[float, float]:
    if not getattr(constraint, f"use_limit_{axis}"):
        return FREE
    return getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")


def _ik_range(bone: PoseBone, axis: str) -> tuple[float, float]:
    if getattr(bone, f"lock_ik_{axis}"):
        return 0.0, 0.0
    if not getattr(bone, f"use_ik_limit_{axis}"):
        return FREE
    return getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
