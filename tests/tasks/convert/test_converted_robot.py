"""A robot whose feet hang from the root: its legs become keys in all actions and go back onto IK; arms and face stay."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.many_actions import clear_pose, play
from tests.tasks.rigs.robot import ACTIONS, ARMS, LAST, LEGS, robot
from tests.tasks.scenes import set_range

CLOSE = 2e-4
"""Metres, of legs of 0.9: how near Blender's own IK comes to its target."""
TURNED = 2e-3
"""Entries of rotations, likewise."""


def seen(rig):
    """World matrices of all limbs' bones by action, `(F, B, 4, 4)`, and how much the head smiles, `(F,)`."""
    found = {}
    for name in ACTIONS:
        clear_pose(rig)
        play(rig, name)
        rows = []
        for frame in range(1, LAST + 1):
            bpy.context.scene.frame_set(frame)
            rows.append([np.array(rig.matrix_world @ rig.pose.bones[bone].matrix) for limb in (*LEGS, *ARMS) for bone in limb])
        found[name] = np.array(rows)
    play(rig, "Walk")
    return found, np.array([smile(frame) for frame in range(1, LAST + 1)])


def smile(frame):
    bpy.context.scene.frame_set(frame)
    return bpy.data.objects["Head"].data.shape_keys.key_blocks["Smile"].value


def assert_unchanged(before, after):
    for name in ACTIONS:
        gap = np.abs(after[0][name] - before[0][name])
        assert gap[..., :3, 3].max() < CLOSE, name
        assert gap[..., :3, :3].max() < TURNED, name
        feet = [2, 5, *range(6, 12)]  # what no IK turns stays to the last bit, but for single precision
        assert gap[:, feet].max() < 1e-5, name
    assert after[1] == pytest.approx(before[1])


def sentence():
    return json.loads(bpy.context.window_manager.twobone_report)["sentence"]


@pytest.fixture
def rig(empty_file):
    set_range(1, LAST)
    return robot()


def test_legs_become_keys_in_every_action_though_a_face_plays_one_of_them(rig):
    before = seen(rig)
    swing = before[0]["Walk"][:, 0]
    assert np.abs(swing - swing[0]).max() > 0.3, "the legs do not move"
    assert bpy.ops.twobone.convert_ik(actions="ALL") == {"FINISHED"}
    for upper, lower, _ in LEGS:
        ik = rig.pose.bones[lower].constraints["IK"]
        assert ik.mute or ik.influence == 0.0, upper
    assert sentence().startswith("2 chains in 2 actions baked")
    assert_unchanged(before, seen(rig))


def test_found_limbs_are_the_robots_arms_and_legs(rig):
    bpy.ops.twobone.find_limbs()
    assert {(chain.upper, chain.lower) for chain in rig.twobone.chains} == {limb[:2] for limb in (*LEGS, *ARMS)}


def test_legs_go_back_onto_ik_and_an_arm_is_refused_by_name(rig):
    before = seen(rig)
    bpy.ops.twobone.convert_ik()
    bpy.ops.twobone.find_limbs()
    for chain in rig.twobone.chains:
        if chain.limb != "LEG":
            with pytest.raises(RuntimeError, match=f'"{chain.upper}".*no IK constraint'):
                bpy.ops.twobone.switch(to="IK", chain=chain.name)
            continue
        assert bpy.ops.twobone.switch(to="IK", chain=chain.name) == {"FINISHED"}
        assert "loses its twist" not in sentence()
        bpy.context.scene.frame_set(6)
        ik = rig.pose.bones[chain.lower].constraints["IK"]
        assert (ik.mute, ik.influence) == (False, 1.0)
    assert_unchanged(before, seen(rig))


def test_a_foot_that_the_leg_did_not_reach_stays_and_the_switch_is_refused_with_its_distance(empty_file):
    set_range(1, LAST)
    rig = robot(farther=3.0)
    bpy.ops.twobone.convert_ik()
    bpy.ops.twobone.find_limbs()
    chain = next(chain for chain in rig.twobone.chains if chain.upper == "UpperLegL")
    before = dump_file()
    with pytest.raises(RuntimeError, match=r'Bone "FootL" would move by \d.* cm at frame'):
        bpy.ops.twobone.switch(to="IK", chain=chain.name)
    assert differences(before, dump_file()) == []
