"""A foot rolls over its pins as a rigid body: nothing that stands moves, and what is between two pins fits the foot."""

import numpy as np
import pytest

from twobone_addon.core.planting.blends import Ease
from twobone_addon.core.planting.goals import SAMPLES_PER_FRAME, PutDown, eased_ankles, foot_goals
from twobone_addon.core.planting.pins import Foot, Resting, find_pins, levelled, longest_within

HEEL, BALL = np.array([0.0, -0.05, -0.08]), np.array([0.0, 0.13, -0.07])
FRAMES = 60
SAMPLES = (FRAMES - 1) * SAMPLES_PER_FRAME + 1
ON_HEEL, ON_BALL = np.zeros(FRAMES, bool), np.zeros(FRAMES, bool)
ON_HEEL[20:35], ON_BALL[25:42] = True, True


def pitched(angles):
    turns = np.tile(np.eye(3), (len(angles), 1, 1))
    turns[:, 1, 1] = turns[:, 2, 2] = np.cos(angles)
    turns[:, 1, 2], turns[:, 2, 1] = -np.sin(angles), np.sin(angles)
    return turns


@pytest.fixture
def sliding_foot():
    """A foot that comes down on its heel and leaves by its ball, and slides by a few centimetres all the while."""
    times = np.arange(SAMPLES) / SAMPLES_PER_FRAME
    angles = np.interp(times, [0, 20, 25, 35, 42, 59], [0.5, 0.3, 0.01, -0.02, -0.6, -0.2])
    ankles = np.stack([0.02 * np.sin(times / 7), 0.001 * times + 0.03 * np.maximum(times - 42, 0), 0.1 + 0 * times], axis=-1)
    return Foot(ankles, pitched(angles), HEEL, BALL)


def goals_of(foot):
    return foot_goals(foot, ON_HEEL, ON_BALL, settled=1e-9)


def point(goals, offset):
    return goals.ankles + goals.turns @ offset


def test_what_stands_does_not_move(sliding_foot):
    goals = goals_of(sliding_foot)
    for offset, on in ((HEEL, ON_HEEL), (BALL, ON_BALL)):
        frames = np.flatnonzero(on)
        rows = slice(frames[0] * SAMPLES_PER_FRAME, frames[-1] * SAMPLES_PER_FRAME + 1)
        assert np.ptp(point(goals, offset)[rows], axis=0).max() < 1e-12


def test_a_pin_is_where_its_point_was_on_average(sliding_foot):
    alone = np.zeros(FRAMES, bool)
    whole = Foot(sliding_foot.ankles[::SAMPLES_PER_FRAME], sliding_foot.turns[::SAMPLES_PER_FRAME], HEEL, BALL)
    (pin,) = find_pins(whole, alone, ON_BALL).pins
    assert pin.place == pytest.approx(whole.points(BALL)[ON_BALL].mean(axis=0))


@pytest.mark.parametrize("seed", range(8))
def test_the_longest_part_within_a_width_is_found(seed):
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(size=(60, 3)) * rng.choice([0.0, 0.3, 2.0], size=(60, 1)), axis=0)
    wide = {
        (first, last): np.linalg.norm(np.ptp(path[first : last + 1], axis=0)) for first in range(60) for last in range(first, 60)
    }
    for width in (0.0, 0.5, 3.0, 1000.0):
        first, last = longest_within(path, width)
        assert wide[first, last] <= width
        assert last - first == max(end - start for (start, end), size in wide.items() if size <= width)


def test_a_pin_is_exactly_where_its_point_does_not_move_at_all():
    """It arrives, rests, and creeps on for longer than it has rested."""
    along = np.interp(np.arange(FRAMES), [0, 10, 20, 59], [0.02, 0.0, 0.0, 0.003])
    foot = Foot(np.stack([0 * along, along, 0.08 + 0 * along], axis=-1), pitched(np.zeros(FRAMES)), HEEL, BALL)
    both = np.ones(FRAMES, bool)
    for pin in find_pins(foot, both, both, resting=Resting(0.9, 30.0)).pins:
        assert pin.place == pytest.approx(foot.points(BALL if pin.is_ball else HEEL)[15], abs=1e-12)


def test_a_pin_of_a_recorded_foot_is_where_its_ball_rests_longest():
    """It comes in for a third of the contact, trembles by a millimetre in its place, and its heel creeps all the while."""
    rng, along = np.random.default_rng(3), np.interp(np.arange(FRAMES), [0, 20, 59], [0.06, 0.0, 0.0])
    places = np.stack([0 * along, along, 0.08 + 0 * along], axis=-1) + rng.uniform(-5e-4, 5e-4, (FRAMES, 3))
    foot, both = Foot(places, pitched(np.zeros(FRAMES)), HEEL, BALL), np.ones(FRAMES, bool)
    ball = next(pin for pin in find_pins(foot, both, both, resting=Resting(0.9, 30.0)).pins if pin.is_ball)
    assert np.linalg.norm(foot.points(BALL)[25:] - ball.place, axis=1).max() < 0.005


