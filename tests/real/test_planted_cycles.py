"""Cycles of an animal, planted with one command: they still close, and no leg snaps over."""

import json

import bpy
import numpy as np
import pytest

from tests.real.rigs import FOX, KAYKIT, RealLimb, open_rig

HEIGHT = 77.0
"""Of the fox, in units of the file."""


def open_fox(data_folder, action, last):
    """The fox with a stored chain for each leg, in one of its cycles."""
    armature, _ = open_rig(
        data_folder, RealLimb(FOX, "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", (0, last), action)
    )
    bpy.context.view_layer.objects.active = armature
    bpy.ops.twobone.find_limbs(armature=armature.name)
    return armature


def legs_seen(armature):
    """Joints `(F, C, 3, 3)` of all legs, as Blender evaluates them."""
    scene, found = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        pose = armature.pose.bones
        names = [(chain.upper, chain.lower, chain.tip) for chain in armature.twobone.chains]
        found.append([[armature.matrix_world @ pose[name].head for name in chain] for chain in names])
    return np.array(found)


def bends(joints):
    """Signed bend `(F, C)` of each leg about the axis that its frames have in common."""
    links = np.diff(joints, axis=2)
    areas = np.cross(links[:, :, 0], links[:, :, 1])
    axes = areas.sum(axis=0)
    across = np.sum(areas * axes / np.linalg.norm(axes, axis=-1, keepdims=True), axis=-1)
    return np.arctan2(across, np.sum(links[:, :, 0] * links[:, :, 1], axis=-1))


@pytest.mark.parametrize("action, last", [("Walk", 17), ("Run", 28)])
def test_a_planted_cycle_still_closes_and_no_leg_snaps_over(data_folder, empty_file, action, last):
    """In its walk a fore leg is overstretched by two degrees for two frames, at which it is to be bent by fifty."""
    armature = open_fox(data_folder, action, last)
    before = legs_seen(armature)
    bpy.ops.twobone.plant(armature=armature.name)
    after, report = legs_seen(armature), json.loads(bpy.context.window_manager.twobone_report)
    assert bends(before).min() < 0.0 or action == "Run"
    assert bends(after).min() > -0.02
    opened = np.linalg.norm((after[-1] - after[0]) - (before[-1] - before[0]), axis=-1).max()
    assert opened < 1e-4 * HEIGHT
    assert report["cycle_gap"] < 1e-4 * HEIGHT
    assert "cycle" not in report["sentence"]
    # Its hips go down by 4.2 units, and no paw goes deeper into the ground than it did anyway.
    assert all(leg["penetration_after"] <= leg["penetration_before"] + 1e-4 * HEIGHT for leg in report["chains"])


@pytest.mark.parametrize("action, last", [("Walk", 17), ("Run", 28)])
def test_a_cycle_on_its_belt_is_planted_once(data_folder, empty_file, action, last):
    """The speed of the belt is found from what is seen, and that is a little different once the feet stand on it."""
    armature = open_fox(data_folder, action, last)
    bpy.ops.twobone.plant(armature=armature.name)
    once, first = legs_seen(armature), json.loads(bpy.context.window_manager.twobone_report)
    bpy.ops.twobone.plant(armature=armature.name)
    again = json.loads(bpy.context.window_manager.twobone_report)
    assert np.array_equal(legs_seen(armature), once)
    assert again["root"] == first["root"]  # It begins with the motion from before, and so has as much to do.
    assert [leg["keys"] for leg in again["chains"]] == [leg["keys"] for leg in first["chains"]]


def test_hips_of_a_walk_in_place_stay_where_heels_can_come_up_instead(data_folder, empty_file):
    """Its legs are straight when they leave the ground; hips that made up for that went down by 7 % of them, twice a round."""
    bpy.context.scene.render.fps = 30
    armature, _ = open_rig(data_folder, RealLimb(KAYKIT, "upperleg.l", "lowerleg.l", "foot.l", (1, 33), "Walking_B"))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.twobone.find_limbs(armature=armature.name)
    chains = armature.twobone.chains
    for chain in reversed([chain for chain in chains if chain.limb != "LEG"]):
        chains.remove(chains.find(chain.name))
    before = legs_seen(armature)
    bpy.ops.twobone.plant(armature=armature.name)
    after, report = legs_seen(armature), json.loads(bpy.context.window_manager.twobone_report)
    length = np.linalg.norm(np.diff(before, axis=2), axis=-1).sum(axis=-1).max()
    assert all(leg["contacts"] and leg["out_of_reach"] == [] and leg["skating_after"] == 0.0 for leg in report["chains"])
    assert np.linalg.norm(after[:, :, 0] - before[:, :, 0], axis=-1).max() < 0.01 * length
    assert np.all(
        np.abs(np.diff(bends(after), 2, axis=0)).max(axis=0) <= 1.5 * np.abs(np.diff(bends(before), 2, axis=0)).max(axis=0)
    )
