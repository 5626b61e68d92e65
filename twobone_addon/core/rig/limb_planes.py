"""Planes defined by the limb itself: by its bend at rest, or by a pole.

Both contain the line from the root joint to the target. Where that line does not determine the plane (it runs along the rest
normal, or through the pole), the frame keeps the normal of the previous frame, made perpendicular to its own line, so that
nothing flips; such frames are marked.

`pole_places` is the inverse of the plane through a pole: pole positions that keep a limb as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Mask
from ..arrays import across, any_across, cross, held, magnitude, path_length
from .bones import RestChain, bend_area, limb_lines
from .plane_frames import STRAIGHT, is_bent
from .rotations import about_axis, carried, unit

UNDECIDED = 1e-6
"""Sine between line and normal (or pole) below which the plane is undetermined: ten times the noise of single precision."""


@dataclass(frozen=True, slots=True)
class LimbPlane:
    """Plane frames, and a mask of those taken from another frame."""

    frames: Array
    """`(..., F, 3, 3)`, see `plane_frames`; u points from the root joint to the target."""
    held: Mask
    """`(..., F)`"""


def rest_normal(chain: RestChain) -> Array:
    """Unit normal `(3,)` of the chain's bend at rest, armature space, around which the bend is counter-clockwise.

    For a straight chain it is the upper bone's X axis, the hinge of most rigs, made perpendicular to the limb (its Z axis where X
    runs along the limb).
    """
    joints = chain.rest_joints()
    bend = bend_area(joints)
    if is_bent(joints):
        return unit(bend)
    along = unit(limb_lines(joints))
    hinge, depth = (axis - along * (axis @ along) for axis in (chain.upper.rest[:3, 0], chain.upper.rest[:3, 2]))
    return unit(hinge if hinge @ hinge > STRAIGHT else depth)


def carried_normal(normal: Array, linear: Array) -> Array:
    """Unit normals `(..., F, 3)` of a plane with `normal` `(..., 3)` transformed by `linear` `(..., F, 3, 3)`.

    A plane's normal transforms as a covector; its sign follows the plane's orientation, so that counter-clockwise stays
    counter-clockwise as seen from the transformed normal.
    """
    # The cofactor matrix is det times the inverse transpose, and also exists for singular maps.
    cofactors = np.stack([cross(linear[..., (k + 1) % 3], linear[..., (k + 2) % 3]) for k in range(3)], axis=-1)
    return unit(carried(cofactors, normal))


def plane_with_normal(normals: Array, lines: Array) -> LimbPlane:
    """Planes through `lines` `(..., F, 3)` (root joint to target) whose normals are nearest to `normals` `(..., F, 3)`."""
    along = _held_direction(lines)
    away = across(normals, along)
    decided = magnitude(away) > UNDECIDED
    normal = unit(_held_across(away, along, decided, normals))
    return LimbPlane(np.stack([along, cross(normal, along), normal], axis=-1), ~decided)


def plane_through_pole(lines: Array, poles: Array, angle: float, otherwise: Array) -> LimbPlane:
    """Planes through `lines` and `poles` `(..., F, 3)`, both from the root joint.

    A positive bend puts the middle joint on the pole's side; `angle` (radians) then turns the plane about the line.
    `otherwise` `(..., F, 3)` are the normals if no frame determines the plane.
    """
    along = _held_direction(lines)
    towards = across(poles, along)
    decided = magnitude(towards) > UNDECIDED * magnitude(poles)
    # Positive is counter-clockwise from link 1 to link 2, which puts the middle joint at negative v.
    normal = unit(_held_across(cross(towards, along), along, decided, otherwise))
    if angle:
        normal = carried(about_axis(along, np.asarray(angle)), normal)
    return LimbPlane(np.stack([along, cross(normal, along), normal], axis=-1), ~decided)


def _held_direction(lines: Array) -> Array:
    """Unit vectors along `lines`; a line of length 0 takes the direction of the last frame with a length."""
    known = magnitude(lines) > 0.0
    if known.all():
        return unit(lines)
    last = held(lines, known)
    return unit(np.where(np.any(last != 0.0, axis=-1, keepdims=True), last, np.array([1.0, 0.0, 0.0])))


def _held_across(vectors: Array, along: Array, decided: Mask, otherwise: Array) -> Array:
    """Vectors made perpendicular to `along`; undecided ones are taken from the last decided frame, else from `otherwise`."""
    last = vectors
    if not decided.all():
        last = np.where(np.any(decided, axis=-1)[..., None, None], held(vectors, decided), otherwise)
        last = np.where(decided[..., None], vectors, last)
    aside = across(last, along)
    # The held vector may itself run along the line by now; then any perpendicular will do.
    lost = magnitude(aside) <= UNDECIDED * magnitude(last)
    return np.where(lost[..., None], any_across(along), aside) if lost.any() else aside


STRAIGHT_LIMB = 2e-6
"""Distance of the middle joint from the line, relative to the limb, below which it has no direction: twice the noise of single
precision, and a pole anywhere else would move the joint by less than a hundred-thousandth."""

TRIANGLE_JOINTS = 3
"""Number of joints of two links."""


def pole_places(joints: Array, sides: Array, angle: float, normals: Array) -> Array:
    """Positions `(F, 3)` of poles that keep a limb's plane.

    joints : (F, n + 1, 3)
    sides : (F,) of +1 and -1: side of the line on which the limb should bend, as in `plane_through_pole`
    angle : radians, the pole angle that will be used
    normals : (F, 3), normals of the planes to keep; a straight limb should bend counter-clockwise around them

    A pole is one limb length farther from the line through root and tip than the middle joint. The middle of a zigzag may be on
    either side of the line, so for more than two links the side of the first bend counts.
    """
    root, along = joints[:, 0], unit(joints[:, -1] - joints[:, 0])
    away = _bend_offset(joints, along)
    # Below the middle joint on the line; a zigzag has no one such joint, so its pole stands beside the root.
    foot = root if joints.shape[1] > TRIANGLE_JOINTS else joints[:, 1] - away
    aside = unit(np.cross(along, normals))
    # A positive bend has its joint on the pole's side, a negative one on the other.
    aside = aside * (sides * np.where(np.sum(away * aside, axis=-1) < 0.0, -1.0, 1.0))[:, None]
    if angle:
        aside = carried(about_axis(along, np.asarray(-angle)), aside)
    return foot + aside * (magnitude(away) + path_length(joints))[:, None]


def seen_normals(joints: Array, otherwise: Array) -> Array:
    """Normals `(F, 3)` of the planes of joints `(F, n + 1, 3)`, even if they are only slightly bent.

    Their signs follow `otherwise` `(F, 3)`, which is taken where the limb is straight.
    """
    along = unit(joints[:, -1] - joints[:, 0])
    away = _bend_offset(joints, along)
    bent = magnitude(away) > STRAIGHT_LIMB * path_length(joints)
    normals = unit(np.cross(away, along))
    normals = normals * np.where(np.sum(normals * otherwise, axis=-1) < 0.0, -1.0, 1.0)[:, None]
    return np.where(bent[:, None], normals, otherwise)


def _bend_offset(joints: Array, along: Array) -> Array:
    """Vectors `(F, 3)` from the line through root and tip to the middle joint; for more than two links, from their bend area."""
    if joints.shape[1] > TRIANGLE_JOINTS:
        size = path_length(joints)
        return np.cross(along, bend_area(joints)) / np.where(size > 0.0, size, 1.0)[:, None]
    return across(joints[:, 1] - joints[:, 0], along)
