"""Toes that have a control of their own on either side of a switch: that of the IK keyed so that they stay as they are seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...array_types import Array
from ...rig.bones import RestBone
from ...rig.inheritance import local_basis
from ...rig.rotations import nearest_rotation
from ...scene.blender_types import Object, Scene
from ...scene.keys.destinations import open_destination
from ...scene.keys.guarding import refuse_unwritable
from ...scene.keys.writing import ChannelKeys, write_keys
from ...scene.lookup import object_named, rotation_values
from ...scene.paths import rotation_path
from ...scene.rest_bones import read_rest_bone
from ...scene.walk.evaluate import Quantity
from ...scene.walk.restoring import edits_kept
from ...scene.walk.stepping import at_once
from ..controls.plans import toe_controls
from ..fk_to_target.keys import chosen_keys, rotation_drift, rotation_samples
from ..motion.sampling import sample_steps
from ..plan.chain_plan import ChainPlan


@dataclass(frozen=True, slots=True)
class Toe:
    """What is seen of toes, and what poses them on IK."""

    control: RestBone
    parent: Quantity
    """Pose of the control's parent."""
    seen: Array
    """`(F, 4, 4)` poses of the toes before the switch, armature space."""


def seen_toes(scene: Scene, armature: Object, plan: ChainPlan) -> list[Toe]:
    """The toes of a chain's limb as they are seen now; raises `WriteError` where the control cannot be keyed."""
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
    start, end = float(plan.frames[0]), float(plan.frames[-1])
    with (
        edits_kept(scene, [armature], {(armature, key.path) for key in keys}),
        open_destination(armature, plan.settings.destination, plan.settings.stored or plan.names.upper, start, end) as bag,
    ):
        write_keys(bag, keys, start, end)
    return keys
