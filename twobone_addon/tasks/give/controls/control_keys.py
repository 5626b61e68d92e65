"""Controls that were steered, as keys in their armatures' actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array, Indices
from ....core.rig.inheritance import parent_transform
from ....pipeline.pose.solving import CurveSamples
from ....scene.keys.replaced import limb_name
from ....scene.keys.tables import ChannelKeys
from ....scene.keys.writing import Change
from ....scene.lookup import object_named
from ..keys import Drift, chosen_keys, location_drift, rotation_drift
from .controls import Control, refuse_locked
from .steering import RIGHT, SteeredLimb
from .trying import rotation_curves_of, turns


@dataclass(frozen=True, slots=True)
class SteeredKeys:
    """One limb and the keys of its controls."""

    limb: SteeredLimb
    keys: dict[str, list[ChannelKeys]]
    """By the name of the controls' armature."""
    drift: float
    """Farthest that reduced keys let a control drift, world units."""

    @property
    def all_keys(self) -> list[ChannelKeys]:
        """Those of all armatures."""
        return [key for keys in self.keys.values() for key in keys]


def keys_of(limb: SteeredLimb) -> SteeredKeys:
    """The keys of a limb's controls, as the settings choose them; raises `ObjectError` where a lock is in the way."""
    found: dict[str, list[ChannelKeys]] = {}
    drifts = [0.0]
    for control in limb.control.controls:
        if control.role not in limb.used:
            continue
        for curves, drift in _curves(limb, control):
            keys, cost = chosen_keys(limb.control.plan, object_named(control.armature), curves, drift)
            found.setdefault(control.armature, []).extend(keys)
            drifts.append(cost)
    return SteeredKeys(limb, found, max(drifts))


def control_changes(steered: Sequence[SteeredKeys], task: str) -> list[Change]:
    """What is written of controls."""
    return [
        Change(
            owner=name,
            keys=keys,
            within=(float(plan.frames[0]), float(plan.frames[-1])),
            task=task,
            limb=limb_name(plan.names.armature, plan.names.upper),
            destination=plan.settings.destination,
            strip=plan.settings.stored or plan.names.upper,
            is_from_elsewhere=True,
        )
        for each in steered
        for plan in [each.limb.control.plan]
        for name, keys in each.keys.items()
    ]


def _curves(limb: SteeredLimb, control: Control) -> list[tuple[list[CurveSamples], Drift]]:
    """Channels of a control that are keyed together, and how far other values of them would be off."""
    held, plan, length = limb.held[control.role], limb.control.plan, limb.goals.length
    made: list[tuple[list[CurveSamples], Drift]] = []
    if control.role != "Base":
        refuse_locked(control, held.location, RIGHT * length)
        free = [axis for axis in range(3) if not control.locked[axis]]
        curves = _vector_curves(control.location_path, control, held.location, control.present_location(), free)
        made.append((curves, _only(free, held.location, location_drift(held.location, _linear(limb, control)))))
    if turns(limb, control):
        mode = control.bone.rotation_mode
        made.append((rotation_curves_of(plan, control, held.rotation), rotation_drift(mode, held.rotation, length)))
    if control.role == "Base" and limb.scales:
        curves = _vector_curves(control.scale_path, control, held.scale, control.present_scale(), [0, 1, 2])
        made.append((curves, lambda tried, indices: length * np.abs(tried - held.scale[indices]).max(axis=-1)))
    return [(curves, drift) for curves, drift in made if curves]


def _linear(limb: SteeredLimb, control: Control) -> Array:
    """From a control's location to the world, `(F, 3, 3)`, without what constraints do to it."""
    samples = limb.now().samples
    place = parent_transform(control.bone, control.parent_pose(samples)).place
    return samples.every(control.world)[:, :3, :3] @ place


def _vector_curves(path: str, control: Control, values: Array, present: Array, axes: list[int]) -> list[CurveSamples]:
    count = len(values)
    return [CurveSamples(path, axis, control.bone.name, values[:, axis], np.full(count, present[axis])) for axis in axes]


def _only(axes: list[int], values: Array, drift: Drift) -> Drift:
    """The drift of all three components where only some of them are tried."""

    def of_some(tried: Array, indices: Indices) -> Array:
        whole = values[indices].copy()
        whole[..., axes] = tried
        return drift(whole, indices)

    return of_some
