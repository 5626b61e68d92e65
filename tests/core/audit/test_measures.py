"""What audits measure, on motion whose faults are known."""

import numpy as np
import pytest

from twobone_addon.core import audit as measures
from twobone_addon.core.audit import Row, clip_picture
from twobone_addon.core.contacts.states import ContactState

RATES = (24, 30, 60, 120)
both_rates = pytest.mark.parametrize("rate", RATES)


def bending_leg(bends):
    """Hip, knee and ankle `(F, 3, 3)` of a leg of 2 units that bends in the YZ plane by `bends` `(F,)`."""
    shins = np.stack([np.zeros_like(bends), -np.sin(bends), -np.cos(bends)], axis=-1)
    thighs = np.tile([0.0, 0.0, -1.0], (len(bends), 1))
    return np.cumsum(np.stack([np.zeros_like(thighs), thighs, shins], axis=1), axis=1)


def test_a_foot_that_lands_rolls_and_leaves_does_not_slide_and_one_that_drifts_slides_by_its_speed():
    """Six frames on the ground at 30 a second, the heel up in the last two, and two in the air before and after."""
    forward = np.array([-0.6, -0.3, *np.zeros(6), 0.5, 1.0])
    states = np.array([[0, 0, *[ContactState.BOTH] * 4, *[ContactState.BALL] * 2, 0, 0]])
    places = np.zeros((1, 2, 10, 3))
    places[..., 1] = forward
    places[0, 0, 6:, 2] = (0.05, 0.1, 0.2, 0.3)
    assert measures.standing_speed(places, states, 1.0, 30.0) == 0.0
    assert measures.kimodo_skating(places, places[..., 2], states, 1.0, 30.0).foot_skate_from_contacts > 1.0
    places[..., 0] += 0.4 / 30.0 * np.arange(10)
    assert measures.standing_speed(places, states, 1.0, 30.0) == pytest.approx(0.4)
    assert measures.standing_speed(places, 0 * states, 1.0, 30.0) == 0.0


@both_rates
def test_what_moves_evenly_does_not_pop_however_fast(rate):
    assert measures.pops(np.linspace(0.0, 50.0, 100)[:, None], rate).max() == pytest.approx(0.0, abs=1e-9)


@both_rates
def test_a_pop_of_a_frame_is_found_at_its_frame(rate):
    bends = 0.4 + 0.1 * np.sin(np.arange(4 * rate) / rate)
    bends[2 * rate] += 1.0
    found = measures.pops(bends[:, None], rate)
    assert found.argmax() == 2 * rate
    assert found.max() > 1.2


def test_the_same_swing_pops_alike_at_every_rate():
    found = [measures.pops(np.sin(4.0 * np.arange(3 * rate) / rate)[:, None], rate).max() for rate in RATES]
    assert found == pytest.approx([(4.0 / 30.0) ** 2] * len(RATES), rel=0.03)


def test_bends_to_the_other_side_are_negative_whichever_way_the_limb_is_turned():
    bends = np.array([0.5, 1.0, 1.2, 0.3, -0.2, 0.8])
    angle = 0.7 * np.arange(6)
    turns = np.zeros((6, 3, 3))
    turns[:, 2, 2] = 1.0
    turns[:, 0, 0] = turns[:, 1, 1] = np.cos(angle)
    turns[:, 1, 0], turns[:, 0, 1] = np.sin(angle), -np.sin(angle)
    joints = np.einsum("fij,fnj->fni", turns, bending_leg(bends))
    assert measures.signed_bends(joints, turns) == pytest.approx(bends)


def test_straight_legs_are_stretched_and_have_no_bend():
    joints = bending_leg(np.zeros(5))
    assert measures.is_stretched(joints).all()
    assert measures.signed_bends(joints, np.tile(np.eye(3), (5, 1, 1))) == pytest.approx(np.zeros(5))
    assert not measures.is_stretched(bending_leg(np.full(5, 0.2))).any()


def test_a_cycle_that_closes_has_no_gap_and_one_that_does_not_has_its_gap():
    turn = np.linspace(0.0, 2.0 * np.pi, 31)
    circle = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=-1)[None]
    assert measures.loop_gaps(circle, 30.0) == pytest.approx((0.0, 0.0), abs=0.25 * 2 * np.pi)
    assert measures.loop_gaps(circle[:, :16], 30.0)[0] == pytest.approx(2.0)
    assert measures.loop_gaps(circle[:, :1], 30.0) == (0.0, 0.0)


@both_rates
def test_noise_is_told_by_its_size_and_motion_is_none(rate):
    times = np.arange(6 * rate) / rate
    smooth = np.stack([np.sin(3.0 * times), np.cos(2.0 * times), times], axis=-1)[None]
    noise = np.random.default_rng(3).normal(scale=0.01, size=smooth.shape)
    assert measures.jitter(smooth, rate) < 0.0005
    assert measures.jitter(smooth + noise, rate) == pytest.approx(0.01, rel=0.3)


