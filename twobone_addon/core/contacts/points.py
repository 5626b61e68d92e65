"""Heel and ball, the contact points of a foot: from its mesh, its bones at rest, and how it stands and rolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...records import replace
from ..array_types import Array, Codes, Mask
from ..arrays import magnitude, median
from .states import ContactState, runs

Source = Literal["MESH", "BONE", "MOTION", "SET", "REST"]
"""Source of a sole's position: vertices, a heel bone, the feet as they stand over the take, a number, or only joints at rest."""

UPWARDS = 0.5
"""Largest height of a foot's tail over its ankle at rest, relative to the foot's length; a tail higher than that was guessed by
an import for the last bone of a chain, and says nothing."""
NEAR_FLOOR = 0.18
"""Leg lengths up to which a foot's lowest joint may be above the armature's origin if that is on the floor at rest."""
STRIKE = np.tan(np.radians(20.0))
"""Tangent of a foot's pitch when it lands or lifts: the heel touches the ground first, the toes last."""
CARRIED = 0.19
"""Height of the middle of a foot's bone above the sole, leg lengths, from which on a joint below half of the toes' height shows
that the foot goes on, as in hooves and hind paws; a person's is at a third of it, or lifted at rest below nine tenths."""
FARTHEST = 1.0
"""Largest distance of a heel behind the ankle, relative to that from ankle to ball, or in leg lengths."""
TILTED, LAID_OUT = np.cos(np.radians([60.0, 30.0]))
"""Cosines of the angle between a foot at rest and the standing foot from which the rest pose is no stand. Feet that roll or run
on tiptoe stay below the first; the second, smaller angle is for rest poses in which nobody stands."""
IN_LINE = np.cos(np.radians(12.0))
"""Cosine of the angle up to which hip, knee, ankle and ball are in line at rest, as in recordings without a real rest pose."""
CALMEST, LEAST_STANDING = 1 / 3, 3
"""Part of a foot's standing frames, those with least turning, that define its standing pose; and fewest standing frames."""
ROLLED = 0.05
"""Least sine of pitch at which a rolling foot shows where its heel is."""
LEAST_BEHIND = 0.01
"""Leg lengths behind the ankle below which a heel counts as right below it."""
ALIKE, LEAST_ROLLS = 0.35, 4
"""Largest interquartile range of the heel's distance behind the ankle over frames, relative to its median; and fewest frames."""


