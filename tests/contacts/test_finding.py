"""Contacts found in walks and runs whose contacts are known: clean and spoiled, of all sizes and rates, on a belt as well."""

from dataclasses import astuple, replace

import numpy as np
import pytest

from tests.contacts.gait import (
    RUN,
    WALK,
    feet_of,
    floating,
    noisy,
    on_belt,
    sliding,
    with_shorter_legs,
)
from twobone_addon.contacts.feet import FeetMotion
from twobone_addon.contacts.finding import find_states
from twobone_addon.contacts.ground import ground_height, ground_velocity, velocity_of_stances
from twobone_addon.contacts.thresholds import Thresholds, completed

RATES = (24, 30, 60, 120)
GAITS = {"walk": WALK, "run": RUN}
CLEAN, LOSS = 0.95, 0.03
"""Least F1 of a foot's contact, and how much of it bad data may cost."""
HEEL, BALL = 1, 2

each_gait = pytest.mark.parametrize("gait", GAITS.values(), ids=GAITS)
each_rate = pytest.mark.parametrize("rate", RATES)


def motion_of(feet):
    return FeetMotion(feet.points, feet.points[..., 2], feet.hips, feet.leg_length, feet.rate)


def found(feet, thresholds=None):
    """States, ground velocity and height, found from the points alone."""
    motion = motion_of(feet)
    velocity = ground_velocity(motion)
    motion = motion.beside(velocity)
    height = ground_height(motion)
    return find_states(motion.over(height), thresholds or Thresholds()), velocity, height


def f1(found, true):
    both = np.count_nonzero(found & true)
    return 2 * both / (np.count_nonzero(found) + np.count_nonzero(true))


def score(cases):
    """F1 of whether the feet of all cases stand."""
    pairs = [(found(feet)[0] > 0, feet.states > 0) for feet in cases]
    return f1(*(np.concatenate([pair[which].ravel() for pair in pairs]) for which in (0, 1)))


def spoiled(feet, rng):
    """The same feet with each fault, and with all at once."""
    slow, fast = sliding(feet, rng, [0.05, 0.1, 0.2]), sliding(feet, rng, [0.3])
    high, short = floating(feet, rng, np.linspace(0, 0.03, 7)), with_shorter_legs(feet, 0.05)
    all_at_once = noisy(floating(with_shorter_legs(slow, 0.03), rng, np.linspace(0, 0.03, 7)), rng)
    return {"slow": slow, "fast": fast, "high": high, "short": short, "noisy": noisy(feet, rng), "all": all_at_once}


@each_gait
@pytest.mark.parametrize("belt", [False, True], ids=["world", "belt"])
def test_clean_contacts_are_found(gait, belt):
    cases = [feet_of(gait, rate=rate) for rate in RATES]
    if belt:
        cases = [on_belt(feet, [0.0, -0.9 * gait.speed, 0.0]) for feet in cases]
    assert score(cases) >= CLEAN


@each_gait
@pytest.mark.parametrize("belt", [False, True], ids=["world", "belt"])
@pytest.mark.parametrize("fault", ["slow", "fast", "high", "short", "noisy", "all"])
def test_bad_data_costs_little(gait, belt, fault):
    clean = [feet_of(gait, rate=rate) for rate in RATES]
    if belt:
        clean = [on_belt(feet, [0.0, -0.9 * gait.speed, 0.0]) for feet in clean]
    rng = np.random.default_rng(7)
    assert score([spoiled(feet, rng)[fault] for feet in clean]) >= score(clean) - LOSS


@each_gait
@each_rate
def test_the_size_of_the_character_makes_no_difference(gait, rate):
    for belt in (0.0, -0.9 * gait.speed):
        sizes = {length: feet_of(gait, rate=rate, leg_length=length) for length in (0.9, 0.02, 47.0)}
        (usual, velocity, _), *others = (found(on_belt(feet, [0.0, length * belt, 0.0])) for length, feet in sizes.items())
        for length, (states, own, _) in zip(list(sizes)[1:], others, strict=True):
            assert np.array_equal(usual, states)
            assert own / length == pytest.approx(velocity / 0.9)


@each_gait
@each_rate
def test_which_points_stand_is_found_as_well(gait, rate):
    feet = feet_of(gait, rate=rate)
    states, _, _ = found(feet)
    assert f1((states & HEEL) > 0, (feet.states & HEEL) > 0) >= 0.8
    assert f1((states & BALL) > 0, (feet.states & BALL) > 0) >= 0.85


