"""What reducing a long motion holds in memory."""

import tracemalloc

import numpy as np

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
