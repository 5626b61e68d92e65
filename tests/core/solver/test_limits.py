"""Joint limits: nothing within them is closer, nothing outside them is ever used, and nothing locks."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from tests.core.solver.brute_force import closest_gaps, random_problems
from tests.core.solver.problems import around, tips
from twobone_addon.core.solver import Reach, forward, solve_two_bone, solve_two_bone_limited

FULL_SIZE_VARIABLE = "TWOBONE_FULL_TESTS"
"""Set, the comparison with brute force runs at its full size, which takes minutes."""

BRUTE_FORCE_CASES = 100_000 if FULL_SIZE_VARIABLE in os.environ else 1_500
BATCH = 500

UNBOUNDED = np.array([-np.inf, np.inf, -np.inf, np.inf])
UNIT_LINKS = np.array([1.0, 1.0])
POSITIVE, NEGATIVE = 1, -1


def solve(targets, lengths, bend, degrees, rest_direction: ArrayLike = 0.0):
    return solve_two_bone_limited(np.asarray(targets, dtype=float), lengths, bend, np.radians(degrees), rest_direction)


def assert_within(solution, limits, rest_direction):
    turns = solution.angles - np.stack(np.broadcast_arrays(rest_direction, 0.0), axis=-1)
    assert np.all(turns >= limits[..., 0::2] - 1e-14)
    assert np.all(turns <= limits[..., 1::2] + 1e-14)


def test_nothing_that_brute_force_finds_is_closer(rng):
    for _ in range(BRUTE_FORCE_CASES // BATCH):
        targets, lengths, limits, rest, bend = random_problems(rng, BATCH)
        solution = solve_two_bone_limited(targets, lengths, bend, limits, rest)
        assert_within(solution, limits, rest)
        chain = lengths.sum(axis=-1)
        away = forward(solution.angles, lengths)[:, 2] - targets
        assert np.hypot(*away.T) / chain == pytest.approx(solution.tip_distances / chain, abs=1e-12)
        worse = (solution.tip_distances - closest_gaps(targets, lengths, limits, rest)) / chain
        assert worse.max() <= 1e-9
        # Trying gets stuck in narrow valleys now and then; were it often, it would prove nothing.
        assert np.mean(worse > -1e-9) > 0.95


def test_poses_within_limits_are_found_again(rng):
    count = 20_000
    _, lengths, limits, rest, bend = random_problems(rng, count)
    pose = limits[:, 0::2] + (limits[:, 1::2] - limits[:, 0::2]) * rng.uniform(0, 1, (count, 2))
    targets = forward(pose + np.stack([rest, np.zeros(count)], axis=-1), lengths)[:, 2]
    solution = solve_two_bone_limited(targets, lengths, bend, limits, rest)
    assert np.all(solution.reach == Reach.REACHED)
    assert (solution.tip_distances / lengths.sum(axis=-1)).max() <= 1e-12


def descend_by_joints(target, limits, pose):
    """Cyclic coordinate descent as published, each joint clamped: the gap it ends with."""
    pose = np.array(pose)
    for _ in range(30):  # many more, and rounding may free it by chance
        for joint in (1, 0):
            root, tip = (forward(pose[np.newaxis], UNIT_LINKS)[0] @ [1, 1j])[[joint, 2]]
            goal = complex(*target)
            pose[joint] = np.clip(pose[joint] + np.angle((goal - root) / (tip - root)), *limits[2 * joint : 2 * joint + 2])
    return np.hypot(*(forward(pose[np.newaxis], UNIT_LINKS)[0, 2] - target))


def test_the_s_shape_that_locks_descent_by_joints_is_reached():
    # From straight, the chain has to raise its first link to bring the knee back: up, then down, like an S.
    # No joint alone comes closer on that way, so descent ends with the knee at its stop.
    degrees = [-20, 90, -110, 0]
    target = forward(np.radians([[45.0, -65.0]]), UNIT_LINKS)[0, 2]
    assert descend_by_joints(target, np.radians(degrees), [0.0, 0.0]) > 0.3
    solution = solve([target], UNIT_LINKS, POSITIVE, degrees)
    assert np.degrees(solution.angles[0]) == pytest.approx([45, -65])
    assert solution.reach[0] == Reach.REACHED


def test_without_limits_it_is_the_unlimited_answer(rng):
    targets = rng.normal(size=(500, 2))
    free = solve_two_bone(targets, [1.0, 0.7], POSITIVE)
    solution = solve_two_bone_limited(targets, [1.0, 0.7], POSITIVE, UNBOUNDED, 0.5)
    assert np.allclose(np.exp(1j * solution.angles), np.exp(1j * free.angles), atol=1e-6)
    assert np.array_equal(solution.reach, free.reach)


def test_the_bend_asked_for_is_taken_if_the_limits_allow_it():
    wide = [-180, 180, -170, 170]
    assert solve([[1, 0]], UNIT_LINKS, POSITIVE, wide).angles[0, 1] > 0
    assert solve([[1, 0]], UNIT_LINKS, NEGATIVE, wide).angles[0, 1] < 0


def test_a_knee_that_bends_only_the_other_way_bends_that_way():
    solution = solve([[1, 0]], UNIT_LINKS, POSITIVE, [-180, 180, -170, 0])
    assert np.degrees(solution.angles[0]) == pytest.approx([60, -120])
    assert solution.reach[0] == Reach.REACHED


def test_a_knee_at_its_stop_aims_the_whole_chain():
    solution = solve([[0, 0.5]], UNIT_LINKS, POSITIVE, [-180, 180, 0, 90])
    assert np.degrees(solution.angles[0]) == pytest.approx([45, 90])
    assert solution.tip_distances[0] == pytest.approx(np.sqrt(2) - 0.5)
    assert solution.reach[0] == Reach.TOO_NEAR


def test_a_hip_at_its_stop_aims_the_knee():
    solution = solve([[0, 9]], UNIT_LINKS, POSITIVE, [0, 0, -180, 180])
    assert solution.angles[0] == pytest.approx([0, np.arctan2(9, -1)])
    assert solution.reach[0] == Reach.TOO_FAR


def test_both_at_their_stops():
    solution = solve([[-3, 3]], UNIT_LINKS, POSITIVE, [0, 10, 0, 20])
    assert np.degrees(solution.angles[0]) == pytest.approx([10, 20])


def test_limits_are_seen_from_the_rest_direction():
    solution = solve([[0, 9]], UNIT_LINKS, POSITIVE, [-30, 30, 0, 0], rest_direction=np.pi)
    assert np.degrees(solution.angles[0]) == pytest.approx([150, 0])


def test_the_rest_direction_can_move():
    solution = solve([[9, 0], [9, 0]], UNIT_LINKS, POSITIVE, [0, 10, 0, 0], rest_direction=np.array([-0.1, 0.3]))
    assert solution.angles[:, 0] == pytest.approx([0, 0.3])


@given(turns=st.integers(-3, 3), knee_turns=st.integers(-3, 3))
def test_limits_off_by_whole_turns_mean_the_same_poses(turns, knee_turns):
    limits = np.radians([-40.0, 60.0, 5.0, 120.0])
    moved = limits + 2 * np.pi * np.array([turns, turns, knee_turns, knee_turns])
    targets = around(np.linspace(0.2, 2.5, 8), np.linspace(-3, 3, 8))
    here = solve_two_bone_limited(targets, UNIT_LINKS, POSITIVE, limits, 0.0)
    there = solve_two_bone_limited(targets, UNIT_LINKS, POSITIVE, moved, 0.0)
    assert there.tip_distances == pytest.approx(here.tip_distances, abs=1e-12)
    assert_within(there, moved, 0.0)


def test_limits_wider_than_a_turn_are_no_limits_and_the_pose_stays_near_rest():
    solution = solve([[-1, 0.01]], UNIT_LINKS, POSITIVE, [-700, 700, -700, 700])
    assert solution.reach[0] == Reach.REACHED
    assert np.all(np.abs(solution.angles) <= np.pi)


def test_an_interval_across_half_a_turn_is_one_piece():
    targets = around(np.full(5, 2.0), np.radians([160, 170, 180, 190, 200]))
    solution = solve(targets, UNIT_LINKS, POSITIVE, [150, 210, -1, 1])
    assert np.degrees(solution.angles[:, 0]) == pytest.approx([160, 170, 180, 190, 200], abs=1e-5)


@pytest.mark.parametrize("side", [-1, 1])
def test_a_choice_between_two_places_stays_with_the_pose_before(side):
    # Straight behind a stiff chain both stops are equally near; the chain stays at the one it came from.
    directions = np.radians([180 - side * 40, 180, 180, 180 - side * 40])
    solution = solve(around(np.full(4, 3.0), directions), UNIT_LINKS, POSITIVE, [-90, 90, 0, 0])
    assert np.degrees(solution.angles[:, 0]) == pytest.approx(np.full(4, side * 90.0))


def test_a_choice_at_the_start_is_made_like_the_first_clear_frame():
    directions = np.radians([180, 180, 220])
    solution = solve(around(np.full(3, 3.0), directions), UNIT_LINKS, POSITIVE, [-90, 90, 0, 0])
    assert np.degrees(solution.angles[:, 0]) == pytest.approx([-90, -90, -90])


def test_a_smooth_target_gives_a_smooth_motion_along_the_limits():
    way = np.linspace(0, 1, 2000)
    targets = around(0.8 + 1.5 * way, np.radians(20 + 50 * way))
    angles = solve(targets, UNIT_LINKS, POSITIVE, [-30, 30, 10, 100]).angles
    assert np.abs(np.diff(angles, axis=0)).max() < 0.02


def test_chains_with_limits_of_their_own():
    limits = np.radians([[[0.0, 10.0, 0.0, 0.0]], [[-10.0, 0.0, 0.0, 0.0]]])
    targets = np.broadcast_to(np.array([0.0, 9.0]), (2, 3, 2))
    solution = solve_two_bone_limited(targets, UNIT_LINKS, POSITIVE, limits, 0.0)
    assert np.degrees(solution.angles[:, :, 0]) == pytest.approx(np.array([[10.0] * 3, [0.0] * 3]))


def test_a_target_that_is_no_number_holds_the_pose():
    solution = solve([[0.5, 1.0], [np.nan, 0], [np.inf, 1]], UNIT_LINKS, POSITIVE, [-90, 90, 0, 150])
    assert np.all(solution.angles == solution.angles[0])
    assert list(solution.reach) == [Reach.REACHED, Reach.DEGENERATE, Reach.DEGENERATE]
    assert np.all(solution.tip_distances[1:] == 0)


def test_a_chain_that_never_has_a_target_rests_within_its_limits():
    solution = solve([[np.nan, np.nan]], UNIT_LINKS, POSITIVE, [20, 30, -50, -40])
    assert np.degrees(solution.angles[0]) == pytest.approx([20, -40])


def test_a_target_on_the_root_joint_keeps_the_direction_the_chain_had():
    solution = solve([[0.3, 0.0], [0.0, 0.0]], UNIT_LINKS, POSITIVE, [-100, 100, 0, 180])
    assert solution.angles[1] == pytest.approx([solution.angles[0, 0], np.pi])
    assert solution.reach[1] == Reach.DEGENERATE


@pytest.mark.parametrize("before", [(0.0, 0.3), (1.0, 1.0), (-0.7, -0.2)])
def test_a_knee_that_cannot_fold_leaves_the_tip_in_the_direction_that_the_target_had(before):
    solution = solve([before, [0.0, 0.0]], UNIT_LINKS, POSITIVE, [-180, 180, 0, 120])
    tip = forward(solution.angles, UNIT_LINKS)[1, 2]
    assert tip == pytest.approx(np.array(before) / np.hypot(*before))  # links at 120 degrees: a triangle of equal sides
    assert solution.tip_distances[1] == pytest.approx(1.0)


@pytest.mark.parametrize("unit", 2.0 ** np.array([-40, 40]))
def test_the_unit_of_length_does_not_matter(rng, unit):
    targets, lengths, limits, rest, bend = random_problems(rng, 2_000)
    here = solve_two_bone_limited(targets, lengths, bend, limits, rest)
    there = solve_two_bone_limited(unit * targets, unit * lengths, bend, limits, rest)
    assert np.array_equal(there.angles, here.angles)
    assert np.array_equal(there.reach, here.reach)
    assert np.array_equal(there.tip_distances, unit * here.tip_distances)
    assert {Reach.REACHED, Reach.TOO_FAR, Reach.TOO_NEAR} <= set(here.reach.tolist())


@pytest.mark.parametrize("lengths", [(0, 1), (1, 0), (0, 0)])
def test_links_without_length_stay_within_limits(lengths):
    limits = np.radians([20.0, 30.0, -50.0, -40.0])
    solution = solve_two_bone_limited(np.array([[1.0, 1.0], [0.0, 0.0]]), np.array(lengths), POSITIVE, limits, 0.0)
    assert_within(solution, limits, 0.0)
    assert np.all(solution.reach == Reach.DEGENERATE)


number = st.floats(allow_nan=True, allow_infinity=True)
bound = st.one_of(st.floats(-20, 20), st.sampled_from([-np.inf, np.inf]))


@given(
    targets=st.lists(st.tuples(number, number), min_size=1, max_size=4),
    lengths=st.tuples(st.floats(0, 1e60), st.floats(0, 1e60)),
    upper=st.tuples(st.floats(-20, 20), bound).map(sorted),
    lower=st.tuples(st.floats(-20, 20), bound).map(sorted),
)
def test_whatever_comes_in_poses_within_the_limits_come_out(targets, lengths, upper, lower):
    limits = np.array([*upper, *lower])
    solution = solve_two_bone_limited(targets, lengths, POSITIVE, limits, 0.0)
    assert np.isfinite(solution.angles).all()
    assert np.isfinite(solution.tip_distances).all()
    assert_within(solution, limits, 0.0)
    assert np.isin(solution.reach, list(Reach)).all()


def test_tips_of_a_wide_box_are_exact_to_rounding(rng):
    targets = around(rng.uniform(0.4, 1.6, 1000), rng.uniform(-np.pi, np.pi, 1000))
    solution = solve(targets, np.array([1.0, 0.6]), NEGATIVE, [-180, 180, -180, 180])
    assert np.allclose(tips(solution.angles, [1.0, 0.6])[:, 1].astype(float), targets, atol=1e-14)
