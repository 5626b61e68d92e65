"""Contacts found in walks and runs whose contacts are known: clean and spoiled, of all sizes and rates, on a belt as well."""

from dataclasses import replace

import numpy as np
import pytest

from tests.core.contacts.counter import counter_set, steps_in_place
from tests.core.contacts.gait import (
    RUN,
    WALK,
    feet_of,
    floating,
    noisy,
    on_belt,
    sliding,
    with_shorter_legs,
)
from twobone_addon.core.contacts.feet import FeetMotion
from twobone_addon.core.contacts.finding import Thresholds, find_story
from twobone_addon.core.contacts.ground import (
    ground_height,
    ground_velocity,
    is_of_flat_ground,
    standing_points,
    velocity_of_stances,
)
from twobone_addon.core.contacts.states import runs

RATES = (24, 30, 60, 120)
GAITS = {"walk": WALK, "run": RUN}
CLEAN = 0.95
"""Least F1 of a foot's contact."""
SPOILED = {"walk": 0.95, "run": 0.93}
"""Least F1 with bad data: contacts of a run last for a third of the time."""
HEEL, BALL = 1, 2

each_gait = pytest.mark.parametrize("gait", GAITS.values(), ids=GAITS)
each_rate = pytest.mark.parametrize("rate", RATES)


def motion_of(feet):
    return FeetMotion(feet.points, feet.points[..., 2], feet.hips, feet.leg_length, feet.rate)


def find_states(feet, thresholds, **how):
    return find_story(feet, thresholds, **how).states


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


@pytest.mark.parametrize("name", GAITS)
@pytest.mark.parametrize("belt", [False, True], ids=["world", "belt"])
@pytest.mark.parametrize("fault", ["slow", "fast", "high", "short", "noisy", "all"])
def test_bad_data_costs_little(name, belt, fault):
    clean = [feet_of(GAITS[name], rate=rate) for rate in RATES]
    if belt:
        clean = [on_belt(feet, [0.0, -0.9 * GAITS[name].speed, 0.0]) for feet in clean]
    rng = np.random.default_rng(7)
    assert score([spoiled(feet, rng)[fault] for feet in clean]) >= SPOILED[name]


@each_rate
def test_jitter_of_two_centimetres_costs_little(rate):
    """As bad video has it."""
    rng = np.random.default_rng(7)
    assert score([noisy(feet_of(WALK, rate=rate), rng, meters=0.02) for _ in range(4)]) >= 0.92


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
def test_steps_that_speed_up_and_slow_down_have_the_same_belt_at_every_rate(gait):
    """As in stylised cycles, which no belt fits: at each rate other moments of them are seen."""
    speeds = []
    for rate in RATES:
        feet = on_belt(feet_of(gait, rate=rate), [0.0, -0.9 * gait.speed, 0.0])
        points = feet.points.copy()
        for side, states in enumerate(feet.states):
            for first, last in runs(states > 0):
                parts = (np.arange(first, last + 1) - first + 0.3) / (last - first + 1)
                points[side, :, first : last + 1, 1] += 0.1 * gait.stride * gait.duty * np.sin(2.0 * np.pi * parts)
        speeds.append(-found(replace(feet, points=points))[1][1])
    assert max(speeds) <= 1.2 * min(speeds)


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


def test_the_ground_is_below_a_low_board_on_which_feet_stand_for_longer():
    """Of 4 cm: thinner is a sole."""
    points = np.zeros((2, 2, 100, 3))
    points[:, :, 30:, 2] = 0.04
    assert ground_height(FeetMotion(points, points[..., 2], np.ones((2, 100, 3)), 0.9, 30.0)) == 0.0


def test_of_a_foot_that_rests_its_lower_point_stands_until_it_goes():
    points = np.zeros((2, 2, 60, 3))
    points[:, 1, :, 2] = 0.1
    points[0, 0, 30:, 1] = 0.9 * np.arange(1, 31) / 30.0
    stands = standing_points(FeetMotion(points, points[..., 2], np.ones((2, 60, 3)), 0.9, 30.0))
    assert stands[:, 0, :30].all()
    assert stands[1, 0].all()
    assert not stands[0, 0, 31:].any()
    assert not stands[:, 1].any()


