"""Convert link directions in the plane to local bone rotations, and pose the bones with them.

A turning bone is posed as `M @ R @ D`: `M` is its inherited transform (`ParentTransform.turn_and_scale`), `R` its own rotation,
`D` its scale along its own axes. With a reference rotation `R0`, its link is `M @ R @ R0^-1 @ w`, where `w` is the link of the
reference pose in the space before `M`. The plane's normal n is a covector: a rotation about the local axis `a = M^T n` keeps the
link's coordinate along n whatever `M` is, so a bone never leaves its depth, even under shear. Where `M` is a rotation with
uniform scale, which is usual, the turn about `a` is the turn about n.

Stretch applies a uniform scale, so that all links grow equally and no bone is sheared: the upper bone is scaled and its children
inherit the scale. A turning bone further down that does not inherit scale gets it as its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...records import replace
from ..array_types import Array, MatrixRows, VectorRows
from ..arrays import across, cross, dot
from ..rows import sliced
from .bones import ChainMotion, RestBone, RestChain
from .channels import LocalRotations, Matrices, Quaternions
from .inheritance import ParentTransform, parent_transform, pose_under, pose_with_channels
from .plane_frames import from_plane, in_plane
from .rotations import about_axis, carried, determinant, solve_linear, unit


def hinge_axis(inherited: Array, normals: Array) -> Array:
    """Local unit axis `(..., F, 3)` about which a bone turns counter-clockwise as seen from `normals` `(..., F, 3)`."""
    covector = np.einsum("...ij,...i->...j", inherited, normals)
    mirrored = np.where(determinant(inherited) < 0.0, -1.0, 1.0)
    return unit(covector) * mirrored[..., None]


def turned_along(inherited: Array, frames: Array, link: Array, direction: Array) -> Array:
    """Rotation `(..., F, 3, 3)` about the plane's normal that brings the link's in-plane part into `direction`.

    inherited : (..., F, 3, 3), frames : (..., F, 3, 3), link : (..., F, 3), direction : (..., F) radians from u

    In the plane the link at angle t is `c + A cos t + B sin t`. Its cross product with the desired direction d is
    `cross(d, c) + K sin(t - t0)`, where t0 is the solution for c = 0, so t follows in closed form. The local axis is signed so
    that A to B is counter-clockwise, which makes t0 the solution along d and not against it. A link with no length in the plane
    is not turned. Under shear, a link that leans out of the plane may not reach every direction; then it is brought as near as
    possible.
    """
    axis = hinge_axis(inherited, frames[..., 2])
    along = axis * dot(axis, link)[..., None]
    directions = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
    parts = (along, link - along, cross(axis, link))
    laid = (in_plane(frames, carried(inherited, part)) for part in parts)
    centre, cosine_part, sine_part = (directions[..., 0] * part[..., 1] - directions[..., 1] * part[..., 0] for part in laid)
    amplitude = np.hypot(cosine_part, sine_part)
    sine = np.divide(centre, amplitude, out=np.zeros_like(amplitude), where=amplitude > 0.0)
    return about_axis(axis, np.arctan2(-cosine_part, sine_part) - np.arcsin(np.clip(sine, -1.0, 1.0)))


@dataclass(frozen=True, slots=True)
class LaidLink:
    """A link that is brought into the plane with its own normal, before it is turned."""

    back: Array
    """`(..., F, 3, 3)` inverse of its direction, its normal, and the perpendicular of both."""
    empty: Array
    """Mask `(..., F, 1, 1)` of links of length 0."""

    @classmethod
    def of(cls, link: Array, normal: Array) -> LaidLink:
        """Of a link `(..., F, 3)` and a normal `(..., F, 3)` perpendicular to it, both before the inherited transform."""
        back = np.swapaxes(_triad(unit(link), normal), -1, -2)
        return cls(back, ~np.any(link != 0.0, axis=-1)[..., None, None])


def laid_along(inherited: Array, frames: Array, link: LaidLink, direction: Array) -> Array:
    """Rotation `(..., F, 3, 3)` that brings the whole link into `direction` and its own normal onto the plane's normal.

    A link of length 0 is not turned.
    """
    directions = from_plane(frames, np.stack([np.cos(direction), np.sin(direction)], axis=-1))
    to = _triad(unit(solve_linear(inherited, directions)), hinge_axis(inherited, frames[..., 2]))
    return np.where(link.empty, np.eye(3), to @ link.back)


def laid_normal(inherited: Array, frames: Array, link: Array) -> Array:
    """Normal `(..., F, 3)`, in the link's own space, of a link that is brought into the plane by the smallest rotation.

    It is the plane's local normal, turned back with the link. For a link along the normal, u replaces its direction in the plane.
    """
    axis = hinge_axis(inherited, frames[..., 2])
    direction = unit(link)
    height = dot(axis, direction)[..., None]
    flat = direction - axis * height
    upright = dot(flat, flat)[..., None] == 0.0
    lead = solve_linear(inherited, frames[..., 0])
    flat = unit(np.where(upright, across(lead, axis), flat))
    # The axis before the link was turned: perpendicular to the link, in the plane of link and axis.
    return unit(axis * dot(flat, direction)[..., None] - flat * height)


def _triad(along: Array, normal: Array) -> Array:
    """Orthonormal columns: along, normal x along, normal."""
    return np.stack(np.broadcast_arrays(along, cross(normal, along), normal), axis=-1)


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference pose from which the turning bones are turned."""

    joints: MatrixRows
    """`(..., F, n + 1, 3)` armature space."""
    inherited: tuple[MatrixRows, ...]
    """`(..., F, 3, 3)` `ParentTransform.turn_and_scale` of each turning bone."""
    links: tuple[VectorRows, ...]
    """`(..., F, 3)` link of each turning bone, in the space before its inherited transform."""
    rotations: tuple[MatrixRows, ...]
    """`(..., F, 3, 3)` or `(3, 3)` local rotation of each turning bone."""


