"""Feet that a scale above them, or a constraint, keeps from standing: the cause is told, and its remedy works."""

import math

import pytest

from tests.tasks.checks.seen_walk import SLIDE, Seen, plant, whole_frames, worst_slide
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import key_channel

SCALES = {
    "uneven thighs": ({"thigh.L": (1, 1.2, 1), "thigh.R": (1, 1.2, 1)}, "thigh"),
    "hips that shrink": ({"hips": {1: (1, 1, 1), 30: (0.95, 0.95, 0.95)}}, "hips"),
}


@pytest.fixture
def walker(empty_file):
    armature, states = build_walker(Walk(frames=30, slide=0.02, raised=-0.03))
    key_contacts(armature, states)
    return armature, states


def scale(armature, scales):
    for name, value in scales.items():
        bone = armature.pose.bones[name]
        if isinstance(value, dict):
            key_channel(bone, "scale", value)
        else:
            bone.scale = value


@pytest.mark.parametrize("case", SCALES, ids=str)
def test_what_still_slides_by_a_scale_is_told_with_its_cause_and_remedy(walker, case):
    (armature, states), (scales, blamed) = walker, SCALES[case]
    scale(armature, scales)
    # As importers key it: not the cause.
    key_channel(armature.pose.bones["shin.L"], "scale", {1: (1, 1, 1), 30: (1, 1, 1)})
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) > 2e-4
    notes = [note for chain in report["chains"] for note in chain["notes"]]
    assert any(note.startswith(f'The scale of bone "{blamed}') and 'changes the shape of bone "foot.' in note for note in notes)


@pytest.mark.parametrize("case", SCALES, ids=str)
def test_the_remedy_lets_them_stand_and_nothing_is_said(walker, case):
    armature, states = walker
    scale(armature, SCALES[case][0])
    for side in "LR":
        armature.data.bones[f"foot.{side}"].inherit_scale = "NONE"
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert [chain["notes"] for chain in report["chains"]] == [[], []]


def test_an_uneven_scale_that_leaves_the_feet_their_shape_is_not_blamed(walker):
    armature, states = walker
    armature.pose.bones["hips"].scale = (1.0, 1.2, 1.0)
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert [chain["notes"] for chain in report["chains"]] == [[], []]


def test_a_character_whose_own_scale_is_keyed_is_told_so(walker):
    armature, _ = walker
    key_channel(armature, "scale", {1: (1, 1, 1), 30: (0.95, 0.95, 0.95)})
    notes = [note for chain in plant()["chains"] for note in chain["notes"]]
    assert any(note.startswith('The scale above bone "foot.') and "evenly, and without keys" in note for note in notes)


def test_a_constraint_that_turns_the_foot_is_named(walker):
    armature, states = walker
    limit = armature.pose.bones["foot.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, -0.1, 0.1, "LOCAL"
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) > 1e-3
    (note,) = report["chains"][0]["notes"]
    assert note.startswith('Constraints of bone "foot.L" act on top of the keys, so the foot still slides.')
    assert report["chains"][1]["notes"] == []
    limit.mute = True
    plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE


def test_a_constraint_that_leaves_the_feet_where_they_stand_is_not_blamed(walker):
    armature, states = walker
    limit = armature.pose.bones["foot.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.min_x, limit.max_x, limit.owner_space = True, -3.0, 3.0, "LOCAL"
    report = plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert [chain["notes"] for chain in report["chains"]] == [[], []]


@pytest.mark.parametrize(
    "upside_down", [{"scale": (-1, -1, -1)}, {"rotation_euler": (math.pi, 0, 0)}], ids=["mirrored", "turned"]
)
def test_a_character_on_its_head_is_planted_by_its_soles(walker, upside_down):
    armature, states = walker
    for name, values in upside_down.items():
        setattr(armature, name, values)
    assert worst_slide(Seen(armature, whole_frames()), states) > 0.01
    plant(ground_moves="NO")
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