@pytest.mark.parametrize("duty", [0.2, 0.28])
def test_of_the_fastest_feet_none_is_left_without_a_contact(duty):
    feet = feet_of(replace(RUN, cycle=0.35, duty=duty, stride=1.5, lift=0.3), rate=24, seconds=3.0)
    assert (found(feet)[0] > 0).any(axis=1).all()


@pytest.mark.parametrize("closed", [1, 0], ids=["the first pose again", "a step before it"])
@pytest.mark.parametrize("gait, rate", [(WALK, 30), (RUN, 25), (RUN, 50)])
def test_one_round_of_a_cycle_has_its_contacts_wherever_it_is_cut(gait, rate, closed):
    whole, period = feet_of(gait, rate=rate), round(gait.cycle * rate)
    for start in range(0, period, 3):
        rows = slice(start, start + period + closed)
        one = replace(whole, points=whole.points[..., rows, :], hips=whole.hips[:, rows], stands=whole.stands[..., rows])
        assert f1(found(one)[0] > 0, one.states > 0) >= 0.94, start


@pytest.mark.parametrize("rate, between", [(30, 1), (60, 2)])
def test_a_step_of_five_centimetres_is_a_step_however_quick(rate, between):
    """Four centimetres high, between two stands on one spot each."""
    points = np.zeros((2, 2, 2 * rate, 3))
    points[1, :, :, 0], points[:, 1, :, 1] = 0.2, 0.2
    done = np.clip((np.arange(2 * rate) - rate) / (between + 1), 0.0, 1.0)
    points[0, :, :, 1] += 0.05 * done
    points[0, :, :, 2] += 0.04 * np.sin(np.pi * done)
    hips = np.tile([0.1, 0.1, 0.9], (2, 2 * rate, 1))
    hips[..., 1] += np.linspace(0.0, 0.025, 2 * rate)
    states = find_states(FeetMotion(points, points[..., 2], hips, 0.9, float(rate)), Thresholds())
    assert (states[0, rate + 1 : rate + 1 + between] == 0).any()
    assert states[1].all()


@pytest.mark.parametrize("rate", [30, 120])
@pytest.mark.parametrize("moved, contacts", [(0.006, 1), (0.02, 2)])
def test_a_recorded_foot_that_creeps_from_one_place_to_the_next_has_a_contact_in_each(moved, contacts, rate):
    """It trembles by half a millimetre, and creeps for half a second between two rests."""
    rng, count = np.random.default_rng(2), 3 * rate
    points = np.zeros((2, 2, count, 3))
    points[1, :, :, 0], points[:, 1, :, 1] = 0.2, 0.2
    points[0, :, :, 1] += moved * np.clip((np.arange(count) / rate - 1.25) / 0.5, 0.0, 1.0)
    points[..., :2] += rng.uniform(-2.5e-4, 2.5e-4, (2, 1, count, 2))
    hips = np.tile([0.1, 0.1, 0.9], (2, count, 1))
    states = find_states(FeetMotion(points, points[..., 2], hips, 0.9, float(rate)), Thresholds())
    assert len(runs(states[0] > 0)) == contacts
    assert states[1].all()


@pytest.mark.parametrize("rate", [24, 60])
def test_a_foot_that_is_held_before_it_comes_down_lands_after_its_hold(rate):
    """As before the first key of a step: 7 cm above the ground, and 4 cm behind where it stands."""
    held, count = rate // 4, 2 * rate
    points = np.zeros((2, 2, count, 3))
    points[1, :, :, 0], points[:, 1, :, 1] = 0.2, 0.2
    away = np.clip(1.0 - (np.arange(count) - held) / (rate / 6), 0.0, 1.0)
    points[0] -= away[:, None] * [0.0, 0.04, -0.07]
    hips = np.tile([0.1, 0.1, 0.9], (2, count, 1))
    states = find_states(FeetMotion(points, points[..., 2], hips, 0.9, float(rate)), Thresholds())
    standing = runs(states[0] > 0)
    assert all(last <= held or away[first:].max() * 0.07 < 0.03 for first, last in standing)
    assert standing[-1][1] == count - 1


