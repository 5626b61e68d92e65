"""Toes and whatever else hangs on a limb's end with a control of its own: posed so that it stays when the limb changes sides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.arrays import path_length
from ....core.rig.bones import RestBone
from ....core.rig.inheritance import local_basis, parent_transform
from ....core.rig.rotations import nearest_rotation
from ....pipeline.plan.chain_plan import ChainPlan
from ....pipeline.pose.solving import CurveSamples
from ....pipeline.proof import Trial
from ....pipeline.story import Sample, Story
from ....scene.blender_types import Object, PoseBone
from ....scene.bones import location_path, read_rest_bone, rotation_path
from ....scene.keys.guarding import refuse_unwritable
from ....scene.keys.replaced import limb_name
from ....scene.keys.tables import ChannelKeys
from ....scene.keys.writing import Change
from ....scene.lookup import object_named, rotation_values
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.visible.switched import SwitchedBone, starts_with
from ..baking import chosen_keys, location_drift, rotation_drift, rotation_samples
from .plans import ControlPlan, can_turn, toe_controls
from .steering import RIGHT


@dataclass(frozen=True, slots=True)
class Toe:
    """The control of a visible bone, and the pose that it must have for that bone to stay."""

    shown: str
    control: RestBone
    parent: Quantity
    """Pose of the control's parent."""
    goal: Array
    """`(F, 4, 4)`, armature space."""

    @property
    def channels(self) -> Quantity:
        """Channels of the control."""
        return Quantity("CHANNELS", self.parent.object, self.control.name)


Found = tuple[str, PoseBone, Array]
"""Name of a visible bone, its control, and the `(4, 4)` pose of the control in the visible bone's space."""


def toes_on_ik(armature: Object, plan: ControlPlan, moved: Sequence[SwitchedBone]) -> list[Found]:
    """What the switch to IK moves besides the limb's own bones, from the root down."""
    own = [(shown, control, np.eye(4)) for shown, control in toe_controls(armature, plan.plan.names.upper)]
    if own:
        return own
    taken = {control.bone.name for control in plan.controls if control.role != "Base"}
    taken |= {plan.ik.upper.name, plan.ik.lower.name} if plan.ik else set()
    target = armature.pose.bones.get(plan.target.bone.name)
    beside = [
        pair
        for pair in moved
        if pair.is_copy
        and pair.shown not in plan.shown[:2]
        and (pair.shown not in plan.shown or target not in armature.pose.bones[pair.control].parent_recursive)
    ]
    return controls_beside(armature, beside, taken)


def controls_beside(armature: Object, beside: Sequence[SwitchedBone], taken: Collection[str]) -> list[Found]:
    """The controls that pose these bones, from the root down: what an animator turns below a mechanism, else what it copies."""
    found: dict[str, Found] = {}
    for pair in sorted(beside, key=lambda each: each.apart):
        shown, control = armature.pose.bones[pair.shown], armature.pose.bones[pair.control]
        below = [child for child in shown.children if starts_with(child, shown) and _is_free(child)]
        if below and not shown.bone.use_deform:
            found.setdefault(below[0].name, (below[0].name, below[0], np.eye(4)))
        elif pair.is_copy and control.name not in taken and _is_free(control):
            found.setdefault(control.name, (shown.name, control, pair.control_from_shown))
    return sorted(found.values(), key=lambda each: len(each[1].parent_recursive))


def _is_free(bone: PoseBone) -> bool:
    return bone.parent is not None and can_turn(bone.id_data, bone.name)


def seen_toes(armature: Object, found: Sequence[Found], plan: ChainPlan) -> Story[list[Toe]]:
    """Sample bones before the switch; raises `WriteError` where their controls cannot be keyed."""
    if not found:
        return []
    paths = [rotation_path(read_rest_bone(bone)) for _, bone, _ in found]
    refuse_unwritable(armature, paths, plan.settings.destination)
    poses = {shown: Quantity("POSE", armature.name, shown) for shown, _, _ in found}
    samples = yield Sample(list(poses.values()), plan.frames, "PROBES")
    return [
        Toe(shown, read_rest_bone(bone), Quantity("POSE", armature.name, bone.parent.name), samples.every(poses[shown]) @ offset)
        for shown, bone, offset in found
    ]


def key_toes(chain: ChainPlan, toes: Sequence[Toe], trial: Trial) -> Story[list[Change]]:
    """Keys of the toes' controls, with the limb switched in the trial; those of a toe below another one follow from its keys."""
    changes = []
    names, settings, within = chain.names, chain.settings, chain.within
    armature = object_named(names.armature)
    waiting = list(toes)
    while waiting:
        remaining = {toe.control.name for toe in waiting}
        first = [
            toe
            for toe in waiting
            if not remaining & {bone.name for bone in armature.pose.bones[toe.control.name].parent_recursive}
        ]
        quantities = [quantity for toe in first for quantity in (toe.parent, toe.channels)]
        samples = yield Sample(quantities, chain.frames, "PROBES")
        keys: list[ChannelKeys] = []
        for toe in first:
            bone = toe.control
            rotation = nearest_rotation(local_basis(bone, samples.every(toe.parent), toe.goal)[1])
            present = rotation_values(armature.pose.bones[bone.name])
            mode = bone.rotation_mode
            curves = rotation_samples(chain, armature, rotation_path(bone), bone.name, rotation, mode=mode, present=present)
            keys += chosen_keys(chain, armature, curves, rotation_drift(mode, rotation, bone.length))[0]
            keys += _location_keys(chain, armature, toe, samples)
        change = Change(
            owner=names.armature,
            keys=keys,
            within=within,
            task="switch",
            limb=limb_name(names.armature, names.upper),
            destination=settings.destination,
            strip=settings.stored or names.upper,
        )
        trial.put([change])
        changes.append(change)
        waiting = [toe for toe in waiting if toe not in first]
    return changes


def _location_keys(chain: ChainPlan, armature: Object, toe: Toe, samples: Samples) -> list[ChannelKeys]:
    """Location keys of a toe's control where it would be off: a foot's control goes past its goal by what IK falls short."""
    posed, parent = armature.pose.bones[toe.control.name], samples.every(toe.parent)
    location, present = local_basis(toe.control, parent, toe.goal)[0], samples.every(toe.channels)[:, :3]
    if posed.bone.use_connect or any(posed.lock_location):
        return []
    drift = location_drift(location, parent_transform(toe.control, parent).place)
    if drift(present, np.arange(len(present))).max() <= RIGHT * path_length(chain.rest.rest_joints()):
        return []
    path = location_path(toe.control)
    refuse_unwritable(armature, [path], chain.settings.destination)
    curves = [CurveSamples(path, axis, toe.control.name, location[:, axis], present[:, axis]) for axis in range(3)]
    return chosen_keys(chain, armature, curves, drift)[0]
