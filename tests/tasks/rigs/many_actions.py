"""A character of two metres on IK with control bones, and a library of fourteen actions."""

import math

import bpy
import numpy as np

from tests.tasks.scenes import BoneShape, build_armature

COUNT = 14
LIMBS = ("leg.L", "leg.R", "arm.L", "arm.R")
BROKEN, DRIVEN = "broken", "driven"
"""Limbs that cannot be converted: their IK has no target, or their upper bone is driven."""

LOCKED = "Act 09"
"""The action in which a curve of the left leg is locked."""
LONELY = "Act 13"
"""The action that has no keys but one."""


def name_of(number):
    return f"Act {number:02d}"


def _limb(name, root, middle, end):
    """A limb with a pole in front of or behind its middle joint, and a control at its end."""
    x, y, z = middle
    y += 1.0 if y > 0 else -1.0
    return (
        BoneShape(f"upper {name}", root, middle, "chest" if root[2] > 1.2 else "hips"),
        BoneShape(f"lower {name}", middle, end, f"upper {name}", connected=True),
        BoneShape(f"end {name}", end, (end[0], end[1] - 0.15, end[2]), f"lower {name}", connected=True),
        BoneShape(f"control {name}", end, (end[0], end[1], end[2] + 0.1), "root"),
        BoneShape(f"pole {name}", (x, y, z), (x, y, z + 0.1), "root"),
    )


def character():
    """The rig, which plays none of its actions."""
    shapes = [
        BoneShape("root", (0, 0, 0), (0, 0.3, 0)),
        BoneShape("hips", (0, 0, 1.0), (0, 0, 1.2), "root"),
        BoneShape("chest", (0, 0, 1.2), (0, 0, 1.6), "hips", connected=True),
    ]
    for side, x in (("L", 1.0), ("R", -1.0)):
        shapes += _limb(f"leg.{side}", (0.12 * x, 0, 1.0), (0.12 * x, -0.03, 0.52), (0.12 * x, 0.02, 0.08))
        shapes += _limb(f"arm.{side}", (0.2 * x, 0, 1.55), (0.48 * x, 0.04, 1.55), (0.74 * x, 0, 1.55))
    for number, name in enumerate((BROKEN, DRIVEN)):
        y = 0.3 + 0.1 * number
        shapes += _limb(name, (0, y, 1.0), (0, y + 0.05, 0.7), (0, y, 0.4))
    rig = build_armature(tuple(shapes), "Hero")
    for name in (*LIMBS, BROKEN, DRIVEN):
        ik = rig.pose.bones[f"lower {name}"].constraints.new("IK")
        ik.chain_count, ik.use_stretch = 2, False
        if name != BROKEN:
            ik.target, ik.subtarget = rig, f"control {name}"
        if name in LIMBS:
            ik.pole_target, ik.pole_subtarget, ik.pole_angle = rig, f"pole {name}", -math.pi / 2
    driver = rig.pose.bones[f"upper {DRIVEN}"].driver_add("rotation_quaternion", 1).driver
    driver.type, driver.expression = "SCRIPTED", "0.1"
    return rig


def with_library(rig):
    """Fourteen actions of different lengths; returns their names. The rig plays the first."""
    for number in range(COUNT):
        _make_action(rig, number)
    play(rig, name_of(0))
    return [name_of(number) for number in range(COUNT)]


def _make_action(rig, number):
    """An action that moves hips and controls, each action not all of them; what it does not move is at rest."""
    clear_pose(rig)
    rig.animation_data_create().action = None
    random = np.random.default_rng(number)
    first, length = 1 + number, 1 if name_of(number) == LONELY else 12 + 3 * (number % 5)
    moved = [limb for place, limb in enumerate(LIMBS) if (number + place) % 5]
    for step in range(0, length, 3 if length > 1 else 1):
        turn = 2 * math.pi * step / length
        hips = rig.pose.bones["hips"]
        hips.location = (0.02 * math.sin(turn), -0.03 + 0.02 * math.cos(2 * turn), 0)
        hips.rotation_quaternion = (1, 0.05 * math.sin(turn), 0.04 * math.cos(turn), 0)
        for channel in ("location", "rotation_quaternion"):
            hips.keyframe_insert(channel, frame=first + step)
        for place, limb in enumerate(moved):
            control = rig.pose.bones[f"control {limb}"]
            phase = turn + math.pi * place
            size = 0.6 if limb.startswith("leg") else 0.3
            x, y, z = size * (0.3 * np.array([0.2 * math.cos(phase), math.sin(phase), math.cos(phase)]) + 0.1 * random.random(3))
            control.location = (0.2 * x - 0.1 if limb == "arm.L" else 0.1 + 0.2 * x if limb == "arm.R" else 0.1 * x, z, y)
            control.keyframe_insert("location", frame=first + step)
    action = rig.animation_data.action
    action.name = name_of(number)
    action.use_fake_user = True
    if number % 4 == 2:
        action.use_frame_range, action.use_cyclic = True, True
        action.frame_start, action.frame_end = first, first + length - 1
    if action.name == LOCKED:
        bone = rig.pose.bones["upper leg.L"]
        bone.keyframe_insert("rotation_quaternion", frame=first)
        for curve in curves_in(rig):
            curve.lock = curve.data_path.startswith('pose.bones["upper leg.L"]')


def curves_in(rig):
    data = rig.animation_data
    if not hasattr(data.action, "layers"):
        return list(data.action.fcurves)
    bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
    return list(bag.fcurves) if bag else []


def play(rig, name):
    """Let the rig play an action, as in the Action editor."""
    action = bpy.data.actions[name]
    rig.animation_data.action = action
    if hasattr(action, "slots"):
        rig.animation_data.action_slot = next(slot for slot in action.slots if slot.identifier == f"OB{rig.name}")


def clear_pose(rig):
    for bone in rig.pose.bones:
        bone.matrix_basis.identity()
        bone.location, bone.scale = (0, 0, 0), (1, 1, 1)
        bone.rotation_quaternion, bone.rotation_euler = (1, 0, 0, 0), (0, 0, 0)


def frames_of(name):
    start, end = bpy.data.actions[name].frame_range
    return range(int(start), int(end) + 1)


def poses_of(rig, name, *, clear=True):
    """World matrices of all bones `(F, B, 4, 4)` on the frames of an action, as Blender evaluates them."""
    play(rig, name)
    if clear:
        clear_pose(rig)
    found = []
    for frame in frames_of(name):
        bpy.context.scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(posed.matrix_world @ bone.matrix) for bone in posed.pose.bones])
    return np.array(found)


def moved(before, after, bones=None):
    """The farthest that a bone's head, or a point 0.3 along its axes, moved."""
    ends = np.concatenate([np.zeros((1, 3)), 0.3 * np.eye(3)])
    ways = np.einsum("fbij,pj->fbpi", (after - before)[..., :3, :3], ends) + (after - before)[..., None, :3, 3]
    ways = ways if bones is None else ways[:, bones]
    return float(np.linalg.norm(ways, axis=-1).max())


def make_action(thing, name, bone="upper", frames=(1, 10)):
    """An action of a bone, or of the object itself, that nobody plays afterwards."""
    thing.animation_data_create().action = None
    owner = thing.pose.bones[bone] if bone else thing
    for frame in frames:
        owner.keyframe_insert("location", frame=frame)
    action = thing.animation_data.action
    action.name, action.use_fake_user = name, True
    thing.animation_data.action = None
    return action
