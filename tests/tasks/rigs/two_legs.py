"""Two legs below a hip, by hand."""

import math

import bpy

from tests.tasks.scenes import BoneShape, add_empty, build_armature, key_places, set_range

SIDES = {"L": 1.0, "R": -1.0}


def legs(*, straight=False):
    """Two legs that hang from a hip and bend forward, mirror images of one another."""
    shapes = [BoneShape("hip", (0, 0, 1), (0, 0, 1.2))]
    for side, sign in SIDES.items():
        knee = (0.1 * sign, 0.0 if straight else -0.1, 0.5)
        shapes.append(BoneShape(f"thigh.{side}", (0.1 * sign, 0, 1), knee, "hip"))
        shapes.append(BoneShape(f"shin.{side}", knee, (0.1 * sign, 0, 0), f"thigh.{side}", connected=True))
        shapes.append(BoneShape(f"foot.{side}", (0.1 * sign, 0, 0), (0.1 * sign, -0.2, 0), f"shin.{side}"))
    return build_armature(shapes)


def legs_on_ik(last):
    """They are active, and posed by IK constraints whose goals are keyed; the right foot is lifted higher."""
    rig = legs()
    set_range(1, last)
    for side, sign in SIDES.items():
        goal = add_empty(f"Goal {side}")
        height = 0.05 if side == "L" else 0.15
        key_places(goal, [(0.1 * sign, 0.1 * math.sin(frame), height) for frame in range(1, last + 1)], 1)
        ik = rig.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.chain_count = goal, 2
    bpy.context.view_layer.objects.active = rig
    bpy.context.view_layer.update()
    return rig
