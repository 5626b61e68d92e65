"""Rigify's human as it is generated, on IK, and somebody's first right bake: bone, Add Target, move it, Switch to FK and Bake.

Then all limbs are set up, and the same is done with all of them; undo takes each step back as one.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.scenes import set_range

LAST = 12
ON_TARGET = 1e-4
UNMOVED = 0.3e-3
"""Metres: what nobody sees."""

MOVE_CLICK_MODE_ADD = 4
"""Steps to undo of moving the target: the move, the click on it, the change of mode; and of adding it."""

UNTURNED = np.radians(0.3)


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.pose.rigify_generate()
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(metarig)
    bpy.context.view_layer.objects.active = rig()
    rig().select_set(state=True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    set_range(1, LAST)
    bpy.ops.ed.undo_push(message="Rig made")


def rig():
    return next(each for each in bpy.data.objects if each.type == "ARMATURE")


def seen(frame):
    """The matrices of all bones that deform, as they are evaluated at a frame."""
    bpy.context.scene.frame_set(frame)
    evaluated = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {bone.name: bone.matrix.copy() for bone in evaluated.pose.bones if bone.name.startswith("DEF-")}


def apart_from(before, frame):
    """How far bones have moved, and by how much they have turned, since then."""
    now = seen(frame)
    moved = {name: (now[name].translation - before[name].translation).length for name in before}
    turned = {name: now[name].to_quaternion().rotation_difference(before[name].to_quaternion()).angle for name in before}
    return moved, {name: min(angle, 2 * np.pi - angle) for name, angle in turned.items()}


def foot_and_target():
    """Where the foot is seen, and its target."""
    foot = rig().matrix_world @ seen(1)["DEF-foot.L"].translation
    return foot, bpy.data.objects["Target foot.L"].matrix_world.translation.copy()


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    yield from first_bake(user)
    yield from whole_character(user)


def first_bake(user):
    as_made = seen(1)
    foot = rig().matrix_world @ rig().pose.bones["foot_ik.L"].head
    yield from user.click(*user.place_of(foot))
    yield from user.wait(5)
    yield from user.picture("rigify_bone")
    assert bpy.context.active_pose_bone.name in {"foot_ik.L", "foot_fk.L"}, bpy.context.active_pose_bone

    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.add_target")))
    yield from user.wait(10)
    chain = rig().twobone.chains[0]
    assert (chain.upper, chain.lower, chain.target.name) == ("thigh_fk.L", "shin_fk.L", "Target foot.L")

    yield from user.picture("rigify_target")
    yield from move_target(user)
    foot, target = foot_and_target()
    assert (foot - target).length > 0.05, "the target was not moved"

    yield from user.picture("rigify_moved")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake(switch_first=True")))
    yield from user.wait(40)
    yield from user.picture("rigify_baked")
    foot, there = foot_and_target()
    assert (there - target).length < ON_TARGET
    assert (foot - target).length < ON_TARGET, "the visible foot is not on its target"

    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    moved, _ = apart_from(as_made, 1)
    assert max(moved.values()) < UNMOVED, "one Ctrl-Z does not take switch and bake back"
    assert rig().animation_data is None or rig().animation_data.action is None
    for _ in range(MOVE_CLICK_MODE_ADD):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    assert not rig().twobone.chains, "Add Target is not one step"


def move_target(user):
    """In Object Mode: click the empty, G, and a click where it shall be."""
    yield from user.hover("WINDOW")
    yield from user.press("TAB", ctrl=True)
    x, y = user.place_of(bpy.data.objects["Target foot.L"].matrix_world.translation)
    yield from user.wait(5)
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    yield from user.click(x, y + 14)
    yield from user.wait(5)
    assert bpy.context.object.name == "Target foot.L", bpy.context.object
    yield from user.press("G")
    yield from user.move(x - 40, y + 40)
    yield from user.wait(3)
    yield from user.press("LEFTMOUSE")
    yield from user.wait(10)


def whole_character(user):
    as_made = seen(1)
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.set_up_limbs(")))
    yield from user.wait(20)
    yield from user.picture("rigify_set_up")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake_all(switch_first=True")))
    yield from user.wait(60)
    yield from user.picture("rigify_all_baked")
    for frame in (1, LAST):
        moved, turned = apart_from(as_made, frame)
        assert max(moved.values()) < UNMOVED, max(moved.items(), key=lambda item: item[1])
        assert max(turned.values()) < UNTURNED, max(turned.items(), key=lambda item: item[1])


install_zip()
prepare()
play(scenario)
