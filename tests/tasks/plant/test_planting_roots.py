"""Which bone gives way for planted feet, and what is said where feet are not seen to do what was keyed."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.seen_walk import Seen, plant, whole_frames
from tests.tasks.rigs import walker as walkers
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import BoneShape, add_empty

WALK = Walk(frames=14, slide=0.02, raised=0.03)


@pytest.fixture
def walker(empty_file):
    armature, states = build_walker(WALK)
    key_contacts(armature, states)
    return armature


def without_location_keys(armature):
    """The same walk, carried by nothing but where the hips are at the first frame."""
    from twobone_addon.scene.versions import curve_bag

    curves = curve_bag(armature).fcurves
    for curve in [curve for curve in curves if curve.data_path.endswith("location")]:
        curves.remove(curve)
    bpy.context.scene.frame_set(1)


def test_a_bone_that_carries_the_legs_alone_is_no_root(empty_file, monkeypatch):
    tweak = BoneShape("tweak", (0, 0, 0.95), (0, 0, 1.0), "hips")
    shapes = [shape if not shape.name.startswith("thigh") else BoneShape(shape.name, shape.head, shape.tail, "tweak")
              for shape in walkers.SHAPES]  # fmt: skip
    monkeypatch.setattr(walkers, "SHAPES", (*shapes[:3], tweak, *shapes[3:]))
    armature, states = build_walker(WALK)
    key_contacts(armature, states)
    without_location_keys(armature)
    chest = armature.pose.bones["chest"]
    heights = [_height(chest, frame) for frame in whole_frames()]
    report = plant()
    assert report["root"]["bone"] == "hips"
    assert report["root"]["max_move"] > 0.005
    lowered = np.array(heights) - [_height(chest, frame) for frame in whole_frames()]
    assert lowered.max() == pytest.approx(report["root"]["max_move"], abs=1e-4)


def _height(bone, frame):
    bpy.context.scene.frame_set(int(frame))
    return bone.head.z


def test_a_bone_that_is_locked_in_its_place_is_left_there_where_another_can_move(walker):
    walker.pose.bones["hips"].lock_location = (True, True, True)
    report = plant()
    assert report["root"]["bone"] == "root"
    assert not any("hips" in note for note in report["notes"])


def test_a_locked_root_that_is_named_is_moved_and_said(walker):
    walker.pose.bones["hips"].lock_location = (False, True, True)
    report = plant(root="hips")
    assert report["notes"][0] == 'Bone "hips" has its location locked along Y, Z, but was keyed anyway.'


def test_a_leg_that_something_else_poses_is_named(walker):
    ik = walker.pose.bones["shin.L"].constraints.new("IK")
    ik.target, ik.chain_count = add_empty("Control"), 2
    bpy.context.view_layer.update()
    assert bpy.ops.twobone.find_contacts(armature=walker.name) == {"FINISHED"}
    found = json.loads(bpy.context.window_manager.twobone_report)
    assert [chain["is_seen"] for chain in found["chains"]] == [False, True]
    assert "leg.L: the visible limb does not follow" in found["sentence"]
    before = Seen(walker, whole_frames())
    report = plant()
    assert np.abs(np.array(Seen(walker, whole_frames()).heels["L"]) - np.array(before.heels["L"])).max() < 0.1
    assert report["sentence"].startswith("leg.L: the visible limb does not follow. Use Switch to FK; "), "the worst is not first"
    assert [chain["visible"]["follows"] for chain in report["chains"]] == [False, True]


def test_a_deforming_bone_that_copies_something_else_is_measured(walker):
    bpy.ops.object.mode_set(mode="EDIT")
    bones = walker.data.edit_bones
    for name in ("shin.L", "thigh.L"):
        bones[name].use_deform = False
    skin, still = bones.new("DEF-shin.L"), bones.new("IK-shin.L")
    for bone in (skin, still):
        bone.head, bone.tail, bone.parent = bones["shin.L"].head, bones["shin.L"].tail, bones["root"]
    still.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    copies = {}
    for name in ("shin.L", "IK-shin.L"):
        copies[name] = walker.pose.bones["DEF-shin.L"].constraints.new("COPY_TRANSFORMS")
        copies[name].target, copies[name].subtarget = walker, name
    report = plant()
    assert report["chains"][0]["visible"]["max_distance"] > 0.1
    copies["IK-shin.L"].influence = 0.0
    assert plant()["chains"][0]["visible"] == {"bone": "DEF-shin.L", "follows": True, "max_distance": None}


@pytest.mark.parametrize("wanted, reason", [("ADD", "does not move under the feet"), ("REMOVE", "")])
def test_root_motion_that_is_not_there_is_said(walker, wanted, reason):
    notes = [note for note in plant(root_motion=wanted)["notes"] if "soles" not in note]
    assert len(notes) == bool(reason)
    assert all(reason in note for note in notes)
