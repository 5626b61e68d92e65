"""Feet in the air are lifted over what is in their way: far enough, no more than that, gently, and only where they are free."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from twobone_addon.core.planting.clearing import far_from, lifts

WINDOW, COUNT, HIGH = 16, 200, 0.12


def lifted(needs, *flights):
    """Lifts for the needs of single samples, by sample, while the foot is free in these flights."""
    wanted, free = np.zeros(COUNT), np.zeros(COUNT, bool)
    wanted[list(needs)] = list(needs.values())
    for first, end in flights:
        free[first:end] = True
    return lifts(wanted, free, WINDOW)


@given(
    arrays.arrays(float, 60, elements=st.sampled_from([-0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.05, HIGH])),
    st.lists(st.integers(1, 25), min_size=3, max_size=5),
)
def test_enough_is_enough(needs, lengths):
    free = np.resize(np.repeat(np.arange(len(lengths)) % 2 == 0, lengths), 60)
    found = lifts(needs, free, WINDOW)
    assert np.all(found[free] >= needs[free] - 1e-12)
    assert np.all(found[~free] == 0.0)
    assert np.all((found >= 0.0) & (found <= max(0.0, np.max(needs, where=free, initial=0.0)) + 1e-12))
    assert lifts(needs[::-1], free[::-1], WINDOW)[::-1] == pytest.approx(found, abs=1e-12)


def test_a_lift_comes_and_goes_within_the_window_and_gently():
    found = lifted({90: HIGH}, (40, 140))
    assert found[90] == pytest.approx(HIGH)
    around = np.abs(np.arange(COUNT) - 90) <= 1.5 * WINDOW
    assert not found[~around].any()
    assert np.count_nonzero(found) > WINDOW
    assert np.abs(np.diff(found)).max() < 4.0 * HIGH / WINDOW
    assert np.abs(np.diff(found, 2)).max() < 16.0 * HIGH / WINDOW**2


def test_every_flight_has_its_own_lift():
    found = lifted({80: HIGH, 150: 0.03}, (10, 50), (60, 100), (130, 170))
    assert not found[:60].any()
    assert found[60:100].max() == pytest.approx(HIGH)
    assert found[130:170].max() == pytest.approx(0.03)


def test_near_the_ground_a_lift_has_less_room_but_where_the_motion_begins_or_ends_it_has_all():
    landing = lifted({90: HIGH}, (50, 93))
    assert landing[90] == pytest.approx(HIGH)
    assert landing[93] == 0.0
    beginning, ending = lifted({3: HIGH}, (0, 60)), lifted({COUNT - 4: HIGH}, (140, COUNT))
    assert beginning[:10] == pytest.approx(HIGH)
    assert ending == pytest.approx(beginning[::-1], abs=1e-12)
    assert np.abs(np.diff(beginning)).max() < 4.0 * HIGH / WINDOW


@given(arrays.arrays(bool, st.integers(1, 60)))
def test_halfway_is_far(standing):
    places = np.flatnonzero(standing)
    for row, part in enumerate(far_from(standing, WINDOW)):
        nearest = min((abs(row - place) for place in places), default=WINDOW)
        assert part == pytest.approx(min(1.0, nearest / WINDOW))