@pytest.mark.parametrize("length", [0.9, 90.0])
def test_a_motion_belongs_on_the_ground_that_its_standing_points_follow(length):
    hills, tremble = 0.15 * np.sin(np.arange(40)) * length, 0.001 * np.cos(3 * np.arange(40)) * length
    nowhere, far = np.full(40, np.nan), np.full(40, 0.5 * length)
    assert not is_of_flat_ground(hills, tremble, length), "it goes up and down with the surface"
    assert is_of_flat_ground(tremble, -hills, length), "it is level where the surface is not"
    assert not is_of_flat_ground(tremble, tremble, length), "the surface is level as well"
    assert is_of_flat_ground(tremble, far + tremble, length), "the surface is somewhere else"
    assert not is_of_flat_ground(tremble, nowhere, length), "there is no surface below, so nothing is told of one"
    assert is_of_flat_ground(tremble, np.where(np.arange(40) < 20, np.nan, -hills), length), (
        "what is below no surface says nothing"
    )


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


def test_feet_that_glide_stand_where_a_given_speed_allows_it():
    """The same feet: they are slower than what a person says that a foot on the ground may slide with."""
    points = np.zeros((2, 2, 60, 3))
    points[..., 1] = 0.15 * 0.9 * np.arange(60) / 30.0
    feet = FeetMotion(points, points[..., 2], np.ones((2, 60, 3)), 0.9, 30.0)
    assert find_states(feet, Thresholds(enter_speed=0.3, leave_speed=0.4)).all()


@pytest.mark.parametrize("raised, other", [(0, BALL), (1, HEEL)], ids=["heel", "toes"])
def test_a_heel_or_toes_that_are_raised_slowly_do_not_stand(raised, other):
    """By 3 % of a leg in two thirds of a second: too slow and too low for anything else to tell."""
    points = np.zeros((2, 2, 150, 3))
    points[0, raised, :, 2] = 0.9 * 0.03 * np.interp(np.arange(150), [50, 70, 90, 110], [0.0, 1.0, 1.0, 0.0])
    feet = FeetMotion(points, points[..., 2], np.ones((2, 150, 3)), 0.9, 30.0)
    states = find_states(feet, Thresholds())
    assert set(states[0, 65:95]) == {other}
    assert set(states[0, :50]) | set(states[0, 110:]) | set(states[1]) == {HEEL | BALL}


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("seconds", [1.0, 4.0])
@pytest.mark.parametrize("about", [0, 1], ids=["heel", "ball"])
def test_a_flat_foot_that_turns_on_the_spot_stands_on_what_it_turns_about(about, seconds, rate):
    """By 50 degrees; before and after that it lies flat."""
    times = np.arange(round((seconds + 2.0) * rate)) / rate
    part = np.clip((times - 1.0) / seconds, 0.0, 1.0)
    turn = np.radians(50.0) * part * part * (3.0 - 2.0 * part)
    points, hips = np.zeros((2, 2, len(times), 3)), np.ones((2, len(times), 3)) * [0.0, 0.0, 0.9]
    points[0, :, :, 0], points[:, 1, :, 1] = 0.2, 0.15
    way = 0.15 * (1 - 2 * about) * np.stack([-np.sin(turn), np.cos(turn), 0.0 * turn], axis=-1)
    points[0, 1 - about] = points[0, about] + way
    states = find_states(FeetMotion(points, points[..., 2], hips, 0.9, float(rate)), Thresholds())
    turning, stays = (part > 0.2) & (part < 0.8), (HEEL, BALL)[about]
    assert set(states[0, turning]) == {stays}
    assert np.all(states[0] & stays)
    assert set(states[0, (times < 0.9) | (times > seconds + 1.1)]) | set(states[1]) == {HEEL | BALL}


@each_rate
@pytest.mark.parametrize("length", [0.9, 90.0])
def test_a_foot_that_slowly_comes_down_stands_only_once_it_is_down(length, rate):
    """The ball all but halts for a quarter of a second at 5 % of the leg, right above its place, while the heel comes down."""
    times = np.arange(3 * rate) / rate
    points, hips = np.zeros((2, 2, len(times), 3)), np.ones((2, len(times), 3)) * [0.0, 0.0, 0.9]
    points[1, :, :, 0], points[:, 1, :, 1] = 0.2, 0.2
    points[0, 0, :, 2] = np.interp(times, [0.0, 0.8, 1.0, 1.2], [0.45, 0.45, 0.12, 0.0])
    points[0, 1, :, 2] = np.interp(times, [0.0, 0.8, 1.0, 1.25, 1.35], [0.3, 0.3, 0.055, 0.045, 0.0])
    feet = FeetMotion(points * length, points[..., 2] * length, hips * length, length, float(rate))
    states = find_states(feet, Thresholds())
    assert not states[0, points[0, :, :, 2].min(axis=0) > 0.03].any()
    assert states[0, times > 1.4].all()
    assert states[1].all()


