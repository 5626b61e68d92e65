"""Find Limbs as an animator uses it: one click, one undo step, a sentence, and chains that are ready."""

import json
from dataclasses import replace

import bpy
import pytest
from mathutils import Vector

from tests.interface.acting import select_bones
from tests.tasks.rigs.person import person
from tests.tasks.scenes import BoneShape, add_empty, build_armature


def report():
    return json.loads(bpy.context.window_manager.twobone_report)


def test_one_click_lists_all_limbs_ready_to_use(empty_file):
    rig = person()
    assert bpy.ops.twobone.find_limbs() == {"FINISHED"}
    rows = [(chain.name, chain.limb, chain.side, chain.upper, chain.lower, chain.tip, chain.toe) for chain in rig.twobone.chains]
    assert rows == [
        ("Left Leg", "LEG", "LEFT", "thigh.L", "shin.L", "foot.L", "toe.L"),
        ("Right Leg", "LEG", "RIGHT", "thigh.R", "shin.R", "foot.R", "toe.R"),
        ("Left Arm", "ARM", "LEFT", "upper_arm.L", "forearm.L", "hand.L", ""),
        ("Right Arm", "ARM", "RIGHT", "upper_arm.R", "forearm.R", "hand.R", ""),
    ]
    assert {(chain.plane, chain.reference, chain.tip_end) for chain in rig.twobone.chains} == {("POSE", "POSE", "HEAD")}
    assert rig.twobone.active_index == 0
    assert [limb["chain"] for limb in report()["limbs"]] == [row[0] for row in rows]
    assert report()["armature"] == rig.name
    assert not any(chain.target for chain in rig.twobone.chains)


def test_a_second_click_adds_nothing_and_keeps_what_was_changed(empty_file):
    rig = person()
    bpy.ops.twobone.find_limbs()
    rig.twobone.chains["Left Arm"].softness = 0.25
    rig.twobone.chains["Left Arm"].name = "Sword"
    bpy.ops.twobone.find_limbs()
    assert [chain.name for chain in rig.twobone.chains] == ["Left Leg", "Right Leg", "Sword", "Right Arm"]
    assert rig.twobone.chains["Sword"].softness == 0.25
    assert not any(limb["added"] for limb in report()["limbs"])


def test_chains_made_by_hand_are_told_what_they_are(empty_file):
    rig = person()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    bpy.ops.twobone.find_limbs()
    first = rig.twobone.chains[0]
    assert (first.name, first.limb, first.side, first.toe) == ("foot.L", "LEG", "LEFT", "toe.L")
    assert len(rig.twobone.chains) == 4


def test_targets_are_at_the_tips_and_nothing_moves(empty_file):
    rig = person()
    bpy.ops.twobone.find_limbs(targets=True)
    assert len(rig.twobone.chains) == 4
    for chain in rig.twobone.chains:
        tip = rig.matrix_world @ rig.pose.bones[chain.tip].head
        assert (chain.target.location - tip).length <= 1e-6
    before = {bone.name: bone.matrix.copy() for bone in rig.pose.bones}
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    bpy.context.view_layer.update()
    for bone in rig.pose.bones:
        difference = bone.matrix - before[bone.name]
        assert max(abs(value) for row in difference for value in row) <= 1e-5


def test_a_target_that_is_there_stays(empty_file):
    rig = person()
    bpy.ops.twobone.find_limbs()
    own = add_empty("Own")
    rig.twobone.chains["Left Leg"].target = own
    bpy.ops.twobone.find_limbs(targets=True)
    assert rig.twobone.chains["Left Leg"].target == own
    assert rig.twobone.chains["Right Leg"].target is not None


@pytest.mark.parametrize("without", [("hand", "foot", "toe"), ("thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand")])
def test_where_nothing_is_found_the_list_stays_empty_or_the_limbs_end_at_tails(empty_file, without):
    rig = person(without=without)
    ended = bpy.ops.twobone.find_limbs()
    found = {(limb["upper"], limb["lower"], limb["tip"], limb["tip_end"]) for limb in report()["limbs"]}
    if "thigh" in without:
        assert ended == {"CANCELLED"}
        assert not rig.twobone.chains
        assert not found
    else:
        assert ("thigh.L", "shin.L", "shin.L", "TAIL") in found
        assert len(found) == 4


def test_the_only_armature_is_meant_whatever_is_active(empty_file):
    rig = person()
    mesh = bpy.data.objects.new("Body", bpy.data.meshes.new("Body"))
    bpy.context.scene.collection.objects.link(mesh)
    for active in (mesh, None):
        bpy.context.view_layer.objects.active = active
        rig.twobone.chains.clear()
        assert bpy.ops.twobone.find_limbs() == {"FINISHED"}
        assert len(rig.twobone.chains) == 4


