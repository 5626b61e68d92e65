"""Two walkers stride side by side on Blender's IK; one of them is converted to keys without any visible change.

    python examples/convert_ik_rig.py

Each leg has an IK constraint with a target and a pole. One call keys the bones of the blue walker as IK poses them, and mutes
its constraints; the sand-coloured one stays on IK, for comparison. The feet copy the rotation of their targets by separate
constraints, which stay as they are.
"""

import argparse
import math
import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

CYCLE, CYCLES, STRIDE, LIFT = 24, 3, 1.1, 0.34
LAST = CYCLE * CYCLES
HIPS = (0.0, 0.0, 1.62)
LEG = {"thigh": (0.0, -0.42, 0.92), "shin": (0.0, 0.12, 0.16), "foot": (0.0, -0.34, 0.06)}
"""Tail of each bone of a leg; its head is at the hip or at the tail of the bone before."""
SIDES = (("L", 0.34, 0.0), ("R", -0.34, 0.5))
"""Name, X position, and fraction of the cycle by which the leg is ahead."""
SHOWN = (9, 37, 65)
"""Frames in the picture."""


def make_walker(name: str, across: float) -> bpy.types.Object:
    """A rig with hips and two legs on IK; rig and targets are parented to the same empty."""
    ground = stage.add(f"{name} ground", None)
    ground.location.x = across
    rig = stage.add(name, bpy.data.armatures.new(name))
    rig.parent = ground
    make_bones(rig)
    hips = rig.pose.bones["hips"]
    for frame in range(1, LAST + 1):
        turn = 4.0 * math.pi * (frame - 1) / CYCLE
        hips.location = (0.0, 0.03 * math.cos(turn), STRIDE * (frame - 1) / CYCLE)
        hips.keyframe_insert("location", frame=frame)
    for side, place, ahead in SIDES:
        pull(rig, side, make_target(rig, side, place, ahead), make_pole(rig, side, place))
    return rig


def make_bones(rig: bpy.types.Object) -> None:
    """Add hips, thighs, shins and feet."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    hips = rig.data.edit_bones.new("hips")
    hips.head, hips.tail = HIPS, (0.0, 0.0, HIPS[2] + 0.4)
    for side, place, _ in SIDES:
        above, head = hips, Vector((place, 0.0, HIPS[2]))
        for part, end in LEG.items():
            bone = rig.data.edit_bones.new(f"{part}.{side}")
            bone.head, bone.tail, bone.parent = head, Vector(end) + Vector((place, 0.0, 0.0)), above
            above, head = bone, bone.tail
    bpy.ops.object.mode_set(mode="OBJECT")


def make_target(rig: bpy.types.Object, side: str, place: float, ahead: float) -> bpy.types.Object:
    """The target of an ankle: half of the cycle on the ground, the other half forwards through the air."""
    target = stage.add(f"{rig.name} ankle {side}", None)
    target.parent, target.empty_display_size = rig.parent, 0.15
    for frame in range(1, LAST + 1):
        steps = (frame - 1) / CYCLE + ahead
        air = max(0.0, steps % 1.0 - 0.5) * 2.0
        along = STRIDE * (math.floor(steps) - ahead + 0.25 + air - 0.5 * math.sin(2.0 * math.pi * air) / math.pi)
        target.location = (place, LEG["shin"][1] - along, LEG["shin"][2] + LIFT * math.sin(math.pi * air))
        target.rotation_euler.x = 0.3 * math.sin(2.0 * math.pi * air)
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_euler", index=0, frame=frame)
    return target


def make_pole(rig: bpy.types.Object, side: str, place: float) -> bpy.types.Object:
    """A pole in front of the knee, parented to the hips."""
    pole = stage.add(f"{rig.name} knee {side}", None)
    pole.parent, pole.parent_type, pole.parent_bone = rig, "BONE", "hips"
    pole.matrix_parent_inverse = rig.data.bones["hips"].matrix_local.inverted()
    pole.matrix_parent_inverse.translation.y -= rig.data.bones["hips"].length
    pole.location = (place, -2.5, HIPS[2] - 0.6)
    return pole


def pull(rig: bpy.types.Object, side: str, target: bpy.types.Object, pole: bpy.types.Object) -> None:
    """Add Blender's IK to a leg, and a constraint that rotates the foot with its target."""
    ik = rig.pose.bones[f"shin.{side}"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    ik.pole_target, ik.pole_angle = pole, math.radians(-90.0)
    turn = rig.pose.bones[f"foot.{side}"].constraints.new("COPY_ROTATION")
    turn.target, turn.target_space, turn.owner_space = target, "LOCAL", "LOCAL"


def dress(rig: bpy.types.Object, colour: tuple[float, float, float]) -> None:
    """Add rods to the bones."""
    paint, dark = stage.material(rig.name, colour, roughness=0.35), stage.material("Joint", stage.DARK, roughness=0.4)
    stage.solid_bone(rig, "hips", (0.34, 0.26), paint)
    for side, *_ in SIDES:
        stage.solid_bone(rig, f"thigh.{side}", (0.15, 0.1), paint)
        stage.solid_bone(rig, f"shin.{side}", (0.1, 0.07), paint)
        stage.solid_bone(rig, f"foot.{side}", (0.1, 0.06), dark)


def main(arguments: argparse.Namespace) -> None:
    """Make, convert, save, show."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    kept, converted = make_walker("On IK", 0.0), make_walker("On keys", 2.2)
    bpy.ops.twobone.convert_ik(armature=converted.name)
    told = stage.report()
    moved = max(chain["max_moved"] for chain in told["chains"])
    print(f"The IK constraints are muted, and no bone moved by more than {moved:.1e} m.")
    dress(kept, stage.SAND)
    dress(converted, stage.BLUE)
    stage.save(arguments, "convert_ik_rig")
    for rig in (kept, converted):
        stage.leave_poses(rig, SHOWN[:-1])
        for side, *_ in SIDES:
            stage.show_target(bpy.data.objects[f"{rig.name} ankle {side}"], stage.ORANGE, range(1, LAST + 1), size=0.05)
    stage.light_and_ground()
    stage.look((12.5, -5.6, 4.6), (0.9, -1.5, 0.95), lens=78.0)
    stage.picture(arguments, "convert_ik_rig", SHOWN[-1])


if __name__ == "__main__":
    stage.run(main, "convert_ik_rig")
