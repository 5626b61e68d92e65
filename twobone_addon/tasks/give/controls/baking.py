"""The motion that a chain has becomes keys on the controls of the rig's own IK, so that this does the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....core.array_types import Array
from ....core.curves.frames import ranges
from ....core.rig.rotations import nearest_rotation, twists_about, unit
from ....errors import ObjectError
from ....pipeline.keys.reducing import KeyDrift
from ....pipeline.motion.plan_motion import motion_quantities
from ....pipeline.motion.sampling import sample_steps
from ....pipeline.pose.solving import SolvedChain
from ....pipeline.report.reporting import chain_report
from ....pipeline.report.reports import BakeReport, ChainReport, ReportEntry, statement
from ....pipeline.report.twist import SEEN_TWIST
from ....pipeline.report.units import digits
from ....pipeline.run import Stopwatch
from ....pipeline.stages import all_frames, evaluation_of
from ....pipeline.task import HELD, Look
from ....said import Sentence, note
from ....scene.blender_types import Object, Scene
from ....scene.keys.writing import write
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.sampling.stepping import Steps, at_once
from ....settings import BakeSettings
from ..solve import TargetMotion, solve_target
from ..target_report import TargetReport
from .control_keys import SteeredKeys, control_changes, keys_of
from .controls import Control
from .goals import Goals, Seen, end_errors, joint_errors, read_goals, rest_turn, seen_in, tip_errors
from .plans import ControlPlan, moving_toes, plan_controls
from .steering import SteeredLimb
from .trying import look_at, on_trial, steer_all, steered_limb

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


def planned_controls(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> list[ControlPlan]:
    """The limbs and their controls; raises a `TwoBoneError` where they cannot be found or must not be keyed."""
    plans = [plan_controls(scene, settings, active) for settings in wanted]
    _refuse_shared(plans)
    return [replace(plan, toes=moving_toes(plan)) for plan in plans]


def bake_plans(scene: Scene, plans: Sequence[ControlPlan]) -> tuple[BakeReport, list[Sentence]]:
    """Key the controls of limbs that have been found and checked, as part of a switch, which has its own story.

    Also returns which bones lose their twist.
    """
    watch = Stopwatch()
    with watch.stage("sample"):
        solved, evaluation = at_once(solved_controls(plans, looking(scene)))
    with watch.stage("solve"):
        steered = at_once(steered_keys(scene, solved))
    with watch.stage("write"):
        write(scene, control_changes(steered, "switch"))
    with watch.stage("verify"):
        proofs = at_once(measured(scene, steered))
    lost = [said for each, seen in zip(solved, proofs, strict=True) if seen for said in lost_twists(each, seen)]
    return BakeReport(control_reports(solved, steered, proofs), watch.seconds, evaluation), lost


def looking(scene: Scene) -> Look:
    """Samples of a scene for what is no story of its own."""

    def look(quantities: Sequence[Quantity], frames: Array, *, evaluation: str = "AUTO", **how: Any) -> Steps[Samples]:
        return sample_steps(scene, quantities, frames, evaluation=evaluation, held=HELD, **how)

    return look


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
        raise ObjectError('Bone "{bone}" is target or pole of two chains. Choose another bone for one of them.', bone=shared[1])


def solved_controls(plans: Sequence[ControlPlan], look: Look) -> Steps[tuple[list[SolvedControls], str | dict[str, str]]]:
    """What the limbs do now, and where their rig's IK is to have them."""
    frames = all_frames(plan.plan.frames for plan in plans)
    quantities: list[Quantity] = []
    for plan in plans:
        held = [each.channels for each in plan.controls]
        quantities += [*motion_quantities(plan.plan), *plan.plan.poses, *plan.chain_poses, *held]
    samples = yield from look(quantities, frames, evaluation=evaluation_of([plan.plan for plan in plans]))
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
    remedy = Sentence("Choose the bone that the rig's IK follows.")
    if stuck:
        remedy = Sentence('Mute its constraint "{constraint}" first.', {"constraint": stuck[0]})
    worst = int(np.argmax(turned))
    if turned[worst] > TURNED:
        raise ObjectError(
            'Target bone "{bone}" cannot match the rotation of the bone at the tip at frame {frame:g}: {angle:.3g} degrees are '
            "missing. {remedy}",
            bone=name,
            frame=plan.frames[worst],
            angle=math.degrees(turned[worst]),
            remedy=remedy,
        )
    # What is put beyond its goal to make up for what the IK leaves is right where the tip is.
    away = np.minimum(away, tip_errors(goals, seen))
    worst = int(np.argmax(away))
    if away[worst] > SEEN * goals.length:
        raise ObjectError(
            'Target bone "{bone}" cannot reach the tip at frame {frame:g}: {distance} is missing. {remedy}',
            bone=name,
            frame=plan.frames[worst],
            distance=digits(away[worst]),
            remedy=remedy,
        )