def test_a_foot_that_slides_slides_by_two_thirds_of_its_way_and_one_that_rolls_does_not():
    frames, states = 31, np.full(31, int(ContactState.BOTH))
    way = np.zeros((2, frames, 3))
    heights = np.zeros((2, frames))
    way[:, :, 0] = np.linspace(0.0, 0.3, frames)
    (slides,) = measures.stances_of(way, heights, states, 30.0)
    assert slides.slide == pytest.approx(0.2, rel=0.05)
    way[1] = 0.0
    (rolls,) = measures.stances_of(way, heights, states, 30.0)
    assert (rolls.first, rolls.last, rolls.slide) == (0, 30, 0.0)
    assert measures.stances_of(way[:, :2], heights[:, :2], states[:2], 30.0) == []


def test_kimodos_metrics_are_those_of_its_definitions():
    random = np.random.default_rng(1)
    places = np.cumsum(random.normal(scale=0.01, size=(2, 2, 50, 3)), axis=2)
    heights, states = np.abs(random.normal(scale=0.08, size=(2, 2, 50))), random.integers(0, 4, (2, 50))
    found = measures.kimodo_skating(places, heights, states, 1.0, 30.0)
    low_speeds, contact_speeds, both_low, skating, right = [], [], 0, 0, 0
    for foot in range(2):
        for frame in range(50):
            for point in range(2):
                at = min(frame, 48)
                speed = 30.0 * np.sqrt(sum((places[foot, point, at + 1] - places[foot, point, at]) ** 2))
                stands = bool(states[foot, frame] & (point + 1))
                right += stands == (speed < 0.15 and heights[foot, point, frame] < 0.1)
                if frame == 49:
                    continue
                contact_speeds += [speed] * stands
                if point == 1 and heights[foot, 1, frame] < 0.05:
                    low_speeds.append(speed)
                    if heights[foot, 1, frame + 1] < 0.05:
                        both_low, skating = both_low + 1, skating + (speed > 0.2)
    assert found.foot_skate_from_height == pytest.approx(np.mean(low_speeds))
    assert found.foot_skate_from_contacts == pytest.approx(np.mean(contact_speeds))
    assert found.foot_skate_max_speed == pytest.approx(max(contact_speeds))
    assert found.foot_skate_ratio == pytest.approx(skating / both_low)
    assert found.foot_contact_consistency == pytest.approx(right / 200)


def test_metres_are_the_scenes_where_legs_are_a_humans():
    assert measures.metre(0.85) == 1.0
    assert measures.metre(85.0, 100.0) == 100.0
    assert measures.metre(14.4) == pytest.approx(16.0)


def test_stairs_are_not_level_and_a_floor_is():
    def stances(heights):
        return [measures.StanceMeasures(0, 20, 0.0, height) for height in heights]

    assert measures.on_one_level(stances([0.0, 0.01, 0.03, 0.0]), 0.9)
    assert not measures.on_one_level(stances([0.0, 0.2, 0.4, 0.6]), 0.9)
    assert measures.on_one_level([], 0.9)


def test_a_picture_is_svg_with_a_bar_for_each_contact_and_skating_row():
    from xml.etree import ElementTree as ET

    stands = np.array([True] * 10 + [False] * 10 + [True] * 10)
    skates = np.array([False] * 25 + [True] * 5)
    drawn = clip_picture("a <walk>", "skates & floats", np.arange(30.0), [Row("Leg", np.zeros((2, 30)), stands, skates, (12.0,))])
    picture = ET.fromstring(drawn)  # noqa: S314 - our own
    parts = [part.get("class") for part in picture.iter()]
    assert (parts.count("contact"), parts.count("skating"), parts.count("pop")) == (2, 1, 1)
    # Without this, a page that has less room cuts the picture off instead of making it smaller.
    assert picture.get("viewBox") == f"0 0 {picture.get('width')} {picture.get('height')}"


def test_a_long_verdict_is_broken_into_lines_that_the_picture_has_room_for():
    from xml.etree import ElementTree as ET

    verdict = "; ".join(f"Left Leg {number} skates at 65% of its low frames" for number in range(9))
    row = Row("Leg", np.zeros((2, 30)), np.zeros(30, dtype=bool), np.zeros(30, dtype=bool), ())
    texts = [*ET.fromstring(clip_picture("a", verdict, np.arange(30.0), [row])).iterfind(".//{*}text")]  # noqa: S314
    lines = texts[1 : [part.text for part in texts].index("heel")]  # between the title and the colours' names
    assert " ".join(part.text for part in lines) == verdict
    # A letter is about half as wide as it is high.
    assert all(float(part.get("x")) + 0.5 * float(part.get("font-size")) * len(part.text) < 960 for part in lines)
    heights = [float(part.get("y")) for part in texts]
    assert len(set(heights[: len(lines) + 2])) == len(lines) + 2, "no line stands on another"
