"""Plane frames: the directions of u, v and the normal in armature space, per frame.

A frame is `(..., F, 3, 3)` with columns u, v, n: orthonormal, right-handed (n = u x v). Angles in the plane run counter-clockwise
from u to v. A frame is transformed from its own space by the linear map of points, so the plane stays the plane under any affine
map (its normal transforms as a covector), and a mirroring map does not swap sides as seen in the plane's own space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array
from ..arrays import across, cross, dot, magnitude
from .bones import bend_area, limb_lines
from .rotations import unit

LETTERS = {"XY": (0, 1), "XZ": (0, 2), "YZ": (1, 2)}
"""Axes of u and v, so that the planes look as in Blender's Top, Front and Right view."""

STRAIGHT = 1e-4
"""Sine of a bend below which a chain counts as straight: rest matrices in single precision bend a straight chain by 1e-6."""

MOST_OFF_PLANE = 0.6
"""Greatest sine of the angle between a straight chain and the plane in which it swings: legs stand slightly apart. No direction
has a greater angle to all three letter planes."""

FLAT = 0.01
"""Greatest thickness of a flat rig, relative to its largest extent: layers of a cut-out lie slightly apart."""

OUTWARDS = {"YZ": np.array([0.0, -1.0, 0.0]), "XZ": np.array([0.0, 0.0, -1.0]), "XY": np.array([0.0, 1.0, 0.0])}
"""Default direction of the middle joint of a straight chain: knees to the front, elbows of spread arms down or back."""


@dataclass(frozen=True, slots=True)
class PlaneSpaces:
    """Linear maps `(..., 3, 3)` to armature space from the spaces in which a plane may be defined."""

    world: Array
    parent: Array | None
    """From the parent bone of the chain; `None` without one."""
    plane_object: Array | None
    """From the plane object; `None` for a letter plane."""


def letter_axes(plane: str) -> Array:
    """In-plane axes u, v as columns `(3, 2)`, in the plane's own space."""
    return np.eye(3)[:, LETTERS[plane]]


def carried_frames(axes: Array, armature_from_space: Array) -> Array:
    """Frames `(..., F, 3, 3)` of the plane spanned by the columns of `axes` `(..., 3, 2)` in another space.

    `armature_from_space` `(..., F, 3, 3)` is the linear part of the map to armature space. A map that collapses the plane to a
    line gives zero columns; see `has_plane`.
    """
    carried = armature_from_space @ axes
    return frames_of(carried[..., 0], carried[..., 1])


def frames_of(first: Array, second: Array) -> Array:
    """Frames `(..., 3, 3)` with u along `first` `(..., 3)` and v on the side of `second` `(..., 3)`."""
    u = unit(first)
    v = unit(across(second, u))
    return np.stack([u, v, cross(u, v)], axis=-1)


def still_frames(plane: str, plane_space: str, spaces: PlaneSpaces) -> Array:
    """Frames `(..., 3, 3)` of a plane that does not follow the limb: a letter plane in its space, or an object's XY plane."""
    if spaces.plane_object is not None:
        return carried_frames(np.eye(3)[:, :2], spaces.plane_object)
    linear = {"WORLD": spaces.world, "PARENT": spaces.parent}.get(plane_space)
    return carried_frames(letter_axes(plane), np.eye(3) if linear is None else linear)


def has_plane(frames: Array) -> Array:
    """Mask `(..., F)` of frames that span a plane."""
    return np.all(np.any(frames != 0.0, axis=-2), axis=-1)


def in_plane(frames: Array, vectors: Array) -> Array:
    """Coordinates `(..., F, 2)` along u and v of vectors `(..., F, 3)` in armature space."""
    return np.stack([dot(frames[..., axis], vectors) for axis in range(2)], axis=-1)


def out_of_plane(frames: Array, vectors: Array) -> Array:
    """Coordinate `(..., F)` along the normal of vectors `(..., F, 3)` in armature space."""
    return np.einsum("...i,...i->...", frames[..., 2], vectors)


def from_plane(frames: Array, coordinates: Array) -> Array:
    """Vectors `(..., F, 3)` in armature space of in-plane coordinates `(..., F, 2)`."""
    return np.einsum("...ij,...j->...i", frames[..., :2], coordinates)


def nearest_letters(joints: Array, among: Sequence[str] = tuple(OUTWARDS)) -> tuple[str, int]:
    """The letter plane nearest to the bend of joints `(n + 1, 3)` at rest, and the bend's side in it, +1 or -1.

    For a straight chain it is the first plane of `among` that contains most of its length, because limbs mostly swing forwards
    and backwards, with the side to which human joints bend: see `OUTWARDS`.
    """
    bend = bend_area(joints)
    normals = {letters: np.cross(*letter_axes(letters).T) for letters in among}
    if is_bent(joints):
        nearest = max(normals, key=lambda letters: abs(normals[letters] @ bend))
        return nearest, 1 if normals[nearest] @ bend >= 0.0 else -1
    along = unit(limb_lines(joints))
    nearest = next((letters for letters, normal in normals.items() if abs(normal @ along) <= MOST_OFF_PLANE), among[0])
    # Bent to the positive side, the middle joint is to the right of the chain as seen against the normal.
    return nearest, 1 if np.cross(along, normals[nearest]) @ OUTWARDS[nearest] >= 0.0 else -1


def flat_letters(points: Array) -> tuple[str, ...]:
    """The letter planes in which all points `(P, 3)` lie, up to a thickness of `FLAT`; a line along an axis lies in two."""
    extents = np.ptp(points, axis=0)
    return thin_letters(extents / max(extents.max(), np.finfo(float).tiny), FLAT)


def thin_letters(extents: Array, thickness: float) -> tuple[str, ...]:
    """The letter planes across which extents `(3,)` along the axes are no larger than `thickness`."""
    thin = extents <= thickness
    return tuple(letters for letters in OUTWARDS if thin[next(axis for axis in range(3) if axis not in LETTERS[letters])])


def is_bent(joints: Array) -> bool:
    """Whether joints `(n + 1, 3)` are bent enough to determine a plane and a side.

    For two links the sine of the bend is compared with `STRAIGHT`; for more, the equivalent for their bend area.
    """
    bend = bend_area(joints)
    links = magnitude(np.diff(joints, axis=0))
    # The area if each link were at a right angle to the previous one.
    largest = np.sum(links[1:] * links[:-1])
    return bool(np.sqrt(bend @ bend) > STRAIGHT * largest)
