"""The two points on which a foot stands: from its mesh, from its bones at rest, and from how it stands and rolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import magnitude
from .states import ContactState, runs

Source = Literal["MESH", "BONE", "MOTION", "SET", "REST"]
"""What tells where a sole is: vertices, a heel bone, feet as they stand over the take, a number, or only joints at rest."""

UPWARDS = 0.5
"""Part of the length of a foot by which its tail may be above its ankle at rest; where an import has guessed the tail of a bone
that is the last one, it may be anywhere, and tells nothing."""
NEAR_FLOOR = 0.18
"""Leg lengths that the lowest joint of a foot may be above the armature's origin if that is on the floor at rest."""
STRIKE = np.tan(np.radians(20.0))
"""Pitch of a foot that lands, or goes: the heel is what touches the ground first, the toes are what does last."""
FARTHEST = 1.0
"""Part of the way from ankle to ball that a heel may be behind the ankle."""
TILTED, LAID_OUT = np.cos(np.radians([60.0, 30.0]))
"""Cosine of what a foot at rest may be off a foot that stands: more is a rest that is no stand. Feet that roll, or run on
tiptoe, are less, so that only of a rest that is no pose less is enough."""
IN_LINE = np.cos(np.radians(12.0))
"""Cosine of the angle up to which hip, knee, ankle and ball are in one line at rest, as in recordings whose rest is no pose."""
CALMEST, LEAST_STANDING = 1 / 3, 3
"""Part of the frames at which a foot stands that tells how it does, those at which it turns least; and how many at least."""
ROLLED = 0.05
"""Sine of the pitch from which rolling tells where the heel is."""
LEAST_BEHIND = 0.01
"""Leg lengths; nearer to the place below the ankle, a heel is there."""
ALIKE, LEAST_ROLLS = 0.35, 4
"""Part of the distance behind the ankle by which half of the frames may say another; and how many frames say anything."""


@dataclass(frozen=True, slots=True)
class FootPoints:
    """Heel and ball as points fixed to the bone that carries the foot, in that bone's own space."""

    heel: Array
    """`(3,)` on the sole, below the ankle or behind it."""
    ball: Array
    """`(3,)` the joint about which the toes bend: head of the toe bone, else tail of the foot, else the heel."""
    ball_height: float
    """How far the ball is above the sole, in the armature's units; the heel is on it."""
    source: Source = "REST"
    up: Array = field(default_factory=lambda: np.zeros(3))
    """`(3,)` of length 1, away from the sole; zeros where a leg stands on its tip."""
    joints: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(n, 3)` of the foot: ankle, end, where the toes begin, then all below."""
    seen: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(n, 3)` vertices of the foot, or places on its sole; none where only joints are known."""
    size: float = 1.0
    """The armature's units in one of the bone's."""
    is_stand: bool = True
    """Whether the rest may be a stand; in one in which all joints of a leg are in one line nobody stands."""
    has_toes: bool = False
    """Whether a bone of the toes tells where the ball is; the end of a foot may be guessed by an import."""

    @property
    def ankle_height(self) -> float:
        """How far the ankle is above the sole, in the armature's units."""
        return float(-self.heel @ self.up) * self.size

    def standing(self, up: Array) -> FootPoints:
        """The same foot as it stands with `up` `(3,)` upwards, whatever its rest is."""
        source: Source = self.source if len(self.seen) else "MOTION"
        return replace(_placed(self, up, np.min((self.seen if len(self.seen) else self.joints) @ up)), source=source)

    def behind(self, distance: float) -> FootPoints:
        """The same with the heel so far behind the ankle, which rolling feet tell."""
        return replace(self, heel=self.heel - distance * _ahead(self.ball, self.up), source="MOTION")

    def below(self, height: float) -> FootPoints:
        """The same with the sole `height` below the ankle, armature units, as somebody says."""
        return replace(_placed(self, self.up, -height / self.size), source="SET") if self.up.any() else self


def foot_points(
    *,
    foot_rest: Array,
    foot_length: float,
    toe_rest: Array | None,
    joints_below: Array,
    up_armature: Array,
    leg_length: float = 0.0,
    leg: Array | None = None,
    seen: Array | None = None,
    source: Source = "REST",
) -> FootPoints:
    """Heel and ball of a foot.

    `foot_rest` `(4, 4)` and `toe_rest` `(4, 4)`, or `None` without a toe bone, are rest matrices in armature space, and
    `foot_length` is the distance from the foot's head to its tail. `joints_below` `(n, 3)`, which may be empty, are the
    heads and tails of all bones below the foot at rest, armature space: the sole is as low as the lowest joint of the
    foot, or on the floor, at the height of the armature's origin, if that is a little lower. `up_armature` `(3,)` is a
    vector of any length that points up, `leg_length` that of the leg, 0 if the floor is not to count, and `leg` `(n, 3)`
    its joints at rest, if it is to be told whether it stands. `seen` `(n, 3)` are vertices of the foot, or places on its
    sole, armature space, known from `source`: they tell better than joints do. A leg that ends at its tip, without a foot,
    has a foot of length 0, whose heel and ball are the tip; of a foot without toes that points upwards, such as a paw whose
    end an import has guessed, the ball is what touches the ground last of `seen`, or the heel where nothing is seen.
    """
    up = up_armature / np.linalg.norm(up_armature)
    ankle = foot_rest[:3, 3]
    tail = ankle + foot_rest[:3, 1] * foot_length
    ball = tail if toe_rest is None else toe_rest[:3, 3]
    joints = np.concatenate([[ankle, tail, ball], np.reshape(joints_below, (-1, 3))])
    known = joints if seen is None or not len(seen) else seen
    sole = np.min(known @ up)
    if known is joints and 0.0 < sole <= NEAR_FLOOR * leg_length:
        sole = 0.0
    size = float(np.cbrt(abs(np.linalg.det(foot_rest[:3, :3]))))
    into = np.linalg.inv(foot_rest[:3, :3])
    vertices = np.zeros((0, 3)) if known is joints else (seen - ankle) @ into.T
    own = (joints - ankle) @ into.T
    own_source: Source = source if len(vertices) else "REST"
    links = np.diff([*(np.zeros((0, 3)) if leg is None else leg), ball], axis=0)
    is_stand = len(links) == 0 or bool(np.any(links[1:] @ links[0] < IN_LINE * magnitude(links[1:]) * magnitude(links[0])))
    points = FootPoints(
        own[0], own[2], 0.0, own_source, joints=own, seen=vertices, size=size, is_stand=is_stand, has_toes=toe_rest is not None
    )
    return _placed(points, into @ up * size, float(sole - ankle @ up) / size)


