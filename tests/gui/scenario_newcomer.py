"""The first minute of somebody who has read nothing: Set Up Limbs, Bake All; on a walk, and on legs that IK poses.

Then a target is deleted with X. The Info editor lists only what was pressed.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.rigs.two_legs import legs_on_ik
from tests.tasks.rigs.walker import Walk, build_walker

PATIENCE = 1000
LOOKING = ("bpy.ops.ui.", "bpy.ops.info.")
"""By which the tests look for a button and read what was said."""


def clear():
    if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])


def prepare():
    clear()
    rig, _ = build_walker(Walk(frames=48))
    rig.twobone.chains.clear()
    make_active(rig)


def make_active(rig):
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.ed.undo_push(message="Made")


def pressed(user, command, within=None):
    """Click the button whose call begins with this, and wait for its work; what Blender has listed of it."""
    before = len((yield from user.told()))
    yield from user.click(*(yield from user.find_button(command)))
    for _ in range(PATIENCE):
        yield
        if not any("TWOBONE" in operator.bl_idname for operator in user.window.modal_operators):
            break
    yield from user.wait(15)
    told = (yield from user.told())[before:]
    called = [line for line in told if line.startswith("bpy.ops.") and not line.startswith(LOOKING)]
    assert all(line.startswith(command.partition("(")[0]) for line in called), called
    return told


def largest_error():
    return max(chain["max_error"] for chain in json.loads(bpy.context.window_manager.twobone_report)["chains"])


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    yield from user.picture("newcomer_empty")
    yield from pressed(user, "bpy.ops.twobone.set_up_limbs(")
    yield from user.picture("newcomer_set_up")
    yield from pressed(user, "bpy.ops.twobone.bake_all")
    yield from user.picture("newcomer_baked")
    assert largest_error() < 1e-3
    yield from on_ik(user)
    yield from deleted(user)


def on_ik(user):
    clear()
    make_active(legs_on_ik(24))
    yield from user.look_from("FRONT")
    yield from user.wait(10)
    yield from pressed(user, "bpy.ops.twobone.set_up_limbs(")
    yield from user.picture("newcomer_on_ik")
    told = yield from pressed(user, "bpy.ops.twobone.bake_all")
    assert "2 chains baked" in told[-1], told
    assert largest_error() < 1e-3
    yield from user.picture("newcomer_on_fk")


def deleted(user):
    """X over the viewport, with the target selected as a click in the viewport selects it."""
    rig = bpy.data.objects["Rig"]
    chain = rig.twobone.chains[rig.twobone.active_index]
    target = chain.target
    name = target.name
    rig.select_set(state=False)
    target.select_set(state=True)
    bpy.context.view_layer.objects.active = target
    bpy.ops.ed.undo_push(message="Target selected")
    yield from user.hover("WINDOW")
    yield from user.press("DEL")
    yield from user.wait(10)
    assert name not in bpy.context.scene.objects
    make_active(bpy.data.objects["Rig"])
    yield from user.wait(15)
    yield from user.picture("newcomer_target_deleted")
    rig = bpy.data.objects["Rig"]
    chain = rig.twobone.chains[rig.twobone.active_index]
    assert (chain.target, chain.lost_target) == (None, name)
    yield from pressed(user, "bpy.ops.twobone.add_target")
    rig = bpy.data.objects["Rig"]
    assert rig.twobone.chains[rig.twobone.active_index].target is not None
    yield from user.hover("WINDOW")
    for _ in range(3):
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    rig = bpy.data.objects["Rig"]
    assert rig.twobone.chains[rig.twobone.active_index].target.name == name, "undo has not brought the target back"


install_zip()
prepare()
play(scenario)