@each_gait
@each_rate
def test_a_step_goes_from_heel_to_toe(gait, rate):
    for states in found(feet_of(gait, rate=rate))[0]:
        steps = np.split(states, np.flatnonzero(np.diff(states > 0)) + 1)[1:-1]
        assert all(step.tolist() in in_order(step) for step in steps)


def in_order(step):
    """What a step may look like: heel, then both, then ball, of any length each."""
    counts = [np.count_nonzero(step == state) for state in (1, 3, 2)]
    return [[0] * len(step), np.repeat([1, 3, 2], counts).tolist()]


@each_gait
@each_rate
def test_the_velocity_of_a_belt_is_found_wherever_it_runs(gait, rate):
    for velocity in (np.array([0.0, -0.9, 0.0]) * gait.speed, np.array([0.5, 0.7, 0.0]) * gait.speed):
        walking = feet_of(gait, rate=rate)
        still = on_belt(walking, [0.0, -0.9 * gait.speed, 0.0])
        # The character is turned, and its belt with it.
        angle = np.arctan2(velocity[1], velocity[0]) - np.arctan2(-1, 0)
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        feet = replace(still, points=still.points @ turn.T, hips=still.hips @ turn.T)
        expected = turn @ [0.0, -0.9 * gait.speed, 0.0]
        assert np.linalg.norm(found(feet)[1] - expected) <= 0.03 * np.linalg.norm(expected)


@each_gait
@each_rate
def test_who_gets_along_is_on_no_belt_however_the_feet_slide(gait, rate):
    rng = np.random.default_rng(3)
    for feet in (feet_of(gait, rate=rate), *spoiled(feet_of(gait, rate=rate), rng).values()):
        assert not found(feet)[1].any()


def test_the_height_of_the_ground_is_found():
    feet = feet_of(WALK, rate=60)
    raised = replace(feet, points=feet.points + np.array([0.0, 0.0, 1.3]))
    states, _, height = found(raised)
    assert height == pytest.approx(1.3, abs=1e-3)
    assert np.array_equal(states, found(feet)[0])


@pytest.mark.parametrize("length", [0.9, 90.0])
def test_a_foot_at_rest_may_point_down(length):
    """The heel of a standing foot may be higher than the ball if the rest pose says otherwise: its own level counts."""
    feet = feet_of(WALK, rate=120, leg_length=length)
    points = feet.points.copy()
    points[:, 0, :, 2] += 0.1 * length
    assert np.mean(found(replace(feet, points=points))[0] == found(feet)[0]) >= 0.98


def test_feet_that_all_glide_never_stand():
    """Nothing is to be found where no foot stands, however slow it is."""
    points = np.zeros((2, 2, 60, 3))
    points[..., 1] = 0.15 * 0.9 * np.arange(60) / 30.0
    feet = FeetMotion(points, points[..., 2], np.ones((2, 60, 3)), 0.9, 30.0)
    assert not find_states(feet, Thresholds()).any()


@pytest.mark.parametrize("raised, other", [(0, BALL), (1, HEEL)], ids=["heel", "toes"])
def test_a_heel_or_toes_that_are_raised_slowly_do_not_stand(raised, other):
    """By 3 % of a leg in two thirds of a second: too slow and too low for anything else to tell."""
    points = np.zeros((2, 2, 150, 3))
    points[0, raised, :, 2] = 0.9 * 0.03 * np.interp(np.arange(150), [50, 70, 90, 110], [0.0, 1.0, 1.0, 0.0])
    feet = FeetMotion(points, points[..., 2], np.ones((2, 150, 3)), 0.9, 30.0)
    states = find_states(feet, Thresholds())
    assert set(states[0, 65:95]) == {other}
    assert set(states[0, :50]) | set(states[0, 110:]) | set(states[1]) == {HEEL | BALL}


def test_a_raised_foot_that_is_held_still_does_not_stand():
    points = np.zeros((2, 2, 60, 3))
    points[1, :, :, 2] = 0.4
    feet = FeetMotion(points, points[..., 2], np.ones((2, 60, 3)), 0.9, 30.0)
    states = find_states(feet, Thresholds())
    assert (states[0] == HEEL | BALL).all()
    assert not states[1].any()


