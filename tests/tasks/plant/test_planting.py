"""Feet that stand still: all that is asserted is evaluated by Blender, and compared with what was there before."""

import re

import bpy
import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.beside import ways_to_the_foot
from tests.tasks.checks.seen_walk import (
    EASE,
    LEG,
    SIDES,
    SLIDE,
    SLIDE_BETWEEN,
    Seen,
    contacts_of,
    key_values,
    plant,
    planted_states,
    quarters,
    whole_frames,
    worst_slide,
)
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import add_empty

FAULTS = {
    "slides": Walk(slide=0.03),
    "hips too high": Walk(slide=0.01, raised=0.03),
    "at 60 frames a second": Walk(frames=120, rate=60.0, slide=0.02),
}


@pytest.fixture(params=FAULTS, ids=str)
def walker(request, empty_file):
    armature, states = build_walker(FAULTS[request.param])
    key_contacts(armature, states)
    return armature, states


def test_what_stands_does_not_slide_at_frames_nor_between_them(walker):
    armature, states = walker
    assert worst_slide(Seen(armature, whole_frames()), states) > 0.003
    report = plant()
    assert re.search(
        r"contacts of 2 feet planted; slide was up to [\d.]+ [cm]m, now (< 0\.1 mm|0\.\d+ mm between frames);",
        report["sentence"],
    )
    steps = sum(len(contacts_of(states[side] != 0)) for side in SIDES)
    assert report["sentence"].startswith(f"{steps} contacts of 2 feet planted; ")
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN
    for chain in report["chains"]:
        assert chain["out_of_reach"] == []
        assert chain["skating_after"] == 0.0
        assert max(contact["slide_after"] for contact in chain["contacts"]) < SLIDE
        assert max(contact["slide_between"] for contact in chain["contacts"]) < SLIDE_BETWEEN


@pytest.mark.parametrize(
    "last_standing, planted", [(12, "1 contact planted; slide was"), (None, "contacts of one foot planted; slide was")]
)
def test_one_foot_and_one_contact_are_said_as_one(empty_file, last_standing, planted):
    armature, states = build_walker(FAULTS["slides"])
    armature.twobone.chains.remove(armature.twobone.chains.find("leg.R"))
    states = {"L": states["L"].copy()}
    if last_standing:
        states["L"][:] = np.where(np.arange(len(states["L"])) < last_standing, 3, 0)
    key_contacts(armature, states)
    assert planted in plant()["sentence"]


def test_the_report_says_what_is_seen_before_and_after(empty_file):
    armature, states = build_walker(Walk(slide=0.15))
    key_contacts(armature, states)
    rate, seen = bpy.context.scene.render.fps, [Seen(armature, whole_frames())]
    report = plant()
    seen.append(Seen(armature, whole_frames()))
    for side, leg in zip(SIDES, report["chains"], strict=True):
        for when, found in zip(("before", "after"), seen, strict=True):
            heels, balls = np.array(found.heels[side]), np.array(found.balls[side])
            skates = np.zeros(len(heels), bool)
            for places, bit in ((heels, 1), (balls, 2)):
                stands, speeds = states[side] & bit != 0, np.linalg.norm(np.diff(places, axis=0), axis=1) * rate
                skates[:-1] |= stands[:-1] & stands[1:] & (speeds > 0.5) & (places[:-1, 2] < 0.05 * LEG)
            assert leg[f"skating_{when}"] == pytest.approx(np.count_nonzero(skates) / np.count_nonzero(states[side]))
            assert leg[f"penetration_{when}"] == pytest.approx(max(0.0, -heels[:, 2].min(), 0.02 - balls[:, 2].min()), abs=1e-5)
            bends = np.abs(np.diff(found.knees[side], 2)).max() * rate**2
            assert leg[f"knee_acceleration_{when}"] == pytest.approx(bends, rel=1e-3)
        assert leg["skating_before"] > 0.1
        slides = [
            np.ptp(np.array(places)[first - 1 : last], axis=0)[1]
            for places, bit in ((seen[0].heels[side], 1), (seen[0].balls[side], 2))
            for first, last in contacts_of(states[side] & bit != 0)
        ]
        assert max(slides) / 2.0 < max(contact["slide_before"] for contact in leg["contacts"]) < max(slides)


