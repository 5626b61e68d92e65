"""Find Contacts in Blender: keyed on the chains, seen by Blender's own evaluation, and nothing else changed."""

import json
from itertools import pairwise

import bpy
import numpy as np
import pytest

from tests.blank import empty
from tests.core.contacts.gait import RUN, WALK, feet_of, on_belt, sliding
from tests.tasks.find_contacts.found import f1, find, frames_of, states_in
from tests.tasks.find_contacts.walker import evaluated_contact, make_walker
from tests.tasks.rigs.walker import build_stander
from twobone_addon.scene.versions import curve_bag

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
def test_what_is_found_is_what_the_motion_does_and_what_blender_evaluates(gait):
    walker, feet = make_walker(gait, rate=60)
    report = find()
    frames = frames_of(feet)
    assert [chain["chain"] for chain in report["chains"]] == ["left leg", "right leg"]
    for side in (0, 1):
        assert f1(states_in(report, side, frames) > 0, feet.states[side] > 0) >= 0.95
        assert np.array_equal(evaluated_contact(walker, side, frames), states_in(report, side, frames))
    assert report["ground_height"] == pytest.approx(0.0, abs=1e-4)
    assert report["ground_velocity"] == [0.0, 0.0, 0.0]


def test_in_place_the_ground_moves_and_the_contacts_are_the_same():
    _, feet = make_walker(rate=30)
    in_world = find()
    empty()
    make_walker(rate=30, feet=on_belt(feet, [0.0, -0.9 * WALK.speed, 0.0]))
    report = find()
    assert report["ground_velocity"] == pytest.approx([0.0, -0.9 * WALK.speed, 0.0], abs=0.03)
    frames = frames_of(feet)
    assert np.mean(states_in(report, 0, frames) == states_in(in_world, 0, frames)) >= 0.98


def test_a_given_velocity_is_that_of_the_ground():
    make_walker(rate=30, feet=on_belt(make_feet(), [0.0, -0.9 * WALK.speed, 0.0]))
    report = find(ground_moves="GIVEN", ground_velocity=(0.0, -0.9 * WALK.speed, 0.0))
    assert report["ground_velocity"] == pytest.approx([0.0, -0.9 * WALK.speed, 0.0], abs=1e-6)
    assert f"the ground moves at {0.9 * WALK.speed:.2g} m per second" in report["sentence"]
    assert report["chains"][0]["contacts"]
    assert find(ground_moves="NO", keep=False)["ground_velocity"] == [0.0, 0.0, 0.0]


def make_feet():
    return feet_of(WALK, rate=30, seconds=3.0)


def test_high_above_the_ground_no_foot_stands():
    make_walker(rate=30)
    report = find(ground="HEIGHT", ground_height=-0.5)
    assert report["ground_height"] == pytest.approx(-0.5)
    assert not any(chain["contacts"] for chain in report["chains"])
    assert "No contacts" in report["sentence"]


def test_the_contacts_of_one_foot_are_said_as_those_of_one():
    walker, _ = make_walker(rate=30)
    walker.twobone.chains.remove(1)
    assert "contacts on one chain" in find()["sentence"]
    bpy.context.scene.frame_end = 8
    assert "1 contact on one chain" in find(keep=False)["sentence"]


def test_feet_that_have_sunk_into_the_ground_stand_as_on_it():
    make_walker(rate=30)
    right = find(keep=False)["chains"]
    report = find(ground="HEIGHT", ground_height=0.8, keep=False)
    assert report["ground_height"] == pytest.approx(0.8)
    assert [chain["contacts"] for chain in report["chains"]] == [chain["contacts"] for chain in right]


def test_keys_are_constant_generated_and_in_the_armatures_action():
    walker, _ = make_walker(rate=30)
    find()
    curve = contact_curve(walker, 0)
    assert {key.interpolation for key in curve.keyframe_points} == {"CONSTANT"}
    assert {key.type for key in curve.keyframe_points} == {"GENERATED"}
    values = [round(key.co[1]) for key in curve.keyframe_points]
    assert all(before != after for before, after in pairwise(values))


def contact_curve(walker, number):
    from twobone_addon.scene.versions import curve_bag

    return curve_bag(walker).fcurves.find(f"twobone.chains[{number}].contact")


