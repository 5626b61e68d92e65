"""Ground under feet: how steep stances are, and how far the root follows."""

import numpy as np
import pytest

from twobone_addon.core.contacts.ground import is_of_flat_ground
from twobone_addon.core.planting.goals import SAMPLES_PER_FRAME
from twobone_addon.core.planting.pins import Foot
from twobone_addon.core.planting.terrain import common_rise, standing, tilted

HEEL, BALL, BALL_HEIGHT = np.array([0.0, -0.05, -0.08]), np.array([0.0, 0.13, -0.06]), 0.02
FRAMES = 30
SAMPLES = (FRAMES - 1) * SAMPLES_PER_FRAME + 1
ON = np.zeros(FRAMES, bool)
ON[10:20] = True


def slope(along, across=0.0):
    """Ground that rises by so much along Y and along X."""
    normal = np.array([-across, -along, 1.0]) / np.sqrt(1.0 + along**2 + across**2)
    return lambda places: (along * places[:, 1] + across * places[:, 0], np.tile(normal, (len(places), 1)))


def step(places):
    """A step up of 30 cm below the ball."""
    return np.where(places[:, 1] > 0.0, 0.3, 0.0), np.tile([0.0, 0.0, 1.0], (len(places), 1))


def lying(surface, steepest):
    ankles = np.column_stack([np.zeros(SAMPLES), 0.01 * np.arange(SAMPLES) / SAMPLES - 0.01, np.full(SAMPLES, 0.08)])
    foot = Foot(ankles, np.tile(np.eye(3), (SAMPLES, 1, 1)), HEEL, BALL)
    found = standing(foot, ON, ON, surface=surface, ball_height=BALL_HEIGHT, steepest=np.radians(steepest), is_new=True)
    return tilted(found, FRAMES)


def up_of(found):
    """Where the foot's own up points while it stands."""
    return found.foot.turns[15 * SAMPLES_PER_FRAME][:, 2]


@pytest.mark.parametrize("along, across", [(0.3, 0.0), (-0.2, 0.0), (0.1, 0.25), (0.0, -0.3)])
def test_a_flat_foot_is_as_steep_as_the_ground(along, across):
    surface = slope(along, across)
    assert up_of(lying(surface, 40.0)) == pytest.approx(surface(np.zeros((1, 3)))[1][0], abs=1e-9)


def test_no_foot_is_steeper_than_its_ankle_allows():
    assert np.degrees(np.arccos(up_of(lying(slope(0.5), 12.0))[2])) == pytest.approx(12.0)


def test_over_the_edge_of_a_step_a_foot_lies_on_the_higher_side():
    found = lying(step, 40.0)
    assert up_of(found) == pytest.approx([0.0, 0.0, 1.0])
    assert found.height(np.array([0.0, -0.05, 0.0]), False, 10) == pytest.approx(0.3)  # noqa: FBT003 - the heel


def test_over_the_edge_of_a_slanting_step_a_foot_is_as_steep_as_the_step():
    slanting = slope(0.0, 0.1)
    found = lying(lambda places: (step(places)[0] + slanting(places)[0], slanting(places)[1]), 40.0)
    assert up_of(found) == pytest.approx(slanting(np.zeros((1, 3)))[1][0], abs=1e-9)


def test_the_root_follows_smoothly_and_no_leg_gets_longer():
    rng = np.random.default_rng(1)
    rises = np.cumsum(rng.normal(size=(2, 400)), axis=1) * 0.05
    common = common_rise(rises, 41)
    assert np.all(common <= rises.min(axis=0) + 1e-12)
    assert np.abs(np.diff(common, 2)).max() < 0.1 * np.abs(np.diff(rises, 2)).max()
    assert common_rise(np.full((2, 50), 0.7), 21) == pytest.approx(0.7)


def test_what_a_motion_was_made_for_is_told_by_where_it_stands():
    rng = np.random.default_rng(2)
    noise, ramp = rng.normal(scale=0.002, size=300), np.linspace(0.0, 0.5, 300)
    assert is_of_flat_ground(noise, noise - ramp, 0.9)
    assert not is_of_flat_ground(noise + ramp, noise, 0.9)
    assert not is_of_flat_ground(noise, noise, 0.9)
    assert is_of_flat_ground(noise, noise - 0.5, 0.9)
    assert not is_of_flat_ground(noise, np.full(300, np.nan), 0.9)


STEPS = (slice(0, 8), slice(18, FRAMES))
"""Frames in which a foot stands before and after a step of a metre along Y."""