def test_the_foot_turns_only_where_heel_and_ball_stand(sliding_foot):
    goals = goals_of(sliding_foot)
    whole = slice(None, None, SAMPLES_PER_FRAME)
    both = ON_HEEL & ON_BALL
    turned = np.abs(goals.turns - sliding_foot.turns).max(axis=(1, 2))[whole]
    assert np.all(turned[~both] == 0.0)
    assert np.ptp(goals.turns[whole][both], axis=0).max() == 0.0


@pytest.mark.parametrize("first, last", [(0, 5), (25, 34), (50, FRAMES - 1)], ids=["at the beginning", "within", "at the end"])
def test_a_kept_orientation_comes_and_goes_smoothly(sliding_foot, first, last):
    both, width = (np.arange(FRAMES) >= first) & (np.arange(FRAMES) <= last), 5 * SAMPLES_PER_FRAME
    ease = Ease(width, width, slope=SAMPLES_PER_FRAME)
    goals = foot_goals(sliding_foot, both, both, settled=1e-9, turning=ease)
    start, end = first * SAMPLES_PER_FRAME, last * SAMPLES_PER_FRAME
    near = (np.arange(SAMPLES) > start - width) & (np.arange(SAMPLES) < end + width)
    assert np.array_equal(goals.turned, near)
    assert np.array_equal(goals.turns[~near], sliding_foot.turns[~near])
    pitches = np.unwrap(np.arctan2(goals.turns[:, 2, 1], goals.turns[:, 2, 2]))
    own = np.unwrap(np.arctan2(sliding_foot.turns[:, 2, 1], sliding_foot.turns[:, 2, 2]))
    corrections = pitches - own
    assert np.abs(np.diff(corrections)).max() < 3.0 * np.abs(corrections).max() / width + np.abs(np.diff(own)).max()
    for edge, beside in ((start, -SAMPLES_PER_FRAME), (end, SAMPLES_PER_FRAME)):
        if 0 < edge < SAMPLES - 1:
            assert abs(corrections[edge]) > 1e-3
            assert abs(corrections[edge + beside]) > 0.5 * abs(corrections[edge]), "gone within a frame"


def test_a_step_straight_from_heel_to_ball_is_rolled_as_well(sliding_foot):
    on_heel, on_ball = ON_HEEL.copy(), ON_BALL.copy()
    on_heel[30:], on_ball[:30] = False, False
    whole = Foot(sliding_foot.ankles[::SAMPLES_PER_FRAME], sliding_foot.turns[::SAMPLES_PER_FRAME], HEEL, BALL)
    heel, ball = find_pins(whole, on_heel, on_ball).pins
    assert np.linalg.norm(ball.place - heel.place) == pytest.approx(np.linalg.norm(BALL - HEEL), abs=1e-3)


def uphill(place, is_ball, row):
    """Ground that rises along Y, and is 1 cm higher for what comes to stand later; the ball is 2 cm above the sole."""
    return 0.2 * place[1] - 0.05 + 0.02 * is_ball + 0.01 * (row > 20)


def test_feet_that_are_put_down_have_the_ground_under_both_points(sliding_foot):
    whole = Foot(sliding_foot.ankles[::SAMPLES_PER_FRAME], sliding_foot.turns[::SAMPLES_PER_FRAME], HEEL, BALL)
    found = find_pins(whole, ON_HEEL, ON_BALL, uphill)
    heel, ball = found.pins
    assert [(pin.first, pin.last, pin.is_ball) for pin in found.pins] == [(20, 34, False), (25, 41, True)]
    for pin in found.pins:
        assert pin.place[2] == pytest.approx(uphill(pin.place, pin.is_ball, pin.first), abs=1e-3)
        before = whole.points(BALL if pin.is_ball else HEEL)[pin.first : pin.last + 1, :2].mean(axis=0)
        assert np.linalg.norm(pin.place[:2] - before) < 0.02
    (stand,) = found.stands
    assert (stand.first, stand.last) == (25, 34)
    assert ball.place - heel.place == pytest.approx(stand.turn @ (BALL - HEEL), abs=1e-12)


