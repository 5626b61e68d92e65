"""A fixed plane as it is now, and whether it will stay so as seen from the bones that turn in it."""

from __future__ import annotations

import numpy as np

from ...core.rig.bones import BoneChannels, ChainMotion, RestBone, RestChain
from ...core.rig.channels import channel_rotations
from ...core.rig.posing import Reference, present_reference, rest_reference
from ...scene.blender_types import Object
from ...scene.bones import ChainNames
from ...scene.graph.rig_graph import dependencies
from ...scene.graph.stillness import Stillness
from ...scene.lookup import objects_by_name, rotation_values
from ...settings import BakeSettings


def present_pose(armature: Object, rest: RestChain, settings: BakeSettings) -> Reference:
    """The reference pose of a bake, with one row: the scene's frame."""
    bones = armature.pose.bones
    parent = bones[rest.bones[0].name].parent
    motion = ChainMotion(
        np.array(parent.matrix, dtype=float)[None] if parent else None,
        tuple(_channels(armature, bone) for bone in rest.bones),
    )
    return (rest_reference if settings.reference == "REST" else present_reference)(rest, motion)


def plane_moves(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> bool:
    """Whether anything may turn the plane against the parents of the chain, or the bones between its joints.

    Says yes where stillness cannot be proved.
    """
    objects, stillness = objects_by_name(), Stillness()
    between = [bone.name for index, bone in enumerate(rest.bones[: rest.turning[-1]]) if index not in rest.turning]
    if not stillness.holds((names.armature, name) for name in between):
        return True
    if settings.plane != "OBJECT" and settings.plane_space == "PARENT":
        return False
    parent = armature.pose.bones[names.upper].parent
    above = dependencies(objects, [(names.armature, parent.name)]).nodes if parent else set()
    own = dependencies(objects, [(names.armature, "")]).nodes
    if settings.plane == "OBJECT":
        return not stillness.holds(above | own | dependencies(objects, [(settings.plane_object, "")]).nodes)
    if settings.plane_space == "WORLD":
        return not stillness.holds(above | own)
    # What moves the armature object moves the plane with it, as long as no bone above looks at anything else.
    outside = {node for node in above if node[0] != names.armature} - own
    return not stillness.holds(above if outside else {node for node in above if node[1]})


def _channels(armature: Object, bone: RestBone) -> BoneChannels:
    """The bone's own channels now, one row."""
    pose_bone = armature.pose.bones[bone.name]
    rotation = channel_rotations(bone.rotation_mode, np.array([rotation_values(pose_bone)]))
    return BoneChannels(np.array([pose_bone.location]), rotation, np.array([pose_bone.scale]))
