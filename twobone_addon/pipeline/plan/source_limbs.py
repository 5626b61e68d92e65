"""The limb of another character that a chain follows: how much larger its motion is, and which way it faces."""

from __future__ import annotations

import math

import numpy as np

from ...core.array_types import Array
from ...core.arrays import path_length
from ...core.limbs.body.judging import LimbKind
from ...core.limbs.finding import find_limbs
from ...core.limbs.names import Side
from ...core.rig.bones import RestBone, RestChain
from ...core.rig.headings import heading_difference
from ...core.rig.rotations import nearest_rotation
from ...errors import ChainError, SettingError
from ...scene.blender_types import Object, Scene
from ...scene.graph.rig_graph import dependencies
from ...scene.lookup import find_object, objects_by_name, other_side, read_once
from ...scene.rig.rest_reading import read_skeleton
from ...scene.sampling.evaluate import evaluate
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import at_once
from ...settings import BakeSettings
from .chain_plan import SourceLimb

AUTOMATIC = 0.0
"""Value of Target Scale that stands for the ratio of both limbs' lengths."""


def source_limb(
    scene: Scene, settings: BakeSettings, armature: Object, rest: RestChain, end_bone: RestBone | None, *, frames: Array
) -> SourceLimb | None:
    """The source limb that the settings name, to be followed at `frames` `(F,)`; `None` if they name none.

    Raises a `TwoBoneError`. The rest poses are compared as both objects stand at the scene's first frame, whatever frame is
    shown: an object that turns later turns its limb, not its rest pose.
    """
    if not settings.target_root_bone:
        if settings.target_scale != 1.0:
            raise SettingError(
                "Target Scale is {scale:g}, but there is no Target Root Bone to scale from. Name the first bone of the limb "
                "that is followed, or set the scale to 1.",
                scale=settings.target_scale,
            )
        return None
    source = find_object("Target root", settings.target, settings.target_root_bone)
    scale, turn = settings.target_scale, np.eye(3)
    heading = _heading(scene, armature, source, settings, upper=rest.upper.name, frames=frames)
    turned = end_bone if settings.end_rotation == "TARGET" and settings.target_bone else None
    if turned is not None or scale == AUTOMATIC:  # Only these compare rest poses, which costs an evaluation.
        own_world, source_world = _world_at_first_frame(scene, armature, source)
        if turned is not None:
            bone_rest = np.array(source.data.bones[settings.target_bone].matrix_local, dtype=float)[:3, :3]
            source_rest = nearest_rotation(source_world[:3, :3] @ bone_rest)
            turn = source_rest.T @ heading.T @ nearest_rotation(own_world[:3, :3] @ turned.rest[:3, :3])
        if scale == AUTOMATIC:
            length = float(path_length(rest.rest_joints())) * _mean_scale(own_world)
            scale = length / _source_length(source, settings, _mean_scale(source_world))
    return SourceLimb(Quantity("WORLD", settings.target, settings.target_root_bone), scale, turn, heading)


def _source_length(source: Object, settings: BakeSettings, size: float) -> float:
    """Length of the source limb at rest, from joint to joint, in world units; raises `ChainError` if it has none."""
    bone = source.data.bones.get(settings.target_bone)
    joints = []
    while bone is not None:
        joints.append(bone.head_local)
        if bone.name == settings.target_root_bone:
            break
        bone = bone.parent
    length = float(path_length(np.array(joints, dtype=float))) * size if bone is not None and len(joints) > 1 else 0.0
    if not length:
        raise ChainError(
            'Target Root Bone "{bone}" is not above target bone "{target_bone}" of "{source}", so the limb between them has no '
            "length to scale by. Name the bone where that limb begins, or give the scale.",
            bone=settings.target_root_bone,
            target_bone=settings.target_bone,
            source=source.name,
        )
    return length


def _world_at_first_frame(scene: Scene, *objects: Object) -> list[Array]:
    """World matrices `(4, 4)` of objects at the scene's first frame."""
    quantities = [Quantity("WORLD", owner.name) for owner in objects]
    reads_scene = dependencies(objects_by_name(), [(owner.name, "") for owner in objects]).reads_scene
    values = at_once(evaluate(scene, quantities, np.array([float(scene.frame_start)]), in_scene=reads_scene))
    return [values[quantity][0] for quantity in quantities]


def _mean_scale(world: Array) -> float:
    """Mean scale of a world matrix: the cube root of its volume scale."""
    return float(np.cbrt(abs(np.linalg.det(world[:3, :3]))))


MOMENTS = 9
"""Frames at which the hips of two characters are compared: enough for a mean over a take."""

MOST_UNSTEADY = 0.1
"""Share of the moments at which hips may turn otherwise: a character that is not animated yet has hips of its own."""

SAME_HEADING = math.radians(5.0)
"""Difference of headings up to which two characters face the same way: hips at rest are seldom exactly square to their body."""


def hips_of(armature: Object) -> tuple[str, str] | None:
    """First bones of the left and the right leg: of stored chains, or else as found at rest; `None` without such a pair."""
    stored = {chain.side: chain.upper for chain in reversed(armature.twobone.chains) if chain.limb == "LEG"}
    if {"LEFT", "RIGHT"} <= stored.keys() and {stored["LEFT"], stored["RIGHT"]} <= set(armature.data.bones.keys()):
        return stored["LEFT"], stored["RIGHT"]
    found = find_limbs(read_skeleton(armature)).limbs
    legs = {limb.side: limb.upper for limb in reversed(found) if limb.kind is LimbKind.LEG}
    return (legs[Side.LEFT], legs[Side.RIGHT]) if {Side.LEFT, Side.RIGHT} <= legs.keys() else None


def _heading(scene: Scene, armature: Object, source: Object, settings: BakeSettings, *, upper: str, frames: Array) -> Array:
    """Rotation `(3, 3)` about the world's Z axis from the way that the source faces to the way that the armature faces.

    Where both turn alike over the `frames`, as after a retarget, their hips tell; else how both stand at rest. Limbs of which no
    other side is known are followed along the world's axes.
    """
    pairs = [read_once(hips_of, character) for character in (armature, source)]
    if None in pairs:
        bones = (armature, upper), (source, settings.target_root_bone)
        pairs = [(bone, other_side(bone)) for _, bone in bones]
        if any(other == bone or other not in owner.data.bones for (owner, _), (bone, other) in zip(bones, pairs, strict=True)):
            return np.eye(3)
    hips = [
        [Quantity("WORLD", owner.name, bone) for bone in pair or ()]
        for owner, pair in zip((armature, source), pairs, strict=True)
    ]
    moments = np.unique(np.round(np.linspace(float(frames[0]), float(frames[-1]), MOMENTS)))
    reads_scene = dependencies(objects_by_name(), [(item.object, item.bone) for pair in hips for item in pair]).reads_scene
    values = at_once(evaluate(scene, [item for pair in hips for item in pair], moments, in_scene=reads_scene))
    angle, unsteady = heading_difference(*(values[right][:, :3, 3] - values[left][:, :3, 3] for left, right in hips))
    if unsteady > MOST_UNSTEADY:
        worlds, across = _world_at_first_frame(scene, armature, source), []
        for owner, world, (left, right) in zip((armature, source), worlds, hips, strict=True):
            bones = owner.data.bones
            across.append(world[:3, :3] @ np.array(bones[right.bone].head_local - bones[left.bone].head_local))
        angle, _ = heading_difference(across[0][None], across[1][None])
    if abs(angle) <= SAME_HEADING:
        return np.eye(3)
    return np.array([[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0], [0.0, 0.0, 1.0]])
