"""Convert works on the selected limbs, else on all, and finds the rigs that Rigify made by itself."""

import json

import bpy
import pytest

from tests.interface.acting import select_bones
from tests.tasks.scenes import BoneShape, build_armature


def legs_on_ik():
    """Two legs that IK constraints pose after control bones."""
    shapes = [BoneShape("hip", (0, 0.1, 1), (0, 0.1, 1.2))]
    for side, x in (("L", 0.2), ("R", -0.2)):
        shapes += [
            BoneShape(f"thigh.{side}", (x, 0, 1), (x, -0.1, 0.5), "hip"),
            BoneShape(f"shin.{side}", (x, -0.1, 0.5), (x, 0, 0), f"thigh.{side}", connected=True),
            BoneShape(f"grip.{side}", (x, 0.1, 0.2), (x, 0.3, 0.2)),
        ]
    rig = build_armature(shapes)
    for side in "LR":
        ik = rig.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = rig, f"grip.{side}", 2
    bpy.context.scene.frame_end = 2
    return rig


def converted():
    report = json.loads(bpy.context.window_manager.twobone_report)
    return sorted(chain["upper"] for chain in report.get("chains", [report]))


@pytest.mark.parametrize(
    "selected, limbs",
    [
        (("shin.L",), ["thigh.L"]),
        (("grip.R",), ["thigh.R"]),
        (("grip.L", "thigh.R"), ["thigh.L", "thigh.R"]),
        (("hip",), ["thigh.L", "thigh.R"]),
        ((), ["thigh.L", "thigh.R"]),
    ],
    ids=str,
)
def test_the_selected_limbs_are_converted_else_all(empty_file, selected, limbs):
    rig = legs_on_ik()
    select_bones(rig, *selected)
    bpy.ops.twobone.convert_ik()
    assert converted() == limbs


def test_in_object_mode_all_limbs_are_converted(empty_file):
    rig = legs_on_ik()
    select_bones(rig, "shin.L")
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.twobone.convert_ik()
    assert converted() == ["thigh.L", "thigh.R"]


def test_a_bone_that_is_named_counts_whatever_is_selected(empty_file):
    rig = legs_on_ik()
    select_bones(rig, "shin.L")
    bpy.ops.twobone.convert_ik(bone="shin.R")
    assert converted() == ["thigh.R"]
