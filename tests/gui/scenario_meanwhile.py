"""What happens while something runs: another mode, scene or file, the armature deleted.

A modal operator only blocks its own window: in a second one, and by scripts and timers, all of this happens.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.walking import LONG, prepare_walk


def tip():
    rig = bpy.data.objects["Walker"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(rig.matrix_world @ rig.pose.bones["foot.L"].head)


def running(user):
    return [operator.bl_idname for operator in user.window.modal_operators if operator.bl_idname.startswith("TWOBONE")]


def edit_mode(_folder):
    bpy.ops.object.mode_set(mode="EDIT")


def other_scene(_folder):
    bpy.context.window.scene = bpy.data.scenes.new("Other")


def armature_deleted(_folder):
    bpy.data.objects.remove(bpy.data.objects["Walker"])


def other_file(folder):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "walk.blend"), load_ui=False)


MEANWHILE = (
    ("drag", edit_mode),
    ("nudge", armature_deleted),
    ("nudge", other_scene),
    ("drag", other_file),
    ("plant", other_file),
)
"""What runs on, and what happens; `tests/interface/live/test_meanwhile.py` goes through all of it without a window."""


def scenario(user):
    file = user.pictures / "walk.blend"
    prepare_walk(LONG)
    bpy.context.scene.frame_set(5)
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    for name, happens in MEANWHILE:
        bpy.ops.wm.open_mainfile(filepath=str(file), load_ui=False)
        user.window = bpy.context.window_manager.windows[0]
        yield from user.wait(4)
        yield from user.look_from("RIGHT")
        x, y = user.place_of(tip())
        yield from user.move(x, y)
        with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
            begun = getattr(bpy.ops.twobone, name)("INVOKE_DEFAULT", True)  # noqa: FBT003 - as a click would
        assert begun == {"RUNNING_MODAL"}, (name, begun)
        if name != "plant":
            yield from user.move(x + 30, y + 20)
            yield from user.wait(2)
        with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
            happens(user.pictures)
        user.window = bpy.context.window_manager.windows[0]
        yield from user.move(x + 50, y + 10)
        yield from user.wait(3)
        assert not running(user), (name, happens.__name__)


install_zip()
play(scenario)
