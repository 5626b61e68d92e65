"""What a bake takes for each chain, of ten chains and of thousands: two legs of each character, a hundred frames.

Run: python tests/benchmark/bench_crowd.py [--counts N ...]

Prints milliseconds on the clock for each chain, all stages of a verified bake, and a bake that is not verified; nothing is
asserted, for time depends on the machine. Ten thousand chains take minutes.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

import bpy
from rivals import bake_ours, clear_keys
from shots import hundred_characters

from twobone_addon.interface.stored import properties

COUNTS = (10, 100, 1000)
FRAMES = 100
MILLISECONDS = 1000


def main():
    """Measure each count in turn, the first time after a turn that does not count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS, help="chains")
    parser.add_argument("--results", type=Path, help="file of bench_bake.py, to which the numbers are added")
    options = parser.parse_args()
    properties.register()
    print(f"Blender {bpy.app.version_string}, milliseconds for each chain")
    measure(options.counts[0])
    lines = []
    for count in options.counts:
        verified, quick, stages = measure(count)
        found = ", ".join(f"{name} {MILLISECONDS * seconds / count:.2f}" for name, seconds in stages.items())
        print(f"{count} chains: verified {verified:.2f}, not verified {quick:.2f}; {found}", flush=True)
        lines.append({"chains": count, "verified": verified, "quick": quick})
        if options.results:
            keep(options.results, lines)


def keep(path, lines):
    """Put what was measured so far beside what is in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"blender": bpy.app.version_string, "shots": []}
    path.write_text(json.dumps({**results, "many": lines}, indent=1) + "\n", encoding="utf-8")


def measure(count):
    """Of so many chains: both times for each chain in milliseconds, and the stages of the verified bake in seconds."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shot = hundred_characters(FRAMES, count // 2)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    found = []
    for verify in (True, False):
        start = time.perf_counter()
        report = bake_ours(shot, verify=verify)
        found.append((MILLISECONDS * (time.perf_counter() - start) / count, report.seconds))
        clear_keys(shot)
    return found[0][0], found[1][0], found[0][1]


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
