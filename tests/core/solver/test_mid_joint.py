"""The mid joint without angles is the mid joint with angles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.solver.problems import around, reachable_problems, tips
from twobone_addon.core.solver import mid_joint, solve_two_bone


def assert_agrees_with_the_angles(targets, lengths, bend):
    joints = mid_joint(targets, lengths, bend)
    expected = tips(solve_two_bone(targets, lengths, bend).angles, lengths)[..., 0, :]
    away = np.hypot(*np.moveaxis(joints - expected, -1, 0))
    assert np.max(away / np.sum(lengths, axis=-1)) <= 1e-12


def test_in_reach_at_any_scale_and_next_to_the_limits(rng):
    assert_agrees_with_the_angles(*reachable_problems(rng, 300_000))


def test_out_of_reach_on_both_sides(rng):
    targets, lengths, bend = reachable_problems(rng, 100_000)
    targets *= np.where(rng.uniform(size=100_000) < 0.5, 1e-3, 1e3)[:, np.newaxis]
    assert_agrees_with_the_angles(targets, lengths, bend)


@pytest.mark.parametrize("size", [1e-300, 1e-153, 1e-81, 1e-77, 1e77, 1e150])
def test_a_limb_of_any_size_has_the_same_shape(size):
    """A triangle of 3, 4 and 5: all its corners are whole numbers."""
    joints = mid_joint(np.array([[5.0, 0.0]]) * 2 * size, np.array([6.0, 8.0]) * size, [1.0]) / size
    assert joints[0] == pytest.approx([3.6, -4.8], rel=1e-12)


def test_both_links_have_their_lengths(rng):
    targets = around(rng.uniform(0.6, 3.4, 1000), rng.uniform(-np.pi, np.pi, 1000))
    joints = mid_joint(targets, [1.4, 2.0], rng.choice([-1.0, 1.0], 1000))
    assert np.allclose(np.hypot(joints[:, 0], joints[:, 1]), 1.4)
    assert np.allclose(np.hypot(*(targets - joints).T), 2.0)


def test_positive_bend_puts_the_joint_to_the_right_of_the_way_to_the_target():
    assert mid_joint([[1.0, 0.0]], [1, 1], 1)[0] == pytest.approx([0.5, -np.sqrt(0.75)])
    assert mid_joint([[1.0, 0.0]], [1, 1], -1)[0] == pytest.approx([0.5, np.sqrt(0.75)])


def test_where_the_pose_is_free_it_is_held():
    targets = np.array([[np.nan, 0.0], [1.0, 0.5], [0.0, 0.0], [np.inf, 1.0]])
    assert_agrees_with_the_angles(targets[1:], np.array([1.0, 1.0]), 1)
    assert np.isfinite(mid_joint(targets, [1, 1], 1)).all()


number = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(number, number), min_size=1, max_size=4), st.tuples(st.floats(0, 1e60), st.floats(0, 1e60)))
def test_whatever_comes_in_numbers_come_out(targets, lengths):
    assert np.isfinite(mid_joint(targets, lengths, 1)).all()
