"""Reduce a motion to few Bezier keys that keep its joints within a tolerance everywhere.

Other key reducers bound the error of each curve separately. But only the joints are visible: a channel may deviate where another
one compensates or where no joint is affected. All channels of a chain are keyed on the same frames.

A long motion is reduced in pieces that meet at keys, all pieces in one batch. Where nothing moves, as during contacts, the
reduced keys must not introduce motion.
"""

from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import ArrayLike

from ...records import replace
from ..array_types import Array, Indices, Mask
from .bezier import Keys, evaluate
from .drift import FINER, Drift, Motion, feel, in_portions, portions, with_halves
from .fitting import Search, Segment, Wanted, fit_segments, fit_through, still_segment, together

GROWTH = 3.0
"""Exponent with which the worst drift grows with a segment's length: 4 for smooth motion, less for rough motion."""
MOST_GROWTH, LEAST_GROWTH = 2.0, 1.15
"""Greatest and least ratio of a guessed length to the previous one, after a good segment."""
SMALLEST_DRIFT = 1e-3
"""Least drift, as a fraction of the tolerance, used to extrapolate the length."""
SEARCH_SHARE = 0.02
"""Precision to which the end of a long segment is found, as a fraction of its length: this costs no key."""
PREFERENCE_REACH = 0.3
"""Greatest distance of a preferred frame that is taken as a key, as a fraction of the segment."""


def chosen_segments(candidates: Indices, preferred: Indices) -> Search:
    """Choose good segments from the first to the last of `candidates : (C,)`, increasing samples that may be keys; C >= 2.

    `preferred` are some of them. Where two neighbouring candidates are too far apart for the tolerance, keys are put between
    them, in the worst case at every original sample of the motion.
    """
    chosen: list[Segment] = []
    for good, run in groupby((yield from _farthest_segments(candidates)), key=lambda segment: segment.good):
        if good:
            chosen.extend((yield from _sharing_slack(candidates, list(run), preferred)))
        else:
            for gap in run:
                chosen.extend((yield from _farthest_segments(np.arange(gap.first, gap.last + 1, FINER))))
    return chosen


def _farthest_segments(candidates: Indices) -> Search:
    """Longest good segments one after the other; where not even the next candidate can be reached, one that is not good."""
    segments: list[Segment] = []
    start, length = 0, 1
    while start < len(candidates) - 1:
        segments.extend((yield from _farthest(candidates[start:], length)))
        length = int(np.searchsorted(candidates, segments[-1].last)) - start
        start += length
    return segments


def _farthest(candidates: Indices, guess: int) -> Search:
    """The longest good segment from the first candidate, or the shortest one if none is good.

    The worst drift of each trial gives the next length to try, between the longest known good and the shortest known bad.
    """
    good, bad = 0, len(candidates)
    tried = min(max(guess, 1), bad - 1)
    segment = longest = yield Wanted(int(candidates[0]), int(candidates[tried]))
    while True:
        if segment.good:
            good, longest = tried, segment
        else:
            bad = tried
        if bad - good <= 1 + SEARCH_SHARE * good:
            return [longest if good else segment]
        growth = np.clip(max(segment.worst, SMALLEST_DRIFT) ** (-1.0 / GROWTH), 0.0, MOST_GROWTH)
        growth = max(growth, LEAST_GROWTH) if segment.good else growth
        tried = int(np.clip(round(tried * growth), good + 1, bad - 1))
        segment = yield Wanted(int(candidates[0]), int(candidates[tried]))


def _sharing_slack(candidates: Indices, farthest: list[Segment], preferred: Indices) -> Search:
    """As many good segments as in `farthest`, with keys moved back so that the last is not much shorter than the others."""
    count = len(farthest)
    places = np.searchsorted(candidates, [farthest[0].first, *(segment.last for segment in farthest)])
    # By how much the last segment is shorter than the one before it: each key gives up its part of that.
    slack = max(0, int(2 * places[-2] - places[-3] - places[-1])) if count > 1 else 0
    chosen: list[Segment] = []
    for index in range(count - 1, -1, -1):
        last = chosen[-1].first if chosen else farthest[-1].last
        nearest, target = places[max(index - 1, 0)] + 1, places[index] - slack * index // count
        tries = [farthest[0].first]
        if index:
            tries = _trial_samples(candidates, preferred, nearest=nearest, target=target, farthest=places[index])
        for first in tries:
            known = (first, last) == (farthest[index].first, farthest[index].last)
            segment = farthest[index] if known else (yield Wanted(first, last))
            if segment.good:
                break
        else:
            return farthest
        chosen.append(segment)
    return chosen[::-1]


