"""A crowd of two hundred: four hundred legs, baked together in one pass over the frames.

python examples/crowd.py
"""

import argparse
import math
import random
import sys
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

PEOPLE, LAST, PACE = 200, 64, 28.0
COLUMNS = 20
SEED = 7
ON_GROUND = 0.5
"""Fraction of a cycle during which a foot stands."""
ANKLE = 0.15
"""Height of a standing ankle in metres, a little higher than with straight knees, with which nobody walks."""


def make_body() -> bpy.types.Armature:
    """An armature with hips, two legs and a chest, shared by all people."""
    data = bpy.data.armatures.new("Walker")
    maker = stage.add("Maker", data)
    bpy.context.view_layer.objects.active = maker
    bpy.ops.object.mode_set(mode="EDIT")
    hips = data.edit_bones.new("hips")
    hips.head, hips.tail = (0.0, 0.0, 0.95), (0.0, 0.0, 1.5)
    for mark, side in (("L", 0.1), ("R", -0.1)):
        thigh, shin = data.edit_bones.new(f"thigh.{mark}"), data.edit_bones.new(f"shin.{mark}")
        thigh.head, thigh.tail, thigh.parent = (side, 0.0, 0.93), (side, -0.04, 0.49), hips
        shin.head, shin.tail, shin.parent = thigh.tail, (side, 0.0, 0.08), thigh
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(maker)
    return data


def make_walker(number: int, body: bpy.types.Armature, chance: random.Random) -> bpy.types.Object:
    """One person, with its own size and phase, who walks towards -Y."""
    walker = stage.add(f"Walker {number}", body)
    x, y = 1.1 * (number % COLUMNS - COLUMNS / 2), 1.5 * (number // COLUMNS)
    walker.scale = (chance.uniform(0.9, 1.08),) * 3
    stride, late = 1.05 * walker.scale.x, chance.random()
    x, y = x + chance.uniform(-0.2, 0.2), y + chance.uniform(-0.4, 0.4)
    for frame in (1, LAST):
        walker.location = (x, y - stride * (frame - 1) / PACE, -0.07 * walker.scale.z)
        walker.keyframe_insert("location", frame=frame)
    for curve_point in stage.keys_of(walker):
        curve_point.interpolation = "LINEAR"
    for mark, half in (("L", 0.0), ("R", 0.5)):
        target = stage.add(f"Foot {number}.{mark}", None)
        target.parent = walker
        key_step(target, 0.1 if mark == "L" else -0.1, late + half)
        chain = walker.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target = mark, f"thigh.{mark}", f"shin.{mark}", target
        chain.plane, chain.bend = "YZ", "POSITIVE"
    return walker


def key_step(target: bpy.types.Object, side: float, late: float) -> None:
    """Key a foot relative to the walker: back with the ground, forward through the air."""
    for frame in range(1, LAST + 1, 3):
        phase = ((frame - 1) / PACE + late) % 1.0
        if phase < ON_GROUND:
            along, up = 0.525 * (2.0 * phase - 0.5), 0.0
        else:
            along, up = 0.525 * (1.5 - 2.0 * phase), 0.14 * math.sin(2.0 * math.pi * (phase - 0.5))
        target.location = (side, along, ANKLE + up)
        target.keyframe_insert("location", frame=frame)


def dress(walkers: list[bpy.types.Object], chance: random.Random) -> None:
    """Add rounded rods to the bones; people share the meshes but not the colour of the chest."""
    colours = [
        stage.material(f"Wear {number}", colour, roughness=0.6)
        for number, colour in enumerate((stage.BLUE, stage.ORANGE, stage.TEAL, stage.YELLOW, stage.PALE))
    ]
    skin, trousers = stage.material("Skin", stage.SAND), stage.material("Trousers", stage.DARK)
    meshes = {
        "hips": stage.capsule("Chest", 0.5, 0.13, 0.17, 0.65),
        "thigh": stage.capsule("Thigh", 0.44, 0.085, 0.065),
        "shin": stage.capsule("Shin", 0.41, 0.06, 0.045),
        "head": stage.capsule("Head", 0.10, 0.10, 0.11),
    }
    for name, mesh in meshes.items():
        mesh.materials.append({"hips": colours[0], "head": skin}.get(name, trousers))
    for walker in walkers:
        for bone in ("hips", "thigh.L", "thigh.R", "shin.L", "shin.R", "head"):
            solid = stage.add(f"{walker.name} {bone}", meshes[bone.split(".")[0]])
            solid.parent, solid.parent_type, solid.parent_bone = walker, "BONE", "hips" if bone == "head" else bone
            solid.location.y = 0.22 if bone == "head" else -walker.data.bones[solid.parent_bone].length
            if bone == "hips":
                solid.material_slots[0].link = "OBJECT"
                solid.material_slots[0].material = chance.choice(colours)


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    chance = random.Random(SEED)  # noqa: S311, people differ, nothing is secret
    body = make_body()
    walkers = [make_walker(number, body, chance) for number in range(PEOPLE)]
    start = time.perf_counter()
    bpy.ops.twobone.bake_all(scope="SCENE")
    spent = time.perf_counter() - start
    told = stage.last_report()
    print(f"{len(told['chains'])} legs, {told['keys']} keys in {spent:.2f} s, max error {told['max_error']:.1e} m")
    dress(walkers, chance)
    stage.save(arguments, "crowd")
    stage.light_and_ground()
    stage.look((7.0, -13.0, 6.2), (-0.6, 3.2, 0.2), lens=42.0)
    stage.picture(arguments, "crowd", 40)


if __name__ == "__main__":
    stage.run(main, "crowd")
