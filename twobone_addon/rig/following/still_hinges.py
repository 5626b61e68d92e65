"""Two bones that hang from nothing that moves and turn in a plane that stands still: no bone arithmetic at any frame.

Where their links point depends on their two turns alone, by sines and cosines of them. What these are multiplied with
is found once, from bones posed on a small grid of turns; then every frame is a handful of products. Rest matrices in
single precision are not quite rotations, so a link's length and direction differ a little from turn to turn: that is
in the products as well, and both are put right to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...array_types import Array
from ...arrays import magnitude
from ..bones import ChainMotion, RestChain
from ..local_rotations import HingeTurns
from ..planes.turning import hinge_axis
from ..rotations import about_axis
from .posing import Reference, Turned, link_vectors, pose_with_rotations

NEARLY_EVEN = 4e-6
"""Difference of the squared scales along two axes of what a bone inherits, relative to them, that still is single
precision (imported rigs have up to 3e-6). The hinge then wanders by less in the bone than a hinge may be off its axis."""

HARMONICS = (1, 3)
"""How many are tried. The first is the turn itself. The second and third come in where a bone inherits scale by measuring
axes that are not quite square; the next would be the square of that."""

UPRIGHT = 0.01
"""Part of a link's length in the plane below which its direction there is too uncertain to be put right in one step."""

BETWEEN = np.array([[0.7, -1.9], [2.6, 0.4], [-1.2, 2.9]])
"""Turns beside the grid at which the products are compared with posed bones."""

CARRIED = 1e-5
"""Largest sine between a link and where the turns of all bones before it would bring it along: several times the wandering
that `NEARLY_EVEN` allows, and far less than what a bone shows that does not inherit rotation."""

TRUE = 1e-9
"""Largest difference in that, relative to the links: a hundredth of single precision."""


def waves(turns: Array, harmonics: int) -> Array:
    """`(w, F)`: one, then cosine and sine of turns `(F,)`, of twice the turns, and so on."""
    steps = np.exp(1j * turns)
    powers = np.cumprod(np.broadcast_to(steps, (harmonics, *steps.shape)), axis=0)
    found = np.ones((2 * harmonics + 1, *steps.shape))
    found[1::2], found[2::2] = powers.real, powers.imag
    return found


@dataclass(frozen=True, slots=True)
class Grid:
    """All pairs of as many turns, evenly around, as there are waves, and those between them."""

    harmonics: int
    pairs: Array
    """`(w w + 3, 2)`"""
    analysis: Array
    """`(w, w)` from values at the turns to what the waves are multiplied with."""
    shares: Array
    """`(w, w)` what the square of each product of two waves is on average."""


def grid_of(harmonics: int) -> Grid:
    """The grid that tells so many harmonics."""
    count = 2 * harmonics + 1
    steps = np.arange(count) * (2.0 * np.pi / count)
    pairs = np.stack([np.repeat(steps, count), np.tile(steps, count)], axis=-1)
    halves = np.concatenate([[1.0], np.full(count - 1, 0.5)])
    return Grid(harmonics, np.concatenate([pairs, BETWEEN]), np.linalg.inv(waves(steps, harmonics)), np.outer(halves, halves))


GRIDS = tuple(map(grid_of, HARMONICS))


@dataclass(frozen=True, slots=True)
class StillHinges:
    """What two still hinges do with their links."""

    chain: RestChain
    motion: ChainMotion
    axes: tuple[Array, ...]
    """`(3,)` of each turning bone, its own space."""
    rotations: tuple[Array, ...]
    """`(3, 3)` of each turning bone without a turn."""
    directions: Array
    """`(2,)` of the links without turns, from u."""
    grid: Grid
    factors: Array
    """`(2, 2, w, w)`: of each link, along u and v, what products of the waves of both turns are multiplied with."""

    def turned_towards(self, directions: Array) -> tuple[Turned, Array]:
        """The chain with its links in directions `(F, 2)`, and the links `(F, 2, 2)`."""
        turns = directions.T - self.directions[:, None]
        turns[1] -= turns[0]
        first, second = (waves(turn, self.grid.harmonics) for turn in turns)
        mixed = (self.factors[1].reshape(-1, len(second)) @ second).reshape(2, *first.shape)
        links = np.stack([self.factors[0, :, :, 0] @ first, (mixed * first).sum(axis=1)])
        wanted = self._wanted(first[1:3], second[1:3])
        lengths = np.sqrt((links * links).sum(axis=1))
        # Off by some 1e-6 at most, of which a sine is the angle to rounding.
        off = (wanted[:, 0] * links[:, 1] - wanted[:, 1] * links[:, 0]) / lengths
        turns[0] -= off[0]
        turns[1] -= off[1] - off[0]
        rotations = tuple(map(HingeTurns, self.axes, turns, self.rotations))
        return Turned(self.chain, self.motion, rotations), np.moveaxis(wanted * lengths[:, None], -1, 0)

    def _wanted(self, first: Array, second: Array) -> Array:
        """Unit vectors `(2, 2, F)` along the links, of cosine and sine `(2, F)` of both turns."""
        both = np.stack([first[0] * second[0] - first[1] * second[1], first[1] * second[0] + first[0] * second[1]])
        cosine, sine = np.cos(self.directions), np.sin(self.directions)
        resting = np.array([[cosine, -sine], [sine, cosine]])
        return np.stack([resting[:, :, 0] @ first, resting[:, :, 1] @ both])

    @property
    def lengths(self) -> Array:
        """`(2,)` of the links, on average over all turns: nearest to what they are at any of them."""
        return np.sqrt((self.factors**2 * self.grid.shares).sum(axis=(1, 2, 3)))


