"""A limb that is seen on IK: one button switches and bakes it, one Ctrl-Z takes both back; a nudge goes on from its dialog.

Then a target beside the plane: the result says how far, its button goes to the frame, and it is marked once the target moves.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import json
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.tasks.rigs.switched_leg import switched_leg

LAST = 24
ASIDE = 20
"""Frame at which the target is beside the plane."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    rig = switched_leg()
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    for frame, place in ((1, (0, -0.4, 0.3)), (12, (0, 0.4, 0.4)), (ASIDE, (0.32, 0.2, 0.3)), (LAST, (0, -0.4, 0.3))):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "thigh_fk", "shin_fk", target
    chain.plane, chain.reference, chain.bend = "YZ", "REST", "NEGATIVE"
    bpy.context.view_layer.objects.active = rig
    rig.select_set(state=True)
    bpy.ops.ed.undo_push(message="Leg made")


def report():
    return json.loads(bpy.data.objects["Rig"].twobone.chains[0].report)


def kinds():
    return [statement["kind"] for statement in report()["statements"]]


def miss():
    """How far the visible foot is from the target at the first frame."""
    bpy.context.scene.frame_set(1)
    rig = bpy.data.objects["Rig"]
    return (rig.matrix_world @ rig.pose.bones["foot_def"].head - bpy.data.objects["Target"].matrix_world.translation).length


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    yield from user.picture("limb_on_ik_before_the_bake")
    assert miss() > 0.1
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake(")))
    yield from user.wait(10)
    yield from user.picture("limb_on_ik_after_the_bake")
    assert miss() < 1e-5, "what is seen is not on the target after Switch to FK and Bake"
    assert bpy.data.objects["Rig"].pose.bones["hip"]["FK_IK"] == 0.0
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(10)
    assert bpy.data.objects["Rig"].pose.bones["hip"]["FK_IK"] == 1.0, "one Ctrl-Z does not take the switch back"
    assert bpy.data.objects["Rig"].animation_data.action is None, "one Ctrl-Z does not take the bake back"
    assert miss() > 0.1
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.bake(")))
    yield from user.wait(10)
    assert miss() < 1e-5
    assert "BESIDE_LETTER_PLANE" in kinds()
    yield from user.picture("beside_the_plane")
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.jump_to_frame(")))
    yield from user.wait(10)
    first = next(each for each in report()["statements"] if each["kind"] == "BESIDE_LETTER_PLANE")["ranges"][0][0]
    assert bpy.context.scene.frame_current == int(first)
    bpy.data.objects["Target"].keyframe_insert("location", frame=5)
    yield from user.wait(10)
    yield from user.picture("marked_as_old")


install_zip()
prepare()
play(scenario)