@dataclass(frozen=True, slots=True)
class Laying:
    """Options for bringing bones into the plane."""

    flatten: bool
    """Whether links are laid into the plane; else each bone turns about the plane's normal and keeps its depth."""
    normal: VectorRows | None = None
    """`(..., F, 3)` the limb's own normal in its reference pose, armature space, brought onto the plane's normal; `None` lays
    each link by the smallest rotation."""
    own: MatrixRows | None = None
    """`(..., F, 3, 3)` frames of the limb's own plane in its reference pose: the limb is carried with it onto the plane, and each
    link keeps its distance from it; `None` for a limb without a plane of its own."""


@dataclass(frozen=True)
class TurnedChain:
    """A chain after turning; poses and joints are computed on demand unless already known."""

    chain: RestChain
    motion: ChainMotion
    rotations: tuple[LocalRotations, ...]
    """Local rotations of each turning bone."""
    known_poses: tuple[Array, ...] | None = None
    """The value of `poses`, if already known."""
    together: tuple[TurnedChain, int] | None = None
    """The stack that this chain was turned in, if any, and its index there: stacks are posed together."""

    @cached_property
    def poses(self) -> tuple[Array, ...]:
        """Posed matrices `(..., F, 4, 4)` of each bone of the chain, armature space."""
        if self.known_poses is not None:
            return self.known_poses
        if self.together is not None:
            stack, index = self.together
            return tuple(poses[index] for poses in stack.poses)
        matrices = tuple(rotation.matrices for rotation in self.rotations)
        return tuple(pose_path(self.chain, with_rotations(self.chain, self.motion, matrices)))

    def at(self, part: slice) -> tuple[Array, ...]:
        """Poses of a single chain at some frames; poses of a long take are not cached."""
        if isinstance(self.rotations[0], Quaternions):
            matrices = tuple(Quaternions(rotation.quaternions[part]).matrices for rotation in self.rotations)
            return tuple(pose_path(self.chain, with_rotations(self.chain, sliced(self.motion, part), matrices)))
        return tuple(poses if len(poses) == 1 else poses[part] for poses in self.poses)

    @cached_property
    def joints(self) -> Array:
        """Joints `(..., F, n + 1, 3)`, armature space."""
        return joints_of(self.chain, self.poses)


def joints_of(chain: RestChain, poses: list[Array] | tuple[Array, ...]) -> Array:
    """Joints `(..., F, n + 1, 3)`, armature space, of posed bones."""
    last = poses[-1]
    tip = carried(last[..., :3, :3], chain.tip) + last[..., :3, 3]
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
    """The motion with the local rotations of the turning bones replaced."""
    channels = list(motion.channels)
    for index, rotation in zip(chain.turning, rotations, strict=True):
        channels[index] = replace(channels[index], rotation=rotation)
    return replace(motion, channels=tuple(channels))


def pose_with_rotations(chain: RestChain, motion: ChainMotion, rotations: tuple[Array, ...]) -> TurnedChain:
    """The chain with these local rotations on its turning bones."""
    return TurnedChain(chain, motion, tuple(map(Matrices, rotations)))


def rest_reference(chain: RestChain, motion: ChainMotion) -> Reference:
    """The reference in which the turning bones have no local rotation."""
    return present_reference(chain, with_rotations(chain, motion, (np.eye(3),) * len(chain.turning)))


def present_reference(chain: RestChain, motion: ChainMotion) -> Reference:
    """The reference in which the turning bones have their local rotations of each frame."""
    poses: list[Array] = []
    transforms: list[ParentTransform] = []
    for bone, channels in zip(chain.bones, motion.channels, strict=True):
        transforms.append(parent_transform(bone, poses[-1] if poses else motion.parent_pose))
        poses.append(pose_under(bone, transforms[-1], channels))
    joints = joints_of(chain, poses)
    inherited = tuple(transforms[index].turn_and_scale for index in chain.turning)
    steps = np.moveaxis(joints[..., 1:, :] - joints[..., :-1, :], -2, 0)
    # A bone's own rotation acts before what it inherits, so its link is taken back to there.
    links = tuple(solve_linear(matrix, link) for matrix, link in zip(inherited, steps, strict=True))
    rotations = tuple(motion.channels[index].rotation for index in chain.turning)
    return Reference(joints, inherited, links, rotations)


