"""Planes that a limb defines itself: by its bend at rest, or by a pole.

Both contain the line from the root joint to the target. Where that line leaves the plane undecided (it runs along the
rest normal, or through the pole) the frame keeps the normal of the frame before it, made perpendicular to its own
line, so nothing flips; such frames are marked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Mask
from ...arrays import cross, dot, held, magnitude
from ..bones import RestChain, bend_area
from ..rotations import about_axis, unit
from .plane_frames import STRAIGHT, is_bent

UNDECIDED = 1e-6
"""Sine between line and normal (or pole) below which it says nothing: ten times the noise of single precision."""


@dataclass(frozen=True, slots=True)
class LimbPlane:
    """Plane frames, and where they had to be taken from another frame."""

    frames: Array
    """`(..., F, 3, 3)`, see `planes`; u points from the root joint to the target."""
    held: Mask
    """`(..., F)`"""


def rest_normal(chain: RestChain) -> Array:
    """Unit normal `(3,)` of the chain's bend at rest, armature space, so that the bend is counter-clockwise.

    A straight chain has none: then it is the upper bone's own X axis, the hinge of most rigs, made perpendicular to
    the limb (its Z axis where X runs along the limb).
    """
    joints = chain.rest_joints()
    bend = bend_area(joints)
    if is_bent(joints):
        return unit(bend)
    along = unit(joints[-1] - joints[0])
    hinge, depth = (axis - along * (axis @ along) for axis in (chain.upper.rest[:3, 0], chain.upper.rest[:3, 2]))
    return unit(hinge if hinge @ hinge > STRAIGHT else depth)


def carried_normal(normal: Array, linear: Array) -> Array:
    """Unit normals `(..., F, 3)` of a plane with `normal` `(..., 3)` transformed by `linear` `(..., F, 3, 3)`.

    A plane's normal moves as a covector; its sign follows the plane's orientation, so that counter-clockwise stays
    counter-clockwise as seen from the moved normal.
    """
    # The matrix of cofactors is det times the inverse transpose, and exists for singular maps as well.
    cofactors = np.stack([cross(linear[..., (k + 1) % 3], linear[..., (k + 2) % 3]) for k in range(3)], axis=-1)
    return unit((cofactors @ normal[..., None])[..., 0])


def plane_with_normal(normals: Array, lines: Array) -> LimbPlane:
    """Planes through `lines` `(..., F, 3)` (root joint to target) whose normals are nearest to `normals` `(..., F, 3)`."""
    along = _held_direction(lines)
    away = normals - along * dot(normals, along)[..., None]
    decided = magnitude(away) > UNDECIDED
    normal = unit(_held_across(away, along, decided, normals))
    return LimbPlane(np.stack([along, cross(normal, along), normal], axis=-1), ~decided)


def plane_through_pole(lines: Array, poles: Array, angle: float, otherwise: Array) -> LimbPlane:
    """Planes through `lines` and `poles` `(..., F, 3)`, both from the root joint.

    A positive bend puts the middle joint on the pole's side; `angle` (radians) then turns the plane about the line.
    `otherwise` `(..., F, 3)` are normals for when no frame decides.
    """
    along = _held_direction(lines)
    towards = poles - along * dot(poles, along)[..., None]
    decided = magnitude(towards) > UNDECIDED * magnitude(poles)
    # Positive is counter-clockwise from link 1 to link 2, which puts the middle joint at negative v.
    normal = unit(_held_across(cross(towards, along), along, decided, otherwise))
    if angle:
        normal = (about_axis(along, np.asarray(angle)) @ normal[..., None])[..., 0]
    return LimbPlane(np.stack([along, cross(normal, along), normal], axis=-1), ~decided)


def _held_direction(lines: Array) -> Array:
    """Unit vectors along `lines`; one without length takes that of the last frame with length."""
    known = magnitude(lines) > 0.0
    last = held(lines, known)
    return unit(np.where(np.any(last != 0.0, axis=-1, keepdims=True), last, np.array([1.0, 0.0, 0.0])))


def _held_across(vectors: Array, along: Array, decided: Mask, otherwise: Array) -> Array:
    """Vectors perpendicular to `along`; undecided ones are taken from the last decided frame, else from `otherwise`."""
    last = np.where(np.any(decided, axis=-1)[..., None, None], held(vectors, decided), otherwise)
    last = np.where(decided[..., None], vectors, last)
    across = last - along * dot(last, along)[..., None]
    # What is last may itself run along the line by now: then any perpendicular is as good as another.
    lost = magnitude(across) <= UNDECIDED * magnitude(last)
    return np.where(lost[..., None], _any_perpendicular(along), across)


def _any_perpendicular(along: Array) -> Array:
    least = np.eye(3)[np.argmin(np.abs(along), axis=-1)]
    return least - along * dot(least, along)[..., None]
