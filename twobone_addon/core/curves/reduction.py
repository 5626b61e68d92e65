"""The fewest Bezier keys that keep the joints within a tolerance of a motion, everywhere along it.

Every other key reducer bounds the error of each curve by itself. What is visible are the joints: a channel may stray where
another makes up for it, or where no joint feels it, and all channels of a chain are keyed on the same frames.

A long motion is reduced in pieces that meet at keys, all at the same time. Where nothing moves, as in contacts, reduced keys must
not let anything move either.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Indices, Mask
from .bezier import Keys, evaluate
from .drift import FINER, Drift, Motion, feel, in_portions, portions, with_halves
from .fitting import Segment, Wanted, fit_segments, still_segment, together
from .segments import align, chosen_segments

STILL = 1e-6
"""Channels that change by less than this (radians) stand still: a motion at rest, read from Blender's single precision,
trembles by about 4e-7. A millionth of a radian is a thousandth of a millimetre at the end of a leg."""


def still_spans(values: Array, candidates: Indices, drift: Drift, tolerance: Array) -> Indices:
    """Spans `(S, 2)` of samples, [first, last], both among `candidates`, in which all `values : (N, K)` stand still.

    Within a span no channel strays more than `STILL` from its first sample, so a slow creep is not taken for rest, nor
    does the tip leave its `tolerance : (N,)` by resting. A span holds at least two candidates.
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
    """Which of `count` samples each sample has the values of, `(N,)`: in a span those of its first one, else its own."""
    held = np.arange(count)
    for first, last in spans:
        held[first : last + 1] = first
    return held


USED_TOLERANCE = 0.97
"""Share of the tolerance that is used: the rest is for what Blender rounds to single precision and for peaks of the
drift between the places where it is measured."""

PIECE = 200
"""A piece of a long motion has so many possible keys; a shorter motion is one piece. Each piece may cost one key."""

SAME_FRAME = 0.005
"""A wanted frame and a sample nearer than this (frames) are the same: Blender merges keys nearer than 0.01."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduced keys of all channels of one chain, and what they cost."""

    frames: Array
    """`(M,)` frames of the keys, rising; the first and the last are those of the motion."""
    values: Array
    """`(M, K)` values at the keys: exactly the motion's."""
    left: Array
    """`(M, K, 2)` handles before the keys: frame, value."""
    right: Array
    """`(M, K, 2)` handles after the keys: frame, value."""
    smooth: Mask
    """`(M, K)` where the curve has one slope on both sides of the key."""
    worst_drifts: Array
    """`(P,)` largest drift of each point at the samples, in world units, with the keys rounded as Blender stores them."""

    @property
    def worst_drift(self) -> float:
        """The largest of them."""
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

    times : rising frames, at least 4 samples from one possible key to the next
    values : continuous (see `continuity`): Euler angles unwrapped, quaternions without sign changes
    drift : see `drift.Drift`; it alone knows the chain, and may measure several points of it
    tolerance : (N,) or one number, > 0, world units
    key_frames : frames that may become keys, among the times; by default the whole ones. The first and the last time
        always are keys.
    required : frames that must be keys, such as where contacts begin and end
    preferred : frames taken as keys where that costs none, such as the target's extremes; both among the times
    ends : slopes (K,), in value per frame, that the channels are to have at the first and at the last key, as where the
        motion goes on from its end to its start without a kink (see `frames.seam_slopes`)

    Between the samples the drift is estimated (`with_halves`), so the tolerance holds at every sub-frame for motion
    that is smooth at the scale of the samples. Where nothing moves, the keys around are equal and their handles flat.
    If even neighbouring `key_frames` are too far apart for the tolerance, samples between them become keys, up to all
    of them. A tolerance below what single precision can express is missed; `worst_drift` says by how much.

    Raises `ValueError` if there is no sample, the times do not rise, or a frame is not among them.
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
    # With a sample between any two, so that no segment strays unseen between the samples.
    finer = np.broadcast_to(tolerance[0], FINER * len(times) - 1)
    if np.any(tolerance != tolerance[0]):
        finer = np.repeat(tolerance, FINER)[:-1]
        finer[1::FINER] = np.minimum(tolerance[:-1], tolerance[1:])
    fine_times, fine_values, fine_drift = with_halves(times, values, held_still(len(times), rests), drift)
    del values, tolerance  # of a long take, nothing is kept that is not needed
    motion = Motion(fine_times, fine_values, fine_drift, finer, feel(fine_values, fine_drift, finer), ends or (None, None))
    segments = _segments(motion, FINER * candidates, (FINER * required, FINER * preferred), FINER * rests)
    still = np.array([_within(FINER * rests, segment.first, segment.last) for segment in segments])
    return _reduction(motion, align(motion, segments, still))


def _samples(times: Array, frames: ArrayLike) -> Indices:
    """The samples at some frames; `ValueError` for a frame that is not among the times."""
    frames = np.unique(np.asarray(frames, dtype=float))
    samples = np.searchsorted(times, frames - SAME_FRAME)
    found = samples < len(times)
    found[found] = np.abs(times[samples[found]] - frames[found]) <= SAME_FRAME
    if not found.all():
        raise ValueError(f"Expected frames among the sampled times, got {frames[~found]}.")
    return samples


