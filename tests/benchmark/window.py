"""How a window feels on Rigify's walk: from Bake All to the redraw after it, playback and dragging with Live and without.

Run: blender --factory-startup --enable-event-simulate --python tests/benchmark/window.py   (it opens a window, and closes it)

Prints what evaluation takes, Blender's and ours, beside what one waits: drawing is most of that where a processor draws.
Nothing is asserted, for time depends on the machine.
"""

import json
import os
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
from twobone_addon.interface.stored.live_limbs import is_live

FRAMES = 250
BAKES = 3
PLAYED = 6.0
"""Seconds of playback that are counted."""
SETTLING = 2.0
"""Seconds before."""
MILLISECONDS = 1000
MOVES = 40
"""Moves of the mouse with each thing that is dragged, of which the first ones do not count."""
FIRST_MOVES = 5
WAITED = ("the bake's own stages", "from Bake All to the result", "from Bake All to the end of the redraw after it")


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
    with bpy.context.temp_override(**view()):
        bpy.context.view_layer.objects.active = rig
    drawn = []
    bpy.types.SpaceView3D.draw_handler_add(lambda: drawn.append(time.perf_counter()), (), "WINDOW", "POST_PIXEL")
    yield SETTLING
    found = []
    for _ in range(BAKES):
        clear_keys(shot)
        yield 1.0
        found.append((yield from bake(drawn)))
    print(f"Blender {bpy.app.version_string}")
    for what, seconds in zip(WAITED, zip(*found, strict=True), strict=True):
        print(f"{what}: {statistics.median(seconds):.3f} s")
    clear_keys(shot)
    targets = [bpy.data.objects[limb.target] for limb in shot.limbs]
    yield from played("playback")
    motion = [target.animation_data.action for target in targets]
    for target in targets:
        target.animation_data_clear()
    yield from dragged("dragging a target, nothing live", rig, targets[0])
    switch = rig.pose.bones["thigh_parent.R"]
    switch["IK_FK"] = 0.0
    yield from dragged("dragging Rigify's own IK foot", rig, targets[0], bone="foot_ik.R")
    switch["IK_FK"] = 1.0
    with bpy.context.temp_override(**view()):
        if bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.context.view_layer.objects.active = rig
        for number in range(len(shot.limbs)):
            rig.twobone.active_index = number
            bpy.ops.twobone.live("INVOKE_DEFAULT", state="ON")
    yield 1.0
    live = f"Live on {sum(map(is_live, rig.twobone.chains))} limbs"
    yield from dragged(f"dragging a target, {live}", rig, targets[0])
    for target, action in zip(targets, motion, strict=True):
        target.animation_data_create().action = action
    yield 1.0
    yield from played(f"playback with {live}")


def bake(drawn):
    """Seconds of the bake's own stages, from the call to the result, and to the end of the first redraw after it."""
    manager = bpy.context.window_manager
    manager.twobone_report = ""
    start = time.perf_counter()
    with bpy.context.temp_override(**view()):
        bpy.ops.twobone.bake_all("INVOKE_DEFAULT")
    while not manager.twobone_report:
        yield 0.001
    done = time.perf_counter()
    view()["area"].tag_redraw()
    while not drawn or drawn[-1] < done:
        yield 0.001
    stages = sum(json.loads(manager.twobone_report)["seconds"].values())
    return stages, done - start, next(moment for moment in drawn if moment >= done) - start


def played(what):
    """Print frames in a second of playback, and in a second of nothing but evaluation."""
    clock, frames = Clock(), []
    clock.listen(lambda: frames.append((time.perf_counter(), clock.busy)))
    with bpy.context.temp_override(**view()):
        bpy.ops.screen.animation_play()
    yield SETTLING + PLAYED
    with bpy.context.temp_override(**view()):
        bpy.ops.screen.animation_cancel(restore_frame=False)
    clock.stop()
    counted = [each for each in frames if each[0] > frames[-1][0] - PLAYED]
    (seconds, busy), count = (counted[-1][at] - counted[0][at] for at in (0, 1)), len(counted) - 1
    print(
        f"{what}: {count / seconds:.1f} frames per second; of {MILLISECONDS * seconds / count:.1f} ms for each "
        f"{MILLISECONDS * busy / count:.1f} are evaluation, without drawing"
    )


