"""The table of the README, as it stands there: python tests/benchmark/bench_readme.py [--results FILE]

Everything is measured in this run and nothing is multiplied: both sides on the same rig, in the same rotation mode. Decimate and
Clean Keyframes get the largest error with which the ankle still stays as close to its target as with our keys. Times are those
of the clock.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import bench_comparison as leg
import bench_reach as reach
import bpy
from rivals import bake_native, bake_ours, clear_keys, leave_native, prepare_native
from shots import crowded_scene, rigify_walk

from twobone_addon import registration
from twobone_addon.scene.versions import curve_bag

TOLERANCE = 0.0034
"""Metres: what `nla.bake` itself leaves between the frames, so that Decimate has room."""
HALVINGS = 12
TURNS = 3


def main():
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure what the README's table says.")
    parser.add_argument("--results", type=Path, help="file of bench_bake.py, to which the rows are added")
    options = parser.parse_args()
    registration.register()
    rows = []
    for row in (measured for part in (distances, keys, reached, seconds) for measured in part()):
        print(*row, sep=" | ", file=sys.stderr, flush=True)  # as soon as it is known: the whole takes minutes
        rows.append(row)
    print(f"\nBlender {bpy.app.version_string}\n\n| | Two-Bone IK | instead |\n|---|---|---|")
    for what, ours, instead in rows:
        print(f"| {what} | {ours} | {instead} |")
    if options.results:
        results = json.loads(options.results.read_text(encoding="utf-8"))
        options.results.write_text(json.dumps({**results, "readme": rows}, indent=1) + "\n", encoding="utf-8")


def distances():
    """The farthest of the ankle, at whole frames and at the quarters between them."""
    told = {}
    for name, make, bake in (
        ("ours", leg.plain_leg, leg.ours),
        ("native", leg.plain_leg, leg.native),
        ("rigify", leg.rigify_leg, leg.rigify),
        ("ours on rigify", leg.rigify_leg, leg.ours),
    ):
        at, between, *_ = leg.measured(make, bake)
        told[name] = f"{at:.1g} mm, between frames {between:.2g} mm"
    yield "farthest from the target, one leg, 250 frames", told["ours"], f"`nla.bake`: {told['native']}"
    yield "the same on Rigify's leg", told["ours on rigify"], f"*FK->IK*: {told['rigify']}"


def keys():
    """Keys of the leg within the same distance of its target, in both rotation modes."""
    for mode, make in (("Euler, hinges aligned", leg.hinged_leg), ("quaternions", leg.plain_leg)):
        _, _, ours, *_ = leg.measured(make, lambda shot: leg.ours(shot, keys="REDUCE", tolerance=TOLERANCE))
        decimated = fewest(make, lambda error: bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=error))
        cleaned = fewest(make, lambda error: bpy.ops.graph.clean(threshold=error))
        what = f"keys of that leg within {1000 * TOLERANCE:g} mm, {mode}"
        yield what, f"{ours:,}", f"`nla.bake` with Decimate: {decimated:,}; with Clean Keyframes: {cleaned:,}"


def fewest(make, reduce):
    """Keys that an operator leaves of Blender's bake with the ankle within the tolerance, by halving its allowed error."""
    low, high, least = 0.0, 0.5, 0
    for _ in range(HALVINGS):
        error = 0.5 * (low + high)
        at, between, count, *_ = leg.measured(make, lambda shot, error=error: reduced(shot, lambda: reduce(error)))
        is_near = max(at, between) <= 1000.0 * TOLERANCE
        low, high = (error, high) if is_near else (low, error)
        least = count if is_near else least
    return least


def reduced(shot, reduce):
    """Blender's bake and an operator on its keys, which needs a Graph Editor."""
    took = leg.native(shot)
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    before, area.ui_type = area.ui_type, "FCURVES"
    area.spaces[0].dopesheet.show_only_selected = False
    region = next(each for each in area.regions if each.type == "WINDOW")
    for each in curve_bag(bpy.data.objects[shot.limbs[0].target]).fcurves:
        each.select = False
    with bpy.context.temp_override(window=window, area=area, region=region):
        for each in curve_bag(bpy.data.objects[shot.limbs[0].armature]).fcurves:
            each.select = True
            for point in each.keyframe_points:
                point.select_control_point = True
        reduce()
    area.ui_type = before
    return took


def reached():
    """Targets in reach that a straight leg misses."""
    shot, target, frames = reach.make_shot(0.0)
    native, _ = reach.judged(reach.with_native_ik(shot, target, frames))
    shot.pose.bones["lower"].constraints.remove(shot.pose.bones["lower"].constraints[0])
    bpy.ops.twobone.bake(armature="Leg", upper="upper", lower="lower", target="Target", plane="XZ", bend="POSITIVE")
    ours, _ = reach.judged(reach.misses(shot, target, frames))
    yield f"reachable targets missed, of {len(frames):,}, leg straight at rest", ours, f"Blender's IK: {native}"


def seconds():
    """Medians of a verified bake and of Blender's own, in turn, a frame: Blender's own bakes fewer where it takes minutes."""
    for what, build in (
        ("Rigify's human, four limbs, verified, a frame", rigify_walk),
        ("one limb in a scene with 200 animated objects, verified, a frame", crowded_scene),
    ):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        shot, ours, native = build(), [], []
        bpy.context.scene.frame_end = shot.frames
        for _ in range(TURNS):
            prepare_native(shot)
            native.append(leg.timed(lambda shot=shot: bake_native(shot)))
            leave_native(shot)
            clear_keys(shot)
            ours.append(leg.timed(lambda shot=shot: bake_ours(shot, verify=True)))
            clear_keys(shot)
        frames = shot.native_frames or shot.frames
        per_frame = (1000.0 * statistics.median(ours) / shot.frames, 1000.0 * statistics.median(native) / frames)
        few = f", {frames} frames" if frames < shot.frames else ""
        ours, native = (f"{float(f'{each:.2g}'):g} ms" for each in per_frame)  # 650 ms, and not 6.5e+02 ms.
        yield what, ours, f"`nla.bake`{few}: {native}"


if __name__ == "__main__":
    main()
