"""A limb that is seen on its rig's IK: targets go where the foot is seen, and the panel's switch to FK keeps what is wanted."""

import bpy
import numpy as np
import pytest

import twobone_addon
from tests.interface.acting import select_bones
from tests.interface.recording import Acting, Layout, drawn
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.control_rig import LENGTH, control_rig, limb_over_time
from tests.tasks.rigs.person import person
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.rigs.two_legs import legs_on_ik
from tests.tasks.scenes import add_empty, key_places, set_range
from twobone_addon.interface.operators.bake import TWOBONE_OT_bake
from twobone_addon.interface.operators.of_tasks import OPERATORS
from twobone_addon.interface.rows import draw_remedy
from twobone_addon.interface.sidebar.menus import TWOBONE_MT_pose
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains


def keys_by_path(rig):
    return {(curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)}


def seen_foot(rig):
    return rig.matrix_world @ rig.pose.bones["foot_def"].head


def test_a_target_is_added_where_the_foot_is_seen_and_the_switch_to_fk_keeps_it_there(empty_file):
    """The rig is on IK, with the foot elsewhere than the FK bones have theirs."""
    rig = switched_leg()
    set_range(1, 3)
    key_places(bpy.data.objects["IK goal"], [(0, -0.2, 0.2), (0, -0.1, 0.3), (0, 0, 0.4)])
    rig.pose.bones["hip"].keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(1)
    before, knee = seen_foot(rig).copy(), rig.pose.bones["shin_def"].head.copy()
    assert (before - rig.pose.bones["foot_fk"].head).length > 0.1
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.add_target()
    chain = rig.twobone.chains[0]
    bpy.context.view_layer.update()
    assert (chain.target.matrix_world.translation - before).length < 1e-5
    assert bpy.ops.twobone.bake(**drawn(TWOBONE_PT_chains).values("twobone.bake")) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (seen_foot(rig) - before).length < 1e-4
    assert (rig.pose.bones["shin_def"].head - knee).length < 1e-4


def test_after_a_bake_the_button_leaves_what_is_seen_as_it_is(empty_file):
    """A limb that was baked on FK and is put on IK by hand, where its control moves, is shown by that."""
    rig = switched_leg(on_ik=0.0)
    bpy.context.scene.frame_end = 3
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.add_target()
    rig.twobone.chains[0].target.location.y += 0.2
    assert bpy.ops.twobone.bake() == {"FINISHED"}
    key_places(bpy.data.objects["IK goal"], [(0, -0.2, 0.2), (0, -0.1, 0.3), (0, 0, 0.4)])
    bpy.context.scene.frame_set(2)
    rig.pose.bones["hip"]["FK_IK"] = 1.0
    rig.update_tag()
    bpy.context.view_layer.update()
    before = seen_foot(rig).copy()
    assert drawn(TWOBONE_PT_chains).values("twobone.bake")["switch_first"]
    assert bpy.ops.twobone.switch(chain=rig.twobone.chains[0].name, to="FK") == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (seen_foot(rig) - before).length < 1e-4


def test_a_limb_on_fk_is_offered_the_way_back_to_the_ik_of_its_rig(empty_file):
    """What the sidebar and the Pose menu offer is clicked as it is, and the limb is seen to stay where it was."""
    rig = control_rig()
    rig.pose.bones["lower"].bone.use_deform = True
    select_bones(rig, "lower")
    bpy.ops.twobone.chain_add()
    button = drawn(TWOBONE_PT_chains).values("twobone.switch")
    assert button["to"] == "IK"
    before = limb_over_time(rig)[0]
    assert bpy.ops.twobone.switch(**button) == {"FINISHED"}
    assert np.linalg.norm(limb_over_time(rig)[0] - before, axis=-1).max() < 1e-4 * LENGTH
    assert drawn(TWOBONE_PT_chains).values("twobone.bake")["switch_first"], "it is on IK now"


def test_a_limb_without_ik_is_not_offered_any(empty_file):
    rig = switched_leg(on_ik=0.0)
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.chain_add()
    assert "twobone.switch" not in drawn(TWOBONE_PT_chains).buttons(), "its IK follows an object, not a control"


def test_the_menu_has_both_ways_and_the_redo_panel_shows_which_it_was(empty_file):
    menu = drawn(TWOBONE_MT_pose)
    entries = [named.get("text") for name, given, named in menu.calls if name == "operator" and given == ("twobone.switch",)]
    assert entries == ["Switch to FK", "Switch to IK", "Switch All Limbs to FK", "Switch All Limbs to IK"]
    for to, shown in (("FK", ["to", "motion", "frame_range"]), ("IK", ["to", "frame_range"])):
        layout, known = Layout(), bpy.ops.twobone.switch.get_rna_type()
        chosen = {"to": to, "motion": "AUTO", "armature": "", "frame_range": "SCENE"}
        redo = Acting(OPERATORS["switch"], layout=layout, bl_rna=known, **chosen)
        OPERATORS["switch"].draw(redo, bpy.context)
        assert layout.properties() == shown