def dragged(what, rig, target, bone=""):
    """Print what a move of the mouse takes that drags an object or a bone, until it is drawn."""
    found, drawn = [], []
    handle = bpy.types.SpaceView3D.draw_handler_add(lambda: drawn.append(time.perf_counter()), (), "WINDOW", "POST_PIXEL")
    begin_dragging(rig, target, bone)
    place = view()
    window, region = place["window"], place["region"]
    x, y = region.x + region.width // 2, region.y + region.height // 2
    yield 0.5
    window.event_simulate("MOUSEMOVE", "NOTHING", x=x, y=y)
    yield 0.5
    for key in ("ESC", "G"):  # Blender's splash screen is still there.
        for value in ("PRESS", "RELEASE"):
            window.event_simulate(key, value, x=x, y=y)
            yield 0.5
    before = tuple(dragged_thing(rig, target, bone).location)
    for number in range(MOVES):
        start = time.perf_counter()
        window.event_simulate("MOUSEMOVE", "NOTHING", x=x + 2 * (number % 10), y=y + number % 7)
        while not drawn or drawn[-1] < start:
            yield 0.001
        found.append(next(moment for moment in drawn if moment >= start) - start)
        yield 0.02
    moved = before != tuple(dragged_thing(rig, target, bone).location)
    for value in ("PRESS", "RELEASE"):
        window.event_simulate("ESC", value, x=x, y=y)
        yield 0.5
    bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    assert moved, what
    print(f"{what}: {MILLISECONDS * statistics.median(found[FIRST_MOVES:]):.1f} ms for each move, drawn", flush=True)


def begin_dragging(rig, target, bone):
    """Select what is dragged, in the mode for it."""
    with bpy.context.temp_override(**view()):
        if bpy.context.object is not None and bpy.context.object.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        bpy.ops.object.select_all(action="DESELECT")
        active = rig if bone else target
        active.select_set(state=True)
        bpy.context.view_layer.objects.active = active
        if bone:
            bpy.ops.object.mode_set(mode="POSE")
            bpy.ops.pose.select_all(action="DESELECT")
            chosen = rig.pose.bones[bone]
            (chosen if hasattr(chosen, "select") else chosen.bone).select = True
            rig.data.bones.active = rig.data.bones[bone]


def dragged_thing(rig, target, bone):
    return rig.pose.bones[bone] if bone else target


class Clock:
    """Seconds that Blender and whoever listens to it spend on changing frames and on updating what has changed."""

    def __init__(self):
        self.busy = 0.0
        self._since = 0.0
        self._begun = 0
        self._handlers = []

    def listen(self, after_frame):
        """Be the first that is told of a beginning, and the last that is told of an end."""
        handlers = bpy.app.handlers
        self._add(handlers.frame_change_pre, 0, self._begin)
        self._add(handlers.depsgraph_update_pre, 0, self._begin)
        self._add(handlers.frame_change_post, None, self._end)
        self._add(handlers.frame_change_post, None, after_frame)
        self._add(handlers.depsgraph_update_post, None, self._end)

    def stop(self):
        """Listen no more."""
        for functions, own in self._handlers:
            functions.remove(own)

    def _add(self, functions, place, call):
        own = lambda *_: call()  # noqa: E731 - Blender's list of handlers keeps it
        functions.insert(len(functions) if place is None else place, own)
        self._handlers.append((functions, own))

    def _begin(self):
        if not self._begun:
            self._since = time.perf_counter()
        self._begun += 1

    def _end(self):
        self._begun -= 1  # A handler may update what it has changed: one within the other counts once.
        if not self._begun:
            self.busy += time.perf_counter() - self._since


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
            os._exit(0)  # Python, ended from a timer, would take from Blender what that still has.
        except BaseException:  # noqa: BLE001 - a timer swallows what it raises, and Blender would wait for ever
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    bpy.app.timers.register(call, first_interval=2.0, persistent=True)


main()
