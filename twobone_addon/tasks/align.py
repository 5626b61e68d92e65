"""Align Hinges: make the hinges of a chain single rotation channels, so that a bake writes one curve per joint.

Which bones are hinges, and about which axes, is found from the rest pose, the settings and the animated channels alone: no
motion is sampled, so a panel can ask any time. Aligning is never part of a bake, because it changes rotation modes and, on
request, rolls. The visible motion is preserved: poses and rotation keys are converted, with additional keys where the motion
between keys needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from ..core.array_types import Array, Indices, KeyFrames
from ..core.curves.frames import NEAR_FRAME, merge_frames, subframe_grid
from ..core.rig.bones import BoneChannels, ChainMotion, RestBone, RestChain
from ..core.rig.channels import Matrices, channel_rotations, from_eulers
from ..core.rig.hinges import ORDERS, Y_AXIS, roll_rotation, roll_to_axis
from ..core.rig.limb_normals import resting_hinge
from ..core.rig.limb_planes import rest_normal
from ..core.rig.plane_frames import LETTERS, PlaneSpaces, has_plane, is_bent, still_frames
from ..core.rig.posing import Reference, hinge_axis, present_reference, rest_reference, scale_carriers
from ..core.rig.rotations import determinant, unit
from ..errors import ChainError
from ..pipeline.gate import refuse_posed, who_poses
from ..pipeline.keying import fewest_keys
from ..pipeline.motion.sampling import CurveMotion
from ..pipeline.plan.found_chain import end_bone_of, find_chain
from ..pipeline.plan.frame_choice import frame_range
from ..pipeline.plan.naming import named
from ..pipeline.plan.planes_of_rig import decided, normal_now
from ..pipeline.pose.solving import HINGE_TOLERANCE, CurveSamples, RotationCurves, Surroundings, rotation_curves
from ..pipeline.report.reports import Report
from ..pipeline.story import Story, Task, Write
from ..records import replace
from ..said import Sentence, joined, note
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Property, Scene
from ..scene.bones import ChainNames
from ..scene.graph.lineage_reading import LineageReader
from ..scene.graph.rig_graph import Node, Stillness, dependencies
from ..scene.keys.guarding import refuse_unconvertible
from ..scene.keys.reading import curve_values, key_frames, motion_curves
from ..scene.keys.tables import INTERPOLATION, KEY_PLAIN, ChannelKeys, StraightKeys, read_keys
from ..scene.lookup import object_named, objects_by_name, rotation_values
from ..scene.rig.rolling import (
    RotationChannels,
    change_rolls,
    euler_path,
    read_rotation_channels,
    refuse_unrollable,
    set_rotation_mode,
)
from ..scene.sampling.quantities import Quantity
from ..scene.visible.skin import Skins
from ..settings import LIMB_PLANES, BakeSettings
from ..settings.tasks import TABLES, AlignSettings


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
        angles = np.max([_angles(axis, axis[0]) for axis in axes], axis=0)
        if np.max([_angles(axis, unit(axis.mean(axis=0))) for axis in axes]) <= ON_AXIS:
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
    axes = [hinge_axis(inherited, normals) for inherited in rest_reference(rest, chain).inherited]
    return frames, [np.broadcast_to(axis, (len(frames), 3)) for axis in axes]


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
    objects, keys_of_nodes = objects_by_name(), [np.empty(0)]
    for name, bone in nodes:
        for fcurve in motion_curves(objects[name], bone):
            if fcurve.sampled_points or any(modifier.type != "CYCLES" for modifier in fcurve.modifiers):
                return None
        keys_of_nodes.append(key_frames(objects[name], bone))
    keys = merge_frames(*keys_of_nodes)
    if not len(keys):
        return np.zeros(1)
    moments = subframe_grid(keys, MOMENTS)
    # Keys a frame apart leave nothing to see between them.
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
        plane_world = motion.find(Quantity("WORLD", settings.plane_object)) if is_object else world
        if world is None or plane_world is None or np.any(determinant(world[:, :3, :3]) == 0.0):
            return None
        inverse = np.linalg.inv(world[:, :3, :3])
        spaces = PlaneSpaces(inverse, None, inverse @ plane_world[:, :3, :3] if is_object else None)
    frames = still_frames(settings.plane, settings.plane_space, spaces).reshape(-1, 3, 3)
    return frames[..., 2] if np.all(has_plane(frames)) else None


KEPT = 1e-4
"""Largest change of a converted rotation between keys, radians: a tenth of a millimetre at a metre."""

SAMPLES_PER_FRAME = 4
"""Samples per frame of the motion that is converted."""

ANYWHERE = Surroundings(None, None)
"""No outside values that the curves must join."""


@dataclass(frozen=True, slots=True)
class ConvertedRotation:
    """The rotation of one bone in its new mode."""

    paths: tuple[str, str]
    """Data paths of the old and of the new rotation property."""
    value: Array
    """`(3,)` Euler angles of the present pose."""
    keys: Sequence[ChannelKeys]
    """The converted keys; empty where the rotation is not keyed."""
    types: Array
    """`(K,)` key types: those of the keys before, plain for added keys."""


def converted(armature: Object, bone: RestBone, mode: str, turn: Array) -> ConvertedRotation:
    """Convert a bone's rotation to Euler angles of order `mode`, with the bone's axes rotated by `turn` `(3, 3)`.

    Keys stay at their frames; keys are added where that is needed to preserve the motion between them.
    """
    channels = read_rotation_channels(armature, bone)
    paths = (channels.path, euler_path(bone))
    present = _as_eulers(bone, mode, turn, np.array([channels.values]))
    still = np.zeros(3)
    still[list(present.indices)] = present.values[0]
    if not any(len(fcurve.keyframe_points) for fcurve in channels.curves.values()):
        return ConvertedRotation(paths, still, [], np.empty(0, dtype=np.int32))
    tables = [read_keys(fcurve) for fcurve in channels.curves.values()]
    frames = merge_frames(*(table["co"][:, 0] for table in tables))
    stepped = all(np.all(table["interpolation"] == INTERPOLATION["CONSTANT"]) for table in tables)
    source = _Source(bone, mode, turn, channels)
    interpolation: Literal["CONSTANT", "LINEAR"] = "CONSTANT" if stepped else "LINEAR"
    # Held values need no more than the keys that they have; between other keys the rotation must stay as it was.
    if stepped or len(frames) == 1:
        curves = source.curves(frames)
        keys: Sequence[ChannelKeys] = [
            StraightKeys(paths[1], index, source.group, KeyFrames(frames), curves.values[:, column], interpolation)
            for column, index in enumerate(curves.indices)
        ]
    else:
        keys = _reduced(source, frames)
    return ConvertedRotation(paths, still, keys, _key_types(tables, keys[0].frames))


@dataclass(frozen=True, slots=True)
class _Source:
    """The rotation channels to convert, and their new mode and axes."""

    bone: RestBone
    mode: str
    turn: Array
    channels: RotationChannels

    @property
    def group(self) -> str:
        """Channel group of the present curves, else the bone's name."""
        return next((fcurve.group.name for fcurve in self.channels.curves.values() if fcurve.group), self.bone.name)

    def curves(self, frames: Array) -> RotationCurves:
        """Values of the new channels at frames `(F,)`."""
        values = np.tile(np.array(self.channels.values, dtype=float), (len(frames), 1))
        for index, fcurve in self.channels.curves.items():
            values[:, index] = curve_values(fcurve, frames)
        return _as_eulers(self.bone, self.mode, self.turn, values)


