"""Follow a plane and the bones that turn in it over all keys: whether hinges stay constant although something moves.

A cut-out's hips turn in the plane of its drawing: they move, but the plane does not turn relative to them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import merge_frames, subframe_grid
from ...core.rig.bones import BoneChannels, ChainMotion, RestBone, RestChain
from ...core.rig.channels import channel_rotations
from ...core.rig.plane_frames import LETTERS, PlaneSpaces, has_plane, still_frames
from ...core.rig.posing import Reference, hinge_axis, present_reference, rest_reference
from ...core.rig.rotations import determinant, unit
from ...pipeline.motion.curve_motion import CurveMotion
from ...pipeline.plan.planes_of_rig import normal_now
from ...pipeline.pose.curve_values import HINGE_TOLERANCE
from ...said import Sentence
from ...scene.blender_types import Object
from ...scene.bones import ChainNames
from ...scene.graph.lineage_reading import LineageReader
from ...scene.graph.rig_graph import Node, dependencies
from ...scene.graph.stillness import Stillness
from ...scene.keys.reading import key_frames, motion_curves
from ...scene.lookup import objects_by_name, rotation_values
from ...scene.sampling.quantities import Quantity
from ...settings import BakeSettings


def present_pose(armature: Object, rest: RestChain, settings: BakeSettings) -> Reference:
    """The reference pose of a bake at the scene's present frame, as one row."""
    bones = armature.pose.bones
    parent = bones[rest.bones[0].name].parent
    motion = ChainMotion(
        np.array(parent.matrix, dtype=float)[None] if parent else None,
        tuple(_channels(armature, bone) for bone in rest.bones),
    )
    return (rest_reference if settings.reference == "REST" else present_reference)(rest, motion)