@each_rate
@pytest.mark.parametrize("grade", [-0.15, -0.3])
def test_downhill_a_heel_that_lands_stands_above_the_ball(grade, rate):
    feet = feet_of(WALK, rate=rate)
    points, hips = feet.points.copy(), feet.hips.copy()
    for places in (points, hips):
        places[..., 2] += grade * places[..., 1]
    states, *_ = found(replace(feet, points=points, hips=hips))
    assert f1(states > 0, feet.states > 0) >= CLEAN
    lands = feet.states == HEEL
    lands[:, 0] = False
    assert np.mean(states[lands] > 0) >= 0.75, "but for the frame in which it arrives"


@each_rate
def test_on_a_belt_a_stance_begins_where_a_stylised_foot_lands_and_runs_ahead_of_its_ground(rate):
    """At first nearly twice as fast as the belt, as fast as that within 0.15 seconds, and low all the time."""
    pace, slowing = 0.9 * WALK.speed, 0.15
    feet = on_belt(feet_of(WALK, rate=rate), [0.0, -pace, 0.0])
    points = feet.points.copy()
    lands = np.zeros(feet.states.shape, bool)
    for side, states in enumerate(feet.states):
        for first, last in runs(states > 0):
            if first:
                landed = (np.arange(first, last + 1) - first) / rate
                ahead = 0.9 * pace * slowing / 2.0 * np.clip(1.0 - landed / slowing, 0.0, 1.0) ** 2
                points[side, :, first : last + 1, 1] += ahead[:, None].T
                swing = np.flatnonzero(states[:first] > 0)[-1] if (states[:first] > 0).any() else 0
                points[side, :, swing:first, 1] += ahead[0] * np.linspace(0.0, 1.0, first - swing)
                lands[side, first : first + round(slowing * rate)] = True
    states, velocity, _ = found(replace(feet, points=points))
    assert np.linalg.norm(velocity - [0.0, -pace, 0.0]) <= 0.1 * pace
    assert np.mean(states[lands] > 0) >= 0.75


def test_a_raised_foot_that_is_held_still_does_not_stand():
    points = np.zeros((2, 2, 60, 3))
    points[1, :, :, 2] = 0.4
    feet = FeetMotion(points, points[..., 2], np.ones((2, 60, 3)), 0.9, 30.0)
    states = find_states(feet, Thresholds())
    assert (states[0] == HEEL | BALL).all()
    assert not states[1].any()


def test_a_foot_held_still_in_the_air_does_not_stand_while_the_other_one_taps_with_its_heel():
    """Nobody bears the body on it: the other foot is on its ball all the time."""
    points, hips = np.zeros((2, 2, 120, 3)), np.ones((2, 120, 3)) * [0.0, 0.0, 1.2]
    points[0, 0, :, 2] = 0.05 * (1.0 - np.cos(2.0 * np.pi * 3.0 * np.arange(120) / 30.0))
    points[1, :, :] = 0.7, 0.0, 0.3
    hips[1, :, 0] = 0.2
    states = find_states(FeetMotion(points, points[..., 2], hips, 0.9, 30.0), Thresholds())
    assert (states[0] & BALL).all()
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
    rough = noisy(feet, np.random.default_rng(7))
    assert np.count_nonzero(found(rough, Thresholds(enter_height=1e-9, leave_height=1e-9))[0]) < usual
    assert not found(feet, Thresholds(least_length=100.0))[0][:, 1:-1].any(axis=0)[60:200].any()
    assert (found(feet, Thresholds(longest_gap=100.0))[0][:, 60:200] > 0).all()


def test_a_contact_goes_on_up_to_the_speed_at_which_it_ends_but_begins_with_a_slower_one():
    """One foot stands, the other slides with 0.3 m/s: always faster than a contact may begin."""
    feet = feet_of(WALK, rate=60)
    slid = sliding(feet, np.random.default_rng(7), [0.3]).points
    states = found(replace(feet, points=np.array([feet.points[0], slid[1]])), Thresholds(enter_speed=0.15, leave_speed=0.8))[0]
    assert f1(states[0] > 0, feet.states[0] > 0) >= 0.9
    assert not states[1].any()
    assert f1(found(replace(feet, points=slid), Thresholds(leave_speed=0.8))[0] > 0, feet.states > 0) >= 0.9


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


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("name", [name for name, *_ in counter_set()])
def test_what_glides_hangs_or_flies_is_not_planted(name, rate):
    feet, must_not = next((feet, must_not) for each, feet, must_not in counter_set(rate) if each == name)
    assert np.mean(found(feet)[0][must_not] > 0) <= 0.05