def test_a_single_frame_stands_by_its_height():
    points = np.zeros((2, 2, 1, 3))
    points[1, :, :, 2] = 0.4
    feet = FeetMotion(points, points[..., 2], np.ones((2, 1, 3)), 0.9, 30.0)
    assert not ground_velocity(feet).any()
    assert find_states(feet, Thresholds()).tolist() == [[3], [0]]


def test_thresholds_that_are_given_count():
    feet = feet_of(WALK, rate=60)
    usual = np.count_nonzero(found(feet)[0])
    assert np.count_nonzero(found(feet, Thresholds(enter_speed=2.0, leave_speed=2.5))[0]) > usual
    assert np.count_nonzero(found(feet, Thresholds(enter_height=1e-9, leave_height=1e-9))[0]) < usual
    assert not found(feet, Thresholds(least_length=100.0))[0][:, 1:-1].any(axis=0)[60:200].any()
    assert (found(feet, Thresholds(longest_gap=100.0))[0][:, 60:200] > 0).all()


def test_given_thresholds_stay_as_they_are_and_leaving_is_never_stricter_than_entering():
    feet = motion_of(feet_of(WALK, rate=60))
    given = Thresholds(1.0, 2.0, 0.3, 0.4, 0.05, 6.0, 7.0)
    assert completed(given, feet) == given
    strict = completed(Thresholds(enter_speed=1.0, leave_speed=0.5, enter_height=0.3, leave_height=0.1), feet)
    assert (strict.leave_speed, strict.leave_height) == (1.0, 0.3)
    found = completed(Thresholds(enter_speed=1.0, enter_height=0.3), feet)
    assert 1.0 < found.leave_speed < 2.0
    assert 0.3 < found.leave_height < 0.6


def test_thresholds_that_nobody_gives_follow_size_and_frame_rate():
    usual, large, fast = (
        astuple(completed(Thresholds(), motion_of(feet_of(WALK, rate=rate, leg_length=length))))
        for rate, length in ((60, 0.9), (60, 9.0), (120, 0.9))
    )
    assert large[:5] == pytest.approx([10.0 * value for value in usual[:5]])
    assert large[5:] == usual[5:]
    assert fast[2:5] == usual[2:5]
    assert fast[5:] == pytest.approx([2.0 * value for value in usual[5:]])
    assert all(value > 0.0 for value in usual)


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_a_foot_that_would_never_stand_may_be_faster_than_the_others(size):
    feet = feet_of(RUN, rate=60, leg_length=0.9 * size)
    slid = sliding(feet, np.random.default_rng(7), [1.0 * size]).points
    one_slides = replace(feet, points=np.array([feet.points[0], slid[1]]))
    states = found(one_slides)[0]
    assert f1(states[0] > 0, feet.states[0] > 0) >= CLEAN
    assert f1(states[1] > 0, feet.states[1] > 0) >= 0.9
    given = found(one_slides, Thresholds(enter_speed=0.45 * size))[0]
    assert given[0].any()
    assert not given[1].any()


def test_a_foot_that_is_held_up_never_stands():
    feet = feet_of(RUN, rate=60)
    held = feet.points[1] * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.3 * feet.leg_length]
    states = found(replace(feet, points=np.array([feet.points[0], held])))[0]
    assert states[0].any()
    assert not states[1].any()


@pytest.mark.parametrize("spoiled", [0.0, 0.02])
def test_what_stands_tells_the_velocity_of_its_ground(spoiled):
    """Three stances, each in its own place, on one belt; a fourth point never stands."""
    velocity, rate, chance = np.array([0.3, -1.2, 0.0]), 30.0, np.random.default_rng(3)
    points, stands = chance.normal(size=(3, 40, 3)), np.zeros((3, 40), bool)
    for point, first, last in ((0, 2, 9), (0, 20, 21), (1, 5, 30)):
        rows = np.arange(first, last + 1)
        points[point, rows], stands[point, rows] = chance.normal(size=3) + velocity * rows[:, None] / rate, True
    points[1, 17, 2] += spoiled
    found, off = velocity_of_stances(points, stands, rate)
    assert found[:2] == pytest.approx(velocity[:2], abs=1e-12)
    assert off == pytest.approx(spoiled, abs=1e-12 + 0.05 * spoiled)
    alone = stands & (np.arange(40) == 5)
    assert velocity_of_stances(points, alone, rate)[1] == 0.0
    assert not velocity_of_stances(points, alone, rate)[0].any()
