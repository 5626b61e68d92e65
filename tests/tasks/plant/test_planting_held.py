"""A take that ends before the scene does: feet that are held at its end, where the hips still give way."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import SIDES, SLIDE, SLIDE_BETWEEN, Seen, plant, quarters, whole_frames, worst_slide
from tests.tasks.rigs.walker import BOTH, Walk, build_walker, key_contacts
from twobone_addon.scene.versions import curve_bag

TAKE = 34


@pytest.fixture
def held(empty_file):
    """A walker whose curves end long before the scene: the foot in the air is held there, and counts as standing."""
    armature, states = build_walker(Walk(frames=TAKE, slide=0.01, raised=0.03))
    bpy.context.scene.frame_end = 3 * TAKE
    states = {side: np.concatenate([each, np.full(2 * TAKE, each[-1])]) for side, each in states.items()}
    (lifted,) = (side for side, each in states.items() if not each[-1])
    states[lifted][TAKE - 1 :] = BOTH
    key_contacts(armature, states)
    return armature, states, lifted


def test_the_hips_take_no_foot_along_that_stands_already(held):
    armature, states, lifted = held
    before = Seen(armature, whole_frames())
    report = plant()
    after = Seen(armature, whole_frames())
    hips = np.linalg.norm(np.array(after.hips) - np.array(before.hips), axis=1)
    assert hips[TAKE - 1 : TAKE + 2].max() > 0.002, "the hips are meant to move while the foot stands"
    assert worst_slide(after, states) < SLIDE
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN
    assert max(contact["slide_after"] for chain in report["chains"] for contact in chain["contacts"]) < SLIDE
    heels = np.array(before.heels[lifted]) - np.array(after.heels[lifted])
    assert np.linalg.norm(heels[TAKE - 1 :], axis=1).max() < SLIDE, "it was right where it was"


def test_a_clip_gets_no_longer(held):
    armature, _, lifted = held
    plant()
    ends = [curve.keyframe_points[-1].co.x for curve in curve_bag(armature).fcurves if f'"thigh.{lifted}"' in curve.data_path]
    assert max(ends) <= TAKE


def test_the_hips_last_keys_take_no_foot_along_between_frames(empty_file):
    armature, states = build_walker(Walk(frames=40, slide=0.02, raised=-0.01))
    key_contacts(armature, states)
    plant()
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN


def test_contacts_make_a_clip_no_longer_either(empty_file):
    armature, states = build_walker(Walk(frames=TAKE, slide=0.02))
    assert any(each[0] for each in states.values())
    assert any(each[-1] for each in states.values())
    bpy.context.scene.frame_end = 3 * TAKE
    first, last = armature.animation_data.action.frame_range
    plant()
    assert tuple(armature.animation_data.action.frame_range) == (first, last)


def test_what_holds_still_after_a_part_of_the_clip_is_held_as_it_was(held):
    """Whoever chooses a range changes nothing beside it, however the scene goes on."""
    armature, _, _ = held
    frames = np.arange(TAKE + 1.0, 3 * TAKE + 1.0)
    before = Seen(armature, frames)
    report = plant(frame_range="CUSTOM", frame_start=8.0, frame_end=float(TAKE))
    assert report["root"]["max_move"] > 0.002
    after = Seen(armature, frames)
    assert np.abs(np.array(after.hips) - np.array(before.hips)).max() < SLIDE
    for side in SIDES:
        assert np.abs(np.array(after.balls[side]) - np.array(before.balls[side])).max() < SLIDE


@pytest.mark.parametrize("behind", [0.0, 0.07])
def test_hips_stay_where_a_foot_lands_on_a_heel_that_nothing_shows(empty_file, behind):
    """Slow, clean steps, of which one is seen to land: the place below the ankle sinks while the foot rolls, and is no heel."""
    armature, _ = build_walker(Walk(frames=40, speed=0.3, step_time=2.5, heel_behind=behind))
    before = Seen(armature, whole_frames())
    report = plant()
    hips = np.linalg.norm(np.array(Seen(armature, whole_frames()).hips) - np.array(before.hips), axis=1)
    slides = [contact["slide_before"] for chain in report["chains"] for contact in chain["contacts"]]
    assert hips[0] < SLIDE
    assert hips.max() < max(0.005, *slides)
