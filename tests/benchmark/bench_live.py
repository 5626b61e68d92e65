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
MILLISECONDS = 1000


def median(values):
    return sorted(values)[len(values) // 2] * MILLISECONDS


def played(scene):
    """Median CPU milliseconds of a frame, of the second of two loops."""
    found = []
    for turn in range(2):
        for frame in range(1, FRAMES + 1):
            begun = time.process_time()
            scene.frame_set(frame)
            if turn:
                found.append(time.process_time() - begun)
    return median(found)


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
    return median(found)


def size():
    """Bytes of the file, uncompressed."""
    path = Path(tempfile.mkdtemp()) / "size.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return path.stat().st_size


def figures(scene, target):
    play = played(scene)
    action = target.animation_data.action
    slot = target.animation_data.action_slot
    target.animation_data.action = None
    move = moved(target)
    target.animation_data.action, target.animation_data.action_slot = action, slot
    return play, move


def main():
    registration.register()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shot = rigify_walk(FRAMES)
    scene = bpy.context.scene
    clear_keys(shot)
    rig = store_chains(shot)
    target = bpy.data.objects[shot.limbs[0].target]
    before = size()
    bare = figures(scene, target)
    for count in (1, 4):
        limbs = shot.limbs[:count]
        made = []
        for limb in limbs:
            bone = rig.pose.bones[limb.lower]
            constraint = bone.constraints.new("IK")
            constraint.target, constraint.chain_count = bpy.data.objects[limb.target], 2
            made.append((bone, constraint))
        blenders = figures(scene, target)
        for bone, constraint in made:
            bone.constraints.remove(constraint)
        scene.frame_set(1)
        for number in range(count):
            rig.twobone.active_index = number
            begun = time.process_time()
            bpy.ops.twobone.live(state="ON")
            print(f"to make a limb live: {(time.process_time() - begun) * MILLISECONDS:.0f} ms")
        ours = figures(scene, target)
        print(f"file, {count} limbs: {(size() - before) / 1000:.1f} kB more")
        for what, row in (("a frame of playback", 0), ("a moved target", 1)):
            ratio = ours[row] / blenders[row]
            print(f"{what}, {count} limbs: {blenders[row]:.2f} / {ours[row]:.2f} ms, {ratio:.2f} times (none: {bare[row]:.2f})")
        bpy.ops.twobone.live(scope="ARMATURE", state="OFF")


if __name__ == "__main__":
    main()
