"""Blender's inheritance of parent transforms by bones and objects, for whole arrays of frames.

A posed bone is `(turn_and_scale @ R @ S) * post_scale` with its head at `place @ location + origin`. The first part of this
module computes these four from the parent's posed matrix and the flags, as described in Blender's manual under Bones > Relations.
Checked against `Bone.convert_local_to_pose` for every combination of flags.

The second part computes matrices of objects and bones from their channels, for motion that consists of curves alone. An object's
world matrix is the product of its parent's (or parent bone's) matrix, its parent inverse, and its own location, rotation and
scale with their deltas. Constant arrays may have one row instead of `F`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..arrays import dot, magnitude
from .bones import BoneChannels, RestBone
from .channels import channel_rotations
from .rotations import carried, determinant, solve_linear, times_still, unit

SHEAR_THRESHOLD = 1e-4
"""Cosine between two axes below which Blender does not correct their shear."""


@dataclass(frozen=True, slots=True)
class ParentTransform:
    """Inherited transform, given the parent's pose, to which a bone's own channels are applied."""

    turn_and_scale: Array
    """`(..., 3, 3)` left factor of the bone's own rotation and scale."""
    place: Array
    """`(..., 3, 3)` left factor of the bone's own location."""
    origin: Array
    """`(..., 3)` head at location 0, armature space."""
    post_scale: Array
    """`(..., 3)` applied to the posed bone's axes; differs from 1 for `ALIGNED` only."""


def parent_transform(bone: RestBone, parent_pose: Array | None) -> ParentTransform:
    """The transform that a bone inherits from `parent_pose` `(..., 4, 4)`, armature space; `None` for a bone without parent."""
    offset3, head = bone.offset[..., :3, :3], bone.offset[..., :3, 3]
    ones = np.ones(3)
    if parent_pose is None:
        place = offset3 if bone.local_location else np.eye(3)
        return ParentTransform(offset3, place, head, ones)
    parent3 = parent_pose[..., :3, :3]
    origin = carried(parent3, head) + parent_pose[..., :3, 3]
    under = times_still(parent3, offset3)
    place = under if bone.local_location else parent3
    turn, post_scale = _inherited(bone, parent3)
    # A bone that inherits everything, as most do, has this product already.
    turn_and_scale = under if turn is parent3 else times_still(turn, offset3)
    if bone.inherit_scale == "FIX_SHEAR":
        turn_and_scale = _without_shear(turn_and_scale)
    return ParentTransform(turn_and_scale, place, origin, ones if post_scale is None else post_scale)


def _inherited(bone: RestBone, parent3: Array) -> tuple[Array, Array | None]:
    """Rotation and scale `(..., 3, 3)` inherited from the parent, and the post-scale, if any."""
    if bone.inherit_rotation or bone.parent_rest is None:
        turn, post_scale = _with_parent_rotation(bone.inherit_scale, parent3)
    else:
        turn, post_scale = _without_parent_rotation(bone.inherit_scale, bone.parent_rest[..., :3, :3], parent3)
    if bone.inherit_scale == "AVERAGE":
        turn = turn * np.cbrt(np.abs(determinant(parent3)))[..., None, None]
    return turn, post_scale


def _with_parent_rotation(inherit_scale: str, parent3: Array) -> tuple[Array, Array | None]:
    if inherit_scale in {"NONE", "AVERAGE"}:
        return _normalised(_without_shear(parent3)), None
    if inherit_scale == "ALIGNED":
        straight = _without_shear(parent3)
        return _normalised(straight), _axis_lengths(straight)
    if inherit_scale == "NONE_LEGACY":
        return _normalised(parent3), None
    return parent3, None


