"""The shortest example: a leg of two bones, a target with five keys, one call.

python examples/quickstart_leg.py
"""

import argparse
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

LAST = 48
KICK = (
    (1, (0.0, 0.35, 0.25)), (16, (0.0, -0.30, 0.14)), (26, (0.0, -0.72, 0.30)), (34, (0.0, -0.55, 0.72)),
    (LAST, (0.0, 0.35, 0.25)),
)  # fmt: skip
"""Frame and position. At frame 26 the target is out of the leg's reach."""


def make_leg() -> bpy.types.Object:
    """A thigh and a shin, slightly bent."""
    leg = stage.add("Leg", bpy.data.armatures.new("Leg"))
    bpy.context.view_layer.objects.active = leg
    bpy.ops.object.mode_set(mode="EDIT")
    thigh = leg.data.edit_bones.new("thigh")
    thigh.head, thigh.tail = (0.0, 0.0, 1.0), (0.0, -0.05, 0.52)
    shin = leg.data.edit_bones.new("shin")
    shin.head, shin.tail = thigh.tail, (0.0, 0.0, 0.08)
    shin.parent, shin.use_connect = thigh, True
    bpy.ops.object.mode_set(mode="OBJECT")
    return leg


def make_target() -> bpy.types.Object:
    """An empty that kicks forward and comes back."""
    target = stage.add("Foot", None)
    for frame, place in KICK:
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return target


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    leg, target = make_leg(), make_target()

    bpy.ops.twobone.bake(armature=leg.name, upper="thigh", lower="shin", target=target.name, plane="YZ", bend="POSITIVE")

    stage.report()
    stage.save(arguments, "quickstart_leg")
    dress(leg, target)
    stage.film(arguments, "quickstart_leg", range(1, LAST, 2))
    stage.leave_poses(leg, (4, 11, 16))
    stage.picture(arguments, "quickstart_leg", 26)


def dress(leg: bpy.types.Object, target: bpy.types.Object) -> None:
    """Add rounded rods, the target and its path, and the ring that the leg can reach."""
    orange = stage.material("Leg", stage.ORANGE, roughness=0.4)
    for bone, radii in (("thigh", (0.075, 0.055)), ("shin", (0.055, 0.036))):
        stage.solid_bone(leg, bone, radii, orange)
    hip = leg.data.bones["thigh"].head_local
    stage.ball("Hip", 0.095, stage.material("Hip", stage.DARK)).location = hip
    stage.show_reach(hip, tuple(bone.length for bone in leg.data.bones), stage.TEAL)
    stage.show_target(target, stage.BLUE, range(1, LAST + 1), size=0.05)
    stage.light_and_ground()
    stage.look((4.7, -1.3, 1.05), (0.0, -0.1, 0.73), lens=58.0)


if __name__ == "__main__":
    stage.run(main, "quickstart_leg")
