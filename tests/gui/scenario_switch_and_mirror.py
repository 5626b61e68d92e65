"""A switch to IK says which twist is lost, and how far joints move between keys on every fourth frame.

Then a limb of a character that has walked away from its armature's origin is mirrored: the new target is where its other foot is.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import re
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import ICONS_IN_ROW, install_zip, play
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.rigs.two_legs import legs
from tests.tasks.scenes import key_channel, set_range

LAST = 12
TWISTED = (9, 10)
"""Frames at which the shin is turned about itself, by one radian, 57 degrees."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig = switched_leg(on_ik=0.0, control=True)
    set_range(1, LAST)
    for bone, bend in (("thigh_fk", -0.3), ("shin_fk", 0.6)):
        rig.pose.bones[bone].rotation_mode = "YXZ"
        frames = range(1, LAST + 1)
        turns = {frame: (bend * (1 + frame % 3), float(bone == "shin_fk" and frame in TWISTED), 0.0) for frame in frames}
        key_channel(rig.pose.bones[bone], "rotation_euler", turns)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower = "Leg", "thigh_fk", "shin_fk"
    make_active(rig)
    bpy.ops.ed.undo_push(message="Leg made")


def make_active(rig):
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig


def seen_joints():
    """Where knee and ankle are seen at every frame."""
    places = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        bones = bpy.data.objects["Rig"].pose.bones
        places += [bones[name].head.copy() for name in ("shin_def", "foot_def")]
    bpy.context.scene.frame_set(1)
    return places


def switch(user):
    """What the status bar says after pressing Switch to IK, and what stays in the sidebar."""
    yield from user.click(*(yield from user.find_button("bpy.ops.twobone.switch(")))
    yield from user.wait(20)
    return (yield from user.told())[-1], bpy.data.objects["Rig"].twobone.said


def scenario(user):
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    before = seen_joints()
    for step in (1, 4):
        bpy.data.objects["Rig"].twobone.chains[0].step = step
        bpy.ops.ed.undo_push(message="Step chosen")
        bar, panel = yield from switch(user)
        yield from user.picture(f"switched_with_step_{step}")
        moved = max((now - then).length for now, then in zip(seen_joints(), before, strict=True))
        if step == 1:
            assert moved < 1e-4, f"joints visibly move by {moved}"
            assert "shin_def loses its twist, up to 57 degrees at frame" in bar, bar
        else:
            (told,) = re.findall(r"; joints visibly move by up to ([0-9.]+) cm", bar)
            assert abs(float(told) - 100 * moved) < 1, (bar, moved)
        assert "IK turns no bone about itself" in panel, panel
        yield from user.scroll("UI", "PAGE_DOWN")
        yield from user.picture(f"told_with_step_{step}")
        yield from user.hover("WINDOW")
        yield from user.press("Z", ctrl=True)
        yield from user.wait(10)
        assert not bpy.data.objects["Rig"].twobone.said, "what was said of a switch stays although it is undone"
    yield from mirror(user)


def mirror(user):
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.batch_remove(list(bpy.data.objects))
    rig = legs()
    hip = rig.pose.bones["hip"]
    hip.location = hip.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.4, 0.0))
    target = bpy.data.objects.new("Target.L", None)
    target.location, target.empty_display_size = (1.3, 0.5, 0.2), 0.1
    bpy.context.scene.collection.objects.link(target)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg.L", "thigh.L", "shin.L", target
    make_active(rig)
    bpy.ops.ed.undo_push(message="Legs made")
    yield from user.look_from("FRONT")
    yield from user.wait(10)
    x, y = yield from user.find_button("bpy.ops.twobone.chain_add(", ICONS_IN_ROW)
    yield from user.click(x, y - 52)
    yield from user.wait(5)
    yield from user.picture("mirror_menu")
    yield from user.press("M")
    yield from user.wait(10)
    yield from user.picture("mirrored")
    rig = bpy.data.objects["Rig"]
    middle = (rig.matrix_world @ rig.pose.bones["hip"].head).x
    left, right = (rig.twobone.chains[name].target.matrix_world.translation for name in ("Leg.L", "Leg.R"))
    assert abs((left.x + right.x) / 2 - middle) < 1e-5, "the mirror is not where the character is"


install_zip()
prepare()
play(scenario)
