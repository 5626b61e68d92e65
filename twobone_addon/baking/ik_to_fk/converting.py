"""Convert IK to FK Keys: the same motion, constraints muted or switched off, nothing deleted."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...errors import ChainError
from ...scene.actions.finding import actions_of, key_span
from ...scene.blender_types import Action, Object, Scene
from ...scene.lookup import find_armature
from ...scene.walk.evaluate import Quantity, Samples
from ...scene.walk.stepping import Steps, at_once
from ..actions.choosing import chosen_actions, goes_on_beside, refuse_strips
from ..actions.passes import Pass, Passes, Ready, Span, with_range
from ..keys.writing import put_chains, write_chains
from ..motion.sampling import sample_steps
from ..report.records import BakeReport, Refused, ReportEntry
from ..report.statements import Statement
from ..report.units import units_of
from ..stages import SkipCheckError, Stopwatch, all_frames, evaluation_of
from .ending import EndedLimb, Endings
from .limb_plan import LimbPlan
from .plans import Conversion, plan_limbs
from .reports import converted_report
from .solving import SolvedLimb, solve_limb

Told: TypeAlias = tuple[Statement, str]
"""What is said in the status bar, and the note that says it at more length."""


@dataclass(frozen=True, slots=True)
class _Converted:
    """The limbs of one action."""

    limbs: list[EndedLimb]
    left: list[str]
    """Sentences about those that are left as they are."""
    evaluation: str | dict[str, str]


@dataclass(frozen=True, slots=True)
class _Work:
    """A conversion of the limbs as the armature's present action moves them."""

    scene: Scene
    wanted: Conversion
    armature: Object
    watch: Stopwatch

    def prepare(self, span: Span | None) -> Steps[_Converted]:
        """Find, sample and solve the limbs."""
        wanted = self.wanted
        if span is not None:
            wanted = replace(wanted, settings=with_range(wanted.settings, span), goes_on=goes_on_beside(self.armature, span))
        with self.watch.stage("read"):
            limbs, left = plan_limbs(self.scene, wanted, self.armature)
        plans = [limb.chain for limb in limbs]
        with self.watch.stage("sample"):
            frames = all_frames(plan.frames for plan in plans)
            quantities = [quantity for limb in limbs for quantity in limb.quantities()]
            samples = yield from sample_steps(self.scene, quantities, frames, evaluation=evaluation_of(plans))
        with self.watch.stage("solve"):
            solved, stretched = _solved(limbs, samples)
            if stretched and (wanted.bone or not solved):
                raise stretched[0]
        left += [str(error) for error in stretched]
        return _Converted([EndedLimb(limb, ()) for limb in solved], left, samples.evaluation)

    def write(self, prepared: _Converted) -> set[str]:
        """Write the keys where somebody else looks after what is not keyed."""
        with self.watch.stage("write"):
            put_chains([limb.solved.keyed for limb in prepared.limbs])
        return {key.path for limb in prepared.limbs for key in limb.solved.keyed.keys}

    def prove(self, prepared: _Converted) -> Steps[list[ReportEntry]]:
        """Let Blender evaluate the limbs as they are now."""
        if not self.wanted.settings.verify:
            return self.reports(prepared)
        with self.watch.stage("verify"):
            limbs = [limb.solved for limb in prepared.limbs]
            plans = [limb.plan.chain for limb in limbs]
            frames = all_frames(plan.report_frames for plan in plans)
            quantities: list[Quantity] = []
            for limb in limbs:
                quantities += [*limb.plan.poses(), limb.plan.chain.armature_world]
                quantities += [limb.plan.chain.target_world] if limb.plan.ik else []
            measured = yield from sample_steps(self.scene, quantities, frames, evaluation=evaluation_of(plans, proving=True))
        return self.reports(prepared, measured)

    def reports(self, prepared: _Converted, measured: Samples | None = None) -> list[ReportEntry]:
        """One for each limb."""
        units = units_of(self.scene)
        return [converted_report(limb.solved, measured, limb.notes, units) for limb in prepared.limbs]


def convert(scene: Scene, wanted: Conversion, active: Object | None = None) -> BakeReport:
    """The same as `convert_steps`, at once."""
    return at_once(convert_steps(scene, wanted, active))


def refuse_conversion(scene: Scene, wanted: Conversion, active: Object | None = None) -> None:
    """Raise the `TwoBoneError` that a conversion of what the armature plays now would raise; nothing is changed."""
    at_once(_Work(scene, wanted, find_armature(wanted.settings.armature, active), Stopwatch()).prepare(None))


def convert_steps(scene: Scene, wanted: Conversion, active: Object | None = None) -> Steps[BakeReport]:
    """Key every limb as its IK poses it, and switch the IK off; raises a `TwoBoneError` before anything is changed."""
    armature = find_armature(wanted.settings.armature, active)
    refuse_strips(wanted.actions, wanted.settings.destination)
    actions = chosen_actions(armature, wanted.actions)
    work = _Work(scene, wanted, armature, Stopwatch())
    if actions is None:
        return (yield from _convert_present(work))
    with ExitStack() as stack:
        passes = Passes(scene, [Pass(armature, own, work) for own in actions], stack)
        ready = yield from passes.prepared()
        ready, endings = _ended(armature, ready, wanted.settings.destination)
        passes.write(ready)
        endings.finish()
        entries = yield from passes.proved(ready)
        left = [Refused(armature.name, each.one.own.name, reason) for each in ready for reason in each.prepared.left]
    return passes.report(entries, left, work.watch.seconds, ready[0].prepared.evaluation)


