"""A flat cut-out character in the XZ plane, as in 2D games: arms and legs follow targets, one curve for each joint.

    python examples/cutout_character.py

The bones lie in the front plane and rotate about one of their own axes, so a bake writes a single Euler curve for each joint.
"""

import argparse
import math
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

LAST = 48
BODY = {
    "body": ((0.0, 1.0), (0.0, 1.62)), "head": ((0.0, 1.70), (0.0, 2.05)),
    "arm.L": ((0.20, 1.56), (0.50, 1.30)), "hand.L": ((0.50, 1.30), (0.78, 1.42)),
    "arm.R": ((-0.20, 1.56), (-0.50, 1.30)), "hand.R": ((-0.50, 1.30), (-0.78, 1.42)),
    "leg.L": ((0.12, 1.0), (0.24, 0.54)), "foot.L": ((0.24, 0.54), (0.14, 0.08)),
    "leg.R": ((-0.12, 1.0), (-0.24, 0.54)), "foot.R": ((-0.24, 0.54), (-0.14, 0.08)),
}  # fmt: skip
LIMBS = (("arm", "hand"), ("leg", "foot"))


def make_character() -> bpy.types.Object:
    """An armature in the XZ plane, with every bone's Z axis along the plane's normal and Euler rotation."""
    character = stage.add("Cut-out", bpy.data.armatures.new("Cut-out"))
    bpy.context.view_layer.objects.active = character
    bpy.ops.object.mode_set(mode="EDIT")
    bones = character.data.edit_bones
    for name, (head, tail) in BODY.items():
        bone = bones.new(name)
        bone.head, bone.tail = (head[0], 0.0, head[1]), (tail[0], 0.0, tail[1])
        bone.align_roll((0.0, -1.0, 0.0))
    for name in BODY:
        limb = {"hand": "arm", "foot": "leg"}.get(name[:-2])
        above = f"{limb}{name[-2:]}" if limb else "body"
        if name != "body":
            bones[name].parent = bones[above]
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in character.pose.bones:
        bone.rotation_mode = "XYZ"
    return character


def make_target(name: str, side: float, *, leg: bool) -> bpy.types.Object:
    """A target for a hand, which circles, or for a foot, which moves up and down in turn with the other."""
    target = stage.add(name, None)
    for frame in range(1, LAST + 2, 4):
        phase = 2.0 * math.pi * (frame - 1) / LAST + (math.pi if side < 0.0 else 0.0)
        if leg:
            place = (side * 0.18, 0.14 + 0.22 * max(0.0, math.sin(phase)))
        else:
            place = (side * (0.62 + 0.13 * math.cos(phase)), 1.62 + 0.20 * math.sin(phase))
        target.location = (place[0], 0.0, place[1])
        target.keyframe_insert("location", frame=frame)
    return target


def add_chains(character: bpy.types.Object) -> list[bpy.types.Object]:
    """Store a chain for each limb and return the targets. Seen from the front, left and right bend to opposite sides."""
    targets = []
    for upper, lower in LIMBS:
        for mark, side in (("L", 1.0), ("R", -1.0)):
            target = make_target(f"{lower}.{mark} target", side, leg=lower == "foot")
            chain = character.twobone.chains.add()
            chain.name, chain.upper, chain.lower, chain.target = lower, f"{upper}.{mark}", f"{lower}.{mark}", target
            chain.plane, chain.bend = "XZ", "POSITIVE" if (side > 0.0) == (lower == "hand") else "NEGATIVE"
            targets.append(target)
    return targets


def dress(character: bpy.types.Object) -> None:
    """Add flat pieces of card, the right limbs behind the body and the left ones in front."""
    colours = {
        "body": stage.BLUE,
        "head": stage.SAND,
        "arm": stage.TEAL,
        "hand": stage.TEAL,
        "leg": stage.ORANGE,
        "foot": stage.ORANGE,
    }
    radii = {"body": (0.15, 0.22), "head": (0.14, 0.17), "arm": (0.085, 0.07), "hand": (0.07, 0.055), "leg": (0.11, 0.085)}
    for name in BODY:
        kind = name.split(".")[0]
        card = stage.material(f"Card {kind}", colours[kind], roughness=0.8)
        piece = stage.solid_bone(character, name, radii.get(kind, (0.085, 0.06)), card, flatness=0.08)
        piece.location.z = 0.03 if name.endswith("L") else -0.03 if name.endswith("R") else 0.0
    for across in (-0.06, 0.06):
        eye = stage.ball("Eye", 0.022, stage.material("Eye", stage.DARK))
        eye.parent, eye.parent_type, eye.parent_bone = character, "BONE", "head"
        eye.location = (across, -0.05, 0.01)


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    character = make_character()
    targets = add_chains(character)
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    stage.report()
    dress(character)
    stage.save(arguments, "cutout_character")
    for target in targets:
        stage.show_target(target, stage.YELLOW, range(1, LAST + 1), size=0.055)
    stage.light_and_ground()
    stage.look((0.6, -7.4, 1.35), (0.0, 0.0, 1.10), lens=75.0)
    stage.picture(arguments, "cutout_character", 10, height=0.75)


if __name__ == "__main__":
    stage.run(main, "cutout_character")
