"""Try out channels of controls: key them in temporary copies of the actions and let Blender evaluate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from ....core.array_types import Array
from ....core.rig.bones import BoneChannels
from ....core.rig.channels import channel_rotations
from ....pipeline.motion.sampling import sample_steps
from ....pipeline.plan.planning import ChainPlan
from ....pipeline.pose.solving import CurveSamples
from ....pipeline.stages import all_frames
from ....scene.blender_types import Scene
from ....scene.keys.destinations import trial_actions
from ....scene.keys.tables import ChannelKeys
from ....scene.keys.writing import write_keys
from ....scene.lookup import object_named
from ....scene.restoring import edits_kept
from ....scene.sampling.quantities import Samples
from ....scene.sampling.stepping import Steps
from ....scene.versions import ensure_curve_bag
from ..keys import rotation_samples
from .controls import Control
from .goals import Goals
from .plans import ControlPlan
from .steering import SteeredLimb, Steering


@contextmanager
def on_trial(scene: Scene, plans: Sequence[ControlPlan]) -> Iterator[None]:
    """Let the limbs follow their IK, in copies of the armatures' actions; everything is restored afterwards."""
    names = dict.fromkeys(name for plan in plans for name in (plan.armature, *(each.armature for each in plan.controls)))
    things = [object_named(name) for name in names]
    with edits_kept(scene, things, set()), trial_actions(things):
        for plan in plans:
            _key_ik_settings(plan)
        yield


def _key_ik_settings(control: ControlPlan) -> None:
    """Key the settings that let a limb follow its IK, over its frames."""
    frames = control.plan.frames[[0, -1]]
    keys = [
        ChannelKeys(setting.path, 0, "", np.unique(frames), np.full(len(np.unique(frames)), setting.value), "CONSTANT")
        for setting in control.settings
    ]
    write_keys(ensure_curve_bag(object_named(control.armature)), keys, float(frames[0]), float(frames[-1]))


def steer_all(scene: Scene, limbs: Sequence[SteeredLimb]) -> Steps[None]:
    """Steer all limbs at the same time until each has converged; their channels and samples are left in `limbs`."""
    working = [(limb, limb.steer()) for limb in limbs]
    for _, steering in working:
        next(steering)
    while working:
        for limb, _ in working:
            _write_trial_keys(limb)
        samples = yield from look_at(scene, [limb.control for limb, _ in working])
        working = [(limb, steering) for limb, steering in working if _continues(steering, samples)]


def _continues(steering: Steering, samples: Samples) -> bool:
    """Send samples to a limb's steering; return whether it asks for more."""
    try:
        steering.send(samples)
    except StopIteration:
        return False
    return True


def look_at(scene: Scene, plans: Sequence[ControlPlan]) -> Steps[Samples]:
    """Samples of the limbs and their controls as Blender evaluates them now."""
    frames = all_frames(plan.plan.frames for plan in plans)
    quantities = [quantity for plan in plans for quantity in plan.seen()]
    evaluation = "SCENE" if any(plan.plan.reads_scene or plan.plan.settings.evaluation == "SCENE" for plan in plans) else "PROBES"
    return (yield from sample_steps(scene, quantities, frames, evaluation=evaluation))


def _write_trial_keys(limb: SteeredLimb) -> None:
    plan = limb.control.plan
    for control in limb.control.controls:
        if control.role in limb.used:
            held = limb.held[control.role]
            keys = [*_vector_keys(plan, control.location_path, held.location)] if control.role != "Base" else []
            if turns(limb, control):
                keys += _rotation_keys(plan, control, held.rotation)
            if control.role == "Base" and limb.scales:
                keys += _vector_keys(plan, control.scale_path, held.scale)
            write_keys(ensure_curve_bag(object_named(control.armature)), keys, float(plan.frames[0]), float(plan.frames[-1]))


def turns(limb: SteeredLimb, control: Control) -> bool:
    """Whether a control's rotation is keyed."""
    return control.role == "Base" or (control.role == "Target" and limb.control.turns)


def _vector_keys(plan: ChainPlan, path: str, values: Array) -> list[ChannelKeys]:
    return [ChannelKeys(path, axis, "", plan.frames, values[:, axis], "LINEAR") for axis in range(3)]


def _rotation_keys(plan: ChainPlan, control: Control, rotation: Array) -> list[ChannelKeys]:
    curves = rotation_curves_of(plan, control, rotation)
    return [ChannelKeys(curve.path, curve.index, "", plan.frames, curve.values, "LINEAR") for curve in curves]


def rotation_curves_of(plan: ChainPlan, control: Control, rotation: Array) -> list[CurveSamples]:
    """Continuous curves of a control's rotation."""
    thing = object_named(control.armature)
    mode, present = control.bone.rotation_mode, control.present_rotation()
    return rotation_samples(plan, thing, control.rotation_path, control.bone.name, rotation, mode=mode, present=present)


def steered_limb(control: ControlPlan, goals: Goals, samples: Samples) -> SteeredLimb:
    """A limb ready to be steered, with its controls' present channels at every frame of the plan."""
    samples = samples.on(control.plan.frames)
    held = {}
    for each in control.controls:
        values = samples.every(each.channels)
        rotation = channel_rotations(each.bone.rotation_mode, values[:, 3:7])
        held[each.role] = BoneChannels(values[:, :3].copy(), rotation, values[:, 7:].copy())
    return SteeredLimb(control, goals, held, {"Target"} | ({"Pole"} if control.pole else set()))