def _trial_samples(candidates: Indices, preferred: Indices, *, nearest: int, target: int, farthest: int) -> list[int]:
    """Samples at which to try a key, in this order: a preferred one near the target, the target, the farthest."""
    target = max(target, nearest)
    tries = [int(candidates[target]), int(candidates[farthest])]
    times = preferred[(preferred >= candidates[nearest]) & (preferred <= candidates[farthest])]
    if len(times):
        closest = int(times[np.argmin(np.abs(times - candidates[target]))])
        if abs(closest - candidates[target]) <= PREFERENCE_REACH * (candidates[farthest] - candidates[nearest - 1]):
            tries.insert(0, closest)
    return tries


def align(motion: Motion, segments: list[Segment], still: Mask) -> list[Segment]:
    """Give neighbouring segments common slopes where that keeps the tolerance.

    `still : (S,)` marks segments in which nothing moves: they are unchanged, and their neighbours come to rest at them where
    that keeps the tolerance.
    """
    segments = list(segments)
    smooth = np.zeros(len(segments) + 1, dtype=bool)
    smooth[[0, -1]] = True
    # The least breaks first: the slope at a key, once common, holds for its neighbours.
    for keys in _turns(_breaks(motion, segments)):
        for key, joined in zip(keys, _refitted(motion, segments, keys, still, smooth), strict=True):
            if all(segment.good for segment in joined):
                segments[key - 1 : key + 1] = joined
                smooth[key] = True
    return segments


def _turns(breaks: Array) -> list[list[int]]:
    """Group the inner keys of `breaks : (S - 1,)` so that no group has neighbours, with the effect of smallest break first."""
    rank = np.full(len(breaks) + 2, len(breaks))
    rank[1:-1][np.argsort(breaks, kind="stable")] = np.arange(len(breaks))
    turns = []
    while np.any(rank < len(breaks)):
        ready = np.flatnonzero((rank[1:-1] < rank[:-2]) & (rank[1:-1] < rank[2:])) + 1
        turns.append(ready.tolist())
        rank[ready] = len(breaks)
    return turns


def _refitted(
    motion: Motion, segments: list[Segment], keys: list[int], still: Mask, smooth: Mask
) -> list[tuple[Segment, Segment]]:
    """Refit both segments at each of some keys with one slope at that key; a segment at rest fixes the slope to 0."""
    rest = np.zeros(motion.values.channels)
    joined = {key: (segments[key - 1], segments[key]) for key in keys}
    # Whether the slopes at the keys before and after are fixed.
    at_ends = [end is not None for end in motion.ends]
    held = {
        key: (
            bool(smooth[key - 1]) if key > 1 else at_ends[0],
            bool(smooth[key + 1]) if key < len(segments) - 1 else at_ends[1],
        )
        for key in keys
    }
    free = [key for key in keys if not still[key - 1] and not still[key]]
    if free:
        joined.update(zip(free, fit_through(motion, [joined[key] for key in free], [held[key] for key in free]), strict=True))
    from_rest = [key for key in keys if still[key - 1] and not still[key]]
    to_rest = [key for key in keys if still[key] and not still[key - 1]]
    gaps = []
    for key in from_rest:
        right = segments[key]
        gaps.append(Wanted(right.first, right.last, rest, right.shape[2] if held[key][1] else None))
    for key in to_rest:
        left = segments[key - 1]
        gaps.append(Wanted(left.first, left.last, left.shape[0] if held[key][0] else None, rest))
    fitted = iter(fit_segments(motion, gaps) if gaps else [])
    joined.update({key: (segments[key - 1], next(fitted)) for key in from_rest})
    joined.update({key: (next(fitted), segments[key]) for key in to_rest})
    return [joined[key] for key in keys]


