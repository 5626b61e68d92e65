"""Live beside Blender's IK constraint on the same bones of Rigify's human, in one run: playback, moved targets, size of the file.

Run: python tests/benchmark/bench_live.py
"""

import os
import sys
import tempfile
import time
from pathlib import Path

if hasattr(os, "sched_setaffinity"):  # CPU time of threads that wait for each other would count; Blender looks when it starts.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]

from rivals import clear_keys
from shots import rigify_walk, store_chains

from twobone_addon import registration

FRAMES = 60
MOVES = 40
ROUNDS = 5
"""In turns, since other work on the machine makes both slower: the least of them counts, their median tells of that work."""

MILLISECONDS = 1000


def median(values):
    return sorted(values)[len(values) // 2]


def played(scene):
    """Median CPU milliseconds of a frame, of a loop after some frames."""
    found = []
    for frame in (*range(FRAMES - 10, FRAMES), *range(1, FRAMES + 1)):
        begun = time.process_time()
        scene.frame_set(frame)
        found.append(time.process_time() - begun)
    return median(found[10:]) * MILLISECONDS


def moved(thing):
    """Median CPU milliseconds of an evaluation after a target was moved."""
    found, base = [], thing.location.copy()
    for number in range(MOVES):
        thing.location = base
        thing.location.z += 0.002 * (1 + number % 10)
        begun = time.process_time()
        bpy.context.view_layer.update()
        found.append(time.process_time() - begun)
    thing.location = base
    return median(found) * MILLISECONDS


def size():
    """Bytes of the file, uncompressed."""
    path = Path(tempfile.mkdtemp()) / "size.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return path.stat().st_size


def figures(scene, target):
    play = played(scene)
    data = target.animation_data
    action, slot, data.action = data.action, data.action_slot, None
    move = moved(target)
    data.action, data.action_slot = action, slot
    return play, move


def with_ik(rig, limbs, scene, target):
    """The figures with Blender's IK constraints on the limbs."""
    made = []
    for limb in limbs:
        bone = rig.pose.bones[limb.lower]
        constraint = bone.constraints.new("IK")
        constraint.target, constraint.chain_count = bpy.data.objects[limb.target], 2
        made.append((bone, constraint))
    found = figures(scene, target)
    for bone, constraint in made:
        bone.constraints.remove(constraint)
    return found


def with_live(rig, limbs, scene, target):
    """The figures with Live on the limbs, the milliseconds that one takes to be made, and bytes of the file."""
    scene.frame_set(1)
    begun = time.process_time()
    for number in range(len(limbs)):
        rig.twobone.active_index = number
        bpy.ops.twobone.live(state="ON")
    made = (time.process_time() - begun) / len(limbs) * MILLISECONDS
    found = figures(scene, target), made, size()
    bpy.ops.twobone.live(scope="ARMATURE", state="OFF")
    return found


def main():
    registration.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shot = rigify_walk(FRAMES)
    scene = bpy.context.scene
    clear_keys(shot)
    rig = store_chains(shot)
    target = bpy.data.objects[shot.limbs[0].target]
    before = size()
    for count in (1, 4):
        limbs = shot.limbs[:count]
        rows = [(with_ik(rig, limbs, scene, target), with_live(rig, limbs, scene, target)) for _ in range(ROUNDS)]
        print(f"{count} limbs: {median([live[1] for _, live in rows]):.0f} ms to make one live")
        print(f"{count} limbs: the file grows by {(rows[0][1][2] - before) / 1000:.0f} kB")
        for what, row in (("a frame of playback", 0), ("a moved target", 1)):
            blenders, ours = [ik[row] for ik, _ in rows], [live[0][row] for _, live in rows]
            for name, chosen in (("least", min), ("median", median)):
                pair = chosen(blenders), chosen(ours)
                print(f"{count} limbs, {what}, {name}: {pair[0]:.2f} / {pair[1]:.2f} ms, {pair[1] / pair[0]:.2f} times")


if __name__ == "__main__":
    main()
