"""Keys of steered controls: on trial in copies of the actions, evaluated round by round, and those that are written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array, Indices, KeyFrames
from ....core.rig.inheritance import parent_transform
from ....pipeline.plan.planning import ChainPlan
from ....pipeline.pose.solving import CurveSamples
from ....pipeline.stages import all_frames
from ....pipeline.story import Sample, Story
from ....records import replace
from ....scene.blender_types import Channel, Object, Scene
from ....scene.keys.destinations import trial_actions
from ....scene.keys.replaced import limb_name
from ....scene.keys.tables import ChannelKeys, RepeatedKeys, StraightKeys
from ....scene.keys.writing import Change, write_keys
from ....scene.lookup import object_named, objects_by_name, rotation_values
from ....scene.restoring import edits_kept
from ....scene.sampling.evaluate import prepared_place
from ....scene.sampling.quantities import Samples
from ....scene.versions import ensure_curve_bag
from ..baking import Drift, chosen_keys, continuous_samples, location_drift, rotation_beside, rotation_drift
from .plans import Control, ControlPlan, refuse_locked
from .steering import RIGHT, SteeredLimb, Steering


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


def keys_of_controls(limb: SteeredLimb) -> SteeredKeys:
    """Full-rate or reduced keys of a limb's controls, by its settings; raises `ObjectError` where a lock is in the way."""
    keys_by_owner: dict[str, list[ChannelKeys]] = {}
    drifts = [0.0]
    for control in limb.control.controls:
        if control.role not in limb.used:
            continue
        for curves, drift in _curves(limb, control):
            keys, cost = chosen_keys(limb.control.plan, object_named(control.armature), curves, drift)
            keys_by_owner.setdefault(control.armature, []).extend(keys)
            drifts.append(cost)
    return SteeredKeys(limb, keys_by_owner, max(drifts))


def control_changes(steered: Sequence[SteeredKeys], task: str) -> list[Change]:
    """Keys of all controls, as changes to be written."""
    return [
        Change(
            owner=name,
            keys=keys,
            within=plan.within,
            task=task,
            limb=limb_name(plan.names.armature, plan.names.upper),
            destination=plan.settings.destination,
            strip=plan.settings.stored or plan.names.upper,
            is_from_elsewhere=True,
        )
        for limb in steered
        for plan in [limb.limb.control.plan]
        for name, keys in limb.keys.items()
    ]


def _curves(limb: SteeredLimb, control: Control) -> list[tuple[list[CurveSamples], Drift]]:
    """Groups of a control's channels that are keyed together, each with the drift function of its values."""
    held, length = limb.held[control.role], limb.goals.length
    groups: list[tuple[list[CurveSamples], Drift]] = []
    # A base keeps its place: it gets rotation and scale alone.
    if control.role != "Base":
        refuse_locked(control, held.location, RIGHT * length)
        free = [axis for axis in range(3) if not control.locked[axis]]
        curves = _vector_curves(control.location_path, control, held.location, control.present_location(), free)
        groups.append((curves, _drift_of_axes(free, held.location, location_drift(held.location, _linear(limb, control)))))
    if turns(limb, control):
        mode = control.bone.rotation_mode
        groups.append((rotation_curves_of(limb, control), rotation_drift(mode, held.rotation, length)))
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


@contextmanager
def on_trial(scene: Scene, plans: Sequence[ControlPlan]) -> Iterator[None]:
    """Let the limbs follow their IK, in copies of the armatures' actions; everything is restored afterwards."""
    names = dict.fromkeys(name for plan in plans for name in (plan.armature, *(control.armature for control in plan.controls)))
    armatures = [object_named(name) for name in names]
    with edits_kept(scene, armatures, set()), trial_actions(armatures):
        for plan in plans:
            frames = KeyFrames(np.unique(plan.plan.frames[[0, -1]]))
            keys = [
                StraightKeys(setting.path, 0, "", frames, np.full(len(frames), setting.value), "CONSTANT")
                for setting in plan.settings
            ]
            write_keys(ensure_curve_bag(object_named(plan.armature)), keys, float(frames[0]), float(frames[-1]))
        yield


