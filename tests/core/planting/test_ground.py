"""The ground as a space of its own: places and orientations seen from it, while it moves, turns or stands still."""

import numpy as np
import pytest

from twobone_addon.core.planting.ground import Ground, carried_ground, level_surface, moved_ground, moving_ground

COUNT = 5
PLACES = np.random.default_rng(4).normal(size=(COUNT, 3))


def turned(angle, place):
    """World matrix of something at a place, turned about Z."""
    matrix = np.eye(4)
    matrix[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    matrix[:3, 3] = place
    return matrix


def platform():
    """World matrices of a platform twice its size that turns and moves."""
    scale = np.diag([2.0, 2.0, 2.0, 1.0])
    return np.array([turned(0.3 * row, (row, -2.0 * row, 5.0)) @ scale for row in range(COUNT)])


def test_what_stands_on_a_platform_stands_still_as_seen_from_it():
    carried = np.array([matrix @ [0.4, -0.2, 0.7, 1.0] for matrix in platform()])[:, :3]
    ground = carried_ground(platform())
    seen = ground.into(carried)
    assert seen == pytest.approx(np.tile(carried[0], (COUNT, 1)))
    assert ground.out_of(seen) == pytest.approx(carried)


def test_a_foot_that_turns_with_a_platform_keeps_its_orientation_on_it():
    foot = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    in_world = np.array([turned(0.3 * row, (0, 0, 0))[:3, :3] @ foot for row in range(COUNT)])
    ground = carried_ground(platform())
    assert ground.turned_into(in_world) == pytest.approx(np.tile(foot, (COUNT, 1, 1)))
    assert ground.turned_out_of(np.tile(foot, (COUNT, 1, 1))) == pytest.approx(in_world)


def test_a_foot_that_is_scaled_unevenly_has_its_points_at_the_same_places_as_seen_from_a_platform():
    turns = np.linalg.qr(np.random.default_rng(2).normal(size=(COUNT, 3, 3)))[0]
    skewed = np.random.default_rng(3).normal(size=(COUNT, 3, 3))
    stretches = skewed + np.swapaxes(skewed, -1, -2)
    ball, ground = np.array([0.1, -0.14, 0.2]), Ground(np.array([turned(0.3 * row, (row, -2.0, 5.0)) for row in range(COUNT)]))
    seen, shapes = ground.into(PLACES), ground.stretched_into(stretches)
    assert shapes is not None
    assert ground.into(PLACES + stretches @ turns @ ball) == pytest.approx(seen + shapes @ ground.turned_into(turns) @ ball)
    assert ground.stretched_into(None) is None


def test_on_a_belt_everything_moves_with_it_from_the_first_frame_on():
    times, velocity = 3.0 + np.arange(COUNT) / 24.0, np.array([0.0, -1.2, 0.0])
    belt = moving_ground(times, velocity)
    stuck = PLACES[0] + np.arange(COUNT)[:, None] / 24.0 * velocity
    assert belt.into(stuck) == pytest.approx(np.tile(PLACES[0], (COUNT, 1)))


def test_ground_without_motion_is_the_world():
    still = moving_ground(np.arange(5.0), np.zeros(3))
    assert np.array_equal(still.into(PLACES), PLACES)
    assert np.array_equal(still.at(np.array([3, 4])).into(PLACES), PLACES)


def test_moves_come_on_top_of_the_grounds_own_motion():
    ground = carried_ground(platform())
    moves = np.linspace(0.0, 1.0, COUNT)[:, None] * [0.0, 0.0, -0.5]
    assert moved_ground(ground, moves).out_of(PLACES) == pytest.approx(ground.out_of(PLACES) + moves)
    still = moving_ground(np.arange(5.0), np.zeros(3))
    assert moved_ground(still, moves).out_of(PLACES) == pytest.approx(PLACES + moves)


def test_some_samples_have_the_ground_of_theirs():
    ground, rows = carried_ground(platform()), np.array([1, 3])
    assert ground.at(rows).out_of(PLACES[rows]) == pytest.approx(ground.out_of(PLACES)[rows])


def test_heights_are_over_the_surface_or_over_the_level_that_is_known():
    still = np.eye(4)[None]
    assert Ground(still, level=0.3).over(PLACES) == pytest.approx(PLACES[:, 2] - 0.3)
    steps = Ground(still, surface=lambda places: (np.floor(places[:, 0]), np.tile([0.0, 0.0, 1.0], (len(places), 1))), level=0.3)
    assert steps.over(PLACES) == pytest.approx(PLACES[:, 2] - np.floor(PLACES[:, 0]))
    heights, normals = level_surface(-0.2)(PLACES)
    assert heights.tolist() == [-0.2] * COUNT
    assert normals.tolist() == [[0.0, 0.0, 1.0]] * COUNT


def test_there_is_ground_where_the_surface_has_a_normal_and_everywhere_if_none_is_known():
    still = np.eye(4)[None]
    half = Ground(still, surface=lambda places: (places[:, 2], (places[:, :1] > 0.0) * [0.0, 0.0, 1.0]))
    assert half.is_below(np.array([1.0, 0.0, 9.0]))
    assert not half.is_below(np.array([-1.0, 0.0, 9.0]))
    assert Ground(still).is_below(np.array([-1.0, 0.0, 9.0]))