def _candidates(times: Array, key_frames: ArrayLike | None) -> Indices:
    """Samples that may become keys, always with the first and the last."""
    whole = times[np.abs(times - np.round(times)) <= SAME_FRAME]
    return np.union1d(_samples(times, whole if key_frames is None else key_frames), [0, len(times) - 1])


def _segments(motion: Motion, candidates: Indices, wanted: tuple[Indices, Indices], rests: Indices) -> list[Segment]:
    """Segments over the whole motion, flat where it rests, with keys at the required of the `wanted` samples."""
    required, preferred = wanted
    fixed = np.unique(np.concatenate([candidates[[0, -1]], required, rests.ravel()]))
    moving = [span for span in pairwise(fixed.tolist()) if not _within(rests, *span)]
    cuts = np.array([cut for span in moving for cut in _cuts(span, candidates, preferred)], dtype=np.intp)
    spans = list(pairwise(np.unique(np.concatenate([fixed, cuts])).tolist()))
    moving = [span for span in spans if not _within(rests, *span)]
    searches = [chosen_segments(candidates[(candidates >= first) & (candidates <= last)], preferred) for first, last in moving]
    found = dict(zip(moving, together(motion, searches), strict=True))
    segments = [segment for span in spans for segment in found.get(span) or [still_segment(motion, *span)]]
    return _mended(motion, segments, set(cuts.tolist()) - set(preferred.tolist()))


def _mended(motion: Motion, segments: list[Segment], cuts: set[int]) -> list[Segment]:
    """The segments without keys at those of the `cuts`, samples, that one segment can do without."""
    while cuts:
        tried: list[int] = []
        for number in range(1, len(segments)):
            # Of neighbours one has its turn now, the other in the next round.
            if segments[number].first in cuts and (not tried or tried[-1] < number - 1):
                tried.append(number)
        cuts = cuts - {segments[number].first for number in tried}
        wanted = [Wanted(segments[number - 1].first, segments[number].last) for number in tried]
        found = zip(tried, fit_segments(motion, wanted) if wanted else [], strict=True)
        good = {number: segment for number, segment in found if segment.good}
        kept = [(number, segment) for number, segment in enumerate(segments) if number + 1 not in good]
        segments = [good.get(number, segment) for number, segment in kept]
    return segments


def _cuts(span: tuple[int, int], candidates: Indices, preferred: Indices) -> list[int]:
    """Samples at which a long span is cut into pieces: preferred ones, where there are some."""
    first, last = np.searchsorted(candidates, span).tolist()
    cuts: list[int] = []
    for place in np.linspace(first, last, max(1, (last - first) // PIECE) + 1)[1:-1].astype(int):
        near = candidates[[place - PIECE // 4, place + PIECE // 4]]
        wished = preferred[(preferred >= near[0]) & (preferred <= near[1])]
        cuts.append(int(wished[np.argmin(np.abs(wished - candidates[place]))] if len(wished) else candidates[place]))
    return cuts


def _within(spans: Indices, first: int, last: int) -> bool:
    return bool(np.any((spans[:, 0] <= first) & (last <= spans[:, 1])))


def _reduction(motion: Motion, segments: list[Segment]) -> Reduction:
    keys = np.array([segments[0].first, *(segment.last for segment in segments)])
    frames, values = motion.times[keys], motion.values[keys]
    shapes = np.stack([segment.shape for segment in segments])
    duration = np.diff(frames)[:, None]
    forward, backward = shapes[:, 1] * duration, shapes[:, 3] * duration
    # Outside the motion the end keys' handles mirror those inside, so that what is joined there can be smooth.
    before, after = np.append(shapes[:1, 0], shapes[:, 2], axis=0), np.append(shapes[:, 0], shapes[-1:, 2], axis=0)
    left = _handles(frames, values, before, -np.append(forward[:1], backward, axis=0))
    right = _handles(frames, values, after, np.append(forward, backward[-1:], axis=0))
    reduction = Reduction(frames, values, left, right, before == after, np.zeros(1))
    return replace(reduction, worst_drifts=_stored_drifts(motion, reduction))


def _handles(frames: Array, values: Array, slopes: Array, lengths: Array) -> Array:
    """Handles `(M, K, 2)` that reach `lengths : (M, K)` frames from their keys, along `slopes : (M, K)`."""
    return np.stack([frames[:, None] + lengths, values + slopes * lengths], axis=-1)


def _stored_drifts(motion: Motion, reduction: Reduction) -> Array:
    """The worst drift `(P,)` of each point at the samples, with all that Blender stores in its single precision."""
    stored = [
        Keys(*(array.astype(np.float32).astype(float) for array in (curve.frames, curve.values, curve.left, curve.right)))
        for curve in (reduction.curve(channel) for channel in range(reduction.values.shape[1]))
    ]
    given = np.arange(0, len(motion.times), FINER)
    worst = []
    for part in portions(len(given)):
        values = np.stack([evaluate(keys, motion.times[given[part]]) for keys in stored], axis=-1)
        worst.append(motion.drift(values, given[part]).max(axis=0))
    return np.max(worst, axis=0)
