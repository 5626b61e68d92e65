"""Fast posing of two bones without a moving parent that turn in a constant plane: no bone arithmetic per frame.

Their links depend only on their two turns, as a Fourier series in them. Its coefficients are found once, from bones posed on a
small grid of turns; every frame is then a handful of products. Rest matrices in single precision are not quite rotations, so a
link's length and direction vary slightly from turn to turn: the series includes this, and turns are corrected for it to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Mask
from ..arrays import magnitude
from ..rows import ROWS_AT_ONCE
from .bones import ChainMotion, RestChain
from .channels import HingeTurns
from .posing import Reference, Turned, hinge_axis, link_vectors, pose_with_rotations
from .rotations import about_axis

NEARLY_EVEN = 4e-6
"""Relative difference of the squared scales along two axes of an inherited transform that single precision explains (imported
rigs have up to 3e-6). The hinge then moves in the bone by less than its axis tolerance."""

HARMONICS = (1, 3)
"""Numbers of Fourier harmonics that are tried. The first harmonic is the turn itself. The second and third occur where a bone
inherits scale by measuring axes that are not quite orthogonal; the next would be the square of that."""

UPRIGHT_FRACTION = 0.01
"""Fraction of a link's length in the plane below which its direction there is too uncertain to be corrected in one step."""

CHECK_TURNS = np.array([[0.7, -1.9], [2.6, 0.4], [-1.2, 2.9]])
"""Turns off the grid, in radians, at which the series is checked against posed bones."""

CARRIED_TOLERANCE = 1e-5
"""Largest sine of the angle between a link and its direction if it were carried by all turns before it: several times the
variation that `NEARLY_EVEN` allows, and far less than for a bone that does not inherit rotation."""

SERIES_TOLERANCE = 1e-9
"""Largest error of the series at the turns `CHECK_TURNS`, relative to the links: a hundredth of single precision."""


def waves(turns: Array, harmonics: int) -> Array:
    """Fourier basis `(..., w, F)`: 1, then cosine and sine of turns `(..., F)`, of twice the turns, and so on."""
    steps = np.exp(1j * turns)[..., None, :]
    powers = np.cumprod(np.repeat(steps, harmonics, axis=-2), axis=-2)
    found = np.ones((*turns.shape[:-1], 2 * harmonics + 1, turns.shape[-1]))
    found[..., 1::2, :], found[..., 2::2, :] = powers.real, powers.imag
    return found


@dataclass(frozen=True, slots=True)
class Grid:
    """Pairs of turns at which bones are posed: all pairs of w evenly spaced turns, w the number of waves, and `CHECK_TURNS`."""

    harmonics: int
    pairs: Array
    """`(w w + 3, 2)` radians"""
    analysis: Array
    """`(w, w)` matrix from values at the turns to Fourier coefficients."""
    shares: Array
    """`(w, w)` mean square of each product of two waves."""


def grid_of(harmonics: int) -> Grid:
    """The grid that determines this number of harmonics."""
    count = 2 * harmonics + 1
    steps = np.arange(count) * (2.0 * np.pi / count)
    pairs = np.stack([np.repeat(steps, count), np.tile(steps, count)], axis=-1)
    halves = np.concatenate([[1.0], np.full(count - 1, 0.5)])
    return Grid(harmonics, np.concatenate([pairs, CHECK_TURNS]), np.linalg.inv(waves(steps, harmonics)), np.outer(halves, halves))


GRIDS = tuple(map(grid_of, HARMONICS))


