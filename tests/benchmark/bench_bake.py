"""Our bake against Blender's own bake of its own IK: same shot, same run, turn by turn.

Run: python tests/benchmark/bench_bake.py [--shot NAME ...] [--pairs N] [--table FILE]

Prints a table of medians, and of our own stages. Nothing is asserted, for time depends on the machine; ratios of two
things measured in one run depend on it little.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np
from rivals import bake_native, bake_ours, clear_keys, clear_native, prepare_native
from shots import SHOTS, build

PAIRS = 5
SLOW_PAIRS = 2
SLOW = ("two bones, long", "crowded scene")
"""Shots that take Blender's own bake minutes."""

STAGES = ("read", "sample", "solve", "write", "verify")
KILOBYTES_PER_MEGABYTE = 1024


def main():
    """Measure what the command line asks for."""
    options = parse()
    if options.memory:
        print(peak_memory(options.memory))
        return
    lines = []
    for name in options.shot:
        lines.append(measure_shot(name, options.pairs or (SLOW_PAIRS if name in SLOW else PAIRS)))
        print(*lines[-1].values(), sep=" | ", flush=True)
    table = markdown(lines)
    print(f"\nBlender {bpy.app.version_string}, medians in milliseconds\n\n{table}")
    if options.table:
        options.table.write_text(table, encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shot", nargs="+", choices=SHOTS, default=list(SHOTS))
    parser.add_argument("--pairs", type=int, help=f"turns of each, {PAIRS} unless told, {SLOW_PAIRS} for the slow shots")
    parser.add_argument("--table", type=Path, help="file for the table")
    parser.add_argument("--memory", choices=SHOTS, help=argparse.SUPPRESS)
    return parser.parse_args()


def measure_shot(name, pairs):
    """One line of the table."""
    shot = build(name)
    bake_ours(shot, verify=True)  # Warms up; not measured.
    clear_keys(shot)
    native, proven, quick, writing, stages, results = [], [], [], [], [], []
    for _ in range(pairs):
        prepare_native(shot)
        native.append(timed(lambda: bake_native(shot)))
        clear_native(shot)
        proven.append(timed(lambda: bake_ours(shot, verify=True), results))
        stages.append(results[-1].seconds)
        clear_keys(shot)
        quick.append(timed(lambda: bake_ours(shot, verify=False)))
        writing.append(timed(writer(shot)))
        clear_keys(shot)
    middle = {key: 1000 * statistics.median(values) for key, values in (("n", native), ("p", proven), ("q", quick))}
    pure = 1000 * statistics.median(writing)
    return {
        "shot": name,
        "nla.bake": f"{middle['n']:.1f}",
        "ours": f"{middle['p']:.1f}",
        "not verified": f"{middle['q']:.1f}",
        "ratio": f"{middle['n'] / middle['p']:.1f}",
        "ratio, not verified": f"{middle['n'] / middle['q']:.1f}",
        "writing alone": f"{pure:.2f}",
        "not verified / writing": f"{middle['q'] / pure:.1f}",
        "stages": ", ".join(f"{stage} {1000 * statistics.median(run[stage] for run in stages):.1f}" for stage in STAGES),
        "evaluation": str(results[-1].evaluation)[:60],
        "peak memory, MB": memory_of(name),
    }


def timed(call, results=None):
    """Seconds that a call takes; what it returns is added to `results`."""
    start = time.perf_counter()
    result = call()
    seconds = time.perf_counter() - start
    if results is not None:
        results.append(result)
    return seconds


def writer(shot):
    """What writes the keys that are there once more, into their own ready curves, and nothing else."""
    held = []
    for name in {limb.armature for limb in shot.limbs}:
        for fcurve in curves_of(bpy.data.objects[name]):
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


def curves_of(thing):
    action = thing.animation_data.action
    if not hasattr(action, "layers"):
        return action.fcurves
    return action.layers[0].strips[0].channelbag(thing.animation_data.action_slot).fcurves


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
    """The lines as a table."""
    header = list(lines[0])
    rows = [header, ["---"] * len(header), *(list(line.values()) for line in lines)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


if __name__ == "__main__":
    main()
    # Some versions of Blender crash or hang when Python ends after Rigify was used.
    sys.stdout.flush()
    os._exit(0)