def test_another_armature_by_its_name_and_one_that_is_not_there(empty_file):
    rig = person()
    bpy.context.view_layer.objects.active = None
    bpy.ops.twobone.find_limbs(armature=rig.name)
    assert len(rig.twobone.chains) == 4
    with pytest.raises(RuntimeError, match='Armature "Nobody" is not in this file'):
        bpy.ops.twobone.find_limbs(armature="Nobody")


def test_the_sentence_says_what_was_added_and_what_was_left_out(empty_file):
    from twobone_addon.tasks.find_limbs import LeftOutLimb, LimbReport, LimbsReport, said_left_out, said_named

    limbs = [
        LimbReport("LEG", "LEFT", "a", "b", "c", "HEAD", "", name, added, "", None, "")
        for name, added in (("New", True), ("Old", False))
    ]
    left_out = [LeftOutLimb([f"{number}.L", f"{number}.R"], "SMALL") for number in range(6)]
    said = LimbsReport(armature="Rig", limbs=limbs, left_out=left_out, notes=said_left_out(left_out, [])).says.text()
    assert said.startswith("Limbs added: New. Already in the list: Old. Left out: 0.L / 0.R (too small); ")
    assert said.endswith("2 more.")
    named = replace(limbs[0], upper="UpperArmL", shape_says="FAN")
    assert said_named([named, limbs[1]])[0].text() == (
        "Limbs recognised by name, against their shape: UpperArmL (it fans out like a wing)."
    )
    assert LimbsReport(armature="Rig", limbs=[], left_out=[]).sentence == "No arms or legs found in Rig."


LOOSE_FEET = [
    BoneShape("Bone", (0, 0, 0), (0, 0, 0.1)),
    BoneShape("Body", (0, 0, 0.9), (0, 0, 1.0), "Bone"),
    BoneShape("Torso", (0, 0, 1.1), (0, 0, 1.3), "Body"),
    BoneShape("Head", (0, 0, 1.5), (0, 0, 1.8), "Torso"),
    *(
        shape
        for side, x in (("L", 0.2), ("R", -0.2))
        for shape in (
            BoneShape(f"UpperLeg.{side}", (x, 0, 0.85), (x, -0.02, 0.5), "Body"),
            BoneShape(f"LowerLeg.{side}", (x, -0.02, 0.5), (x, -0.02, 0.51), f"UpperLeg.{side}"),
            BoneShape(f"Foot.{side}", (x, 0.02, 0.15), (x, 0.02, 0.14), "Bone"),
            BoneShape(f"UpperArm.{side}", (x, 0, 1.4), (2 * x, 0.02, 1.4), "Torso"),
            BoneShape(f"LowerArm.{side}", (2 * x, 0.02, 1.4), (3 * x, 0, 1.4), f"UpperArm.{side}"),
            BoneShape(f"Hand.{side}", (3 * x, 0, 1.4), (3.2 * x, 0, 1.4), f"LowerArm.{side}"),
        )
    ),
]
"""As importers make it: tails of bones without children mean nothing, and feet hang from the root."""


@pytest.mark.parametrize("is_locked", [False, True])
def test_a_leg_whose_foot_hangs_from_elsewhere_follows_it_to_where_it_rests_on_the_shin(empty_file, is_locked):
    rig = build_armature(LOOSE_FEET, "Robot")
    rig.pose.bones["Foot.L"].lock_location = [is_locked] * 3
    for frame, step in ((1, 0.0), (6, 0.1), (11, 0.2)):
        foot = rig.pose.bones["Foot.L"]
        foot.location = foot.bone.matrix_local.to_3x3().inverted() @ Vector((0, -step, step))
        foot.keyframe_insert("location", frame=frame)
    assert bpy.ops.twobone.find_limbs() == {"FINISHED"}
    legs = [(limb["upper"], limb["lower"], limb["tip"], limb["tip_end"]) for limb in report()["limbs"] if limb["kind"] == "LEG"]
    assert legs == [(f"UpperLeg.{side}", f"LowerLeg.{side}", f"Foot.{side}", "HEAD") for side in "LR"]

    def apart():
        """Farthest that the foot ever is from where it rests on the shin."""
        shin, ankle = rig.data.bones["LowerLeg.L"], rig.data.bones["Foot.L"].head_local
        on_shin, most = shin.matrix_local.inverted() @ ankle, 0.0
        for frame in range(1, 12):
            bpy.context.scene.frame_set(frame)
            posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
            most = max(most, (posed["LowerLeg.L"].matrix @ on_shin - posed["Foot.L"].head).length)
        return most

    assert apart() > 0.2
    chain = rig.twobone.chains["Left Leg"]
    chain.target, chain.target_bone = rig, "Foot.L"
    bpy.context.scene.frame_end = 11
    for other in rig.twobone.chains[1:]:
        other.enabled = False
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert apart() <= 1e-5
    bpy.context.scene.frame_set(11)
    assert (rig.pose.bones["Foot.L"].head - Vector((0.2, -0.18, 0.35))).length < 1e-5, "the foot stays on its way"
    chain.end_rotation = "KEEP"
    with pytest.raises(RuntimeError, match=r'"Foot\.L" at the tip is parented elsewhere, so the chain cannot turn it'):
        bpy.ops.twobone.bake_all(scope="ACTIVE")


