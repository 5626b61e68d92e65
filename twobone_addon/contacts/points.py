"""The two points on which a foot stands, from its bones at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array


@dataclass(frozen=True, slots=True)
class FootPoints:
    """Heel and ball as points fixed to the bone that carries the foot, in that bone's own space."""

    heel: Array
    """`(3,)` below the ankle at rest, at the height of the sole."""
    ball: Array
    """`(3,)` the joint about which the toes bend: head of the toe bone, else tail of the foot, else the heel."""
    ball_height: float
    """How far the ball is above the sole at rest, in the armature's units; the heel is on it."""


UPWARDS = 0.5
"""Part of the length of a foot by which its tail may be above its ankle at rest; where an import has guessed the tail of a bone
that is the last one, it may be anywhere, and tells nothing."""

NEAR_FLOOR = 0.18
"""Leg lengths that the lowest joint of a foot may be above the armature's origin if that is on the floor at rest."""


def foot_points(
    *,
    foot_rest: Array,
    foot_length: float,
    toe_rest: Array | None,
    joints_below: Array,
    up_armature: Array,
    leg_length: float = 0.0,
) -> FootPoints:
    """Heel and ball of a foot.

    `foot_rest` `(4, 4)` and `toe_rest` `(4, 4)`, or `None` without a toe bone, are rest matrices in armature space, and
    `foot_length` is the distance from the foot's head to its tail. `joints_below` `(n, 3)`, which may be empty, are the
    heads and tails of all bones below the foot at rest, armature space: the sole is as low as the lowest joint of the
    foot, or on the floor, at the height of the armature's origin, if that is a little lower. `up_armature` `(3,)` is a
    vector of any length that points up, `leg_length` that of the leg, 0 if the floor is not to count. A leg that ends at
    its tip, without a foot, has a foot of length 0, whose heel and ball are the tip; of a foot without toes that points
    upwards, such as a paw whose end an import has guessed, the ball is the heel.
    """
    up = up_armature / np.linalg.norm(up_armature)
    ankle = foot_rest[:3, 3]
    tail = ankle + foot_rest[:3, 1] * foot_length
    ball = tail if toe_rest is None else toe_rest[:3, 3]
    is_guessed = toe_rest is None and (tail - ankle) @ up > UPWARDS * float(np.linalg.norm(tail - ankle))
    sole = np.min(np.concatenate([[ankle, tail, ball], np.reshape(joints_below, (-1, 3))]) @ up)
    if 0.0 < sole <= NEAR_FLOOR * leg_length:
        sole = 0.0
    heel = ankle - up * (ankle @ up - sole)
    ball = heel if is_guessed else ball
    return FootPoints(
        heel=_in_bone(heel, foot_rest),
        ball=_in_bone(ball, foot_rest),
        ball_height=float(ball @ up - sole),
    )


def posed_point(point_bone: Array, space_from_bone: Array) -> Array:
    """A point `(3,)` of a bone in the space of its posed matrices `(F, 4, 4)`: `(F, 3)`."""
    return space_from_bone[..., :3, :3] @ point_bone + space_from_bone[..., :3, 3]


def _in_bone(point_armature: Array, rest: Array) -> Array:
    return np.linalg.solve(rest[:3, :3], point_armature - rest[:3, 3])
