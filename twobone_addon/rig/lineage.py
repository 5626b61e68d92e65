"""Where channels put objects and bones: Blender's parenting as array arithmetic, for motion that is curves alone.

An object's world matrix is that of its parent (or of the bone it hangs from), its parent inverse, then its own
location, rotation and scale with their deltas. Whatever holds at every frame may have one row instead of `F`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from .bones import BoneChannels, RestBone
from .channels import channel_rotations
from .inheritance import pose_with_channels


@dataclass(frozen=True, slots=True)
class ChannelValues:
    """What the channels of an object or a bone hold over time; each array may have one row for all frames."""

    location: Array
    """`(F, 3)`"""
    rotation: Array
    """`(F, 4)` quaternion, axis-angle (angle first), or Euler angles and 0."""
    scale: Array
    """`(F, 3)`"""


@dataclass(frozen=True, slots=True)
class BoneLink:
    """One bone of a lineage and its own motion."""

    rest: RestBone
    channels: ChannelValues


@dataclass(frozen=True, slots=True)
class ObjectLink:
    """One object of a lineage and its own motion."""

    rotation_mode: str
    channels: ChannelValues
    deltas: ChannelValues
    """Added to the location, multiplied into rotation (on the left) and scale."""
    parent_inverse: Array
    """`(4, 4)`"""


@dataclass(frozen=True, slots=True)
class Carrier:
    """The bone that an object hangs from."""

    rest: RestBone
    relative: bool
    """Whether the object follows how the bone leaves its rest pose, instead of the bone's tail."""


def posed_bone(link: BoneLink, parent_pose: Array | None) -> Array:
    """Posed matrices `(F, 4, 4)`, armature space, under a posed parent."""
    channels = link.channels
    rotation = channel_rotations(link.rest.rotation_mode, channels.rotation)
    return pose_with_channels(link.rest, parent_pose, BoneChannels(channels.location, rotation, channels.scale))


def placed_object(link: ObjectLink, parent_world: Array | None) -> Array:
    """World matrices `(F, 4, 4)` of an object under a parent's matrices, `None` without parent."""
    own, deltas = link.channels, link.deltas
    rotation = channel_rotations(link.rotation_mode, deltas.rotation) @ channel_rotations(link.rotation_mode, own.rotation)
    linear = rotation * (own.scale * deltas.scale)[..., None, :]
    location = own.location + deltas.location
    placed = np.zeros((*np.broadcast_shapes(linear.shape[:-2], location.shape[:-1]), 4, 4))
    placed[..., :3, :3] = linear
    placed[..., :3, 3] = location
    placed[..., 3, 3] = 1.0
    return placed if parent_world is None else parent_world @ link.parent_inverse @ placed


def carried_matrices(carrier: Carrier, armature_world: Array, pose: Array) -> Array:
    """Matrices `(F, 4, 4)` that a bone hands on to an object hanging from it."""
    if carrier.relative:
        return armature_world @ pose @ np.linalg.inv(carrier.rest.rest)
    tail = pose.copy()
    tail[..., :3, 3] += carrier.rest.length * pose[..., :3, 1]
    return armature_world @ tail