def _as_eulers(bone: RestBone, mode: str, turn: Array, values: Array) -> RotationCurves:
    """Euler channels that give the rotations of `values` `(F, 4)`; a single one where all are about one axis."""
    rotation = turn.T @ channel_rotations(bone.rotation_mode, values) @ turn
    return rotation_curves(mode, rotation=Matrices(rotation), present=np.zeros((len(values), 4)), outside=ANYWHERE)


def _reduced(source: _Source, frames: Array) -> Sequence[ChannelKeys]:
    """Keys at `frames` `(K,)`, and at further frames where these do not preserve the motion."""
    first, last = frames[0], frames[-1]
    candidates = merge_frames(frames, np.arange(np.ceil(first), np.floor(last) + 1.0))
    times = subframe_grid(candidates, SAMPLES_PER_FRAME)
    curves = source.curves(times)
    rotations = _matrices(source.mode, curves, curves.values)

    def drift(tried: Array, indices: Indices) -> Array:
        # The difference of two rotations that are an angle a apart has the Frobenius norm sqrt(8) sin(a / 2).
        difference = _matrices(source.mode, curves, tried) - rotations[indices]
        return np.sqrt(0.5 * np.sum(difference * difference, axis=(-1, -2)))

    path, columns = euler_path(source.bone), zip(curves.indices, curves.values.T, strict=True)
    samples = [CurveSamples(path, index, source.group, values, values) for index, values in columns]
    return fewest_keys(samples, curves.values, times, drift, KEPT, key_frames=candidates, required=frames).keys


