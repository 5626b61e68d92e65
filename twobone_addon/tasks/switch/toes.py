"""Toes that have a control of their own on either side of a switch: that of the IK keyed so that they visibly stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...core.array_types import Array
from ...core.rig.bones import RestBone
from ...core.rig.inheritance import local_basis
from ...core.rig.rotations import nearest_rotation
from ...pipeline.motion.sampling import sample_steps
from ...pipeline.plan.chain_plan import ChainPlan
from ...scene.blender_types import Object, Scene
from ...scene.bones import read_rest_bone, rotation_path
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys
from ...scene.keys.writing import Change, write
from ...scene.lookup import object_named, rotation_values
from ...scene.sampling.quantities import Quantity
from ...scene.sampling.stepping import at_once
from ..give.controls.plans import toe_controls
from ..give.keys import chosen_keys, rotation_drift, rotation_samples


@dataclass(frozen=True, slots=True)
class Toe:
    """The visible bones of toes, and what poses them on IK."""

    control: RestBone
    parent: Quantity
    """Pose of the control's parent."""
    seen: Array
    """`(F, 4, 4)` poses of the toes before the switch, armature space."""


def seen_toes(scene: Scene, armature: Object, plan: ChainPlan) -> list[Toe]:
    """The toes of a chain's limb as they visibly are; raises `WriteError` where the control cannot be keyed."""
    found = [
        (shown, read_rest_bone(control), Quantity("POSE", armature.name, control.parent.name))
        for shown, control in toe_controls(armature, plan.names.upper)
    ]
    if not found:
        return []
    refuse_unwritable(armature, [rotation_path(control) for _, control, _ in found], plan.settings.destination)
    quantities = [Quantity("POSE", armature.name, shown) for shown, _, _ in found]
    seen = at_once(sample_steps(scene, quantities, plan.frames, evaluation="PROBES"))
    return [Toe(control, parent, seen.every(each)) for each, (_, control, parent) in zip(quantities, found, strict=True)]


def key_toes(scene: Scene, plan: ChainPlan, toes: Sequence[Toe]) -> list[ChannelKeys]:
    """Key the toes' controls so that on IK, which has its keys, they are as they were seen."""
    if not toes:
        return []
    armature = object_named(plan.names.armature)
    poses = at_once(sample_steps(scene, [toe.parent for toe in toes], plan.frames, evaluation="PROBES"))
    keys: list[ChannelKeys] = []
    for toe in toes:
        bone = toe.control
        rotation = nearest_rotation(local_basis(bone, poses.every(toe.parent), toe.seen)[1])
        present = rotation_values(armature.pose.bones[bone.name])
        mode = bone.rotation_mode
        curves = rotation_samples(plan, armature, rotation_path(bone), bone.name, rotation, mode=mode, present=present)
        keys += chosen_keys(plan, armature, curves, rotation_drift(mode, rotation, bone.length))[0]
    names, settings, within = plan.names, plan.settings, (float(plan.frames[0]), float(plan.frames[-1]))
    change = Change(
        owner=names.armature,
        keys=keys,
        within=within,
        task="switch",
        limb=limb_name(names.armature, names.upper),
        destination=settings.destination,
        strip=settings.stored or names.upper,
    )
    write(scene, [change])
    return keys