def still_hinges(chain: RestChain, motion: ChainMotion, reference: Reference, frames: Array) -> StillHinges | None:
    """The hinges of a chain that turns about the normal of a plane `(..., 1, 3, 3)`, if all about it is still.

    `None` as well where it has more links, links without length or upright on the plane, inherits uneven scale, or where
    one of its bones, or one between joint and tip, does not turn with those it hangs from.
    """
    if len(chain.turning) != len(BETWEEN[0]) or not _stands_still(chain, motion, reference, frames):
        return None
    inherited = [matrix.reshape(3, 3) for matrix in reference.inherited]
    if not all(map(_is_even, inherited)):
        return None
    frame = frames.reshape(3, 3)
    links = link_vectors(frame, reference.joints.reshape(3, 3))
    extents = magnitude(np.diff(reference.joints.reshape(3, 3), axis=0))
    if np.any(np.hypot(links[:, 0], links[:, 1]) <= UPRIGHT * extents):
        return None
    axes = tuple(hinge_axis(matrix, frame[:, 2]) for matrix in inherited)
    rotations = tuple(rotation.reshape(3, 3) for rotation in reference.rotations)

    def links_at(turns: Array) -> Array:
        turned = tuple(about_axis(axis, turns[:, k]) @ rotations[k] for k, axis in enumerate(axes))
        return link_vectors(frame, pose_with_rotations(chain, motion, turned).joints)

    directions = np.arctan2(links[:, 1], links[:, 0])
    for grid in GRIDS:
        posed = links_at(grid.pairs)
        factors = _factors(grid, posed) if _is_carried(posed, directions + np.cumsum(grid.pairs, axis=-1)) else None
        if factors is not None:
            return StillHinges(chain, motion, axes, rotations, directions, grid, factors)
    return None


def _is_carried(links: Array, directions: Array) -> bool:
    """Whether links `(P, 2, 2)` point into `directions` `(P, 2)`, those that turning hinges give what hangs from them."""
    across = links[..., 1] * np.cos(directions) - links[..., 0] * np.sin(directions)
    along = links[..., 0] * np.cos(directions) + links[..., 1] * np.sin(directions)
    return bool(np.all(np.abs(across) <= CARRIED * along))


def _factors(grid: Grid, links: Array) -> Array | None:
    """What products of waves are multiplied with, see `StillHinges`, for links `(w w + 3, 2, 2)` at a grid's turns.

    `None` where that does not tell the links between.
    """
    count = len(grid.analysis)
    on_grid = np.moveaxis(links[: count * count].reshape(count, count, 2, 2), (2, 3), (0, 1))
    factors = grid.analysis.T @ on_grid @ grid.analysis
    first, second = (waves(turns, grid.harmonics) for turns in BETWEEN.T)
    off = np.abs(np.einsum("lnjk,jf,kf->fln", factors, first, second) - links[count * count :]).max()
    return factors if off <= TRUE * np.abs(links).max() else None


def _stands_still(chain: RestChain, motion: ChainMotion, reference: Reference, frames: Array) -> bool:
    """Whether one row stands for all frames, in everything but the turns that decides where the bones are."""
    riding = [channels.rotation for index, channels in enumerate(motion.channels) if index not in chain.turning]
    matrices = [*reference.inherited, *reference.rotations, frames, *riding]
    vectors = [values for channels in motion.channels for values in (channels.location, channels.scale)]
    parents = [] if motion.parent_pose is None else [motion.parent_pose]
    return all(values.size == size for size, group in ((9, matrices), (3, vectors), (16, parents)) for values in group)


def _is_even(matrix: Array) -> bool:
    squares = matrix.T @ matrix
    even = np.trace(squares) / 3.0
    return bool(np.abs(squares - even * np.eye(3)).max() <= NEARLY_EVEN * even) and even > 0.0
