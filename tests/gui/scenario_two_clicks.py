"""A first-time user with a rigged leg: select a bone, Add Target, Bake; then a change in the redo panel, and undo.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import TIP_TOLERANCE, leg_with_target, worst_miss

SCALE = 2.0
SUB_PANELS = ("TWOBONE_PT_chain", "TWOBONE_PT_reach", "TWOBONE_PT_keys", "TWOBONE_PT_display", "TWOBONE_PT_advanced")


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    bpy.data.objects.remove(target)
    dress(rig)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name == "lower"
    bpy.ops.ed.undo_push(message="Leg made")


def dress(rig):
    """A flat drawing of the leg makes it a cut-out's."""
    corners = [(x, 0.0, z) for x, z in ((-0.1, 0.0), (0.1, 0.0), (0.1, 0.5), (-0.1, 0.5))]
    drawing = bpy.data.meshes.new("Drawing")
    drawing.from_pydata(corners, [], [(0, 1, 2, 3)])
    shown = bpy.data.objects.new("Drawing", drawing)
    bpy.context.scene.collection.objects.link(shown)
    shown.parent = rig
    shown.modifiers.new("Armature", "ARMATURE").object = rig


def curves():
    data = bpy.data.objects["Rig"].animation_data
    if data is None or data.action is None:
        return 0
    action = data.action
    bag = action if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbag(data.action_slot)
    return len(bag.fcurves)


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("empty_list")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.add_target")))
    yield from user.wait(10)
    assert bpy.context.mode == "POSE"
    chain = bpy.data.objects["Rig"].twobone.chains[0]
    assert (chain.upper, chain.lower, chain.target.name) == ("upper", "lower", "Target lower")
    assert (chain.plane, chain.bend) == ("XZ", "NEGATIVE")
    yield from user.picture("target_added")

    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake")))
    yield from user.wait(10)
    assert curves() == 8
    assert worst_miss(bpy.data.objects["Rig"], bpy.data.objects["Target lower"]) <= TIP_TOLERANCE
    yield from user.picture("two_clicks")
    yield from redo(user)
    yield from panels(user)

    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    assert curves() == 0, "one Ctrl-Z does not undo the whole bake"
    yield from user.press("Z", ctrl=True, shift=True)
    yield from user.wait(10)
    assert curves() == 8, "Ctrl-Shift-Z does not bring it back"


BEND = 2
"""Its row in the redo panel, counted from 0."""

SIDES = 4
"""Entries of its list, among which the wheel goes round."""


def redo(user):
    """Open the redo panel and turn the mouse wheel over the bend: the leg bends to the other side, in the same action."""
    region = user.region("HUD")
    yield from user.click(region.x + 16, region.y + region.height - 12)
    yield from user.wait(10)
    region = user.region("HUD")
    x, top = region.x + int(0.7 * region.width), region.y + region.height
    yield from user.picture("redo_panel")
    knee, foot = joints()
    assert knee.x > 0.5 * foot.x

    yield from user.move(x, top - 45 - 23 * BEND)
    for _ in range(SIDES):
        yield from user.press("WHEELDOWNMOUSE", ctrl=True)
        yield from user.wait(20)
        last = bpy.context.window_manager.operators[-1]
        if last.bend == "POSITIVE":
            break
    yield from user.picture("redo_changed")
    assert (last.bl_idname, last.plane, last.bend) == ("TWOBONE_OT_bake", "XZ", "POSITIVE")
    other, same = joints()
    assert (same - foot).length < 1e-5, "the foot has left its target"
    assert other.x < 0.5 * foot.x, "the leg does not bend to the other side"
    assert curves() == 8, f"{curves()} curves"
    actions = [action.name for action in bpy.data.actions if action.users]
    assert len(actions) == 1, actions
    chain = bpy.data.objects["Rig"].twobone.chains[0]
    assert chain.report, "the chain has lost its result"
    assert chain.bend == "POSITIVE", "what was changed did not go back to the chain"


def joints():
    """Knee and foot."""
    bone = bpy.data.objects["Rig"].pose.bones["lower"]
    return bone.head.copy(), bone.tail.copy()


def panels(user):
    """Look at every panel at twice the size: the whole tab, the redo panel, each sub-panel with all its rows."""
    chain = bpy.data.objects["Rig"].twobone.chains[0]
    chain.reach, chain.use_limits, chain.frame_range, chain.joints = "STRETCH", True, "CUSTOM", "ALL"
    chain.keys = "REDUCE"
    bpy.context.preferences.view.ui_scale = SCALE
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(8)
    yield from user.picture("tab_at_twice_the_size")
    yield from sub_panels(user)
    user.area().spaces.active.show_region_ui = False
    yield from user.wait(8)
    yield from user.hover("HUD")
    yield from user.picture("redo_at_twice_the_size")
    for _ in range(12):
        yield from user.press("WHEELDOWNMOUSE")
    yield from user.picture("redo_scrolled_at_twice_the_size")
    bpy.context.preferences.view.ui_scale = 1.0
    yield from user.wait(8)


def sub_panels(user):
    """Each in a tab of its own."""
    for name in SUB_PANELS:
        with user.panel_alone(name) as tab:
            yield from user.open_sidebar(tab)
            yield from user.wait(8)
            yield from user.picture(f"{name.rpartition('_')[2]}_at_twice_the_size")


install_zip()
prepare()
play(scenario)