def _matrices(mode: str, curves: RotationCurves, values: Array) -> Array:
    eulers = np.zeros((len(values), 3))
    eulers[:, list(curves.indices)] = values
    return from_eulers(eulers, mode)


def _key_types(tables: list[dict[str, Array]], frames: Array) -> Array:
    types = np.full(len(frames), KEY_PLAIN, dtype=np.int32)
    for table in tables:
        for frame, kind in zip(table["co"][:, 0], table["type"][:, 0], strict=True):
            types[np.abs(frames - frame) <= NEAR_FRAME] = kind
    return types


FOUR_CHANNELS = {"QUATERNION": "it rotates by quaternions", "AXIS_ANGLE": "it rotates by axis and angle"}
"""Rotation modes that always take four curves, each with the reason as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Hinge:
    """The hinge about which one bone of a chain turns during a bake, if it has one."""

    bone: RestBone
    axis: Array | None
    """`(3,)` unit axis of all its turns, in the bone's own space; `None` where there is no such axis."""
    reason: Sentence | None
    """Why there is no axis, as the end of a sentence; `None` where there is one."""

    @property
    def channel(self) -> int | None:
        """The local axis (0, 1, 2) that the hinge coincides with, within `ON_AXIS`; `None` if there is none."""
        if self.axis is None:
            return None
        channel = int(np.argmax(np.abs(self.axis)))
        return channel if np.linalg.norm(np.delete(self.axis, channel)) <= ON_AXIS else None


class CurveForecast(NamedTuple):
    """The curves that a bake will write."""

    curves: int
    reasons: tuple[Sentence, ...]
    """A note for each reason why a joint takes more than one."""


def curve_forecast(settings: BakeSettings, active: Object | None = None) -> CurveForecast:
    """What is known before a bake of the curves that it will write.

    The end bone, whose rotation is not known before the bake, counts with all its channels. Raises a `TwoBoneError` where
    the settings name no chain.
    """
    chain = find_chain(settings, active)
    settings, rest = decided(settings, chain.armature), chain.rest
    counts, reasons = [], []
    for hinge in hinges_of(chain.armature, settings, chain.names, rest):
        why = _why_more(hinge, read_rotation_channels(chain.armature, hinge.bone), settings)
        counts.append(_all_channels(hinge.bone) if why else 1)
        if why:
            reasons.append(
                note('Bone "{bone}" takes {count} curves: {reason}.', bone=hinge.bone.name, count=counts[-1], reason=why)
            )
    end_bone, _ = end_bone_of(chain, settings)
    if end_bone is not None:
        counts.append(_all_channels(end_bone))
        reasons.append(
            note('Bone "{bone}" takes up to {count} curves: it can rotate freely.', bone=end_bone.name, count=counts[-1])
        )
    if settings.reach == "STRETCH":
        carriers = [rest.bones[index].name for index in scale_carriers(rest)]
        counts.append(3 * len(carriers))
        reasons.append(
            note("Stretching takes {count} curves: the scale of {bones}.", count=counts[-1], bones=", ".join(carriers))
        )
    return CurveForecast(sum(counts), tuple(reasons))


def hinges_of(armature: Object, settings: BakeSettings, names: ChainNames, rest: RestChain) -> list[Hinge]:
    """Hinge of each turning bone of a chain, upper bone first."""
    if settings.plane in LIMB_PLANES:
        return _limb_hinges(armature, settings, rest)
    bones = [rest.bones[index] for index in rest.turning]
    reference = present_pose(armature, rest, settings)
    normal = normal_now(armature, settings, names.upper)
    if normal is None:
        return [Hinge(bone, None, Sentence("no plane object is chosen")) for bone in bones]
    if plane_moves(armature, settings, names, rest):
        why = why_no_hinges(armature, settings, names, rest)
        if why:
            return [Hinge(bone, None, why) for bone in bones]
    # A bone keeps its hinge only while those above turn about theirs alone.
    hinges, steady = [], True
    for bone, inherited, link in zip(bones, reference.inherited, reference.links, strict=True):
        hinge = Hinge(bone, hinge_axis(_first(inherited, 2), normal), None)
        if not steady:
            hinge = Hinge(bone, None, Sentence("the pose of the bones above it, from which they start, is animated"))
        elif settings.depth == "FLATTEN" and abs(unit(_first(link, 1)) @ hinge.axis) > ON_AXIS:
            hinge = Hinge(bone, None, Sentence("it does not lie in the plane at rest and is rotated into it first"))
        hinges.append(hinge)
        steady = steady and (settings.reference == "REST" or _keeps_to_hinge(armature, hinge))
    return hinges