def test_fewer_keys_hold_what_stands_as_well_and_the_rest_within_the_tolerance(empty_file):
    keys, seen = {}, {}
    for choice in ("FRAMES", "REDUCE"):
        empty()
        armature, states = build_walker(Walk(frames=120, rate=60.0, slide=0.02))
        key_contacts(armature, states)
        keys[choice] = sum(chain["keys"] for chain in plant(keys=choice, tolerance=0.002, ease=20)["chains"])
        seen[choice] = Seen(armature, quarters())
        assert worst_slide(seen[choice], states) < SLIDE_BETWEEN
    assert keys["REDUCE"] < 0.9 * keys["FRAMES"]
    for side in SIDES:
        away = np.array(seen["FRAMES"].balls[side]) - np.array(seen["REDUCE"].balls[side])
        assert np.linalg.norm(away, axis=1).max() < 0.003


def test_feet_that_an_uneven_scale_stretches_stand_as_still(empty_file):
    armature, states = build_walker(Walk(frames=30, slide=0.02, raised=-0.03))
    armature.scale, armature.rotation_euler = (1.3, 0.8, 1.1), (0.0, 0.0, 0.4)
    key_contacts(armature, states)
    assert worst_slide(Seen(armature, whole_frames()), states) > 0.01
    plant()
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE
    assert worst_slide(Seen(armature, quarters()), states) < SLIDE_BETWEEN


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION"])
def test_the_keys_go_where_they_are_wanted(empty_file, destination):
    armature, states = build_walker(Walk(slide=0.02))
    key_contacts(armature, states)
    action = armature.animation_data.action
    plant(destination=destination)
    assert (armature.animation_data.action == action) == (destination == "ACTION")
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE


def test_feet_and_toes_keep_their_orientation_where_they_roll_or_fly(walker):
    armature, states = walker
    before = Seen(armature, whole_frames())
    plant()
    after = Seen(armature, whole_frames())
    for side in SIDES:
        rolls = states[side] != 3
        for old, new in ((before.feet[side], after.feet[side]), (before.toes[side], after.toes[side])):
            assert np.abs(np.array(old) - np.array(new))[rolls].max() < np.radians(0.01)


def assert_only_stances_changed(before, after, states, *, tolerance=0.0):
    """Curves of legs are as they were but for stances and what eases to them; the location of the hips is free."""
    for path, values in before.items():
        kept = np.ones(len(whole_frames()), bool)
        for side in SIDES:
            if any(f'"{name}.{side}"' in path[0] for name in ("thigh", "shin", "foot")):
                for first, last in contacts_of(states[side] != 0):
                    kept[max(first - 1 - EASE + 1, 0) : last + EASE - 1] = False
        if "hips" not in path[0] or "location" not in path[0]:
            assert kept.any()
            assert np.abs(values - after[path])[kept].max() <= tolerance, path


@pytest.mark.parametrize("walker", ["slides", "at 60 frames a second"], indirect=True)
def test_what_is_outside_contacts_and_ease_stays_as_it_was_to_the_last_bit(walker):
    armature, states = walker
    before = key_values(armature)
    plant()
    assert_only_stances_changed(before, key_values(armature), states)


def test_curves_with_few_keys_stay_as_they_were_beside_the_stances(empty_file):
    armature, states = build_walker(Walk(frames=120, rate=60.0, slide=0.02, raised=-0.03))
    for curve in curves_of(armature):
        for key in reversed([key for key in curve.keyframe_points if (round(key.co[0]) - 1) % 7]):
            curve.keyframe_points.remove(key)
        curve.update()
    key_contacts(armature, states)
    before = key_values(armature)
    plant()
    # Where a segment between two keys is split its parts are rounded to single precision.
    assert_only_stances_changed(before, key_values(armature), states, tolerance=5e-7)


