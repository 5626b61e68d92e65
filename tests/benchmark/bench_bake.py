"""Our bake against Blender's own bake of its own IK: same shot, same run, turn by turn.

Run: python tests/benchmark/bench_bake.py [--shot NAME ...] [--pairs N] [--results FILE]

Prints a table of medians, and of our own stages. Nothing is asserted, for time depends on the machine; ratios of two
things measured in one run depend on it little. The clock counts, for that is what one waits; time of the processor is
taken besides. Both sides are warmed up, which is not measured, and take turns. `nla.bake` gets only the bones it needs,
rotations only, and is left with the add-on's handlers unregistered; how far its tips end from their targets is measured
like ours. `tools/make_speed_page.py` makes the page about speed from the results of several Blenders.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from rivals import bake_native, bake_ours, bake_rigify, clear_keys, leave_native, prepare_native, prepare_rigify, tip_error
from shots import SHOTS, build

from twobone_addon.interface.stored import properties
from twobone_addon.scene.versions import curve_bag

PAIRS = {"two bones": 9, "Rigify walk": 3, "hundred characters": 3}
"""Turns of each side, after one that does not count."""
SLOW_PAIRS = 2
SLOW = ("two bones, long", "Rigify walk, long", "crowded scene", "thousand characters")
"""Shots that take minutes; there only our unverified bake has a turn for warming up."""

STAGES = ("read", "sample", "solve", "write", "verify", "report")
KILOBYTES_PER_MEGABYTE = 1024


def main():
    """Measure what the command line asks for."""
    options = parse()
    properties.register()  # What a chain stores on its armature; no handlers, which would be called in both bakes.
    if options.memory:
        print(peak_memory(options.memory))
        return
    results = {"blender": bpy.app.version_string, "shots": []}
    for name in options.shot:
        pairs = options.pairs or PAIRS.get(name, SLOW_PAIRS)
        results["shots"].append(measure_shot(name, pairs, rigify=options.rigify))
        print(results["shots"][-1], flush=True)
        if options.results:
            options.results.parent.mkdir(parents=True, exist_ok=True)
            options.results.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"\nBlender {bpy.app.version_string}, medians in milliseconds\n\n{markdown(results['shots'])}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shot", nargs="+", choices=SHOTS, default=list(SHOTS))
    parser.add_argument("--pairs", type=int, help="turns of each, by default fewer for shots that take longer")
    parser.add_argument("--results", type=Path, help="file for the numbers, JSON")
    parser.add_argument("--rigify", action="store_true", help="time Rigify's own bake as well, once: it takes minutes")
    parser.add_argument("--memory", choices=SHOTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def measure_shot(name, pairs, *, rigify):
    """All numbers of one shot: medians of `[clock, processor]` in milliseconds, ratios, memory."""
    shot = build(name)
    runs = {"native": [], "proven": [], "quick": [], "writing": []}
    stages, results, errors = [], [], {}
    if name in SLOW:
        bake_ours(shot, verify=False)
        clear_keys(shot)
    for _ in range(pairs if name in SLOW else pairs + 1):
        prepare_native(shot)
        runs["native"].append(timed(lambda: bake_native(shot), times=shot.frames / (shot.native_frames or shot.frames)))
        leave_native(shot)
        errors["native_error"] = tip_error(shot)
        clear_keys(shot)
        runs["proven"].append(timed(lambda: bake_ours(shot, verify=True), results))
        stages.append(results[-1].seconds)
        errors["error"] = tip_error(shot)
        clear_keys(shot)
        runs["quick"].append(timed(lambda: bake_ours(shot, verify=False)))
        runs["writing"].append(timed(writer(shot)))
        clear_keys(shot)
    counted = {key: values[-pairs:] for key, values in runs.items()}
    found = {key: [1000 * statistics.median(column) for column in zip(*values, strict=True)] for key, values in counted.items()}
    if rigify and name == "Rigify walk":
        prepare_rigify(shot)
        found["rigify"] = [1000 * seconds for seconds in timed(lambda: bake_rigify(shot))]
    return {
        "shot": name,
        "frames": shot.frames,
        "chains": len(shot.limbs),
        "native_frames": shot.native_frames or shot.frames,
        "pairs": pairs,
        **found,
        **errors,
        "stages": {stage: 1000 * statistics.median(run[stage] for run in stages[-pairs:]) for stage in STAGES},
        "memory": int(memory_of(name)),
    }


def timed(call, results=None, *, times=1.0):
    """Seconds that a call takes, on the clock and of the processor, `times` as much; its result is added to `results`."""
    clock, processor = time.perf_counter(), time.process_time()
    result = call()
    seconds = times * (time.perf_counter() - clock), times * (time.process_time() - processor)
    if results is not None:
        results.append(result)
    return seconds


def writer(shot):
    """What writes the keys that are there once more, into their own ready curves, and nothing else."""
    held = []
    for name in {limb.armature for limb in shot.limbs}:
        for fcurve in curve_bag(bpy.data.objects[name]).fcurves:
            points = fcurve.keyframe_points
            values = {}
            for attribute, width, kind in (("co", 2, np.float32), ("interpolation", 1, np.int32), ("type", 1, np.int32)):
                values[attribute] = np.empty(width * len(points), dtype=kind)
                points.foreach_get(attribute, values[attribute])
            held.append((fcurve, values))

    def write():
        for fcurve, values in held:
            for attribute, flat in values.items():
                fcurve.keyframe_points.foreach_set(attribute, flat)
            fcurve.update()

    return write


def memory_of(name):
    """Peak of our bake above its start, in a process of its own."""
    command = [sys.executable, __file__, "--memory", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return next(line for line in reversed(done.stdout.splitlines()) if line.strip().lstrip("-").isdigit())


def peak_memory(name):
    shot = build(name)
    start = most_memory()
    bake_ours(shot, verify=True)
    return (most_memory() - start) // KILOBYTES_PER_MEGABYTE


def most_memory():
    """Peak of this process so far, in kilobytes. Linux hands a parent's peak on to its child, except in this file."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def markdown(lines):
    """The lines as a table; ratios on the clock, in brackets those of the processor."""
    rows = [["shot", "nla.bake", "ours", "not verified", "ratio", "ratio, not verified", "writing", "not verified / writing"]]
    for line in lines:
        native, proven, quick, writing = (line[key] for key in ("native", "proven", "quick", "writing"))
        times = [f"{value[0]:.1f}" for value in (native, proven, quick)]
        row = [line["shot"], *times, both(native, proven), both(native, quick), f"{writing[0]:.2f}", both(quick, writing)]
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])) + "\n"


def both(above, below):
    return f"{above[0] / below[0]:.1f} ({above[1] / below[1]:.1f})"


if __name__ == "__main__":
    main()
    # Some versions of Blender crash or hang when Python ends after Rigify was used.
    sys.stdout.flush()
    os._exit(0)
