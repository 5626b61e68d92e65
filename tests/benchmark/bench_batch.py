"""What a batch takes beside its shots: many small ones, in few Blenders and in one Blender each; and very many only listed.

Run: python tests/benchmark/bench_batch.py [--shots 100] [--listed 20000]

Prints seconds on the clock and of CPU, those of all Blenders together, and what one Blender takes that does nothing but start;
nothing is asserted, for time depends on the machine.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bpy
from shots import two_bones

ROOT = Path(__file__).resolve().parents[2]
FRAMES = 24
TWOBONE = [sys.executable, "-m", "twobone_addon"]


def main():
    """Make the shots, and measure each case once."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shots", type=int, default=100, help="shots that are baked")
    parser.add_argument("--listed", type=int, default=20_000, help="shots that are only listed")
    parser.add_argument("--cores", type=int, default=2, help="Blenders at a time")
    options = parser.parse_args()
    beyond = f"beyond: beyond the start of the batch's own Blender and of {options.cores} that bake"
    print(f"Blender {bpy.app.version_string}, seconds of CPU (on the clock); {beyond}")
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(Path(folder), options.shots)
        start, clock = measure("schema", "job")
        print(f"one Blender that starts and ends: {start:.1f} ({clock:.1f})", flush=True)
        for per_blender in (100, 1):
            words = ["--jobs", str(options.cores), "--shots-per-blender", str(per_blender), "--replace", "--quiet"]
            spent, clock = measure("batch", str(job), *words)
            beyond = spent - (1 + options.cores) * start
            print(f"{options.shots} shots, {per_blender} a Blender: {spent:.1f} ({clock:.1f}), {beyond:.1f} beyond", flush=True)
        job = make_job(Path(folder) / "many", options.listed, is_whole=False)
        spent, clock = measure("batch", str(job), "--list", "--quiet")
        print(f"{options.listed} shots listed: {spent:.1f} ({clock:.1f}), {spent - start:.1f} beyond the start", flush=True)


def make_job(folder, count, *, is_whole=True):
    """A job with so many shots of one limb, or with files that are only called like shots."""
    (folder / "shots").mkdir(parents=True)
    first = folder / "shots" / "00000.blend"
    first.touch()
    asked = {"stored": True}
    if is_whole:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        asked = vars(two_bones(FRAMES).limbs[0])
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
        bpy.ops.wm.save_as_mainfile(filepath=str(first), check_existing=False)
    for number in range(1, count):
        shutil.copy(first, folder / "shots" / f"{number:05}.blend")
    job = folder / "job.json"
    job.write_text(json.dumps({"shots": ["shots/*.blend"], "output": "baked/{shot}.blend", **asked}), encoding="utf-8")
    return job


def measure(*words):
    """Seconds of CPU that the command and all that it starts take, and on the clock; raises where it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*TWOBONE, *words], check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