@each_rate
def test_feet_that_bob_while_the_body_passes_over_them_stand(rate):
    """As a network's feet do: up and down within a stance, while no other foot bears the body."""
    feet = feet_of(WALK, rate=rate)
    points = feet.points.copy()
    for foot, stands in enumerate(feet.states > 0):
        for first, last in runs(stands):
            parts = np.arange(last - first + 1) / (last - first + 1)
            points[foot, :, first : last + 1, 2] += 0.08 * feet.leg_length * np.sin(np.pi * parts) ** 2
    states = found(replace(feet, points=points))[0] > 0
    true = feet.states > 0
    assert np.count_nonzero(states & true) >= 0.8 * np.count_nonzero(true)


@pytest.mark.parametrize("rate", [100, 120, 150])
def test_clean_feet_are_found_as_sharply_as_frames_allow(rate):
    """Windows against noise are several frames long there."""
    feet = feet_of(RUN, rate=rate)
    for states, true in zip(found(feet)[0] > 0, feet.states > 0, strict=True):
        for (first, last), (lands, leaves) in zip(runs(states)[1:-1], runs(true)[1:-1], strict=True):
            assert max(abs(first - lands), abs(last - leaves)) <= 0.021 * rate


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
@pytest.mark.parametrize("moves", [0.05, 0.15])
def test_a_step_between_two_rests_makes_two_stances(moves, rate):
    feet = steps_in_place(rate=rate, moves=moves)
    states = find_states(FeetMotion(feet.points, feet.points[..., 2], feet.hips, feet.leg_length, feet.rate), Thresholds())
    for found, true, ball in zip(states > 0, feet.stands.any(axis=1), feet.points[:, 1], strict=True):
        assert len(runs(found)) == len(runs(true))
        assert np.count_nonzero(found & true) >= 0.97 * np.count_nonzero(true)
        for first, last in runs(found):
            moved = np.linalg.norm(ball[first : last + 1] - np.median(ball[first : last + 1], axis=0), axis=1)
            assert np.mean(moved > 0.01 * feet.leg_length) < 0.1


@pytest.mark.parametrize("rate", [30, 60, 120])
def test_a_foot_that_rests_and_is_then_dragged_on_rests_where_it_did(rate):
    """It swings out once, heel first, and never rests again."""
    times = np.arange(round(2.6 * rate)) / rate
    part = np.clip((times - 0.6) / 0.35, 0.0, 1.0)
    swing = part * part * (3.0 - 2.0 * part)
    drag = 0.04 * np.sin(2.0 * np.pi * np.maximum(times - 0.95, 0.0) / 0.8)
    points = np.zeros((2, 2, len(times), 3))
    points[0, 0, :, 0], points[0, 1, :, 0] = -0.25 + 0.35 * swing + drag, 0.07 * swing + drag
    points[0, 0, :, 2] = 0.03 * np.sin(np.pi * swing)
    points[1, 0, :, :2], points[1, 1, :, :2] = (-0.25, 0.3), (0.0, 0.3)
    hips = np.tile([[[0.0, 0.0, 0.9]], [[0.0, 0.3, 0.9]]], (1, len(times), 1))
    states = find_states(FeetMotion(points, points[..., 2], hips, 1.0, rate), Thresholds())
    first, last = runs(states[0] > 0)[0]
    assert first == 0
    assert 0.55 * rate < last < 0.75 * rate
    assert np.abs(points[0, 1, first : last + 1, 0]).max() < 0.01


