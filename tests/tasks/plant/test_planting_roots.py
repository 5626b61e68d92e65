"""Which bone gives way for planted feet, and what is said where feet are not seen to do what was keyed."""

import json

import bpy
import numpy as np
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.seen_walk import plant, whole_frames
from tests.tasks.rigs import walker as walkers
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from tests.tasks.scenes import BoneShape, add_empty, key_channel

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


def assert_refused(said):
    before = dump_file()
    with pytest.raises(RuntimeError, match=said):
        plant()
    assert differences(before, dump_file()) == []


def test_a_leg_that_ik_poses_is_seen_to_stand_but_not_planted(walker):
    """Its own bones deform, so what is found in their motion is what is seen; keys on them would not be."""
    lifted = 8
    assert max(each[1] for each in _found(walker)["chains"][0]["contacts"]) > lifted
    ik = walker.pose.bones["shin.L"].constraints.new("IK")
    ik.target, ik.chain_count = add_empty("Control"), 2
    key_channel(ik.target, "location", {1: (0.1, 0.1, 0.1), 5: (0.1, 0.1, 0.1), lifted: (0.1, 0.1, 0.5)})
    found = _found(walker)
    assert max(each[1] for each in found["chains"][0]["contacts"]) < lifted, "not found in the motion that is seen"
    assert [chain["is_seen"] for chain in found["chains"]] == [True, True]
    assert "does not follow" not in found["sentence"]
    assert_refused(r'IK \("IK"\) poses bone "(thigh|shin)\.L".*Use Switch All Limbs to FK')


def _found(armature):
    assert bpy.ops.twobone.find_contacts(armature=armature.name, keep=False) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


@pytest.fixture
def copies(walker):
    """The constraints of the bone that deforms at the left shin: it copies that one, and above that a bone that holds still."""
    bpy.ops.object.mode_set(mode="EDIT")
    bones = walker.data.edit_bones
    for name in ("shin.L", "thigh.L"):
        bones[name].use_deform = False
    skin, still = bones.new("DEF-shin.L"), bones.new("IK-shin.L")
    for bone in (skin, still):
        bone.head, bone.tail, bone.parent = bones["shin.L"].head, bones["shin.L"].tail, bones["root"]
    still.use_deform = False
    bpy.ops.object.mode_set(mode="OBJECT")
    found = {}
    for name in ("shin.L", "IK-shin.L"):
        found[name] = walker.pose.bones["DEF-shin.L"].constraints.new("COPY_TRANSFORMS")
        found[name].target, found[name].subtarget = walker, name
    bpy.context.view_layer.update()
    return found


def test_a_leg_of_which_nothing_is_seen_is_refused_until_its_deforming_bone_follows(copies):
    assert_refused(r'The visible limb \("DEF-shin\.L"\) does not follow bone "shin\.L".*Use Switch All Limbs to FK first')
    copies["IK-shin.L"].influence = 0.0
    assert plant()["chains"][0]["visible"] == {"bone": "DEF-shin.L", "follows": True, "max_distance": None}


def test_a_leg_whose_deforming_bone_copies_something_else_for_a_while_is_refused_there(walker, copies):
    for frame, influence in ((4, 0.0), (10, 1.0)):
        copies["IK-shin.L"].influence = influence
        copies["IK-shin.L"].keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(14)
    found = _found(walker)
    assert [chain["is_seen"] for chain in found["chains"]] == [False, True]
    assert "leg.L: the visible limb does not follow" in found["sentence"]
    assert_refused(
        r'The visible limb \("DEF-shin\.L"\) does not follow bone "shin\.L" at frame 10, so keys on it would be invisible\. '
        r"Use Switch All Limbs to FK first"
    )
    assert _apart(walker, 4) < 1e-5
    report = plant(frame_range="CUSTOM", frame_start=1.0, frame_end=4.0)
    assert report["chains"][0]["visible"]["follows"], "until then it is seen"


def _apart(walker, frame):
    """Distance of the ankle that is seen from the one that is keyed."""
    bpy.context.scene.frame_set(frame)
    return (walker.pose.bones["DEF-shin.L"].tail - walker.pose.bones["shin.L"].tail).length


@pytest.mark.parametrize("wanted, reason", [("ADD", "does not move under the feet"), ("REMOVE", "")])
def test_root_motion_that_is_not_there_is_said(walker, wanted, reason):
    notes = [note for note in plant(root_motion=wanted)["notes"] if "soles" not in note]
    assert len(notes) == bool(reason)
    assert all(reason in note for note in notes)
