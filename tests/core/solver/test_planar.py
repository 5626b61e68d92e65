"""What a bake gets: every way to reach, what became of the frames, and where the tip is to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.solver.problems import around, tips
from twobone_addon.core.solver import Reach, ReachMode, ReachOptions, far_zone, forward, solve_planar

LENGTHS = np.array([1.0, 0.6])
FAR, NEAR = 1.6, 0.4
POSITIVE = 1

# From the root joint out and back over both limits, in all directions.
OUTWARD = around(np.linspace(0.01, 3, 400), np.linspace(-3, 3, 400))

EVERY_WAY = [
    ReachOptions(),
    ReachOptions(min_distance=0.7, max_distance=1.2),
    ReachOptions(mode="SOFTEN", softness=0.2, softness_near=0.1),
    ReachOptions(mode="SOFTEN", softness=0.2, min_distance=0.5),
    ReachOptions(mode="STRETCH"),
    ReachOptions(mode="STRETCH", stretch_start=0.8, stretch_max=1.3, compress_min=0.5, softness=0.1, softness_near=0.1),
    ReachOptions(limits=np.radians([-90, 90, 5, 150])),
    ReachOptions(mode="SOFTEN", softness=0.2, limits=np.radians([-90, 90, 5, 150])),
    ReachOptions(mode="STRETCH", softness=0.2, limits=np.radians([-90, 90, 0, 150])),
]


def tip_of(solution, lengths=LENGTHS):
    return solution.ratio[..., np.newaxis] * tips(solution.angles, lengths)[..., 1, :].astype(float)


@pytest.mark.parametrize("options", EVERY_WAY)
def test_the_tip_is_where_it_is_said_to_be(options):
    solution = solve_planar(OUTWARD, LENGTHS, POSITIVE, options, rest_direction=0.2)
    assert np.abs(tip_of(solution) - solution.goals).max() < 1e-13


@pytest.mark.parametrize("options", EVERY_WAY)
def test_a_hole_in_the_targets_holds_everything(options):
    targets = np.array([[2.0, 1.0], [np.nan, 1.0], [np.inf, 0.0]])
    solution = solve_planar(targets, LENGTHS, POSITIVE, options)
    assert np.all(solution.angles == solution.angles[0])
    assert np.all(solution.ratio == solution.ratio[0])
    assert np.allclose(solution.goals, solution.goals[0])
    assert list(solution.reach[1:]) == [Reach.DEGENERATE, Reach.DEGENERATE]


@pytest.mark.parametrize("options", EVERY_WAY)
def test_a_target_through_the_root_joint_gives_numbers(options):
    targets = np.array([[0.5, 0.0], [0.0, 0.0], [-0.5, 0.0]])
    for lengths in (LENGTHS, np.array([1.0, 1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.zeros(2)):
        solution = solve_planar(targets, lengths, POSITIVE, options)
        for values in (solution.angles, solution.ratio, solution.goals):
            assert np.isfinite(values).all()


@pytest.mark.parametrize("options", EVERY_WAY)
def test_chains_are_solved_as_if_each_were_alone(options, rng):
    targets = rng.normal(size=(3, 6, 2))
    lengths = rng.uniform(0.5, 1.5, (3, 6, 2))
    bend = np.array([[1.0], [-1.0], [1.0]])
    together = solve_planar(targets, lengths, bend, options)
    for chain in range(3):
        alone = solve_planar(targets[chain], lengths[chain], bend[chain, 0], options)
        for name in ("angles", "ratio", "reach", "goals"):
            assert np.array_equal(getattr(together, name)[chain], getattr(alone, name))


def test_clamp_brings_the_tip_to_the_target_or_to_the_nearest_point_of_the_ring():
    solution = solve_planar(OUTWARD, LENGTHS, POSITIVE)
    distances = np.hypot(*OUTWARD.T)
    nearest = np.clip(distances, abs(LENGTHS[0] - LENGTHS[1]), sum(LENGTHS))
    found = forward(solution.angles, LENGTHS)[..., -1, :]
    assert np.allclose(found, OUTWARD * (nearest / distances)[:, np.newaxis], rtol=0, atol=1e-7)
    assert np.all(solution.ratio == 1)
    assert np.array_equal(solution.reach == Reach.REACHED, np.abs(nearest - distances) < 1e-9)


def test_a_target_in_reach_is_its_own_goal():
    inside = around(np.linspace(0.41, 1.59, 50), np.linspace(-3, 3, 50))
    assert np.allclose(solve_planar(inside, LENGTHS, POSITIVE).goals, inside, rtol=0, atol=1e-15)


def test_softening_holds_the_goal_back_on_the_line_to_the_target_near_the_limits_only():
    options = ReachOptions(mode=ReachMode.SOFTEN, softness=0.2, softness_near=0.1)
    goals = solve_planar(OUTWARD, LENGTHS, POSITIVE, options).goals
    distances = np.hypot(*OUTWARD.T)
    softened = np.hypot(*goals.T)
    assert np.allclose(goals, OUTWARD * (softened / distances)[:, np.newaxis])
    near, far = abs(LENGTHS[0] - LENGTHS[1]), sum(LENGTHS)
    easing_far, easing_near = distances > 0.8 * far, distances < near + 0.1 * far
    assert np.allclose(softened[~easing_far & ~easing_near], distances[~easing_far & ~easing_near])
    assert np.all(softened[distances > 0.81 * far] < distances[distances > 0.81 * far])
    assert softened.min() >= near - 1e-9
    assert softened[-1] == pytest.approx(far)
    slopes = np.diff(softened) / np.diff(distances)
    assert np.all((slopes >= -1e-9) & (slopes <= 1 + 1e-9))


def test_a_softened_chain_becomes_exactly_straight_and_exactly_folded():
    options = ReachOptions(mode="SOFTEN", softness=0.2, softness_near=0.2)
    targets = around(np.array([far_zone(LENGTHS, 0.2).end * 1.0000001, 1e-3]), np.array([1.0, 2.0]))
    knees = solve_planar(targets, LENGTHS, POSITIVE, options).angles[:, 1]
    assert list(knees) == [0.0, np.pi]


def test_softness_does_not_change_what_can_be_reached():
    options = ReachOptions(mode="SOFTEN", softness=0.5, softness_near=0.5)
    assert np.array_equal(solve_planar(OUTWARD, LENGTHS, POSITIVE, options).reach, solve_planar(OUTWARD, LENGTHS, POSITIVE).reach)


def test_softness_is_for_softening_only():
    plain = solve_planar(OUTWARD, LENGTHS, POSITIVE)
    assert np.array_equal(solve_planar(OUTWARD, LENGTHS, POSITIVE, ReachOptions(softness=0.3)).angles, plain.angles)


def test_stretching_keeps_the_tip_on_the_target_and_says_reached():
    options = ReachOptions(mode="STRETCH", softness=0.1, compress_min=0.01)
    solution = solve_planar(OUTWARD, LENGTHS, POSITIVE, options)
    assert np.allclose(tip_of(solution), OUTWARD)
    assert np.all(solution.reach == Reach.REACHED)


def test_stretch_ends_at_its_maximum():
    options = ReachOptions(mode="STRETCH", stretch_max=1.25, compress_min=0.5)
    solution = solve_planar([[1.99, 0], [2.01, 0], [0.21, 0], [0.19, 0]], LENGTHS, POSITIVE, options)
    assert list(solution.reach) == [Reach.REACHED, Reach.TOO_FAR, Reach.REACHED, Reach.TOO_NEAR]
    assert solution.ratio == pytest.approx([1.99 / 1.6, 1.25, 0.21 / 0.4, 0.5])


def test_distance_bounds_keep_the_tip_away_and_say_so():
    options = ReachOptions(min_distance=0.7, max_distance=1.2)
    solution = solve_planar([[0.5, 0], [1.0, 0], [1.5, 0]], LENGTHS, POSITIVE, options)
    assert solution.goals[:, 0] == pytest.approx([0.7, 1.0, 1.2])
    assert list(solution.reach) == [Reach.TOO_NEAR, Reach.REACHED, Reach.TOO_FAR]


def test_a_distance_bound_of_zero_is_off():
    solution = solve_planar([[1.5, 0]], LENGTHS, POSITIVE, ReachOptions(min_distance=0.2))
    assert solution.goals[0, 0] == pytest.approx(1.5)


def test_a_target_on_the_root_joint_is_kept_at_the_least_distance_in_the_last_direction():
    solution = solve_planar([[0.0, 1.0], [0.0, 0.0]], LENGTHS, POSITIVE, ReachOptions(min_distance=1.0))
    assert solution.goals == pytest.approx(np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert list(solution.reach) == [Reach.REACHED, Reach.TOO_NEAR]


def test_no_pose_within_the_limits_is_nearer_to_the_target():
    targets = OUTWARD[::8]
    low, high = np.radians([-90, 5]), np.radians([90, 150])
    options = ReachOptions(limits=np.stack([low, high], axis=-1).ravel())
    solution = solve_planar(targets, LENGTHS, POSITIVE, options, rest_direction=0.2)
    turns = solution.angles - [0.2, 0.0]
    assert np.all((turns >= low - 1e-9) & (turns <= high + 1e-9))
    steps = np.linspace(0.0, 1.0, 181)[:, np.newaxis]
    first, second = np.meshgrid(*(low + steps * (high - low)).T)
    tried = forward(np.stack([first.ravel() + 0.2, second.ravel()], axis=-1), LENGTHS)[..., -1, :]
    nearest = np.linalg.norm(targets[:, np.newaxis] - tried, axis=-1).min(axis=-1)
    missed = np.linalg.norm(targets - forward(solution.angles, LENGTHS)[..., -1, :], axis=-1)
    assert np.all(missed <= nearest + 1e-9)


def test_limits_that_forbid_nothing_change_nothing_about_what_is_reached(rng):
    targets = rng.normal(size=(50_000, 2))
    limits = np.radians([-180, 180, -180, 180])
    for options in (ReachOptions(limits=limits), ReachOptions(limits=limits, tolerance=0.0)):
        reach = solve_planar(targets, LENGTHS, POSITIVE, options).reach
        assert np.array_equal(reach, solve_planar(targets, LENGTHS, POSITIVE).reach)


def test_what_limits_forbid_stays_out_of_reach_however_soft():
    options = ReachOptions(mode="SOFTEN", softness=0.1, limits=np.radians([-10, 10, 0, 150]))
    reach = solve_planar([[1.2, 0.0], [-1.2, 0.0], [1.0, 0.1]], LENGTHS, POSITIVE, options).reach
    assert reach[1] != Reach.REACHED


def test_bounds_count_within_limits_too():
    options = ReachOptions(max_distance=1.0, limits=np.radians([-90, 90, -150, 150]))
    assert list(solve_planar([[0.9, 0], [1.2, 0]], LENGTHS, POSITIVE, options).reach) == [Reach.REACHED, Reach.TOO_FAR]


def test_tolerance_forgives_in_every_way():
    just_outside = [[FAR * (1 + 1e-7), 0.0]]
    for options in (
        ReachOptions(tolerance=1e-6),
        ReachOptions(mode="SOFTEN", softness=0.1, tolerance=1e-6),
        ReachOptions(tolerance=1e-6, limits=np.radians([-90, 90, 0, 150])),
    ):
        assert solve_planar(just_outside, LENGTHS, POSITIVE, options).reach[0] == Reach.REACHED
    assert solve_planar(just_outside, LENGTHS, POSITIVE).reach[0] == Reach.TOO_FAR


def test_tolerance_forgives_a_stretched_chain_at_a_joints_limit():
    """Only stretch brings the tip near the target, and the hip stops a little before its direction."""
    targets = around(np.array([2.0]), -np.radians([10.0]) - 1e-7)
    reach = [
        solve_planar(
            targets, LENGTHS, POSITIVE, ReachOptions(mode="STRETCH", tolerance=tolerance, limits=np.radians([-10, 10, 0, 150]))
        ).reach[0]
        for tolerance in (1e-6, 1e-8)
    ]
    assert reach == [Reach.REACHED, Reach.TOO_FAR]


@pytest.mark.parametrize("distance, reach", [(1.0, Reach.TOO_NEAR), (1.8, Reach.TOO_FAR), (3.0, Reach.TOO_FAR)])
def test_bounds_that_leave_no_distance_at_all_call_what_the_chain_cannot_reach_too_far(distance, reach):
    assert solve_planar([[distance, 0.0]], LENGTHS, POSITIVE, ReachOptions(min_distance=2.0)).reach[0] == reach


def test_a_target_moving_out_and_back_poses_the_same_way():
    for options in EVERY_WAY:
        there = solve_planar(OUTWARD, LENGTHS, POSITIVE, options)
        back = solve_planar(OUTWARD[::-1], LENGTHS, POSITIVE, options)
        assert np.allclose(back.angles[::-1], there.angles)


@pytest.mark.parametrize("options", [way for way in EVERY_WAY if way.limits is None])
def test_a_smooth_target_gives_smooth_goals(options):
    targets = around(np.linspace(0.05, 3, 20_001), np.linspace(0, 1, 20_001))
    solution = solve_planar(targets, LENGTHS, POSITIVE, options)
    assert np.abs(np.diff(solution.goals, axis=0)).max() < 4e-4
    assert np.abs(np.diff(solution.ratio)).max() < 1e-3


number = st.one_of(st.floats(-1e150, 1e150), st.sampled_from([np.nan, np.inf, -np.inf]))
length = st.one_of(st.just(0.0), st.floats(1e-100, 1e60))


@given(
    targets=st.lists(st.tuples(number, number), min_size=1, max_size=4),
    lengths=st.tuples(length, length),
    options=st.sampled_from(EVERY_WAY),
)
def test_whatever_comes_in_numbers_come_out(targets, lengths, options):
    solution = solve_planar(targets, lengths, POSITIVE, options)
    for values in (solution.angles, solution.ratio, solution.goals):
        assert np.isfinite(values).all()
    assert np.isin(solution.reach, list(Reach)).all()
