"""How a window feels on Rigify's walk: from the call of Bake All to the redraw after it, and playback with Live and without.

Run: blender --factory-startup --python tests/benchmark/window.py     (a Blender with a window; it closes itself)

Prints seconds and frames per second; nothing is asserted, for time depends on the machine.
"""

import statistics
import sys
import time
import traceback
from pathlib import Path

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from rivals import clear_keys
from shots import rigify_walk

from twobone_addon import registration

FRAMES = 250
BAKES = 3
PLAYED = 6.0
"""Seconds of playback that are counted."""
SETTLING = 2.0
"""Seconds before."""
PAUSE = 0.05


def measure():
    """What is measured, a step after the other."""
    registration.register()
    bpy.context.preferences.view.show_splash = False
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    shot = rigify_walk(FRAMES)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.sync_mode = 1, FRAMES, "NONE"
    scene.render.fps = 240
    rig = bpy.data.objects[shot.limbs[0].armature]
    for limb in shot.limbs:
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = limb.upper, limb.upper, limb.lower
        chain.target, chain.plane = bpy.data.objects[limb.target], "POSE"
    drawn = []
    bpy.types.SpaceView3D.draw_handler_add(lambda: drawn.append(time.perf_counter()), (), "WINDOW", "POST_PIXEL")
    yield SETTLING
    found = []
    for _ in range(BAKES):
        clear_keys(shot)
        yield 1.0
        found.append((yield from bake(drawn)))
    print(f"Blender {bpy.app.version_string}")
    for what, seconds in zip(("the result", "the redraw after it"), zip(*found, strict=True), strict=True):
        print(f"from Bake All to {what}: {statistics.median(seconds):.2f} s")
    clear_keys(shot)
    print(f"playback: {(yield from playback()):.1f} frames per second")
    with bpy.context.temp_override(**view()):
        bpy.ops.twobone.live("INVOKE_DEFAULT")
    yield 1.0
    print(f"playback with Live: {(yield from playback()):.1f} frames per second")


def bake(drawn):
    """Seconds from the call to the result, and to the first redraw after it."""
    manager = bpy.context.window_manager
    manager.twobone_report = ""
    start = time.perf_counter()
    with bpy.context.temp_override(**view()):
        bpy.ops.twobone.bake_all("INVOKE_DEFAULT")
    while not manager.twobone_report:
        yield 0.001
    done = time.perf_counter()
    while not drawn or drawn[-1] < done:
        yield 0.001
    return done - start, next(moment for moment in drawn if moment >= done) - start


def playback():
    """Frames in a second of playback."""
    played = []
    count = lambda *_: played.append(time.perf_counter())  # noqa: E731 - Blender's list of handlers keeps it
    bpy.app.handlers.frame_change_post.append(count)
    with bpy.context.temp_override(**view()):
        bpy.ops.screen.animation_play()
    yield SETTLING + PLAYED
    with bpy.context.temp_override(**view()):
        bpy.ops.screen.animation_cancel()
    bpy.app.handlers.frame_change_post.remove(count)
    counted = [moment for moment in played if moment > played[-1] - PLAYED]
    return (len(counted) - 1) / (counted[-1] - counted[0])


def view():
    """The window's viewport."""
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return {"window": window, "screen": window.screen, "area": area, "region": region}


def main():
    """Take the steps from a timer, so that the window lives in between."""
    steps = measure()

    def call():
        try:
            return next(steps)
        except StopIteration:
            sys.stdout.flush()
            sys.exit(0)
        except BaseException:  # noqa: BLE001 - a timer swallows what it raises, and Blender would wait for ever
            traceback.print_exc()
            sys.exit(1)

    bpy.app.timers.register(call, first_interval=2.0, persistent=True)


main()
