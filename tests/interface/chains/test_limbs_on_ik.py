"""A limb that is seen on its rig's IK: targets go where the foot is seen, and the panel's switch to FK keeps what is wanted."""

import bpy

from tests.baking.rigs.switched_leg import switched_leg
from tests.baking.scenes import key_places, set_range
from tests.interface.acting import select_bones
from tests.interface.recording import drawn
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains


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
    assert bpy.ops.twobone.switch(**drawn(TWOBONE_PT_chains).values("twobone.switch")) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (seen_foot(rig) - before).length < 1e-4
    assert (rig.pose.bones["shin_def"].head - knee).length < 1e-4
    bpy.ops.twobone.bake()
    assert (seen_foot(rig) - before).length < 1e-4


def test_after_a_bake_the_button_leaves_the_baked_keys(empty_file):
    rig = switched_leg()
    bpy.context.scene.frame_end = 3
    select_bones(rig, "shin_fk")
    bpy.ops.twobone.add_target()
    target = rig.twobone.chains[0].target
    target.location.y += 0.2
    bpy.ops.twobone.bake()
    button = drawn(TWOBONE_PT_chains).values("twobone.switch")
    bpy.context.window_manager.twobone_report = ""  # something else was done in between
    assert bpy.ops.twobone.switch(**button) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert (seen_foot(rig) - target.matrix_world.translation).length < 1e-4
