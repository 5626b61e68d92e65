"""Pose a chain at the present frame as a bake would, from the scene as it is evaluated now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.array_types import Array, SampledFrames
from ...core.rig.bones import RestBone
from ...core.rig.channels import LocalRotations, Matrices
from ...core.rig.limb_normals import Hinges
from ...core.rig.posing import scale_carriers
from ...records import replace
from ...scene.blender_types import Scene
from ...scene.bones import read_rest_bone, rotation_path
from ...scene.lookup import object_named, rotation_values
from ...scene.sampling.evaluate import present_samples
from ...scene.sampling.quantities import Samples
from ...settings import BakeSettings
from ..motion.plan_motion import (
    AimedMotion,
    PlanMotion,
    aimed,
    followed_motion,
    motion_quantities,
    plan_motion,
    points,
    target_matrices,
    unaimed_quantities,
)
from ..motion.sampling import sample
from ..plan.planning import ChainPlan, plan_bake, plan_chain, refuse_unwritable_chain
from .chain_task import target_offset
from .limb_plane import Unaimed, hinges_of
from .solving import KeyedPose, Surroundings, aimed_poses, rotation_curves, unaimed_limbs


@dataclass(frozen=True, slots=True)
class PresentPlan:
    """The plan of a chain that is posed at the present frame again and again."""

    settings: BakeSettings
    """The settings as given."""
    plan: ChainPlan
    """Plan of one frame; its settings do not include the target offset."""
    offset: Array
    """`(3,)`, the tip's goal in the target's space."""
    look: HingeAxes | None = None
    """The limb's hinge axes at other frames; `None` before these are sampled."""


@dataclass(frozen=True, slots=True)
class HingeAxes:
    """Hinge axes of a limb at the frames of a bake."""

    frames: Array
    """`(F,)`"""
    hinges: Hinges | None
    """`None` if the limb is straight at all of them."""


@dataclass(frozen=True, slots=True)
class ChannelValue:
    """A value for one channel of a bone."""

    bone: str
    channel: str
    """`rotation_quaternion`, `rotation_euler`, `rotation_axis_angle` or `scale`."""
    index: int
    value: float


def present_plan(scene: Scene, settings: BakeSettings) -> PresentPlan:
    """Find and check what is needed to pose the chain now; raises a `TwoBoneError`.

    A kept offset from the target is taken from the first frame of the bake's range, which is sampled for that.
    """
    plan = plan_bake(scene, settings, None)
    offset = np.zeros(3)
    if settings.target_offset == "KEEP":
        first = replace(plan, frames=SampledFrames(plan.report_frames[:1]), report_rows=np.zeros(1, dtype=int))
        samples = sample(scene, motion_quantities(first), first.frames)
        offset = target_offset(first, followed_motion(first, samples))
    return PresentPlan(settings, _without_offset(plan), offset)


def with_frames_around(scene: Scene, present: PresentPlan) -> PresentPlan:
    """The plan with hinge axes from all frames of the bake, which are sampled; raises a `TwoBoneError`."""
    plan = plan_bake(scene, present.settings, None)
    hinges = hinges_of(plan, plan_motion(plan, sample(scene, motion_quantities(plan), plan.frames)))
    # A limb that never moves has one row for all frames.
    known = plan.frames if hinges is None else plan.frames[: len(hinges.axes)]
    return replace(present, look=HingeAxes(known, hinges))


def dragging_plan(scene: Scene, settings: BakeSettings) -> PresentPlan:
    """The present plan of a chain whose tip is dragged, whether it has a target or not; raises a `TwoBoneError`."""
    if settings.target:
        return present_plan(scene, replace(settings, target_offset="NONE"))
    turned = "NONE" if settings.end_rotation == "TARGET" else settings.end_rotation
    plan = plan_chain(scene, replace(settings, end_rotation=turned, frame_range="SCENE", keys="FRAMES"), None)
    refuse_unwritable_chain(scene, plan)
    return PresentPlan(settings, _without_offset(plan), np.zeros(3))


def _without_offset(plan: ChainPlan) -> ChainPlan:
    return replace(plan, settings=replace(plan.settings, target_offset="NONE"), frames=SampledFrames(np.zeros(1)))


def is_current(present: PresentPlan, settings: BakeSettings) -> bool:
    """Whether the plan is still valid: same settings, same bones at rest."""
    armature = object_named(present.plan.names.armature)
    return present.settings == settings and all(
        bone.name in armature.pose.bones and _are_same(bone, read_rest_bone(armature.pose.bones[bone.name]))
        for bone in present.plan.rest.bones
    )


def _are_same(first: RestBone, second: RestBone) -> bool:
    names = ("rotation_mode", "inherit_scale", "inherit_rotation", "local_location", "length", "rest")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