@dataclass(frozen=True, slots=True)
class FootPoints:
    """Heel and ball as points fixed to the bone that carries the foot, in the space of that bone."""

    heel: Array
    """`(3,)` on the sole, below the ankle or behind it; the ball if the foot goes on below that."""
    ball: Array
    """`(3,)` joint about which the toes bend: head of the toe bone, else tail of the foot, else the heel."""
    ball_height: float
    """Height of the ball above the sole, in the armature's units; the heel is on the sole."""
    source: Source = "REST"
    up: Array = field(default_factory=lambda: np.zeros(3))
    """`(3,)` unit vector away from the sole; zeros where a leg stands on its tip."""
    joints: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(n, 3)` joints of the foot: ankle, tail, head of the toes, then all below."""
    seen: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(n, 3)` vertices of the foot, or points on its sole; none if only joints are known."""
    size: float = 1.0
    """Scale of the bone at rest: armature units per unit of the bone."""
    is_stand: bool = True
    """Whether the rest pose may be a stand; nobody stands with all joints of a leg in one line."""
    has_toes: bool = False
    """Whether a toe bone shows where the ball is; the tail of a foot may be guessed by an import."""
    leg_length: float = 0.0
    """Length of the leg, in the armature's units; 0 if it is not known."""
    has_rolled: bool = False
    """Whether the motion has shown how far the heel is behind the ankle."""

    @property
    def ankle_height(self) -> float:
        """Height of the ankle above the sole, in the armature's units."""
        return float(-self.heel @ self.up) * self.size

    @property
    def knows_heel(self) -> bool:
        """Whether mesh, bones or motion show where the heel is; else it is assumed to be below the ankle."""
        is_one_point = np.array_equal(self.heel, self.ball)
        return self.source in {"MESH", "BONE"} or self.has_rolled or is_one_point or len(self.seen) > 0

    @property
    def knows_ball(self) -> bool:
        """Whether bones or mesh show where the ball is; else it is assumed to be below the ankle, or there is no foot."""
        return bool(self.up.any() and _ahead(self.ball, self.up).any())

    def is_placed_as(self, other: FootPoints) -> bool:
        """Whether heel and ball are where those of another foot are, however they are known."""
        same = np.array_equal(self.heel, other.heel) and np.array_equal(self.ball, other.ball)
        return same and self.ball_height == other.ball_height and np.array_equal(self.up, other.up)

    def standing(self, up: Array) -> FootPoints:
        """The foot standing with `up` `(3,)` upwards, whatever its rest pose is."""
        source: Source = self.source if len(self.seen) else "MOTION"
        return replace(_placed(self, up, np.min((self.seen if len(self.seen) else self.joints) @ up)), source=source)

    def behind(self, distance: float) -> FootPoints:
        """The foot with its heel at `distance` behind the ankle, as measured on rolling feet."""
        return replace(self, heel=self.heel - distance * _ahead(self.ball, self.up), source="MOTION", has_rolled=True)

    def below(self, height: float) -> FootPoints:
        """The foot with its sole `height` below the ankle, armature units, as set by the user; unchanged if it has no sole."""
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
    vector of any length that points up, `leg_length` the length of the leg, 0 to ignore the floor, and `leg` `(n, 3)` its
    joints at rest, needed to decide `is_stand`. `seen` `(n, 3)` are vertices of the foot, or points on its sole, armature
    space, known from `source`: they are more exact than joints. A leg that ends at its tip, without a foot, has a foot of
    length 0, whose heel and ball are the tip. If a foot without toes points upwards, such as a paw whose tail an import has
    guessed, the ball is the one of `seen` that touches the ground last, or the heel if nothing is seen.
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
    bone_from_armature = np.linalg.inv(foot_rest[:3, :3])
    vertices = np.zeros((0, 3)) if known is joints else (seen - ankle) @ bone_from_armature.T
    in_bone = (joints - ankle) @ bone_from_armature.T
    known_from: Source = source if len(vertices) else "REST"
    links = np.diff([*(np.zeros((0, 3)) if leg is None else leg), ball], axis=0)
    is_stand = len(links) == 0 or bool(np.any(links[1:] @ links[0] < IN_LINE * magnitude(links[1:]) * magnitude(links[0])))
    has_toes = toe_rest is not None
    points = FootPoints(in_bone[0], in_bone[2], 0.0, known_from, joints=in_bone, seen=vertices, size=size, is_stand=is_stand)
    points = replace(points, has_toes=has_toes, leg_length=leg_length)
    return _placed(points, bone_from_armature @ up * size, float(sole - ankle @ up) / size)


def _placed(points: FootPoints, up: Array, sole: float) -> FootPoints:
    """The foot with its heel on a sole at `sole` along `up` `(3,)` from the ankle, in the space of the bone."""
    ball = points.joints[2]
    is_guessed = not points.has_toes and ball @ up > UPWARDS * float(np.linalg.norm(ball))
    if is_guessed and len(points.seen):
        # Without a toe bone the mesh shows where the toes are: they touch the ground last.
        forward = _ahead(points.seen.mean(axis=0), up)
        ball, is_guessed = points.seen[np.argmin(points.seen @ (up - STRIKE * forward))], not forward.any()
    ahead, back = np.zeros(3) if is_guessed else _ahead(ball, up), 0.0
    if len(points.seen) and ahead.any():
        strikes = points.seen[np.argmin(points.seen @ (up + STRIKE * ahead))] @ ahead
        back = float(np.clip(-strikes, 0.0, FARTHEST * (ball @ ahead)))
    heel = up * sole - ahead * back
    ball = heel if is_guessed else ball
    height = float(ball @ up - sole) * points.size
    goes_on = float(np.min(points.joints @ up) - sole) * points.size < 0.5 * height
    middle = float(ball @ up / 2.0 - sole) * points.size
    if points.has_toes and goes_on and 0.0 < CARRIED * points.leg_length < middle:
        # What is on the ground turns against the foot's bone: of that bone's points, the joint between them moves least.
        heel = ball
    return replace(points, heel=heel, ball=ball, ball_height=height, up=up)


