"""The closest tip within joint limits by trying: a fine grid over the box, then ever smaller ones around the best."""

import numpy as np

GRID = 40
"""Poses per angle of the first grid."""

STARTS = 4
"""Best places of the first grid that are looked at closer, since the very best may be beside a worse dip."""

POLISH_GRID = 7
SHRINK = 0.7
ROUNDS = 85
"""0.7 to the 85th is 7e-14 of the first step."""


def closest_gaps(targets, lengths, limits, rest_direction):
    """The smallest distance of a tip from its target within each box: (N,)."""
    targets, lengths = np.asarray(targets), np.asarray(lengths)
    low, high = limits[:, 0::2], limits[:, 1::2]
    fractions = np.stack(np.meshgrid(*[np.linspace(0, 1, GRID)] * 2), axis=-1).reshape(1, -1, 2)
    poses = low[:, np.newaxis] + (high - low)[:, np.newaxis] * fractions
    gaps = _gaps(poses, targets, lengths, rest_direction)
    starts = np.argpartition(gaps, STARTS, axis=1)[:, :STARTS]
    best = np.stack([_polish(poses, gaps, start, (targets, lengths, rest_direction), (low, high)) for start in starts.T])
    return best.min(axis=0)


def _polish(poses, gaps, start, problem, box):
    rows = np.arange(len(start))
    low, high = (side[:, np.newaxis] for side in box)
    pose, gap = poses[rows, start], gaps[rows, start]
    step = (box[1] - box[0]) / GRID
    offsets = np.stack(np.meshgrid(*[np.linspace(-1, 1, POLISH_GRID)] * 2), axis=-1).reshape(1, -1, 2)
    for _ in range(ROUNDS):
        nearby = np.clip(pose[:, np.newaxis] + step[:, np.newaxis] * offsets, low, high)
        nearby_gaps = _gaps(nearby, *problem)
        index = nearby_gaps.argmin(axis=1)
        pose, gap = nearby[rows, index], np.minimum(gap, nearby_gaps[rows, index])
        step = step * SHRINK
    return gap


def _gaps(poses, targets, lengths, rest_direction):
    first = poses[..., 0] + rest_direction[:, np.newaxis]
    tips = lengths[:, :1] * np.exp(1j * first) + lengths[:, 1:] * np.exp(1j * (first + poses[..., 1]))
    return np.abs(tips - (targets[:, :1] + 1j * targets[:, 1:]))


def random_problems(random, count):
    """Targets in and out of reach, lengths, boxes of any width (also none, also over a turn), rest directions, bends."""
    lengths = random.uniform(0.1, 2, (count, 2))
    targets = random.normal(0, 0.6, (count, 2)) * lengths.sum(axis=-1, keepdims=True)
    low = random.uniform(-7, 7, (count, 2))
    widths = random.choice([0, 0.3, 1, 3, 6.5, 10], (count, 2)) * random.uniform(0, 1, (count, 2))
    limits = np.stack([low[:, 0], low[:, 0] + widths[:, 0], low[:, 1], low[:, 1] + widths[:, 1]], axis=-1)
    return targets, lengths, limits, random.uniform(-4, 4, count), random.choice([-1.0, 1.0], count)
