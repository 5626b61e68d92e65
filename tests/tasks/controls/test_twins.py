"""Twins of public rigs, built from how these are wired: to IK and back over sixty frames nothing is seen to move or turn."""

import json
import math

import bpy
import numpy as np
import pytest
from mathutils import Euler

from tests.tasks.scenes import BoneShape, build_armature, key_channel, set_range

LAST = 60
PLACED, TURNED = 1e-4, math.radians(0.1)
"""Metres and radians."""

HIP, KNEE, ANKLE, BALL, TIP = (0.1, 0, 0.95), (0.1, -0.04, 0.5), (0.1, 0.02, 0.08), (0.1, -0.12, 0.02), (0.1, -0.2, 0.02)
SHOULDER, ELBOW, WRIST, KNUCKLE = (0.2, 0, 1.4), (0.45, 0.04, 1.38), (0.7, 0, 1.36), (0.8, -0.01, 1.35)
TRUNK = (BoneShape("root", (0, 0, 0), (0, 0.3, 0)), BoneShape("pelvis", (0, 0, 1), (0, 0, 1.2), "root"))


def driven(constraint, rig, switch, expression="ik"):
    driver = constraint.driver_add("influence").driver
    driver.type, driver.expression = "SCRIPTED", expression
    variable = driver.variables.new()
    variable.name = "ik"
    variable.targets[0].id, variable.targets[0].data_path = rig, f'["{switch}"]'


def constrained(rig, bone, kind, source, **settings):
    constraint = rig.pose.bones[bone].constraints.new(kind)
    constraint.target, constraint.subtarget = rig, source
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint


def ik_over(rig, lower, goal, pole="", **settings):
    constraint = constrained(rig, lower, "IK", goal, chain_count=2, iterations=500, use_stretch=False, **settings)
    if pole:
        constraint.pole_target, constraint.pole_subtarget, constraint.pole_angle = rig, pole, -math.pi / 2
    return constraint


def game_leg(*, pole=True):
    """One set of bones that keys and IK share, and twist bones; the foot copies the IK bone's rotation: a game's mannequin."""
    rig = build_armature(
        (
            *TRUNK,
            BoneShape("thigh_l", HIP, KNEE, "pelvis"),
            BoneShape("thigh_twist_01_l", (0.1, -0.02, 0.72), KNEE, "thigh_l"),
            BoneShape("calf_l", KNEE, ANKLE, "thigh_l", connected=True),
            BoneShape("foot_l", ANKLE, BALL, "calf_l", connected=True),
            BoneShape("ball_l", BALL, TIP, "foot_l", connected=True),
            BoneShape("ik_foot_root", (0, 0, 0), (0, 0.2, 0), "root"),
            BoneShape("ik_foot_l", ANKLE, BALL, "ik_foot_root"),
            BoneShape("knee_pole_l", (0.1, -0.7, 0.5), (0.1, -0.8, 0.5), "root"),
        )
    )
    rig["ik"] = 0.0
    driven(ik_over(rig, "calf_l", "ik_foot_l", "knee_pole_l" if pole else ""), rig, "ik")
    driven(constrained(rig, "foot_l", "COPY_ROTATION", "ik_foot_l"), rig, "ik")
    return rig, ("thigh_l", "calf_l", "foot_l", "ball_l"), ("thigh_l", "thigh_twist_01_l", "calf_l", "foot_l", "ball_l")


def game_arm(*, pole=True):
    rig = build_armature(
        (
            *TRUNK,
            BoneShape("upperarm_l", SHOULDER, ELBOW, "pelvis"),
            BoneShape("lowerarm_l", ELBOW, WRIST, "upperarm_l", connected=True),
            BoneShape("hand_l", WRIST, KNUCKLE, "lowerarm_l", connected=True),
            BoneShape("ik_hand_gun", WRIST, KNUCKLE, "root"),
            BoneShape("ik_hand_l", WRIST, KNUCKLE, "ik_hand_gun"),
            BoneShape("elbow_pole_l", (0.45, 0.7, 1.38), (0.45, 0.8, 1.38), "root"),
        )
    )
    rig["ik"] = 0.0
    driven(ik_over(rig, "lowerarm_l", "ik_hand_l", "elbow_pole_l" if pole else ""), rig, "ik")
    driven(constrained(rig, "hand_l", "COPY_ROTATION", "ik_hand_l"), rig, "ik")
    return rig, ("upperarm_l", "lowerarm_l", "hand_l"), ("upperarm_l", "lowerarm_l", "hand_l")


def two_sets(places, ends, name, *, pole):
    """Deforming bones that copy a set of FK bones and one of IK bones by one property, a foot reversed below its control."""
    parts, shapes = [*name], []
    for kind, suffix in (("", ""), ("fk", ".fk"), ("ik", ".ik")):
        parent = "pelvis"
        for number, part in enumerate(parts if kind != "ik" else parts[:2]):
            shapes.append(BoneShape(f"{part}{suffix}", places[number], places[number + 1], parent, connected=number > 0))
            parent = f"{part}{suffix}"
    third, (x, y, z) = parts[2], places[1]
    shapes += [
        BoneShape(f"{third}.control", places[2], ends, "root"),
        BoneShape(f"{third}.rev", places[3], places[2], f"{third}.control"),
        BoneShape(f"{third}.inv", places[2], places[3], f"{third}.rev"),
        BoneShape("goal", places[2], ends, f"{third}.rev"),
        BoneShape("pole", (x, y + math.copysign(0.7, y), z), (x, y + math.copysign(0.8, y), z), "root"),
    ]
    if len(parts) > 3:
        shapes.append(BoneShape(f"{parts[3]}.inv", places[3], places[4], f"{third}.inv"))
    rig = build_armature((*TRUNK, *shapes))
    rig["ik"] = 0.0
    ik_over(rig, f"{parts[1]}.ik", "goal", "pole" if pole else "")
    for number, part in enumerate(parts):
        constrained(rig, part, "COPY_TRANSFORMS", f"{part}.fk").name = "FK"
        source = f"{part}.ik" if number < 2 else f"{part}.inv"
        driven(constrained(rig, part, "COPY_TRANSFORMS", source), rig, "ik")
    for bone in rig.data.bones:
        bone.use_deform = bone.name in parts
    return rig, tuple(f"{part}.fk" for part in parts), tuple(parts)


