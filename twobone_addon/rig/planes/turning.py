"""The local rotation that brings one bone's link into a direction of the plane.

A turning bone is posed as `M @ R @ D`: `M` is what it inherits (`ParentTransform.turn_and_scale`), `R` its own
rotation, `D` its scale along its own axes. With a reference rotation `R0`, its link is `M @ R @ R0^-1 @ w` where `w` is
the link of the reference pose brought before `M`. The plane's normal n is a covector: a rotation about the local axis
`a = M^T n` keeps the link's coordinate along n whatever `M` is, so a bone never leaves its depth, under shear as well.
Where `M` is a rotation with uniform scale, which is the rule, the turn about `a` is the turn about n.
"""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ...arrays import cross, dot
from ..rotations import about_axis, determinant, solve_linear, unit
from .plane_frames import from_plane, in_plane


def hinge_axis(inherited: Array, normals: Array) -> Array:
    """Local unit axis `(..., F, 3)` about which a bone turns counter-clockwise as seen from `normals` `(..., F, 3)`."""
    covector = np.einsum("...ij,...i->...j", inherited, normals)
    mirrored = np.where(determinant(inherited) < 0.0, -1.0, 1.0)
    return unit(covector) * mirrored[..., None]


def turned_along(inherited: Array, frames: Array, link: Array, direction: Array) -> Array:
    """Rotation `(..., F, 3, 3)` about the plane's normal that lays the link's in-plane part along `direction`.

    inherited : (..., F, 3, 3), frames : (..., F, 3, 3), link : (..., F, 3), direction : (..., F) radians from u

    The link at angle t is `c + A cos t + B sin t` in the plane. Its side of the wanted direction d is
    `cross(d, c) + K sin(t - t0)` with t0 the solution for c = 0, so t follows in closed form. The local axis
    is signed so that A to B turns counter-clockwise, which makes t0 the solution along d and not against it.
    A link without length in the plane is not turned. Under shear a link that leans out of the plane may not reach every
    direction; then it is brought as near to it as it gets.
    """
    axis = hinge_axis(inherited, frames[..., 2])
    along = axis * dot(axis, link)[..., None]
    wanted = np.stack([np.cos(direction), np.sin(direction)], axis=-1)
    parts = (along, link - along, cross(axis, link))
    centre, cosine_part, sine_part = (_cross(wanted, in_plane(frames, (inherited @ part[..., None])[..., 0])) for part in parts)
    amplitude = np.hypot(cosine_part, sine_part)
    sine = np.divide(centre, amplitude, out=np.zeros_like(amplitude), where=amplitude > 0.0)
    return about_axis(axis, np.arctan2(-cosine_part, sine_part) - np.arcsin(np.clip(sine, -1.0, 1.0)))


def laid_along(inherited: Array, frames: Array, link: Array, normal: Array, direction: Array) -> Array:
    """Rotation `(..., F, 3, 3)` that lays the whole link along `direction` and its own normal along the plane's.

    normal : (..., F, 3), perpendicular to `link`, before what the bone inherits; see `resting_normal` and `laid_normal`

    A link without length is not turned.
    """
    wanted = from_plane(frames, np.stack([np.cos(direction), np.sin(direction)], axis=-1))
    to = _triad(unit(solve_linear(inherited, wanted)), hinge_axis(inherited, frames[..., 2]))
    rotation = to @ np.swapaxes(_triad(unit(link), normal), -1, -2)
    empty = ~np.any(link != 0.0, axis=-1)
    return np.where(empty[..., None, None], np.eye(3), rotation)


def carried_along(inherited: Array, frames: Array, link: Array, normal: Array, direction: Array) -> Array:
    """Rotation `(..., F, 3, 3)` that brings a link's own plane onto the plane and the link's part in it along `direction`.

    normal : (..., F, 3) of the link's own plane, unit length, before what the bone inherits

    What the link has beside its own plane it has beside the plane. One that stands upright on it is not turned.
    """
    laid = laid_along(inherited, frames, link - normal * dot(normal, link)[..., None], normal, direction)
    return turned_along(inherited, frames, (laid @ link[..., None])[..., 0], direction) @ laid


def laid_normal(inherited: Array, frames: Array, link: Array) -> Array:
    """Normal `(..., F, 3)` of a link that was laid into the plane on the shortest way, in the link's own space.

    The plane's local normal, turned back with the link. A link along the normal has no shortest way: u leads it.
    """
    axis = hinge_axis(inherited, frames[..., 2])
    direction = unit(link)
    height = dot(axis, direction)[..., None]
    flat = direction - axis * height
    upright = dot(flat, flat)[..., None] == 0.0
    lead = solve_linear(inherited, frames[..., 0])
    flat = unit(np.where(upright, lead - axis * dot(axis, lead)[..., None], flat))
    # Perpendicular to the link, in the plane of link and axis: the axis before it was turned with the link.
    return unit(axis * dot(flat, direction)[..., None] - flat * height)


def resting_normal(inherited: Array, normal: Array, link: Array) -> Array:
    """A limb's normal `(..., F, 3)`, armature space in its reference pose, in a link's own space and perpendicular to it."""
    axis = hinge_axis(inherited, normal)
    direction = unit(link)
    return unit(axis - direction * dot(axis, direction)[..., None])


def _triad(along: Array, normal: Array) -> Array:
    """Orthonormal columns: along, normal x along, normal."""
    return np.stack(np.broadcast_arrays(along, cross(normal, along), normal), axis=-1)


def _cross(first: Array, second: Array) -> Array:
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
