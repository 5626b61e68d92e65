"""Bake a chain's motion onto the controls of its rig's own IK, so that the IK reproduces it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array
from ....core.arrays import path_length
from ....core.curves.frames import ranges
from ....core.rig.bones import RestBone
from ....core.rig.inheritance import local_basis, parent_transform
from ....core.rig.rotations import nearest_rotation, twists_about, unit
from ....errors import ObjectError
from ....pipeline.keying import KeyDrift
from ....pipeline.motion.plan_motion import motion_quantities
from ....pipeline.plan.chain_plan import ChainPlan
from ....pipeline.plan.naming import named
from ....pipeline.pose.solving import CurveSamples, SolvedChain
from ....pipeline.proof import Trial
from ....pipeline.report.reporting import chain_report
from ....pipeline.report.reports import ChainReport, statement
from ....pipeline.report.twist import SEEN_TWIST
from ....pipeline.report.units import digits
from ....pipeline.stages import all_frames, evaluation_of, with_steps
from ....pipeline.story import Sample, Story
from ....records import extended, replace
from ....said import Sentence, Statement, note
from ....scene.blender_types import Object, PoseBone, Scene
from ....scene.bones import location_path, read_rest_bone, rotation_path
from ....scene.keys.guarding import refuse_unwritable
from ....scene.keys.replaced import limb_name
from ....scene.keys.tables import ChannelKeys
from ....scene.keys.writing import Change
from ....scene.lookup import object_named, rotation_values
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.visible.switches import SwitchedBone, starts_with
from ....settings import BakeSettings
from ..baking import TargetReport, chosen_keys, location_drift, rotation_drift, rotation_samples
from ..solve import TargetMotion, ended_where_cut, solve_target
from .control_keys import SteeredKeys, keys_of_controls, look_at, on_trial, steer_all
from .plans import Control, ControlPlan, can_turn, moving_toes, plan_controls, rest_turn, toe_controls
from .steering import RIGHT, Goals, Seen, SteeredLimb, end_errors, joint_errors, read_goals, seen_in, steered_limb, tip_errors

TURNED = math.radians(0.05)
"""Rotation error of the bone at the tip, radians, above which something must be blocking the control."""

SEEN = 1e-3
"""Joint error, relative to the limb's length, below which no difference is visible; above it at the tip, something must be
blocking the control. A stretching IK has errors of a fifth of that at single frames, wherever its search starts."""


@dataclass(frozen=True, kw_only=True)
class ControlReport(TargetReport):
    """One limb's controls. `max_round_trip` and `max_end_turn` are errors of the rig's own IK with the keys."""

    @property
    def keyed(self) -> tuple[str, ...]:
        """Names of the keyed bones."""
        return self.target_bone, self.pole_bone, self.base_bone


@dataclass(frozen=True, slots=True)
class SolvedControls:
    """One limb before its controls are keyed."""

    control: ControlPlan
    motion: TargetMotion
    goals: Goals
    before: Samples
    """Samples of the limb's present motion."""


def planned_controls(scene: Scene, chains: Sequence[BakeSettings], active: Object | None = None) -> list[ControlPlan]:
    """Plan limbs and their controls; raises a `TwoBoneError` where controls cannot be found or must not be keyed."""
    plans = []
    for chain in chains:
        with named(chain):
            plans.append(plan_controls(scene, chain, active))
    _refuse_shared(plans)
    return [replace(plan, toes=moving_toes(plan)) for plan in plans]


def control_reports(
    solved: Sequence[SolvedControls], steered: Sequence[SteeredKeys], proofs: Sequence[Seen | None]
) -> list[ControlReport]:
    """One report for each limb."""
    return [_report(*parts) for parts in zip(solved, steered, proofs, strict=True)]


def _refuse_shared(plans: Sequence[ControlPlan]) -> None:
    """Raise `ObjectError` where two chains share a control: one control cannot be in two places."""
    nodes = [control.node for plan in plans for control in (plan.target, plan.pole) if control is not None]
    shared = next((node for node in nodes if nodes.count(node) > 1), None)
    if shared is not None:
        raise ObjectError('Bone "{bone}" is target or pole of two chains. Choose another bone for one of them.', bone=shared[1])


