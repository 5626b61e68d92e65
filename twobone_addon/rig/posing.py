"""From link directions in the plane to local rotations of the bones, and forward to joints again.

A turning bone is posed as `M @ R @ D`: `M` is what it inherits (`ParentTransform.turn_and_scale`), `R` its own
rotation, `D` its scale along its own axes. With a reference rotation `R0`, its link is `M @ R @ R0^-1 @ w` where `w` is
the link of the reference pose brought before `M`. Turning about the local axis `a = M^T n` keeps the link's coordinate
along the plane's normal n whatever `M` is (n is a covector), so a bone never leaves its depth, under shear as well.
Where `M` is a rotation with uniform scale, which is the rule, the turn about `a` is the turn about n.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array
from .bones import BoneChannels, ChainMotion, RestChain
from .inheritance import parent_transform, pose_bone, pose_with_channels
from .planes import from_plane, in_plane
from .rotations import about_axis, unit


@dataclass(frozen=True, slots=True)
class Reference:
    """The pose from which the turning bones are turned."""

    joints: Array
    """`(..., F, n + 1, 3)` armature space."""
    links: Array
    """`(..., F, n, 3)` each link before what its bone inherits (`w` above)."""
    rotations: tuple[Array, ...]
    """`(..., F, 3, 3)` or `(3, 3)` of each turning bone (`R0` above)."""


@dataclass(frozen=True, slots=True)
class Turned:
    """The turning bones after turning."""

    rotations: tuple[Array, ...]
    """`(..., F, 3, 3)` local rotation of each turning bone."""
    axes: tuple[Array, ...]
    """`(..., F, 3)` local hinge axis of each turning bone."""
    turns: tuple[Array, ...]
    """`(..., F)` radians about the axis, from the reference."""
    joints: Array
    """`(..., F, n + 1, 3)` armature space."""


def joints_of(chain: RestChain, poses: list[Array]) -> Array:
    """Joints `(..., F, n + 1, 3)`, armature space, of posed bones."""
    last = poses[-1]
    tip = (last[..., :3, :3] @ chain.tip) + last[..., :3, 3]
    return np.stack(np.broadcast_arrays(*(poses[index][..., :3, 3] for index in chain.turning), tip), axis=-2)


def pose_path(chain: RestChain, motion: ChainMotion) -> list[Array]:
    """Posed matrices `(..., F, 4, 4)`, armature space, of each bone of the chain with the motion's own channels."""
    poses: list[Array] = []
    parent = motion.parent_pose
    for bone, channels in zip(chain.bones, motion.channels, strict=True):
        parent = pose_with_channels(bone, parent, channels)
        poses.append(parent)
    return poses


def with_rotations(chain: RestChain, motion: ChainMotion, rotations: tuple[Array, ...]) -> ChainMotion:
    """The motion with other local rotations on the turning bones."""
    channels = list(motion.channels)
    for index, rotation in zip(chain.turning, rotations, strict=True):
        channels[index] = replace(channels[index], rotation=rotation)
    return replace(motion, channels=tuple(channels))


def rest_reference(chain: RestChain, motion: ChainMotion) -> Reference:
    """The reference in which the turning bones have no rotation of their own."""
    return _reference(chain, with_rotations(chain, motion, (np.eye(3),) * len(chain.turning)))


def _reference(chain: RestChain, motion: ChainMotion) -> Reference:
    poses = pose_path(chain, motion)
    joints = joints_of(chain, poses)
    links = []
    for number, index in enumerate(chain.turning):
        parent = poses[index - 1] if index else motion.parent_pose
        inherited = parent_transform(chain.bones[index], parent).turn_and_scale
        links.append(_before(inherited, joints[..., number + 1, :] - joints[..., number, :]))
    rotations = tuple(motion.channels[index].rotation for index in chain.turning)
    return Reference(joints, np.stack(np.broadcast_arrays(*links), axis=-2), rotations)


