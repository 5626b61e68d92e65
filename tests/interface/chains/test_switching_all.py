"""Switch for several limbs by one press: what the Pose menu offers, what it does, and the one sentence about it."""

import json

import bpy
import numpy as np
import pytest

from tests.interface.acting import select_bones
from tests.interface.recording import drawn
from tests.tasks.rigs.legs_with_ik import poses
from tests.tasks.rigs.robot import LAST as ROBOT_LAST
from tests.tasks.rigs.robot import robot
from tests.tasks.rigs.two_legs import SIDES, legs_on_ik
from tests.tasks.scenes import set_range
from twobone_addon.interface.sidebar.menus import TWOBONE_MT_pose
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains

LAST = 8
FRAMES = range(1, LAST + 1)
LENGTH = 1.0


@pytest.fixture
def walking(empty_file):
    return legs_on_ik(LAST)


def follow_ik(rig):
    """Sides whose leg moves with its goal."""
    goals = {side: bpy.data.objects[f"Goal {side}"] for side in SIDES}
    before = poses(rig, FRAMES)
    for goal in goals.values():
        goal.delta_location = (0.0, 0.05, 0.1)
    moved = np.abs(poses(rig, FRAMES) - before).max(axis=(0, 2, 3))
    for goal in goals.values():
        goal.delta_location = (0.0, 0.0, 0.0)
    names = [bone.name for bone in rig.pose.bones]
    return {side for side in SIDES if moved[names.index(f"shin.{side}")] > 0.01}


def report():
    return json.loads(bpy.context.window_manager.twobone_report)


def pressed(text):
    """Choose the entry of the Pose menu with this text."""
    calls = drawn(TWOBONE_MT_pose).calls
    at = next(
        number for number, (_, given, named) in enumerate(calls) if (given, named.get("text")) == (("twobone.switch",), text)
    )
    assert bpy.ops.twobone.switch(**calls[at + 1][1][0].values) == {"FINISHED"}


@pytest.mark.parametrize("has_chains", [True, False])
def test_all_limbs_are_switched_at_once_and_one_sentence_names_the_largest_movement(walking, has_chains):
    before = poses(walking, FRAMES)
    assert follow_ik(walking) == {"L", "R"}
    if has_chains:
        bpy.ops.twobone.find_limbs()
        pressed("Switch All Limbs to FK")
    else:
        assert bpy.ops.twobone.switch(to="FK", scope="ACTIVE") == {"FINISHED"}
    assert follow_ik(walking) == set()
    moved = np.abs(poses(walking, FRAMES) - before).max()
    assert moved < 1e-3 * LENGTH
    told = report()
    assert len(told["chains"]) == 2
    said = told["sentence"]
    assert said.startswith(f"2 limbs switched to FK, keyed from 1 to {LAST}; ")
    largest = max(told["chains"], key=lambda chain: chain["max_moved"])
    assert said == f"2 limbs switched to FK, keyed from 1 to {LAST}; {largest['sentence'].partition('; ')[2]}"


def test_of_two_selected_limbs_both_are_switched_and_of_one_only_that(walking):
    bpy.ops.twobone.find_limbs()
    select_bones(walking, "shin.L", "foot.R")
    pressed("Switch to FK")
    assert follow_ik(walking) == set()
    assert report()["sentence"].startswith("2 limbs switched to FK")


def test_of_one_selected_limb_only_that_one_is_switched(walking):
    bpy.ops.twobone.find_limbs()
    select_bones(walking, "shin.R")
    bpy.context.view_layer.update()
    pressed("Switch to FK")
    assert follow_ik(walking) == {"L"}
    assert report()["sentence"].startswith("Switched to FK, keyed")


def test_limbs_that_are_on_fk_already_are_counted_apart(walking):
    bpy.ops.twobone.find_limbs()
    walking.pose.bones["shin.L"].constraints[0].mute = True
    bpy.context.view_layer.update()
    assert bpy.ops.twobone.switch(to="FK", scope="ACTIVE") == {"FINISHED"}
    first, second, *_ = report()["sentence"].split("; ")
    assert first == f"Switched to FK, keyed from 1 to {LAST}"
    assert second == "The limb is on FK already"


def test_of_a_whole_character_limbs_without_ik_stay_as_they_are(empty_file):
    """A robot's arms have keys alone: the buttons for all limbs lead its legs to FK and back."""
    rig = robot()
    set_range(1, ROBOT_LAST)
    frames = range(1, ROBOT_LAST + 1)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.find_limbs()
    before = poses(rig, frames)
    for to in ("FK", "IK"):
        assert bpy.ops.twobone.switch(to=to, scope="ACTIVE") == {"FINISHED"}
    assert "; 2 limbs have no IK and stay as they are; " in report()["sentence"]
    assert [limb["lacks_ik"] for limb in report()["chains"]] == [False, False, True, True]
    seen = [not bone.name.startswith("PoleTarget") for bone in rig.pose.bones]
    assert np.abs(poses(rig, frames) - before)[:, seen].max() < 1e-3 * LENGTH
    for side in "LR":
        rig.pose.bones[f"LowerLeg{side}"].constraints.remove(rig.pose.bones[f"LowerLeg{side}"].constraints[0])
    with pytest.raises(RuntimeError, match="has no IK constraint over its two bones"):
        bpy.ops.twobone.switch(to="IK", scope="ACTIVE")


def test_convert_stands_once_and_its_tooltip_says_what_it_does_that_switch_does_not(walking):
    bpy.ops.twobone.find_limbs()
    shown = drawn(TWOBONE_PT_chains)
    assert shown.buttons().count("twobone.convert_ik") == 1
    assert "twobone.switch" not in shown.buttons(), "the buttons of Bake switch limbs on IK first"
    assert shown.values("twobone.bake")["switch_first"]
    assert shown.values("twobone.bake_all")["switch_first"]
    convert, switch = (getattr(bpy.ops.twobone, name).get_rna_type().description for name in ("convert_ik", "switch"))
    assert "The constraints are muted" in convert
    assert "to FK or IK" in switch
