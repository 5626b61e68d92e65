"""Every button of the sidebar is pressed once on a walk, and undone once: the file is as it was before.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker

PATIENCE = 1000
"""Steps for a button's work."""

UNTIL_TOLD = ("bpy.ops.twobone.drag", "bpy.ops.twobone.nudge")
"""These go on until they are told to stop."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, _ = build_walker(Walk(slide=0.02, frames=48))
    for chain in rig.twobone.chains:
        chain.limb = "LEG"
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.twobone.add_target()
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="Made")


def told(value):
    return value if isinstance(value, str | float | int) else repr(value)


def state():
    """What a person would miss: what there is, how it is keyed and posed, the limbs, the frame, the mode, the selection."""
    rig, layer = bpy.data.objects["Walker"], bpy.context.view_layer
    found = {
        "names": {kind: sorted(getattr(bpy.data, kind).keys()) for kind in ("objects", "actions", "collections", "meshes")},
        "frame": bpy.context.scene.frame_current,
        "mode": bpy.context.mode,
        "selected": sorted(thing.name for thing in layer.objects if thing.select_get()),
        "limbs": [{name: told(getattr(chain, name)) for name in chain.bl_rna.properties.keys()} for chain in rig.twobone.chains],  # noqa: SIM118
        "active": rig.twobone.active_index,
    }
    for thing in bpy.data.objects:
        found["place", thing.name] = np.round(np.array(thing.matrix_world), 5).tolist()
        for curve in curves_of(thing):
            keys = [(*key.co, *key.handle_left, *key.handle_right, key.interpolation, key.type) for key in curve.keyframe_points]
            found["keys", thing.name, curve.data_path, curve.array_index] = keys
    for bone in rig.pose.bones:
        found["pose", bone.name] = np.round(np.array(bone.matrix_basis), 5).tolist()
        found["constraints", bone.name] = [(each.name, each.mute, each.influence) for each in bone.constraints]
    return found


def differences(before):
    now = state()
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def is_busy(user):
    return any("TWOBONE" in operator.bl_idname for operator in user.window.modal_operators)


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(20)
    buttons = yield from user.buttons()
    changing, wrong = set(), []
    for command, part in buttons.items():
        before = state()
        yield from user.click(*(yield from user.find_button(command, part)))
        yield from user.wait(10)
        for _ in range(PATIENCE):
            if not is_busy(user) or command.startswith(UNTIL_TOLD):
                break
            yield
        if is_busy(user) or not differences(before):
            yield from user.press("ESC")  # a dialog, or what goes on until it is told to stop
            yield from user.wait(10)
        if differences(before):
            changing.add(command.partition("(")[0].rpartition(".")[2])
            yield from user.hover("WINDOW")
            yield from user.press("Z", ctrl=True)
            yield from user.wait(15)
        left = differences(before)
        if left:
            wrong.append((command, left[:3]))
    assert not wrong, wrong
    missing = {"add_pole", "bake", "bake_all", "chain_move", "chain_remove", "clear_baked", "flip", "live", "plant"} - changing
    assert not missing, f"{missing} changed nothing; the buttons are {buttons}"


install_zip()
prepare()
play(scenario)
