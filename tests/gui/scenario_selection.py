"""What is selected is active in the list; with Live and auto-keying a move is one undo step, both ways.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

CLOSE = 1e-4


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    for number in range(2):
        rig, target = leg_with_target()
        target.animation_data_clear()
        target.location = (0.4, 0, 0.9)
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target = f"Leg {number}", "upper", "lower", target
        chain.plane, chain.bend = "XZ", "POSITIVE"
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False  # or 5.2 warns of every channel that has not changed
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.object.select_all(action="DESELECT")
    target.select_set(state=True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.ed.undo_push(message="Legs made")


def keys():
    """Keyed frames of the second leg's target, which Blender poses the leg after."""
    data = bpy.data.objects["Target.001"].animation_data
    if data is None or data.action is None:
        return []
    action = data.action
    curves = action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves
    return sorted({round(key.co.x) for curve in curves for key in curve.keyframe_points})


def tip():
    rig = bpy.data.objects["Rig.001"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return rig.matrix_world @ rig.pose.bones["lower"].tail


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("selection_target_active")
    before = tip()
    if not hasattr(bpy.types, "GeometryAttributeConstraint"):  # Older Blenders have no Live.
        return
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        bpy.ops.twobone.live("INVOKE_DEFAULT", True, state="ON")  # noqa: FBT003 - asks for an undo step, as a click would
    yield from user.wait(5)
    assert (tip() - before).length > CLOSE, "the leg of the selected target is not the one that is live"
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(8)
    assert (tip() - before).length < CLOSE, "undo of Live does not give back the pose from before"
    yield from user.press("Z", ctrl=True, shift=True)
    yield from user.wait(8)
    assert (tip() - before).length > CLOSE
    yield from two_moves(user)


def two_moves(user):
    seen = []
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        bpy.ops.ed.undo_push(message="Frame")
        yield from user.hover("WINDOW")
        x, y = user.place
        yield from user.press("G")
        yield from user.move(x - 30 - frame, y + 20)
        yield from user.wait(3)
        yield from user.press("LEFTMOUSE")
        yield from user.wait(20)
        seen.append((keys(), tip()))
    assert [found for found, _ in seen] == [[1], [1, 10]], seen
    for expected in ([1], []):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
        assert keys() == expected, (keys(), expected)
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    for expected in ([1], [1, 10]):
        for _ in range(2):
            yield from user.press("Z", ctrl=True, shift=True)
            yield from user.wait(10)
        assert keys() == expected, (keys(), expected)
    assert (tip() - seen[1][1]).length < CLOSE
    yield from user.picture("selection_redone")


install_zip()
prepare()
play(scenario)