def _convert_present(work: _Work) -> Steps[BakeReport]:
    """The armature as it is, with what it plays now."""
    data = work.armature.animation_data
    action: Action | None = data.action if data is not None else None
    prepared = yield from work.prepare(None)
    longer = _made_longer(work, prepared)
    endings = Endings(work.armature, [(action, _solutions(prepared))], work.wanted.settings.destination)
    prepared, errors = _with_ends(prepared, endings)
    if errors and (work.wanted.bone or not prepared.limbs):
        raise errors[0]
    with work.watch.stage("write"):
        write_chains(work.scene, [limb.solved.keyed for limb in prepared.limbs])
        endings.finish()
    try:
        entries = yield from work.prove(prepared)
    except SkipCheckError:
        entries = work.reports(prepared)
    told = [*longer, *_muted_elsewhere(work.scene, prepared)]
    remarks = [*_left(prepared), *_were_off(prepared), *(remark for remark, _ in told)]
    report = BakeReport(entries, work.watch.seconds, prepared.evaluation, remarks=remarks)
    report.chains[0].notes.extend([*prepared.left, *(note for _, note in told)])
    return report


def _left(prepared: _Converted) -> list[Statement]:
    return [Statement("LIMBS_LEFT", {"count": len(prepared.left)})] if prepared.left else []


def _were_off(prepared: _Converted) -> list[Statement]:
    limbs = [limb.solved.plan for limb in prepared.limbs]
    return [Statement("IK_WAS_OFF", {"bone": limb.ik.bone}) for limb in limbs if limb.ik and limb.was_off]


def _made_longer(work: _Work, prepared: _Converted) -> list[Told]:
    """What the range of the scene means for an action of a library, which is shorter before it is keyed over that range."""
    data, frames = work.armature.animation_data, prepared.limbs[0].solved.plan.chain.report_frames
    action: Action | None = data.action if data is not None else None
    span = key_span(action) if action is not None else None
    settings = work.wanted.settings
    is_asked_for = settings.frame_range == "CUSTOM" or settings.destination != "ACTION"
    if action is None or span is None or is_asked_for or len(actions_of(work.armature)) == 1:
        return []
    first, last = frames[0], frames[-1]
    if span[0] <= first and last <= span[1]:
        return []
    now = f"and has some from {first:g} to {last:g} now. Enter its name as Actions to convert it over its own range."
    note = f'Action "{action.name}" had keys from {span[0]:g} to {span[1]:g}, {now}'
    return [(Statement("ACTION_LONGER", {"action": action.name, "first": f"{first:g}", "last": f"{last:g}"}), note)]


def _muted_elsewhere(scene: Scene, prepared: _Converted) -> list[Told]:
    """What a muted constraint means for frames of the scene that have no keys instead."""
    # Where other actions need it, notes say so, and it is keyed off instead.
    muted = [limb.solved.plan for limb in prepared.limbs if not limb.notes]
    frames = [plan.chain.report_frames for plan in muted if plan.ik is not None and not plan.keyed_off]
    if not frames or (frames[0][0] <= scene.frame_start and scene.frame_end <= frames[0][-1]):
        return []
    first, last = frames[0][[0, -1]]
    note = f"The IK is off before frame {first:g} and after frame {last:g} as well. Key its influence instead to keep it there."
    return [(Statement("IK_OFF_OUTSIDE", {"first": f"{first:g}", "last": f"{last:g}"}), note)]


def _ended(armature: Object, ready: list[Ready[_Converted]], destination: str) -> tuple[list[Ready[_Converted]], Endings]:
    """What is ready, with the ends of the IK; raises what is wrong where nothing can be converted any more."""
    endings = Endings(armature, [(each.one.own.action, _solutions(each.prepared)) for each in ready], destination)
    ended = [(each, *_with_ends(each.prepared, endings)) for each in ready]
    if not any(prepared.limbs for _, prepared, _ in ended):
        raise next(error for _, _, errors in ended for error in errors)
    return [replace(each, prepared=prepared) for each, prepared, _ in ended], endings


def _with_ends(prepared: _Converted, endings: Endings) -> tuple[_Converted, list[ChainError]]:
    limbs, errors = endings.ended(_solutions(prepared))
    return replace(prepared, limbs=limbs, left=[*prepared.left, *map(str, errors)]), errors


def _solutions(prepared: _Converted) -> list[SolvedLimb]:
    return [limb.solved for limb in prepared.limbs]


def _solved(limbs: list[LimbPlan], samples: Samples) -> tuple[list[SolvedLimb], list[ChainError]]:
    """The limbs, and what is wrong with those that cannot be converted."""
    solved, errors = [], []
    for limb in limbs:
        try:
            solved.append(solve_limb(limb, samples))
        except ChainError as error:
            errors.append(error)
    return solved, errors