def test_knees_do_not_pop(walker):
    armature, _ = walker
    before = Seen(armature, whole_frames())
    plant()
    after = Seen(armature, whole_frames())
    for side in SIDES:
        old, new = (np.abs(np.diff(seen.knees[side], 2)).max() for seen in (before, after))
        assert new <= 1.5 * old


def test_a_second_run_changes_nothing(walker):
    armature, _ = walker
    first = plant()
    before = all_keys(armature)
    second = plant()
    assert all_keys(armature) == before
    assert second["sentence"] == first["sentence"]


def test_it_is_one_step_back(walker):
    armature, _ = walker
    name = armature.name
    bpy.ops.ed.undo_push(message="before")
    before = key_values(armature)
    plant()
    bpy.ops.ed.undo_push(message="after")
    bpy.ops.ed.undo()
    after = key_values(bpy.data.objects[name])
    assert all(np.array_equal(values, after[path]) for path, values in before.items())


def test_the_hips_go_down_no_more_than_is_needed(empty_file):
    armature, states = build_walker(Walk(slide=0.01, raised=0.03))
    key_contacts(armature, states)
    before, straight = Seen(armature, whole_frames()), np.array(list(extensions(armature, states)))
    report = plant()
    moved = np.array(Seen(armature, whole_frames()).hips) - np.array(before.hips)
    assert report["root"]["bone"] == "hips"
    assert np.abs(moved[:, :2]).max() < 1e-5
    assert report["root"]["max_move"] == pytest.approx(-moved[:, 2].min(), abs=2e-5)
    # Somewhere a leg is as straight as it may be: with less the hips would not do.
    after, most = np.array(list(extensions(armature, states))), np.maximum(straight, 0.999)
    assert np.all(after < most + 1e-6)
    assert np.any(np.abs(after - most) < 1e-6)


def extensions(armature, states):
    """How straight the legs are while they stand."""
    for row, frame in enumerate(whole_frames()):
        bpy.context.scene.frame_set(int(frame))
        for side in (side for side in SIDES if states[side][row]):
            thigh, shin = (armature.pose.bones[f"{name}.{side}"] for name in ("thigh", "shin"))
            yield (shin.tail - thigh.head).length / (thigh.length + shin.length)


def test_without_contacts_nothing_changes(empty_file):
    armature, states = build_walker(Walk())
    key_contacts(armature, {side: np.zeros_like(values) for side, values in states.items()})
    before = key_values(armature)
    report = plant()
    assert report["sentence"] == "No foot contacts found; nothing was changed"
    assert all(np.array_equal(values, key_values(armature)[path]) for path, values in before.items())


def test_a_leg_that_an_earlier_bake_has_stretched_stays_so_and_stands(empty_file):
    """As after Switch to FK, which turns the stretch of a rig's IK into keys."""
    armature, states = build_walker(Walk(slide=0.02))
    key_contacts(armature, states)
    for side in SIDES:
        armature.data.bones[f"foot.{side}"].inherit_scale = "NONE"
        bone = armature.pose.bones[f"thigh.{side}"]
        for frame, scale in ((1, 1.0), (30, 0.97), (60, 1.0)):
            bone.scale = (scale, scale, scale)
            bone.keyframe_insert("scale", frame=frame, keytype="GENERATED")
    report = plant()
    assert max(contact["slide_after"] for chain in report["chains"] for contact in chain["contacts"]) < SLIDE
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE


def test_without_the_root_what_is_out_of_reach_is_named(empty_file):
    armature, states = build_walker(Walk(slide=0.03, raised=0.04))
    key_contacts(armature, states)
    report = plant(use_root=False)
    assert report["root"] is None
    assert any(chain["out_of_reach"] for chain in report["chains"])


