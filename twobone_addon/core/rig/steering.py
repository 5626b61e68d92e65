"""Controls brought to where a rig's IK needs them: changes of the visible pose, turned into channels.

And their places in single precision, as keys and Blender's matrices hold them, rounded so that a chain notices it least.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..array_types import Array
from ..arrays import across, cross, dot, magnitude
from .bones import BoneChannels, RestBone
from .inheritance import local_basis, pose_with_channels
from .rotations import about_axis, carried, nearest_rotation, to_axis_angle, to_quaternion, unit

BENT = 1e-3
"""Height of the middle joint over the line from root to tip, relative to the limb, from which it tells a direction."""


LEAST_STEP = 0.3
"""Part of what is missing that a step makes up for at least."""


class Relaxation:
    """How far to go towards what is missing, frame by frame, learnt from what the steps before came to.

    Aitken's dynamic relaxation: where a step of 1 leaves a share r of what was missing, along the same line, the next one
    is 1 / (1 - r) long, and a step that goes too far is followed by shorter ones.
    """

    def __init__(self, most: float, noise: float) -> None:
        """Take the longest step, and what is too little to learn from."""
        self._most, self._noise = most, noise
        self._before: Array | None = None
        self._factors = np.ones(0)

    def factors(self, missing: Array) -> Array:
        """Factors `(F,)` for what is missing now, `(F, 3)`."""
        if self._before is None:
            self._factors = np.ones(len(missing))
        else:
            change = missing - self._before
            size = np.sum(change * change, axis=-1)
            made = -np.sum(self._before * change, axis=-1)
            learnt = self._factors * np.divide(made, size, out=np.ones_like(size), where=size > 0.0)
            clear = size > self._noise**2
            self._factors = np.where(clear & (learnt > 0.0), np.clip(learnt, LEAST_STEP, self._most), self._factors)
        self._before = missing
        return self._factors


def rotation_vectors(rotations: Array) -> Array:
    """Axes of rotations `(F, 3, 3)` times their angles, 0..pi, `(F, 3)`."""
    angle, axis = to_axis_angle(to_quaternion(rotations))
    return axis * angle[:, None]


def displacement(turn: Array, start: Array, end: Array) -> Array:
    """Matrices `(F, 4, 4)` that turn by `turn` `(F, 3, 3)` and bring points `start` `(F, 3)` to `end` `(F, 3)`."""
    moved = np.zeros((len(start), 4, 4))
    moved[:, :3, :3] = turn
    moved[:, :3, 3] = end - carried(turn, start)
    moved[:, 3, 3] = 1.0
    return moved


def rolls(joints: Array, now: Array) -> Array:
    """Angles `(F,)` about the line from root to tip of `joints` `(F, 3, 3)` that bring middle joints `now` `(F, 3)` to theirs.

    0 where either lies on the line.
    """
    axis = unit(joints[:, 2] - joints[:, 0])
    wanted, present = (across(place - joints[:, 0], axis) for place in (joints[:, 1], now))
    angles = np.arctan2(dot(axis, cross(present, wanted)), dot(present, wanted))
    heights = np.minimum(magnitude(wanted), magnitude(present))
    return np.where(heights > BENT * magnitude(joints[:, 2] - joints[:, 0]), angles, 0.0)


def rolled(joints: Array, angles: Array) -> Array:
    """Turns `(F, 4, 4)` about the line from root to tip of `joints` `(F, 3, 3)` by `angles` `(F,)`."""
    turn = about_axis(unit(joints[:, 2] - joints[:, 0]), angles)
    return displacement(turn, joints[:, 0], joints[:, 0])


def hinges(joints: Array) -> Array:
    """Unit normals `(F, 3)` of the planes in which `joints` `(F, 3, 3)` lie; 0 where they lie on a line."""
    return unit(np.cross(joints[:, 2] - joints[:, 0], joints[:, 1] - joints[:, 0]))


def bends(joints: Array) -> Array:
    """Angles `(F,)`, 0..pi, between the two links of `joints` `(F, 3, 3)`; 0 where they are straight."""
    first, second = np.moveaxis(np.diff(joints, axis=1), 1, 0)
    return np.arctan2(magnitude(cross(first, second)), dot(first, second))


def changed_channels(
    bone: RestBone, parent_pose: Array | None, channels: BoneChannels, posed: Array, wanted: Array, *, carried: bool
) -> tuple[Array, Array]:
    """Location `(F, 3)` and rotation `(F, 3, 3)` that bring a bone from where it visibly is, `posed`, to `wanted` `(F, 4, 4)`.

    Poses are in armature space. What constraints do beyond the channels stays as it is: `carried` as a whole, as by a
    Child Of, else added to the place.
    """
    own = pose_with_channels(bone, parent_pose, channels)
    if carried:
        aim = own @ np.linalg.inv(posed) @ wanted
    else:
        aim = own.copy() if own.shape == wanted.shape else np.broadcast_to(own, wanted.shape).copy()
        aim[:, :3, 3] += wanted[:, :3, 3] - posed[:, :3, 3]
        turn = nearest_rotation(wanted[:, :3, :3]) @ np.swapaxes(nearest_rotation(posed[:, :3, :3]), -1, -2)
        aim[:, :3, :3] = turn @ aim[:, :3, :3]
    location, linear = local_basis(bone, parent_pose, aim)
    return location, nearest_rotation(linear)


def without_rotation(bone: RestBone, parent_pose: Array | None, count: int) -> Array:
    """Rotations `(F, 3, 3)`, armature space, that a bone has from its parent alone."""
    none = BoneChannels(np.zeros((count, 3)), np.broadcast_to(np.eye(3), (count, 3, 3)), np.ones((count, 3)))
    return nearest_rotation(pose_with_channels(bone, parent_pose, none)[:, :3, :3])


STEPS = sorted(itertools.product((-2, -1, 0, 1, 2), repeat=3), key=lambda steps: sum(map(abs, steps)))
"""Steps of single precision on each axis, the points around the nearest one, nearer ones first."""


def rounded_at_distance(values: Array, matrices: Array, center: Array) -> Array:
    """Coordinates `(F, 3)` rounded to single precision such that their points stay as far from a centre as they are.

    matrices : (F, 4, 4), from the coordinates' space into that of the centre
    center : (F, 3)

    The middle joint of a nearly straight chain magnifies the rounding of the distance between its ends some hundred
    times. Rounding each coordinate to the nearest number leaves half a step of it; of the 125 points at most two steps
    away on each axis, all too near to be told apart, the best leaves about a hundredth of a step.
    """
    nearest = values.astype(np.float32)
    step = np.spacing(np.abs(nearest))
    wanted = _distances(values, matrices, center)
    best, least = nearest.astype(float), np.full(len(values), np.inf)
    for steps in STEPS:
        tried = (nearest + step * np.array(steps, dtype=np.float32)).astype(float)
        error = np.abs(_distances(tried, matrices, center) - wanted)
        better = error < least
        best[better], least[better] = tried[better], error[better]
    return best


def _distances(values: Array, matrices: Array, center: Array) -> Array:
    return magnitude(carried(matrices[:, :3, :3], values) + matrices[:, :3, 3] - center)
