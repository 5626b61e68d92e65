"""Rigs that have no legs to plant, though something on them looks so: what is not done is said, and nothing is changed."""

import math

import bpy
import pytest
from mathutils import Matrix

import twobone_addon as twobone
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.rigs.two_legs import SIDES, legs
from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range

LAST = 24


def weigh(rig, *bones):
    """A mesh with one vertex for each bone, which carries it."""
    data = bpy.data.meshes.new("Body")
    data.from_pydata([rig.data.bones[bone].head_local for bone in bones], [], [])
    mesh = bpy.data.objects.new("Body", data)
    bpy.context.scene.collection.objects.link(mesh)
    mesh.modifiers.new("Skin", "ARMATURE").object = rig
    for number, bone in enumerate(bones):
        mesh.vertex_groups.new(name=bone).add([number], 1.0, "REPLACE")


def templates(report):
    return [said.template for said in report.notes]


PARTS = tuple(f"{part}.{side}" for part in ("thigh", "shin", "foot") for side in SIDES)
JOINED = "Only constraints join {bones} to the bones before them; limbs are searched along parents. Parent each to that bone."


def joined(kind):
    """The two legs with every bone parented to the hip, each but the thighs taken along by a constraint of that kind."""
    rig = legs()
    bpy.ops.object.mode_set(mode="EDIT")
    for name in PARTS:
        rig.data.edit_bones[name].use_connect = False
        rig.data.edit_bones[name].parent = rig.data.edit_bones["hip"]
    bpy.ops.object.mode_set(mode="OBJECT")
    for part, before in (("shin", "thigh"), ("foot", "shin")):
        for side in SIDES:
            constraint = rig.pose.bones[f"{part}.{side}"].constraints.new(kind)
            constraint.target, constraint.subtarget = rig, f"{before}.{side}"
            if kind == "COPY_LOCATION":
                constraint.head_tail = 1.0
    weigh(rig, *PARTS)
    bpy.context.view_layer.objects.active = rig
    return rig


@pytest.mark.parametrize("kind", ["COPY_LOCATION", "CHILD_OF"])
def test_bones_that_constraints_join_are_named_and_become_legs_as_the_sentence_says(empty_file, kind):
    rig = joined(kind)
    report = twobone.find_limbs()
    assert not report.limbs
    (said,) = (note for note in report.notes if note.template == JOINED)
    assert said.values["bones"] == "shin.L, foot.L, shin.R, foot.R"
    for task in (twobone.find_contacts, twobone.plant, twobone.audit):
        with pytest.raises(twobone.TwoBoneError, match=r"no (legs|limbs) were found") as refusal:
            task()
        assert said.text() in str(refusal.value), "the refusal does not say why"
    bpy.ops.object.mode_set(mode="EDIT")
    for name in said.values["bones"].split(", "):
        before = {"shin": "thigh", "foot": "shin"}[name[:-2]]
        rig.data.edit_bones[name].parent = rig.data.edit_bones[f"{before}.{name[-1]}"]
    bpy.ops.object.mode_set(mode="OBJECT")
    report = twobone.find_limbs()
    assert {(limb.kind, limb.upper, limb.lower) for limb in report.limbs} == {
        ("LEG", f"thigh.{side}", f"shin.{side}") for side in SIDES
    }
    assert JOINED not in templates(report)


def test_keys_on_legs_that_copy_others_are_refused_by_the_constraint(empty_file):
    rig = legs()
    rig.pose.bones["shin.L"].constraints.new("COPY_ROTATION").target = rig
    rig.pose.bones["shin.L"].constraints[0].subtarget = "hip"
    twobone.find_limbs()
    key_channel(rig.pose.bones["hip"], "location", {1: (0, 0, 0), LAST: (0, 0.01, 0)})
    before = all_keys(rig)
    with pytest.raises(twobone.TwoBoneError, match=r'Constraint "Copy Rotation" poses bone "shin.L"'):
        twobone.plant()
    assert all_keys(rig) == before


def hanging(names, links):
    """A crane: a body from which strands of that many links hang to near the ground."""
    shapes = [BoneShape("body", (0, 0, 1.3), (0, 0, 1.6)), BoneShape("mast", (0, 0, 1.6), (0, 0, 2), "body")]
    for number, name in enumerate(names):
        x, y, above = (0.3, -0.3)[number % 2], (-0.3, 0.3)[number // 2], "body"
        for link in range(links):
            ends = [(x, y + 0.02 * at, 1.3 - 1.2 * at / links) for at in (link, link + 1)]
            shapes.append(BoneShape(f"{name}{link or ''}", *ends, above))
            above = shapes[-1].name
    return build_armature(shapes)


@pytest.mark.parametrize(
    "names, links, reason",
    [
        (("hose.L", "hose.R", "cable.L", "cable.R"), 2, "NAMED"),
        (("rope.L", "rope.R", "axle.L", "axle.R"), 3, "NAMED"),
        (("a", "b", "c", "d"), 6, "STRAND"),
    ],
)
def test_cables_are_left_out_and_said(empty_file, names, links, reason):
    hanging(names, links)
    report = twobone.find_limbs()
    assert not report.limbs
    assert {branches.reason for branches in report.left_out} == {reason}
    assert "Left out: {things}." in templates(report)
    (said,) = (note for note in report.notes if note.template == "Left out: {things}.")
    with pytest.raises(twobone.TwoBoneError, match="no legs were found") as refusal:
        twobone.plant()
    assert said.text() in str(refusal.value), "the refusal does not say why"


WHEELS = "Feet that turn all the way round, like wheels, are not taken to stand: {chains}."


def rolling(turn):
    """The two legs, which the hip takes ahead at a steady pace; each foot turns evenly by that angle in all."""
    rig = legs()
    set_range(1, LAST)
    hip = rig.pose.bones["hip"]
    key_channel(hip, "location", {1: (0, 0, 0), LAST: (0, 0, 0.6)})
    for side in SIDES:
        foot = rig.pose.bones[f"foot.{side}"]
        axis = foot.bone.matrix_local.inverted().to_3x3() @ Matrix.Identity(3).col[0]
        turns = {frame: Matrix.Rotation(turn * (frame - 1) / (LAST - 1), 4, axis).to_quaternion() for frame in range(1, LAST + 1)}
        key_channel(foot, "rotation_quaternion", turns)
    bpy.context.view_layer.objects.active = rig
    return rig


@pytest.mark.parametrize("turn", [2.2 * math.pi, -6.5 * math.pi])
def test_wheels_are_not_planted_and_are_said_by_every_task(empty_file, turn):
    rig = rolling(turn)
    twobone.find_limbs()
    before = all_keys(rig)
    found, audited = twobone.find_contacts(), twobone.audit()
    assert not any(chain.contacts for chain in found.chains)
    planted = twobone.plant()
    for report in (found, planted, audited):
        (said,) = (note for note in report.notes if note.template == WHEELS)
        assert said.values["chains"] == "Left Leg, Right Leg"
    assert not any("skates" in reason.template for reason in audited.reasons)
    assert {path: keys for path, keys in all_keys(rig).items() if path in before} == before


def test_a_foot_that_turns_less_than_once_round_is_no_wheel(empty_file):
    rolling(1.8 * math.pi)
    twobone.find_limbs()
    assert WHEELS not in templates(twobone.find_contacts())