@pytest.mark.parametrize("rate", [30, 60, 120])
def test_a_slow_step_after_a_quick_one_is_a_step_as_well(rate):
    """The quick one makes the slow one look like a rest, as long as both are in one stance."""
    times = np.arange(round(4.4 * rate)) / rate
    quick, slow = (np.clip((times - start) / lasts, 0.0, 1.0) for start, lasts in ((1.0, 0.3), (2.6, 0.5)))
    points = np.zeros((2, 2, len(times), 3))
    points[0, ..., 0] = 0.15 * quick**2 * (3.0 - 2.0 * quick) + 0.06 * slow**2 * (3.0 - 2.0 * slow)
    points[0, 0, :, 1], points[1, 0, :, :2], points[1, 1, :, :2] = -0.25, (-0.3, -0.25), (-0.3, 0.0)
    points[0, 0, :, 2] = 0.03 * (np.sin(np.pi * quick) + np.sin(np.pi * slow))
    hips = np.tile([[[0.1, 0.0, 0.9]], [[-0.2, 0.0, 0.9]]], (1, len(times), 1))
    states = find_states(FeetMotion(points, points[..., 2], hips, 1.0, rate), Thresholds())
    rests = [np.ptp(points[0, 1, first : last + 1, 0]) for first, last in runs(states[0] > 0)]
    assert len(rests) == 3
    assert max(rests) < 0.02
    assert np.count_nonzero(states[0]) > 0.75 * len(times)


@pytest.mark.parametrize("rate", RATES)
def test_hops_and_a_stop_are_planted_where_they_stand(rate):
    for name, feet, _ in counter_set(rate):
        if name.startswith(("hover", "hops", "raised", "stop")):
            assert f1(found(feet)[0] > 0, feet.states > 0) >= 0.85, name


def on_stairs(feet, rise, stride):
    """The same, with every spot higher than the last one by `rise` leg lengths for a `stride`; the hips go up along the way."""
    length = feet.leg_length
    points, hips = feet.points.copy(), feet.hips.copy()
    for foot, states in enumerate(feet.states):
        stands = np.flatnonzero(states > 0)
        spots = np.round(feet.points[foot, 1, stands, 1] / (stride * length) * 2) / 2
        points[foot, ..., 2] += rise * length * np.interp(np.arange(len(states)), stands, spots)
    hips[..., 2] += rise / stride * feet.hips[..., 1]
    return replace(feet, points=points, hips=hips)


@each_rate
@pytest.mark.parametrize("rise", [0.25, 0.4, -0.3])
def test_stairs_need_no_mesh(rise, rate):
    """Every second step of the walk has a level of its own."""
    feet = on_stairs(feet_of(WALK, rate=rate), rise, WALK.stride)
    assert f1(found(feet)[0] > 0, feet.states > 0) >= CLEAN
    motion = motion_of(feet)
    only = find_states(motion.over(ground_height(motion)), Thresholds(), any_height=False)
    assert f1(only > 0, feet.states > 0) < 0.6


@each_rate
def test_a_foot_that_lies_flat_on_a_slope_stands_on_heel_and_ball(rate):
    feet = feet_of(WALK, rate=rate)
    up = 0.15 * np.array([0.0, 0.0, 1.0])
    climbing = replace(feet, points=feet.points + feet.points[..., 1:2] * up, hips=feet.hips + feet.hips[..., 1:2] * up)
    states = found(climbing)[0]
    assert f1(states > 0, feet.states > 0) >= CLEAN
    assert f1((states & HEEL) > 0, (feet.states & HEEL) > 0) >= 0.8
    assert f1((states & BALL) > 0, (feet.states & BALL) > 0) >= 0.85


