"""Sliding feet stand still: the Rigify walk with its body made to go too far, cleaned by two calls.

    python examples/planted_walk.py

The body goes fifteen per cent further than the feet step, as after a retarget to another character, so that every foot slides
while it stands. Find Limbs finds the legs, Plant Feet finds when they are on the ground and holds them there. On the picture each
dot is the ball of a foot at one frame on the ground: orange before, blue after.
"""

import argparse
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import rigify_walk
import stage

TOO_FAR = 1.15
"""By which part the body goes further than the feet step."""

BALLS = {"Left Leg": "toe_fk.L", "Right Leg": "toe_fk.R"}
"""Bones whose heads are the balls of the feet, by the names that Find Limbs gives to the legs."""


def stretch_way(human: bpy.types.Object) -> None:
    """Let the torso go too far: its location along Y, keys and handles."""
    torso = human.pose.bones["torso"]
    along = max(range(3), key=lambda axis: abs(torso.bone.matrix_local.col[axis].y))
    for curve in stage.curves_of(human):
        if curve.data_path == torso.path_from_id("location") and curve.array_index == along:
            for key in curve.keyframe_points:
                for point in (key.co, key.handle_left, key.handle_right):
                    point.y *= TOO_FAR
            curve.update()


def ball_places(human: bpy.types.Object) -> dict[str, list[Vector]]:
    """Where the balls of the feet are at each frame."""
    return {name: stage.world_places(human, bone, range(1, rigify_walk.LAST + 1)) for name, bone in BALLS.items()}


def clean(human: bpy.types.Object) -> dict:
    """Find the legs and plant their feet; tells what slid, and what slides now."""
    bpy.ops.twobone.find_limbs(armature=human.name)
    bpy.ops.twobone.plant(armature=human.name)
    told = stage.last_report()
    contacts = [contact for chain in told["chains"] for contact in chain["contacts"]]
    before, after = (1000.0 * max(contact[side] for contact in contacts) for side in ("slide_before", "slide_after"))
    print(f"{len(contacts)} contacts: a foot slid by up to {before:.0f} mm while it stood, now by {after:.3f} mm.")
    print(f"The hips moved by at most {1000.0 * told['root']['max_move']:.0f} mm.")
    return told


def mark(name: str, places: list[Vector], colour: tuple[float, float, float], radius: float) -> None:
    """A dot on the ground below each place."""
    solid = stage.capsule(name, 0.0, radius, radius)
    solid.materials.append(stage.material(name, colour, glow=0.4))
    for place in places:
        stage.add(name, solid).location = (place.x, place.y, 0.0)


def main(arguments: argparse.Namespace) -> None:
    """Make a walk, spoil it, clean it, show the footprints before and after."""
    human, targets = rigify_walk.make_scene()
    rigify_walk.bake(human, targets)
    stretch_way(human)
    human.twobone.chains.clear()
    stage.save(arguments, "sliding_walk")
    slid = ball_places(human)
    told = clean(human)
    stands = ball_places(human)
    for chain in told["chains"]:
        frames = [
            frame - 1
            for contact in chain["contacts"]
            if contact["point"] != "HEEL"
            for frame in range(round(contact["first"]), round(contact["last"]) + 1)
        ]
        for name, places, colour, radius in (("Before", slid, stage.ORANGE, 0.012), ("After", stands, stage.BLUE, 0.02)):
            mark(name, [places[chain["chain"]][frame] for frame in frames], colour, radius)
    stage.save(arguments, "planted_walk")
    rigify_walk.look_at_frame(rigify_walk.POSES[1], (2.6, -0.9, 1.5), height=0.3, lens=38.0)
    stage.picture(arguments, "planted_walk", rigify_walk.POSES[1], height=0.5)


if __name__ == "__main__":
    stage.run(main, "planted_walk")
