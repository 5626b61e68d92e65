"""What reducing a long motion holds in memory."""

import tracemalloc

import numpy as np

from twobone_addon.core.curves import fitting
from twobone_addon.core.curves.reduction import reduce_keys

MOST = 700
"""Bytes for a sample of eight channels, the motion itself not counted."""


def test_a_long_motion_is_held_once_while_its_keys_are_chosen():
    channels, times = np.arange(8), np.arange(8 * 2500 + 1) / 8
    own = np.sin(times[:, None] * (0.05 + 0.01 * channels) + channels)

    def drift(values, rows):
        return np.linalg.norm((values - own[rows])[:, :3], axis=-1)

    tracemalloc.start()
    try:
        reduce_keys(times, own.copy(), drift, 0.02)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < MOST * len(times)


def test_the_same_keys_come_out_however_few_fits_are_held_at_once(monkeypatch):
    times = np.arange(8 * 40 + 1) / 8
    own = np.sin(times[:, None] * [0.2, 0.31])

    def drift(values, rows):
        return np.linalg.norm(values - own[rows], axis=-1)

    together = reduce_keys(times, own.copy(), drift, 0.02)
    monkeypatch.setattr(fitting, "MOST_NUMBERS", 1)
    alone = reduce_keys(times, own.copy(), drift, 0.02)
    assert alone.frames.tolist() == together.frames.tolist()
    np.testing.assert_allclose(alone.values, together.values, rtol=0, atol=1e-9)
