"""A leg on the IK of its own rig: a foot control off the tip, a pole, both with parents of their own, and a foot."""

import math

import bpy
import numpy as np

from tests.tasks.scenes import LEG, BoneShape, build_armature, key_channel, set_range

LAST = 20
LENGTH = 1.83
FOOT = BoneShape("foot", (0.1, 0.3, -0.7), (0.15, -0.1, -0.8), "lower")
ROOT = BoneShape("root", (0, 0, -1), (0, 0.5, -1), roll=0.7)
HOLDER = BoneShape("holder", (1, 0, -0.5), (1, 0.4, -0.3), "root", roll=0.3)
CONTROL = BoneShape("Foot.L", (0.3, 0.6, -0.9), (0.4, 0.1, -0.6), "holder", roll=0.4)
GOAL = BoneShape("goal", (0.1, 0.3, -0.7), (0.1, 0.5, -0.6), "Foot.L")
POLE = BoneShape("PoleTarget.L", (0.2, -1.5, 0.2), (0.2, -1.8, 0.1), "root")
SHAPES = (*LEG, FOOT, ROOT, HOLDER, CONTROL, GOAL, POLE)


def control_rig(*, on_ik=False, pole=True, copies_rotation=True):
    """The rig, walking by keys on its bones; its IK is muted unless it is `on_ik`."""
    rig = build_armature(SHAPES)
    rig.location, rig.rotation_euler = (0.5, -0.3, 0.2), (0.2, -0.4, 1.1)
    bones = rig.pose.bones
    ik = bones["lower"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "goal", 2
    if pole:
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, "PoleTarget.L", 0.8
    ik.mute = not on_ik
    if copies_rotation:
        copy = bones["foot"].constraints.new("COPY_ROTATION")
        copy.target, copy.subtarget, copy.mute = rig, "goal", not on_ik
        copy.target_space = copy.owner_space = "POSE"
    bones["goal"].lock_location = (True, True, True)
    set_range(1, LAST)
    walk(rig)
    return rig


def walk(rig):
    bones = rig.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    for frame in range(1, LAST + 1):
        t = frame / 3.0
        key_channel(bones["upper"], "rotation_euler", {frame: (0.5 * math.sin(t), 0.2 * math.cos(t), 0.3 * math.sin(0.7 * t))})
        key_channel(bones["lower"], "rotation_euler", {frame: (0.7 + 0.4 * math.cos(t), 0.0, 0.0)})
        key_channel(bones["foot"], "rotation_euler", {frame: (0.3 * math.sin(t), 0.4, 0.2 * math.cos(t))})
        key_channel(bones["parent"], "location", {frame: (0.1 * math.sin(t), 0.0, 0.05 * t)})
        key_channel(bones["holder"], "rotation_euler", {frame: (0.1 * t, 0.3 * math.sin(t), 0.0)})


def let_ik_act(rig):
    """Let the limb follow the rig's IK instead of its keys."""
    rig.pose.bones["lower"].constraints["IK"].mute = False
    for each in rig.pose.bones["foot"].constraints:
        each.mute = False


def limb_over_time(rig, names=("upper", "lower", "foot"), frames=range(1, LAST + 1)):
    """World places `(F, B, 3)` of heads, and world rotations of the last bone."""
    places, turns = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append([(seen.matrix_world @ seen.pose.bones[name].head)[:] for name in names])
        turns.append((seen.matrix_world @ seen.pose.bones[names[-1]].matrix).to_quaternion())
    return np.array(places), turns


def widest(before, after):
    """Largest angle between two lists of quaternions, degrees."""
    angles = (first.rotation_difference(second).angle for first, second in zip(before, after, strict=True))
    return max(math.degrees(min(angle, 2.0 * math.pi - angle)) for angle in angles)


def drive_by_property(rig):
    """Both constraints follow a property of a bone: 1 is IK."""
    rig.pose.bones["root"]["ik"] = 0.0
    for bone in ("lower", "foot"):
        constraint = rig.pose.bones[bone].constraints[0]
        constraint.mute = False
        driver = constraint.driver_add("influence").driver
        driver.type = "SUM"
        target = driver.variables.new().targets[0]
        target.id, target.data_path = rig, 'pose.bones["root"]["ik"]'
    bpy.context.view_layer.update()
