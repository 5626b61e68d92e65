"""Feet out of armatures: the bone that begins at a limb's tip, the two points on which it stands, and what scales it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array
from ...arrays import path_length
from ...contacts.points import FootPoints, foot_points
from ...rig.bones import RestChain
from ..blender_types import Object, PoseBone
from ..keys.reading import moving_curves
from .chain_finding import ChainNames
from .rest_reading import starts_at_tail

ON_ITS_HEAD = 0.5
"""Part of its length by which a leg at rest goes up, not down, where its armature is turned or mirrored upside down."""

EVEN = 1e-5
"""Part by which the scales of a bone's axes may differ and still be one."""


def foot_bone(armature: Object, names: ChainNames) -> PoseBone | None:
    """The bone that begins at the tip of a limb; `None` where the limb ends there, or goes on in several bones."""
    carrier = armature.pose.bones[names.tip]
    if not names.tip_at_tail:
        return carrier
    at_tip = [child for child in carrier.children if starts_at_tail(child)]
    return at_tip[0] if len(at_tip) == 1 else None


def read_foot_points(armature: Object, names: ChainNames, rest: RestChain, toe: str) -> FootPoints:
    """Heel and ball in the space of the foot, or of the bone that carries the tip of a limb without foot.

    `toe` names the bone of the toes; without one, or with one that is not below the foot, the ball is the foot's tail.
    """
    foot = foot_bone(armature, names)
    if foot is None:
        return FootPoints(rest.tip, rest.tip, 0.0)
    joints = rest.rest_joints()
    below = {bone.name: bone.bone for bone in foot.children_recursive}
    places = [place for bone in below.values() for place in (bone.head_local, bone.tail_local)]
    return foot_points(
        foot_rest=np.array(foot.bone.matrix_local),
        foot_length=foot.bone.length,
        toe_rest=np.array(below[toe].matrix_local) if toe in below else None,
        joints_below=np.array(places).reshape(-1, 3),
        up_armature=_up_at_rest(armature, joints),
        leg_length=float(path_length(joints)),
    )


def _up_at_rest(armature: Object, joints: Array) -> Array:
    """The world's up `(3,)` in the armature's space, or its down where that turns the character on its head.

    joints : (n, 3) of a leg at rest, armature space, from the hip on. A negative scale in the world's vertical puts a
    character on its head as half a turn does; its soles stay where its legs end.
    """
    up = np.linalg.solve(np.array(armature.matrix_world)[:3, :3], np.array([0.0, 0.0, 1.0]))
    rise = (joints[-1] - joints[0]) @ up / np.linalg.norm(up)
    return -up if rise > ON_ITS_HEAD * float(path_length(joints)) else up


def scaled_bone_above(armature: Object, bone: str) -> str | None:
    """Name of the nearest bone above `bone` whose scale changes or is uneven; `None` where there is none."""
    above = armature.pose.bones[bone].parent_recursive
    return next((each.name for each in above if _is_scaled(armature, each)), None)


def _is_scaled(armature: Object, bone: PoseBone) -> bool:
    curves = moving_curves(armature, f"{bone.path_from_id()}.scale")
    # Importers key scales that never change.
    if any(not curve.keyframe_points or _spread([key.co.y for key in curve.keyframe_points]) > EVEN for curve in curves):
        return True
    return _spread(bone.scale[:]) > EVEN


def _spread(values: Sequence[float]) -> float:
    """How much sizes differ, as a part of the largest."""
    sizes = np.abs(values)
    return float(np.ptp(sizes) / max(sizes.max(), np.finfo(float).tiny))