def _breaks(motion: Motion, segments: list[Segment]) -> Array:
    """Break of a point's path at each inner key: its slope change over the shorter segment, as a fraction of the tolerance."""
    shapes = np.stack([segment.shape for segment in segments])
    keys: Indices = np.array([segments[0].first, *(segment.last for segment in segments)])
    change = shapes[1:, 0] - shapes[:-1, 2]
    squares = np.einsum("sk,spkl,sl->sp", change, motion.felt(keys[1:-1]), change)
    durations = np.diff(motion.times[keys])
    return np.sqrt(np.maximum(squares, 0.0)).max(axis=-1, initial=0.0) * np.minimum(durations[:-1], durations[1:])


STILL = 1e-6
"""Channel change in radians up to which a motion stands still: at rest, Blender's single precision adds noise of about 4e-7. A
millionth of a radian is a thousandth of a millimetre at the end of a leg."""


def still_spans(values: Array, candidates: Indices, drift: Drift, tolerance: Array) -> Indices:
    """Find spans `(S, 2)` of samples, [first, last], both among `candidates`, in which all `values : (N, K)` stand still.

    Within a span no channel deviates by more than `STILL` from the first sample, so a slow drift does not count as rest, and
    holding the first sample's values keeps the drift within `tolerance : (N,)`. A span contains at least two candidates.
    """
    resting = np.zeros(len(values) + 1, dtype=bool)
    for part in portions(len(values) - 1):
        changes = np.abs(np.diff(values[part.start : part.stop + 1], axis=0)).max(axis=1, initial=0.0)
        resting[part.start + 1 : part.stop + 1] = changes <= STILL
    edges = np.diff(resting.astype(np.int8))
    spans = []
    for first, last in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        keys = candidates[(candidates >= first) & (candidates <= last)]
        if len(keys) <= 1:
            continue
        span = np.arange(keys[0], keys[-1] + 1)
        rest = np.repeat(values[keys[:1]], len(span), axis=0)
        most = np.abs(values[span] - rest).max()
        if most == 0.0 or (most <= STILL and np.all(drift(rest, span) <= tolerance[span, None])):
            spans.append((keys[0], keys[-1]))
    return np.array(spans, dtype=np.intp).reshape(-1, 2)


def held_still(count: int, spans: Indices) -> Indices:
    """For each of `count` samples, the index `(N,)` of the sample whose values it takes: in a span its first, else itself."""
    held = np.arange(count, dtype=np.int32)
    for first, last in spans:
        held[first : last + 1] = first
    return held


USED_TOLERANCE = 0.97
"""Fraction of the tolerance that is used: the rest is for Blender's rounding to single precision and for peaks of the drift
between the points where it is measured."""

PIECE = 200
"""Number of possible keys in a piece of a long motion; each piece may cost one extra key."""

SAME_FRAME = 0.005
"""Distance in frames up to which a frame and a sample are the same: Blender merges keys nearer than 0.01."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduced keys of all channels of one chain, with their drift."""

    frames: Array
    """`(M,)` frames of the keys, increasing; the first and the last are the motion's own."""
    values: Array
    """`(M, K)` values at the keys, exactly the motion's."""
    left: Array
    """`(M, K, 2)` left handles: frame, value."""
    right: Array
    """`(M, K, 2)` right handles: frame, value."""
    smooth: Mask
    """`(M, K)` whether the curve has the same slope on both sides of the key."""
    worst_drifts: Array
    """`(P,)` largest drift of each point, in world units, with the keys rounded as Blender stores them.

    Measured at the samples and halfway between them, where no key can lie.
    """

    @property
    def worst_drift(self) -> float:
        """Largest drift of any point, in world units."""
        return float(self.worst_drifts.max())

    def curve(self, channel: int) -> Keys:
        """The keys of one channel."""
        return Keys(self.frames, self.values[:, channel], self.left[:, channel], self.right[:, channel])


