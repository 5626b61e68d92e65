"""A person's legs and arms, pulled by Blender's IK after another walk, become keys again."""

import json

import bpy
import numpy as np
import pytest

from tests.baking.measuring import evaluate
from tests.real.rigs import WALKING_LIMBS, open_rig

RESIDUAL = 2e-4
"""Of a limb's length: what Blender's IK leaves."""

LAST = 120


@pytest.mark.parametrize("real", WALKING_LIMBS, ids=str)
def test_limbs_on_ik_keep_their_motion_as_keys(empty_file, data_folder, real):
    rig, limb = open_rig(data_folder, real)
    bpy.context.scene.frame_end = LAST
    for name in ("Target", "Pole"):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
    chain = {"tip": real.end, "tip_end": "HEAD", "target": "Target", "pole": "Pole", "plane": "POLE"}
    assert bpy.ops.twobone.bake_target(**limb.names(), **chain) == {"FINISHED"}
    carrier = rig.pose.bones[real.end]
    constraint = carrier.constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_tail = bpy.data.objects["Target"], 2, False
    for frame, value in ((1, 1.0), (60, 1.0), (80, 0.2), (LAST, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    bpy.data.objects["Target"].delta_location = (2.0, 1.0, 1.5)
    frames = range(1, LAST + 1)
    before = evaluate(rig, limb, frames)
    assert bpy.ops.twobone.convert_ik(armature=rig.name, bone=real.end) == {"FINISHED"}
    assert constraint.mute
    report = json.loads(bpy.context.window_manager.twobone_report)
    lengths = np.linalg.norm(before.links, axis=-1).sum(axis=-1)
    moved = np.linalg.norm(evaluate(rig, limb, frames).joints - before.joints, axis=-1).max(axis=-1) / lengths
    assert moved.max() <= RESIDUAL
    assert report["max_moved"] <= RESIDUAL * lengths.max()
