"""An animator's first bake with the mouse: choose the bone, open the tab, press Bake, undo, redo.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import TIP_TOLERANCE, leg_with_target, worst_miss


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target = "upper", "lower", target
    chain.plane, chain.bend = "XZ", "POSITIVE"
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Leg made")


def scenario(user):
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("before_bake")

    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake")))
    yield from user.wait()
    assert worst_miss(bpy.data.objects["Rig"], bpy.data.objects["Target"]) <= TIP_TOLERANCE
    yield from user.picture("after_bake")

    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait()
    assert bpy.data.objects["Rig"].animation_data is None, "one Ctrl-Z does not undo the whole bake"
    yield from user.press("Z", ctrl=True, shift=True)
    yield from user.wait()
    assert worst_miss(bpy.data.objects["Rig"], bpy.data.objects["Target"]) <= TIP_TOLERANCE


install_zip()
prepare()
play(scenario)