def reduce_keys(
    times: ArrayLike,
    values: ArrayLike,
    drift: Drift,
    tolerance: ArrayLike,
    *,
    key_frames: ArrayLike | None = None,
    required: ArrayLike = (),
    preferred: ArrayLike = (),
    ends: tuple[Array, Array] | None = None,
) -> Reduction:
    """Reduce a motion sampled at `times : (N,)` with channel `values : (N, K)` to few Bezier keys.

    times : increasing frames, at least 4 samples from one possible key to the next
    values : continuous (see `continuity`): Euler angles unwrapped, quaternions without sign changes
    drift : see `drift.Drift`; the only knowledge of the chain, which may measure several of its points
    tolerance : (N,) or one number, > 0, world units
    key_frames : frames that may become keys, among the times; by default all whole frames. The first and the last time are
        always keys.
    required : frames that must be keys, such as where contacts begin and end
    preferred : frames preferred as keys where that costs no extra key, such as the target's extremes; like `required`, among the
        times
    ends : required slopes (K,) of the channels, in value per frame, at the first and at the last key, as for a cycle without a
        kink at its seam (see `frames.seam_slopes`)

    Between the samples the drift is estimated (`with_halves`), so the tolerance holds at every sub-frame of motion that is smooth
    at the scale of the samples. Where nothing moves, the surrounding keys are equal and their handles flat. If even neighbouring
    `key_frames` are too far apart for the tolerance, samples between them become keys, if necessary all of them. A tolerance
    below single precision cannot be kept; `worst_drift` tells the actual drift.

    Raises `ValueError` if there is no sample, the times do not increase, or a frame is not among them.
    """
    times, values = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if len(times) == 0 or np.any(np.diff(times) <= 0.0):
        raise ValueError(f"Expected at least one time, rising, got {times}.")
    required, preferred = _samples(times, required), _samples(times, preferred)
    candidates = np.unique(np.concatenate([_candidates(times, key_frames), required, preferred]))
    drift = in_portions(drift)
    if len(times) == 1:
        handles = np.stack([np.broadcast_to(times[:, None], values.shape), values], axis=-1)
        smooth = np.ones(values.shape, dtype=bool)
        return Reduction(times, values, handles, handles, smooth, drift(values, np.zeros(1, dtype=np.intp))[0])

    tolerance = USED_TOLERANCE * np.broadcast_to(np.asarray(tolerance, dtype=float), times.shape)
    rests = still_spans(values, candidates, drift, tolerance)
    # With an extra sample between any two, so that no segment strays unnoticed between the samples.
    finer = np.broadcast_to(tolerance[0], FINER * len(times) - 1)
    if np.any(tolerance != tolerance[0]):
        finer = np.repeat(tolerance, FINER)[:-1]
        finer[1::FINER] = np.minimum(tolerance[:-1], tolerance[1:])
    fine_times, fine_values, fine_drift = with_halves(times, values, held_still(len(times), rests), drift)
    del values, tolerance  # of a long take, nothing is kept that is not needed
    motion = Motion(fine_times, fine_values, fine_drift, finer, feel(fine_values, fine_drift, finer), ends or (None, None))
    segments = _segments(motion, FINER * candidates, required=FINER * required, preferred=FINER * preferred, rests=FINER * rests)
    still = np.array([_within(FINER * rests, segment.first, segment.last) for segment in segments])
    return _reduction(motion, align(motion, segments, still))


def _samples(times: Array, frames: ArrayLike) -> Indices:
    """Indices of the samples at some frames; raises `ValueError` for a frame that is not among the times."""
    frames = np.unique(np.asarray(frames, dtype=float))
    samples = np.searchsorted(times, frames - SAME_FRAME)
    is_there = samples < len(times)
    is_there[is_there] = np.abs(times[samples[is_there]] - frames[is_there]) <= SAME_FRAME
    if not is_there.all():
        raise ValueError(f"Expected frames among the sampled times, got {frames[~is_there]}.")
    return samples


def _candidates(times: Array, key_frames: ArrayLike | None) -> Indices:
    """Samples that may become keys, always including the first and the last."""
    whole = times[np.abs(times - np.round(times)) <= SAME_FRAME]
    return np.union1d(_samples(times, whole if key_frames is None else key_frames), [0, len(times) - 1])