def test_a_foot_that_stands_off_the_ground_is_put_down_though_it_does_not_slide():
    still = Foot(np.tile([0.0, 0.0, 0.1], (SAMPLES, 1)), np.tile(np.eye(3), (SAMPLES, 1, 1)), HEEL, BALL)
    for height, near, moves in ((0.02, 0.005, False), (0.02, 1e-9, False), (0.03, 0.005, True), (0.03, 0.02, False)):
        down = PutDown(lambda _place, is_ball, _row, height=height: height + 0.01 * is_ball, near)
        goals = foot_goals(still, ON_HEEL, ON_BALL, settled=1e-9, down=down)
        stood = slice(20 * SAMPLES_PER_FRAME, 34 * SAMPLES_PER_FRAME)
        assert goals.pinned.any() == moves
        assert point(goals, HEEL)[stood, 2] == pytest.approx(height if moves else 0.02, abs=1e-9)


@pytest.mark.parametrize("frame", [20, 27, 41])
def test_a_stance_that_slides_at_one_frame_only_is_planted(frame):
    ankles = np.tile([0.0, 0.0, 0.1], (SAMPLES, 1))
    ankles[frame * SAMPLES_PER_FRAME] += [0.01, 0.0, 0.0]
    goals = foot_goals(Foot(ankles, np.tile(np.eye(3), (SAMPLES, 1, 1)), HEEL, BALL), ON_HEEL, ON_BALL, settled=0.005)
    assert np.array_equal(np.flatnonzero(goals.pinned), np.arange(20 * SAMPLES_PER_FRAME, 41 * SAMPLES_PER_FRAME + 1))


@pytest.mark.parametrize("frame", [20, 30, 41, 50])
def test_a_still_stance_is_planted_where_the_root_would_take_along_any_part_of_it(frame):
    still = Foot(np.tile([0.0, 0.0, 0.1], (SAMPLES, 1)), np.tile(np.eye(3), (SAMPLES, 1, 1)), HEEL, BALL)
    goals = foot_goals(still, ON_HEEL, ON_BALL, settled=1e-9, carried=np.arange(FRAMES) == frame)
    stance = np.arange(20 * SAMPLES_PER_FRAME, 41 * SAMPLES_PER_FRAME + 1)
    assert np.array_equal(np.flatnonzero(goals.pinned), stance if frame < 42 else [])


def test_each_stance_is_judged_by_itself(sliding_foot):
    """A stance that slides is planted, another one that stands already keeps to the last bit what it had."""
    on_heel = ON_HEEL.copy()
    on_heel[50:55] = True
    ankles = sliding_foot.ankles.copy()
    rows = slice(50 * SAMPLES_PER_FRAME, 54 * SAMPLES_PER_FRAME + 1)
    ankles[rows] = [1.0, 2.0, 0.1] - sliding_foot.turns[rows] @ HEEL
    goals = foot_goals(Foot(ankles, sliding_foot.turns, HEEL, BALL), on_heel, ON_BALL, settled=1e-9)
    assert goals.pinned[20 * SAMPLES_PER_FRAME : 41 * SAMPLES_PER_FRAME + 1].all()
    assert not goals.pinned[43 * SAMPLES_PER_FRAME :].any()


def test_what_stands_already_is_left_alone(sliding_foot):
    goals = goals_of(sliding_foot)
    planted = Foot(np.where(goals.pinned[:, None], goals.ankles, sliding_foot.ankles), goals.turns, HEEL, BALL)
    again = foot_goals(planted, ON_HEEL, ON_BALL, settled=1e-9)
    assert not again.pinned.any()
    assert not again.turned.any()


def test_corrections_come_and_go_smoothly_and_leave_the_rest_alone(sliding_foot):
    goals, ease = goals_of(sliding_foot), 8
    ankles, touched = eased_ankles(goals, sliding_foot.ankles, Ease(ease * SAMPLES_PER_FRAME, ease * SAMPLES_PER_FRAME))
    first, last = 20 * SAMPLES_PER_FRAME, 41 * SAMPLES_PER_FRAME
    outside = np.ones(len(ankles), bool)
    outside[first - ease * SAMPLES_PER_FRAME + 1 : last + ease * SAMPLES_PER_FRAME] = False
    assert np.array_equal(ankles[outside], sliding_foot.ankles[outside])
    assert not touched[outside].any()