def _placed(points: FootPoints, up: Array, sole: float) -> FootPoints:
    """The same with its heel on a sole that is at `sole` along `up` `(3,)` from the ankle, in the bone's space."""
    ball = points.joints[2]
    is_guessed = not points.has_toes and ball @ up > UPWARDS * float(np.linalg.norm(ball))
    if is_guessed and len(points.seen):
        # Where no bone tells of toes, the mesh does: they touch the ground last.
        forward = _ahead(points.seen.mean(axis=0), up)
        ball, is_guessed = points.seen[np.argmin(points.seen @ (up - STRIKE * forward))], not forward.any()
    ahead, back = np.zeros(3) if is_guessed else _ahead(ball, up), 0.0
    if len(points.seen) and ahead.any():
        strikes = points.seen[np.argmin(points.seen @ (up + STRIKE * ahead))] @ ahead
        back = float(np.clip(-strikes, 0.0, FARTHEST * (ball @ ahead)))
    heel = up * sole - ahead * back
    ball = heel if is_guessed else ball
    return replace(points, heel=heel, ball=ball, ball_height=float(ball @ up - sole) * points.size, up=up)


def _ahead(ball: Array, up: Array) -> Array:
    """The level direction `(3,)` from the ankle to the ball; zeros where the ball is above or below the ankle."""
    level = ball - up * (ball @ up)
    length = float(np.linalg.norm(level))
    return level / length if length > 0.1 * float(np.linalg.norm(ball)) else np.zeros(3)


def posed_point(point_bone: Array, space_from_bone: Array) -> Array:
    """A point `(3,)` of a bone in the space of its posed matrices `(F, 4, 4)`: `(F, 3)`."""
    return space_from_bone[..., :3, :3] @ point_bone + space_from_bone[..., :3, 3]


def as_it_stands(points: FootPoints, world_from_foot: Array, states: Codes) -> FootPoints:
    """The foot upright as it stands over the take, where its rest is no stand; the same foot where the rest is one.

    world_from_foot : (F, 4, 4), Z up; states : (F,) its contacts, found with the foot as it rests
    """
    stands = np.flatnonzero(states)
    if len(stands) < LEAST_STANDING or not points.up.any():
        return points
    ups = world_from_foot[:, 2, :3]
    ups = ups / magnitude(ups)[:, None]
    turning = magnitude(np.gradient(ups, axis=0))[stands]
    up = np.median(ups[stands[turning <= np.quantile(turning, CALMEST)]], axis=0)
    up = up / np.linalg.norm(up)
    # Of a character that is put on its head, soles are where its legs end.
    return points if abs(up @ points.up) >= (TILTED if points.is_stand else LAID_OUT) else points.standing(up)


def as_it_rolls(points: FootPoints, world_from_foot: Array, states: Codes, leg_length: float) -> FootPoints:
    """The foot with its heel where it rolls over it when it lands; the same foot where that is below the ankle, or nothing tells.

    world_from_foot : (F, 4, 4), Z up; states : (F,) its contacts, found with the heel below the ankle

    While a foot rolls over its heel until it lies flat, its heel stays as high as it is then: at each frame that is one
    equation for the distance of the heel behind the ankle. Only heights count, since feet may slide meanwhile.
    """
    ahead = _ahead(points.ball, points.up) if points.up.any() else np.zeros(3)
    if points.source not in {"REST", "MOTION"} or not ahead.any():
        return points
    size = float(np.cbrt(abs(np.linalg.det(world_from_foot[0, :3, :3]))))
    heights, backs = posed_point(points.heel, world_from_foot)[:, 2], -(world_from_foot[:, 2, :3] @ ahead)
    told: list[float] = []
    for first, last in runs(states == ContactState.HEEL):
        lies = _after(states == ContactState.BOTH, last + 1)
        if not len(lies):
            continue
        rises, turns = heights[first : last + 1] - np.median(heights[lies]), backs[first : last + 1] - np.median(backs[lies])
        rolls = turns < -ROLLED * size
        told += (-rises[rolls] / turns[rolls]).tolist()
    if len(told) < LEAST_ROLLS:
        return points
    low, middle, high = np.quantile(told, (0.25, 0.5, 0.75)).tolist()
    is_sure = high - low <= ALIKE * middle and LEAST_BEHIND * leg_length <= middle * size <= FARTHEST * leg_length
    return points.behind(middle) if is_sure and middle <= FARTHEST * float(points.ball @ ahead) else points


def _after(mask: Mask, first: int) -> Sequence[int]:
    """Indices from `first` on up to where `mask` `(F,)` ends."""
    ends = np.flatnonzero(~mask[first:])
    return np.arange(first, first + (ends[0] if len(ends) else len(mask) - first)).tolist()