def two_set_leg(*, pole=True):
    return two_sets((HIP, KNEE, ANKLE, BALL, TIP), (0.1, 0.2, 0.08), ("thigh", "shin", "foot", "toe"), pole=pole)


def two_set_arm(*, pole=True):
    return two_sets((SHOULDER, ELBOW, WRIST, KNUCKLE), (0.7, 0.2, 1.36), ("upper_arm", "forearm", "hand"), pole=pole)


def dance_leg(*, pole):
    """A leg whose knee is locked to a hinge, on IK without a pole, and an ankle on IK of its own towards the toe's control."""
    rig = build_armature(
        (
            *TRUNK,
            BoneShape("leg.L", HIP, KNEE, "pelvis"),
            BoneShape("knee.L", KNEE, ANKLE, "leg.L", connected=True),
            BoneShape("ankle.L", ANKLE, BALL, "knee.L", connected=True),
            BoneShape("toe.L", BALL, TIP, "ankle.L", connected=True),
            BoneShape("leg IK.L", ANKLE, (0.1, 0.2, 0.08), "root"),
            BoneShape("toe IK.L", BALL, (0.1, -0.12, -0.05), "leg IK.L"),
        )
    )
    knee = rig.pose.bones["knee.L"]
    knee.lock_ik_y = knee.lock_ik_z = True
    knee.use_ik_limit_x, knee.ik_min_x, knee.ik_max_x = True, 0.0, math.pi
    ik_over(rig, "knee.L", "leg IK.L").influence = 0.0
    constrained(rig, "ankle.L", "IK", "toe IK.L", chain_count=1, iterations=200, influence=0.0)
    return rig, ("leg.L", "knee.L", "ankle.L", "toe.L"), ("leg.L", "knee.L", "ankle.L", "toe.L")


def walk(rig, controls):
    """Hinges bend, balls swing; no bone but the last is twisted about itself, for IK has no control of that."""
    for bone in rig.pose.bones:
        bone.rotation_mode = "QUATERNION"
    rests = rig.data.bones
    upper, lower = rests[controls[0]], rests[controls[1]]
    hinge = (lower.head_local - upper.head_local).cross(lower.tail_local - lower.head_local).normalized()
    for frame in range(1, LAST + 1, 3):
        swing = math.sin(frame / 6)
        bends = (-0.25 * swing, 0.35 + 0.2 * swing, 0.2 * swing, 0.3 * swing)
        for bone, angle in zip(controls, bends, strict=False):
            axis = rests[bone].matrix_local.to_3x3().inverted() @ hinge
            half = 0.5 * angle
            key_channel(rig.pose.bones[bone], "rotation_quaternion", {frame: (math.cos(half), *(math.sin(half) * axis))})
        turn = tuple(Euler((0.1 * swing, 0.05, 0.2 * swing)).to_quaternion())
        key_channel(rig.pose.bones["pelvis"], "rotation_quaternion", {frame: turn})
        key_channel(rig.pose.bones["pelvis"], "location", {frame: (0.05 * swing, 0.02, 0.05 * swing)})


def poses(rig, seen):
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in seen])
    return np.array(found)


def assert_seen_to_stay(before, after):
    assert np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1).max() < PLACED
    turns = np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3]
    sines = np.linalg.norm(
        [turns[..., 2, 1] - turns[..., 1, 2], turns[..., 0, 2] - turns[..., 2, 0], turns[..., 1, 0] - turns[..., 0, 1]], axis=0
    )
    assert np.arcsin(np.minimum(0.5 * sines, 1.0)).max() < TURNED


TWINS = [
    *((build, pole) for build in (game_leg, game_arm, two_set_leg, two_set_arm) for pole in (True, False)),
    (dance_leg, False),  # such legs have no poles
]


@pytest.mark.parametrize("build, pole", TWINS, ids=[f"{build.__name__}-{pole}" for build, pole in TWINS])
def test_to_ik_and_back_nothing_is_seen_to_move(empty_file, build, pole):
    rig, controls, seen = build(pole=pole)
    walk(rig, controls)
    set_range(1, LAST)
    bpy.context.view_layer.objects.active = rig
    bpy.context.scene.frame_set(1)
    before = poses(rig, seen)
    names = {"armature": "Rig", "upper": controls[0], "lower": controls[1]}
    for to in ("IK", "FK"):
        assert bpy.ops.twobone.switch(**names, to=to, **({"motion": "BAKE"} if to == "FK" else {})) == {"FINISHED"}
        told = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
        assert told["max_moved"] < PLACED
        assert_seen_to_stay(before, poses(rig, seen))
