"""Bakes on a big rig, of which a copy is made in Edit Mode, leave mode, tool, local view and undo steps as they are.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import importlib
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

OTHERS = 150
PLACES = (1.0, 2.0, 3.0)

made = []


def prepare():
    """A leg among many bones that look at it, and the cube of the start-up file."""
    bpy.data.batch_remove([thing for thing in bpy.data.objects if thing.type != "MESH"])
    rig, _ = leg_with_target()
    rig.select_set(state=True)
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(OTHERS):
        bone = rig.data.edit_bones.new(f"other{number}")
        bone.head, bone.tail = (3, 0, number), (3, 0, number + 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for number in range(OTHERS):
        look = rig.pose.bones[f"other{number}"].constraints.new("DAMPED_TRACK")
        look.target, look.subtarget = rig, "lower"


def count_doubles():
    """Note how many bones the copies have."""
    addon = next(name for name in sys.modules if name.endswith(".twobone_addon"))
    doubles = importlib.import_module(f"{addon}.scene.sampling.reduced_rigs")
    make = doubles.reduced_rig

    def counted(*arguments):
        double = make(*arguments)
        made.append(len(double.thing.pose.bones))
        return double

    doubles.reduced_rig = counted


def enter(name, mode):
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    thing = bpy.data.objects[name]
    thing.select_set(state=True)
    bpy.context.view_layer.objects.active = thing
    bpy.ops.object.mode_set(mode=mode)


def seen(user):
    """What a person would notice."""
    context, view = bpy.context, user.area().spaces[0]
    return {
        "scene": user.window.scene.name,
        "mode": context.mode,
        "tool": context.workspace.tools.from_space_view3d_mode(context.mode).idname,
        "active": context.view_layer.objects.active.name,
        "modes": {thing.name: thing.mode for thing in bpy.data.objects},
        "selected": sorted(thing.name for thing in context.view_layer.objects if thing.select_get()),
        "local view": view.local_view is not None,
        "frame": context.scene.frame_current,
    }


def in_viewport(user):
    return bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW"))


def bake():
    made.clear()
    bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="XZ")
    assert made == [2], made


def scenario(user):
    count_doubles()
    (mesh,) = (thing.name for thing in bpy.data.objects if thing.type == "MESH")
    cases = [("Rig", "OBJECT"), ("Rig", "POSE"), (mesh, "OBJECT")]
    for local in (False, True):
        for name, mode in cases:
            with in_viewport(user):
                enter(name, mode)
                if local and user.area().spaces[0].local_view is None:
                    bpy.ops.view3d.localview()
            yield from user.wait(2)
            before = seen(user)
            with in_viewport(user):
                bake()
            yield from user.wait(2)
            assert seen(user) == before, (before, seen(user))
    yield from undo_and_redo(user)


def undo_and_redo(user):
    with in_viewport(user):
        enter("Rig", "OBJECT")
        for x in PLACES:
            bpy.data.objects["Rig"].location.x = x
            bpy.ops.ed.undo_push(message=f"Moved to {x}")
        bake()
    found = []
    yield from user.hover("WINDOW")
    for redo in (False, False, True, True):
        yield from user.press("Z", ctrl=True, shift=redo)
        yield from user.wait(8)
        found.append(bpy.data.objects["Rig"].location.x)
    assert found == [2.0, 1.0, 2.0, 3.0], found
    yield from user.picture("double_after_undo")


install_zip()
prepare()
play(scenario)
