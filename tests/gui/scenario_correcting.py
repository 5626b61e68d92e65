"""A conversion that is refused is corrected in the dialog that says why: tried again as it is, then with another bone.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    ik = rig.pose.bones["lower"].constraints.new("IK")
    ik.target, ik.chain_count = target, 1
    bpy.context.scene.frame_end = 5
    bpy.ops.ed.undo_push(message="Leg made")


def keyed():
    data = bpy.data.objects["Rig"].animation_data
    return data is not None and data.action is not None


def refused(user):
    """Call the operator as a button does, with the mouse in the middle of the viewport."""
    yield from user.hover("WINDOW")
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        result = bpy.ops.twobone.convert_ik("INVOKE_DEFAULT", bone="lower")
    assert result == {"RUNNING_MODAL"}, result
    yield from user.wait(20)


def scenario(user):
    yield from refused(user)
    yield from user.picture("refused")
    yield from user.press("RET")
    yield from user.wait(20)
    yield from user.picture("refused_again")
    assert not keyed(), "a refused conversion has written keys"
    ik = bpy.data.objects["Rig"].pose.bones["lower"].constraints[0]
    ik.chain_count = 2
    yield from user.press("RET")
    yield from user.wait(20)
    yield from user.picture("corrected")
    assert keyed(), "the corrected conversion has written nothing"
    assert bpy.context.window_manager.operators[-1].bl_idname == "TWOBONE_OT_convert_ik"
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    assert not keyed(), "one Ctrl-Z does not undo the conversion"


install_zip()
prepare()
play(scenario)
