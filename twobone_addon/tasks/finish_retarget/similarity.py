"""How the motion of one character corresponds to that of another: turned, scaled, and at the same time or not. NumPy only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import magnitude, median, smooth_step
from ...core.contacts.states import runs
from ...core.rig.rotations import unit

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True)
class Similarity:
    """The turn about the world's Z axis and the scale that lead from the source's motion to the result's."""

    angle: float
    """Radians."""
    scale: float

    @property
    def rotation(self) -> Array:
        """Matrix `(3, 3)` of the turn."""
        cosine, sine = np.cos(self.angle), np.sin(self.angle)
        return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])

    def of(self, vectors: Array) -> Array:
        """Vectors `(..., 3)` of the source, turned and scaled."""
        return self.scale * (vectors @ self.rotation.T)


LONGEST_SHIFT = 1.0
"""Seconds by which a source may be late or early to be recognised as such."""

FITS = 0.5
"""Part of the mismatch that is left with a shift that fits: a source one frame late has more than twice the mismatch of one in
time, and skeletons that are merely different have the least of it without a shift."""

SAME = np.radians(0.1) ** 2
"""Mean square of a link's mismatch below which it fits: single precision, and rotations that are keyed anew."""

STILL = np.radians(1.0)
"""Root mean square of the links' turning, below which a motion tells nothing about time."""

ALIKE = 0.5
"""Part of the links' turning up to which two motions may differ: a copy of another skeleton's rotations has less than a tenth."""


def shift_that_fits(links: Array, of_source: Array, rate: float) -> tuple[int, float]:
    """Number of frames by which the source is late, and the mismatch then, as a part of the motion.

    links, of_source : (L, F, 3) unit directions of corresponding links at frames, the source's turned as its character is

    Constant differences, as between the rest poses, do not count. 0 frames where no shift fits clearly better than none.
    """
    count = links.shape[1]
    most = min(round(LONGEST_SHIFT * rate), count // 3)

    def apart(shift: int) -> Array:
        ours, theirs = links[:, max(0, -shift) : count - max(0, shift)], of_source[:, max(0, shift) : count - max(0, -shift)]
        differences = ours - theirs
        return np.mean((differences - differences.mean(axis=1, keepdims=True)) ** 2, axis=(1, 2))

    motion = float(np.mean((of_source - of_source.mean(axis=1, keepdims=True)) ** 2))
    if motion < STILL**2:
        return 0, 0.0
    mismatches = {shift: apart(shift) for shift in range(-most, most + 1)}
    # Links that fit at no time, such as arms that another rest pose twists, tell nothing: ratios count, not sums.
    misfits = {shift: float(np.mean(np.log(of_links + SAME))) for shift, of_links in mismatches.items()}
    best = min(misfits, key=lambda shift: (misfits[shift], abs(shift)))
    if misfits[best] - misfits[0] > np.log(FITS):
        best = 0
    return best, float(mismatches[best].mean()) / motion


def steady_sideways(headings: Array, standing: Mask) -> Array:
    """Unit vectors `(S, 3)` along `headings` `(S, 3)` in plan that hold still during each stance, `(S,)`, and turn in between.

    A foot that is placed beside the source's by a constant width would else slide while the body turns over it.
    """
    angles = np.unwrap(np.arctan2(headings[:, 1], headings[:, 0]))
    held = angles.copy()
    edges = [(first, last, float(angles[first : last + 1].mean())) for first, last in runs(standing)]
    for first, last, angle in edges:
        held[first : last + 1] = angle
    knots = [(0, 0, float(angles[0])), *edges, (len(angles) - 1, len(angles) - 1, float(angles[-1]))]
    for (_, start, leaving), (end, _, arriving) in pairwise(knots):
        if end > start + 1:
            part = (np.arange(start, end + 1) - start) / (end - start)
            weight = part**3 * (10.0 - part * (15.0 - 6.0 * part))
            held[start : end + 1] = leaving + (arriving - leaving) * weight
    return np.stack([np.cos(held), np.sin(held), np.zeros(len(held))], axis=-1)


def near_contact(standing: Mask, width: float) -> Array:
    """Weights `(S,)`, 1 where a foot is `standing` `(S,)` and 0 from `width` samples before and after on; softly in between."""
    at, rows = np.flatnonzero(standing), np.arange(len(standing))
    if not len(at):
        return np.zeros(len(standing))
    after = np.searchsorted(at, rows)
    distances = np.minimum(np.abs(rows - at[np.maximum(after - 1, 0)]), np.abs(at[np.minimum(after, len(at) - 1)] - rows))
    return smooth_step(1.0 - distances / max(width, 1.0))


def without_lifts(heights: Array, standing: Mask, lifted: float, least: float = -np.inf) -> Mask:
    """Where a point is `standing` `(F,)`, from the first to the last frame of each contact at which it is not `lifted` there.

    least : least height at which it stands
    """
    down = np.zeros_like(standing)
    for first, last in runs(standing):
        of_run = heights[first : last + 1]
        low = np.flatnonzero(of_run <= max(float(np.quantile(of_run, STANDS)), least) + lifted)
        down[first + low[0] : first + low[-1] + 1] = True
    return down


STANDS = 0.1
"""Quantile of a point's heights in a contact at which it stands."""


FOLDED, UNFOLDED = 0.3, 0.6
"""Extensions of a leg up to which it is folded, as in the swing of a run, and from which it is not, as throughout a walk."""


def unfolded(extensions: Array) -> Array:
    """Weights `(S,)`, 1 where a leg is extended and 0 where it is folded; softly in between."""
    return smooth_step((extensions - FOLDED) / (UNFOLDED - FOLDED))


def smoothed(values: Array, width: float) -> Array:
    """Means `(S,)` of values `(S,)` with Gaussian weights of the standard deviation `width`, samples."""
    reach = max(1, round(3.0 * width))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / max(width, 1e-6)) ** 2)
    return np.convolve(np.pad(values, reach, mode="edge"), weights / weights.sum(), mode="valid")


