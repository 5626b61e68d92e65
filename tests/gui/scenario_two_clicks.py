"""Someone who has never seen the add-on: click the shin, Add Target, Bake, and the leg follows.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import FIRST, LAST, TIP_TOLERANCE, leg_with_target, worst_miss


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    _rig, target = leg_with_target()
    bpy.data.objects.remove(target)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.ed.undo_push(message="Leg made")


def scenario(user):
    yield from user.look_from("FRONT")
    shin = bpy.data.objects["Rig"].pose.bones["lower"]
    yield from user.click(*user.place_of((shin.head + shin.tail) / 2))
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.picture("two_clicks_start")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.add_target")))
    yield from user.wait()
    target = bpy.data.objects["Rig"].twobone.chains[0].target
    name = target.name
    for frame, sideways in ((FIRST, 0.0), (LAST, -0.5)):
        target.location.x += sideways
        target.keyframe_insert("location", frame=frame)
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake")))
    yield from user.wait()
    assert worst_miss(bpy.data.objects["Rig"], bpy.data.objects[name]) <= TIP_TOLERANCE
    yield from user.picture("two_clicks_end")


install_zip()
prepare()
play(scenario)