def _ahead(ball: Array, up: Array) -> Array:
    """Horizontal unit vector `(3,)` from the ankle to the ball; zeros if the ball is right above or below the ankle."""
    level = ball - up * (ball @ up)
    length = float(np.linalg.norm(level))
    return level / length if length > 0.1 * float(np.linalg.norm(ball)) else np.zeros(3)


def posed_point(point_bone: Array, space_from_bone: Array) -> Array:
    """Positions `(F, 3)` of a point `(3,)` of a bone in the space of its posed matrices `(F, 4, 4)`."""
    return space_from_bone[..., :3, :3] @ point_bone + space_from_bone[..., :3, 3]


def as_it_stands(points: FootPoints, world_from_foot: Array, states: Codes) -> FootPoints:
    """The foot upright as it stands over the take if its rest pose is no stand; otherwise the unchanged foot.

    world_from_foot : (F, 4, 4), Z up; states : (F,) its contacts, found with the foot of the rest pose
    """
    stands = np.flatnonzero(states)
    if len(stands) < LEAST_STANDING or not points.up.any():
        return points
    ups = world_from_foot[:, 2, :3]
    ups = ups / magnitude(ups)[:, None]
    turning = magnitude(np.gradient(ups, axis=0))[stands]
    up = np.median(ups[stands[turning <= np.quantile(turning, CALMEST)]], axis=0)
    up = up / np.linalg.norm(up)
    # On a character that is upside down, soles still are where the legs end.
    return points if abs(up @ points.up) >= (TILTED if points.is_stand else LAID_OUT) else points.standing(up)


def as_it_rolls(points: FootPoints, world_from_foot: Array, states: Codes, leg_length: float) -> FootPoints:
    """The foot with its heel where it rolls on landing; the unchanged foot if that is below the ankle, or not measurable.

    world_from_foot : (F, 4, 4), Z up; states : (F,) its contacts, found with the heel below the ankle

    While a foot rolls over its heel until it lies flat, the heel keeps its height, so that each frame gives one equation
    for the distance of the heel behind the ankle. Only heights are used, since feet may slide meanwhile.
    """
    ahead = _ahead(points.ball, points.up) if points.up.any() else np.zeros(3)
    if points.source not in {"REST", "MOTION"} or not ahead.any():
        return points
    size = float(np.cbrt(abs(np.linalg.det(world_from_foot[0, :3, :3]))))
    heights, backs = posed_point(points.heel, world_from_foot)[:, 2], -(world_from_foot[:, 2, :3] @ ahead)
    distances: list[float] = []
    for first, last in runs(states == ContactState.HEEL):
        lies = _after(states == ContactState.BOTH, last + 1)
        if not len(lies):
            continue
        rises, turns = heights[first : last + 1] - median(heights[lies]), backs[first : last + 1] - median(backs[lies])
        rolls = turns < -ROLLED * size
        distances += (-rises[rolls] / turns[rolls]).tolist()
    if len(distances) < LEAST_ROLLS:
        return points
    low, middle, high = np.quantile(distances, (0.25, 0.5, 0.75)).tolist()
    if max(abs(low), abs(high)) * size <= LEAST_BEHIND * leg_length:
        return replace(points, has_rolled=True)
    is_sure = high - low <= ALIKE * middle and LEAST_BEHIND * leg_length <= middle * size <= FARTHEST * leg_length
    return points.behind(middle) if is_sure and middle <= FARTHEST * float(points.ball @ ahead) else points


def _after(mask: Mask, first: int) -> Sequence[int]:
    """Indices of the run of true values in `mask` `(F,)` that starts at `first`; none if that is false."""
    ends = np.flatnonzero(~mask[first:])
    return np.arange(first, first + (ends[0] if len(ends) else len(mask) - first)).tolist()
