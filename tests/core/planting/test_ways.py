"""Which edges of a contact are a foot on its way, and which are a slide that is to be planted."""

import numpy as np
import pytest

from twobone_addon.core.contacts.states import ContactState
from twobone_addon.core.planting.goals import without_ways
from twobone_addon.core.planting.pins import Foot

LEG = 0.9
BOTH = int(ContactState.BOTH)


def foot_along(way):
    """A foot that lies flat and goes along by `way` metres at each frame."""
    ankles = np.array([[0.0, along, 0.08] for along in way])
    return Foot(ankles, np.tile(np.eye(3), (len(way), 1, 1)), np.array([0.0, 0.0, -0.08]), np.array([0.0, 0.14, -0.08]))


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("is_end", [False, True])
def test_a_foot_that_stands_and_then_slides_stands_meanwhile(rate, is_end):
    """As in a jump that was carried onto shorter legs: they stand, and are dragged as soon as the body goes down."""
    still, slides = round(0.8 * rate), round(0.7 * rate)
    way = np.concatenate([np.zeros(still), np.linspace(0.0, 0.03, slides)])
    states = np.full(len(way), BOTH)
    assert np.array_equal(without_ways(foot_along(way if is_end else way[::-1]), states, LEG, rate), states)


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("is_end", [False, True])
def test_a_foot_that_is_still_or_already_on_its_way_does_not_stand(rate, is_end):
    still, moves = round(0.5 * rate), max(1, round(0.07 * rate))
    way = np.concatenate([np.zeros(still), np.linspace(0.0, 0.05, moves + 1)[1:]])
    states = np.where(np.arange(len(way)) < still, BOTH, 0)
    found = without_ways(foot_along(way if is_end else way[::-1]), np.full(len(way), BOTH), LEG, rate)
    assert np.array_equal(found, states if is_end else states[::-1])