def measured(scene: Scene, steered: Sequence[SteeredKeys]) -> Steps[list[Seen | None]]:
    """What the rig's own IK makes of the keys as they are written; `None` where nobody asked."""
    limbs = [each.limb for each in steered]
    checked = [limb.control for limb in limbs if limb.control.plan.settings.verify]
    if not checked:
        return [None] * len(limbs)
    with on_trial(scene, checked):
        samples = yield from look_at(scene, checked)
    return [seen_in(limb.control, limb.goals, samples) if limb.control.plan.settings.verify else None for limb in limbs]


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
    chain, drift = SolvedChain(plan, motion.motion, [], motion.pose), KeyDrift(steered.drift)
    told = chain_report(chain, [], None, drift=drift, twist=motion.twist)
    return replace(
        told,
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=told.frames * len(keys),
        channels=len(keys),
        max_error=float(tip_errors(solved.goals, seen)[plan.report_rows].max()) if seen else None,
        max_off_plane=float(motion.off_plane[plan.report_rows].max()),
        notes=[*(said for said in told.notes if said not in plan.notes), *_notes(solved, steered, seen)],
    )


def _keyed_base(control: ControlPlan, steered: SteeredKeys) -> Control | None:
    """The first bone of the IK, where it had to be keyed as well."""
    return control.base if "Base" in steered.limb.used else None


def lost_twists(solved: SolvedControls, seen: Seen) -> list[Sentence]:
    """Which of the two bones are visibly twisted about their links against before: IK has no say in that."""
    control, plan, lost = solved.control, solved.control.plan, []
    before, rows = solved.before.on(plan.frames), plan.report_rows
    world = before.every(plan.armature_world)
    for place, (pose, shown) in enumerate(zip(control.chain_poses[:2], control.shown, strict=False)):
        own = nearest_rotation((world @ before.every(pose))[:, :3, :3]) @ rest_turn(control.armature, pose.bone, shown)
        now = nearest_rotation(seen.samples.every(Quantity("WORLD", control.armature, shown))[:, :3, :3])
        links = unit(solved.goals.joints[:, place + 1] - solved.goals.joints[:, place])
        twists = np.degrees(twists_about(links, now @ np.swapaxes(own, -1, -2)))[rows]
        worst = int(np.argmax(twists))
        if twists[worst] > SEEN_TWIST:
            values = {"bone": shown, "angle": f"{twists[worst]:.0f}", "frame": f"{plan.report_frames[worst]:g}"}
            lost.append(statement("TWIST_LOST", values, ranges(plan.report_frames, twists > SEEN_TWIST)))
    return lost


def _notes(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> list[Sentence]:
    control, notes = solved.control, []
    base = _keyed_base(control, steered)
    if base is not None:
        why = Sentence("its IK stretches" if steered.limb.scales else "no pole turns the limb")
        notes.append(note('Bone "{bone}" was keyed as well, because {reason}.', bone=base.bone.name, reason=why))
    if control.pole is not None and control.ik is not None and not control.pole_acts:
        notes.append(
            note(
                'The IK does not point at pole bone "{bone}" now; it was put into the limb\'s plane anyway.',
                bone=control.pole.bone.name,
            )
        )
    notes += [
        note('IK toes follow bone "{bone}", which was not keyed. Switch to IK also keys it.', bone=toe) for toe in control.toes
    ]
    if seen is None:
        return notes
    notes += [replace(said, kind="") for said in lost_twists(solved, seen)]
    moved = float(joint_errors(solved.goals, seen)[control.plan.report_rows].max())
    if moved > SEEN * solved.goals.length:
        notes.append(note("The rig's IK cannot reproduce the motion: joints are up to {distance} off.", distance=digits(moved)))
    return notes
