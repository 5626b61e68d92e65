"""The table of the README, as it stands there: python tests/benchmark/bench_readme.py [--results FILE]

Everything is measured in this run and nothing is multiplied: both sides on the same rig, in the same rotation mode. Decimate and
Clean Keyframes get the largest error with which the ankle still stays as close to its target as with our keys. Times are those of
bench_bake.py, on the clock, so that README and docs/measurements.md say the same: of FILE, or of a run of it where none is named.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import bench_comparison as leg
import bench_reach as reach
import bpy

from twobone_addon import registration
from twobone_addon.scene.versions import curve_bag

TOLERANCE = 0.0034
"""Metres: what `nla.bake` itself leaves between the frames, so that Decimate has room."""
HALVINGS = 12

TIMED = {
    "Rigify walk": "Rigify's human, four limbs, verified, a frame",
    "crowded scene": "one limb in a scene with 200 animated objects, verified, a frame",
}
"""Shots of bench_bake.py, and how the README names them."""


def main():
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description="Measure what the README's table says.")
    parser.add_argument("--results", type=Path, help="file of bench_bake.py, to which the rows are added")
    options = parser.parse_args()
    results = json.loads(options.results.read_text(encoding="utf-8")) if options.results else measured_shots()
    registration.register()
    rows = []
    for row in itertools.chain(distances(), keys(), reached(), seconds(results["shots"])):
        print(*row, sep=" | ", file=sys.stderr, flush=True)  # as soon as it is known: the whole takes minutes
        rows.append(row)
    print(f"\nBlender {bpy.app.version_string}\n\n| | Two-Bone IK | instead |\n|---|---|---|")
    for what, ours, instead in rows:
        print(f"| {what} | {ours} | {instead} |")
    if options.results:
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


def measured_shots():
    """What bench_bake.py finds of the two shots, in a process of its own, where no handlers of ours are registered."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.json"
        bench = Path(__file__).with_name("bench_bake.py")
        subprocess.run([sys.executable, bench, "--shot", *TIMED, "--results", results], check=True, stdout=sys.stderr)
        return json.loads(results.read_text(encoding="utf-8"))


def seconds(shots):
    """Medians of a verified bake and of Blender's own, a frame: Blender's own bakes fewer where it takes minutes."""
    found = {shot["shot"]: shot for shot in shots}
    for name, what in TIMED.items():
        shot = found[name]
        per_frame = (shot[way][0] / shot["frames"] for way in ("proven", "native"))
        ours, native = (f"{float(f'{each:.2g}'):g} ms" for each in per_frame)  # 650 ms, and not 6.5e+02 ms.
        few = f", {shot['native_frames']} frames" if shot["native_frames"] < shot["frames"] else ""
        yield what, ours, f"`nla.bake`{few}: {native}"


if __name__ == "__main__":
    main()
