"""A robot whose feet are what the IK of its legs follows: Plant Feet is refused once, and its dialog's own button does it all.

Then all limbs are baked: a foot stays on its ankle, as it was. Undo takes each step back as one.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.gui.noticing import differences, state
from tests.tasks.rigs.robot import LAST, robot
from tests.tasks.scenes import set_range

ON_THE_ANKLE = 0.005
"""Of a leg's length, by which a foot may leave its ankle."""

LEG = 0.9


def prepare():
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
    rig = robot()
    bpy.data.objects.remove(bpy.data.objects["Head"])
    set_range(1, LAST)
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.ed.undo_push(message="Robot made")


def off_the_ankle():
    """How far feet are seen off their ankles, at the frame where that is farthest."""
    farthest = 0.0
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        rig = bpy.data.objects["Robot"].evaluated_get(bpy.context.evaluated_depsgraph_get())
        for side in "LR":
            gap = rig.pose.bones[f"Foot{side}"].head - rig.pose.bones[f"LowerLeg{side}"].tail
            farthest = max(farthest, gap.length)
    bpy.context.scene.frame_set(1)
    return farthest


def pressed(user, command):
    yield from user.click(*(yield from user.find_button(command)))
    yield from user.wait(30)


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    yield from pressed(user, "bpy.ops.twobone.set_up_limbs(")
    as_set_up, gap = state(), off_the_ankle()
    yield from pressed(user, "bpy.ops.twobone.plant(")
    yield from user.picture("robot_refused")
    assert not differences(as_set_up), "what was refused has changed something"
    yield from user.press("RET")
    yield from user.wait(60)
    yield from user.picture("robot_planted")
    assert "planted" in (yield from user.told())[-1]
    assert off_the_ankle() < gap + ON_THE_ANKLE * LEG, "a planted foot has left its ankle"

    yield from pressed(user, "bpy.ops.twobone.bake_all(")
    yield from user.picture("robot_baked")
    assert off_the_ankle() < gap + ON_THE_ANKLE * LEG, "a baked foot has left its ankle"
    for _ in range(2):
        yield from user.hover("WINDOW")
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
    assert not differences(as_set_up), differences(as_set_up)[:3]


install_zip()
prepare()
play(scenario)
