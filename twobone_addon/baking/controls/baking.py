"""The motion that a chain has becomes keys on the controls of the rig's own IK, so that this does the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...errors import ObjectError
from ...scene.blender_types import Object, Scene
from ...scene.walk.evaluate import Quantity, Samples
from ...scene.walk.stepping import Steps
from ...settings import BakeSettings
from ..fk_to_target.records import TargetReport
from ..fk_to_target.solving import TargetMotion, solve_target
from ..keys.reducing import KeyDrift
from ..motion.plan_motion import motion_quantities
from ..motion.sampling import sample_steps
from ..pose.solving import SolvedChain
from ..report.records import BakeReport, ChainReport, ReportEntry
from ..report.reporting import chain_report
from ..report.units import digits
from ..stages import SkipCheckError, Stopwatch, all_frames, evaluation_of
from .controls import Control
from .goals import Goals, Seen, end_errors, joint_errors, look, read_goals, tip_errors
from .plans import ControlPlan, moving_toes, plan_controls
from .steering import SteeredLimb
from .trying import look_at, on_trial, steer_all, steered_limb
from .writing import SteeredKeys, keys_of, write_controls

TURNED = math.radians(0.05)
"""Angle that the bone at the tip may be off; more is something in the control's way."""

SEEN = 1e-3
"""Part of the limb's length that joints may be off and still be where they were to the eye; the tip more if something is in
the control's way. Single frames of a stretching IK are off by a fifth of that, wherever its search begins."""


@dataclass(frozen=True, slots=True)
class ControlReport(TargetReport):
    """What became of one limb's controls. `max_round_trip` and `max_end_turn` are what the rig's own IK makes of the keys."""

    target_bone: str
    pole_bone: str
    constraint: str
    """The IK constraint that follows the controls; empty where none does."""
    base_bone: str
    """First bone of the IK, where it had to be keyed as well."""

    @property
    def keyed(self) -> tuple[str, ...]:
        """Names of the bones that have the keys."""
        return self.target_bone, self.pole_bone, self.base_bone


@dataclass(frozen=True, slots=True)
class SolvedControls:
    """One limb before its controls are keyed."""

    control: ControlPlan
    motion: TargetMotion
    goals: Goals
    before: Samples


def bake_controls_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Steps[BakeReport]:
    """Key the control bones of each chain so that the rig's own IK does what the chain does now.

    Raises a `TwoBoneError` before anything is changed; see also `stages.SkipCheckError`.
    """
    watch = Stopwatch()
    with watch.stage("read"):
        plans = planned_controls(scene, wanted, active)
    return (yield from bake_plans(scene, plans, watch))


