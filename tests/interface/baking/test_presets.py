"""Presets of a chain's settings: the user's own, and those that come with the add-on."""

from pathlib import Path

import bpy
import pytest

from tests.interface.acting import select_bones
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed
from tests.tasks.rigs.two_legs import legs

OWN = Path(bpy.utils.user_resource("SCRIPTS")) / "presets" / "twobone"
"""Where Blender keeps the user's own."""

SHIPPED = {"Character Arm", "Character Leg", "Cut-out 2D", "Mechanism", "Mocap Clean-up"}


def test_a_preset_brings_back_settings_but_not_bones(empty_file):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.softness, chain.reach = 0.125, "SOFTEN"
    bpy.ops.twobone.preset_add(name="Soft Legs")
    chain.softness, chain.reach, chain.upper = 0.0, "CLAMP", "thigh.R"
    bpy.ops.script.execute_preset(filepath=str(OWN / "Soft_Legs.py"), menu_idname="TWOBONE_PT_presets")
    assert (chain.softness, chain.reach, chain.upper) == (0.125, "SOFTEN", "thigh.R")
    bpy.ops.twobone.preset_add(name="Soft Legs", remove_name=True)
    bpy.types.TWOBONE_PT_presets.bl_label = "Chain Presets"  # Blender puts the chosen preset's name there


@pytest.mark.parametrize("active", ["Target", "Rig"])
def test_presets_work_while_the_target_is_active(empty_file, active):
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.add_target()
    bpy.ops.object.mode_set(mode="OBJECT")
    chain = rig.twobone.chains[0]
    bpy.context.view_layer.objects.active = chain.target if active == "Target" else rig
    chain.softness, chain.reach = 0.25, "SOFTEN"
    bpy.ops.twobone.preset_add(name="From Target")
    path = OWN / "From_Target.py"
    chain.softness, chain.reach = 0.0, "CLAMP"
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="TWOBONE_PT_presets")
    assert (chain.softness, chain.reach) == (0.25, "SOFTEN")
    bpy.ops.twobone.preset_add(name="From Target", remove_name=True)
    bpy.types.TWOBONE_PT_presets.bl_label = "Chain Presets"
    assert not path.exists()


def test_without_a_chain_no_preset_can_be_made_and_no_empty_file_is_left(empty_file):
    legs()
    assert not bpy.ops.twobone.preset_add.poll()


def shipped():
    """Name to path of the presets that a user finds without having made any."""
    folders = [Path(folder) for folder in bpy.utils.preset_paths("twobone")]
    return {bpy.path.display_name(path.name, title_case=False): path for folder in folders for path in folder.glob("*.py")}


def apply(name):
    bpy.ops.script.execute_preset(filepath=str(shipped()[name]), menu_idname="TWOBONE_PT_presets")
    bpy.types.TWOBONE_PT_presets.bl_label = "Chain Presets"


def test_presets_come_with_the_addon_and_cannot_be_written_over(empty_file):
    before = {path: path.read_bytes() for path in shipped().values()}
    assert set(shipped()) >= SHIPPED
    rig = legs()
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.add_target()
    bpy.ops.twobone.preset_add(name="Mechanism")
    bpy.types.TWOBONE_PT_presets.bl_label = "Chain Presets"
    (OWN / "Mechanism.py").unlink(missing_ok=True)
    assert {path: path.read_bytes() for path in shipped().values()} == before


@pytest.mark.parametrize("active", ["Rig", "Target foot.L"])
@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_shipped_preset_bakes(empty_file, name, active):
    rig = legs()
    bpy.context.scene.frame_end = 8
    select_bones(rig, "thigh.L")
    bpy.ops.twobone.add_target()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    chain = rig.twobone.chains[0]
    bones = chain.upper, chain.lower, chain.target
    apply(name)
    assert (chain.upper, chain.lower, chain.target) == bones
    assert bpy.ops.twobone.bake() == {"FINISHED"}


@pytest.mark.parametrize("name", ["Character Arm", "Character Leg", "Mocap Clean-up"])
def test_presets_for_characters_leave_a_limb_alone_whose_target_is_at_its_tip(empty_file, name):
    rig = legs()
    bpy.context.scene.frame_end = 1
    rig.pose.bones["shin.L"].rotation_quaternion = (0.9, 0.4, 0.1, 0)
    bpy.context.view_layer.update()
    select_bones(rig, "shin.L")
    bpy.ops.twobone.add_target()
    apply(name)
    bones = rig.pose.bones.keys()
    before = posed(rig, bones, [1])
    bpy.ops.twobone.bake()
    assert degrees_between(before, posed(rig, bones, [1])).max() < UNSEEN
