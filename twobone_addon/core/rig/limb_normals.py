"""Find the plane in which a limb is bent at each frame of a motion.

A limb is a hinge: in the space of its upper bone, the axis of its bend hardly moves. So the axis is determined there, where it
can be interpolated through frames in which the limb is straight, and its sign is kept when a knee is overstretched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...records import replace
from ..array_types import Array
from ..arrays import across, any_across, cross, dot, magnitude
from ..rows import in_parts
from ..solver import sides_with_hysteresis
from .bones import RestChain, bend_area, limb_lines
from .limb_planes import carried_normal
from .plane_frames import STRAIGHT, is_bent, letter_axes, nearest_letters
from .posing import hinge_axis
from .rotations import unit

CLEAR_SINE = np.sin(np.radians(1.0))
"""Sine of a bend above which it alone determines the axis: smaller bends may be noise of captured motion."""

LITTLE = np.radians(10.0)
"""Greatest bend in radians of an overstretched limb, which still counts as bent to its usual side."""

TWO_LINKS = 2

REMEMBERED = 64
"""Chains of which is remembered what follows from their bones at rest: those of a character, while one is dragged."""

FAINT_FRACTION = 0.3
"""Fraction of the telling sine below which a bend is ignored; in between, the axis blends into that of the frames around."""


@dataclass(frozen=True, slots=True)
class Hinges:
    """Axes about which a limb is bent over time, as far as its bends determine them."""

    axes: Array
    """`(F, 3)` in the upper bone's space, bend counter-clockwise; interpolated at frames that do not determine an axis."""
    telling: float
    """Sine of a bend above which it alone determines the axis."""
    sides: Array
    """`(F,)` side of the nearest bend above `LITTLE`: +1 counter-clockwise about the axes, or -1."""

    def at(self, known: Array, frames: Array) -> Hinges:
        """Interpolate to `frames` `(G,)`, from axes at `known` frames `(F,)`."""
        axes = np.stack([np.interp(frames, known, column) for column in self.axes.T], axis=-1)
        # A side is not interpolated: between the known frames the last one counts.
        rows = np.clip(np.searchsorted(known, frames, side="right") - 1, 0, None)
        return Hinges(unit(axes), self.telling, self.sides[rows])

    def on(self, rows: slice) -> Hinges:
        """Select some of its frames."""
        return replace(self, axes=self.axes[rows], sides=self.sides[rows])


def limb_bends(joints: Array) -> tuple[Array, Array]:
    """Area vectors `(..., F, 3)` of the bends of joints `(..., F, n + 1, 3)`, and the sines of the bends, `(..., F)`.

    For more than two links it is the sine of their mean bend; for a limb of length 0 it is 0.
    """
    area = bend_area(joints)
    lengths = magnitude(joints[..., 1:, :] - joints[..., :-1, :])
    largest = np.sum(lengths[..., :-1] * lengths[..., 1:], axis=-1)
    return area, np.divide(magnitude(area), largest, out=np.zeros(largest.shape), where=largest > 0.0)


def limb_normals(chain: RestChain, joints: Array, upper: Array, around: Hinges | None = None) -> tuple[Array, Hinges | None]:
    """Unit normals `(F, 3)` of a limb's own plane, perpendicular to the line from root to tip; and the hinges they come from.

    joints : (F, n + 1, 3), upper : (F, 3, 3) linear map of the posed upper bone; both armature space, both may be one row
    around : hinges at these frames from an earlier call for all frames; without it, these frames are all there are

    The limb bends counter-clockwise around them as at rest, or, if it is straight at rest, at most of its frames, so that an
    overstretched frame has the side of the others. Where the limb is straight, the axis is interpolated between the frames
    around; if it is straight throughout, the axis of the rest pose is taken, see `resting_hinge`.
    """
    joints, upper = _every_frame(joints, upper)
    all_seen, all_sines = _all_bend_axes(joints, upper)
    hinges = around or _hinges(chain, all_seen, all_sines)

    def normals_of(part: slice) -> Array:
        part_joints, linear, seen, sines = joints[part], upper[part], all_seen[part], all_sines[part]
        along = unit(limb_lines(part_joints))
        if hinges is None:
            axes = np.broadcast_to(resting_hinge(chain), seen.shape)
        else:
            axes = _blended_axes(seen, sines / hinges.telling, hinges.axes[part])
        normals = across(carried_normal(axes, linear), along)
        normals = unit(np.where(magnitude(normals)[:, None] > STRAIGHT, normals, any_across(along)))
        return holding_links(normals, part_joints)

    return in_parts(normals_of, len(joints)), hinges


def holding_links(normals: Array, joints: Array) -> Array:
    """Turn normals `(F, 3)`, perpendicular to the line from root to tip, about that line so that the plane contains both links.

    joints : (F, n + 1, 3)

    The links of a nearly straight limb are along the line, whatever the normal. The links of a limb folded with its tip nearly on
    its root are at an angle to the line, however small the bend, and only one plane contains them.
    """
    area, sines = limb_bends(joints)
    faint = sines <= CLEAR_SINE
    if joints.shape[-2] - 1 > TWO_LINKS or not np.any(faint):
        return normals
    bend_normals = unit(area)
    aside = magnitude(cross(unit(limb_lines(joints)), unit(joints[..., 1, :] - joints[..., 0, :])))
    weight = np.where(faint, np.clip(aside / CLEAR_SINE - 1.0, 0.0, 1.0), 0.0)[..., None]
    # A bend to the other side has the opposite normal, but the same plane.
    bend_normals = bend_normals * np.where(dot(bend_normals, normals) < 0.0, -1.0, 1.0)[..., None]
    return np.where(weight > 0.0, unit(normals + weight * (bend_normals - normals)), normals)


