"""What a redraw of the overlay costs before anything goes to the graphics card, with paths over a thousand frames.

Run: python tests/benchmark/bench_overlay.py

Prints medians in milliseconds; nothing is asserted, for time depends on the machine.
"""

import statistics
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.leg_scene import leg_with_target
from twobone_addon import registration
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.overlay import drawing as overlay_drawing

FRAMES = 1000
TURNS = 200
SWITCHES = (True, True, True)
MILLISECONDS = 1000


def main():
    """Measure a redraw where nothing has changed, one at another frame, and paths made anew."""
    registration.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig, target = leg_with_target()
    bpy.context.scene.frame_end = FRAMES
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane = "upper", "lower", target, "XZ"
    overlay_data.update(bpy.context, rig)
    print(f"Blender {bpy.app.version_string}, {len(overlay_data.shown.path.frames)} frames, medians in milliseconds")
    print(f"nothing has changed: {median(lambda _: redraw(rig)):.3f}")
    print(f"at another frame: {median(lambda _: redraw(rig), before=bpy.context.scene.frame_set):.3f}")
    chain.target.animation_data_clear()
    overlay_data.paths.doubt()
    print(f"while the target is moved: {median(lambda _: redraw(rig), before=lambda turn: move(target, turn)):.3f}")
    print(f"paths made anew, while the user pauses: {median(lambda _: remake(rig)):.3f}")
    registration.unregister()


def redraw(rig):
    """All that `overlay_drawing.draw` does but for the graphics card."""
    version = overlay_data.shown.picture_version
    shown = overlay_data.update(bpy.context, rig)
    palette = overlay_drawing.theme_palette(bpy.context.preferences.themes[0], rig.twobone.chains[0].plane)
    if shown.picture_version != version:
        overlay_drawing.chain_lines(shown, SWITCHES, palette)


def move(target, turn):
    """A step of a move by hand."""
    target.location.x = 1.0 - turn / TURNS
    bpy.context.view_layer.update()


def remake(rig):
    """The walk over time."""
    overlay_data.paths.doubt()
    overlay_data.update(bpy.context, rig)


def median(work, before=lambda _: None):
    """Milliseconds of one turn."""
    times = []
    for turn in range(1, TURNS + 1):
        before(turn)
        start = time.perf_counter()
        work(turn)
        times.append(MILLISECONDS * (time.perf_counter() - start))
    return statistics.median(times)


if __name__ == "__main__":
    main()
