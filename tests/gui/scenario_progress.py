"""A long bake through the whole scene shows its progress; Esc stops it with nothing changed; left alone, it gets done.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

LONG, SHORT = 400_000, 12_000
FRAME_BEFORE = 7


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend, chain.evaluation = "XZ", "POSITIVE", "SCENE"
    rig.twobone.show_path = False
    bpy.context.scene.frame_set(FRAME_BEFORE)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Leg made")


def state():
    rig = bpy.data.objects["Rig"]
    return {
        "animation": rig.animation_data and rig.animation_data.action,
        "frame": bpy.context.scene.frame_current,
        "objects": sorted(bpy.data.objects.keys()),
        "scenes": bpy.data.scenes.keys(),
        "mode": bpy.context.mode,
        "pose": [tuple(bone.rotation_quaternion) for bone in rig.pose.bones],
    }


def is_baking(user):
    return any(operator.bl_idname == "TWOBONE_OT_bake" for operator in user.window.modal_operators)


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    bake = yield from user.find_button("bpy.ops.twobone.bake")

    bpy.context.scene.frame_end = LONG
    before = state()
    yield from user.click(*bake)
    yield from user.wait(5)
    assert is_baking(user), "a long bake does not let the window live"
    yield from user.picture("progress")
    yield from user.press("ESC")
    yield from user.wait(5)
    assert not is_baking(user), "Esc does not stop the bake"
    assert state() == before, "a cancelled bake changed something"

    bpy.context.scene.frame_end = SHORT
    yield from user.click(*bake)
    for _ in range(2000):
        yield
        if not is_baking(user):
            break
    assert bpy.data.objects["Rig"].animation_data is not None, "the bake did not get done"
    assert bpy.context.scene.frame_current == FRAME_BEFORE
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    assert bpy.data.objects["Rig"].animation_data is None, "one Ctrl-Z does not undo the whole bake"


install_zip()
prepare()
play(scenario)
