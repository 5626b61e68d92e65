"""What is seen of characters in the open file, measured from bones as Blender evaluates them; nothing is taken from a report."""

import bpy
import numpy as np

LIMBS = (("thigh", "shin"), ("upper_arm", "forearm"), ("boom", "stick"))
BALLS = ("toe", "toe_fk")
BENT = np.radians(3.0)
"""Below this a joint has no side."""
LOW, SHORT = 0.003, 0.001
"""Metres: a ball stands while it is this near to its lowest place, and is still while it moves by less than this in a frame."""


def characters(frames=None):
    """By armature, how well each joint bends as at rest, how low each ball comes, and how much of its standing is still."""
    scene = bpy.context.scene
    armatures = {thing.name: thing for thing in bpy.data.objects if thing.type == "ARMATURE"}
    joints = {name: joints_of(armature) for name, armature in armatures.items()}
    balls = {
        name: [bone.name for bone in rig.pose.bones if bone.name.rpartition(".")[0] in BALLS] for name, rig in armatures.items()
    }
    bends = {
        name: {pair: [bend_of(rig.data.bones, pair, "matrix_local")] for pair in joints[name]} for name, rig in armatures.items()
    }
    places = {name: {ball: [] for ball in balls[name]} for name in armatures}
    for frame in frames or range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for name, armature in armatures.items():
            posed = armature.evaluated_get(depsgraph)
            for pair, found in bends[name].items():
                found.append(bend_of(posed.pose.bones, pair, "matrix"))
            for ball, found in places[name].items():
                found.append(posed.matrix_world @ posed.pose.bones[ball].head)
    resting = {
        name: {ball: (rig.matrix_world @ rig.data.bones[ball].head_local).z for ball in balls[name]}
        for name, rig in armatures.items()
    }
    return {
        name: {
            "joints": {pair[0]: as_at_rest(found) for pair, found in bends[name].items()},
            "lowest": {ball: min(place.z for place in found) - resting[name][ball] for ball, found in places[name].items()},
            "still": {ball: still(np.array(found)) for ball, found in places[name].items()},
        }
        for name in armatures
    }


def joints_of(armature):
    """Pairs of bones by their names, and those of the stored chains."""
    names = list(armature.pose.bones.keys())
    pairs = [(name, name.replace(upper, lower, 1)) for upper, lower in LIMBS for name in names if name.startswith(upper)]
    pairs += [(chain.upper, chain.lower) for chain in armature.twobone.chains if chain.joints == "TWO"]
    return [
        pair
        for pair in dict.fromkeys(pairs)
        if set(pair) <= set(names) and armature.data.bones[pair[1]].parent == armature.data.bones[pair[0]]
    ]


def bend_of(bones, pair, matrix):
    """The axis about which the joint is bent, as each of its two bones has it; None where it is straight."""
    upper, lower = (np.array(getattr(bones[name], matrix).to_3x3().normalized()) for name in pair)
    axis = np.cross(upper[:, 1], lower[:, 1])
    length = np.linalg.norm(axis)
    return None if length < np.sin(BENT) else (upper.T @ (axis / length), lower.T @ (axis / length))


def as_at_rest(bends):
    """The least cosine between the axis and that at rest, or of the first bent frame: 1 a hinge, less twist, -1 backwards."""
    first, *others = [bend for bend in bends if bend is not None] or [None]
    return min((float(then @ now) for bend in others for then, now in zip(first, bend, strict=True)), default=1.0)


def still(ball):
    """Share of the steps of a standing ball in which it is still; 1 if it never stands."""
    stands = ball[:, 2] < ball[:, 2].min() + LOW
    steps = np.linalg.norm(np.diff(ball, axis=0), axis=1)[stands[:-1] & stands[1:]]
    return float(np.mean(steps < SHORT)) if len(steps) else 1.0