def _first(values: Array, dimensions: int) -> Array:
    """The first frame's values; those of a bone without parent have no frame axis."""
    return values[0] if values.ndim > dimensions else values


def _keeps_to_hinge(armature: Object, hinge: Hinge) -> bool:
    """Whether a bone's present animation turns it about its hinge only, so that the bones below keep their hinges."""
    channels = read_rotation_channels(armature, hinge.bone)
    if not channels.animated:
        return True
    if hinge.channel is None or hinge.bone.rotation_mode in FOUR_CHANNELS:
        return False
    return not channels.turns_beside(hinge.channel)


def _limb_hinges(armature: Object, settings: BakeSettings, rest: RestChain) -> list[Hinge]:
    """Hinges in the limb's own plane: the upper bone turns with the plane, the others bend about the limb's normal."""
    joints = rest.rest_joints()
    straight = not is_bent(joints)
    uses_resting_hinge = settings.plane == "POSE" and straight
    normal = rest.upper.rest[:3, :3] @ resting_hinge(rest) if uses_resting_hinge else rest_normal(rest)
    links = unit(np.diff(joints, axis=0))
    hinges = [Hinge(rest.upper, None, Sentence("its plane rotates with the target"))]
    for number, index in enumerate(rest.turning[1:], start=1):
        bone = rest.bones[index]
        hinge = Hinge(bone, hinge_axis(bone.rest[:3, :3], normal), None)
        # Each link bends about its own perpendicular; where links are not in one plane, these differ and no axis is constant.
        if np.abs(links[: number + 1] @ normal).max() > ON_AXIS:
            hinge = Hinge(bone, None, Sentence("the limb does not lie in one plane at rest"))
        elif straight or settings.reference == "POSE":
            hinge = _posed_hinge(armature, hinge)
        hinges.append(hinge)
    return hinges


def _posed_hinge(armature: Object, hinge: Hinge) -> Hinge:
    """The hinge about which the bone's present pose turns it; the given one where nothing has turned it yet."""
    channels = read_rotation_channels(armature, hinge.bone)
    if hinge.bone.rotation_mode in FOUR_CHANNELS:
        return hinge
    turning = [channel for channel in range(3) if not channels.turns_beside(channel)]
    if len(turning) == 1:
        return Hinge(hinge.bone, np.eye(3)[turning[0]], None)
    return hinge if turning else Hinge(hinge.bone, None, Sentence("its current pose rotates it off its hinge, and that is kept"))


def _why_more(hinge: Hinge, channels: RotationChannels, settings: BakeSettings) -> Sentence | None:
    """Why a bone takes more than one curve, as the end of a sentence; `None` where it takes one."""
    mode = hinge.bone.rotation_mode
    if mode in FOUR_CHANNELS:
        return Sentence(FOUR_CHANNELS[mode])
    if hinge.axis is None:
        return hinge.reason
    if hinge.channel is None:
        return Sentence("its hinge is {angle:.2g} degrees off its nearest axis", {"angle": degrees_off(hinge.axis)})
    if channels.baked - {hinge.channel}:
        return Sentence("an earlier bake has keyed its other rotation channels")
    keeps_other_channels = settings.reference == "POSE" and mode[-1] == "XYZ"[hinge.channel]
    if not keeps_other_channels and channels.turns_beside(hinge.channel):
        return Sentence("its other rotation channels are not zero")
    return None


def degrees_off(axis: Array) -> float:
    """Angle, degrees, between an axis `(3,)` and the nearest coordinate axis."""
    channel = int(np.argmax(np.abs(axis)))
    return float(np.degrees(np.arctan2(np.linalg.norm(np.delete(axis, channel)), abs(axis[channel]))))


def _all_channels(bone: RestBone) -> int:
    return 4 if bone.rotation_mode in FOUR_CHANNELS else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignReport(Report):
    """Report of the aligned hinges of chains."""

    armatures: list[str]
    changed: list[str]
    """Bones that now need only one channel, and needed more before. `notes` say why others still need more."""

    @property
    def is_changed(self) -> bool:
        """Whether any bone was changed."""
        return bool(self.changed)

    @property
    def summary(self) -> Sentence:
        """Summary of which bones were aligned."""
        if not self.changed:
            return Sentence("All hinges are aligned already.")
        return Sentence("Hinges aligned: {bones}.", {"bones": ", ".join(self.changed)})


