"""Limbs of other people's rigs, pulled by Blender's IK, become keys, and stay where they are."""

import json

import bpy
import numpy as np
import pytest

from tests.real.rigs import LIMBS, WALKING_LIMBS, open_rig
from tests.real.shots import make_real_shot
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import Limb

RESIDUAL = 2e-4
"""Of a limb's length: what Blender's IK leaves."""

LAST = 120


@pytest.mark.parametrize("real", WALKING_LIMBS, ids=str)
def test_a_walk_on_ik_stays_as_it_is_while_the_influence_changes(empty_file, data_folder, real):
    rig, limb = open_rig(data_folder, real)
    bpy.context.scene.frame_end = LAST
    for name in ("Target", "Pole"):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
    chain = {"tip": real.end, "tip_end": "HEAD", "target": "Target", "pole": "Pole", "plane": "POLE"}
    assert bpy.ops.twobone.bake_target(**limb.names(), **chain) == {"FINISHED"}
    constraint = pull(rig.pose.bones[real.end])
    for frame, value in ((1, 1.0), (60, 1.0), (80, 0.2), (LAST, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    bpy.data.objects["Target"].delta_location = (2.0, 1.0, 1.5)
    # The recording goes on after the scene, where the IK stays on.
    frames, beyond = range(1, LAST + 1), range(LAST + 1, LAST + 20)
    before, before_beyond = evaluate(rig, limb, frames), evaluate(rig, limb, beyond)
    assert bpy.ops.twobone.convert_ik(armature=rig.name, bone=real.end) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert_stayed(before, evaluate(rig, limb, frames), report)
    assert constraint.influence == 0.0
    assert_stayed(before_beyond, evaluate(rig, limb, beyond), report)
    assert constraint.influence == 1.0


@pytest.mark.parametrize("real", LIMBS, ids=str)
def test_every_rigs_limb_on_ik_stays_as_it_is(empty_file, data_folder, real):
    """On some of them, whose bones do not point along the limb, IK does not reach; what it does is kept all the same."""
    rig, chain = make_real_shot(data_folder, real)
    limb = Limb(rig.name, chain.upper, chain.lower, carrier=chain.tip, at_tail=False)
    pull(rig.pose.bones[chain.tip])
    frames = range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1)
    before = evaluate(rig, limb, frames)
    assert bpy.ops.twobone.convert_ik() == {"FINISHED"}
    assert_stayed(before, evaluate(rig, limb, frames), json.loads(bpy.context.window_manager.twobone_report))


def pull(carrier):
    """IK that brings the head of this bone to the target."""
    constraint = carrier.constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_tail = bpy.data.objects["Target"], 2, False
    return constraint


def assert_stayed(before, after, report):
    lengths = np.linalg.norm(before.links, axis=-1).sum(axis=-1)
    moved = np.linalg.norm(after.joints - before.joints, axis=-1).max(axis=-1) / lengths
    assert moved.max() <= RESIDUAL
    # The report looks at points a link's length away from the bones as well, in the world.
    worlds = np.cbrt(np.abs(np.linalg.det(before.worlds[:, :3, :3])))
    assert report["max_moved"] <= 3 * RESIDUAL * (lengths * worlds).max()