def _segments(motion: Motion, candidates: Indices, *, required: Indices, preferred: Indices, rests: Indices) -> list[Segment]:
    """Segments of the whole motion, flat where it rests; keys are samples among the `candidates`."""
    fixed = np.unique(np.concatenate([candidates[[0, -1]], required, rests.ravel()]))
    moving = [span for span in pairwise(fixed.tolist()) if not _within(rests, *span)]
    # A long motion is searched in pieces, all at once; cuts that turn out needless are taken out again below.
    cuts = np.array([cut for span in moving for cut in _cuts(span, candidates, preferred)], dtype=np.intp)
    spans = list(pairwise(np.unique(np.concatenate([fixed, cuts])).tolist()))
    moving = [span for span in spans if not _within(rests, *span)]
    searches = [chosen_segments(candidates[(candidates >= first) & (candidates <= last)], preferred) for first, last in moving]
    chosen = dict(zip(moving, together(motion, searches), strict=True))
    segments = [segment for span in spans for segment in chosen.get(span) or [still_segment(motion, *span)]]
    return _merge_cuts(motion, segments, set(cuts.tolist()) - set(preferred.tolist()))


def _merge_cuts(motion: Motion, segments: list[Segment], cuts: set[int]) -> list[Segment]:
    """Remove the keys at `cuts`, given as samples, where one good segment can replace the two around it."""
    while cuts:
        tried: list[int] = []
        for number in range(1, len(segments)):
            # Neighbouring cuts are tried in different rounds.
            if segments[number].first in cuts and (not tried or tried[-1] < number - 1):
                tried.append(number)
        cuts = cuts - {segments[number].first for number in tried}
        spans = [Wanted(segments[number - 1].first, segments[number].last) for number in tried]
        fitted = zip(tried, fit_segments(motion, spans) if spans else [], strict=True)
        good = {number: segment for number, segment in fitted if segment.good}
        kept = [(number, segment) for number, segment in enumerate(segments) if number + 1 not in good]
        segments = [good.get(number, segment) for number, segment in kept]
    return segments


def _cuts(span: tuple[int, int], candidates: Indices, preferred: Indices) -> list[int]:
    """Samples at which a long span is cut into pieces; preferred ones where there are some nearby."""
    first, last = np.searchsorted(candidates, span).tolist()
    cuts: list[int] = []
    for cut in np.linspace(first, last, max(1, (last - first) // PIECE) + 1)[1:-1].astype(int):
        near = candidates[[cut - PIECE // 4, cut + PIECE // 4]]
        nearby = preferred[(preferred >= near[0]) & (preferred <= near[1])]
        cuts.append(int(nearby[np.argmin(np.abs(nearby - candidates[cut]))] if len(nearby) else candidates[cut]))
    return cuts


def _within(spans: Indices, first: int, last: int) -> bool:
    return bool(np.any((spans[:, 0] <= first) & (last <= spans[:, 1])))


def _reduction(motion: Motion, segments: list[Segment]) -> Reduction:
    keys = np.array([segments[0].first, *(segment.last for segment in segments)])
    frames, values = motion.times[keys], motion.values[keys]
    shapes = np.stack([segment.shape for segment in segments])
    duration = np.diff(frames)[:, None]
    forward, backward = shapes[:, 1] * duration, shapes[:, 3] * duration
    # The outer handles of the end keys mirror the inner ones, so that curves joined there can be smooth.
    before, after = np.append(shapes[:1, 0], shapes[:, 2], axis=0), np.append(shapes[:, 0], shapes[-1:, 2], axis=0)
    left = _handles(frames, values, before, -np.append(forward[:1], backward, axis=0))
    right = _handles(frames, values, after, np.append(forward, backward[-1:], axis=0))
    reduction = Reduction(frames, values, left, right, before == after, np.zeros(1))
    # The drift is that of the keys rounded to Blender's single precision, at all moments of the motion.
    stored = [
        Keys(*(array.astype(np.float32).astype(float) for array in (curve.frames, curve.values, curve.left, curve.right)))
        for curve in map(reduction.curve, range(values.shape[1]))
    ]
    moments, worst = np.arange(len(motion.times)), []
    for part in portions(len(moments)):
        rounded = np.stack([evaluate(curve, motion.times[part]) for curve in stored], axis=-1)
        worst.append(motion.drift(rounded, moments[part]).max(axis=0))
    return replace(reduction, worst_drifts=np.max(worst, axis=0))


def _handles(frames: Array, values: Array, slopes: Array, lengths: Array) -> Array:
    """Handles `(M, K, 2)` that extend `lengths : (M, K)` frames from their keys with `slopes : (M, K)`."""
    return np.stack([frames[:, None] + lengths, values + slopes * lengths], axis=-1)
