"""Turn the channels of steered controls into keys of their armatures' actions."""

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
    """Keys by the name of the controls' armature."""
    drift: float
    """Largest drift of a control from reducing its keys, world units."""

    @property
    def all_keys(self) -> list[ChannelKeys]:
        """Keys of all armatures."""
        return [key for keys in self.keys.values() for key in keys]


def keys_of(limb: SteeredLimb) -> SteeredKeys:
    """Full-rate or reduced keys of a limb's controls, by its settings; raises `ObjectError` where a lock is in the way."""
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
    """Keys of all controls, as changes to be written."""
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
    """Groups of a control's channels that are keyed together, each with the drift function of its values."""
    held, plan, length = limb.held[control.role], limb.control.plan, limb.goals.length
    groups: list[tuple[list[CurveSamples], Drift]] = []
    if control.role != "Base":
        refuse_locked(control, held.location, RIGHT * length)
        free = [axis for axis in range(3) if not control.locked[axis]]
        curves = _vector_curves(control.location_path, control, held.location, control.present_location(), free)
        groups.append((curves, _drift_of_axes(free, held.location, location_drift(held.location, _linear(limb, control)))))
    if turns(limb, control):
        mode = control.bone.rotation_mode
        groups.append((rotation_curves_of(plan, control, held.rotation), rotation_drift(mode, held.rotation, length)))
    if control.role == "Base" and limb.scales:
        curves = _vector_curves(control.scale_path, control, held.scale, control.present_scale(), [0, 1, 2])
        groups.append((curves, lambda tried, indices: length * np.abs(tried - held.scale[indices]).max(axis=-1)))
    return [(curves, drift) for curves, drift in groups if curves]


def _linear(limb: SteeredLimb, control: Control) -> Array:
    """Linear maps `(F, 3, 3)` from a control's location channels to world space, ignoring its constraints."""
    samples = limb.now().samples
    place = parent_transform(control.bone, control.parent_pose(samples)).place
    return samples.every(control.world)[:, :3, :3] @ place


def _vector_curves(path: str, control: Control, values: Array, present: Array, axes: list[int]) -> list[CurveSamples]:
    count = len(values)
    return [CurveSamples(path, axis, control.bone.name, values[:, axis], np.full(count, present[axis])) for axis in axes]


def _drift_of_axes(axes: list[int], values: Array, drift: Drift) -> Drift:
    """Drift function of some axes only; the other axes keep their `values` `(F, 3)`."""

    def drift_of_axes(tried: Array, indices: Indices) -> Array:
        vectors = values[indices].copy()
        vectors[..., axes] = tried
        return drift(vectors, indices)

    return drift_of_axes
