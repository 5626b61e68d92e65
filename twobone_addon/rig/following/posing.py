"""From link directions in the plane to local rotations of the bones, and forward to joints again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...array_types import Array
from ..bones import ChainMotion, RestChain
from ..inheritance import ParentTransform, parent_transform, pose_under, pose_with_channels
from ..local_rotations import LocalRotations, Matrices
from ..planes.plane_frames import in_plane
from ..planes.turning import carried_along, hinge_axis, laid_along, laid_normal, resting_normal, turned_along
from ..rotations import about_axis, solve_linear


@dataclass(frozen=True, slots=True)
class Reference:
    """The pose from which the turning bones are turned."""

    joints: Array
    """`(..., F, n + 1, 3)` armature space."""
    inherited: tuple[Array, ...]
    """`(..., F, 3, 3)` of each turning bone: `ParentTransform.turn_and_scale`."""
    links: tuple[Array, ...]
    """`(..., F, 3)` of each turning bone, before what it inherits."""
    rotations: tuple[Array, ...]
    """`(..., F, 3, 3)` or `(3, 3)` of each turning bone."""


@dataclass(frozen=True, slots=True)
class Laying:
    """How bones are brought into the plane."""

    flatten: bool
    """Lay the links into the plane; else each bone turns about the plane's normal and keeps its depth."""
    normal: Array | None = None
    """`(..., F, 3)` the limb's own normal in its reference pose, armature space, laid along the plane's normal;
    `None` lays each link on the shortest way."""
    own: Array | None = None
    """`(..., F, 3, 3)` frames of the limb's own plane in its reference pose: it is carried from there into the plane as it
    is, each link as far beside it as before; `None` for a limb that has no plane of its own."""


@dataclass(frozen=True)
class Turned:
    """The chain after turning; how that poses its bones is worked out when asked for, where it is not known already."""

    chain: RestChain
    motion: ChainMotion
    rotations: tuple[LocalRotations, ...]
    """Of each turning bone."""
    known_poses: tuple[Array, ...] | None = None
    """What `poses` is, if known."""
    together: tuple[Turned, int] | None = None
    """All chains that were turned together, if this is one of them, and its place among them: they are posed together."""

    @cached_property
    def poses(self) -> tuple[Array, ...]:
        """`(..., F, 4, 4)` of each bone of the chain, armature space."""
        if self.known_poses is not None:
            return self.known_poses
        if self.together is not None:
            several, place = self.together
            return tuple(poses[place] for poses in several.poses)
        matrices = tuple(rotation.matrices for rotation in self.rotations)
        return tuple(pose_path(self.chain, with_rotations(self.chain, self.motion, matrices)))

    @cached_property
    def joints(self) -> Array:
        """`(..., F, n + 1, 3)` armature space."""
        return joints_of(self.chain, self.poses)


def joints_of(chain: RestChain, poses: list[Array] | tuple[Array, ...]) -> Array:
    """Joints `(..., F, n + 1, 3)`, armature space, of posed bones."""
    last = poses[-1]
    tip = (last[..., :3, :3] @ chain.tip[..., None])[..., 0] + last[..., :3, 3]
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


def pose_with_rotations(chain: RestChain, motion: ChainMotion, rotations: tuple[Array, ...]) -> Turned:
    """The chain with these local rotations on its turning bones."""
    return Turned(chain, motion, tuple(map(Matrices, rotations)))


def rest_reference(chain: RestChain, motion: ChainMotion) -> Reference:
    """The reference in which the turning bones have no rotation of their own."""
    return present_reference(chain, with_rotations(chain, motion, (np.eye(3),) * len(chain.turning)))


def present_reference(chain: RestChain, motion: ChainMotion) -> Reference:
    """The reference in which the turning bones have the rotation that each frame has."""
    poses: list[Array] = []
    transforms: list[ParentTransform] = []
    for bone, channels in zip(chain.bones, motion.channels, strict=True):
        transforms.append(parent_transform(bone, poses[-1] if poses else motion.parent_pose))
        poses.append(pose_under(bone, transforms[-1], channels))
    joints = joints_of(chain, poses)
    inherited = tuple(transforms[index].turn_and_scale for index in chain.turning)
    links = tuple(solve_linear(matrix, link) for matrix, link in zip(inherited, _steps(joints), strict=True))
    rotations = tuple(motion.channels[index].rotation for index in chain.turning)
    return Reference(joints, inherited, links, rotations)


Turn = Callable[[int, Array], Array]
"""Number of a turning bone and what it inherits `(..., F, 3, 3)`, to its turn from the reference `(..., F, 3, 3)`."""


def turn_bones(chain: RestChain, motion: ChainMotion, reference: Reference, turn: Turn) -> Turned:
    """Turn the bones one after another, each in what it inherits from those turned before it."""
    rotations, poses = [], []
    parent = motion.parent_pose
    for index, bone in enumerate(chain.bones):
        channels, transform = motion.channels[index], parent_transform(bone, parent)
        if index in chain.turning:
            number = chain.turning.index(index)
            rotations.append(turn(number, transform.turn_and_scale) @ reference.rotations[number])
            channels = replace(channels, rotation=rotations[-1])
        parent = pose_under(bone, transform, channels)
        poses.append(parent)
    return Turned(chain, motion, tuple(map(Matrices, rotations)), tuple(poses))


def towards(reference: Reference, frames: Array, laying: Laying, directions: Array) -> Turn:
    """Turns that bring each link into its direction `(..., F, n)`, an angle from u in the plane of `frames`."""
    links, normals = reference.links, _link_normals(reference, frames, laying)

    def turn(number: int, inherited: Array) -> Array:
        direction = directions[..., number]
        if laying.own is not None:
            return carried_along(inherited, frames, links[number], normals[number], direction)
        if laying.flatten:
            return laid_along(inherited, frames, links[number], normals[number], direction)
        return turned_along(inherited, frames, links[number], direction)

    return turn


def by_angles(frames: Array, angles: Array) -> Turn:
    """Turns of each bone about its hinge axis, the normal of `frames`, by `angles` `(..., F, n)`."""
    return lambda number, inherited: about_axis(hinge_axis(inherited, frames[..., 2]), angles[..., number])


def _link_normals(reference: Reference, frames: Array, laying: Laying) -> list[Array]:
    """Each link's own normal `(..., F, 3)`, before what its bone inherits; empty where bones turn in the plane only."""
    own = laying.own
    if own is not None:
        return [hinge_axis(inherited, own[..., 2]) for inherited in reference.inherited]
    if not laying.flatten:
        return []
    pairs = zip(reference.inherited, reference.links, strict=True)
    if laying.normal is None:
        return [laid_normal(inherited, frames, link) for inherited, link in pairs]
    return [resting_normal(inherited, laying.normal, link) for inherited, link in pairs]


def link_vectors(frames: Array, joints: Array) -> Array:
    """In-plane link vectors `(..., F, n, 2)` of joints `(..., F, n + 1, 3)`."""
    return in_plane(frames[..., None, :, :], joints[..., 1:, :] - joints[..., :-1, :])


def _steps(joints: Array) -> Array:
    """Link vectors `(n, ..., F, 3)`."""
    return np.moveaxis(joints[..., 1:, :] - joints[..., :-1, :], -2, 0)
