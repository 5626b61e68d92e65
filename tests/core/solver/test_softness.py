"""Soft reach: no pop at the limits, no overshoot, and exactly straight in the end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.solver.problems import any_lengths
from twobone_addon.core.solver import far_zone, near_zone, soften

CHAINS = [(1.0, 1.0), (1.0, 0.6), (0.3, 1.0), (1.0, 0.97), (0.02, 5.0)]
AMOUNTS = [0.02, 0.1, 0.5, 1.0]

RESOLVED = 1e-4
"""Step of the difference quotients, relative to the chain length.

A knee angle read from a distance is blurred by the root of rounding, 2e-8 radians near straight,
so smaller steps measure noise.
"""


def limits_of(lengths):
    return abs(lengths[0] - lengths[1]), sum(lengths)


def knee_angles(distances, lengths):
    """The textbook law of cosines: 0 straight, pi folded."""
    near, far = limits_of(lengths)
    return 2 * np.arctan2(np.sqrt(np.maximum(far**2 - distances**2, 0)), np.sqrt(np.maximum(distances**2 - near**2, 0)))


def slopes(distances, values):
    return np.diff(values) / np.diff(distances)


def slope_error(place, slope, step, lengths, amount):
    """The worst deviation from a slope over four steps around a place."""
    distances = place + step * np.arange(-2.0, 3.0)
    return np.abs(slopes(distances, soften(distances, lengths, amount, amount)) - slope).max()


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_value_and_slope_are_continuous_where_softening_begins_and_ends(lengths, amount):
    lengths = np.array(lengths)
    near, far = limits_of(lengths)
    far_side, near_side = far_zone(lengths, amount), near_zone(lengths, amount)
    for zone, limit in ((far_side, far), (near_side, near)):
        for place, value, slope in ((zone.start, zone.start, 1.0), (zone.end, limit, 0.0)):
            if place == 0:
                continue  # the root joint itself, where equal links fold: there is nothing beyond
            assert soften(place, lengths, amount, amount) == pytest.approx(value, abs=1e-14 * far)
            # A curved line with no kink looks ten times straighter through a ten times smaller window.
            coarse = slope_error(place, slope, 1e-5 * zone.travel, lengths, amount)
            fine = slope_error(place, slope, 1e-6 * zone.travel, lengths, amount)
            assert coarse < 0.01
            assert fine <= 0.11 * coarse + 1e-7


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_exactly_straight_from_a_known_distance_on_and_not_before(lengths, amount):
    lengths = np.array(lengths)
    far = lengths.sum()
    end = far_zone(lengths, amount).end
    assert far < end < 2 * far
    assert np.all(soften(end * np.array([1 + 1e-12, 1.5, 100.0, np.inf]), lengths, amount) == far)
    assert np.all(soften(end - far * np.array([1e-3, 1e-2]), lengths, amount) < far)


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_exactly_folded_from_a_known_distance_on_and_not_before(lengths, amount):
    lengths = np.array(lengths)
    near = limits_of(lengths)[0]
    zone = near_zone(lengths, amount)
    assert 0 <= zone.end <= near
    assert np.all(soften(zone.end * np.array([1 - 1e-12, 0.5, 0.0]), lengths, 0.0, amount) == near)
    if near > 0:
        between = zone.end + (zone.start - zone.end) * np.array([0.1, 0.5])
        assert np.all(soften(between, lengths, 0.0, amount) > near)


def test_the_chain_is_straight_about_as_far_beyond_as_softening_begins_before():
    for amount in (0.01, 0.05, 0.1):
        beyond = far_zone(np.array([1.0, 1.0]), amount).end / 2 - 1
        assert beyond == pytest.approx(amount, rel=amount)


@pytest.mark.parametrize("lengths", CHAINS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_the_knee_never_turns_faster_than_stated(lengths, amount):
    lengths = np.array(lengths)
    far = lengths.sum()
    bound = max(1 / far_zone(lengths, amount).travel, 1 / near_zone(lengths, amount).travel)
    targets = np.arange(0.0, 2.2 * far, RESOLVED * far)
    knees = knee_angles(soften(targets, lengths, amount, amount), lengths)
    assert np.abs(slopes(targets, knees)).max() <= bound + 1e-3 / far


def test_without_softness_the_same_measurement_shows_the_pop():
    lengths = np.array([1.0, 1.0])
    targets = np.arange(0.0, 4.4, 2 * RESOLVED)
    hard = np.abs(slopes(targets, knee_angles(soften(targets, lengths, 0.0), lengths))).max()
    soft = np.abs(slopes(targets, knee_angles(soften(targets, lengths, 0.1), lengths))).max()
    assert hard > 20 * soft


@pytest.mark.parametrize("lengths", CHAINS)
def test_the_knee_turns_at_one_speed_while_it_is_softened(lengths):
    lengths = np.array(lengths)
    zone = far_zone(lengths, 0.1)
    targets = np.linspace(zone.start, zone.end, 50)
    speeds = slopes(targets, knee_angles(soften(targets, lengths, 0.1), lengths))
    assert speeds[:-1] == pytest.approx(np.full(48, -1 / zone.travel), rel=1e-5)


def test_spines_parabola_is_nearly_the_same_curve_and_no_gentler():
    lengths = np.array([1.0, 1.0])
    softness, far = 0.05, 2.0
    zone = far_zone(lengths, softness)
    targets = np.linspace(zone.start, far * (1 + softness), 1001)
    passed = (targets - zone.start) / (2 * softness * far)
    parabola = zone.start + softness * far * (1 - (1 - passed) ** 2)
    assert np.abs(parabola - soften(targets, lengths, softness)).max() < 0.02 * softness * far
    assert np.abs(slopes(targets, knee_angles(parabola, lengths))).max() > (1 - 1e-3) / zone.travel


def random_cases(rng, count):
    lengths = any_lengths(rng, count)
    amounts = rng.uniform(0, 1, (2, count)) * rng.integers(0, 2, (2, count))
    return lengths, amounts, rng.uniform(0, 1.5, count) * lengths.sum(axis=-1)


def test_the_tip_never_passes_the_target_in_a_million_cases(rng):
    lengths, (softness, softness_near), distances = random_cases(rng, 1_000_000)
    softened = soften(distances, lengths, softness, softness_near)
    near, far = np.abs(lengths[:, 0] - lengths[:, 1]), lengths.sum(axis=-1)
    parting = np.sqrt(near) * np.sqrt(far)
    assert np.all((near <= softened) & (softened <= far))
    assert np.all(softened[distances >= parting] <= distances[distances >= parting])
    assert np.all(softened[distances <= parting] >= distances[distances <= parting])


def test_rounding_where_softening_begins_does_not_let_the_tip_pass_either(rng):
    lengths, (softness, softness_near), _ = random_cases(rng, 200_000)
    for place in (far_zone(lengths, softness).start, near_zone(lengths, softness_near).start):
        parting = np.sqrt(np.abs(lengths[:, 0] - lengths[:, 1])) * np.sqrt(lengths.sum(axis=-1))
        distances = place * (1 + rng.integers(-3, 4, 200_000) * np.finfo(float).eps)
        inside = (distances > np.abs(lengths[:, 0] - lengths[:, 1])) & (distances < lengths.sum(axis=-1))
        softened = soften(distances, lengths, softness, softness_near)
        outer = inside & (distances > parting) & (distances > near_zone(lengths, softness_near).start)
        inner = inside & (distances < parting) & (distances < far_zone(lengths, softness).start)
        assert np.all(softened[outer] <= distances[outer])
        assert np.all(softened[inner] >= distances[inner])


def test_between_the_zones_nothing_changes(rng):
    lengths, (softness, softness_near), distances = random_cases(rng, 100_000)
    between = (distances >= near_zone(lengths, softness_near).start) & (distances <= far_zone(lengths, softness).start)
    assert between.sum() > 1000
    assert np.array_equal(soften(distances, lengths, softness, softness_near)[between], distances[between])


@pytest.mark.parametrize("lengths", [(1.0, 0.4), (0.3, 1.0)])
@pytest.mark.parametrize("amount", [0.02, 0.1])
def test_softening_begins_that_part_of_the_whole_length_away_from_either_limit(lengths, amount):
    near, far = limits_of(lengths)
    beside = 1e-6 * far
    for limit, inwards in ((far, -1.0), (near, 1.0)):
        begin = limit + inwards * amount * far
        before, after = begin + inwards * beside, begin - inwards * 100 * beside
        assert soften(before, np.array(lengths), amount, amount) == before
        assert soften(after, np.array(lengths), amount, amount) != after


@given(
    lengths=st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)),
    softness=st.floats(0, 1),
    softness_near=st.floats(0, 1),
)
def test_a_target_that_moves_out_never_pulls_the_tip_in(lengths, softness, softness_near):
    lengths = np.array(lengths)
    targets = np.linspace(0, 2.5, 400) * lengths.sum()
    softened = soften(targets, lengths, softness, softness_near)
    assert np.all(np.diff(softened) >= -1e-15 * lengths.sum())
    assert np.all(np.diff(softened) <= np.diff(targets) * (1 + 1e-6) + 1e-12)


def test_amounts_that_overlap_meet_where_the_knee_turns_slowest():
    lengths = np.array([1.0, 0.6])
    far, near = far_zone(lengths, 1.0), near_zone(lengths, 1.0)
    assert far.start == near.start == pytest.approx(np.sqrt(0.4 * 1.6))


def test_equal_links_fold_without_softening():
    distances = np.linspace(0, 1, 11)
    assert np.array_equal(soften(distances, np.array([1.0, 1.0]), 0.0, 0.7), distances)


@pytest.mark.parametrize("lengths", [(0, 0), (1, 0), (0, 1)])
def test_chains_that_are_no_triangle_just_have_their_length(lengths):
    lengths = np.array(lengths, dtype=float)
    assert np.array_equal(soften(np.array([0.0, 0.5, 2.0]), lengths, 0.3, 0.3), np.full(3, lengths.sum()))
    assert far_zone(lengths, 0.3).end == near_zone(lengths, 0.3).end == lengths.sum()


def test_a_distance_that_is_no_number_stays_one():
    assert np.isnan(soften(np.array([np.nan]), np.array([1.0, 0.5]), 0.1, 0.1)[0])
