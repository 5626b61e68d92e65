"""Find which bones of a chain are hinges, about which local axes, and how many curves a bake will therefore write.

Only the rest pose, the settings and the animated channels are read; no motion is sampled, so a panel can call this any time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...core.rig.bones import RestBone, RestChain
from ...core.rig.limb_normals import resting_hinge
from ...core.rig.limb_planes import rest_normal
from ...core.rig.plane_frames import is_bent
from ...core.rig.posing import hinge_axis, scale_carriers
from ...core.rig.rotations import unit
from ...pipeline.plan.found_chain import end_bone_of, find_chain
from ...pipeline.plan.planes_of_rig import normal_now
from ...said import Sentence, note
from ...scene.blender_types import Object
from ...scene.bones import ChainNames
from ...scene.keys.rotation_channels import RotationChannels, read_rotation_channels
from ...settings import LIMB_PLANES, BakeSettings
from .chain_plane import ON_AXIS, plane_moves, present_pose, why_no_hinges

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


def curve_forecast(settings: BakeSettings, active: Object | None = None) -> tuple[int, tuple[Sentence, ...]]:
    """Number of curves that a bake will write, and a note for each reason why a joint takes more than one.

    The end bone, whose rotation is not known before the bake, counts with all its channels. Raises a `TwoBoneError` where
    the settings name no chain.
    """
    chain = find_chain(settings, active)
    rest = chain.rest
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
    return sum(counts), tuple(reasons)


def chain_hinges(settings: BakeSettings, active: Object | None = None) -> tuple[Object, list[Hinge]]:
    """The armature, and the hinges of the chain that the settings name; raises a `TwoBoneError` where they name none."""
    chain = find_chain(settings, active)
    return chain.armature, hinges_of(chain.armature, settings, chain.names, chain.rest)


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