def solved_controls(plans: Sequence[ControlPlan]) -> Story[tuple[list[SolvedControls], str | dict[str, str]]]:
    """Sample the limbs' present motion and find the goals of their IK; return also how it was sampled."""
    frames = all_frames(plan.plan.frames for plan in plans)
    quantities: list[Quantity] = []
    for plan in plans:
        held = [control.channels for control in plan.controls]
        quantities += [*motion_quantities(plan.plan), *plan.plan.poses, *plan.chain_poses, *held]
    samples = yield Sample(quantities, frames, evaluation_of([plan.plan for plan in plans]))
    chains = yield from with_steps([plan.plan for plan in plans], [[*plan.plan.poses, *plan.chain_poses] for plan in plans])
    solved = []
    for plan in (replace(plan, plan=chain) for plan, chain in zip(plans, chains, strict=True)):
        limb_samples = samples.on(plan.plan.frames)
        # Rounding to what location keys can hold is for objects: controls are corrected until they are right.
        motion = solve_target(plan.plan, limb_samples, np.tile(np.eye(4), (len(plan.plan.frames), 1, 1)))
        ended = replace(plan, plan=ended_where_cut(plan.plan, motion))
        solved.append(SolvedControls(ended, motion, read_goals(plan, motion, limb_samples), limb_samples))
    return solved, samples.evaluation


def steered_keys(scene: Scene, solved: Sequence[SolvedControls]) -> Story[list[SteeredKeys]]:
    """Keys of all controls, found by trial; raises `ObjectError` where a control cannot reach its goal."""
    limbs = [steered_limb(limb.control, limb.goals, limb.before) for limb in solved]
    with on_trial(scene, [limb.control for limb in solved]):
        yield from steer_all(scene, limbs)
    for limb in limbs:
        _refuse_missed(limb)
    return [keys_of_controls(limb) for limb in limbs]


def _refuse_missed(limb: SteeredLimb) -> None:
    seen, goals, plan = limb.now(), limb.goals, limb.control.plan
    distances, angles = limb.aim_errors(), end_errors(goals, seen)
    name = limb.control.target.bone.name
    constraints = limb.control.target.constraints
    remedy = Sentence("Choose the bone that the rig's IK follows.")
    if constraints:
        remedy = Sentence('Mute its constraint "{constraint}" first.', {"constraint": constraints[0]})
    worst = int(np.argmax(angles))
    if angles[worst] > TURNED:
        raise ObjectError(
            'Target bone "{bone}" cannot match the rotation of the bone at the tip at frame {frame:g}: {angle:.3g} degrees are '
            "missing. {remedy}",
            bone=name,
            frame=plan.frames[worst],
            angle=math.degrees(angles[worst]),
            remedy=remedy,
        )
    # A target that is moved past its goal, to make up for the IK's residual, is right where the tip is at its goal.
    distances = np.minimum(distances, tip_errors(goals, seen))
    worst = int(np.argmax(distances))
    if distances[worst] > SEEN * goals.length:
        raise ObjectError(
            'Target bone "{bone}" cannot reach the tip at frame {frame:g}: {distance} is missing. {remedy}',
            bone=name,
            frame=plan.frames[worst],
            distance=digits(distances[worst]),
            remedy=remedy,
        )


def measured(scene: Scene, steered: Sequence[SteeredKeys]) -> Story[list[Seen | None]]:
    """Measure what the rig's own IK does with the written keys; `None` for limbs that are not verified."""
    limbs = [limb.limb for limb in steered]
    checked = [limb.control for limb in limbs if limb.control.plan.settings.verify]
    if not checked:
        return [None] * len(limbs)
    with on_trial(scene, checked):
        samples = yield from look_at(checked)
    return [seen_in(limb.control, limb.goals, samples) if limb.control.plan.settings.verify else None for limb in limbs]


