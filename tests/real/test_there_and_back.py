"""A person's walk, given away and taken back: targets where the limbs end, poles where they bend, and the joints return."""

import json

import bpy
import numpy as np
import pytest

from tests.real.rigs import KAYKIT, WALK, RealLimb, open_rig
from tests.tasks.checks.measuring import evaluate

BACK = 1e-5
"""Of a limb's length: how near every joint comes back."""

BOTH_KAYKIT_LEGS = tuple(
    RealLimb(KAYKIT, f"upperleg.{side}", f"lowerleg.{side}", f"foot.{side}", frames, action)
    for side in "lr"
    for frames, action in (((1, 20), "Running_A"), ((1, 25), "Walking_A"))
)

ALL_WALKING_LIMBS = tuple(
    RealLimb(WALK, f"{side}{upper}", f"{side}{lower}", f"{side}{end}", (1, 343))
    for side in ("Left", "Right")
    for upper, lower, end in (("UpLeg", "Leg", "Foot"), ("Arm", "ForeArm", "Hand"))
)


def empties(*names):
    for name in names:
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))


def operator(name, limb, **settings):
    settings = {**limb.names(), "tip": limb.carrier, "tip_end": "HEAD", "target": "Target", "pole": "Pole", **settings}
    assert getattr(bpy.ops.twobone, name)(**settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


def joints_over_time(rig, limb, real):
    return evaluate(rig, limb, range(real.frames[0], real.frames[1] + 1)).joints


def lengths_of(joints):
    return np.linalg.norm(np.diff(joints, axis=1), axis=-1).sum(axis=-1)


def return_errors(before, after):
    """How far the worst joint is from where it was, per frame, relative to the limb's length."""
    return np.linalg.norm(after - before, axis=-1).max(axis=-1) / lengths_of(before)


@pytest.mark.parametrize("real", ALL_WALKING_LIMBS, ids=str)
def test_a_walk_goes_to_target_and_pole_and_back(empty_file, data_folder, real):
    rig, limb = open_rig(data_folder, real)
    empties("Target", "Pole")
    before = joints_over_time(rig, limb, real)
    report = operator("bake_target", limb, plane="POLE", bend="POSITIVE")
    length = np.linalg.norm(np.diff(before[0], axis=0), axis=-1).sum()
    assert report["max_round_trip"] < BACK * length
    operator("bake", limb, plane="POLE", bend="POSITIVE")
    assert return_errors(before, joints_over_time(rig, limb, real)).max() < BACK


@pytest.mark.parametrize("plane", ["YZ", "REST"])
@pytest.mark.parametrize("real", BOTH_KAYKIT_LEGS, ids=str)
def test_planar_walks_and_runs_go_to_the_target_and_back(empty_file, data_folder, real, plane):
    rig, limb = open_rig(data_folder, real)
    empties("Target", "Pole")
    before = joints_over_time(rig, limb, real)
    settings = {"plane": plane, "plane_space": "PARENT"}
    report = operator("bake_target", limb, **settings)
    assert report["max_off_plane"] < 1e-6
    operator("bake", limb, **settings)
    assert return_errors(before, joints_over_time(rig, limb, real)).max() < BACK


def test_a_nearly_straight_knee_far_from_the_worlds_origin_comes_back(empty_file, data_folder):
    """There, single precision is too coarse for a target's place to be rounded any old way."""
    rig, limb = open_rig(data_folder, BOTH_KAYKIT_LEGS[0])
    rig.location = (3.0, -7.0, 2.0)
    empties("Target", "Pole")
    before = joints_over_time(rig, limb, BOTH_KAYKIT_LEGS[0])
    operator("bake_target", limb, plane="YZ", plane_space="PARENT")
    operator("bake", limb, plane="YZ", plane_space="PARENT")
    assert return_errors(before, joints_over_time(rig, limb, BOTH_KAYKIT_LEGS[0])).max() < BACK


@pytest.mark.parametrize("real", BOTH_KAYKIT_LEGS, ids=str)
def test_nearly_straight_knees_come_back_from_a_target_with_a_turned_parent(empty_file, data_folder, real):
    rig, limb = open_rig(data_folder, real)
    empties("Target", "Pole", "Parent")
    parent = bpy.data.objects["Parent"]
    parent.location, parent.rotation_euler = (0.3, 0.2, 0.1), (0.3, 0.5, 0.2)
    bpy.data.objects["Target"].parent = parent
    before = joints_over_time(rig, limb, real)
    operator("bake_target", limb, plane="YZ", plane_space="PARENT")
    operator("bake", limb, plane="YZ", plane_space="PARENT")
    assert return_errors(before, joints_over_time(rig, limb, real)).max() < BACK
