"""Ground under feet: how steep stances are, and how far the root follows."""

import numpy as np
import pytest

from twobone_addon.contacts.ground import is_of_flat_ground
from twobone_addon.planting.goals import SAMPLES_PER_FRAME
from twobone_addon.planting.pins import Foot
from twobone_addon.planting.terrain import common_rise, standing, tilted

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
    found = standing(foot, ON, ON, surface=surface, ball_height=BALL_HEIGHT, steepest=np.radians(steepest))
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
