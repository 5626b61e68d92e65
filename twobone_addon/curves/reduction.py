"""The fewest Bezier keys that keep the tip within a tolerance of a motion, everywhere along it.

Every other key reducer bounds the error of each curve by itself. What is seen is the tip: a channel may stray where
another makes up for it, or where the tip does not feel it, and a channel that need not move has two keys.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Mask
from .alignment import align, slopes
from .bezier import Keys, evaluate
from .drift import FINER, Motion, Tips, farthest, with_halves
from .indices import Indices
from .segments import Pieces
from .settling import settle
from .sharing import Choice, Sharing
from .still import held_still, still_spans, with_steady_channels

# Share of the tolerance that is used: the rest is for what Blender rounds to single precision and for peaks of the
# drift between the places where it is measured.
USED_TOLERANCE = 0.97

# A wanted frame and a sample nearer than this (frames) are the same: Blender merges keys nearer than 0.01.
SAME_FRAME = 0.005


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduced keys of all channels of one chain, and what they cost."""

    curves: tuple[Keys, ...]
    """The keys of each of the K channels. The first and the last frame are those of the motion, the values exactly its."""
    smooth: tuple[Mask, ...]
    """Of each channel, which keys have both handles on one line, so that their type can be ALIGNED (else FREE)."""
    worst_drift: float
    """Largest drift of the tip at the samples, in world units, with the keys rounded as Blender stores them."""
    keys_before: int
    """Keys a channel would have without reduction: one at each frame that could be a key."""

    @property
    def frames(self) -> Array:
        """(M,) frames on which a channel has a key, rising."""
        return np.unique(np.concatenate([keys.frames for keys in self.curves]))

    @property
    def keys_after(self) -> int:
        """Keys of all channels together."""
        return sum(len(keys.frames) for keys in self.curves)


def reduce_keys(
    times: ArrayLike,
    values: ArrayLike,
    tips: Tips,
    tolerance: ArrayLike,
    *,
    key_frames: ArrayLike | None = None,
    required: ArrayLike = (),
    preferred: ArrayLike = (),
) -> Reduction:
    """Reduce a motion sampled at `times : (N,)` with channel `values : (N, K)` to few Bezier keys.

    times : rising frames, at least 4 samples from one possible key to the next
    values : continuous (see `continuity`): Euler angles unwrapped, quaternions without sign changes
    tips : see `drift.Tips`; it alone knows the chain, so it may also show the mid joint
    tolerance : (N,) or one number, > 0, world units
    key_frames : frames that may become keys, among the times; by default the whole ones. The first and the last time
        always are keys.
    required : frames that must be keys of all channels, such as where contacts begin and end
    preferred : frames taken as keys where that costs none, such as the target's extremes; both among the times

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
    if len(times) == 1:
        return _single_key(times, values)
    given = Motion(times, values, tips, USED_TOLERANCE * np.broadcast_to(np.asarray(tolerance, dtype=float), times.shape))
    rests = still_spans(given, candidates)
    given = with_steady_channels(replace(given, values=held_still(values, rests)))
    fixed = np.unique(np.concatenate([candidates[[0, -1]], required, rests.ravel()]))
    sharing = Sharing(_refined(given), Choice(FINER * candidates, FINER * fixed, FINER * rests))
    sharing.choose()
    settle(sharing, FINER * preferred)
    smooth = align(sharing)
    return _reduction(given, sharing, smooth, len(candidates))


def _refined(motion: Motion) -> Motion:
    """The motion with a sample between any two, so that no segment strays unseen between the samples."""
    finer = np.repeat(motion.tolerance, FINER)[:-1]
    finer[1::FINER] = np.minimum(motion.tolerance[:-1], motion.tolerance[1:])
    return Motion(*with_halves(motion.times, motion.values, motion.tips), finer)


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


def _reduction(given: Motion, sharing: Sharing, smooth: list[Mask], keys_before: int) -> Reduction:
    motion = sharing.motion
    curves = tuple(_keys(pieces, motion.times, values) for pieces, values in zip(sharing.pieces, motion.values.T, strict=True))
    return Reduction(curves, tuple(smooth), _stored_drift(given, curves), keys_before)


def _keys(pieces: Pieces, times: Array, values: Array) -> Keys:
    """One channel's keys. Outside the motion the end keys' handles mirror those inside, so that what joins can be smooth."""
    frames, places = times[pieces.keys], values[pieces.keys]
    duration = np.diff(frames)
    slope = slopes(pieces, times, values)
    forward, backward = pieces.shapes[:, 1] * duration, (1.0 - pieces.shapes[:, 3]) * duration
    forward, backward = np.append(forward, backward[-1:]), np.append(forward[:1], backward)
    after, before = np.append(slope[:, 0], slope[-1:, 1]), np.append(slope[:1, 0], slope[:, 1])
    left = np.stack([frames - backward, places - before * backward], axis=-1)
    right = np.stack([frames + forward, places + after * forward], axis=-1)
    return Keys(frames, places, left, right)


def _single_key(times: Array, values: Array) -> Reduction:
    handles = np.stack([np.broadcast_to(times[:, None], values.shape), values], axis=-1)
    curves = tuple(Keys(times, values[:, k], handles[:, k], handles[:, k]) for k in range(values.shape[1]))
    return Reduction(curves, (np.array([True]),) * len(curves), 0.0, 1)


def _stored_drift(motion: Motion, curves: tuple[Keys, ...]) -> float:
    """The worst drift at the samples when frames, values and handles are rounded to Blender's single precision."""
    stored = [
        Keys(*(array.astype(np.float32).astype(float) for array in (curve.frames, curve.values, curve.left, curve.right)))
        for curve in curves
    ]
    values = np.stack([evaluate(keys, motion.times) for keys in stored], axis=-1)
    indices = np.arange(len(motion.times))
    return float(farthest(motion.tips(values, indices) - motion.tips(motion.values, indices)).max())
