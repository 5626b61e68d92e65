"""The shortest way: a leg of two bones, a target with three keys, one call.

python examples/quickstart_leg.py
"""

import argparse
import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stage

LAST = 48


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
    for frame, place in ((1, (0.0, 0.35, 0.25)), (20, (0.0, -0.42, 0.30)), (32, (0.0, -0.55, 0.62)), (LAST, (0.0, 0.0, 0.12))):
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
    for bone, radii in (("thigh", (0.075, 0.055)), ("shin", (0.055, 0.038))):
        stage.solid_bone(leg, bone, radii, stage.material("Leg", stage.ORANGE, roughness=0.4))
    stage.show_target(target, stage.BLUE, range(1, LAST + 1))
    stage.light_and_ground()
    stage.look((4.6, -1.5, 1.1), (0.0, -0.12, 0.60), lens=75.0)
    stage.film(arguments, "quickstart_leg", range(1, LAST + 1, 3))
    stage.leave_poses(leg, (1, 11, 19))
    stage.picture(arguments, "quickstart_leg", 30)


if __name__ == "__main__":
    stage.run(main, "quickstart_leg")
