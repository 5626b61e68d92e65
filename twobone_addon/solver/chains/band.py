"""Jumps drawn out over time, like a rubber band laid along the poses that reach.

A chain of three or more links can move while its tip stays on the target. Around a jump, every
pose is pulled to the middle of the two beside it as far as its tip stays where it is; even and
odd frames take turns (red-black Gauss-Seidel, over-relaxed). The result turns before and after
the jump what would have turned in one frame. Where no motion connects both sides, the jump stays.
"""

import numpy as np

from ...array_types import Array, Mask
from .descent import bounded_step
from .problem import ChainProblem

REACH_OF_A_JUMP = 24
"""Frames before and after a jump that take part: one second of film in all, two of them."""

SWEEPS = 60
"""Rounds over all frames; the motion of more rounds could hardly be told apart when measured."""

OVER_RELAXATION = 1.5
LONGEST_PULL = 0.2
"""Radians per sweep; over this a straight step has little to do with the curve it follows."""

CORRECTIONS = 2
"""Newton steps that put the tip back; each squares the error that the pull left."""

TIP_MAY_DRIFT = 1e-7
"""Relative to the chain length, while the band is being relaxed; a descent follows it."""

DAMPING = 1e-9


def draw_out(chain: ChainProblem, path: Array, jumps: Mask) -> Array:
    """`path` with the motion of each jump spread over the frames around it.

    chain : one chain, a problem per frame
    path : (n, F), radians, continuous but for the jumps
    jumps : (F - 1,) bool, the steps that are too long

    Returns `(n, F)`, inside the limits. Frames far from every jump are as they were.
    """
    if not jumps.any():
        return path
    path = path.copy()
    frames = path.shape[1]
    involved = np.flatnonzero(_near(jumps, frames))
    halves = [_half(chain, involved[involved % 2 == parity], frames) for parity in (1, 0)]
    for _ in range(SWEEPS):
        for half, part, before, after in halves:
            middle = 0.5 * (path[:, before] + path[:, after])
            path[:, half] = _pull(part, path[:, half], middle)
    return path


def _near(jumps: Mask, frames: int) -> Array:
    """Which frames `(F,)` are near enough to a jump to help."""
    at_jump = np.flatnonzero(jumps)
    changes = np.zeros(frames + 1, dtype=int)
    np.add.at(changes, np.maximum(at_jump + 1 - REACH_OF_A_JUMP, 0), 1)
    np.add.at(changes, np.minimum(at_jump + 1 + REACH_OF_A_JUMP, frames), -1)
    return np.cumsum(changes)[:frames] > 0


def _half(chain: ChainProblem, half: Array, frames: int) -> tuple[Array, ChainProblem, Array, Array]:
    """Every second frame with its problems and the frames beside it."""
    before, after = half - 1, half + 1
    # At an end of the range there is one neighbour only, which then counts twice.
    before = np.where(before < 0, after, before)
    after = np.where(after >= frames, before, after)
    return half, chain.take(half), before, after


def _pull(part: ChainProblem, here: Array, middle: Array) -> Array:
    """Poses `(n, P)` nearer to `middle` with their tips kept, or `here` where there is none."""
    wish = np.clip(OVER_RELAXATION * (middle - here), -LONGEST_PULL, LONGEST_PULL)
    left = part.distances(here)
    there = _keep_tip(part, here, wish)
    for _ in range(CORRECTIONS):
        there = _keep_tip(part, there, np.zeros_like(there))
    keeps_tip = part.distances(there) <= np.maximum(left, TIP_MAY_DRIFT)
    is_nearer = _squared(there - middle) <= _squared(here - middle)
    return np.where(keeps_tip & is_nearer, there, here)


def _keep_tip(part: ChainProblem, here: Array, wish: Array) -> Array:
    arms = part.arms(here)
    room = np.stack([part.lower - here, part.upper - here])
    damping = np.full(part.size, DAMPING)
    return part.clip(here + bounded_step(arms, part.residuals(arms), room, damping, wish))


def _squared(turns: Array) -> Array:
    return (turns * turns).sum(axis=0)
