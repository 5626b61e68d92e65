"""The overlay in a real viewport: it appears, follows the viewport's overlay switch, and costs little.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

MODULE = "bl_ext.user_default.twobone.twobone_addon.interface"
FRAMES = 1000


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    bpy.context.scene.frame_end = FRAMES
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend = "XZ", "POSITIVE"
    bpy.ops.object.mode_set(mode="POSE")


def scenario(user):
    data = sys.modules[f"{MODULE}.overlay_data"]
    drawing = sys.modules[f"{MODULE}.overlay_drawing"]
    yield from user.look_from("FRONT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(40)
    assert data.shown.path is not None, "the paths did not appear by themselves"
    assert len(data.shown.path.frames) == FRAMES
    assert len(drawing.drawn.batches) == 2
    yield from user.picture("overlay")

    version = data.shown.version
    yield from user.wait(60)
    assert data.shown.version == version, "the overlay makes itself anew without a reason"
    yield from cheap(user, drawing)

    bpy.context.scene.frame_set(12)
    yield from user.wait(10)
    assert data.shown.version > version, "another frame does not change the overlay"
    yield from user.picture("overlay_frame_12")

    target = bpy.data.objects["Target"]
    path = data.shown.path
    target.keyframe_insert("location", frame=30)
    yield from user.wait(60)
    assert data.shown.path is not path, "a new key does not change the paths"

    user.area().spaces.active.overlay.show_overlays = False
    user.area().tag_redraw()
    yield from user.wait(10)
    yield from user.picture("overlay_off")


def cheap(user, drawing):
    """A redraw that changes nothing may take a millisecond; the software renderer's own work is not counted."""
    times, draw = [], drawing._draw_batches
    drawing._draw_batches = lambda *_, **__: None
    with bpy.context.temp_override(window=user.window, area=user.area(), region=user.region("WINDOW")):
        for _ in range(50):
            start = time.perf_counter()
            drawing.draw()
            times.append(time.perf_counter() - start)
    drawing._draw_batches = draw
    print(f"a redraw prepares in {1000 * sorted(times)[25]:.3f} ms")
    yield


install_zip()
prepare()
play(scenario)