@dataclass(frozen=True, slots=True)
class PresentInputs:
    """All that determines the pose of a chain at the present frame, beside the present angles, which only choose a turn."""

    present: PresentPlan
    plan: ChainPlan
    """The plan at the scene's frame."""
    samples: Samples

    def differ_in_target_only(self, other: PresentInputs | None) -> bool:
        """Whether nothing that the limb is made from, before it is aimed, differs by a bit."""
        # Bytes are compared in a tenth of the time of such small arrays.
        return (
            other is not None
            and self.present is other.present
            and self.plan.frames.tobytes() == other.plan.frames.tobytes()
            and all(self.samples[name].tobytes() == other.samples[name].tobytes() for name in unaimed_quantities(self.plan))
        )


@dataclass(frozen=True, slots=True)
class PresentPose:
    """A limb at the present frame, before it is aimed at its target."""

    inputs: PresentInputs
    unaimed: Unaimed


def present_inputs(
    present: PresentPlan, scene: Scene, depsgraph: Any, base: Mapping[str, tuple[float, ...]] | None = None
) -> PresentInputs:
    """Read what the chain's pose depends on at the scene's frame, as evaluated in the depsgraph.

    `base` holds, by bone, rotation (4) and scale (3) to use instead of the present ones: the pose from before the chain began
    to follow, from which influence, a kept bend and stretching start.
    """
    plan = replace(present.plan, frames=SampledFrames(np.array([scene.frame_current_final])))
    if present.look is not None and present.look.hinges is not None:
        plan = replace(plan, hinges=present.look.hinges.at(present.look.frames, plan.frames))
    samples = present_samples(depsgraph, motion_quantities(plan), plan.frames)
    known = base or {}
    for quantity in plan.channels:
        if quantity.bone in known:
            samples.values[quantity][0, 3:] = known[quantity.bone]
    return PresentInputs(present, plan, samples)


def present_limbs(inputs: Sequence[PresentInputs], known: Sequence[PresentPose | None]) -> list[PresentPose]:
    """The limbs of these inputs. Of limbs `known` from before, only what differs is computed; mostly that is the target."""
    pairs = list(zip(inputs, known, strict=True))
    kept = [limb if limb and limb_inputs.differ_in_target_only(limb.inputs) else None for limb_inputs, limb in pairs]
    anew = [limb_inputs for limb_inputs, limb in zip(inputs, kept, strict=True) if limb is None]
    plans = [limb_inputs.plan for limb_inputs in anew]
    made = unaimed_limbs(plans, [plan_motion(limb_inputs.plan, limb_inputs.samples) for limb_inputs in anew])
    return [
        PresentPose(limb_inputs, limb.unaimed if limb else next(made)) for limb_inputs, limb in zip(inputs, kept, strict=True)
    ]


def present_motion(limb: PresentPose, place_world: Array | None = None) -> AimedMotion:
    """The motion of a limb, one row, towards its target, or towards `place_world` `(3,)`, which one without target needs."""
    present, plan = limb.inputs.present, limb.inputs.plan
    target = np.array(target_matrices(plan, limb.inputs.samples)) if plan.settings.target else np.eye(4)[None]
    target[:, :3, 3] = points(target, present.offset) if place_world is None else place_world
    return aimed(limb.unaimed.motion, target)


def present_channels(limbs: Sequence[PresentPose], motions: Sequence[AimedMotion]) -> list[list[ChannelValue]]:
    """For each limb, the values of its bones' channels for the pose that a bake would give it; all are posed together.

    Rotations continue the present ones: of all angles that give the same pose, the nearest are chosen.
    """
    poses = aimed_poses([limb.unaimed for limb in limbs], motions, quickly=True)
    return [_channels(limb.inputs.plan, *both) for limb, both in zip(limbs, zip(motions, poses, strict=True), strict=True)]


def _channels(plan: ChainPlan, motion: PlanMotion, solved: KeyedPose) -> list[ChannelValue]:
    armature = object_named(plan.names.armature)
    bones = [plan.rest.bones[index] for index in plan.rest.turning]
    turned: list[tuple[RestBone, LocalRotations]] = list(zip(bones, solved.turned.rotations, strict=True))
    if plan.end_bone is not None and solved.end_rotation is not None:
        turned.append((plan.end_bone, Matrices(solved.end_rotation)))
    values = []
    for bone, rotation in turned:
        now = np.array(rotation_values(armature.pose.bones[bone.name]))
        before = now if bone.rotation_mode in {"QUATERNION", "AXIS_ANGLE"} else now[:3]
        curves = rotation_curves(bone.rotation_mode, rotation=rotation, present=now[None], outside=Surroundings(before, None))
        channel = rotation_path(bone).rpartition(".")[2]
        values += [
            ChannelValue(bone.name, channel, index, float(curves.values[0, column]))
            for column, index in enumerate(curves.indices)
        ]
    return values + _scales(plan, motion, solved)


def _scales(plan: ChainPlan, motion: PlanMotion, solved: KeyedPose) -> list[ChannelValue]:
    if plan.settings.reach != "STRETCH":
        return []
    values = []
    for index in scale_carriers(plan.rest):
        scale = motion.chain.channels[index].scale[0] * solved.ratio[0]
        name = plan.rest.bones[index].name
        values += [ChannelValue(name, "scale", axis, float(scale[axis])) for axis in range(3)]
    return values
