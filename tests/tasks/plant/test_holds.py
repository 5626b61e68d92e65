"""Animation that is keyed by hand: feet stand exactly still, move once, and stand exactly still again."""

import numpy as np
import pytest

from tests.tasks.checks.seen_walk import LEG, Seen, contacts_of, plant, whole_frames
from tests.tasks.rigs.walker import build_stander

STAYS = 1e-6 * LEG
"""Single precision: what Blender evaluates before and after."""
STEPS = {
    "25 mm in a tenth of a second": (24, 0.025, 0.0, 0.1),
    "30 mm along the floor": (60, 0.03, 0.0, 0.2),
    "80 mm, slowly": (30, 0.08, 0.0, 0.6),
    "120 mm, lifted": (120, 0.12, 0.0, 0.2),
    "300 mm": (24, 0.3, 0.0, 0.4),
    "onto a box": (30, 0.15, 0.05, 0.3),
}


def left(report):
    return next(chain for chain in report["chains"] if chain["chain"] == "leg.L")


def frames_of_contacts(report, count):
    """Frames at which the left foot stands by the report, as (first, last) of each time."""
    on = np.zeros(count, bool)
    for contact in left(report)["contacts"]:
        on[int(contact["first"]) - 1 : int(contact["last"])] = True
    return contacts_of(on)


def still_frames_moved(before, after, rests):
    """Farthest that planting moves heel or ball of the left foot at frames at which it rests."""
    moved = [np.array(new.heels["L"]) - np.array(old.heels["L"]) for old, new in ((before, after),)]
    moved += [np.array(after.balls["L"]) - np.array(before.balls["L"])]
    rows = np.concatenate([np.arange(first - 1, last) for first, last in rests])
    return max(np.linalg.norm(path[rows], axis=1).max() for path in moved)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_is_held_step_held_is_two_contacts_and_stays_where_it_is(step, empty_file):
    rate, along, up, move = step
    armature, rests = build_stander(rate, [(0.0, 0.0), (along, up)], rest=0.8, move=move)
    before = Seen(armature, whole_frames())
    report = plant(ease=0)
    assert len(frames_of_contacts(report, len(before.frames))) == 2
    assert still_frames_moved(before, Seen(armature, whole_frames()), rests) < STAYS


@pytest.mark.parametrize("rate", [24, 120])
def test_constant_keys_are_two_contacts_as_well(rate, empty_file):
    armature, rests = build_stander(rate, [(0.0, 0.0), (0.06, 0.0), (0.0, 0.0)], rest=0.5, move=0.0, interpolation="CONSTANT")
    before = Seen(armature, whole_frames())
    report = plant(ease=0)
    assert len(frames_of_contacts(report, len(before.frames))) == 3
    assert still_frames_moved(before, Seen(armature, whole_frames()), rests) < STAYS


def test_steps_to_and_fro_on_the_spot_are_contacts_each(empty_file):
    places = [(0.0, 0.0), (0.06, 0.0), (0.0, 0.0), (0.06, 0.0)]
    armature, rests = build_stander(30, places, rest=0.4, move=0.25)
    before = Seen(armature, whole_frames())
    report = plant(ease=0)
    assert len(frames_of_contacts(report, len(before.frames))) == 4
    assert still_frames_moved(before, Seen(armature, whole_frames()), rests) < STAYS