def _report(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> ControlReport:
    control, rows = solved.control, solved.control.plan.report_rows
    base = _keyed_base(control, steered)
    return extended(
        ControlReport,
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
    report = chain_report(chain, [], None, drift=drift, twist=motion.twist)
    return replace(
        report,
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=report.frames * len(keys),
        channels=len(keys),
        max_error=float(tip_errors(solved.goals, seen)[plan.report_rows].max()) if seen else None,
        max_off_plane=float(motion.off_plane[plan.report_rows].max()),
        notes=[*(sentence for sentence in report.notes if sentence not in plan.notes), *_notes(solved, steered, seen)],
    )


def _keyed_base(control: ControlPlan, steered: SteeredKeys) -> Control | None:
    """First bone of the IK, if it had to be keyed as well."""
    return control.base if "Base" in steered.limb.used else None


def lost_twists(solved: SolvedControls, seen: Seen) -> list[Statement]:
    """Statements on limb bones visibly twisted about their links compared with before: the IK does not control twist."""
    control, plan, lost = solved.control, solved.control.plan, []
    armature, before, rows = object_named(control.armature), solved.before.on(plan.frames), plan.report_rows
    world = before.every(plan.armature_world)
    for number, (pose, shown) in enumerate(zip(control.chain_poses[:2], control.shown, strict=False)):
        earlier = nearest_rotation((world @ before.every(pose))[:, :3, :3]) @ rest_turn(armature, pose.bone, shown)
        now = nearest_rotation(seen.samples.every(Quantity("WORLD", control.armature, shown))[:, :3, :3])
        links = unit(solved.goals.joints[:, number + 1] - solved.goals.joints[:, number])
        twists = np.degrees(twists_about(links, now @ np.swapaxes(earlier, -1, -2)))[rows]
        worst = int(np.argmax(twists))
        if twists[worst] > SEEN_TWIST:
            values = {"bone": shown, "angle": f"{twists[worst]:.0f}", "frame": f"{plan.report_frames[worst]:g}"}
            lost.append(statement("TWIST_LOST", values, ranges(plan.report_frames, twists > SEEN_TWIST)))
    return lost


def _notes(solved: SolvedControls, steered: SteeredKeys, seen: Seen | None) -> list[Sentence]:
    control, notes = solved.control, []
    base = _keyed_base(control, steered)
    if base is not None:
        turns = "its pole alone does not give the pose" if control.pole_acts else "no pole turns the limb"
        why = Sentence("its IK stretches" if steered.limb.scales else turns)
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
    notes += [replace(twist, kind="") for twist in lost_twists(solved, seen)]
    moved = float(joint_errors(solved.goals, seen)[control.plan.report_rows].max())
    if moved > SEEN * solved.goals.length:
        notes.append(note("The rig's IK cannot reproduce the motion: joints are up to {distance} off.", distance=digits(moved)))
    return notes


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
    on_ik = [(shown, control, np.eye(4)) for shown, control in toe_controls(armature, plan.plan.names.upper)]
    if on_ik:
        return on_ik
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
    nearest: dict[str, Found] = {}
    for pair in sorted(beside, key=lambda switched: switched.apart):
        shown, control = armature.pose.bones[pair.shown], armature.pose.bones[pair.control]
        below = [child for child in shown.children if starts_with(child, shown) and _is_free(child)]
        if below and not shown.bone.use_deform:
            nearest.setdefault(below[0].name, (below[0].name, below[0], np.eye(4)))
        elif pair.is_copy and control.name not in taken and _is_free(control):
            nearest.setdefault(control.name, (shown.name, control, pair.control_from_shown))
    return sorted(nearest.values(), key=lambda shown_control: len(shown_control[1].parent_recursive))


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
            keys += chosen_keys(chain, armature, curves, rotation_drift(mode, rotation, bone.length)).keys
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
    return chosen_keys(chain, armature, curves, drift).keys