@dataclass(frozen=True, slots=True)
class StillHinges:
    """Links as functions of the turns of two hinges in a constant plane; several chains have leading dimensions."""

    chain: RestChain
    motion: ChainMotion
    axes: tuple[Array, ...]
    """`(..., 3)` hinge axis of each turning bone, in its own space."""
    rotations: tuple[Array, ...]
    """`(..., 3, 3)` rotation of each turning bone without a turn."""
    directions: Array
    """`(..., 2)` directions of the links without turns, radians from u."""
    grid: Grid
    factors: Array
    """`(..., 2, 2, w, w)` Fourier coefficients: for each link, along u and v, of the products of the waves of both turns."""

    def turned_towards(self, directions: Array) -> tuple[Turned, Array]:
        """Turn the chain's links into directions `(..., F, 2)`; also returns the links `(..., F, 2, 2)`."""
        turns = np.moveaxis(directions, -1, 0) - np.moveaxis(self.directions, -1, 0)[..., None]
        turns[1] -= turns[0]
        links = np.empty((*directions.shape, 2))
        for start in range(0, turns.shape[-1], ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            links[..., part, :, :] = self._correct_turns(turns[..., part])
        return Turned(self.chain, self.motion, tuple(map(HingeTurns, self.axes, turns, self.rotations))), links

    def _correct_turns(self, turns: Array) -> Array:
        """The links `(..., F, 2, 2)` for `turns` `(2, ..., F)`, which are corrected in place to give the exact directions."""
        first, second = (waves(turn, self.grid.harmonics) for turn in turns)
        near, far = self.factors[..., 0, :, :, 0], self.factors[..., 1, :, :, :]
        mixed = far.reshape(*far.shape[:-3], -1, far.shape[-1]) @ second
        mixed = mixed.reshape(*mixed.shape[:-2], 2, *first.shape[-2:])
        links = np.stack([near @ first, (mixed * first[..., None, :, :]).sum(axis=-2)], axis=-3)
        wanted = self._intended_directions(first[..., 1:3, :], second[..., 1:3, :])
        lengths = np.sqrt((links * links).sum(axis=-2))
        # The error is some 1e-6 at most, for which a sine equals its angle up to rounding.
        off = (wanted[..., 0, :] * links[..., 1, :] - wanted[..., 1, :] * links[..., 0, :]) / lengths
        turns[0] -= off[..., 0, :]
        turns[1] -= off[..., 1, :] - off[..., 0, :]
        return np.moveaxis(wanted * lengths[..., None, :], -1, -3)

    def _intended_directions(self, first: Array, second: Array) -> Array:
        """Unit vectors `(..., 2, 2, F)` in the links' intended directions, from cosine and sine `(..., 2, F)` of both turns."""
        (near_cosine, near_sine), (far_cosine, far_sine) = (np.moveaxis(each, -2, 0) for each in (first, second))
        both = np.stack(
            [near_cosine * far_cosine - near_sine * far_sine, near_sine * far_cosine + near_cosine * far_sine], axis=-2
        )
        cosine, sine = np.cos(self.directions), np.sin(self.directions)
        resting = np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)
        return np.stack([resting[..., 0, :, :] @ first, resting[..., 1, :, :] @ both], axis=-3)

    @property
    def lengths(self) -> Array:
        """Root mean square lengths `(..., 2)` of the links over all turns."""
        return np.sqrt((self.factors**2 * self.grid.shares).sum(axis=(-3, -2, -1)))


