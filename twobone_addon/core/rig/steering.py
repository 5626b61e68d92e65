"""Bring a rig's IK controls to desired poses: convert changes of the visible pose into channel values.

Also round their positions to single precision, as keys and Blender's matrices store them, with the least effect on the chain.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..array_types import Array
from ..arrays import across, cross, dot, magnitude
from .bones import BoneChannels, RestBone
from .inheritance import local_basis, pose_with_channels
from .rotations import about_axis, carried, nearest_rotation, to_axis_angle, to_quaternion, unit

CLEARLY_BENT = 1e-3
"""Least distance of the middle joint from the line from root to tip, relative to the limb, that gives a direction."""


LEAST_FACTOR = 0.3
"""Least relaxation factor of a step."""


class Relaxation:
    """Step sizes for a fixed-point iteration, per frame, adapted to the effect of earlier steps.

    Aitken's dynamic relaxation: where a step of 1 leaves a fraction r of the error, along the same line, the next factor is
    1 / (1 - r), and a step that overshoots is followed by shorter ones.
    """

    def __init__(self, most: float, noise: float) -> None:
        """Set the greatest factor, and the change of the error below which nothing is learnt from it."""
        self._most, self._noise = most, noise
        self._before: Array | None = None
        self._factors = np.ones(0)

    def factors(self, missing: Array) -> Array:
        """Relaxation factors `(F,)` for the current errors `(F, 3)`."""
        if self._before is None:
            self._factors = np.ones(len(missing))
        else:
            change = missing - self._before
            size = np.sum(change * change, axis=-1)
            projected = -np.sum(self._before * change, axis=-1)
            learnt = self._factors * np.divide(projected, size, out=np.ones_like(size), where=size > 0.0)
            clear = size > self._noise**2
            self._factors = np.where(clear & (learnt > 0.0), np.clip(learnt, LEAST_FACTOR, self._most), self._factors)
        self._before = missing
        return self._factors


def rotation_vectors(rotations: Array) -> Array:
    """Rotation vectors `(F, 3)` of rotations `(F, 3, 3)`: axis times angle, 0..pi."""
    angle, axis = to_axis_angle(to_quaternion(rotations))
    return axis * angle[:, None]


def displacement(turn: Array, start: Array, end: Array) -> Array:
    """Rigid transforms `(F, 4, 4)` that rotate by `turn` `(F, 3, 3)` and bring points `start` `(F, 3)` to `end` `(F, 3)`."""
    moved = np.zeros((len(start), 4, 4))
    moved[:, :3, :3] = turn
    moved[:, :3, 3] = end - carried(turn, start)
    moved[:, 3, 3] = 1.0
    return moved


def rolls(joints: Array, now: Array) -> Array:
    """Angles `(F,)` about the line from root to tip of `joints` `(F, 3, 3)` that bring points `now` to the middle joints.

    now : (F, 3), present middle joints. The angle is 0 where either point lies on the line.
    """
    axis = unit(joints[:, 2] - joints[:, 0])
    intended, present = (across(middle - joints[:, 0], axis) for middle in (joints[:, 1], now))
    angles = np.arctan2(dot(axis, cross(present, intended)), dot(present, intended))
    # A nearly straight limb has no direction of its middle joint that rounding does not decide.
    heights = np.minimum(magnitude(intended), magnitude(present))
    return np.where(heights > CLEARLY_BENT * magnitude(joints[:, 2] - joints[:, 0]), angles, 0.0)


def swung(joints: Array, angles: Array) -> Array:
    """Rotations `(F, 4, 4)` by `angles` `(F,)` about the line from root to tip of `joints` `(F, 3, 3)`."""
    turn = about_axis(unit(joints[:, 2] - joints[:, 0]), angles)
    return displacement(turn, joints[:, 0], joints[:, 0])


def hinges(joints: Array) -> Array:
    """Unit normals `(F, 3)` of the planes of `joints` `(F, 3, 3)`; 0 where these are collinear."""
    return unit(np.cross(joints[:, 2] - joints[:, 0], joints[:, 1] - joints[:, 0]))


def bends(joints: Array) -> Array:
    """Angles `(F,)`, 0..pi, between the two links of `joints` `(F, 3, 3)`; 0 where they are straight."""
    first, second = np.moveaxis(np.diff(joints, axis=1), 1, 0)
    return np.arctan2(magnitude(cross(first, second)), dot(first, second))


def changed_channels(
    bone: RestBone, parent_pose: Array | None, channels: BoneChannels, posed: Array, goal: Array, *, carried: bool
) -> tuple[Array, Array]:
    """Location `(F, 3)` and rotation `(F, 3, 3)` that move a bone from its visible pose, `posed`, to `goal` `(F, 4, 4)`.

    Poses are in armature space. The effect of constraints beyond the channels is kept: as a transform of the whole pose if
    `carried`, as by a Child Of constraint, else as an offset of location and rotation.
    """
    from_channels = pose_with_channels(bone, parent_pose, channels)
    if carried:
        # posed = carrier @ from_channels: the channels must give the goal as the carrier sees it.
        aim = from_channels @ np.linalg.inv(posed) @ goal
    else:
        aim = from_channels.copy() if from_channels.shape == goal.shape else np.broadcast_to(from_channels, goal.shape).copy()
        aim[:, :3, 3] += goal[:, :3, 3] - posed[:, :3, 3]
        turn = nearest_rotation(goal[:, :3, :3]) @ np.swapaxes(nearest_rotation(posed[:, :3, :3]), -1, -2)
        aim[:, :3, :3] = turn @ aim[:, :3, :3]
    location, linear = local_basis(bone, parent_pose, aim)
    return location, nearest_rotation(linear)


def without_rotation(bone: RestBone, parent_pose: Array | None, count: int) -> Array:
    """Rotations `(F, 3, 3)`, armature space, that a bone inherits from its parent, without its own."""
    none = BoneChannels(np.zeros((count, 3)), np.broadcast_to(np.eye(3), (count, 3, 3)), np.ones((count, 3)))
    return nearest_rotation(pose_with_channels(bone, parent_pose, none)[:, :3, :3])


STEPS = sorted(itertools.product((-2, -1, 0, 1, 2), repeat=3), key=lambda steps: sum(map(abs, steps)))
"""Offsets in single-precision steps on each axis around the nearest point, nearer ones first."""


def rounded_at_distance(values: Array, matrices: Array, center: Array) -> Array:
    """Coordinates `(F, 3)` rounded to single precision so that their points keep their distance from a centre.

    matrices : (F, 4, 4), from the coordinates' space to the centre's space
    center : (F, 3)

    The middle joint of a nearly straight chain magnifies rounding errors of the root-tip distance some hundred times. Rounding
    each coordinate to the nearest number leaves an error of half a step; the best of the 125 points at most two steps away on
    each axis, all visually the same, leaves about a hundredth of a step.
    """
    nearest = values.astype(np.float32)
    step = np.spacing(np.abs(nearest))
    distances = _distances(values, matrices, center)
    best, least = nearest.astype(float), np.full(len(values), np.inf)
    for steps in STEPS:
        tried = (nearest + step * np.array(steps, dtype=np.float32)).astype(float)
        error = np.abs(_distances(tried, matrices, center) - distances)
        better = error < least
        best[better], least[better] = tried[better], error[better]
    return best


def _distances(values: Array, matrices: Array, center: Array) -> Array:
    return magnitude(carried(matrices[:, :3, :3], values) + matrices[:, :3, 3] - center)
