"""Which edges of a contact are a foot on its way, and which are a slide that is to be planted."""

import math

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
    still, moves = round(0.5 * rate), math.ceil(0.1 * rate)
    way = np.concatenate([np.zeros(still), np.linspace(0.0, 0.05, moves + 1)[1:]])
    states = np.where(np.arange(len(way)) < still, BOTH, 0)
    found = without_ways(foot_along(way if is_end else way[::-1]), np.full(len(way), BOTH), LEG, rate)
    assert np.array_equal(found, states if is_end else states[::-1])


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
def test_a_foot_that_rests_a_little_beside_before_it_lies_has_landed(rate):
    """As on a slope, where a heel stands still from its strike on, and is moved by some millimetres as the sole comes down."""
    way = np.concatenate([np.full(max(2, round(0.09 * rate)), 0.003), np.zeros(round(0.5 * rate))])
    states = np.full(len(way), BOTH)
    assert np.array_equal(without_ways(foot_along(way), states, LEG, rate), states)


def test_a_heel_that_still_comes_down_beside_a_ball_that_stands_does_not_stand_in_a_contact_of_three_frames():
    """As in a run at 24 frames a second."""
    pitches = np.array([0.12, 0.0, 0.0])
    turns = np.tile(np.eye(3), (3, 1, 1))
    turns[:, 1, 1] = turns[:, 2, 2] = np.cos(pitches)
    turns[:, 2, 1], turns[:, 1, 2] = -np.sin(pitches), np.sin(pitches)
    ball = np.array([0.0, 0.14, -0.08])
    foot = Foot(-turns @ ball, turns, np.array([0.0, 0.0, -0.08]), ball)
    found = without_ways(foot, np.full(3, BOTH), LEG, 24)
    assert found.tolist() == [int(ContactState.BALL), BOTH, BOTH]