def _without_parent_rotation(inherit_scale: str, rest3: Array, parent3: Array) -> tuple[Array, Array | None]:
    rest3 = np.broadcast_to(rest3, parent3.shape)
    if inherit_scale == "FULL":
        return rest3 * _axis_lengths(parent3)[..., None, :], None
    if inherit_scale == "FIX_SHEAR":
        return rest3 * _volume_preserving_lengths(parent3)[..., None, :], None
    if inherit_scale == "ALIGNED":
        return rest3, _volume_preserving_lengths(parent3)
    return rest3, None


def pose_bone(transform: ParentTransform, location: Array, rotation: Array, scale: Array) -> Array:
    """Posed matrices `(..., 4, 4)`, armature space, of a bone with these channels (see `BoneChannels`)."""
    own_scale = scale * transform.post_scale
    axes = transform.turn_and_scale @ (rotation if np.all(own_scale == 1.0) else rotation * own_scale[..., None, :])
    head = (carried(transform.place, location) if location.any() else np.zeros(location.shape)) + transform.origin
    shape = np.broadcast_shapes(axes.shape[:-2], head.shape[:-1])
    posed = np.zeros((*shape, 4, 4))
    posed[..., :3, :3] = axes
    posed[..., :3, 3] = head
    posed[..., 3, 3] = 1.0
    return posed


def pose_with_channels(bone: RestBone, parent_pose: Array | None, channels: BoneChannels) -> Array:
    """Posed matrices `(..., 4, 4)`, armature space, of a bone under a posed parent."""
    return pose_under(bone, parent_transform(bone, parent_pose), channels)


def pose_under(bone: RestBone, transform: ParentTransform, channels: BoneChannels) -> Array:
    """Posed matrices `(..., 4, 4)`, armature space, of a bone under a known inherited transform."""
    location = np.zeros(3) if bone.connected and bone.parent_rest is not None else channels.location
    return pose_bone(transform, location, channels.rotation, channels.scale)


def local_basis(bone: RestBone, parent_pose: Array | None, posed: Array) -> tuple[Array, Array]:
    """Invert posing: location `(..., 3)` and rotation-and-scale `(..., 3, 3)` that give `posed` `(..., 4, 4)`.

    Components along an axis that the parent scales to zero are returned as zero.
    """
    transform = parent_transform(bone, parent_pose)
    post_scale = transform.post_scale[..., None, :]
    axes = np.divide(posed[..., :3, :3], post_scale, out=np.zeros(posed[..., :3, :3].shape), where=post_scale != 0.0)
    linear = solve_linear(transform.turn_and_scale[..., None, :, :], axes.swapaxes(-1, -2)).swapaxes(-1, -2)
    return solve_linear(transform.place, posed[..., :3, 3] - transform.origin), linear


def _axis_lengths(matrix3: Array) -> Array:
    return magnitude(np.swapaxes(matrix3, -1, -2))


def _normalised(matrix3: Array) -> Array:
    lengths = _axis_lengths(matrix3)[..., None, :]
    return np.divide(matrix3, lengths, out=np.zeros_like(matrix3), where=lengths > 0)


def _volume_preserving_lengths(matrix3: Array) -> Array:
    """Axis lengths `(..., 3)` rescaled so that their product is the matrix's volume, shear included."""
    lengths = _axis_lengths(matrix3)
    volume = np.prod(lengths, axis=-1)
    ratio = np.divide(np.abs(determinant(matrix3)), volume, out=np.ones_like(volume), where=volume > 0)
    return lengths * np.cbrt(ratio)[..., None]


def _without_shear(matrix3: Array) -> Array:
    """Orthogonalise the axes around Y as Blender does: X and Z lose their component along Y, then are spread symmetrically."""
    x, y, z = np.moveaxis(matrix3, -1, 0)
    square = dot(y, y)[..., None]
    x, z = (_orthogonal_to(axis, y, square) for axis in (x, z))
    x, z = _spread_apart(x, z)
    return np.stack([x, y, z], axis=-1)


def _orthogonal_to(axis: Array, around: Array, square: Array) -> Array:
    along = dot(axis, around)[..., None]
    return axis - around * np.divide(along, square, out=np.zeros_like(along), where=square > 0)