def stepping(surface, steepest=40.0):
    """A foot that stands flat, flies, and stands again; laid on the ground but not yet tilted."""
    times = np.arange(SAMPLES) / SAMPLES_PER_FRAME
    ankles = np.column_stack([0.0 * times, np.interp(times, [7, 18], [0.0, 1.0]), 0.08 + 0.0 * times])
    on = np.zeros(FRAMES, bool)
    for frames in STEPS:
        on[frames] = True
    foot = Foot(ankles, np.tile(np.eye(3), (SAMPLES, 1, 1)), HEEL, BALL)
    return standing(foot, on, on, surface=surface, ball_height=BALL_HEIGHT, steepest=np.radians(steepest), is_new=True), on


def flat_then_steep(places):
    """Flat, and 30 cm up a slope of 3 in 10 from the middle of the way on."""
    far = places[:, 1] > 0.5
    normal = np.array([0.0, -0.3, 1.0]) / np.sqrt(1.09)
    return np.where(far, 0.3 + 0.3 * (places[:, 1] - 1.0), 0.0), np.where(far[:, None], normal, [0.0, 0.0, 1.0])


def pitches(found):
    """How much the foot rises along Y at each sample."""
    forwards = found.foot.turns[:, :, 1]
    return forwards[:, 2] / forwards[:, 1]


def test_a_foot_is_tilted_about_the_middle_of_its_sole():
    before, _ = stepping(flat_then_steep)
    after = tilted(before, FRAMES)
    middles = [(each.foot.points(HEEL) + each.foot.points(BALL)) / 2.0 for each in (before, after)]
    assert middles[1] == pytest.approx(middles[0], abs=1e-12)
    assert np.array_equal(after.tilted, np.abs(pitches(after)) > 0.0)


def test_off_the_ground_a_foot_turns_smoothly_from_one_stance_to_the_next():
    found = pitches(tilted(stepping(flat_then_steep)[0], FRAMES))
    left, landed = 7 * SAMPLES_PER_FRAME, 18 * SAMPLES_PER_FRAME
    assert found[: left + 1] == pytest.approx(0.0, abs=1e-12)
    assert found[landed:] == pytest.approx(0.3, abs=1e-9)
    between = found[left : landed + 1]
    assert np.all(np.diff(between) > 0.0)
    assert between == pytest.approx(0.3 - between[::-1], abs=1e-9)
    assert max(between[1], 0.3 - between[-2]) < 0.25 * 0.3 / len(between)


def test_a_foot_on_flat_ground_is_left_as_it_is():
    before, _ = stepping(slope(0.0))
    assert tilted(before, FRAMES) is before


def test_a_ball_is_between_straight_above_the_ground_and_square_to_it():
    found, _ = stepping(flat_then_steep)
    place = np.array([0.0, 1.1, 0.0])
    assert found.height(place, False, 20) == pytest.approx(0.33)  # noqa: FBT003 - the heel
    above = found.height(place, True, 20) - 0.33  # noqa: FBT003 - the ball
    assert BALL_HEIGHT < above < BALL_HEIGHT * np.sqrt(1.09)
    assert found.height(place, True, 12) - 0.33 == pytest.approx(BALL_HEIGHT)  # noqa: FBT003 - the ball, in the air


def test_on_ground_too_steep_for_its_ankle_a_foot_stands_on_its_higher_point():
    found = lying(slope(0.5), 12.0)
    higher, lower = (point[1] + found.foot.ankles[15 * SAMPLES_PER_FRAME, 1] for point in (BALL, HEEL))
    on_sole = [found.height(np.array([0.0, along, 0.0]), False, 15) for along in (higher, lower)]  # noqa: FBT003 - of the sole
    assert on_sole[0] == pytest.approx(0.5 * higher, abs=5e-3)
    assert on_sole[0] - on_sole[1] == pytest.approx(np.tan(np.radians(12.0)) * (higher - lower))


def test_feet_rise_with_the_ground_they_step_on():
    found, on = stepping(lambda places: (np.where(places[:, 1] > 0.5, 0.4, 0.1), np.tile([0.0, 0.0, 1.0], (len(places), 1))))
    rises = found.rises(on, on)
    assert rises[: 7 * SAMPLES_PER_FRAME + 1] == pytest.approx(0.1)
    assert rises[18 * SAMPLES_PER_FRAME :] == pytest.approx(0.4)
    assert np.all(np.diff(rises) >= 0.0)
    only_first = on & (np.arange(FRAMES) < 10)
    assert found.rises(only_first, only_first) == pytest.approx(0.1)
    assert not found.rises(np.zeros(FRAMES, bool), np.zeros(FRAMES, bool)).any()


def test_a_wall_does_not_tilt_a_foot():
    wall = lying(lambda places: (0.0 * places[:, 1], np.tile([0.0, -1.0, 0.0], (len(places), 1))), 40.0)
    assert up_of(wall).tolist() == [0.0, 0.0, 1.0]