@dataclass(frozen=True, slots=True)
class BoneChange:
    """The changes to one bone."""

    bone: RestBone
    mode: str
    """New rotation mode."""
    roll: float
    """Change of its roll, radians."""
    rotation: ConvertedRotation


def align_hinges(scene: Scene, settings: AlignSettings, active: Object | None, _chosen: OwnAction | None) -> Story[AlignReport]:
    """Set the rotation mode, and on request the roll, of each hinge bone of chains, so that the hinge is one channel.

    The mode is an Euler order that applies the hinge last. Bones that are aligned already are not touched. Refused where no
    bone can be aligned, or where the visible motion could not be preserved.
    """
    changes: dict[str, dict[str, BoneChange]] = {}
    refused: dict[Sentence, None] = {}
    is_any_hinge, skins = False, Skins()
    for chain_settings in settings.chains:
        with named(chain_settings):
            chain = find_chain(chain_settings, active)
            armature = chain.armature
            within = frame_range(scene, replace(chain_settings, frame_range="SCENE"))  # It has no range of its own.
            refuse_posed(who_poses(scene, armature, chain.names, within, skins=skins))
            # Two chains may share bones.
            by_bone = changes.setdefault(armature.name, {})
            for hinge in hinges_of(armature, chain_settings, chain.names, chain.rest):
                why = _why_not(hinge, roll=settings.roll)
                if why:
                    refused[note('Bone "{bone}" is left unchanged: {reason}.', bone=hinge.bone.name, reason=why)] = None
                    continue
                is_any_hinge = True
                if hinge.bone.name not in by_bone:
                    by_bone |= {change.bone.name: change for change in _changes(armature, hinge)}
                    if by_bone.get(hinge.bone.name) and by_bone[hinge.bone.name].roll:
                        refuse_unrollable(armature, hinge.bone.name)
    if not is_any_hinge:
        raise ChainError(joined(refused))

    changed = [(object_named(name), change) for name, by_bone in changes.items() for change in by_bone.values()]
    paths = [Property(armature, path) for armature, change in changed for path in change.rotation.paths]
    bones = [change.bone.name for _, change in changed]
    report = AlignReport(armatures=list(changes), changed=bones, notes=list(refused))
    yield Write([], lambda: report, lambda: paths, partial(_change_bones, changes))
    return report


def _change_bones(changes: Mapping[str, Mapping[str, BoneChange]]) -> None:
    """Change rolls first, then rotation modes with their keys; `changes` are those of each bone of each armature, by name."""
    for name, by_bone in changes.items():
        armature, rolls = object_named(name), {bone: change.roll for bone, change in by_bone.items() if change.roll}
        if rolls:
            change_rolls(armature, rolls)
        for bone, change in by_bone.items():
            new = change.rotation
            set_rotation_mode(armature, bone, change.mode, value=new.value, keys=new.keys, types=new.types, paths=new.paths)


def _why_not(hinge: Hinge, *, roll: bool) -> Sentence | None:
    """Why a bone's hinge cannot be made one of its axes, as the end of a sentence; `None` where it can."""
    if hinge.axis is None:
        return hinge.reason
    if hinge.channel is not None:
        return None
    if abs(hinge.axis @ Y_AXIS) > ON_AXIS:
        lean = np.degrees(np.arcsin(min(abs(hinge.axis @ Y_AXIS), 1.0)))
        return Sentence("its hinge is {angle:.2g} degrees off perpendicular; no roll can align it", {"angle": float(lean)})
    angle = {"angle": degrees_off(hinge.axis)}
    return None if roll else Sentence("its hinge is {angle:.2g} degrees off its nearest axis; allow its roll to change", angle)


def _changes(armature: Object, hinge: Hinge) -> Iterator[BoneChange]:
    """Yield the change that a bone needs, if it needs one."""
    bone = hinge.bone
    change = 0.0 if hinge.channel is not None or hinge.axis is None else roll_to_axis(hinge.axis)
    channel = int(np.argmax(np.abs(roll_rotation(change).T @ hinge.axis)))
    channels = read_rotation_channels(armature, bone)
    is_euler = bone.rotation_mode not in FOUR_CHANNELS
    applied_last = is_euler and bone.rotation_mode[-1] == "XYZ"[channel]
    if not change and is_euler and (applied_last or not channels.turns_beside(channel)):
        return
    refuse_unconvertible(armature, [channels.path, euler_path(bone)], bone.name)
    mode = bone.rotation_mode if applied_last else ORDERS[channel]
    yield BoneChange(bone, mode, change, converted(armature, bone, mode, roll_rotation(change)))


ALIGN = Task("align", TABLES["align"], align_hinges, AlignReport)
