"""Problems for the solver's tests, and forward kinematics that share nothing with the solver's own."""

import numpy as np


def tips(angles, lengths):
    """The mid joint and the tip, by turning complex numbers in extended precision: (..., 2, 2)."""
    lengths = np.broadcast_to(lengths, angles.shape).astype(np.longdouble)
    first = np.asarray(angles[..., 0], dtype=np.longdouble)
    both = first + np.asarray(angles[..., 1], dtype=np.longdouble)
    mid = lengths[..., 0] * np.exp(1j * first)
    tip = mid + lengths[..., 1] * np.exp(1j * both)
    return np.stack([np.stack([joint.real, joint.imag], axis=-1) for joint in (mid, tip)], axis=-2)


def tip_errors(angles, lengths, targets):
    """How far the tip is from the target, relative to the chain length: (...)."""
    away = tips(angles, lengths)[..., 1, :] - targets
    return np.hypot(away[..., 0], away[..., 1]) / np.sum(lengths, axis=-1)


def around(distances, directions):
    """Points at these distances in these directions: (..., 2)."""
    return np.stack([distances * np.cos(directions), distances * np.sin(directions)], axis=-1)


def any_lengths(random, count):
    """Pairs of lengths, each over twelve orders of magnitude: (count, 2)."""
    return 10.0 ** random.uniform(-6, 6, (count, 2))


def reachable_distances(random, lengths):
    """Distances inside the ring, half of them within 1e-9 of the chain length from a limit: (count,)."""
    far, near = lengths.sum(axis=-1), np.abs(lengths[:, 0] - lengths[:, 1])
    count = len(lengths)
    anywhere = near + (far - near) * random.uniform(0, 1, count)
    place = random.integers(0, 4, count)
    distances = np.where(place == 0, far * (1 - 1e-9), anywhere)
    distances = np.where(place == 1, near + 1e-9 * far, distances)
    return np.clip(distances, near, far)


def reachable_problems(random, count):
    """Lengths, targets in every direction, and bends."""
    lengths = any_lengths(random, count)
    targets = around(reachable_distances(random, lengths), random.uniform(-np.pi, np.pi, count))
    return targets, lengths, random.choice([-1.0, 1.0], count)
