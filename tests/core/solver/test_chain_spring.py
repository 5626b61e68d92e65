"""All joints of a chain open and close by one common factor, and the tip is on its target all the same."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.core.solver.hind_leg import LEG, longest_step, tips_of, walking_leg
from twobone_addon.core.solver import Reach, ReachOptions, forward, solve_chain, solve_planar_chain

EXACT = 1e-9
REST = np.radians([-110.0, 45.0, -55.0])

bends = st.floats(0.5, 1.4) | st.floats(-1.4, -0.5)
chains = st.integers(3, 6).flatmap(
    lambda count: st.tuples(
        st.lists(st.floats(0.2, 1.0), min_size=count, max_size=count).map(np.array),
        st.lists(bends, min_size=count - 1, max_size=count - 1).map(lambda turns: np.array([0.3, *turns])),
    )
)


def factors_of(angles, base):
    """By what every joint's bend differs from that of `base`, (F, n - 1)."""
    return np.tan(0.5 * angles[:, 1:]) / np.tan(0.5 * base[1:])


def opened(base, factor):
    """A pose by the page's words: tangents of half the bends times a factor."""
    return np.concatenate([base[:1], 2.0 * np.arctan(factor * np.tan(0.5 * base[1:]))])


@settings(max_examples=60)
@given(chains, st.floats(0.05, 1.2), st.floats(-3.0, 3.0))
def test_a_pose_made_by_a_factor_comes_back_from_its_tip(chain, factor, heading):
    lengths, base = chain
    made = opened(base, factor)
    # Only while its ends still approach each other is there no straighter pose with the same distance.
    spans = [np.linalg.norm(forward(opened(base, part * factor), lengths)[-1]) for part in np.linspace(0.0, 1.0, 40)]
    assume(np.all(np.diff(spans) < 0.0))
    # And clearly so: beside the least distance two factors with the same one nearly meet.
    assume(np.linalg.norm(forward(opened(base, 0.999 * factor), lengths)[-1]) - spans[-1] > 1e-5 * lengths.sum())
    turned = made + np.array([heading, *np.zeros(len(base) - 1)])
    side = np.sign(base[1])
    solution = solve_chain(forward(turned[np.newaxis], lengths)[:, -1], lengths, start=base, bend=side, method="SPRING")
    np.testing.assert_allclose(solution.angles[0, 1:], turned[1:], atol=1e-5)
    assert solution.distances[0] <= EXACT * lengths.sum()


@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_a_hind_leg_opens_and_closes_all_its_joints_together(bend):
    walk = walking_leg()
    solution = solve_chain(tips_of(walk, LEG), LEG, start=REST, bend=bend, method="SPRING")
    factors = factors_of(solution.angles, bend * REST)
    assert np.all(solution.reach == Reach.REACHED)
    assert solution.distances.max() <= EXACT
    assert factors.min() > 0
    np.testing.assert_allclose(factors[:, 0], factors[:, 1], rtol=1e-9)
    assert longest_step(solution.angles[:, 1:]) <= 1.2 * longest_step(walk)


def test_from_the_pose_of_each_frame_a_target_on_the_tip_changes_nothing():
    walk = walking_leg()
    np.testing.assert_allclose(solve_chain(tips_of(walk, LEG), LEG, start=walk, method="SPRING").angles, walk, atol=1e-7)


@given(chains)
@settings(max_examples=40)
def test_every_target_in_the_ring_is_reached_and_those_beyond_are_pointed_at(chain):
    lengths, base = chain
    turn = np.linspace(0.0, 3.0, 40)
    reach = lengths.sum() * np.linspace(0.05, 1.3, 40)
    targets = reach[:, np.newaxis] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    options = ReachOptions()
    spring, default = (solve_planar_chain(targets, lengths, 1.0, options, start=base, method=name) for name in ("SPRING", "AUTO"))
    tips = forward(spring.angles, lengths)[:, -1]
    np.testing.assert_array_equal(spring.reach, default.reach)
    assert np.abs(tips - spring.goals).max() <= 1e-6 * lengths.sum()
    far = spring.reach == Reach.TOO_FAR
    ways = targets[far] / np.linalg.norm(targets[far], axis=-1, keepdims=True)
    on_the_way = np.concatenate([[0.0], np.cumsum(lengths)])[:, np.newaxis] * ways[:, np.newaxis]
    assert np.abs(forward(spring.angles[far], lengths) - on_the_way).max() <= 1e-6 * lengths.sum()


def test_a_joint_stays_on_its_limit_and_the_others_go_on():
    limits = np.array([[-np.inf, np.inf], [0.0, 1.0], [-np.pi, np.pi]])
    reach = np.linspace(0.95, 0.55, 60)
    targets = np.stack([reach, np.zeros(60)], axis=-1)
    solution = solve_chain(targets, LEG, start=REST, limits=limits, method="SPRING")
    on_limit = solution.angles[:, 1] >= 1.0 - 1e-9
    factors = factors_of(solution.angles, REST)
    assert np.all(solution.reach == Reach.REACHED)
    assert 0 < on_limit.sum() < 60
    np.testing.assert_allclose(factors[~on_limit, 0], factors[~on_limit, 1], rtol=1e-6)
    assert np.all(np.diff(solution.angles[:, 2]) < 0)


@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_a_straight_chain_bends_all_its_joints_alike(bend):
    solution = solve_chain(np.array([[0.6, 0.3]]), np.full(4, 0.25), bend=bend, method="SPRING")
    assert solution.angles[0, 1] * bend > 0
    np.testing.assert_allclose(solution.angles[0, 1:], solution.angles[0, 1], atol=1e-9)


def test_frames_without_numbers_and_chains_without_length_hold():
    targets = np.array([[0.5, 0.2], [np.nan, 0.0], [0.5, 0.3]])
    assert np.isfinite(solve_chain(targets, LEG, start=REST, method="SPRING").angles).all()
    assert np.isfinite(solve_chain(targets, np.zeros(3), start=REST, method="SPRING").angles).all()
    assert np.isfinite(solve_chain(targets, np.array([0.5, 0.0, 0.5]), start=REST, method="SPRING").angles).all()
