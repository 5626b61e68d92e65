"""A plain character for the small examples: a skeleton that walks, whose feet slide as after a retarget.

Nothing here is needed to bake. Your own character already walks.
"""

import math

import body
import bpy
import rigify_walk
import stage
from mathutils import Euler, Vector

LAST = 64
TOO_FAR = 1.2
"""Distance that the body moves, divided by the distance that the feet step."""
LOW = 0.003
"""Metres within which a ball stands: the walk lifts it by more at the first frame of a step."""
PACE = 0.8
"""Distance walked, relative to the walk of Rigify's human."""
LEG = {"thigh": (0.0, 1.0), "shin": (-0.03, 0.54), "foot": (0.0, 0.09), "toe": (-0.13, 0.02), "": (-0.2, 0.02)}
ARM = {"upper_arm": (0.0, 1.42), "forearm": (0.03, 1.14), "hand": (-0.02, 0.88), "": (-0.03, 0.78)}
"""Place of each bone's head along Y and Z; the last is the tail of the last bone. The character faces -Y."""
ACROSS = {"thigh": 0.1, "upper_arm": 0.2}
TRUNK = {"hips": 1.0, "chest": 1.22, "head": 1.5, "": 1.74}
RADII = {
    "hips": (0.12, 0.12), "chest": (0.13, 0.09), "head": (0.08, 0.09), "thigh": (0.085, 0.065), "shin": (0.06, 0.042),
    "foot": (0.045, 0.04), "toe": (0.04, 0.03), "upper_arm": (0.05, 0.042), "forearm": (0.042, 0.032), "hand": (0.035, 0.03),
}  # fmt: skip


def make_walker(name: str = "Walker", *, size: float = 1.0, too_far: float = TOO_FAR) -> bpy.types.Object:
    """The skeleton, walking: keys on its bones and nothing else, as if imported. Without sliding, `too_far` is 1."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    walker = make_skeleton(name, size)
    walked = [rigify_walk.walked(frame) * PACE * size for frame in range(LAST + 1)]
    hips, rest = walker.pose.bones["hips"], walker.data.bones["hips"].matrix_local.to_3x3()
    for frame in range(1, LAST + 1):
        down = 0.06 + 0.015 * math.cos(4.0 * math.pi * (frame - 1) / rigify_walk.FRAMES_PER_CYCLE)
        hips.location = rest.inverted() @ Vector((0.0, -too_far * walked[frame], -down * size))
        hips.keyframe_insert("location", frame=frame)
    for side, later in (("L", 0.0), ("R", 0.5)):
        step(walker, side, later, size, [(too_far - 1.0) * way for way in walked])
        swing(walker, side, later)
    return walker


def make_skeleton(name: str, size: float) -> bpy.types.Object:
    """Hips, chest, head, two arms and two legs."""
    walker = stage.add(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = walker
    bpy.ops.object.mode_set(mode="EDIT")

    def row(joints: dict[str, tuple[float, float, float]], above: bpy.types.EditBone | None, mark: str = "") -> None:
        names, places = list(joints), list(joints.values())
        for bone_name, head, tail in zip(names, places, places[1:], strict=False):
            bone = walker.data.edit_bones.new(bone_name + mark)
            bone.head, bone.tail, bone.parent = size * Vector(head), size * Vector(tail), above
            above = bone

    row({bone: (0.0, 0.0, up) for bone, up in TRUNK.items()}, None)
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for limb, above in ((LEG, "hips"), (ARM, "chest")):
            across = sign * ACROSS[next(iter(limb))]
            row({bone: (across, *place) for bone, place in limb.items()}, walker.data.edit_bones[above], f".{side}")
    bpy.ops.object.mode_set(mode="OBJECT")
    return walker


def step(walker: bpy.types.Object, side: str, later: float, size: float, extra: list[float]) -> None:
    """Bake a leg onto a target that steps, by `extra` too far at each frame, and forget how it was made."""
    foot = walker.data.bones[f"foot.{side}"]
    target, rest = stage.add(f"Foot {side}", None), foot.matrix_local.to_3x3()
    target.rotation_mode = "QUATERNION"
    for frame in range(1, LAST + 1):
        way, height, turn = rigify_walk.foot_at(frame, later)
        target.location = foot.head_local + Vector((0.0, -way * PACE * size - extra[frame], height * size))
        target.rotation_quaternion = (Euler((turn, 0.0, 0.0)).to_matrix() @ rest).to_quaternion()
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.ops.twobone.bake(
        armature=walker.name,
        upper=f"thigh.{side}",
        lower=f"shin.{side}",
        tip=foot.name,
        target=target.name,
        end_rotation="TARGET",
    )
    # An imported action has no record of replaced keys, so later tasks start from this walk.
    walker.animation_data.action.property_unset("twobone_replaced")
    bpy.data.objects.remove(target)


def swing(walker: bpy.types.Object, side: str, later: float) -> None:
    """Key an arm that swings with the foot of the other side."""
    for name, angle, always in (("upper_arm", 0.45, 0.0), ("forearm", -0.2, -0.35)):
        bone = walker.pose.bones[f"{name}.{side}"]
        axis = bone.bone.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0))
        bone.rotation_mode = "AXIS_ANGLE"
        for frame in range(1, LAST + 1, 2):
            phase = math.cos(math.tau * ((frame - 1) / rigify_walk.FRAMES_PER_CYCLE + later))
            bone.rotation_axis_angle = (always + angle * phase, *axis)
            bone.keyframe_insert("rotation_axis_angle", frame=frame)


def dress(walker: bpy.types.Object, colour: tuple[float, float, float] = stage.SAND) -> bpy.types.Object:
    """Give the skeleton a body."""
    skin, size = stage.material(f"Skin of {walker.name}", colour), walker.data.bones["hips"].head_local.z
    parts = {
        bone.name: body.Part((size * radii[0], size * radii[1]), skin)
        for bone in walker.data.bones
        for radii in [RADII[bone.name.split(".")[0]]]
    }
    walker.data.pose_position = "REST"
    made = body.grow(walker, parts)
    walker.data.pose_position = "POSE"
    return made


def slid(walker: bpy.types.Object) -> float:
    """How far a ball moves while it is near its lowest place, at most over such a time: measured here, not reported."""
    farthest = 0.0
    for side in "LR":
        balls = stage.world_places(walker, f"toe.{side}", range(1, LAST + 1))
        ground, start = min(ball.z for ball in balls), None
        for ball in balls:
            start = (start or ball) if ball.z < ground + LOW else None
            farthest = max(farthest, (ball.xy - start.xy).length if start else 0.0)
    return farthest
