"""Handles made from the motion's own slope: the curve goes on as the motion did, and nothing shoots over."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.curves.bezier import Keys, evaluate
from twobone_addon.curves.handles import motion_slopes, smooth_handles


def curve(frames, values):
    left, right = smooth_handles(frames, values[:, None], motion_slopes(frames, values[:, None]))
    return Keys(np.asarray(frames, dtype=float), values, left[:, 0], right[:, 0])


@given(st.lists(st.floats(0.1, 9), min_size=2, max_size=8), st.floats(-2, 2), st.floats(-5, 5))
def test_a_straight_motion_stays_straight(spans, slope, start):
    frames = np.cumsum(spans)
    between = np.linspace(frames[0], frames[-1], 50)
    assert np.allclose(evaluate(curve(frames, start + slope * frames), between), start + slope * between)


def test_slopes_of_a_parabola_are_exact_also_at_the_ends_and_with_uneven_spacing():
    frames = np.array([0.0, 1.0, 1.5, 4.0, 4.2, 9.0])
    values = np.stack([frames**2 - 20 * frames, 3 * frames], axis=-1)
    assert np.allclose(motion_slopes(frames, values)[1:-1], np.stack([2 * frames - 20, np.full(6, 3.0)], axis=-1)[1:-1])
    even = np.arange(6.0)
    assert np.allclose(motion_slopes(even, (even**2 - 20 * even)[:, None])[:, 0], 2 * even - 20)


def test_a_keyed_sine_is_met_between_the_keys():
    frames = np.arange(0.0, 41.0)
    between = np.linspace(0, 40, 321)
    assert np.abs(evaluate(curve(frames, np.sin(frames / 5)), between) - np.sin(between / 5)).max() < 6e-3


@pytest.mark.parametrize("leaving", [1.0, -3.0])
def test_a_contact_stays_flat_to_its_last_frame(leaving):
    frames = np.arange(12.0)
    values = np.where(frames < 6, 2.0, 2.0 + leaving * (frames - 5))
    assert np.array_equal(evaluate(curve(frames, values), np.linspace(0, 5, 41)), np.full(41, 2.0))


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=12))
def test_between_keys_that_climb_the_curve_never_dips(steps):
    values = np.cumsum(np.abs(steps))
    frames = np.arange(float(len(values)))
    kinked = np.repeat(values, 2)[: len(values)]
    result = evaluate(curve(frames, kinked), np.linspace(0, len(values) - 1, 200))
    assert np.all(np.diff(result) >= -1e-9)


def test_few_keys_and_batches():
    left, right = smooth_handles([4.0], [[1.0, 2.0]], motion_slopes([4.0], [[1.0, 2.0]]))
    assert left.shape == right.shape == (1, 2, 2)
    assert left[0, 0, 0] < 4 < right[0, 0, 0]
    assert np.allclose(motion_slopes([0, 2], [[1.0], [5.0]]), 2.0)
    batch = np.random.default_rng(0).normal(size=(3, 7, 2))
    frames = np.cumsum([1, 2, 1, 1, 3, 1, 0.5])
    slopes = motion_slopes(frames, batch)
    assert np.array_equal(slopes[1], motion_slopes(frames, batch[1]))
    assert np.array_equal(smooth_handles(frames, batch, slopes)[0][2], smooth_handles(frames, batch[2], slopes[2])[0])