def test_outside_the_range_nothing_changes():
    walker, feet = make_walker(rate=30)
    chain = walker.twobone.chains[0]
    for frame, contact in ((1, "BALL"), (10, "NONE"), (80, "HEEL")):
        chain.contact = contact
        chain.keyframe_insert("contact", frame=frame)
    frames = frames_of(feet)
    outside = (frames < 20) | (frames > 60)
    before = evaluated_contact(walker, 0, frames)
    report = find(frame_start=20, frame_end=60, keep=False)
    after = evaluated_contact(walker, 0, frames)
    assert np.array_equal(after[outside], before[outside])
    assert not np.array_equal(after, before)
    assert (report["frame_start"], report["frame_end"], report["frames"]) == (20, 60, 41)
    # A chain without keys is as it was, too.
    assert not evaluated_contact(walker, 1, frames)[outside].any()


def test_what_was_edited_by_hand_is_kept():
    walker, feet = make_walker(rate=30)
    frames = frames_of(feet)
    found = states_in(find(), 0, frames)
    chain = walker.twobone.chains[0]
    standing = frames[found == 3]
    middle = int(standing[len(standing) // 2])
    bpy.context.scene.frame_set(middle)
    chain.contact = "HEEL"
    chain.keyframe_insert("contact", frame=middle)
    edited = evaluated_contact(walker, 0, frames)
    assert not np.array_equal(edited, found)
    for _ in range(2):
        report = find()
        assert np.array_equal(states_in(report, 0, frames), edited)
        assert np.array_equal(evaluated_contact(walker, 0, frames), edited)
        assert report["chains"][0]["kept_frames"] > 0
        assert report["chains"][1]["kept_frames"] == 0
    assert np.array_equal(states_in(find(keep=False), 0, frames), found)


def test_a_key_that_was_moved_counts_as_edited():
    walker, feet = make_walker(rate=30)
    frames = frames_of(feet)
    found = states_in(find(), 0, frames)
    key = contact_curve(walker, 0).keyframe_points[2]
    key.co_ui[0] += 2
    contact_curve(walker, 0).update()
    edited = evaluated_contact(walker, 0, frames)
    assert not np.array_equal(edited, found)
    assert np.array_equal(states_in(find(), 0, frames), edited)


def test_a_second_search_changes_nothing():
    walker, _ = make_walker(rate=30)
    first = find()
    keys = [(tuple(key.co), key.type) for key in contact_curve(walker, 0).keyframe_points]
    second = find()
    assert first["chains"] == second["chains"]
    assert [(tuple(key.co), key.type) for key in contact_curve(walker, 0).keyframe_points] == keys


def test_finding_touches_nothing_but_the_contacts():
    walker, _ = make_walker(rate=30)
    bpy.context.scene.frame_set(17)
    walker.pose.bones["hips"].location.x = 0.3  # an edit that is not keyed in any curve of its own
    before = other_curves(walker)
    find()
    assert other_curves(walker) == before
    assert bpy.context.scene.frame_current == 17
    assert walker.pose.bones["hips"].location.x == pytest.approx(0.3)


def other_curves(walker):
    from twobone_addon.scene.versions import curve_bag

    curves = [curve for curve in curve_bag(walker).fcurves if "contact" not in curve.data_path]
    return {(curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points] for curve in curves}


@pytest.mark.parametrize("leg_length", [0.19, 4.6])
def test_toys_and_giants_need_no_other_settings(leg_length):
    _, feet = make_walker(rate=24, leg_length=leg_length)
    report = find()
    assert f1(states_in(report, 0, frames_of(feet)) > 0, feet.states[0] > 0) >= 0.93


def test_next_and_previous_contact():
    walker, feet = make_walker(rate=30)
    find()
    frames = frames_of(feet)
    both = np.stack([evaluated_contact(walker, side, frames) for side in (0, 1)])
    changes = frames[np.concatenate([[True], np.any(np.diff(both, axis=1) != 0, axis=0)])]
    bpy.context.scene.frame_set(1)
    visited = []
    while bpy.ops.twobone.contact_jump(direction="NEXT") == {"FINISHED"}:
        visited.append(bpy.context.scene.frame_current)
    assert [frame for frame in visited if frame <= frames[-1]] == changes[1:].tolist()
    assert bpy.ops.twobone.contact_jump(direction="PREVIOUS") == {"FINISHED"}
    assert bpy.context.scene.frame_current == visited[-2]


def test_legs_that_nobody_has_listed_are_found_first():
    walker, feet = make_walker(rate=30)
    walker.twobone.chains.clear()
    report = find()
    assert sorted(chain.lower for chain in walker.twobone.chains) == ["left shin", "right shin"]
    frames = frames_of(feet)
    for number, chain in enumerate(report["chains"]):
        side = walker.twobone.chains[chain["chain"]].upper != "left thigh"
        assert f1(states_in(report, number, frames) > 0, feet.states[int(side)] > 0) >= 0.95


def test_without_legs_one_sentence_says_so():
    rig = bpy.data.objects.new("Snake", bpy.data.armatures.new("Snake"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    with pytest.raises(RuntimeError, match="no enabled chain that is a leg, and no legs were found"):
        bpy.ops.twobone.find_contacts()


def test_arms_count_only_where_asked_for():
    walker, _ = make_walker(rate=30, seconds=1.0)
    walker.twobone.chains[1].limb = "ARM"
    assert len(find()["chains"]) == 1
    assert len(find(arms=True)["chains"]) == 2


@pytest.mark.parametrize("value", [float("nan"), float("inf")], ids=str)
def test_motion_that_is_no_number_is_refused_with_its_frame(value):
    walker, _ = make_walker(rate=30)
    curve = next(curve for curve in curve_bag(walker).fcurves if curve.data_path.endswith("location"))
    curve.keyframe_points[40].co.y = value
    curve.update()
    with pytest.raises(RuntimeError, match=r"have no position at frame 4[0-2]: their motion is not a finite number"):
        bpy.ops.twobone.find_contacts()
    assert contact_curve(walker, 0) is None


def test_a_pose_that_is_held_after_the_last_key_and_before_the_first_changes_no_contact():
    _, feet = make_walker(rate=30)
    alone = find()
    empty()
    make_walker(rate=30)
    scene = bpy.context.scene
    last = scene.frame_end
    scene.frame_end = last + 200
    of_scene = find()
    held = find(frame_range="CUSTOM", frame_start=-39.0, frame_end=last + 200.0)
    frames = frames_of(feet)
    beside = np.array([*range(-39, 1), *range(last + 1, last + 201)])
    assert (of_scene["frame_start"], of_scene["frame_end"]) == (1.0, last)
    for side in (0, 1):
        inside = states_in(alone, side, frames)
        assert np.array_equal(states_in(held, side, frames), inside)
        assert np.array_equal(states_in(held, side, beside), np.repeat([inside[0], inside[-1]], [40, 200]))
        travel, confidence = ([report["chains"][side][name] for report in (alone, held)] for name in ("travel", "confidence"))
        assert len(travel[0]) > 3
        assert travel[1] == pytest.approx(travel[0])
        # What is held is sure to stand; the contacts between are as sure as before.
        stood = np.flatnonzero(inside == 0)
        for (first, *_), *pair in zip(alone["chains"][side]["contacts"], *confidence, strict=True):
            if frames[stood[0]] < first < frames[stood[-1]]:
                assert pair[1] == pytest.approx(pair[0])
            else:
                assert pair[1] > pair[0] - 1e-9


def test_a_part_that_begins_and_ends_in_one_pose_is_no_loop_and_is_searched_at_whole_frames(empty_file):
    """Its last frame is no whole one, but the motion goes on after it."""
    build_stander(24, [(0.0, 0.0), (0.3, 0.0), (0.0, 0.0)], rest=1.0, move=0.4)
    report = find(frame_range="CUSTOM", frame_start=5.0, frame_end=75.5)
    edges = {edge for chain in report["chains"] for first, last, _ in chain["contacts"] for edge in (first, last)}
    assert len(report["chains"][0]["contacts"]) == 3
    assert all(edge == round(edge) for edge in edges - {5.0, 75.5})


def test_what_planting_would_move_is_told_before(empty_file):
    """As far as Plant Feet then moves the feet."""
    make_walker(rate=30, feet=sliding(make_feet(), np.random.default_rng(7), [0.2]))
    told = [max(each for each in chain["moved"] if each is not None) for chain in find()["chains"]]
    bpy.ops.twobone.plant(armature=bpy.context.object.name)
    planted = json.loads(bpy.context.window_manager.twobone_report)["chains"]
    for expected, chain in zip(told, planted, strict=True):
        assert expected > 0.01
        assert expected == pytest.approx(max(each["moved"] for each in chain["contacts"]), rel=0.6)
