"""Stretch: the tip stays on the target, the knee eases, and both bones grow by one number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.solver import far_zone, near_zone, soften, stretch_ratio

CHAIN = np.array([1.0, 0.6])
FAR, NEAR = 1.6, 0.4
fraction = st.floats(0, 1)


def test_beyond_full_reach_the_bones_grow_with_the_distance():
    ratio, reduced = stretch_ratio(np.array([1.0, 1.6, 2.4, 3.2]), CHAIN)
    assert ratio == pytest.approx([1, 1, 1.5, 2])
    assert reduced == pytest.approx([1, 1.6, 1.6, 1.6])


def test_below_the_start_nothing_changes():
    distances = np.linspace(NEAR, 0.8 * FAR, 20)
    ratio, reduced = stretch_ratio(distances, CHAIN, start=0.8)
    assert np.all(ratio == 1)
    assert np.array_equal(reduced, distances)


def test_from_the_start_on_the_bones_grow():
    distances = np.linspace(0.81 * FAR, 3, 20)
    ratio, reduced = stretch_ratio(distances, CHAIN, start=0.8)
    assert np.all(np.diff(ratio) > 0)
    assert ratio[0] > 1
    assert ratio * reduced == pytest.approx(distances)


def test_the_tip_stays_on_the_target_while_the_knee_eases():
    zone = far_zone(CHAIN, 0.2)
    distances = np.linspace(zone.start, 2 * zone.end, 50)
    ratio, reduced = stretch_ratio(distances, CHAIN, softness=0.2)
    assert ratio * reduced == pytest.approx(distances)
    assert np.array_equal(reduced, soften(distances, CHAIN, 0.2))


def test_the_chain_stretches_no_further_than_its_maximum():
    ratio, reduced = stretch_ratio(np.array([2.0, 2.4, 100.0]), CHAIN, maximum=1.5)
    assert ratio == pytest.approx([1.25, 1.5, 1.5])
    assert (ratio * reduced)[-1] == pytest.approx(1.5 * FAR)


def test_a_maximum_of_one_is_soft_reach():
    distances = np.linspace(0, 4, 100)
    ratio, reduced = stretch_ratio(distances, CHAIN, maximum=1, softness=0.3, softness_near=0.1)
    assert np.all(ratio == 1)
    assert np.array_equal(reduced, soften(distances, CHAIN, 0.3, 0.1))


def test_a_chain_that_may_shrink_follows_into_the_folded_limit():
    ratio, reduced = stretch_ratio(np.array([0.4, 0.3, 0.2, 0.1]), CHAIN, compress_min=0.5)
    assert ratio == pytest.approx([1, 0.75, 0.5, 0.5])
    assert reduced == pytest.approx(np.full(4, NEAR))


@given(
    softness=fraction,
    softness_near=fraction,
    start=fraction,
    compress_min=st.floats(0.01, 0.99),
    maximum=st.floats(1.01, 3),
)
def test_off_the_target_only_where_the_ratio_is_at_a_bound(softness, softness_near, start, compress_min, maximum):
    targets = np.linspace(0.01, 5, 300)
    ratio, reduced = stretch_ratio(
        targets,
        CHAIN,
        start=start,
        maximum=maximum,
        compress_min=compress_min,
        softness=softness,
        softness_near=softness_near,
    )
    tips = ratio * reduced
    longest, shortest = ratio == maximum, ratio == compress_min
    assert np.all((compress_min <= ratio) & (ratio <= maximum))
    assert np.allclose(tips[~longest & ~shortest], targets[~longest & ~shortest])
    assert np.all(tips[longest] <= targets[longest] * (1 + 1e-15))
    assert np.all(tips[shortest] >= targets[shortest] * (1 - 1e-15))


@given(softness=fraction, softness_near=fraction, start=fraction)
def test_no_jumps(softness, softness_near, start):
    distances = np.linspace(1e-3, 4, 40_001)
    ratio, reduced = stretch_ratio(
        distances, CHAIN, start=start, maximum=1.7, compress_min=0.3, softness=softness, softness_near=softness_near
    )
    assert np.abs(np.diff(reduced)).max() <= 1.001e-4
    assert np.abs(np.diff(ratio)).max() <= 1e-4 * 1.05 / NEAR


def test_with_softness_the_growth_begins_and_ends_without_a_kink():
    for place in (far_zone(CHAIN, 0.1).start, far_zone(CHAIN, 0.1).end, near_zone(CHAIN, 0.1).start):
        growth = []
        for step in (1e-5, 1e-6):
            ratio, _ = stretch_ratio(place + step * np.arange(-1, 2), CHAIN, compress_min=0.1, softness=0.1, softness_near=0.1)
            growth.append(abs(ratio[2] - 2 * ratio[1] + ratio[0]) / step)
        assert growth[0] < 1e-3
        assert growth[1] <= 0.11 * growth[0] + 1e-9


def test_a_target_on_the_root_joint_of_equal_links_scales_nothing():
    ratio, reduced = stretch_ratio(np.array([0.0]), np.array([1.0, 1.0]), compress_min=0.1)
    assert (ratio[0], reduced[0]) == (1, 0)


def test_a_distance_that_is_no_number_scales_nothing():
    ratio, _ = stretch_ratio(np.array([np.nan, np.inf]), CHAIN)
    assert np.all(ratio == 1)
