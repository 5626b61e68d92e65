"""How often Blender's own IK and a bake put the tip on targets that are in reach, all in one plane.

Run: python tests/benchmark/bench_reach.py

One leg bent at rest and one straight; targets all around, from nearly folded to nearly straight, one a frame. Blender's IK
has its turning locked to the hinge, five hundred iterations and no pole. Prints a table; nothing is asserted.
"""

import json
import math
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from twobone_addon import registration

LENGTHS = (1.0, 0.8)
DIRECTIONS, DISTANCES = 36, 38
MARGIN = 0.01
"""Part of the reach at either end of it that is left out."""
MISSED = 1e-3
"""Farther from the target than this part of the chain's length counts as missed: it can be seen."""
ITERATIONS = 500
BENDS = {"bent at rest": math.radians(20.0), "straight at rest": 0.0}


def main():
    registration.register()
    rows = []
    for name, bend in BENDS.items():
        leg, target, frames = make_shot(bend)
        native = with_native_ik(leg, target, frames)
        leg.pose.bones["lower"].constraints.remove(leg.pose.bones["lower"].constraints[0])
        bpy.ops.twobone.bake(armature="Leg", upper="upper", lower="lower", target="Target", plane="XZ", bend="POSITIVE")
        report = json.loads(bpy.context.window_manager.twobone_report)
        assert report["reached"] == len(frames)
        rows += [(name, "Blender's IK", *judged(native)), (name, "Two-Bone IK", *judged(misses(leg, target, frames)))]
    print(f"\nBlender {bpy.app.version_string}, {DIRECTIONS * DISTANCES} targets in reach, chain length {sum(LENGTHS):g}\n")
    print("| leg | by | missed | worst distance |\n|---|---|---|---|")
    for row in rows:
        print("| {} | {} | {} | {:.1e} |".format(*row))


def make_shot(bend):
    """A leg in the front plane and a target that is somewhere else at every frame."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    leg, target = bpy.data.objects.new("Leg", bpy.data.armatures.new("Leg")), bpy.data.objects.new("Target", None)
    for thing in (leg, target):
        scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = leg
    bpy.ops.object.mode_set(mode="EDIT")
    upper, lower = leg.data.edit_bones.new("upper"), leg.data.edit_bones.new("lower")
    upper.head, upper.tail = (0, 0, 0), (-LENGTHS[0] * math.sin(bend), 0, -LENGTHS[0] * math.cos(bend))
    lower.parent, lower.use_connect, lower.head = upper, True, upper.tail
    lower.tail = (upper.tail[0] + LENGTHS[1] * math.sin(bend), 0, upper.tail[2] - LENGTHS[1] * math.cos(bend))
    for bone in (upper, lower):
        bone.align_roll((0, -1, 0))
    bpy.ops.object.mode_set(mode="OBJECT")
    places = [place(direction, distance) for direction in range(DIRECTIONS) for distance in range(DISTANCES)]
    scene.frame_start, scene.frame_end = 1, len(places)
    for frame, target.location in enumerate(places, start=1):
        target.keyframe_insert("location", frame=frame)
    return leg, target, range(1, len(places) + 1)


def place(direction, distance):
    turn = 2.0 * math.pi * direction / DIRECTIONS
    near, far = abs(LENGTHS[0] - LENGTHS[1]) + MARGIN, sum(LENGTHS) - MARGIN
    radius = near + (far - near) * distance / (DISTANCES - 1)
    return radius * math.cos(turn), 0.0, radius * math.sin(turn)


def with_native_ik(leg, target, frames):
    """Distances of the tip with Blender's IK constraint, both bones locked to the hinge, which is their local Z axis."""
    for bone in leg.pose.bones:
        bone.lock_ik_x = bone.lock_ik_y = True
    constraint = leg.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.iterations = target, 2, ITERATIONS
    return misses(leg, target, frames)


def misses(leg, target, frames):
    """Distance of the tip from the target at every frame, as Blender evaluates it."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        posed = leg.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["lower"]
        found.append((leg.matrix_world @ posed.tail - target.matrix_world.translation).length)
    return found


def judged(found):
    """How many are missed, and the worst distance."""
    return sum(miss > MISSED * sum(LENGTHS) for miss in found), max(found)


if __name__ == "__main__":
    main()
