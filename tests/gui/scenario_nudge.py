"""Nudge: a hand is dragged at a frame, along an axis, by typed numbers; Esc gives back, one Ctrl-Z undoes, the list changes it.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range

ARM = (
    BoneShape("chest", (0, 0, 1), (0, 0, 1.4)),
    BoneShape("upper_arm", (0.2, 0, 1.4), (0.5, 0, 1.2), "chest"),
    BoneShape("forearm", (0.5, 0, 1.2), (0.8, 0, 1.4), "upper_arm", connected=True),
    BoneShape("hand", (0.8, 0, 1.4), (0.9, 0, 1.4), "forearm", connected=True),
)
CLOSE = 1e-5
FRAME = 15


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    set_range(1, 30)
    rig = build_armature(ARM)
    bones = rig.pose.bones
    for name, angles in (("upper_arm", (0.1, -0.2, 0.15)), ("forearm", (0.0, 0.3, 0.1))):
        bones[name].rotation_mode = "XYZ"
        key_channel(bones[name], "rotation_euler", {1 + 14 * step: (0, 0, angle) for step, angle in enumerate(angles)})
    bpy.context.scene.frame_set(FRAME)
    rig.select_set(state=True)
    bpy.ops.object.mode_set(mode="POSE")
    hand = bones["hand"]
    (hand if hasattr(hand, "select") else hand.bone).select = True
    rig.data.bones.active = rig.data.bones["hand"]
    bpy.ops.ed.undo_push(message="Arm made")


def tip():
    rig = bpy.data.objects["Rig"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(rig.matrix_world @ rig.pose.bones["hand"].head)


def keys():
    return [tuple(key.co) for curve in curves_of(bpy.data.objects["Rig"]) for key in curve.keyframe_points]


def begin(user, **given):
    x, y = user.place_of(tip())
    yield from user.move(x, y)
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.twobone.nudge("INVOKE_DEFAULT", True, **given)  # noqa: FBT003 - asks for an undo step, as a click would
    yield from user.wait(3)


def is_nudging(user):
    return any(operator.bl_idname == "TWOBONE_OT_nudge" for operator in user.window.modal_operators)


def type_text(user, text):
    names = {".": "PERIOD", "-": "MINUS", "0": "ZERO", "1": "ONE", "5": "FIVE"}
    for letter in text:
        for value in ("PRESS", "RELEASE"):
            x, y = user.place
            pressed = {"unicode": letter} if value == "PRESS" else {}
            user.window.event_simulate(names[letter], value, x=x, y=y, **pressed)
            yield


def scenario(user):
    yield from user.look_from("FRONT")
    before, keyed = tip(), keys()
    yield from give_back(user, before, keyed)
    yield from with_the_mouse(user, before, keyed)
    yield from with_numbers(user, before)
    yield from from_the_list(user, before, keyed)


def give_back(user, before, keyed):
    yield from begin(user)
    assert is_nudging(user)
    yield from user.move(user.place[0] - 60, user.place[1] + 20)
    yield from user.wait(3)
    assert np.linalg.norm(tip() - before) > 0.05, "the hand does not follow the mouse"
    yield from user.press("ESC")
    yield from user.wait(3)
    assert not is_nudging(user)
    assert np.abs(tip() - before).max() < CLOSE, "Esc does not give the pose back"
    assert keys() == keyed


def with_the_mouse(user, before, keyed):
    yield from begin(user)
    yield from user.press("Z")
    for _ in range(3):
        yield from user.press("WHEELUPMOUSE")
    yield from user.move(user.place[0] - 40, user.place[1] - 50)
    yield from user.wait(3)
    moved = tip() - before
    assert abs(moved[2]) > 0.05, "the hand does not follow along Z"
    assert np.abs(moved[:2]).max() < CLOSE, "Z does not constrain"
    yield from user.picture("nudge_dragged")
    yield from user.press("LEFTMOUSE")
    yield from user.wait(5)
    assert not is_nudging(user)
    assert np.abs(tip() - before - moved).max() < CLOSE, "what is written is not what was seen"
    assert len(keys()) > len(keyed)
    yield from user.picture("nudge_confirmed")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(5)
    assert keys() == keyed, "one Ctrl-Z does not undo it"


def with_numbers(user, before):
    yield from begin(user)
    yield from user.press("Z")
    yield from type_text(user, "-.05")
    yield from user.wait(3)
    assert np.abs(tip() - before - (0, 0, -0.05)).max() < CLOSE
    yield from user.press("RET")
    yield from user.wait(5)
    assert np.abs(tip() - before - (0, 0, -0.05)).max() < CLOSE
    assert '"offset"' in bpy.data.objects["Rig"].animation_data.action.twobone_nudges


def from_the_list(user, before, keyed):
    """Its pencil goes to the frame and drags it on, its cross takes it out."""
    chain = bpy.data.objects["Rig"].twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Arm", "upper_arm", "forearm"
    bpy.context.scene.frame_set(3)
    yield from begin(user, chain="Arm", frame=FRAME)
    assert bpy.context.scene.frame_current == FRAME
    yield from user.press("X")
    yield from type_text(user, "-.1")
    yield from user.press("RET")
    yield from user.wait(5)
    assert np.abs(tip() - before - (-0.1, 0, -0.05)).max() < CLOSE, "a nudge that is changed is not that with more"
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("nudge_panel")
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.twobone.nudge("INVOKE_DEFAULT", True, chain="Arm", frame=FRAME, remove=True)  # noqa: FBT003
    yield from user.wait(5)
    assert keys() == keyed, "its cross does not take it out"


install_zip()
prepare()
play(scenario)
