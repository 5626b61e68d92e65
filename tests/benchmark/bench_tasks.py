"""Tasks beside what people do without them: Plant Feet, Audit, and a batch of small shots.

Run: python tests/benchmark/bench_tasks.py [--results FILE]

A character of eleven bones walks for a thousand frames, its feet sliding. Beside Plant Feet, verified, stands `nla.bake` of its
bones, which follows where feet are held by constraints. Beside Audit stands going through the frames once,
as one does to look. Beside a batch stands a Blender for each shot. Both sides take turns; medians of time on the clock, of the
batch seconds of CPU. Nothing is asserted, for time depends on the machine.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import bpy
from bench_batch import make_job, measure

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon import registration

FRAMES, TURNS, SHOTS, CORES = 1000, 5, 100, 2
SECOND = 1000


def main():
    """Measure all three, and keep the numbers if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, help="file of bench_bake.py, to which the numbers are added")
    options = parser.parse_args()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    armature, _ = build_walker(Walk(frames=FRAMES, rate=60.0, slide=0.03))
    walk = armature.animation_data.action
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, FRAMES
    with contextlib.redirect_stdout(None):
        bpy.ops.twobone.find_limbs(armature=armature.name)
    lines = [
        {"task": "plant", **in_turn(lambda: plant(armature, walk), lambda: bake(armature, walk))},
        {"task": "audit", **in_turn(lambda: audit(armature, walk), lambda: look(armature, walk))},
        {"task": "batch", **small_shots()},
    ]
    for line in lines:
        print(f"{line['task']}: {line['ours']:.0f} ms, without {line['other']:.0f} ms", flush=True)
    if options.results:
        results = json.loads(options.results.read_text(encoding="utf-8"))
        options.results.write_text(json.dumps({**results, "tasks": lines}, indent=1) + "\n", encoding="utf-8")


def in_turn(ours, other):
    """Milliseconds of both, after a turn that does not count."""
    first, second = zip(*[(ours(), other()) for _ in range(TURNS + 1)][1:], strict=True)
    return {"ours": SECOND * statistics.median(first), "other": SECOND * statistics.median(second)}


def timed(armature, walk, call):
    """Seconds that a call takes on the walk, of which it gets a copy."""
    armature.animation_data.action = walk.copy()
    bpy.context.view_layer.objects.active = armature
    with contextlib.redirect_stdout(None):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def plant(armature, walk):
    return timed(armature, walk, lambda: bpy.ops.twobone.plant(armature=armature.name))


def bake(armature, walk):
    bpy.ops.object.mode_set(mode="POSE")
    seconds = timed(armature, walk, bake_pose)
    bpy.ops.object.mode_set(mode="OBJECT")
    return seconds


def bake_pose():
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.nla.bake(
        frame_start=1, frame_end=FRAMES, only_selected=True, visual_keying=True, use_current_action=True, bake_types={"POSE"}
    )


def audit(armature, walk):
    return timed(armature, walk, lambda: bpy.ops.twobone.audit(armature=armature.name))


def look(armature, walk):
    return timed(armature, walk, lambda: [bpy.context.scene.frame_set(frame) for frame in range(1, FRAMES + 1)])


def small_shots():
    """Milliseconds of CPU of a batch of small shots, and of the same with a Blender for each."""
    spent = {}
    with tempfile.TemporaryDirectory() as folder:
        job = make_job(Path(folder), SHOTS)
        for name, per_blender in (("ours", SHOTS), ("other", 1)):
            words = ("--jobs", str(CORES), "--shots-per-blender", str(per_blender), "--replace", "--quiet")
            spent[name] = SECOND * measure("batch", str(job), *words)[0]
    return spent


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
