"""How much feet skate: known slides of known walks."""

import numpy as np
import pytest

from tests.core.contacts.counter import glide_on_ice
from tests.core.contacts.gait import WALK, feet_of
from twobone_addon.core.contacts.skating import skate_share, skating_frames

RATES = (24, 30, 60, 120)


def share_of(feet):
    return skate_share(feet.points[:, 1], feet.leg_length, feet.rate)


@pytest.mark.parametrize("rate", RATES)
def test_a_walk_whose_feet_stand_hardly_skates(rate):
    """Balls are low for some frames before they land and after they lift, and move then."""
    feet = feet_of(WALK, rate=rate)
    low, skating = skating_frames(feet.points[:, 1], feet.leg_length, rate)
    assert not (skating & feet.stands[:, 1])[:, 1:-1][~edges(feet.stands[:, 1])].any()
    assert (low | ~feet.stands[:, 1]).all()
    assert share_of(feet) < 0.25


def edges(stands):
    """`(C, F - 2)` where the frame before or after is unlike."""
    return (stands[:, 1:-1] != stands[:, :-2]) | (stands[:, 1:-1] != stands[:, 2:])


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("speed, expected", [(0.5, 0.0), (0.6, 1.0), (2.0, 1.0)])
def test_feet_that_glide_skate_from_half_a_leg_a_second_on(speed, expected, rate):
    assert share_of(glide_on_ice(speed, rate=rate)) == expected


@pytest.mark.parametrize("length", [0.9, 0.02, 90.0])
def test_the_size_of_the_character_and_the_height_of_the_floor_make_no_difference(length):
    feet = feet_of(WALK, rate=30, leg_length=length)
    raised = feet.points[:, 1] + np.array([0.0, 0.0, 3.0 * length])
    assert skate_share(raised, length, 30) == pytest.approx(share_of(feet_of(WALK, rate=30)), abs=0.01)


def test_one_foot_of_two_that_slides_is_half_of_all():
    points = np.zeros((2, 40, 3))
    points[1, :, 0] = 1.0 * np.arange(40) / 30
    assert skate_share(points, 1.0, 30) == 0.5


def test_a_single_frame_does_not_skate():
    assert skate_share(np.zeros((2, 1, 3)), 1.0, 30) == 0.0
