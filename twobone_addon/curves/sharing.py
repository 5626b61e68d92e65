"""One tolerance for all channels: how it is shared among them so that all curves together have few keys.

At first every channel gets a share by itself, the more the more keys it needs. Then, channel by channel, the keys are
chosen anew in what the others really leave, and the tip's drift comes down to the tolerance on the way: a channel may
stray where another makes up for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..array_types import Array
from .drift import FINER, Motion, farthest
from .fitting import shown, strays
from .indices import Indices
from .segments import Lane, Pieces, farthest_pieces, joined, level_piece
from .tubes import Tubes, free_widths, tube_beside

# Shares of the tolerance tried for every channel by itself. A start may drift a little too far; the sweeps bring it in.
SHARES = np.array([0.15, 0.25, 0.4, 0.6, 0.85, 1.2])
FIRST_SHARE = 0.5
FARTHEST_START = 1.6
# A channel's share grows with about this power of its keys: the least sum for drift that falls with the fourth power.
SHARE_POWER = 0.45

# The tip may drift too far in the first of them, less and less.
SWEEPS, WIDE_SWEEPS = 8, 3
# A sweep that saves less than this share of the keys is the last but one.
LEAST_SAVED = 0.01
# A sweep's lanes: so many at once, each of at least so many keys.
MOST_LANES, LANE_KEYS = 8, 4
# Candidates that the first guess of a segment reaches.
FIRST_GUESS = 10
# A motion that leaves a rest softly has gone at most this share of an even pace after a fourth of the first frame.
SOFT_SHARE, SOFT = 4, 0.5
# Drifts above the tolerance that count as equal to it.
ROUNDING = 1e-4


@dataclass(frozen=True, slots=True)
class Choice:
    """Where keys may stand."""

    candidates: Indices
    """(C,) samples that may be keys."""
    fixed: Indices
    """(F,) samples that are keys of every channel, the first and the last among them."""
    rests: Indices
    """(R, 2) spans between fixed samples in which nothing moves."""

    def stretches(self) -> list[tuple[int, int]]:
        """From each fixed sample to the next."""
        return list(pairwise(self.fixed.tolist()))

    def resting(self, first: int, last: int) -> bool:
        """Whether nothing moves from one sample to another."""
        return bool(np.any((self.rests[:, 0] <= first) & (last <= self.rests[:, 1])))

    def between(self, first: int, last: int) -> Indices:
        """The candidates from one sample to another."""
        return self.candidates[(self.candidates >= first) & (self.candidates <= last)]


class Sharing:
    """The curves of all channels as they are at present."""

    def __init__(self, motion: Motion, choice: Choice) -> None:
        self.motion, self.choice = motion, choice
        self.feeling = motion.feeling()
        self.widths = free_widths(self.feeling)
        self.steady = np.ptp(motion.values[::FINER], axis=0) == 0.0
        self.pieces: list[Pieces] = []
        self._errors = np.zeros_like(motion.values)
        self._moves = motion.moves(self._errors)

    def choose(self) -> None:
        """Choose the keys of all channels; keys stand between the candidates only where it cannot be done without."""
        starts = self._starts()
        for farthest_start in (FARTHEST_START, 1.0):
            self._start_from(starts, farthest_start)
            self._sweep()
            if self._peak() <= 1.0 + ROUNDING:
                return
        for every_sample in (False, True):
            self._choose_between(every_sample=every_sample)
            if self._peak() <= 1.0 + ROUNDING:
                return

    def _choose_between(self, *, every_sample: bool) -> None:
        """Let keys stand, or else make them stand, at samples between candidates that are too far apart for the tolerance."""
        drift = farthest(self._moves)
        gaps = [gap for gap in pairwise(self.choice.candidates.tolist()) if drift[gap[0] : gap[1] + 1].max() > 1.0 + ROUNDING]
        more = np.concatenate([np.append(np.arange(*gap, FINER), gap[1]) for gap in gaps])
        self.choice = replace(
            self.choice,
            candidates=np.union1d(self.choice.candidates, more),
            fixed=np.union1d(self.choice.fixed, more) if every_sample else self.choice.fixed,
        )
        self._start_from(self._starts(), 1.0)
        self._sweep()

    def _starts(self) -> list[list[Pieces]]:
        """Every channel by itself, with a small share of the tolerance first."""
        channels = self.motion.values.shape[1]
        alone = self._alone(np.full((1, channels), FIRST_SHARE))
        counts = np.array([len(pieces.first) for pieces in alone[0]], dtype=float)
        return self._alone(SHARES[:, None] * (counts / counts.max()) ** SHARE_POWER)

    def _start_from(self, starts: list[list[Pieces]], farthest_start: float) -> None:
        """Take the start with the largest shares that drifts at most so far, or else the one that drifts least."""
        peaks = []
        for pieces in starts:
            self._take(pieces)
            peaks.append(self._peak())
        good = np.flatnonzero(np.array(peaks) <= farthest_start)
        self._take(starts[good[-1] if len(good) else int(np.argmin(peaks))])

    def _sweep(self) -> None:
        """Choose the keys of all channels anew, again and again while that saves keys or drift."""
        patience = 1
        for sweep in range(SWEEPS):
            before, peak = sum(len(pieces.first) for pieces in self.pieces), self._peak()
            radius = max(1.0, float(np.sqrt(peak))) if peak <= FARTHEST_START and sweep < WIDE_SWEEPS else 1.0
            for channel in self.moving_channels()[::-1]:
                self._renew(channel, radius)
            saved = before - sum(len(pieces.first) for pieces in self.pieces)
            patience -= peak <= 1.0 + ROUNDING and saved <= LEAST_SAVED * before
            if patience < 0:
                return

    def moving_channels(self) -> list[int]:
        """Channels that do not hold one value, those with few keys first."""
        order = np.argsort([len(pieces.first) for pieces in self.pieces], kind="stable")
        return [int(channel) for channel in order if not self.steady[channel]]

    def tubes_of(self, channel: int, radius: float = 1.0) -> Tubes:
        """One row: what the others leave to a channel."""
        feeling = self.feeling[..., channel]
        others = self._moves - feeling * self._errors[:, None, None, channel]
        middle, half = tube_beside(others, feeling, self.widths[:, channel], radius)
        return Tubes(self.motion.times, self.motion.values[:, channel][None], middle[None], half[None])

    def accept(self, channel: int, old: Sequence[Pieces], new: Sequence[Pieces], limit: float = 1.0) -> None:
        """Put the new pieces of stretches in place of the old ones wherever the tip's drift allows it."""
        before = farthest(self._moves)
        errors, moves = self._with(channel, joined(new))
        after = farthest(moves)
        kept = [
            fresh if fresh is present or _worst(after, fresh) <= max(limit + ROUNDING, _worst(before, present)) else present
            for present, fresh in zip(old, new, strict=True)
        ]
        self.pieces[channel] = joined(kept)
        if any(one is not another for one, another in zip(kept, new, strict=True)):
            errors, moves = self._with(channel, self.pieces[channel])
        self._errors, self._moves = errors, moves

    def _with(self, channel: int, pieces: Pieces) -> tuple[Array, Array]:
        """Errors and moves with other pieces of one channel."""
        errors = self._errors.copy()
        errors[:, channel] = self._error(channel, pieces)
        return errors, self.motion.moves(errors)

    def _peak(self) -> float:
        """The worst drift as a share of the tolerance."""
        return float(farthest(self._moves).max())

    def _renew(self, channel: int, radius: float) -> None:
        tubes = self.tubes_of(channel, radius)
        spans = self._spans(self.pieces[channel])
        old = [self.pieces[channel].within(*span) for span in spans]
        moving = [number for number, span in enumerate(spans) if not self.choice.resting(*span)]
        lanes = []
        for number in moving:
            inside = self.choice.between(*spans[number])
            guess = max(1, len(inside) // len(old[number].first))
            lanes.append(Lane(0, inside, guess, self._level(channel, *spans[number])))
        new = list(old)
        for number, pieces in zip(moving, farthest_pieces(tubes, lanes), strict=True):
            worst = strays(tubes, old[number].segments(), old[number].shapes).max()
            fewer = len(pieces.first) <= len(old[number].first) and pieces.strays.max() <= 1.0
            if fewer or pieces.strays.max() < worst > 1.0:
                new[number] = pieces
        self.accept(channel, old, new, radius)

    def _spans(self, pieces: Pieces) -> list[tuple[int, int]]:
        """Stretches from key to key that are worked on at once: long ones, cut where there are keys now."""
        spans = []
        for first, last in self.choice.stretches():
            keys = pieces.within(first, last).keys
            lanes = max(1, min(MOST_LANES, (len(keys) - 1) // LANE_KEYS))
            spans += list(pairwise(keys[np.linspace(0, len(keys) - 1, lanes + 1).astype(np.intp)].tolist()))
        return spans

    def _alone(self, shares: Array) -> list[list[Pieces]]:
        """The pieces of all channels, each with its share of the tolerance: `shares (T, K)`, lists of T and K."""
        tries, channels = shares.shape
        half = (shares[:, None, :] * self.widths).transpose(0, 2, 1).reshape(tries * channels, -1)
        values = np.tile(self.motion.values.T, (tries, 1))
        tubes = Tubes(self.motion.times, values, np.zeros_like(half), half)
        stretches = self.choice.stretches()
        moving = [span for span in stretches if not self.choice.resting(*span)]
        rows = [row for row in range(len(half)) if not self.steady[row % channels]]
        lanes = [
            Lane(row, self.choice.between(*span), FIRST_GUESS, self._level(row % channels, *span))
            for row in rows
            for span in moving
        ]
        found = iter(farthest_pieces(tubes, lanes))
        whole = level_piece(*self.choice.candidates[[0, -1]])
        pieces = [whole] * len(half)
        for row in rows:
            pieces[row] = joined([next(found) if span in moving else level_piece(*span) for span in stretches])
        return [pieces[number * channels : (number + 1) * channels] for number in range(tries)]

    def _level(self, channel: int, first: int, last: int) -> tuple[bool, bool]:
        """Whether a channel leaves a rest softly at the first sample, and comes to one at the last."""
        values = self.motion.values[:, channel]
        inside = self.choice.between(first, last)
        sides = []
        for edge, towards, beyond in ((first, inside[1], self.choice.rests[:, 1]), (last, inside[-2], self.choice.rests[:, 0])):
            near = edge + (towards - edge) // SOFT_SHARE
            away, all_away = abs(values[near] - values[edge]), abs(values[towards] - values[edge])
            sides.append(bool(np.any(beyond == edge) and away * SOFT_SHARE <= SOFT * all_away))
        return sides[0], sides[1]

    def _take(self, pieces: list[Pieces]) -> None:
        self.pieces = list(pieces)
        self._errors = np.stack([self._error(channel, each) for channel, each in enumerate(pieces)], axis=-1)
        self._moves = self.motion.moves(self._errors)

    def _error(self, channel: int, pieces: Pieces) -> Array:
        """(N,) what a channel is off by."""
        values = self.motion.values[:, channel]
        _, sample, value = shown(self.motion.times, values[None], pieces.segments(), pieces.shapes)
        error = np.empty(len(values))
        error[sample] = value - values[sample]
        return error


def pairs_of(old: Pieces, new: Pieces, keys: Indices) -> tuple[list[Pieces], list[Pieces]]:
    """Old and new pieces in stretches of which each holds one of the `keys`, no two of them neighbours, or none.

    Both have as many pieces, and the same keys but for those.
    """
    bounds = np.unique(np.concatenate([[0, len(old.first)], keys - 1, keys + 1])).tolist()
    spans = list(pairwise(bounds))
    return [old.numbered(*span) for span in spans], [new.numbered(*span) for span in spans]


def _worst(drift: Array, pieces: Pieces) -> float:
    return float(drift[pieces.first[0] : pieces.last[-1] + 1].max())
