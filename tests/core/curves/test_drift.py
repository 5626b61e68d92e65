"""Values halfway between samples, as good as a cubic, and no worse beside a corner."""

import itertools

import numpy as np
import pytest

from twobone_addon.core.curves.drift import MOST_AT_ONCE, halfway


def cubics(times):
    """Two channels of third degree."""
    return np.stack([times**3 - 2.0 * times, 1.0 - times + 0.3 * times**2], axis=-1)


@pytest.mark.parametrize("count", [4, 5, 6, 9, MOST_AT_ONCE + 2, 2 * MOST_AT_ONCE + 7])
def test_halfway_along_a_cubic_is_on_it(count):
    times = np.linspace(-1.0, 2.0, count)
    assert halfway(cubics(times), np.arange(len(times))) == pytest.approx(cubics(0.5 * (times[:-1] + times[1:])))


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_between_few_samples_it_is_their_mean(count):
    values = np.random.default_rng(2).normal(size=(count, 2))
    means = [(first + second) / 2.0 for first, second in itertools.pairwise(values)]
    assert halfway(values, np.arange(count)) == pytest.approx(np.reshape(means, (max(count - 1, 0), 2)))


@pytest.mark.parametrize("corner", [3, 4, 8, 9])
def test_a_corner_spoils_nothing_at_either_side(corner):
    times = np.arange(13.0) - corner
    middles = 0.5 * (times[:-1] + times[1:])
    found = halfway(np.where(times < 0.0, 2.0 * times, -(times**2))[:, np.newaxis], np.arange(len(times)))[:, 0]
    assert found == pytest.approx(np.where(middles < 0.0, 2.0 * middles, -(middles**2)))