def test_contacts_are_found_where_none_are_keyed(empty_file):
    armature, _ = build_walker(Walk(frames=90, rate=30.0, slide=0.02))
    report = plant()
    assert all(len(chain["contacts"]) >= 4 for chain in report["chains"])
    assert all(chain["skating_after"] == 0.0 for chain in report["chains"])
    assert armature.twobone.chains["leg.L"].contact in {"NONE", "HEEL", "BALL", "BOTH"}


def test_a_strip_that_the_action_would_hide_is_refused_until_the_action_is_pushed_down(empty_file):
    armature, states = build_walker(Walk(frames=30, slide=0.02))
    key_contacts(armature, states)
    with pytest.raises(RuntimeError, match=r"would cover the NLA strip\. Push the action down to the NLA, or"):
        plant(destination="NLA")
    data, track = armature.animation_data, armature.animation_data.nla_tracks.new()
    track.strips.new("walk", 1, data.action)
    data.action = None
    report = plant(destination="NLA")
    assert worst_slide(Seen(armature, whole_frames()), planted_states(report, 30)) < SLIDE


def test_targets_follow_the_planted_feet_and_bake_back_to_the_same(empty_file):
    armature, states = build_walker(Walk(frames=40, slide=0.02))
    key_contacts(armature, states)
    plant()
    for chain in armature.twobone.chains:
        chain.target, chain.pole, chain.end_rotation = add_empty(f"{chain.name} target"), add_empty(f"{chain.name} pole"), "KEEP"
    assert bpy.ops.twobone.bake_target(scope="ACTIVE") == {"FINISHED"}
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE


@pytest.mark.parametrize("tip", ["shin", "foot"])
@pytest.mark.parametrize("by", ["keys", "limit", "locked", "constraint"])
def test_feet_that_hang_from_elsewhere_and_have_keys_of_their_own_are_not_left_behind(empty_file, by, tip):
    """Parented to nothing, at the end of a leg without a foot: keyed along, or refused; by a constraint they follow."""
    armature, states = build_walker(FAULTS["slides"])
    key_contacts(armature, states)
    bpy.ops.object.mode_set(mode="EDIT")
    for side in SIDES:
        armature.data.edit_bones[f"foot.{side}"].use_connect = False
        armature.data.edit_bones[f"foot.{side}"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    for side in SIDES:
        chain, foot = armature.twobone.chains[f"leg.{side}"], armature.pose.bones[f"foot.{side}"]
        chain.tip, chain.tip_end, chain.toe = f"{tip}.{side}", "TAIL" if tip == "shin" else "HEAD", ""
        if by != "constraint":
            for frame in (1, 20):
                foot.keyframe_insert("location", frame=frame)
        if by == "limit":
            foot.constraints.new("LIMIT_ROTATION")
        elif by == "locked":
            foot.lock_location[1] = True
        elif by == "constraint":
            following = foot.constraints.new("COPY_LOCATION")
            following.target, following.subtarget, following.head_tail = armature, f"shin.{side}", 1.0
    before, (ways, ankles) = all_keys(armature), feet_beside(armature)
    if by == "locked":
        said = r'Foot "foot\.L" is not parented to the leg .*: its location is locked\..* to the tail of bone "shin\.L"'
        with pytest.raises(RuntimeError, match=said):
            bpy.ops.twobone.plant()
        assert all_keys(armature) == before
        return
    plant()
    assert all_keys(armature) != before
    new_ways, new_ankles = feet_beside(armature)
    assert np.abs(new_ankles - ankles).max() > 0.01, "no leg has moved"
    assert np.abs(new_ways - ways).max() < SLIDE


def feet_beside(armature):
    """Ways from the ends of both legs to their feet, and the places of these ends."""
    seen = [ways_to_the_foot(armature, f"shin.{side}", f"foot.{side}", whole_frames()) for side in SIDES]
    ways, feet = (np.array(each) for each in zip(*seen, strict=True))
    return ways, feet - ways