@each_rate
def test_a_landing_in_the_last_two_frames_is_found(rate):
    feet = feet_of(WALK, rate=rate)
    landings = np.flatnonzero(np.diff((feet.states[0] > 0).astype(int)) == 1) + 1
    cut = landings[-1] + 2
    short = replace(feet, points=feet.points[:, :, :cut], hips=feet.hips[:, :cut], stands=feet.stands[..., :cut])
    states = found(short)[0][0]
    assert (states[-2:] > 0).all()
    assert not states[-4 - rate // 10 : -3].any()


@each_rate
def test_no_contact_is_a_stub_at_the_first_frame(rate):
    feet = feet_of(WALK, rate=rate)
    ends = np.flatnonzero(np.diff((feet.states[0] > 0).astype(int)) == -1)
    for left in (1, 2, 3):
        first = ends[1] - left + 1
        late = replace(feet, points=feet.points[:, :, first:], hips=feet.hips[:, first:], stands=feet.stands[..., first:])
        assert not found(late)[0][0, :5].any()


def test_a_rest_pose_as_first_frame_is_noticed_and_changes_nothing():
    feet = feet_of(WALK, rate=30)
    rest = np.array([[[-0.1, 0.0, 0.0], [-0.1, 0.2, 0.0]], [[0.1, 0.0, 0.0], [0.1, 0.2, 0.0]]])[:, :, None] * feet.leg_length
    away = np.array([1.5, 0.0, 0.0])
    points = np.concatenate([rest + away, feet.points], axis=2)
    hips = np.concatenate([np.full((2, 1, 3), [1.5, 0.0, feet.leg_length]), feet.hips], axis=1)
    usual = find_story(motion_of(feet), Thresholds())
    with_rest = find_story(motion_of(replace(feet, points=points, hips=hips)), Thresholds())
    assert with_rest.has_rest_first
    assert not usual.has_rest_first
    assert np.array_equal(with_rest.states[:, 1:], usual.states)
    assert not with_rest.states[:, 0].any()
    assert [each.first - 1 for each in with_rest.stances[0]] == [each.first for each in usual.stances[0]]


def test_what_slides_in_a_contact_is_told():
    """A walk whose feet go on at a tenth of its pace while they stand."""
    feet = feet_of(WALK, rate=60)
    along = 0.1 * WALK.speed * feet.leg_length * np.arange(feet.points.shape[2])[:, None] / 60 * np.array([0.0, 1.0, 0.0])
    still, slid = (find_story(motion_of(each), Thresholds()) for each in (feet, replace(feet, points=feet.points + along)))
    for one, two in zip(still.stances, slid.stances, strict=True):
        assert len(one) == len(two)
        assert all(each.travel <= 0.01 * feet.leg_length for each in one[1:-1])
        for each in two[1:-1]:
            seconds = (each.last - each.first) / 60
            assert each.travel == pytest.approx(0.1 * WALK.speed * feet.leg_length * seconds, rel=0.45)
            assert each.confidence < 1.0
    assert np.mean([each.confidence for foot in still.stances for each in foot]) > 0.8


@each_rate
def test_feet_that_slip_along_with_a_body_that_halts_for_a_moment_stand(rate):
    """By a tenth of a leg in a quarter of a second: as fast as the body, as a glide is, but no glide is as short."""
    halt, seconds, slip = 1.5, 0.25, 0.1
    feet = feet_of(WALK, rate=rate, halted=(halt, seconds))
    times = np.arange(feet.hips.shape[1]) / rate
    slid = slip * feet.leg_length * np.clip((times - halt) / seconds, 0.0, 1.0)[:, None] * [0.0, 1.0, 0.0]
    states = found(replace(feet, points=feet.points + slid, hips=feet.hips + slid))[0]
    assert feet.states[:, (times > halt) & (times < halt + seconds)].all()
    assert f1(states > 0, feet.states > 0) >= CLEAN
    assert states[:, (times > halt) & (times < halt + seconds)].all()


@pytest.mark.parametrize("gait", GAITS.values(), ids=GAITS)
def test_landings_between_frames_are_alike_at_all_rates(gait):
    """Where a foot lands and lifts differs by less between 24 and 120 frames a second than a frame of 24."""
    at = {}
    for rate in RATES:
        story = find_story(motion_of(feet_of(gait, rate=rate)), Thresholds())
        times = [np.array([(each.begins / rate, each.ends / rate) for each in foot]) for foot in story.stances]
        at[rate] = [foot[(foot[:, 0] > 0.5) & (foot[:, 1] < 4.5)] for foot in times]
    for rate in RATES[:-1]:
        for one, two in zip(at[rate], at[120], strict=True):
            assert one.shape == two.shape
            assert np.abs(one - two).mean() <= 0.5 / 24


def test_a_stance_is_found_again_by_its_frames():
    """The report asks for the stance of each contact; planting may have shortened it."""
    feet = motion_of(feet_of(WALK, rate=30))
    story = find_story(feet, Thresholds())
    for foot, stands in enumerate(story.states > 0):
        spans = runs(stands)
        assert len(spans) > 2
        for first, last in spans:
            stance = story.stance_of(foot, first, last)
            assert (stance.first, stance.last) == (first, last)
            assert story.stance_of(foot, first + 1, last - 1) is stance
        (_, ended), (begins, _) = spans[0], spans[1]
        assert story.stance_of(foot, ended + 1, begins - 1) is None
        # Of two, the one that has more of these frames.
        assert story.stance_of(foot, ended, begins + 2).first == begins
