"""Motions for the tests of key reduction: planar two-link arms, their forward kinematics, and what drifts."""

import numpy as np

LENGTHS = np.array([1.0, 0.9])
SAMPLES = 4
SUB_FRAMES = 8


def tips(angles, lengths=LENGTHS):
    """Where two planar links put the tip: angles (..., 2), the second relative to the first."""
    directions = np.cumsum(angles, axis=-1)
    return np.stack([np.cos(directions) @ lengths, np.sin(directions) @ lengths], axis=-1)


def drift_from(reference, lengths=LENGTHS):
    """The drift callable of a motion whose channels are the two angles."""
    right = tips(reference, lengths)
    return lambda values, indices: np.linalg.norm(tips(values, lengths) - right[indices], axis=-1)


def angles_towards(targets, lengths=LENGTHS):
    """Law-of-cosines angles (N, 2) for reachable targets (N, 2)."""
    distances = np.linalg.norm(targets, axis=-1)
    cosine = (distances**2 - lengths @ lengths) / (2 * lengths.prod())
    second = np.arccos(np.clip(cosine, -1, 1))
    first = np.arctan2(targets[:, 1], targets[:, 0]) - np.arctan2(
        lengths[1] * np.sin(second), lengths[0] + lengths[1] * np.cos(second)
    )
    return np.stack([np.unwrap(first), second], axis=-1)


def circle(times):
    return np.stack([0.2 + 0.5 * np.cos(times / 8), -1.2 + 0.5 * np.sin(times / 8)], axis=-1)


def figure_eight(times):
    return np.stack([0.6 * np.sin(times / 10), -1.1 + 0.4 * np.sin(times / 5)], axis=-1)


def noise(times):
    """A shaking target: many sines without a common period."""
    rng = np.random.default_rng(2)
    speeds, phases = rng.uniform(0.05, 0.7, (2, 9)), rng.uniform(0, 6, (2, 9))
    return np.array([0.1, -1.1]) + 0.06 * np.sin(times[:, None, None] * speeds + phases).sum(axis=-1)


def square(times):
    """Along the sides of a square, twenty frames each: corners in the path and in speed."""
    corners = np.array([[-0.5, -1.5], [0.5, -1.5], [0.5, -0.7], [-0.5, -0.7], [-0.5, -1.5]])
    place = (times / 20) % 4
    return np.stack([np.interp(place, np.arange(5), corners[:, axis]) for axis in range(2)], axis=-1)


def steps(times):
    """A foot: sixteen frames on the ground, sixteen in the air."""
    step, phase = np.divmod(times / 32, 1)
    swing = np.clip(2 * phase - 1, 0, 1)
    stride = swing**2 * (3 - 2 * swing)
    side = 0.5 * (step % 2) - 0.25
    return np.stack([side * (1 - 2 * stride), -1.6 + 0.3 * np.sin(np.pi * swing) ** 2], axis=-1)


TARGETS = (circle, figure_eight, noise, square, steps)


def smooth_keys(result):
    """Which keys `(M,)` have both handles on one line, in all channels."""
    points = np.stack(np.broadcast_arrays(result.frames[:, None], result.values), axis=-1)
    before, after = points - result.left, result.right - points
    return np.all(np.abs(before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0]) <= 1e-9, axis=1)