def _spread_apart(x: Array, z: Array) -> tuple[Array, Array]:
    """Turn both axes away from each other, half the angle missing to a right angle each, keeping their area."""
    length_x, length_z = (magnitude(axis)[..., None] for axis in (x, z))
    unit_x, unit_z = (
        np.divide(axis, length, out=np.zeros_like(axis), where=length > 0) for axis, length in ((x, length_x), (z, length_z))
    )
    cosine = dot(unit_x, unit_z)[..., None]
    sheared = (np.abs(cosine) > SHEAR_THRESHOLD) & (np.abs(cosine) < 1.0)
    if not sheared.any():
        return x, z
    # The new directions, at 45 degrees on either side of the bisector, are sum and difference of both unit vectors, normalised.
    bisector = unit(unit_x + unit_z)
    difference = unit(unit_x - unit_z)
    half = np.sqrt(0.5)
    factor = np.sqrt(np.sqrt(np.clip(1.0 - cosine * cosine, 0.0, 1.0)))
    apart_x = (bisector + difference) * half * length_x * factor
    apart_z = (bisector - difference) * half * length_z * factor
    return np.where(sheared, apart_x, x), np.where(sheared, apart_z, z)


@dataclass(frozen=True, slots=True)
class ChannelValues:
    """Channel values of an object or a bone over time; each array may have one row for all frames."""

    location: Array
    """`(F, 3)`"""
    rotation: Array
    """`(F, 4)` quaternion, axis-angle (angle first), or Euler angles and 0."""
    scale: Array
    """`(F, 3)`"""


@dataclass(frozen=True, slots=True)
class BoneLink:
    """A bone of a lineage with its own motion."""

    rest: RestBone
    channels: ChannelValues


@dataclass(frozen=True, slots=True)
class ObjectLink:
    """An object of a lineage with its own motion."""

    rotation_mode: str
    channels: ChannelValues
    deltas: ChannelValues
    """Delta transform: added to the location, multiplied with rotation (on the left) and scale."""
    parent_inverse: Array
    """`(4, 4)`"""


@dataclass(frozen=True, slots=True)
class Carrier:
    """The bone that an object is parented to."""

    rest: RestBone
    relative: bool
    """Whether the object follows the bone's deviation from its rest pose instead of its tail."""


def posed_bone(link: BoneLink, parent_pose: Array | None) -> Array:
    """Posed matrices `(F, 4, 4)`, armature space, of a bone under a posed parent."""
    channels = link.channels
    rotation = channel_rotations(link.rest.rotation_mode, channels.rotation)
    return pose_with_channels(link.rest, parent_pose, BoneChannels(channels.location, rotation, channels.scale))


def placed_object(link: ObjectLink, parent_world: Array | None) -> Array:
    """World matrices `(F, 4, 4)` of an object under its parent's world matrices; `None` without a parent."""
    channels, deltas = link.channels, link.deltas
    rotation = channel_rotations(link.rotation_mode, deltas.rotation) @ channel_rotations(link.rotation_mode, channels.rotation)
    linear = rotation * (channels.scale * deltas.scale)[..., None, :]
    location = channels.location + deltas.location
    placed = np.zeros((*np.broadcast_shapes(linear.shape[:-2], location.shape[:-1]), 4, 4))
    placed[..., :3, :3] = linear
    placed[..., :3, 3] = location
    placed[..., 3, 3] = 1.0
    return placed if parent_world is None else parent_world @ link.parent_inverse @ placed


def carried_matrices(carrier: Carrier, armature_world: Array, pose: Array) -> Array:
    """Parent matrices `(F, 4, 4)` of an object parented to a bone."""
    if carrier.relative:
        return armature_world @ pose @ np.linalg.inv(carrier.rest.rest)
    tail = pose.copy()
    tail[..., :3, 3] += carrier.rest.length * pose[..., :3, 1]
    return armature_world @ tail
