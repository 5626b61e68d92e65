"""A heel comes up about its ball as little as is needed for the leg to reach, and only where nothing else stands."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.planting.goals import FootGoals
from twobone_addon.core.planting.heels import MOST, with_heels_up
from twobone_addon.core.planting.pins import Foot

HEEL, BALL = np.array([0.0, -0.05, -0.08]), np.array([0.0, 0.13, -0.07])
COUNT, FLAT, LEFT, WINDOW = 80, 30, 60, 8
"""Samples: of all, up to which the heel stands, and from which nothing does."""


def pitched(angles):
    """Rotations about X: toes up for a positive angle."""
    turns = np.tile(np.eye(3), (len(angles), 1, 1))
    turns[:, 1, 1] = turns[:, 2, 2] = np.cos(angles)
    turns[:, 1, 2], turns[:, 2, 1] = -np.sin(angles), np.sin(angles)
    return turns


def stance(yaw=0.0, *, heel_at_ankle=False):
    """A foot that stands flat, rolls over its ball and leaves; its goals."""
    angles = np.interp(np.arange(COUNT), [FLAT, LEFT, COUNT], [0.0, -0.4, -0.6])
    way = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    turns = way @ pitched(angles)
    heel = np.zeros(3) if heel_at_ankle else HEEL
    ankles = way @ np.array([0.0, 0.13, 0.0]) - turns @ BALL
    rows = np.arange(COUNT)
    foot = Foot(ankles, turns, heel, BALL)
    return foot, FootGoals(ankles, turns, rows < LEFT, np.zeros(COUNT, bool)), rows < FLAT, way


def raised(short, yaw=0.0, *, heel_at_ankle=False):
    """Goals before and after; hips `(S, 3)` go forward and are farther away than the leg reaches by `short` `(S,)`."""
    foot, goals, on_heel, way = stance(yaw, heel_at_ankle=heel_at_ankle)
    hips = goals.ankles + np.stack([0.0 * np.arange(COUNT), np.linspace(0.0, 0.4, COUNT), np.full(COUNT, 0.8)], axis=-1) @ way.T
    reaches = np.linalg.norm(hips - goals.ankles, axis=1) - short
    new = with_heels_up(foot, goals, on_heel=on_heel, hips=hips, reaches=reaches, window=WINDOW)
    return goals, new, hips, reaches


def angles_between(goals, new):
    cosines = (np.trace(new.turns @ np.swapaxes(goals.turns, 1, 2), axis1=1, axis2=2) - 1.0) / 2.0
    return np.arccos(np.clip(cosines, -1.0, 1.0))


def needs(most, first=FLAT + 12, last=LEFT):
    short = np.full(COUNT, -0.01)
    short[first:last] = most * np.sin(np.linspace(0.0, np.pi / 2.0, last - first))
    return short


@given(st.floats(0.001, 0.015), st.floats(-np.pi, np.pi))
def test_the_leg_reaches_the_ball_stays_and_the_heel_comes_up(most, yaw):
    goals, new, hips, reaches = raised(needs(most), yaw)
    pinned = np.arange(COUNT) < LEFT
    assert np.all(np.linalg.norm(new.ankles - hips, axis=1)[pinned] <= reaches[pinned] + 1e-9)
    moved = (new.ankles + new.turns @ BALL) - (goals.ankles + goals.turns @ BALL)
    assert np.abs(moved[pinned]).max() < 1e-12
    lifted = (new.ankles + new.turns @ HEEL)[:, 2] - (goals.ankles + goals.turns @ HEEL)[:, 2]
    assert np.all(lifted[pinned] >= 0.0)
    assert lifted.max() > 0.0


@given(st.floats(0.001, 0.015))
def test_it_comes_up_no_farther_than_its_neighbours_need(most):
    """Tried out: by less than the largest lift near by, the leg would not reach at the frame that needs it."""
    goals, new, hips, reaches = raised(needs(most))
    at = LEFT - 1
    for part in (0.9, 0.99):
        angle = part * angles_between(goals, new)[at]
        turn = pitched(np.array([-angle]))[0] @ goals.turns[at]
        ankle = goals.ankles[at] + goals.turns[at] @ BALL - turn @ BALL
        assert np.linalg.norm(ankle - hips[at]) > reaches[at]


def test_where_the_heel_stands_and_away_from_what_needs_it_nothing_changes():
    goals, new, _, _ = raised(needs(0.01, FLAT + 12, FLAT + 20))
    turned = angles_between(goals, new) > 1e-7
    rows = np.arange(COUNT)
    assert not turned[rows < FLAT].any()
    assert not turned[rows >= FLAT + 20 + 1.5 * WINDOW].any()
    assert np.array_equal(new.turned, turned)
    assert np.array_equal(new.ankles[~turned], goals.ankles[~turned])


def test_it_comes_and_goes_gradually_and_by_no_more_than_its_limit():
    goals, new, _, _ = raised(needs(0.2))
    angles = angles_between(goals, new)
    assert angles.max() == pytest.approx(MOST)
    assert np.abs(np.diff(angles)).max() < MOST / 3.0


@pytest.mark.parametrize("short", [needs(-0.01), np.where(np.arange(COUNT) < FLAT, 0.01, -0.01)], ids=["reaches", "heel stands"])
def test_a_leg_that_reaches_and_a_foot_whose_heel_stands_are_left_alone(short):
    goals, new, _, _ = raised(short)
    assert new is goals


def test_a_hip_that_is_behind_the_ball_is_not_reached_by_lifting_the_heel():
    foot, goals, on_heel, _ = stance()
    hips = goals.ankles + np.array([0.0, -0.8, 0.1])
    reaches = np.linalg.norm(hips - goals.ankles, axis=1) - 0.01
    new = with_heels_up(foot, goals, on_heel=on_heel, hips=hips, reaches=reaches, window=WINDOW)
    assert np.array_equal(new.turns, goals.turns)
    assert np.array_equal(new.ankles, goals.ankles)
    assert not new.turned.any()


def test_a_foot_without_a_heel_of_its_own_keeps_its_orientation():
    goals, new, _, _ = raised(needs(0.01), heel_at_ankle=True)
    assert np.array_equal(new.turns, goals.turns)
    assert np.array_equal(new.ankles, goals.ankles)


def test_the_ball_of_a_foot_stays_while_a_scale_above_it_changes():
    foot, goals, on_heel, _ = stance()
    stretches = np.eye(3) * np.linspace(1.0, 1.2, COUNT)[:, None, None] * np.array([1.0, 1.0, 0.9])
    foot = replace(foot, stretches=stretches)
    hips = goals.ankles + np.stack([np.zeros(COUNT), np.linspace(0.0, 0.4, COUNT), np.full(COUNT, 0.8)], axis=-1)
    reaches = np.linalg.norm(hips - goals.ankles, axis=1) - needs(0.005)
    new = with_heels_up(foot, goals, on_heel=on_heel, hips=hips, reaches=reaches, window=WINDOW)
    moved = new.ankles - goals.ankles + (stretches @ ((new.turns - goals.turns) @ BALL)[..., None])[..., 0]
    assert angles_between(goals, new).max() > 0.01
    assert np.abs(moved[np.arange(COUNT) < LEFT]).max() < 1e-12
