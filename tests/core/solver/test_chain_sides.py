"""Zigzags, arcs and waves: every joint keeps the side it is bent to, whatever the whole chain's area says."""

import numpy as np
import pytest

from tests.core.solver.hind_leg import FRAMES, LEG, longest_step, tips_of, turn, walking_leg
from twobone_addon.core.solver import Reach, bend_sides, forward, solve_chain


def area(angles, lengths):
    u, v = np.moveaxis(forward(angles, lengths), -1, 0)
    return 0.5 * (u * np.roll(v, -1, axis=-1) - np.roll(u, -1, axis=-1) * v).sum(axis=-1)


def test_the_example_is_one_whose_area_tells_nothing():
    areas = area(walking_leg(), LEG)
    assert areas.min() < 0 < areas.max()


@pytest.mark.parametrize("bend", [1.0, -1.0])
@pytest.mark.parametrize("start", ["rest", "pose"])
def test_a_hind_leg_keeps_its_zigzag_and_never_jumps(start, bend):
    walk = walking_leg()
    given = walk if start == "pose" else np.radians([-110.0, 60.0, -65.0])
    solution = solve_chain(tips_of(walk, LEG), LEG, bend=bend, start=given)
    assert np.all(solution.reach == Reach.REACHED)
    assert np.all(solution.angles[:, 1] * bend > 0)
    assert np.all(solution.angles[:, 2] * bend < 0)
    assert longest_step(solution.angles[:, 1:]) <= 1.2 * longest_step(walk)
    assert longest_step(solution.angles) <= 0.2


def test_the_pose_that_is_on_its_target_stays_and_the_other_side_is_its_mirror_image():
    walk = walking_leg()
    kept, mirrored = (solve_chain(tips_of(walk, LEG), LEG, bend=bend, start=walk).angles for bend in (1.0, -1.0))
    np.testing.assert_allclose(kept, walk, atol=1e-6)
    np.testing.assert_allclose(mirrored[:, 1:], -walk[:, 1:], atol=1e-6)


@pytest.mark.parametrize("amplitude", [0.3, 0.8])
def test_a_wave_that_travels_along_a_tentacle_is_followed(amplitude):
    count = 8
    lengths = np.full(count, 1.0 / count)
    phase = 2.0 * np.pi * np.arange(count) / count
    wave = amplitude * np.sin(2.0 * turn[:, np.newaxis] + phase)
    solution = solve_chain(tips_of(wave, lengths), lengths, start=wave)
    np.testing.assert_allclose(np.diff(solution.angles, axis=0), np.diff(wave, axis=0), atol=1e-5)


@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_an_arc_that_straightens_and_bends_over_stays_on_the_asked_side(bend):
    lengths = np.full(4, 0.25)
    curl = np.linspace(-0.6, 0.6, FRAMES)[:, np.newaxis] * np.array([0.0, 1.0, 0.9, 1.1])
    solution = solve_chain(0.98 * tips_of(curl, lengths), lengths, bend=bend, start=curl)
    assert np.all(bend * area(solution.angles, lengths) > 0)


def test_of_two_links_every_frame_has_the_side_of_its_own_bend():
    bends = np.array([0.5, 0.1, -0.3, -0.001, 0.2, 0.0, -0.4])
    sides = bend_sides(np.sin(bends)[:, np.newaxis], np.ones((7, 1)))
    np.testing.assert_array_equal(sides, [1, 1, -1, -1, 1, 1, -1])


def test_a_straight_chain_that_trembles_has_the_side_it_had_and_leads_on_to_the_same():
    shape = np.array([0.9, -0.7])
    noise = 1e-6 * np.random.default_rng(7).normal(size=(20, 2))
    crosses = np.concatenate([[shape], noise, [0.5 * shape]])
    np.testing.assert_array_equal(bend_sides(crosses, np.ones(crosses.shape)), np.ones(22))


def test_a_chain_that_is_straight_throughout_has_the_positive_side():
    np.testing.assert_array_equal(bend_sides(np.zeros((5, 3)), np.ones((5, 3))), np.ones(5))
    np.testing.assert_array_equal(bend_sides(np.zeros((5, 3)), np.zeros((5, 3))), np.ones(5))
    assert bend_sides(np.zeros((0, 3)), np.ones((0, 3))).shape == (0,)