@pytest.mark.parametrize("scale", [(0, 0, 0), (1, 0, 1), (float("inf"), 1, 1), (float("nan"), 1, 1)], ids=str)
def test_an_armature_that_is_scaled_to_nothing_or_by_no_number_is_refused(empty_file, scale):
    rig = person()
    rig.scale = scale
    bpy.context.view_layer.update()
    with pytest.raises(RuntimeError, match=r"is scaled to 0|is not a number"):
        bpy.ops.twobone.find_limbs()
    assert not rig.twobone.chains


@pytest.mark.parametrize("bones", [0, 1, 1500])
def test_an_armature_of_no_bones_or_of_one_rope_has_no_limbs(empty_file, bones):
    rig = build_armature([BoneShape(f"r{n}", (0, 0, n), (0, 0, n + 1), f"r{n - 1}" if n else "") for n in range(bones)], "Rope")
    assert bpy.ops.twobone.find_limbs() == {"CANCELLED"}
    assert report()["limbs"] == []
    assert not rig.twobone.chains


def test_the_motion_shows_limbs_that_lie_along_one_axis_at_rest(empty_file):
    """Joints of a person who stands and turns, keyed on a rest that is no pose; without the keys that is said."""
    rig = person()
    places = {bone.name: bone.head_local.copy() for bone in rig.data.bones}
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in rig.data.edit_bones:
        bone.use_connect = False
        length = (places[bone.name] - places[bone.parent.name]).length if bone.parent else 0.0
        bone.head = (bone.parent.head.x + length if bone.parent else 0.0, 0, 0)
        bone.tail = (bone.head.x + 0.02, 0, 0)
        bone.roll = 0.0
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.twobone.find_limbs() == {"FINISHED"}  # by their names
    for number, bone in enumerate(list(rig.data.bones)):
        places[f"x{number}"] = places[bone.name]
        bone.name = f"x{number}"
    rig.twobone.chains.clear()
    assert bpy.ops.twobone.find_limbs() == {"CANCELLED"}
    assert report()["rest_is_no_pose"]
    for bone in rig.pose.bones:
        above = bone.parent
        offset = places[bone.name] - (places[above.name] if above else bone.bone.head_local * 0)
        offset -= bone.bone.head_local - (above.bone.head_local if above else bone.bone.head_local * 0)
        bone.location = bone.bone.matrix_local.to_3x3().inverted() @ offset
        bone.keyframe_insert("location", frame=1)
    assert bpy.ops.twobone.find_limbs() == {"FINISHED"}
    assert report()["limbs_from"] == "MOTION"
    assert sorted(limb["kind"] for limb in report()["limbs"]) == ["ARM", "ARM", "LEG", "LEG"]


def test_a_limb_that_is_not_listed_is_stored_in_two_clicks(empty_file):
    """Of a leg of three links nothing is listed; the panel's button selects it, and Add Target stores it."""
    data = bpy.data.armatures.new("Rig")
    armature = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    data.edit_bones.new("hips").tail = (0.0, 0.0, 0.2)
    for side, x in (("L", 0.1), ("R", -0.1)):
        above, head = "hips", (x, 0.0, 0.0)
        for part, tail in (
            ("thigh", (x, -0.1, -0.4)),
            ("leg", (x, 0.1, -0.7)),
            ("shin", (x, -0.05, -1.0)),
            ("foot", (x, -0.2, -1.1)),
        ):
            bone = data.edit_bones.new(f"{part}.{side}")
            bone.head, bone.tail, bone.parent = head, tail, data.edit_bones[above]
            above, head = bone.name, tail
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.twobone.find_limbs()
    assert not report()["limbs"]
    assert {"reason": "LINKS", "bones": ["thigh.L", "thigh.R"]} in report()["left_out"]
    bpy.ops.twobone.select_limb(bone="thigh.L")
    bpy.ops.twobone.add_target()
    assert [chain.upper for chain in armature.twobone.chains] == ["thigh.L"]