def in_directions(vectors: Array, directions: Array) -> Array:
    """Vectors `(S, 3)` in plan as complex numbers `(S,)`: along unit `directions` `(S, 3)` and, imaginary, to their left."""
    return (vectors[:, 0] + 1j * vectors[:, 1]) * (directions[:, 0] - 1j * directions[:, 1])


def along_directions(numbers: complex | Array, directions: Array) -> Array:
    """Level vectors `(S, 3)` of which `in_directions` gives these numbers."""
    plan = numbers * (directions[:, 0] + 1j * directions[:, 1])
    return np.stack([plan.real, plan.imag, np.zeros(len(plan))], axis=-1)


STRAIGHTEST, SOFT = 0.999, 0.97
"""Extension of a leg that is not exceeded, and from which it is approached softly: near straight, a knee turns fast."""


def within_soft_reach(hips: Array, ankles: Array, lengths: Array, already: Array, start: Array | float = SOFT) -> Array:
    """Ankles `(S, 3)` pulled towards the `hips` `(S, 3)` where limbs of `lengths` `(S,)` would be almost straight.

    already : (S,) extensions that the limb has in the motion as it is, which may stay
    start : extension up to which nothing is pulled, `(S,)` or one for all
    """
    extensions = magnitude(ankles - hips) / lengths
    room = np.maximum(np.maximum(STRAIGHTEST, np.minimum(already, 1.0 - 1e-6)) - start, 1e-6)
    beyond = np.maximum(extensions - start, 0.0)
    softened = np.where(beyond > 0.0, start - room * np.expm1(-beyond / room), extensions)
    return hips + (ankles - hips) * (softened / np.maximum(extensions, 1e-12))[:, None]


def knees_bent_as(joints: Array, hips: Array, ankles: Array) -> Array:
    """Knees `(S, 3)` of legs `joints` `(S, 3, 3)` moved to other hips and ankles, bent to the side to which they are bent."""
    first, second = (magnitude(joints[:, number + 1] - joints[:, number]) for number in (0, 1))
    along, before = unit(ankles - hips), unit(joints[:, 2] - joints[:, 0])
    side = joints[:, 1] - joints[:, 0]
    side -= np.sum(side * before, axis=-1, keepdims=True) * before
    side = unit(side - np.sum(side * along, axis=-1, keepdims=True) * along)
    reach = np.minimum(magnitude(ankles - hips), first + second)
    forward = (first**2 - second**2 + reach**2) / (2.0 * np.maximum(reach, 1e-12))
    aside = np.sqrt(np.maximum(first**2 - forward**2, 0.0))
    return hips + forward[:, None] * along + aside[:, None] * side


NEAR, APART = 0.3, 0.5
"""Distances of two palms, arm lengths, up to which they are held as in the source, and from which they are left alone."""


def together(distances: Array) -> Array:
    """Weights `(S,)`, 1 where palms are near each other and 0 where they are apart, for `distances` `(S,)` in arm lengths."""
    return smooth_step((APART - distances) / (APART - NEAR))


def standing_height(heights: Array, standing: Mask) -> float:
    """Height at which a point stands, from `heights` `(..., F)`; where it never does, nearly its lowest."""
    return float(median(heights[standing])) if standing.any() else float(np.quantile(heights, LOWEST))


LOWEST = 0.05
"""Quantile of heights that counts as standing where no contact is known."""