def limb_hinges(chain: RestChain, joints: Array, upper: Array) -> Hinges | None:
    """Hinges from the bends of all frames, see `limb_normals`; `None` where no frame is bent."""
    return _hinges(chain, *_all_bend_axes(*_every_frame(joints, upper)))


def _all_bend_axes(joints: Array, upper: Array) -> tuple[Array, Array]:
    both = in_parts(lambda part: np.column_stack(_bend_axes(joints[part], upper[part])), len(joints))
    return both[:, :3], both[:, 3]


def _hinges(chain: RestChain, seen: Array, sines: Array) -> Hinges | None:
    # A limb that bends little in all frames is judged by the most that it bends.
    telling = float(max(min(CLEAR_SINE, 0.5 * sines.max(initial=0.0)), STRAIGHT))
    if not np.any(sines > telling):
        return None
    carried = _interpolated_axes(seen, sines / telling)
    axes = _blended_axes(seen, sines / telling, carried)
    known = resting_hinge(chain) if is_bent_at_rest(chain) else seen
    # One sign for the whole motion, so that an overstretched frame does not turn the plane over.
    axes = carried * (-1.0 if np.sum(sines * dot(axes, known)) < 0.0 else 1.0)
    return Hinges(axes, telling, clear_sides(np.arcsin(np.minimum(sines, 1.0)) * np.sign(dot(seen, axes))))


def clear_sides(bends: Array) -> Array:
    """Sides `(F,)` of bends `(F,)`, radians, counter-clockwise positive; bends up to `LITTLE` take the side of frames around."""
    return sides_with_hysteresis(bends, LITTLE) if np.any(np.abs(bends) > LITTLE) else np.ones(len(bends))


def is_straight(joints: Array, upper: Array) -> bool:
    """Whether no frame is bent enough to determine the axis of its bend."""
    return bool(np.all(_bend_axes(*_every_frame(joints, upper))[1] <= CLEAR_SINE))


def _every_frame(joints: Array, upper: Array) -> tuple[Array, Array]:
    count = np.broadcast_shapes(joints.shape[:1], upper.shape[:-2])
    return np.broadcast_to(joints, (*count, *joints.shape[1:])), np.broadcast_to(upper, (*count, 3, 3))


def _bend_axes(joints: Array, upper: Array) -> tuple[Array, Array]:
    """Axes `(F, 3)` of the bends, in the upper bone's space, and sines `(F,)` of the bends; 0 where there is no axis."""
    area, sines = limb_bends(joints)
    seen = hinge_axis(upper, across(area, unit(limb_lines(joints))))
    return seen, np.where(np.any(seen != 0.0, axis=-1), sines, 0.0)


@lru_cache(REMEMBERED)
def is_bent_at_rest(chain: RestChain) -> bool:
    """Whether the joints are not in one line at rest."""
    return bool(is_bent(chain.rest_joints()))


@lru_cache(REMEMBERED)
def resting_hinge(chain: RestChain) -> Array:
    """Unit axis `(3,)`, read-only, upper bone's space, about which the limb is bent counter-clockwise at rest.

    For a straight limb it is the normal of the letter plane in which human limbs swing, with the side to which their joints bend:
    see `nearest_letters`.
    """
    joints = chain.rest_joints()
    area, _ = limb_bends(joints)
    if not is_bent(joints):
        letters, side = nearest_letters(joints)
        area = side * np.cross(*letter_axes(letters).T)
    axis = hinge_axis(chain.upper.rest[:3, :3], holding_links(across(area, unit(limb_lines(joints))), joints))
    axis.setflags(write=False)
    return axis


def _interpolated_axes(seen: Array, clarity: Array) -> Array:
    """Axes `(F, 3)` with consistent signs, interpolated between the frames with a `clarity` `(F,)` above 1."""
    clear = np.flatnonzero(clarity > 1.0)
    axes = seen[clear]
    # An axis and its opposite are one hinge, bent to either side: between them there is nothing to interpolate.
    turned_over = np.concatenate([[False], dot(axes[1:], axes[:-1]) < 0.0])
    axes = axes * np.cumprod(np.where(turned_over, -1.0, 1.0))[:, None]
    rows = np.arange(len(seen))
    return np.stack([np.interp(rows, clear, axes[:, k]) for k in range(3)], axis=-1)


def _blended_axes(seen: Array, clarity: Array, carried: Array) -> Array:
    """Unit axes `(F, 3)`: `seen` where `clarity` `(F,)` is 1 or more, blended into `carried` as it falls to `FAINT_FRACTION`."""
    weight = np.clip((clarity - FAINT_FRACTION) / (1.0 - FAINT_FRACTION), 0.0, 1.0)[:, None]
    aligned = seen * np.where(dot(seen, carried) < 0.0, -1.0, 1.0)[:, None]
    return unit(carried + weight * (aligned - carried))
