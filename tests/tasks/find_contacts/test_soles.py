"""Where soles are: from the mesh, a heel bone, the motion, a number; and feet that are planted with them."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.tasks.find_contacts.found import find
from tests.tasks.rigs.walker import Walk, build_walker

pytestmark = pytest.mark.usefixtures("empty_file")

BEHIND, THICK = 0.05, 0.03
"""Metres that a shoe reaches behind the ankle, and below the lowest joint."""


def heels_of(rig, points):
    """Highest and lowest of world places of points `(2, 3)`, each fixed to a foot as it was at rest, over the take."""
    seen = []
    for frame in range(1, bpy.context.scene.frame_end + 1):
        bpy.context.scene.frame_set(frame)
        for side, point in points.items():
            pose = rig.pose.bones[f"foot.{side}"]
            seen.append((rig.matrix_world @ pose.matrix @ pose.bone.matrix_local.inverted() @ Vector(point)).z)
    return min(seen)


def put_on_shoes(rig):
    """A shoe on each foot, with weights for it, as wide as it is long behind."""
    corners = [(x, y, z) for x in (-0.04, 0.04) for y, z in ((-BEHIND, -THICK), (0.24, -THICK), (-BEHIND, 0.07), (0.24, 0.02))]
    for side, x in (("L", 0.1), ("R", -0.1)):
        mesh = bpy.data.meshes.new(f"shoe.{side}")
        mesh.from_pydata([(x + corner[0], *corner[1:]) for corner in corners], [], [])
        shoe = bpy.data.objects.new(mesh.name, mesh)
        bpy.context.scene.collection.objects.link(shoe)
        shoe.vertex_groups.new(name=f"foot.{side}").add(range(len(corners)), 1.0, "REPLACE")
        shoe.modifiers.new("Armature", "ARMATURE").object = rig


def soles(report):
    return {chain["sole"] for chain in report["chains"]}


def test_the_mesh_tells_where_the_heel_is_and_planting_puts_that_on_the_floor():
    rig, _ = build_walker(Walk(raised=0.03, slide=0.02))
    put_on_shoes(rig)
    assert soles(find()) == {"MESH"}
    assert bpy.ops.twobone.plant(ground="HEIGHT", ground_height=0.0) == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert soles(report) == {"MESH"}
    assert not any("Sole Height" in note for note in report["notes"])
    lowest = heels_of(rig, {"L": (0.1, -BEHIND, -THICK), "R": (-0.1, -BEHIND, -THICK)})
    assert lowest == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("tall", [0.5, 2.0])
def test_a_character_that_is_scaled_upwards_only_stands_on_its_soles(tall):
    """The shoes have a size of their own, and go as deep as they did."""
    rig, _ = build_walker(Walk())
    put_on_shoes(rig)
    rig.scale.z = tall
    bpy.context.view_layer.update()
    assert find()["ground_height"] == pytest.approx(-THICK, abs=1e-5)


def test_a_shoe_that_is_parented_to_the_foot_tells_as_well():
    rig, _ = build_walker(Walk())
    put_on_shoes(rig)
    for shoe in [thing for thing in bpy.data.objects if thing.type == "MESH"]:
        bone = rig.data.bones[shoe.vertex_groups[0].name]
        shoe.modifiers.clear()
        shoe.vertex_groups.clear()
        shoe.parent, shoe.parent_type, shoe.parent_bone = rig, "BONE", bone.name
        shoe.matrix_parent_inverse = (bone.matrix_local @ Matrix.Translation((0.0, bone.length, 0.0))).inverted()
    assert soles(find()) == {"MESH"}


def test_the_mesh_tells_as_well_where_an_importer_has_made_up_the_length_of_the_foot():
    """Of the last bones of a file nothing tells where they end, and some importers make them a hair's breadth long."""
    rig, _ = build_walker(Walk())
    put_on_shoes(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        foot = rig.data.edit_bones[f"foot.{side}"]
        for toe in foot.children_recursive:
            rig.data.edit_bones.remove(toe)
        foot.length = 1e-3
    bpy.ops.object.mode_set(mode="OBJECT")
    for chain in rig.twobone.chains:
        chain.toe = ""
    assert soles(find()) == {"MESH"}


def test_a_tail_that_an_importer_made_up_is_no_point_of_the_body():
    """Importers give a last bone its parent's length; the ball of such a foot is not half a metre ahead of the ankle."""
    rig, states = build_walker(Walk())
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        foot = rig.data.edit_bones[f"foot.{side}"]
        for toe in foot.children_recursive:
            rig.data.edit_bones.remove(toe)
        foot.length = foot.parent.length
    bpy.ops.object.mode_set(mode="OBJECT")
    for chain in rig.twobone.chains:
        chain.toe = ""
    report = find()
    for side, chain in zip("LR", report["chains"], strict=True):
        found = np.zeros(len(states[side]), bool)
        for first, last, _ in chain["contacts"]:
            found[int(first) - 1 : int(last)] = True
        true = states[side] > 0
        assert 2 * np.count_nonzero(found & true) >= 0.9 * (np.count_nonzero(found) + np.count_nonzero(true))


def test_a_heel_bone_tells_where_no_mesh_does():
    rig, _ = build_walker(Walk())
    bpy.ops.object.mode_set(mode="EDIT")
    for side, x in (("L", 0.1), ("R", -0.1)):
        heel = rig.data.edit_bones.new(f"heel.02.{side}")
        heel.head, heel.tail, heel.parent = (x - 0.03, -0.04, 0.0), (x + 0.03, -0.04, 0.0), rig.data.edit_bones[f"foot.{side}"]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert soles(find()) == {"BONE"}


def test_soles_that_nothing_shows_are_said_until_somebody_says_where_they_are():
    rig, _ = build_walker(Walk(speed=0.0))
    report = find()
    assert soles(report) == {"REST"}
    assert any("leg.L, leg.R" in note and "below the ankles" in note for note in report["notes"])
    report = find(sole_height=0.1)
    assert soles(report) == {"SET"}
    assert not any("below the ankles" in note for note in report["notes"])
    assert report["ground_height"] == pytest.approx(find(sole_height=0.08)["ground_height"] - 0.02, abs=1e-3)
    assert rig.animation_data.action


def test_a_character_that_lies_on_its_back_at_rest_is_planted_as_one_that_stands():
    def planted(*, lying):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        rig, _ = build_walker(Walk(raised=0.03, slide=0.02))
        if lying:
            turn = Matrix.Rotation(-math.pi / 2.0, 4, "X")
            rig.data.transform(turn)
            root = rig.pose.bones["root"]
            root.rotation_quaternion = (
                root.bone.matrix_local.inverted() @ turn.inverted() @ root.bone.matrix_local
            ).to_quaternion()
        contacts = [chain["contacts"] for chain in find()["chains"]]
        assert bpy.ops.twobone.plant() == {"FINISHED"}
        heads = []
        for frame in range(1, bpy.context.scene.frame_end + 1):
            bpy.context.scene.frame_set(frame)
            heads.append([rig.matrix_world @ rig.pose.bones[f"{bone}.{side}"].head for bone in ("foot", "toe") for side in "LR"])
        return contacts, np.array(heads)

    contacts, heads = planted(lying=False)
    others, places = planted(lying=True)
    assert others == contacts
    assert np.abs(places - heads).max() <= 1e-3
