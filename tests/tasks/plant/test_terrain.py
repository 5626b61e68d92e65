"""Feet that walked on flat ground walk on stairs, slopes and hills; all that is asserted is evaluated by Blender."""

import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.seen_walk import (
    SIDES,
    SLIDE,
    SLIDE_BETWEEN,
    Seen,
    key_values,
    plant,
    quarters,
    whole_frames,
    worst_slide,
)
from tests.tasks.rigs import terrain
from tests.tasks.rigs.walker import BOTH, Walk, build_walker, key_contacts

BALL_HEIGHT, FOOT = 0.02, 0.14
GROUNDS = {
    "stairs up": terrain.stairs,
    "stairs down": lambda: terrain.stairs(-terrain.RISE),
    "slope": terrain.slope,
    "hills": terrain.hills,
}


def walk_on(make, **settings):
    """The walker on a ground; what stands, what tells the ground's height, and what is seen before."""
    armature, states = build_walker(Walk(slide=0.02))
    key_contacts(armature, states)
    ground, height = make()
    before = Seen(armature, whole_frames())
    report = plant(ground="OBJECT", ground_object=ground.name, **settings)
    return armature, states, height, before, report


def soles(seen, side, height):
    """How far heel and ball are over the ground, at each moment."""
    heels, balls = (
        np.array([place[2] - height(place) - rest for place in places])
        for places, rest in ((seen.heels[side], 0.0), (seen.balls[side], BALL_HEIGHT))
    )
    return heels, balls


def pitches(seen, side):
    """How much the sole rises from heel to ball, degrees."""
    ways = np.array(seen.balls[side]) - np.array(seen.heels[side])
    return np.degrees(np.arctan2(ways[:, 2], ways[:, 1]) - np.arctan2(BALL_HEIGHT, FOOT))


@pytest.mark.parametrize("ground", GROUNDS)
def test_soles_stand_on_the_ground_and_nothing_slides_pops_or_is_out_of_reach(empty_file, ground):
    armature, states, height, before, report = walk_on(GROUNDS[ground])
    seen = Seen(armature, quarters())
    at_frames = slice(None, None, 4)
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert worst_slide(seen, states) < SLIDE_BETWEEN
    for side, chain in zip(SIDES, report["chains"], strict=True):
        assert chain["out_of_reach"] == []
        assert chain["skating_after"] == 0.0
        for over, bit in zip(soles(seen, side, height), (1, 2), strict=True):
            assert np.abs(over[at_frames][states[side] & bit != 0]).max() < 1e-3
            assert over[at_frames].min() > -2e-3  # On its way a foot is lifted over edges.
    for side in SIDES:
        old, new = (np.abs(np.diff(knees, 2)).max() for knees in (before.knees[side], seen.knees[side][at_frames]))
        assert new <= 1.5 * old
    below = [np.mean([height((place[0], place[1] + ahead)) for ahead in (-0.3, 0.0, 0.3)]) for place in seen.hips]
    hips = np.array(seen.hips)[:, 2] - below
    assert 0.6 < hips.min() < hips.max() < 1.1
    planted = key_values(armature)
    plant(ground="OBJECT", ground_object="Ground")
    assert all(np.array_equal(values, key_values(armature)[path]) for path, values in planted.items())


def test_flat_feet_lie_as_steep_as_the_ground_and_rolling_ones_roll_as_before_on_it(empty_file):
    armature, states, _, before, _ = walk_on(terrain.slope)
    seen = Seen(armature, whole_frames())
    for side in SIDES:
        tilt = pitches(seen, side) - pitches(before, side)
        assert tilt[states[side] == BOTH] == pytest.approx(20.0, abs=0.3)
        assert tilt[states[side] != 0] == pytest.approx(20.0, abs=0.5)


def test_no_ankle_is_bent_further_than_allowed(empty_file):
    armature, states, height, _, report = walk_on(terrain.slope, max_tilt=np.radians(10.0))
    seen = Seen(armature, whole_frames())
    for side, chain in zip(SIDES, report["chains"], strict=True):
        assert pitches(seen, side)[states[side] == BOTH] == pytest.approx(10.0, abs=0.3)
        heels, balls = soles(seen, side, height)
        higher = np.maximum(heels, balls)[states[side] == BOTH]
        assert np.minimum(heels, balls)[states[side] == BOTH] == pytest.approx(0.0, abs=2e-3)
        assert higher.min() > 0.01
        assert chain["out_of_reach"] == []


def test_flat_ground_changes_nothing(empty_file):
    armature, *_ = walk_on(lambda: terrain.slope(0.0))
    on_object = Seen(armature, whole_frames())
    empty()
    armature, states = build_walker(Walk(slide=0.02))
    key_contacts(armature, states)
    plant(ground="HEIGHT")
    on_height = Seen(armature, whole_frames())
    for side in SIDES:
        assert np.abs(np.array(on_object.feet[side]) - np.array(on_height.feet[side])).max() < 1e-5
        assert np.abs(np.array(on_object.balls[side]) - np.array(on_height.balls[side])).max() < 1e-5


def test_contacts_of_a_walk_on_flat_ground_are_found_on_stairs_as_well(empty_file):
    build_walker(Walk(frames=60, rate=30.0, slide=0.01))
    flat = plant()
    empty()
    build_walker(Walk(frames=60, rate=30.0, slide=0.01))
    ground, _ = terrain.stairs()
    report = plant(ground="OBJECT", ground_object=ground.name)
    for chain, expected in zip(report["chains"], flat["chains"], strict=True):
        assert len(chain["contacts"]) >= len(expected["contacts"]) - 1
        assert chain["out_of_reach"] == []
