"""Pose chains on their targets: measure link lengths, solve the triangle, turn the bones, and measure again.

If the chain inherits only rotation and uniform scale, one round of the closed form is exact. Under non-uniform scale (or shear)
of a parent or the upper bone, the length of a bone depends on its direction: the solution changes the lengths it was computed
from, so the closed form is iterated with the lengths of the last solution until both agree. Where this does not converge, a
search follows (see `search`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

import numpy as np

from ...records import replace
from ..array_types import Array, Mask
from ..arrays import every_row, magnitude, span
from ..rows import ROWS_AT_ONCE, picked_rows, sliced
from ..solver import REACH_TOLERANCE, PlanarSolution, Reach, ReachMode, solve_planar, solve_planar_chain, wrap
from .bones import ChainMotion, RestChain
from .channels import HingeTurns, Matrices, Quaternions
from .following import TWO, ChainGoal, ChainPose, FollowingChain, alike, pose_of_one, stacked
from .inheritance import parent_transform
from .plane_frames import in_plane
from .posing import (
    Reference,
    TurnedChain,
    by_angles,
    hinge_axis,
    link_vectors,
    pose_with_rotations,
    rest_reference,
    stretched,
    towards,
    turn_bones,
)
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
    columns = np.ones((*turns.shape[:-1], 2 * harmonics + 1, turns.shape[-1]))
    columns[..., 1::2, :], columns[..., 2::2, :] = np.real(powers), np.imag(powers)
    return columns


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
    # The mean square of the constant wave is 1, of a cosine or sine a half.
    squares = np.concatenate([[1.0], np.full(count - 1, 0.5)])
    return Grid(
        harmonics, np.concatenate([pairs, CHECK_TURNS]), np.linalg.inv(waves(steps, harmonics)), np.outer(squares, squares)
    )


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

    def turned_towards(self, directions: Array) -> tuple[TurnedChain, Array]:
        """Turn the chain's links into directions `(..., F, 2)`; also returns the links `(..., F, 2, 2)`."""
        turns = np.moveaxis(directions, -1, 0) - np.moveaxis(self.directions, -1, 0)[..., None]
        turns[1] -= turns[0]
        links = np.empty((*directions.shape, 2))
        for start in range(0, turns.shape[-1], ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            links[..., part, :, :] = self._correct_turns(turns[..., part])
        return TurnedChain(self.chain, self.motion, tuple(map(HingeTurns, self.axes, turns, self.rotations))), links

    def _correct_turns(self, turns: Array) -> Array:
        """The links `(..., F, 2, 2)` for `turns` `(2, ..., F)`, which are corrected in place to give the exact directions."""
        first, second = (waves(turn, self.grid.harmonics) for turn in turns)
        # The first link depends on the first hinge alone, the second on the products of both hinges' waves.
        near, far = self.factors[..., 0, :, :, 0], self.factors[..., 1, :, :, :]
        mixed = far.reshape(*far.shape[:-3], -1, far.shape[-1]) @ second
        mixed = mixed.reshape(*mixed.shape[:-2], 2, *first.shape[-2:])
        links = np.stack([near @ first, (mixed * first[..., None, :, :]).sum(axis=-2)], axis=-3)
        # Cosine and sine of each turn stand in the waves already: no trigonometry for the intended directions.
        first, second = first[..., 1:3, :], second[..., 1:3, :]
        both = np.stack(
            [
                first[..., 0, :] * second[..., 0, :] - first[..., 1, :] * second[..., 1, :],
                first[..., 1, :] * second[..., 0, :] + first[..., 0, :] * second[..., 1, :],
            ],
            axis=-2,
        )
        cosine, sine = np.cos(self.directions), np.sin(self.directions)
        resting = np.stack([np.stack([cosine, -sine], axis=-1), np.stack([sine, cosine], axis=-1)], axis=-2)
        intended = np.stack([resting[..., 0, :, :] @ first, resting[..., 1, :, :] @ both], axis=-3)
        lengths = np.sqrt((links * links).sum(axis=-2))
        # The error is some 1e-6 at most, for which a sine equals its angle up to rounding.
        off = (intended[..., 0, :] * links[..., 1, :] - intended[..., 1, :] * links[..., 0, :]) / lengths
        turns[0] -= off[..., 0, :]
        turns[1] -= off[..., 1, :] - off[..., 0, :]
        return np.moveaxis(intended * lengths[..., None, :], -1, -3)

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
    riding = [channels.rotation for index, channels in enumerate(motion.channels) if index not in chain.turning]
    matrices = [*reference.inherited, *reference.rotations, frames, *riding]
    vectors = [values for channels in motion.channels for values in (channels.location, channels.scale)]
    parents = [] if motion.parent_pose is None else [motion.parent_pose]
    # All that poses the bones, but for their turns, is constant if it is given as one row for all frames.
    numbers, count = ((9, matrices), (3, vectors), (16, parents)), math.prod(size)
    is_still = all(values.size == row * count for row, group in numbers for values in group)
    if len(chain.turning) != len(CHECK_TURNS[0]) or not is_still:
        return None, np.ones(size, dtype=bool)
    inherited = [matrix.reshape(*size, 3, 3) for matrix in reference.inherited]
    rotations = tuple(rotation.reshape(*size, 3, 3) for rotation in reference.rotations)
    frame, joints = frames.reshape(*size, 3, 3), reference.joints.reshape(*size, 3, 3)
    links = link_vectors(frame, joints)
    extents = magnitude(np.diff(joints, axis=-2))
    upright = np.any(np.hypot(links[..., 0], links[..., 1]) <= UPRIGHT_FRACTION * extents, axis=-1)
    squared = [_unevenness(matrix) for matrix in inherited]
    possible = ~upright & np.all([(off <= NEARLY_EVEN * even) & (even > 0.0) for even, off in squared], axis=0)
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
        # Links must point where they would if each were carried by all turns before it.
        intended = directions[..., None, :] + np.cumsum(grid.pairs, axis=-1)
        cosine, sine = np.cos(intended), np.sin(intended)
        off, along = posed[..., 1] * cosine - posed[..., 0] * sine, posed[..., 0] * cosine + posed[..., 1] * sine
        valid &= ~others & np.all(np.abs(off) <= CARRIED_TOLERANCE * along, axis=(-2, -1))
        if np.ravel(valid)[0]:
            return StillHinges(chain, motion, axes, rotations, directions, grid, factors), valid
        others |= valid
    return None, ~others | ~possible


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


def _unevenness(matrices: Array) -> tuple[Array, Array]:
    """Mean squared scale `(...)` of matrices `(..., 3, 3)`, and how far the squares along single axes, or shear, are off it."""
    squares = np.swapaxes(matrices, -1, -2) @ matrices
    even = np.trace(squares, axis1=-2, axis2=-1) / 3.0
    return even, np.abs(squares - even[..., None, None] * np.eye(3)).max(axis=(-2, -1))


SEARCH_SETTLED = 1e-9
"""Tip error, relative to the chain's length, at which a search ends: a hundredth of Blender's single precision."""

STARTING_TURNS = 24
"""Number of evenly spaced turns of the first bone in the grid of starting poses."""

STARTING_BENDS = 24
"""Number of evenly spaced turns between first and last bone in the grid of starting poses."""

MOST_STARTS = 8
"""Number of nearest starting poses that are tried."""

NON_MINIMUM_PENALTY = 10.0
"""Penalty greater than any miss, which is at most twice a chain's length plus one."""

LEAST_SQUARES_ROUNDS = 40

LEAST_DAMPING, MOST_DAMPING = 1e-12, 1e6
"""Damping relative to the squared slopes: practically none, and so much that no step is left, which ends the iteration."""

NUDGE = 1e-6
"""Finite-difference step in radians for slopes; balances rounding against curvature in float64."""

CLOSEST_STARTS = 4
"""Number of ranked starts whose closest poses are compared."""

CLOSEST_ROUNDS = 20
"""Rounds for each of the `STIFFNESSES`."""

CURVATURE_NUDGE = 1e-4
"""Finite-difference step in radians for curvature; balances rounding against higher orders."""

LONGEST_TURN = 0.5
"""Greatest turn of a joint in a round, in radians; the curvature is not valid farther away."""

STIFFNESSES = (1.0, 10.0, 100.0, 1e3, 1e4)
"""Penalty weights of a bend to the wrong side relative to a miss, applied one after another: the stiffest allows only a
hundred-millionth of a wrong bend, but from far away it would make steps tiny."""

NO_SIDE = 1e-6
"""Cross product of first and last link, relative to the chain's length squared, that looks straight or folded."""

LinksAt = Callable[[Array], Array]
"""In-plane link vectors `(..., F, n, 2)` for angles `(..., F, n)`."""


def search_angles(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Find angles `(..., F, count)` that bring the tip to `goals` `(..., F, 2)`, bent to the side `bend` `(..., F)` if possible.

    Starts from the nearest of a grid of bent poses: a straight chain has no slope along itself and would not move. Where no pose
    reaches, the result is a near one; see `closest`. Ends when all frames have converged.
    """
    starts = _ranked_starts(goals, bend, count, links_at)
    best = starts[0]
    miss = _miss(links_at(best), goals, bend)
    for start in starts:
        tried = _least_squares(start, goals, links_at)
        tried_miss = _miss(links_at(tried), goals, bend)
        better = tried_miss < miss
        best = np.where(better[..., None], tried, best)
        miss = np.where(better, tried_miss, miss)
        if np.all(miss <= SEARCH_SETTLED):
            break
    return best


def closest(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Find angles `(..., F, count)` of the poses closest to unreachable `goals` `(..., F, 2)`, bent to `bend` or not at all.

    Newton's method from the nearest of a grid of poses. A bend to the wrong side is penalised like a stiff spring, because the
    closest pose often is straight or folded, where both sides meet.
    """
    tried = _ranked_starts(goals, bend, count, links_at)[:CLOSEST_STARTS]
    for stiffness in STIFFNESSES:
        tried = _descend_to_closest(tried, goals, stiffness * bend, links_at)
    links = links_at(tried)
    wrong = _side(links, bend) < -NO_SIDE
    best = np.argmin(np.where(wrong, np.inf, span(links.sum(axis=-2) - goals)), axis=0)
    return np.take_along_axis(tried, best[None, ..., None], axis=0)[0]


def _descend_to_closest(angles: Array, goals: Array, bend: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` at local minima of the distance to `goals` `(F, 2)`; `bend` is the side times its stiffness."""

    def residuals_at(angles: Array) -> Array:
        """Residuals `(..., F, 3)`: vector from goal to tip, and penalty for a bend to the wrong side."""
        links = links_at(angles)
        missed = links.sum(axis=-2) - goals
        # The penalty grows with the miss, so that a distant goal does not overpower it.
        weight = span(links).sum(axis=-1) + span(missed)
        return np.concatenate([missed, (weight * np.minimum(_side(links, bend), 0.0))[..., None]], axis=-1)

    damping = np.full(angles.shape[:-1], 1e-3)
    here = residuals_at(angles)
    for _ in range(CLOSEST_ROUNDS):
        gradient, curvature = _slope_and_curvature(angles, here, residuals_at)
        values, axes = np.linalg.eigh(curvature)
        # The absolute value makes a saddle's ascent direction a descent direction.
        strength = np.abs(values) + (damping * np.abs(values).max(axis=-1) + np.finfo(float).tiny)[..., None]
        step = -(axes @ ((np.swapaxes(axes, -1, -2) @ gradient[..., None]) / strength[..., None]))[..., 0]
        step = np.clip(step, -LONGEST_TURN, LONGEST_TURN)
        there = residuals_at(angles + step)
        # Factored: far from a goal, the difference of the squares would lose the gain to rounding.
        better = ((here - there) * (here + there)).sum(axis=-1) > 0.0
        angles, here = (np.where(better[..., None], *pair) for pair in ((angles + step, angles), (there, here)))
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all((damping == MOST_DAMPING) | (np.abs(step).max(axis=-1) < SEARCH_SETTLED)):
            break
    return angles


def _slope_and_curvature(angles: Array, here: Array, residuals_at: Callable[[Array], Array]) -> tuple[Array, Array]:
    """First `(..., F, n)` and second `(..., F, n, n)` derivative of half the squared residuals, whose current values are `here`.

    The curvature of the third residual, the penalty, is omitted, because it has a kink where the chain is straight.
    """
    count = angles.shape[-1]
    steps = CURVATURE_NUDGE * np.eye(count)
    pairs = [(first, second) for first, second in product(range(count), repeat=2) if second <= first]
    both = np.stack([steps[first] + steps[second] for first, second in pairs])
    tries = np.concatenate([steps, -steps, both, -both]).reshape(-1, *[1] * (angles.ndim - 1), count)
    up, down, further, back = np.split(residuals_at(angles + tries), [count, 2 * count, 2 * count + len(pairs)])
    slopes = np.moveaxis(0.5 * (up - down) / CURVATURE_NUDGE, 0, -1)
    transposed = np.swapaxes(slopes, -1, -2)
    curvature = transposed @ slopes
    for number, (first, second) in enumerate(pairs):
        around = up[first] + down[first] + up[second] + down[second]
        bent = 0.5 * (further[number] + back[number] - around + 2.0 * here) / CURVATURE_NUDGE**2
        pulled = (bent[..., :2] * here[..., :2]).sum(axis=-1)
        curvature[..., first, second] += pulled
        if first != second:
            curvature[..., second, first] += pulled
    return (transposed @ here[..., None])[..., 0], curvature


def _ranked_starts(goals: Array, bend: Array, count: int, links_at: LinksAt) -> Array:
    """Angles `(MOST_STARTS, ..., F, count)` of the nearest poses of a grid, local minima first, nearest first."""
    spread = np.linspace(0.0, 1.0, count)
    around = np.arange(STARTING_TURNS) * (2.0 * np.pi / STARTING_TURNS)
    # Offset by half a step, so that no pose of the grid is straight or fully folded.
    bends = (np.arange(STARTING_BENDS) + 0.5) * (2.0 * np.pi / STARTING_BENDS)
    shape = (*goals.shape[:-1], count)
    grid = np.stack([np.broadcast_to(turn + fold * spread, shape) for turn, fold in product(around, bends)])
    misses = np.concatenate([_miss(links_at(part), goals, bend) for part in np.split(grid, STARTING_TURNS)])
    # Local minima of the grid come first, so that the starts lie in different basins instead of all around the lowest minimum.
    table = misses.reshape(STARTING_TURNS, STARTING_BENDS, *misses.shape[1:])
    lowest = np.ones(table.shape, dtype=bool)
    for step in product((-1, 0, 1), repeat=2):
        lowest &= table <= np.roll(table, step, axis=(0, 1))
    penalised = np.where(lowest, table, table + NON_MINIMUM_PENALTY).reshape(misses.shape)
    # A stable order: with equal misses the same start is taken on every machine.
    ranked = np.argsort(penalised, axis=0, kind="stable")[:MOST_STARTS]
    return np.take_along_axis(grid, ranked[..., None], axis=0)


def _miss(links: Array, goals: Array, bend: Array) -> Array:
    """Distance `(..., F)` of posed links' tips from their goals, relative to the length, plus 1 for a bend to the wrong side."""
    length = span(links).sum(axis=-1)
    off = np.divide(span(links.sum(axis=-2) - goals), length, out=np.zeros_like(length), where=length > 0.0)
    return off + np.where(_side(links, bend) < -SEARCH_SETTLED, 1.0, 0.0)


def _side(links: Array, bend: Array) -> Array:
    """Bend `(..., F)` to the side `bend`: cross product of first and last link, relative to the chain's length squared."""
    length = span(links).sum(axis=-1)
    first, last = links[..., 0, :], links[..., -1, :]
    across = (first[..., 0] * last[..., 1] - first[..., 1] * last[..., 0]) * bend
    return np.divide(across, length * length, out=np.zeros_like(length), where=length > 0.0)


def _least_squares(angles: Array, goals: Array, links_at: LinksAt) -> Array:
    """Angles `(..., F, n)` that bring the tip nearest to `goals` `(..., F, 2)` from a nearby start.

    Damped Gauss-Newton (Levenberg 1944, Marquardt 1963) with damping per frame.
    """
    count = angles.shape[-1]
    tips = links_at(angles).sum(axis=-2)
    damping = np.full(goals.shape[:-1], 1e-3)
    for _ in range(LEAST_SQUARES_ROUNDS):
        tries = angles + NUDGE * np.eye(count).reshape(count, *[1] * (angles.ndim - 1), count)
        slopes = np.moveaxis((links_at(tries).sum(axis=-2) - tips) / NUDGE, 0, -1)
        transposed = np.swapaxes(slopes, -1, -2)
        normal = transposed @ slopes
        # Damping relative to the slopes, so that it means the same for a finger and a crane; `tiny` where no turn moves the tip.
        scale = np.trace(normal, axis1=-2, axis2=-1) + np.finfo(float).tiny
        normal = normal + (damping * scale)[..., None, None] * np.eye(count)
        step = np.linalg.solve(normal, transposed @ (goals - tips)[..., None])[..., 0]
        tried_tips = links_at(angles + step).sum(axis=-2)
        better = span(tried_tips - goals) < span(tips - goals)
        angles = np.where(better[..., None], angles + step, angles)
        tips = np.where(better[..., None], tried_tips, tips)
        damping = np.clip(np.where(better, damping * 0.1, damping * 10.0), LEAST_DAMPING, MOST_DAMPING)
        if np.all((damping == MOST_DAMPING) | (np.abs(step).max(axis=-1) < SEARCH_SETTLED)):
            break
    return angles


SETTLED = 1e-7
"""Tip error, relative to the chain's length, at which iteration stops: as large as single precision's."""

UNEVEN_SETTLED = 5e-9
"""Tip error at which iteration stops under non-uniform scale, where every round changes the lengths considerably."""

LENGTH_ROUNDS = 20
"""Most rounds of iteration: scale ratios up to about 2:1 converge within them; more is left to the search."""

MOST_CORRECTION = 1e-3
"""Greatest direction error of a link, in radians, that the next round corrects. The direction of a link with several bones varies
by some 1e-7 as they turn, because rest matrices in single precision are not quite rotations and some kinds of scale inheritance
measure their axes; larger errors have causes that further turning does not remove."""

UNEVEN = 2e-4
"""Relative difference of the squared scales along two axes above which scale is non-uniform and a ring of fixed lengths wrong.
Blender's own rest matrices are orthonormal only to some 2e-5, which the square doubles."""


def follow_together(several: Sequence[FollowingChain], *, quickly: bool = False) -> list[ChainPose]:
    """Pose chains so that their tips, projected onto the plane, are on their targets.

    Chains of one shape are posed together, with the same results as alone; long takes are posed in parts.

    quickly : in one round where links are laid into the plane; the pose then differs by a unit of single precision
    """
    poses: dict[int, ChainPose] = {}
    waiting = alike(several)
    while waiting:
        numbers = waiting.pop()
        if len(several[numbers[0]].chain.turning) == TWO and len(several[numbers[0]].task.targets) > ROWS_AT_ONCE:
            poses |= {number: _in_parts(several[number]) for number in numbers}
            continue
        posed, doubtful, hinged = _follow(stacked([several[number] for number in numbers]), quickly=quickly)
        for index in np.flatnonzero(hinged).tolist():
            following = several[numbers[index]]
            pose = pose_of_one(posed, index, following)
            if following.task.limits is None and doubtful[index].any():
                pose = _searched(following, pose, doubtful[index])
            poses[numbers[index]] = pose
        # The whole stack was solved with the kind of hinge of its first chain; those of another kind wait for their own.
        others = [numbers[index] for index in np.flatnonzero(~hinged).tolist()]
        waiting += [others] if others else []
    return [poses[number] for number in range(len(several))]


def _in_parts(following: FollowingChain) -> ChainPose:
    """Pose a chain some frames at a time, keeping only its rotations: posing needs much more memory than its result."""
    count, distances = len(following.task.targets), span(_targets_in_plane(following))
    quaternions = [np.empty((count, 4)) for _ in following.chain.turning]
    ratio, goals = np.empty(count), np.empty((count, 2))
    reach, doubtful = np.empty(count, dtype=np.int8), np.empty(count, dtype=bool)
    # Undetermined angles are held, so each part begins with a frame that determines its pose.
    determined = np.isfinite(distances) & (distances > 0.0)
    start, stop = 0, max(ROWS_AT_ONCE, int(np.argmax(determined)) + 1)
    while start < count:
        # The last determined frame before this part, or 0 where there is none.
        begin = int(np.flatnonzero(determined[:start])[-1:].sum())
        frames = sliced(following, slice(begin, stop))
        posed, doubts, _ = _follow(stacked([frames]))
        pose = pose_of_one(posed, 0, frames)
        part, new = slice(start, stop), slice(start - begin, None)
        ratio[part], reach[part], goals[part] = pose.ratio[new], pose.reach[new], pose.goals[new]
        determined[part] &= reach[part] != Reach.DEGENERATE
        doubtful[part] = doubts[0, new]
        for whole, rotation in zip(quaternions, pose.turned.rotations, strict=True):
            whole[part] = every_row(rotation.quaternions, stop - begin)[new]
        start, stop = stop, min(stop + ROWS_AT_ONCE, count)
    motion = following.motion
    if following.task.options.mode == ReachMode.STRETCH:
        motion = stretched(following.chain, motion, ratio)
    solved = ChainPose(TurnedChain(following.chain, motion, tuple(map(Quaternions, quaternions))), motion, ratio, reach, goals)
    return _searched(following, solved, doubtful) if following.task.limits is None and doubtful.any() else solved


def _follow(several: FollowingChain, *, quickly: bool = False) -> tuple[ChainPose, Mask, Mask]:
    """Pose a stack of chains by the ring of their lengths.

    Also returns the doubtful frames `(C, F)`, where that is not valid, and the chains `(C,)` that are posed correctly: those
    whose hinges are of the same kind as the first chain's.
    """
    chain, motion, reference, task = several.chain, several.motion, several.reference, several.task
    targets = _targets_in_plane(several)
    own_frames = task.laying.own
    links = link_vectors(task.frames if own_frames is None else own_frames, reference.joints)
    rest_direction = np.zeros(task.bend.shape)
    if task.limits is not None:
        # The zero of the first joint's limits: the direction of its link with no local rotation.
        rest_direction = angles_of(link_vectors(task.frames, rest_reference(chain, motion).joints))[..., 0]
    uneven = is_uneven(reference)
    settled = np.where(uneven, UNEVEN_SETTLED, SETTLED) if links.shape[-2] == TWO else REACH_TOLERANCE
    fixed = not task.laying.flatten and own_frames is None and task.options.mode != ReachMode.STRETCH
    begun = parent_transform(chain.bones[0], motion.parent_pose)
    hinges, hinged = None, np.ones(len(targets), dtype=bool)
    if fixed:
        hinges, hinged = still_hinges(chain, motion, reference, task.frames)
    lengths = span(links) if hinges is None else hinges.lengths[..., None, :]
    if quickly and task.laying.flatten and own_frames is None and not uneven.any():
        # A link that is laid into the plane gets as long there as it is in space.
        lengths = magnitude(np.diff(reference.joints, axis=-2))
    turns = towards(reference, task.frames, task.laying)

    def pose_with(lengths: Array, lead: Array) -> tuple[ChainPose, Array, Array, Mask]:
        """The pose for links of these lengths `(..., F, n)`, its links, their intended directions, and where the tip is off.

        Bones are turned by `lead` `(..., F, n)` beyond the intended directions of their links.
        """
        solution = _solve(targets, lengths, task, links, rest_direction)
        directions = np.cumsum(solution.angles, axis=-1)
        if hinges is not None:
            scaled = motion
            turned, posed = hinges.turned_towards(directions)
        else:
            scaled = motion if task.options.mode != ReachMode.STRETCH else stretched(chain, motion, solution.ratio)
            turned = turn_bones(chain, scaled, reference, turns(directions + lead), begun)
            posed = link_vectors(task.frames, turned.joints)
        unsettled = span(posed.sum(axis=-2) - solution.goals) > settled * lengths.sum(axis=-1) * solution.ratio
        return ChainPose(turned, scaled, solution.ratio, solution.reach, solution.goals), posed, directions, unsettled

    lead = np.zeros(1)
    pose, posed, directions, unsettled = pose_with(lengths, lead)
    for _ in range(LENGTH_ROUNDS):
        # A chain that has converged is unchanged by the rounds of others.
        going_on = np.any(unsettled, axis=-1, keepdims=True)[..., None]
        if not going_on.any():
            break
        lengths = np.where(going_on, span(posed) / pose.ratio[..., None], lengths)
        off = wrap(directions - np.arctan2(posed[..., 1], posed[..., 0]))
        lead = lead + np.where(going_on & (np.abs(off) < MOST_CORRECTION), off, 0.0)
        del pose  # as large as the next one
        pose, posed, directions, unsettled = pose_with(lengths, lead)
    return pose, unsettled | (uneven & (pose.reach != Reach.REACHED)), hinged


def _targets_in_plane(following: FollowingChain) -> Array:
    """Targets `(..., F, 2)` in the plane, relative to the root joint."""
    task = following.task
    return in_plane(task.frames, task.targets - following.reference.joints[..., 0, :])


def _searched(following: FollowingChain, pose: ChainPose, doubtful: Mask) -> ChainPose:
    """The pose with doubtful frames, where the ring of fixed lengths gives neither pose nor reach, solved by search."""
    task, options, targets = following.task, following.task.options, _targets_in_plane(following)
    to_target = options.mode == ReachMode.CLAMP and not (options.min_distance or options.max_distance)
    # Softening, stretch and bounds of the distance move the goal off the target: these were solved already, with the ring.
    goals = targets if to_target else pose.goals
    turned = _solve_frames(search_angles, following, pose=pose, goals=goals, where=doubtful)
    tips = link_vectors(task.frames, turned.joints).sum(axis=-2)
    longest = np.max(span(link_vectors(task.frames, turned.joints)).sum(axis=-1))
    missed = doubtful & (span(tips - goals) > SETTLED * longest)
    if missed.any():
        turned = _solve_frames(closest, following, pose=replace(pose, turned=turned), goals=goals, where=missed)
    # The ring of fixed lengths is not valid here, so what is out of reach is measured on the posed links.
    links = link_vectors(task.frames, turned.joints)
    far = span(links).sum(axis=-1)
    off = span(links.sum(axis=-2) - targets) > np.maximum(options.tolerance, SETTLED) * far
    reach = np.where(off, np.where(span(targets) > 0.5 * far, Reach.TOO_FAR, Reach.TOO_NEAR), Reach.REACHED)
    reach = np.where(pose.reach == Reach.DEGENERATE, pose.reach, reach).astype(np.int8)
    return replace(
        pose, turned=turned, reach=np.where(doubtful, reach, pose.reach), goals=np.where(doubtful[..., None], goals, pose.goals)
    )


def _solve_frames(
    find: Callable[[Array, Array, int, LinksAt], Array], following: FollowingChain, *, pose: ChainPose, goals: Array, where: Mask
) -> TurnedChain:
    """The turned chain of `pose` with the frames `where` solved by `find`."""
    chain, task = following.chain, picked_rows(following.task, where)
    motion, start = picked_rows(pose.motion, where), picked_rows(following.reference, where)
    frames, laying = task.frames, task.laying
    directed = towards(start, frames, laying) if laying.flatten or laying.own is not None else None

    def turned_by(angles: Array) -> TurnedChain:
        return turn_bones(chain, motion, start, directed(angles) if directed else by_angles(frames, angles))

    def links_at(angles: Array) -> Array:
        return link_vectors(frames, turned_by(angles).joints)

    angles = find(goals[where], task.bend, len(chain.turning), links_at)
    solved, turned = turned_by(angles), pose.turned
    rotations = tuple(
        Matrices(_with_rows(base.matrices, where, other.matrices))
        for base, other in zip(turned.rotations, solved.rotations, strict=True)
    )
    poses = tuple(_with_rows(base, where, other) for base, other in zip(turned.poses, solved.poses, strict=True))
    return TurnedChain(chain, turned.motion, rotations, poses)


def _with_rows(values: Array, where: Mask, rows: Array) -> Array:
    """Values `(F, ...)` or `(1, ...)`, broadcast to all frames and with `rows` at the frames `where` `(F,)`."""
    filled = np.broadcast_to(values, (len(where), *values.shape[1:])).copy()
    filled[where] = rows
    return filled


def _solve(targets: Array, lengths: Array, task: ChainGoal, links: Array, rest_direction: Array) -> PlanarSolution:
    """Solve in world units, the units of the options' distances; angles and ratio have no unit."""
    scale = task.world_scale[..., None]
    targets, lengths = targets * scale, lengths * scale
    if lengths.shape[-1] == TWO:
        limits = None if task.limits is None else task.limits.ravel()
        options = replace(task.options, limits=limits)
        solution = solve_planar(targets, lengths, task.bend, options, rest_direction=rest_direction)
    else:
        limits = None
        if task.limits is not None:
            # The first joint's limits become directions from u.
            limits = np.broadcast_to(task.limits, (*rest_direction.shape, *task.limits.shape)).copy()
            limits[..., 0, :] += rest_direction[..., None]
        start = angles_of(links)
        solution = solve_planar_chain(targets, lengths, task.bend, task.options, start=start, limits=limits, method=task.method)
    return replace(solution, goals=solution.goals / scale)


def angles_of(links: Array) -> Array:
    """Angles `(..., F, n)` of link vectors `(..., F, n, 2)`: the first from u, each other from the previous link.

    Unwrapped over the frames. A link of length 0 has the direction of u.
    """
    directions = np.arctan2(links[..., 1], links[..., 0])
    directions[..., 1:] = wrap(np.diff(directions, axis=-1))
    # From frame to frame no angle may jump by a whole turn, which a solver that follows the path would take for motion.
    return np.unwrap(directions, axis=-2) if directions.shape[-2] > 1 else directions


def is_uneven(reference: Reference) -> Mask:
    """Mask `(..., F)` of frames where a turning bone inherits non-uniform scale, so that its link's length varies."""
    return reduce(np.logical_or, (off > UNEVEN * even for even, off in map(_unevenness, reference.inherited)))