def turn_links(
    chain: RestChain, motion: ChainMotion, reference: Reference, frames: Array, directions: Array
) -> Turned:
    """Turn each link about the plane's normal into its direction, keeping its depth.

    Parameters
    ----------
    frames : (..., F, 3, 3)
        Plane frames, armature space.
    directions : (..., F, n)
        Angle of each link from u, in the plane. A link without length in the plane is not turned.

    """
    rotations, axes, turns = [], [], []
    poses: list[Array] = []
    parent = motion.parent_pose
    for index, bone in enumerate(chain.bones):
        channels = motion.channels[index]
        if index not in chain.turning:
            parent = pose_with_channels(bone, parent, channels)
        else:
            number = chain.turning.index(index)
            transform = parent_transform(bone, parent)
            axis = hinge_axis(transform.turn_and_scale, frames)
            turn = _turn_towards(
                transform.turn_and_scale, frames, axis, reference.links[..., number, :], directions[..., number]
            )
            rotation = about_axis(axis, turn) @ reference.rotations[number]
            location = _location(chain, index, channels)
            parent = pose_bone(transform, location, rotation, channels.scale)
            rotations.append(rotation)
            axes.append(axis)
            turns.append(turn)
        poses.append(parent)
    return Turned(tuple(rotations), tuple(axes), tuple(turns), joints_of(chain, poses))


def hinge_axis(inherited: Array, frames: Array) -> Array:
    """Local unit axis `(..., F, 3)` about which a bone turns in the plane, counter-clockwise as seen in it."""
    covector = np.einsum("...ij,...i->...j", inherited, frames[..., 2])
    mirrored = np.where(np.linalg.det(inherited) < 0.0, -1.0, 1.0)
    return unit(covector) * mirrored[..., None]


def _turn_towards(inherited: Array, frames: Array, axis: Array, link: Array, direction: Array) -> Array:
    """Angle `(..., F)` about `axis` that lays the link's in-plane part along `direction` `(..., F)`.

    The link at angle t is `c + A cos t + B sin t` in the plane. Its side of the wanted direction d is
    `cross(d, c) + K sin(t - t0)` with t0 the solution for c = 0, so t follows in closed form. The local axis
    is signed so that A to B turns counter-clockwise, which makes t0 the solution along d and not against it.
    """
    along = axis * np.sum(axis * link, axis=-1, keepdims=True)
    wanted = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
    centre, cosine_part, sine_part = (
        in_plane(frames, (inherited @ part[..., None])[..., 0])
        for part in (along, link - along, np.cross(axis, link))
    )
    across = [_cross(wanted, part) for part in (centre, cosine_part, sine_part)]
    amplitude = np.hypot(across[1], across[2])
    sine = np.divide(across[0], amplitude, out=np.zeros_like(amplitude), where=amplitude > 0.0)
    return np.arctan2(-across[1], across[2]) - np.arcsin(np.clip(sine, -1.0, 1.0))


def link_vectors(frames: Array, joints: Array) -> Array:
    """In-plane link vectors `(..., F, n, 2)` of joints `(..., F, n + 1, 3)`."""
    steps = joints[..., 1:, :] - joints[..., :-1, :]
    return in_plane(frames[..., None, :, :], steps)


def points_from_plane(frames: Array, root: Array, points: Array, depth: Array) -> Array:
    """Points `(..., F, 3)` in armature space of in-plane points `(..., F, 2)` at a depth `(..., F)` from the root."""
    return root + from_plane(frames, points) + frames[..., 2] * depth[..., None]


def _location(chain: RestChain, index: int, channels: BoneChannels) -> Array:
    bone = chain.bones[index]
    return np.zeros(3) if bone.connected and bone.parent_rest is not None else channels.location


def _before(inherited: Array, link: Array) -> Array:
    """The link `(..., 3)` before the inherited matrix; where that has no inverse, the least-squares answer."""
    inherited = np.broadcast_to(inherited, (*link.shape[:-1], 3, 3))
    flat = np.linalg.det(inherited) == 0.0
    if np.any(flat):
        return (np.linalg.pinv(inherited) @ link[..., None])[..., 0]
    return np.linalg.solve(inherited, link[..., None])[..., 0]


def _cross(first: Array, second: Array) -> Array:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