def planned_controls(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> list[ControlPlan]:
    """The limbs and their controls; raises a `TwoBoneError` where they cannot be found or must not be keyed."""
    plans = [plan_controls(scene, settings, active) for settings in wanted]
    _refuse_shared(plans)
    return [replace(plan, toes=moving_toes(plan)) for plan in plans]


def bake_plans(scene: Scene, plans: Sequence[ControlPlan], watch: Stopwatch | None = None) -> Steps[BakeReport]:
    """The same for limbs that have been found and checked."""
    watch = watch or Stopwatch()
    with watch.stage("sample"):
        solved, evaluation = yield from solved_controls(scene, plans)
    with watch.stage("solve"):
        steered = yield from steered_keys(scene, solved)
    with watch.stage("write"):
        write_controls(scene, steered)
    with watch.stage("verify"):
        try:
            proofs = yield from measured(scene, steered)
        except SkipCheckError:
            proofs = [None] * len(solved)
    return BakeReport(control_reports(solved, steered, proofs), watch.seconds, evaluation)


def control_reports(
    solved: Sequence[SolvedControls], steered: Sequence[SteeredKeys], proofs: Sequence[Seen | None]
) -> list[ReportEntry]:
    """What became of the limbs."""
    return [_report(*each) for each in zip(solved, steered, proofs, strict=True)]


def _refuse_shared(plans: Sequence[ControlPlan]) -> None:
    """One control cannot be in two places."""
    nodes = [each.node for plan in plans for each in (plan.target, plan.pole) if each is not None]
    shared = next((node for node in nodes if nodes.count(node) > 1), None)
    if shared is not None:
        raise ObjectError(f'Bone "{shared[1]}" is target or pole of two chains. Choose another bone for one of them.')


def solved_controls(scene: Scene, plans: Sequence[ControlPlan]) -> Steps[tuple[list[SolvedControls], str | dict[str, str]]]:
    """What the limbs do now, and where their rig's IK is to have them."""
    frames = all_frames(plan.plan.frames for plan in plans)
    quantities: list[Quantity] = []
    for plan in plans:
        held = [each.channels for each in plan.controls]
        quantities += [*motion_quantities(plan.plan), *plan.plan.poses, *plan.chain_poses, *held]
    samples = yield from sample_steps(scene, quantities, frames, evaluation=evaluation_of([plan.plan for plan in plans]))
    solved = []
    for plan in plans:
        own = samples.on(plan.plan.frames)
        motion = solve_target(plan.plan, own, np.tile(np.eye(4), (len(plan.plan.frames), 1, 1)))
        solved.append(SolvedControls(plan, motion, read_goals(plan, motion, own), own))
    return solved, samples.evaluation


def steered_keys(scene: Scene, solved: Sequence[SolvedControls]) -> Steps[list[SteeredKeys]]:
    """Keys of all controls, found on trial; raises `ObjectError` where one cannot get where it has to."""
    limbs = [steered_limb(each.control, each.goals, each.before) for each in solved]
    with on_trial(scene, [each.control for each in solved]):
        yield from steer_all(scene, limbs)
    for limb in limbs:
        _refuse_missed(limb)
    return [keys_of(limb) for limb in limbs]


def _refuse_missed(limb: SteeredLimb) -> None:
    seen, goals, plan = limb.now(), limb.goals, limb.control.plan
    away, turned = limb.aim_errors(), end_errors(goals, seen)
    name = limb.control.target.bone.name
    stuck = limb.control.target.constraints
    remedy = f'Mute its constraint "{stuck[0]}" first.' if stuck else "Choose the bone that the rig's IK follows."
    worst = int(np.argmax(turned))
    if turned[worst] > TURNED:
        raise ObjectError(
            f'Target bone "{name}" cannot match the rotation of the bone at the tip at frame {plan.frames[worst]:g}: '
            f"{math.degrees(turned[worst]):.3g} degrees are missing. {remedy}"
        )
    # What is put beyond its goal to make up for what the IK leaves is right where the tip is.
    away = np.minimum(away, tip_errors(goals, seen))
    worst = int(np.argmax(away))
    if away[worst] > SEEN * goals.length:
        raise ObjectError(
            f'Target bone "{name}" cannot reach the tip at frame {plan.frames[worst]:g}: '
            f"{digits(away[worst])} is missing. {remedy}"
        )


def measured(scene: Scene, steered: Sequence[SteeredKeys]) -> Steps[list[Seen | None]]:
    """What the rig's own IK makes of the keys as they are written; `None` where nobody asked."""
    limbs = [each.limb for each in steered]
    checked = [limb.control for limb in limbs if limb.control.plan.settings.verify]
    if not checked:
        return [None] * len(limbs)
    with on_trial(scene, checked):
        samples = yield from look_at(scene, checked)
    return [look(limb.control, limb.goals, samples) if limb.control.plan.settings.verify else None for limb in limbs]


def _report(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> ControlReport:
    control, rows = solved.control, solved.control.plan.report_rows
    base = _keyed_base(control, steered)
    return ControlReport(
        _chain_report(solved, steered, seen),
        pole=control.pole.armature if control.pole else "",
        max_round_trip=float(joint_errors(solved.goals, seen)[rows].max()) if seen else None,
        max_end_turn=math.degrees(end_errors(steered.limb.goals, seen)[rows].max()) if seen and control.turns else None,
        stored=control.plan.settings.stored,
        target_bone=control.target.bone.name,
        pole_bone=control.pole.bone.name if control.pole else "",
        constraint=control.ik.constraint if control.ik else "",
        base_bone=base.bone.name if base else "",
    )


def _chain_report(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> ChainReport:
    """The chain's own report, with the keys of the controls."""
    motion, plan, keys = solved.motion, solved.control.plan, steered.all_keys
    told = chain_report(SolvedChain(plan, motion.motion, motion.pose, []), [], None, drift=KeyDrift(steered.drift))
    return replace(
        told,
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=told.frames * len(keys),
        channels=len(keys),
        max_error=float(tip_errors(solved.goals, seen)[plan.report_rows].max()) if seen else None,
        max_off_plane=float(motion.off_plane[plan.report_rows].max()),
        notes=[*(note for note in told.notes if note not in plan.notes), *_notes(solved, steered, seen)],
    )


def _keyed_base(control: ControlPlan, steered: SteeredKeys) -> Control | None:
    """The first bone of the IK, where it had to be keyed as well."""
    return control.base if "Base" in steered.limb.used else None


def _notes(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> list[str]:
    control, notes = solved.control, []
    base = _keyed_base(control, steered)
    if base is not None:
        why = "its IK stretches" if steered.limb.scales else "no pole turns the limb"
        notes.append(f'Bone "{base.bone.name}" was keyed as well, because {why}.')
    if control.pole is not None and control.ik is not None and not control.pole_acts:
        notes.append(
            f'The IK does not point at pole bone "{control.pole.bone.name}" now; it was put into the limb\'s plane anyway.'
        )
    notes += [f'The toes on IK follow bone "{toe}", which was not keyed. Switch to IK keys it too.' for toe in control.toes]
    if seen is None:
        return notes
    moved = float(joint_errors(solved.goals, seen)[control.plan.report_rows].max())
    if moved > SEEN * solved.goals.length:
        notes.append(f"The rig's IK cannot do what the chain does: it has joints up to {digits(moved)} away.")
    return notes