def test_a_foot_comes_to_its_pin_and_leaves_it_without_a_jolt():
    """Where it begins and stops to stand its velocity changes no more than on its way, though the pinned foot goes on rolling."""
    times = np.arange(SAMPLES) / SAMPLES_PER_FRAME
    ankles = np.stack([0.02 * np.sin(times / 7), 0.004 * times, 0.1 + 0.03 * np.cos(times / 5)], axis=-1)
    foot = Foot(ankles, pitched(-0.3 * np.sin((times - 20) / 8)), HEEL, BALL)
    goals = foot_goals(foot, ON_HEEL, np.zeros(FRAMES, bool), settled=1e-9)
    eased, _ = eased_ankles(goals, ankles, Ease(8 * SAMPLES_PER_FRAME, 8 * SAMPLES_PER_FRAME))
    assert np.abs(eased - ankles).max() > 0.03
    jolts = np.linalg.norm(np.diff(eased, 2, axis=0), axis=1)
    first, last = np.flatnonzero(goals.pinned)[[0, -1]] - 1
    on_its_way = max(jolts[: first - 1].max(), jolts[last + 2 :].max())
    assert max(jolts[first - 1 : first + 2].max(), jolts[last - 1 : last + 2].max()) < 0.5 * on_its_way
    assert on_its_way < 15.0 * np.abs(eased - ankles).max() / (8 * SAMPLES_PER_FRAME) ** 2


def at_frames(foot):
    return Foot(foot.ankles[::SAMPLES_PER_FRAME], foot.turns[::SAMPLES_PER_FRAME], HEEL, BALL)


def masks(*spans):
    """On heel and on ball, `(F,)` each, from pairs of a first and a last frame."""
    frames = np.arange(FRAMES)
    return [np.any([(frames >= first) & (frames <= last) for first, last in each], axis=0) for each in spans]


@pytest.mark.parametrize("heights", [None, uphill], ids=["as high as it is", "uphill"])
def test_every_stance_has_its_own_place(sliding_foot, heights):
    """Pins of one stance are where they would be if there were no other, however many there are."""
    foot = at_frames(sliding_foot)
    on_heel, on_ball = [(5, 9), (20, 34), (45, 49)], [(7, 12), (25, 41), (50, 55)]
    together = find_pins(foot, *masks(on_heel, on_ball), heights)
    alone = [find_pins(foot, *masks([heel], [ball]), heights) for heel, ball in zip(on_heel, on_ball, strict=True)]
    expected = {(pin.first, pin.last, pin.is_ball): pin.place for found in alone for pin in found.pins}
    assert {(pin.first, pin.last, pin.is_ball) for pin in together.pins} == set(expected)
    for pin in together.pins:
        assert pin.place == pytest.approx(expected[pin.first, pin.last, pin.is_ball], abs=1e-12)
    assert [(stand.first, stand.last) for stand in together.stands] == [(7, 9), (25, 34)]


@pytest.mark.parametrize("heights", [None, uphill], ids=["as high as it is", "uphill"])
def test_a_heel_that_comes_down_again_does_so_at_its_distance_from_the_ball(sliding_foot, heights):
    found = find_pins(at_frames(sliding_foot), *masks([(20, 24), (30, 35)], [(18, 40)]), heights)
    heels, (ball,) = ([pin for pin in found.pins if pin.is_ball == is_ball] for is_ball in (False, True))
    assert [(stand.first, stand.last) for stand in found.stands] == [(20, 24), (30, 35)]
    for heel, stand in zip(heels, found.stands, strict=True):
        assert ball.place - heel.place == pytest.approx(stand.turn @ (BALL - HEEL), abs=1e-9 if heights is None else 2e-3)


def test_a_foot_that_rolls_back_from_ball_to_heel_keeps_their_distance(sliding_foot):
    found = find_pins(at_frames(sliding_foot), *masks([(26, 34)], [(18, 25)]))
    heel, ball = found.pins
    assert np.linalg.norm(ball.place - heel.place) == pytest.approx(np.linalg.norm(BALL - HEEL), abs=1e-3)


@pytest.mark.parametrize("rise", [-0.15, 0.0, 0.05, 0.3])
def test_levelling_lets_a_foot_rise_as_asked_the_way_it_points(rise):
    rng = np.random.default_rng(2)
    turn, across = np.linalg.qr(rng.normal(size=(3, 3)))[0], np.array([0.1, 0.3, -0.1])
    turn *= np.sign(np.linalg.det(turn))
    before, after = turn @ across, levelled(turn, across, rise) @ across
    assert after[2] == pytest.approx(rise)
    assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(across))
    assert np.arctan2(*after[:2]) == pytest.approx(np.arctan2(*before[:2]))
    # No rotation does it with less than the change of pitch.
    turned = np.arccos((np.trace(levelled(turn, across, rise) @ turn.T) - 1.0) / 2.0)
    pitches = [np.arctan2(way[2], np.hypot(*way[:2])) for way in (before, after)]
    assert turned == pytest.approx(abs(pitches[1] - pitches[0]))


@pytest.mark.parametrize("across, rise", [((0.0, 0.0, 0.3), 0.1), ((0.1, 0.2, 0.0), 0.5)], ids=["upright", "too short"])
def test_what_cannot_be_levelled_stays_as_it_is(across, rise):
    assert np.array_equal(levelled(np.eye(3), np.array(across), rise), np.eye(3))