def plane_moves(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> bool:
    """Whether anything may turn the plane relative to the chain's parents, or to the bones between its joints.

    True where stillness cannot be proved.
    """
    objects, stillness = objects_by_name(), Stillness()
    between = [bone.name for index, bone in enumerate(rest.bones[: rest.turning[-1]]) if index not in rest.turning]
    if not stillness.holds((names.armature, name) for name in between):
        return True
    if settings.plane != "OBJECT" and settings.plane_space == "PARENT":
        return False
    parent = armature.pose.bones[names.upper].parent
    above = dependencies(objects, [(names.armature, parent.name)]).nodes if parent else set()
    of_armature = dependencies(objects, [(names.armature, "")]).nodes
    if settings.plane == "OBJECT":
        return not stillness.holds(above | of_armature | dependencies(objects, [(settings.plane_object, "")]).nodes)
    if settings.plane_space == "WORLD":
        return not stillness.holds(above | of_armature)
    # Motion of the armature object moves the plane along with it, unless a bone above depends on anything else.
    outside = {node for node in above if node[0] != names.armature} - of_armature
    return not stillness.holds(above if outside else {node for node in above if node[1]})


def _channels(armature: Object, bone: RestBone) -> BoneChannels:
    """Present channels of a bone, as one row."""
    pose_bone = armature.pose.bones[bone.name]
    rotation = channel_rotations(bone.rotation_mode, np.array([rotation_values(pose_bone)]))
    return BoneChannels(np.array([pose_bone.location]), rotation, np.array([pose_bone.scale]))


ON_AXIS = 0.5 * HINGE_TOLERANCE
"""Angle between a hinge and a local axis, radians, up to which every turn about the hinge is within the bake's tolerance: a
half turn about an axis that is off by e leaves the local axis off by 2 e."""

SAME_PLANE = np.radians(1.0)
"""Angle between the present normals of two planes, radians, up to which one is suggested in place of the other."""

MOMENTS = 4
"""Number of samples from key to key, where keys are more than a frame apart."""


def why_no_hinges(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> Sentence | None:
    """Why bones are no hinges in a plane that may move relative to their parents, as the end of a sentence; `None` if they are.

    Suggests a plane that moves with the parent bone and now lies like the chosen one, if there is one.
    """
    sampled = axes_over_time(armature, settings, names, rest)
    why = Sentence("the plane may move relative to the parent bones")
    if sampled is not None:
        frames, axes = sampled
        angles = np.max([_angles(each, each[0]) for each in axes], axis=0)
        if np.max([_angles(each, unit(each.mean(axis=0))) for each in axes]) <= ON_AXIS:
            return None
        worst = int(np.argmax(angles))
        why = Sentence(
            "the parent bones rotate {angle:.3g} degrees out of the plane between frames {first:g} and {last:g}",
            {"angle": np.degrees(angles[worst]), "first": frames[0], "last": frames[worst]},
        )
    letters = _plane_of_parent(armature, settings, names, rest)
    if not letters:
        return why
    return Sentence("{reason}; plane {plane} in Parent space rotates with them", {"reason": why, "plane": letters})


def _plane_of_parent(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> str:
    """Letters of a Parent space plane that now lies like the chosen one and moves with the parent bone; empty if none does."""
    normal = normal_now(armature, settings, names.upper)
    if armature.pose.bones[names.upper].parent is None or normal is None:
        return ""
    for letters in LETTERS:
        tried = replace(settings, plane=letters, plane_space="PARENT")
        other = normal_now(armature, tried, names.upper)
        if other is not None and abs(other @ normal) >= np.cos(SAME_PLANE) and not plane_moves(armature, tried, names, rest):
            return letters
    return ""


def _angles(axes: Array, axis: Array) -> Array:
    """Angles `(F,)`, radians, between axes `(F, 3)` and one axis `(3,)`."""
    return np.arctan2(np.linalg.norm(np.cross(axes, axis), axis=-1), axes @ axis)


def axes_over_time(
    armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain
) -> tuple[Array, list[Array]] | None:
    """Frames `(F,)`, and hinge axes `(F, 3)` of each turning bone at these, in the bone's space before its own rotation.

    The frames are those of all keys on which the bones and the plane depend, and some between them. `None` where F-Curves
    alone do not determine the motion (constraints, drivers, strips, modifiers that go on beyond keys), or where the plane
    is degenerate at some frame.
    """
    above = _above(settings, names, rest)
    frames = _key_moments(above)
    if frames is None:
        return None
    reader = LineageReader(frames)
    motion = CurveMotion(reader)
    chain = _chain_motion(armature, rest, reader, motion)
    normals = None if chain is None else _normals(settings, names, chain, motion)
    if chain is None or normals is None:
        return None
    found = [hinge_axis(inherited, normals) for inherited in rest_reference(rest, chain).inherited]
    return frames, [np.broadcast_to(axes, (len(frames), 3)) for axes in found]


def _above(settings: BakeSettings, names: ChainNames, rest: RestChain) -> set[Node]:
    """Nodes on which the bones between the joints, their parents and the plane depend, without the turning bones."""
    between = [(names.armature, bone.name) for bone in rest.bones[: rest.turning[-1]]]
    starts = [(names.armature, ""), *between]
    if settings.plane == "OBJECT":
        starts.append((settings.plane_object, ""))
    turning = {(names.armature, rest.bones[index].name) for index in rest.turning}
    return dependencies(objects_by_name(), starts).nodes - turning


def _key_moments(nodes: Iterable[Node]) -> Array | None:
    """Frames `(F,)` of all keys, and between them; `None` where anything moves other than from its first key to its last."""
    objects, found = objects_by_name(), [np.empty(0)]
    for name, bone in nodes:
        for fcurve in motion_curves(objects[name], bone):
            if fcurve.sampled_points or any(modifier.type != "CYCLES" for modifier in fcurve.modifiers):
                return None
        found.append(key_frames(objects[name], bone))
    keys = merge_frames(*found)
    if not len(keys):
        return np.zeros(1)
    moments = subframe_grid(keys, MOMENTS)
    apart = np.append(np.repeat(np.diff(keys) > 1.0, MOMENTS), True)
    apart[::MOMENTS] = True
    return moments[apart]


def _chain_motion(armature: Object, rest: RestChain, reader: LineageReader, motion: CurveMotion) -> ChainMotion | None:
    """Channels of the chain's bones and poses of its parent; `None` where F-Curves alone do not determine them."""
    parent = armature.pose.bones[rest.bones[0].name].parent
    parent_pose = motion.find(Quantity("POSE", armature.name, parent.name)) if parent else None
    if parent and parent_pose is None:
        return None
    channels = []
    for index, bone in enumerate(rest.bones):
        pose_bone = armature.pose.bones[bone.name]
        if index not in rest.turning and reader.bone_link(armature, bone.name) is None:
            return None
        values = reader.channels(armature, pose_bone)
        if values is None:
            return None
        channels.append(BoneChannels(values.location, channel_rotations(bone.rotation_mode, values.rotation), values.scale))
    return ChainMotion(parent_pose, tuple(channels))


def _normals(settings: BakeSettings, names: ChainNames, chain: ChainMotion, motion: CurveMotion) -> Array | None:
    """Normals of the plane, armature space, `(F, 3)` or `(1, 3)`; `None` where its motion is unknown or it is degenerate."""
    is_object = settings.plane == "OBJECT"
    spaces = PlaneSpaces(np.eye(3), None if chain.parent_pose is None else chain.parent_pose[:, :3, :3], None)
    if is_object or settings.plane_space == "WORLD":
        world = motion.find(Quantity("WORLD", names.armature))
        thing = motion.find(Quantity("WORLD", settings.plane_object)) if is_object else world
        if world is None or thing is None or np.any(determinant(world[:, :3, :3]) == 0.0):
            return None
        inverse = np.linalg.inv(world[:, :3, :3])
        spaces = PlaneSpaces(inverse, None, inverse @ thing[:, :3, :3] if is_object else None)
    frames = still_frames(settings.plane, settings.plane_space, spaces).reshape(-1, 3, 3)
    return frames[..., 2] if np.all(has_plane(frames)) else None