def still_hinges(chain: RestChain, motion: ChainMotion, reference: Reference, frames: Array) -> tuple[StillHinges | None, Mask]:
    """The hinges of a chain that turns about the normal of a plane `(..., 1, 3, 3)`, if everything else is constant.

    Also `None` where it has more than two links, links of length 0 or perpendicular to the plane, or non-uniform inherited scale,
    or where one of its bones, between joints or up to the tip, does not turn with its parents.

    For several chains the first one decides on hinges or `None`; the mask `(...)` marks the chains for which this is right.
    """
    size = frames.shape[:-3]
    if len(chain.turning) != len(CHECK_TURNS[0]) or not _stands_still(chain, motion, reference, frames):
        return None, np.ones(size, dtype=bool)
    inherited = [matrix.reshape(*size, 3, 3) for matrix in reference.inherited]
    rotations = tuple(rotation.reshape(*size, 3, 3) for rotation in reference.rotations)
    frame, joints = frames.reshape(*size, 3, 3), reference.joints.reshape(*size, 3, 3)
    links = link_vectors(frame, joints)
    extents = magnitude(np.diff(joints, axis=-2))
    upright = np.any(np.hypot(links[..., 0], links[..., 1]) <= UPRIGHT_FRACTION * extents, axis=-1)
    possible = ~upright & np.all([_is_even(matrix) for matrix in inherited], axis=0)
    if not np.ravel(possible)[0]:
        return None, ~possible
    axes = tuple(hinge_axis(matrix, frame[..., 2]) for matrix in inherited)
    directions = np.arctan2(links[..., 1], links[..., 0])

    def links_at(turns: Array) -> Array:
        pairs = zip(axes, rotations, np.moveaxis(turns, -1, 0), strict=True)
        turned = tuple(about_axis(axis[..., None, :], turn) @ start[..., None, :, :] for axis, start, turn in pairs)
        return link_vectors(frame[..., None, :, :], pose_with_rotations(chain, motion, turned).joints)

    others = ~possible
    for grid in GRIDS:
        posed = links_at(grid.pairs)
        factors, valid = _fourier_coefficients(grid, posed)
        valid &= ~others & _is_carried(posed, directions[..., None, :] + np.cumsum(grid.pairs, axis=-1))
        if np.ravel(valid)[0]:
            return StillHinges(chain, motion, axes, rotations, directions, grid, factors), valid
        others |= valid
    return None, ~others | ~possible


def _is_carried(links: Array, directions: Array) -> Mask:
    """Mask `(...)`: whether all links `(..., P, 2, 2)` point into `directions` `(..., P, 2)`, as if carried by the turns."""
    cosine, sine = np.cos(directions), np.sin(directions)
    across = links[..., 1] * cosine - links[..., 0] * sine
    along = links[..., 0] * cosine + links[..., 1] * sine
    return np.all(np.abs(across) <= CARRIED_TOLERANCE * along, axis=(-2, -1))


def _fourier_coefficients(grid: Grid, links: Array) -> tuple[Array, Mask]:
    """Fourier coefficients, see `StillHinges.factors`, from links `(..., w w + 3, 2, 2)` at a grid's turns.

    Also returns whether `(...)` the series reproduces the links at the turns `CHECK_TURNS`.
    """
    count = len(grid.analysis)
    at_turns, between = links[..., : count * count, :, :], links[..., count * count :, :, :]
    on_grid = np.moveaxis(at_turns.reshape(*links.shape[:-3], count, count, 2, 2), (-2, -1), (-4, -3))
    factors = grid.analysis.T @ on_grid @ grid.analysis
    first, second = (waves(turns, grid.harmonics) for turns in CHECK_TURNS.T)
    error = np.abs(np.einsum("...lnjk,jf,kf->...fln", factors, first, second) - between).max(axis=(-3, -2, -1))
    return factors, error <= SERIES_TOLERANCE * np.abs(links).max(axis=(-3, -2, -1))


def _stands_still(chain: RestChain, motion: ChainMotion, reference: Reference, frames: Array) -> bool:
    """Whether everything that poses the bones except their turns is constant, given as one row for all frames."""
    riding = [channels.rotation for index, channels in enumerate(motion.channels) if index not in chain.turning]
    matrices = [*reference.inherited, *reference.rotations, frames, *riding]
    vectors = [values for channels in motion.channels for values in (channels.location, channels.scale)]
    parents = [] if motion.parent_pose is None else [motion.parent_pose]
    count = math.prod(frames.shape[:-3])
    return all(values.size == size * count for size, group in ((9, matrices), (3, vectors), (16, parents)) for values in group)


def _is_even(matrix: Array) -> Mask:
    """Mask `(...)` of matrices `(..., 3, 3)` with uniform scale."""
    squares = np.swapaxes(matrix, -1, -2) @ matrix
    even = np.trace(squares, axis1=-2, axis2=-1) / 3.0
    off = np.abs(squares - even[..., None, None] * np.eye(3)).max(axis=(-2, -1))
    return (off <= NEARLY_EVEN * even) & (even > 0.0)