def steer_all(scene: Scene, limbs: Sequence[SteeredLimb]) -> Story[None]:
    """Steer all limbs at the same time until each has converged; their channels and samples are left in `limbs`.

    One prepared place serves all rounds, each of which evaluates in one pass the frames that any limb still works on.
    """
    working = [_Steered(limb, steering, next(steering)) for limb in limbs for steering in [limb.steer()]]
    trial = _TrialKeys()
    for limb in limbs:
        trial.write(limb, objects_by_name())
    first = _look([limb.control for limb in limbs])
    quantities = list(dict.fromkeys(first.quantities))
    prepared = nullcontext() if first.evaluation == "SCENE" else prepared_place(scene, quantities, first.frames)
    with prepared as place:
        while working:
            look = _look([steered.limb.control for steered in working])
            players = objects_by_name() if place is None else place.players(look.quantities)
            are_new = [trial.write(steered.limb, players) for steered in working]
            if place is not None and any(are_new):
                place.clear()  # Blender learns of new curves where objects come into a scene.
            samples = yield replace(look, frames=all_frames(steered.asked for steered in working), place=place)
            working = [steered for steered in working if steered.goes_on(samples)]


@dataclass(slots=True)
class _Steered:
    """A limb that is being steered."""

    limb: SteeredLimb
    steering: Steering
    asked: Array
    """`(N,)` frames at which it wants samples next."""

    def goes_on(self, samples: Samples) -> bool:
        """Send it samples; return whether it asks for more."""
        try:
            self.asked = self.steering.send(samples)
        except StopIteration:
            return False
        return True


def look_at(plans: Sequence[ControlPlan]) -> Story[Samples]:
    """Samples of the limbs and their controls as Blender evaluates them now."""
    return (yield _look(plans))


def _look(plans: Sequence[ControlPlan]) -> Sample:
    frames = all_frames(plan.plan.frames for plan in plans)
    quantities = [quantity for plan in plans for quantity in plan.seen()]
    evaluation = "SCENE" if any(plan.plan.reads_scene or plan.plan.settings.evaluation == "SCENE" for plan in plans) else "PROBES"
    return Sample(quantities, frames, evaluation, held=0)


class _TrialKeys:
    """Keys of controls on trial, which are written round after round: their curves are found once."""

    def __init__(self) -> None:
        self._curves: dict[tuple[str, Channel], RepeatedKeys] = {}

    def write(self, limb: SteeredLimb, players: Mapping[str, Object]) -> bool:
        """Key a limb's controls in what is evaluated for their armatures, by name; return whether curves are new."""
        plan, are_new = limb.control.plan, False
        for control in limb.control.controls:
            player = players[control.armature]
            keys = _trial_keys(limb, control) if control.role in limb.used else []
            known = [self._curves.get((player.name, key.channel)) for key in keys]
            if all(curve is not None and curve.takes(key) for curve, key in zip(known, keys, strict=True)):
                for curve, key in zip(known, keys, strict=True):
                    if curve is not None:
                        curve.put(key)
                continue
            bag, are_new = ensure_curve_bag(player), True
            write_keys(bag, keys, float(plan.frames[0]), float(plan.frames[-1]))
            self._curves |= {(player.name, key.channel): RepeatedKeys(bag, key) for key in keys}
        return are_new


def _trial_keys(limb: SteeredLimb, control: Control) -> list[StraightKeys]:
    """Linear keys of a control at every sample."""
    plan, held = limb.control.plan, limb.held[control.role]
    keys = _vector_keys(plan, control.location_path, held.location) if control.role != "Base" else []
    if turns(limb, control):
        keys += [
            StraightKeys(curve.path, curve.index, "", KeyFrames(plan.frames), curve.values, "LINEAR")
            for curve in rotation_curves_of(limb, control)
        ]
    if control.role == "Base" and limb.scales:
        keys += _vector_keys(plan, control.scale_path, held.scale)
    return keys


def turns(limb: SteeredLimb, control: Control) -> bool:
    """Whether a control's rotation is keyed."""
    return control.role == "Base" or (control.role == "Target" and limb.control.turns)


def _vector_keys(plan: ChainPlan, path: str, values: Array) -> list[StraightKeys]:
    """Trial keys at every sample."""
    return [StraightKeys(path, axis, "", KeyFrames(plan.frames), values[:, axis], "LINEAR") for axis in range(3)]


def rotation_curves_of(limb: SteeredLimb, control: Control) -> list[CurveSamples]:
    """Continuous curves of a control's rotation."""
    armature, path = object_named(control.armature), control.rotation_path
    mode, present = control.bone.rotation_mode, rotation_values(armature.pose.bones[control.bone.name])
    if control.role not in limb.beside:
        limb.beside[control.role] = rotation_beside(limb.control.plan, armature, path, present)
    rotation = limb.held[control.role].rotation
    return continuous_samples(path, control.bone.name, rotation, limb.beside[control.role], mode=mode, present=present)