Turn = Callable[[int, Array], Array]
"""Function of a turning bone's number and its inherited transform `(..., F, 3, 3)` that returns its rotation from the reference,
`(..., F, 3, 3)`."""


def turn_bones(
    chain: RestChain, motion: ChainMotion, reference: Reference, turn: Turn, begun: ParentTransform | None = None
) -> TurnedChain:
    """Turn the bones one after another, each under the transform inherited from the bones already turned.

    begun : what the first bone inherits, if that is known
    """
    rotations, poses = [], []
    parent, begun = motion.parent_pose, begun or parent_transform(chain.bones[0], motion.parent_pose)
    for index, bone in enumerate(chain.bones):
        channels, transform = motion.channels[index], parent_transform(bone, parent) if index else begun
        if index in chain.turning:
            number = chain.turning.index(index)
            rotations.append(turn(number, transform.turn_and_scale) @ reference.rotations[number])
            channels = replace(channels, rotation=rotations[-1])
        parent = pose_under(bone, transform, channels)
        poses.append(parent)
    return TurnedChain(chain, motion, tuple(map(Matrices, rotations)), tuple(poses))


def towards(reference: Reference, frames: Array, laying: Laying) -> Callable[[Array], Turn]:
    """What gives the turns that bring each link into its direction `(..., F, n)`, radians from u in the plane of `frames`."""
    links, laid = reference.links, laid_links(reference, frames, laying)

    def turns(directions: Array) -> Turn:
        def turn(number: int, inherited: Array) -> Array:
            direction = directions[..., number]
            if laying.own is not None:
                # First the link's part in its own plane comes onto the plane, then the link as a whole turns into `direction`
                # about the normal: so it keeps its height above its own plane. A link perpendicular to it is not turned.
                onto_plane = laid_along(inherited, frames, laid[number], direction)
                return turned_along(inherited, frames, carried(onto_plane, links[number]), direction) @ onto_plane
            if laying.flatten:
                return laid_along(inherited, frames, laid[number], direction)
            return turned_along(inherited, frames, links[number], direction)

        return turn

    return turns


def by_angles(frames: Array, angles: Array) -> Turn:
    """Turns of each bone by `angles` `(..., F, n)` about its hinge axis, from the normal of `frames`."""
    return lambda number, inherited: about_axis(hinge_axis(inherited, frames[..., 2]), angles[..., number])


def laid_links(reference: Reference, frames: Array, laying: Laying) -> list[LaidLink]:
    """Each link with its own normal, or its part in its own plane with the normal of that; empty where bones turn in-plane."""
    pairs = list(zip(reference.inherited, reference.links, strict=True))
    own_frames = laying.own
    if own_frames is not None:
        normals = [hinge_axis(inherited, own_frames[..., 2]) for inherited, _ in pairs]
        return [LaidLink.of(across(link, normal), normal) for (_, link), normal in zip(pairs, normals, strict=True)]
    if not laying.flatten:
        return []
    if laying.normal is None:
        return [LaidLink.of(link, laid_normal(inherited, frames, link)) for inherited, link in pairs]
    # The limb's own normal, in the space of each link and perpendicular to it.
    normals = [unit(across(hinge_axis(inherited, laying.normal), unit(link))) for inherited, link in pairs]
    return [LaidLink.of(link, normal) for (_, link), normal in zip(pairs, normals, strict=True)]


def link_vectors(frames: Array, joints: Array) -> Array:
    """In-plane link vectors `(..., F, n, 2)` of joints `(..., F, n + 1, 3)`."""
    return in_plane(frames[..., None, :, :], joints[..., 1:, :] - joints[..., :-1, :])


NOT_INHERITED = ("NONE", "NONE_LEGACY")
"""Settings of `inherit_scale` with which a bone inherits no scale."""


def scale_carriers(chain: RestChain) -> tuple[int, ...]:
    """Indices of the chain's bones that are scaled when it stretches."""
    # The first bone passes its scale on to all that inherit it; the others have to be scaled themselves.
    later = (index for index in chain.turning[1:] if chain.bones[index].inherit_scale in NOT_INHERITED)
    return (chain.turning[0], *later)


def bone_that_stops_stretch(chain: RestChain) -> RestBone | None:
    """A bone between two joints that does not turn and inherits no scale, so that its link cannot grow; `None` if there is none.

    The last bone counts too unless the tip is its head.
    """
    count = len(chain.bones) if np.any(chain.tip != 0.0) else len(chain.bones) - 1
    riding = (index for index in range(count) if index not in chain.turning)
    return next((chain.bones[index] for index in riding if chain.bones[index].inherit_scale in NOT_INHERITED), None)


def stretched(chain: RestChain, motion: ChainMotion, ratio: Array) -> ChainMotion:
    """The motion with every link scaled by `ratio` `(..., F)`."""
    channels = list(motion.channels)
    for index in scale_carriers(chain):
        channels[index] = replace(channels[index], scale=channels[index].scale * ratio[..., None])
    return replace(motion, channels=tuple(channels))