@pytest.mark.parametrize(
    "cls, method",
    [
        (OPERATORS["switch"], "begin"),
        (TWOBONE_OT_bake, "begin"),
        (OPERATORS["find_contacts"], "begin"),
        (OPERATORS["convert_ik"], "begin"),
    ],
)
def test_a_custom_range_in_the_redo_panel_starts_as_the_scene_and_stays_as_it_is_set(empty_file, monkeypatch, cls, method):
    """Blender shows 1 to 250 for what nobody has set, whatever the shot is."""
    rig = control_rig(on_ik=cls is OPERATORS["convert_ik"])
    select_bones(rig, "lower")
    bpy.ops.twobone.chain_add()
    chain = rig.twobone.chains[0]
    chain.target = add_empty()
    chain.limb = "LEG"
    set_range(12, 40)
    left, work = [], getattr(cls, method)

    def noted(operator, context):
        done = work(operator, context)
        left.append((operator.frame_range, operator.frame_start, operator.frame_end))
        return done

    monkeypatch.setattr(cls, method, noted)
    run = getattr(bpy.ops.twobone, cls.bl_idname.partition(".")[2])
    for given in ({}, {"frame_range": "CUSTOM", "frame_start": 14.0, "frame_end": 20.0}, {"frame_start": 14.0}):
        rig.pose.bones["lower"].constraints["IK"].mute = cls is not OPERATORS["convert_ik"]
        run(**given)
    assert left[0][1:] == (12.0, 40.0)
    assert left[0][0] != "CUSTOM"
    assert left[1:] == [("CUSTOM", 14.0, 20.0), ("CUSTOM", 14.0, 40.0)]


@pytest.mark.parametrize("add", [bpy.ops.twobone.chain_add, bpy.ops.twobone.find_limbs], ids=["+", "Find Limbs"])
def test_a_custom_range_of_a_new_chain_starts_as_the_scene(empty_file, add):
    is_search = add.idname_py() == "twobone.find_limbs"
    rig = person() if is_search else control_rig()
    set_range(12, 40)
    if not is_search:
        select_bones(rig, "lower")
    assert add() == {"FINISHED"}
    chain = rig.twobone.chains[0]
    assert chain.frame_range == "AUTO"
    chain.frame_range = "CUSTOM"
    assert (chain.frame_start, chain.frame_end) == (12.0, 40.0)


def test_keys_that_fk_has_are_shown_by_one_button_and_nothing_else_changes(empty_file):
    """A motion that was copied onto FK while the rig shows IK, as a retarget leaves it."""
    rig = switched_leg()
    set_range(1, 3)
    key_places(bpy.data.objects["IK goal"], [(0, -0.2, 0.2), (0, -0.1, 0.3), (0, 0, 0.4)])
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.add_target()
    for frame, turn in ((1, 0.2), (3, 0.7)):
        for name in ("thigh_fk", "shin_fk"):
            rig.pose.bones[name].rotation_mode = "XYZ"
            rig.pose.bones[name].rotation_euler.x = turn
            rig.pose.bones[name].keyframe_insert("rotation_euler", frame=frame)
    with pytest.raises(twobone_addon.TwoBoneError) as refused:
        twobone_addon.plant(armature=rig.name)
    shown = Layout()
    assert draw_remedy(shown, refused.value.sentence)
    assert shown.buttons() == ["twobone.switch", "twobone.switch"]
    before = keys_by_path(rig)
    assert bpy.ops.twobone.switch(**shown.values("twobone.switch", 1)) == {"FINISHED"}
    for frame in (1, 2, 3):
        bpy.context.scene.frame_set(frame)
        assert (seen_foot(rig) - rig.matrix_world @ rig.pose.bones["foot_fk"].head).length < 1e-6
    after = keys_by_path(rig)
    assert {path: after[path] for path in before} == before
    assert {path for path, _ in after.keys() - before.keys()} <= {'pose.bones["hip"]["FK_IK"]'}


def test_keys_of_fk_are_not_offered_where_it_has_none(empty_file):
    rig = switched_leg()
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.add_target()
    with pytest.raises(twobone_addon.TwoBoneError) as refused:
        twobone_addon.nudge(armature=rig.name, chain=rig.twobone.chains[0].name, offset=(0, 0.1, 0))
    shown = Layout()
    assert draw_remedy(shown, refused.value.sentence)
    assert shown.buttons() == ["twobone.switch"]


def test_clear_after_a_bake_takes_back_the_switch_before_it_too(empty_file):
    """Without this, the limbs would be left on FK without keys: those of the switch are replaced by the bake's."""
    rig = legs_on_ik(8)
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.find_limbs(armature=rig.name, targets=True) == {"FINISHED"}
    before = keys_by_path(rig)
    assert bpy.ops.twobone.switch(scope="ACTIVE", to="FK") == {"FINISHED"}
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    assert keys_by_path(rig) != before
    assert bpy.ops.twobone.clear_baked(armature=rig.name, scope="ACTIVE") == {"FINISHED"}
    assert keys_by_path(rig) == before
    assert {bone.constraints["IK"].influence for bone in rig.pose.bones if "IK" in bone.constraints} == {1.0}
