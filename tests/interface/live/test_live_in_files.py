"""Live limbs in files: exports name no helper, overrides and other scenes keep them, and Set Up Limbs makes whole characters."""

import json

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world
from tests.pipeline.live.live_scene import needs_nodes
from tests.pipeline.live.test_exact import spider
from tests.pipeline.live.test_removed import everything
from tests.tasks.rigs.person import person
from twobone_addon.interface.stored.live_limbs import is_live
from twobone_addon.scene.live.limbs import live_limbs
from twobone_addon.scene.live.marks import can_go_live

NEAR = 3e-5
"""Of a limb that is upright at rest, see `test_live.ROUGH`."""


def miss(rig):
    bpy.context.view_layer.update()
    tip, target = joints_world(rig, "upper", "lower")[2], rig.twobone.chains[0].target.matrix_world.translation
    return float((tip.yz - target.yz).length)


def local_rig():
    return next(thing for thing in bpy.context.scene.objects if thing.type == "ARMATURE" and thing.library is None)


def linked_and_overridden(leg, folder):
    """The leg and its target from a file of their own, linked into a new one as a library override."""
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for thing in (leg, leg.twobone.chains[0].target):
        bpy.context.scene.collection.objects.unlink(thing)
        collection.objects.link(thing)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "character.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(folder / "character.blend"), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    context = bpy.context
    bpy.data.collections["Character"].override_hierarchy_create(context.scene, context.view_layer, do_fully_editable=True)
    return local_rig()


@needs_nodes
def test_the_exporters_list_no_helper(leg, tmp_path):
    bpy.ops.twobone.live(state="ON")
    bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
    bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    gltf, fbx = tmp_path / "leg.gltf", tmp_path / "leg.fbx"
    bpy.ops.export_scene.gltf(filepath=str(gltf), export_format="GLTF_SEPARATE")
    bpy.ops.export_scene.fbx(filepath=str(fbx))
    names = {node["name"] for node in json.loads(gltf.read_text())["nodes"]}
    assert {"Rig", "upper", "lower"} <= names
    assert not any(name.startswith("IK") for name in names)
    written = fbx.read_bytes()
    assert b"upper" in written
    assert b"IK upper" not in written


@needs_nodes
def test_an_override_is_live_when_its_file_is_opened_again(leg, tmp_path):
    rig = linked_and_overridden(leg, tmp_path)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.live(state="ON")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    rig = local_rig()
    assert is_live(rig.twobone.chains[0])
    for place in ((0.1, 0.3, 0.3), (0.1, -0.4, 0.5)):
        rig.twobone.chains[0].target.location = place
        assert miss(rig) < NEAR
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.live(state="OFF")
    assert not live_limbs(rig)


@needs_nodes
def test_a_library_with_live_limbs_is_live_where_it_is_linked_and_overridden(leg, tmp_path):
    bpy.ops.twobone.live(state="ON")
    rig = linked_and_overridden(leg, tmp_path)
    rig.twobone.chains[0].target.location = (0.1, 0.3, 0.3)
    assert miss(rig) < NEAR


@needs_nodes
def test_an_armature_of_another_scene_is_made_anew_when_its_bones_were_edited(leg):
    bpy.ops.twobone.live(state="ON")
    other = bpy.data.scenes.new("Other")
    for thing in (leg, leg.twobone.chains[0].target):
        other.collection.objects.link(thing)
        bpy.context.collection.objects.unlink(thing)
    window = bpy.context.window
    if window is not None:
        window.scene = other
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        bpy.context.view_layer.objects.active = leg
        bpy.ops.object.mode_set(mode="EDIT")
        lower = leg.data.edit_bones["lower"]
        lower.tail = lower.head + 1.2 * (lower.tail - lower.head)
        bpy.ops.object.mode_set(mode="OBJECT")
        leg.twobone.chains[0].target.location = (0.1, 0.3, 0.4)
        other.view_layers[0].update()
        assert miss(leg) < NEAR


@needs_nodes
def test_set_up_limbs_makes_a_whole_character_live_in_one_step(empty_file):
    rig = person()
    before, places = everything(), {bone.name: np.array(bone.matrix) for bone in rig.pose.bones}
    name = rig.name
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.twobone.find_limbs("EXEC_DEFAULT", True, targets=True, live=True)  # noqa: FBT003 - asks for an undo step
    rig = bpy.data.objects[name]
    assert len(live_limbs(rig)) == 4
    bpy.context.view_layer.update()
    assert max(np.abs(np.array(bone.matrix) - places[bone.name]).max() for bone in rig.pose.bones) < 1e-4
    bpy.ops.ed.undo()
    rig = bpy.data.objects[name]
    assert not live_limbs(rig)
    assert {key for key in everything() if key[0] == "node_groups"} == {key for key in before if key[0] == "node_groups"}


@needs_nodes
def test_set_up_limbs_says_which_limb_cannot_be_live(empty_file):
    rig = person()
    bpy.ops.twobone.find_limbs(targets=True)
    rig.twobone.chains["Left Arm"].use_limits, rig.twobone.chains["Left Arm"].lower_max = True, 1.0
    bpy.ops.twobone.find_limbs(targets=True, live=True)
    assert len(live_limbs(rig)) == 3
    said = json.loads(bpy.context.window_manager.twobone_report)["notes"]
    assert any("Left Arm is not live" in note and "Joint Limits" in note for note in map(str, said))
    bpy.ops.twobone.find_limbs(targets=True, live=True)
    assert len(live_limbs(rig)) == 3, "what is live stays as it is"


@needs_nodes
def test_all_eight_legs_of_a_spider_go_live_in_one_step(empty_file):
    rig = spider()
    for leg in range(8):
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = f"Leg {leg}", f"upper{leg}", f"lower{leg}"
        chain.plane, chain.target = "POSE", bpy.data.objects[f"T{leg}"]
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.live(scope="ARMATURE", state="ON") == {"FINISHED"}
    assert len(live_limbs(rig)) == 8
    bpy.context.scene.frame_set(7)
    for leg in range(8):
        tip = rig.matrix_world @ rig.pose.bones[f"lower{leg}"].tail
        assert (tip - bpy.data.objects[f"T{leg}"].matrix_world.translation).length < NEAR


@pytest.mark.skipif(can_go_live(), reason="this Blender can pose a limb by nodes")
def test_an_older_blender_refuses_it_and_lists_nothing(empty_file):
    rig = person()
    with pytest.raises(RuntimeError, match=r"Blender 5\.0"):
        bpy.ops.twobone.find_limbs(targets=True, live=True)
    assert not len(rig.twobone.chains)
    assert not live_limbs(rig)
