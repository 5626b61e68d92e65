"""The plane in which a limb is bent in the pose that each frame has, over time.

A limb is a hinge: seen from its upper bone, the axis of its bend hardly moves. So the axis is told there, where it can be
carried through frames in which the limb is straight and says nothing, and its sign stays when a knee is overstretched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array
from ..arrays import across, any_across, cross, dot, magnitude
from ..rows import in_parts
from ..solver import sides_with_hysteresis
from .bones import RestChain, bend_area, limb_lines
from .limb_planes import carried_normal
from .plane_frames import STRAIGHT, is_bent, letter_axes, nearest_letters
from .posing import hinge_axis
from .rotations import unit

TELLING = np.sin(np.radians(1.0))
"""Sine of a bend from which it tells the axis alone: what it would be less, noise of captured motion can be."""

LITTLE = np.radians(10.0)
"""Bend up to which a limb may be overstretched, and still be one that bends to the other side."""

TWO_LINKS = 2

FAINT = 0.3
"""Part of what tells, below which a bend tells nothing; in between the axis goes over to that of the frames around."""


@dataclass(frozen=True, slots=True)
class Hinges:
    """About which axes a limb is bent over time, as far as its bends tell."""

    axes: Array
    """`(F, 3)` seen from the upper bone, counter-clockwise; at frames that do not tell, between those of the frames around."""
    telling: float
    """Sine of a bend from which it tells the axis alone."""
    sides: Array
    """`(F,)` to which the limb is bent by more than `LITTLE` at the frames around: +1 as the axes say, or -1."""

    def at(self, known: Array, frames: Array) -> Hinges:
        """The same at `frames` `(G,)`, of axes at `known` frames `(F,)`."""
        axes = np.stack([np.interp(frames, known, column) for column in self.axes.T], axis=-1)
        rows = np.clip(np.searchsorted(known, frames, side="right") - 1, 0, None)
        return Hinges(unit(axes), self.telling, self.sides[rows])

    def on(self, rows: slice) -> Hinges:
        """The same at some of its frames."""
        return replace(self, axes=self.axes[rows], sides=self.sides[rows])


def limb_bends(joints: Array) -> tuple[Array, Array]:
    """Area vectors `(..., F, 3)` of the bends of joints `(..., F, n + 1, 3)`, and the sines of the bends, `(..., F)`.

    The sine of more than two links is that of their mean bend. A limb without length has none.
    """
    area = bend_area(joints)
    lengths = magnitude(joints[..., 1:, :] - joints[..., :-1, :])
    largest = np.sum(lengths[..., :-1] * lengths[..., 1:], axis=-1)
    return area, np.divide(magnitude(area), largest, out=np.zeros(largest.shape), where=largest > 0.0)


def limb_normals(chain: RestChain, joints: Array, upper: Array, around: Hinges | None = None) -> tuple[Array, Hinges | None]:
    """Unit normals `(F, 3)` of a limb's own plane, perpendicular to the line from root to tip; and what bends tell of them.

    joints : (F, n + 1, 3), upper : (F, 3, 3) linear map of the posed upper bone; both armature space, both may be one row
    around : what a look at all frames has told before, at these frames; without it these frames are all there are

    Counter-clockwise around them the limb is bent as at rest. One that is straight at rest is bent so at most of its
    frames, so that a frame in which it is overstretched has the side of the others. A frame in which it is straight has
    the axis between those of the frames around it; where all are, that of the rest pose, see `resting_hinge`.
    """
    joints, upper = _every_frame(joints, upper)
    told = around or limb_hinges(chain, joints, upper)

    def normals_of(part: slice) -> Array:
        own, linear = joints[part], upper[part]
        along, (seen, sines) = unit(limb_lines(own)), _seen_hinges(own, linear)
        if told is None:
            axes = np.broadcast_to(resting_hinge(chain), seen.shape)
        else:
            axes = _own_where_clear(seen, sines / told.telling, told.axes[part])
        normals = across(carried_normal(axes, linear), along)
        normals = unit(np.where(magnitude(normals)[:, None] > STRAIGHT, normals, any_across(along)))
        return holding_links(normals, own)

    return in_parts(normals_of, len(joints)), told


def holding_links(normals: Array, joints: Array) -> Array:
    """Normals `(F, 3)`, perpendicular to the line from root to tip, turned about it so that the plane holds both links.

    joints : (F, n + 1, 3)

    The links of a limb that is nearly straight are along the line, whatever the normal. Of one that is folded with the tip
    nearly on the root they stand across the line, however little it is bent, and only one plane holds them.
    """
    area, sines = limb_bends(joints)
    faint = sines <= TELLING
    if joints.shape[-2] - 1 > TWO_LINKS or not np.any(faint):
        return normals
    own = unit(area)
    aside = magnitude(cross(unit(limb_lines(joints)), unit(joints[..., 1, :] - joints[..., 0, :])))
    weight = np.where(faint, np.clip(aside / TELLING - 1.0, 0.0, 1.0), 0.0)[..., None]
    own = own * np.where(dot(own, normals) < 0.0, -1.0, 1.0)[..., None]
    return np.where(weight > 0.0, unit(normals + weight * (own - normals)), normals)


def limb_hinges(chain: RestChain, joints: Array, upper: Array) -> Hinges | None:
    """What the bends of all frames tell, see `limb_normals`; `None` where none of them is bent."""
    joints, upper = _every_frame(joints, upper)
    both = in_parts(lambda part: np.column_stack(_seen_hinges(joints[part], upper[part])), len(joints))
    seen, sines = both[:, :3], both[:, 3]
    telling = float(max(min(TELLING, 0.5 * sines.max(initial=0.0)), STRAIGHT))
    if not np.any(sines > telling):
        return None
    carried = _continued(seen, sines / telling)
    axes = _own_where_clear(seen, sines / telling, carried)
    known = resting_hinge(chain) if is_bent(chain.rest_joints()) else seen
    axes = carried * (-1.0 if np.sum(sines * dot(axes, known)) < 0.0 else 1.0)
    return Hinges(axes, telling, clear_sides(np.arcsin(np.minimum(sines, 1.0)) * np.sign(dot(seen, axes))))


def clear_sides(bends: Array) -> Array:
    """Sides `(F,)` of bends `(F,)`, radians, counter-clockwise positive; where they are little, those of the frames around."""
    return sides_with_hysteresis(bends, LITTLE) if np.any(np.abs(bends) > LITTLE) else np.ones(len(bends))


def is_straight(joints: Array, upper: Array) -> bool:
    """Whether none of the frames tells the axis of its bend alone."""
    return bool(np.all(_seen_hinges(*_every_frame(joints, upper))[1] <= TELLING))


def _every_frame(joints: Array, upper: Array) -> tuple[Array, Array]:
    count = np.broadcast_shapes(joints.shape[:1], upper.shape[:-2])
    return np.broadcast_to(joints, (*count, *joints.shape[1:])), np.broadcast_to(upper, (*count, 3, 3))


def _seen_hinges(joints: Array, upper: Array) -> tuple[Array, Array]:
    """Axes `(F, 3)` of the bends, seen from the upper bone, and the sines `(F,)` of the bends; 0 where there is no axis."""
    area, sines = limb_bends(joints)
    seen = hinge_axis(upper, across(area, unit(limb_lines(joints))))
    return seen, np.where(np.any(seen != 0.0, axis=-1), sines, 0.0)


def resting_hinge(chain: RestChain) -> Array:
    """Unit axis `(3,)`, upper bone's space, about which the limb is bent at rest, counter-clockwise.

    That of a straight limb is the one about which it bends in the letter plane in which people's limbs swing, to the
    side of their joints: see `nearest_letters`.
    """
    joints = chain.rest_joints()
    area, _ = limb_bends(joints)
    if not is_bent(joints):
        letters, side = nearest_letters(joints)
        area = side * np.cross(*letter_axes(letters).T)
    normal = holding_links(across(area, unit(limb_lines(joints))), joints)
    return hinge_axis(chain.upper.rest[:3, :3], normal)


def _continued(seen: Array, clarity: Array) -> Array:
    """Axes `(F, 3)` of one sign, between those of the frames with a `clarity` `(F,)` above 1."""
    at = np.flatnonzero(clarity > 1.0)
    axes = seen[at]
    turned_over = np.concatenate([[False], dot(axes[1:], axes[:-1]) < 0.0])
    axes = axes * np.cumprod(np.where(turned_over, -1.0, 1.0))[:, None]
    rows = np.arange(len(seen))
    return np.stack([np.interp(rows, at, axes[:, k]) for k in range(3)], axis=-1)


def _own_where_clear(seen: Array, clarity: Array, carried: Array) -> Array:
    """Unit axes `(F, 3)`: those `seen`, of frames with a `clarity` `(F,)` below 1 more and more those `carried` there."""
    weight = np.clip((clarity - FAINT) / (1.0 - FAINT), 0.0, 1.0)[:, None]
    own = seen * np.where(dot(seen, carried) < 0.0, -1.0, 1.0)[:, None]
    return unit(carried + weight * (own - carried))
