"""Rigs made by others: what is right already stays as it is, every bone's orientation, with a target and with a pole."""

import json

import bpy
import pytest

from tests.interface.acting import select_bones
from tests.real.own_python import run
from tests.real.rigs import LIMBS, WALKING_LIMBS, open_rig
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed, target_on
from tests.tasks.scenes import bake

MOST_FRAMES = 40
FIRST_OF_EACH = list({real.file: real for real in (*LIMBS, *WALKING_LIMBS)}.values())


def opened(folder, real):
    """Armature, limb, its bones and the frames to look at: some from the middle of its motion, where it is in full swing."""
    armature, limb = open_rig(folder, real)
    scene = bpy.context.scene
    first = max(scene.frame_start, (scene.frame_start + scene.frame_end - MOST_FRAMES) // 2)
    scene.frame_start, scene.frame_end = first, min(scene.frame_end, first + MOST_FRAMES)
    return armature, limb, [real.upper, real.lower, real.end], range(scene.frame_start, scene.frame_end + 1)


@pytest.mark.parametrize("real", [*LIMBS, *WALKING_LIMBS], ids=str)
def test_a_target_on_the_tip_turns_no_bone(empty_file, data_folder, real):
    """Add Target, the empty moved along with the tip, Bake."""
    armature, _, bones, frames = opened(data_folder, real)
    select_bones(armature, real.lower)
    bpy.ops.twobone.add_target()
    chain = armature.twobone.chains[0]
    chain.target = target_on(armature, frames, lambda found: found[real.end].head)
    chain.frame_range = "SCENE"
    before = posed(armature, bones, frames)
    bpy.ops.twobone.bake()
    report = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
    assert (chain.plane, report["reached"]) == ("POSE", len(frames))
    assert degrees_between(before, posed(armature, bones, frames)).max() < UNSEEN
    assert report["max_twist"] < UNSEEN


@pytest.mark.parametrize("real", FIRST_OF_EACH, ids=str)
def test_nor_does_a_pole_that_goes_with_the_limb(empty_file, data_folder, real):
    armature, limb, bones, frames = opened(data_folder, real)
    chosen = {**limb.names(), "tip": real.end, "plane": "POLE", "reference": "POSE"}
    bpy.ops.twobone.bake_target(**chosen)
    guides = json.loads(bpy.context.window_manager.twobone_report)
    before = posed(armature, bones, frames)
    report = bake(**chosen, target=guides["target"], pole=guides["pole"])
    assert degrees_between(before, posed(armature, bones, frames)).max() < UNSEEN
    assert report["max_twist"] < UNSEEN


@pytest.mark.parametrize("real", FIRST_OF_EACH, ids=str)
def test_a_pole_at_the_knee_turns_no_limb_round_from_its_rest_pose_either(empty_file, data_folder, real):
    armature, limb, _, frames = opened(data_folder, real)
    target_on(armature, frames, lambda found: found[real.end].head)
    target_on(armature, frames, lambda found: found[real.lower].head, "Pole")
    report = bake(limb, tip=real.end, target="Target", pole="Pole", plane="POLE", reference="REST")
    assert report["reached"] == len(frames)
    # What is left is the twist that the motion has between thigh and shin, and the rest pose has not.
    assert report["max_twist"] < 5.0


def test_nor_does_a_target_on_limbs_of_a_generated_human(tmp_path):
    assert "nothing has turned" in run("unmoved_scenario.py", tmp_path)
