"""Two links and a target: the tip is on it, at any scale, in every quadrant, right up to both limits."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.core.solver.problems import around, reachable_problems, tip_errors, tips
from twobone_addon.core.solver import Reach, solve_two_bone

EXACT = 1e-12
"""The promise, relative to the chain length."""

MILLION = 1_000_000

POSITIVE, NEGATIVE = 1, -1
ROOT_3 = np.sqrt(3)


# Triangles that can be solved with a pencil: right-angled, equilateral, half of one, straight, folded.
@pytest.mark.parametrize(
    "lengths, target, bend, degrees",
    [
        ((3, 4), (5, 0), POSITIVE, (-53.130102, 90)),
        ((3, 4), (5, 0), NEGATIVE, (53.130102, -90)),
        ((3, 4), (0, 5), POSITIVE, (36.869898, 90)),
        ((3, 4), (-5, 0), POSITIVE, (126.869898, 90)),
        ((3, 4), (0, -5), POSITIVE, (-143.130102, 90)),
        ((4, 3), (5, 0), POSITIVE, (-36.869898, 90)),
        ((1, 1), (1, 1), POSITIVE, (0, 90)),
        ((1, 1), (1, 1), NEGATIVE, (90, -90)),
        ((1, 1), (1, 0), POSITIVE, (-60, 120)),
        ((1, 1), (-1, 0), NEGATIVE, (-120, -120)),
        ((2, 1), (ROOT_3, 0), POSITIVE, (-30, 120)),
        ((5, 5), (6, 0), POSITIVE, (-53.130102, 106.260205)),
        ((3, 4), (7, 0), POSITIVE, (0, 0)),
        ((3, 4), (0, 7), NEGATIVE, (90, 0)),
        ((4, 3), (1, 0), POSITIVE, (0, 180)),
        ((3, 4), (0, 1), POSITIVE, (-90, 180)),
    ],
)
def test_textbook_triangles(lengths, target, bend, degrees):
    solution = solve_two_bone([target], lengths, bend)
    assert np.degrees(solution.angles[0]) == pytest.approx(degrees, abs=5e-7)
    assert solution.reach[0] == Reach.REACHED


def test_the_tip_is_on_a_million_targets_of_any_size_and_direction(rng):
    targets, lengths, bend = reachable_problems(rng, MILLION)
    solution = solve_two_bone(targets, lengths, bend)
    assert tip_errors(solution.angles, lengths, targets).max() <= EXACT
    assert np.all(solution.angles[:, 1] * bend >= 0)
    assert np.all(solution.reach == Reach.REACHED)


@pytest.mark.parametrize("gap", [1e-9, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 0.5, 1.0, 2.0, 1e6, 1e12])
def test_nothing_is_lost_next_to_the_limits_at_any_ratio_of_lengths(gap, ratio):
    lengths = np.array([ratio, 1.0])
    far, near = lengths.sum(), abs(ratio - 1)
    distances = np.repeat(np.clip([far * (1 - gap), near + far * gap], near, far), 16)
    targets = around(distances, np.tile(np.arange(16) * 0.4, 2))
    for bend in (POSITIVE, NEGATIVE):
        assert tip_errors(solve_two_bone(targets, lengths, bend).angles, lengths, targets).max() <= EXACT


def test_the_unit_of_length_does_not_matter(rng):
    targets, lengths, bend = reachable_problems(rng, 2000)
    lengths = np.clip(lengths, 0.1, 10)
    targets = around(lengths.sum(axis=-1) * rng.uniform(0, 1.2, 2000), rng.uniform(-3, 3, 2000))
    here = solve_two_bone(targets, lengths, bend)
    for scale in 2.0 ** np.array([-600, -20, 20, 600]):
        there = solve_two_bone(targets * scale, lengths * scale, bend)
        assert np.array_equal(there.angles, here.angles)
        assert np.array_equal(there.reach, here.reach)
    for scale in (1e-6, 1e6):
        there = solve_two_bone(targets * scale, lengths * scale, bend)
        moved = tips(there.angles, lengths)[..., 1, :] - tips(here.angles, lengths)[..., 1, :]
        assert np.abs(moved).max() < 1e-13


@given(
    distance=st.floats(1e-6, 6),
    direction=st.floats(-3, 3),
    lengths=st.tuples(st.floats(0.01, 2), st.floats(0.01, 2)),
    turn=st.floats(-3, 3),
)
def test_turning_the_target_turns_link_1_and_nothing_else(distance, direction, lengths, turn):
    one = solve_two_bone(around(distance, direction)[np.newaxis], lengths, POSITIVE).angles
    other = solve_two_bone(around(distance, direction + turn)[np.newaxis], lengths, POSITIVE).angles
    # Next to straight a rounded distance, 1e-16, is 1e-8 in angle.
    assert np.allclose(np.exp(1j * other), np.exp(1j * (one + np.array([turn, 0]))), atol=1e-6)


@given(
    target=st.tuples(st.floats(-3, 3), st.floats(-3, 3)),
    lengths=st.tuples(st.floats(0.01, 2), st.floats(0.01, 2)),
)
def test_the_other_bend_is_the_mirror_image(target, lengths):
    one = solve_two_bone([target], lengths, POSITIVE).angles
    mirrored = solve_two_bone([(target[0], -target[1])], lengths, NEGATIVE).angles
    assert np.array_equal(np.abs(mirrored), np.abs(one))
    assert np.allclose(np.sin(mirrored), -np.sin(one), atol=1e-15)


def test_the_bend_can_change_from_frame_to_frame():
    bend = np.array([1.0, -1.0, -1.0, 1.0])
    angles = solve_two_bone(np.tile([1.0, 0.5], (4, 1)), [1, 1], bend).angles
    assert np.array_equal(np.sign(angles[:, 1]), bend)


def test_chains_frames_and_lengths_broadcast(rng):
    targets = rng.normal(size=(3, 5, 2))
    lengths = rng.uniform(0.5, 2, (3, 1, 2))
    bend = np.array([1.0, -1.0, 1.0])[:, np.newaxis]
    together = solve_two_bone(targets, lengths, bend)
    for chain in range(3):
        alone = solve_two_bone(targets[chain], lengths[chain, 0], bend[chain, 0])
        assert np.array_equal(together.angles[chain], alone.angles)
        assert np.array_equal(together.reach[chain], alone.reach)


def test_more_frames_than_one_block_are_solved_alike(rng):
    targets = rng.normal(size=(20_000, 2))
    whole = solve_two_bone(targets, [1, 1.5], POSITIVE).angles
    assert np.array_equal(whole[9_000:9_100], solve_two_bone(targets[9_000:9_100], [1, 1.5], POSITIVE).angles)


def test_no_frames_are_no_trouble():
    solution = solve_two_bone(np.zeros((0, 2)), [1, 1], POSITIVE)
    assert solution.angles.shape == (0, 2)
    assert solution.reach.shape == (0,)


def test_too_far_points_straight_at_the_target(rng):
    directions = rng.uniform(-np.pi, np.pi, 100)
    solution = solve_two_bone(around(rng.uniform(3.1, 1e6, 100), directions), [1, 2], NEGATIVE)
    assert np.all(solution.reach == Reach.TOO_FAR)
    assert np.allclose(tips(solution.angles, [1, 2])[:, 1].astype(float), around(3.0, directions))


@pytest.mark.parametrize("lengths", [(1, 2), (2, 1)])
def test_too_near_folds_towards_the_target(lengths, rng):
    directions = rng.uniform(-np.pi, np.pi, 100)
    solution = solve_two_bone(around(rng.uniform(0.01, 0.9, 100), directions), lengths, POSITIVE)
    assert np.all(solution.reach == Reach.TOO_NEAR)
    assert np.allclose(tips(solution.angles, lengths)[:, 1].astype(float), around(1.0, directions))


def test_tolerance_forgives_what_single_precision_loses():
    stretched_by_rounding = [[3.0000003, 0.0], [0.9999997, 0.0]]
    assert list(solve_two_bone(stretched_by_rounding, [1, 2], POSITIVE).reach) == [Reach.TOO_FAR, Reach.TOO_NEAR]
    forgiven = solve_two_bone(stretched_by_rounding, [1, 2], POSITIVE, tolerance=1e-6)
    assert list(forgiven.reach) == [Reach.REACHED, Reach.REACHED]


def test_another_distance_along_the_line_to_the_target():
    solution = solve_two_bone([[3.0, 4.0], [0.0, 0.0]], [1, 1], POSITIVE, distances=np.array([1.0, 1.0]))
    assert np.allclose(tips(solution.angles, [1, 1])[:, 1].astype(float), [[0.6, 0.8], [0.6, 0.8]])
    assert list(solution.reach) == [Reach.REACHED, Reach.REACHED]


# What the mathematics leaves free is held from the frame before.


def test_a_target_on_the_root_joint_holds_the_direction():
    solution = solve_two_bone([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]], [1, 1], POSITIVE)
    assert solution.angles[1, 0] == solution.angles[0, 0]
    assert solution.angles[1, 1] == np.pi
    assert list(solution.reach) == [Reach.REACHED, Reach.DEGENERATE, Reach.REACHED]


def test_a_target_on_the_root_joint_of_unequal_links_is_too_near():
    solution = solve_two_bone([[1.0, 2.0], [0.0, 0.0]], [2, 1], POSITIVE)
    assert np.array_equal(solution.angles[1], [solution.angles[0, 0], np.pi])
    assert solution.reach[1] == Reach.TOO_NEAR


def test_a_first_link_without_length_leaves_the_aim_to_the_second():
    lengths = np.array([[1.0, 2.0], [0.0, 2.0], [0.0, 2.0]])
    solution = solve_two_bone([[2.0, 1.0], [0.0, 2.0], [5.0, 0.0]], lengths, POSITIVE)
    assert solution.angles[0, 0] == pytest.approx(np.arctan(0.5) - np.arctan(2.0))  # right-angled at the elbow
    assert np.all(solution.angles[1:, 0] == solution.angles[0, 0])
    assert np.allclose(solution.angles[1:].sum(axis=-1), [np.pi / 2, 0])
    assert list(solution.reach[1:]) == [Reach.DEGENERATE, Reach.DEGENERATE]


def test_a_second_link_without_length_keeps_its_bend():
    lengths = np.array([[1.0, 2.0], [2.0, 0.0], [2.0, 0.0]])
    solution = solve_two_bone([[1.0, 2.0], [0.0, 2.0], [5.0, 0.0]], lengths, POSITIVE)
    assert np.all(solution.angles[1:, 1] == solution.angles[0, 1])
    assert np.allclose(solution.angles[1:, 0], [np.pi / 2, 0])


def test_a_link_that_vanishes_beside_the_other_is_no_link():
    assert solve_two_bone([[1.0, 0.0]], [1e-30, 1.0], POSITIVE).reach[0] == Reach.DEGENERATE


def test_a_chain_without_length_stands_still():
    solution = solve_two_bone([[1.0, 2.0], [0.0, 0.0]], [0, 0], POSITIVE)
    assert np.all(solution.angles == 0)
    assert np.all(solution.reach == Reach.DEGENERATE)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_target_that_is_no_number_holds_the_pose(bad):
    solution = solve_two_bone([[bad, 0.0], [1.0, 1.0], [bad, 1.0], [2.0, bad]], [1, 2], POSITIVE)
    assert np.all(solution.angles == solution.angles[1])
    assert list(solution.reach) == [Reach.DEGENERATE, Reach.REACHED, Reach.DEGENERATE, Reach.DEGENERATE]


def test_lengths_that_are_no_numbers_hold_the_pose():
    lengths = np.array([[1.0, 2.0], [np.nan, 2.0], [np.inf, np.inf]])
    solution = solve_two_bone(np.ones((3, 2)), lengths, POSITIVE)
    assert np.all(solution.angles == solution.angles[0])
    assert list(solution.reach[1:]) == [Reach.DEGENERATE, Reach.DEGENERATE]


def test_each_chain_holds_its_own_pose():
    targets = np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])
    angles = solve_two_bone(targets, [1, 1], POSITIVE).angles
    assert np.array_equal(angles[:, 1, 0], angles[:, 0, 0])
    assert angles[0, 1, 0] != angles[1, 1, 0]


def test_a_target_that_passes_a_hair_from_the_root_joint_does_not_spin_the_chain():
    targets = np.stack([np.array([1e-3, 1e-160, 1e-200, 1e-300]), np.zeros(4)], axis=-1)
    angles = solve_two_bone(targets, [1, 1], POSITIVE).angles
    assert np.allclose(angles[1:], [-np.pi / 2, np.pi], atol=1e-6)


number = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
length = st.one_of(st.just(0.0), st.floats(0, 1e100))


@given(
    targets=st.lists(st.tuples(number, number), min_size=1, max_size=5),
    lengths=st.tuples(length, length),
    bend=st.sampled_from([POSITIVE, NEGATIVE]),
)
@example(targets=[(0.0, 0.0)], lengths=(0.0, 0.0), bend=1)
@example(targets=[(5e-324, 0.0)], lengths=(5e-324, 5e-324), bend=1)
@example(targets=[(1.7e308, 1.7e308)], lengths=(1.0, 1.0), bend=-1)
def test_whatever_comes_in_numbers_come_out(targets, lengths, bend):
    solution = solve_two_bone(targets, lengths, bend)
    assert np.isfinite(solution.angles).all()
    assert np.isin(solution.reach, list(Reach)).all()
