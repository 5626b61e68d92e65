"""Convert IK to FK Keys: keep the motion, mute or switch off the constraints, delete nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ...errors import ChainError, TwoBoneError
from ...pipeline.actions.choosing import ALL, goes_on_beside, names_of, refuse_strips
from ...pipeline.beginning import Beginning, Reach
from ...pipeline.clips import bake_report, with_notes
from ...pipeline.keys.keying import KeyedChain
from ...pipeline.report.reports import BakeReport, Refused, statement
from ...pipeline.report.units import units_of
from ...pipeline.stages import all_frames, chain_changes, evaluation_of
from ...pipeline.task import Done, Look, Outcome, Span, Task, with_range
from ...said import Sentence, note
from ...scene.actions import OwnAction, action_named, actions_of, hold, is_held, key_span
from ...scene.blender_types import Action, Object, Scene
from ...scene.keys.writing import put
from ...scene.lookup import find_armature, object_named
from ...scene.rig.constraints import mute, mute_path
from ...scene.sampling.quantities import Quantity, Samples
from ...scene.sampling.stepping import Steps
from ...settings.tasks import TABLES, ConvertSettings
from .converted_report import ConvertedReport
from .limb_plan import LimbPlan
from .plans import Conversion, plan_limbs
from .reports import converted_report
from .solve import SolvedLimb, solve_limb, with_influence_off


@dataclass(frozen=True, slots=True)
class EndedLimb:
    """A limb with all its keys, and notes on how its IK is switched off."""

    solved: SolvedLimb
    notes: tuple[Sentence, ...]


class Endings:
    """Decides how the IK of each limb is switched off, over all actions; each action may have converted other limbs.

    It is muted; or, where actions that are not converted need it, keyed off in the converted ones and on in the others. Muting
    affects every action, and an influence without keys keeps the value that the last action played gave it.
    """

    def __init__(
        self, armature: Object, converted: Sequence[tuple[Action | None, Sequence[SolvedLimb]]], destination: str
    ) -> None:
        plans = [solved.plan for _, limbs in converted for solved in limbs]
        self._ends = {end.path: (end, plan) for plan in plans for end in plan.ends}
        armature_actions = actions_of(armature)
        self._needed: dict[str, list[OwnAction]] = {}
        """Actions that still need the IK, by the data path that switches it off."""
        for path, (end, _) in self._ends.items():
            converted_actions = {
                action
                for action, limbs in converted
                if any(limb_end.path == path for solved in limbs for limb_end in solved.plan.ends)
            }
            # A new action leaves the one that it was made from unchanged, which then still needs the IK.
            converted_actions = set() if destination == "NEW_ACTION" else converted_actions
            others = [
                each for each in armature_actions if each.action not in converted_actions and not is_held(each, path, end.value)
            ]
            if others:
                self._needed[path] = others

    def ended(self, limbs: Sequence[SolvedLimb]) -> tuple[list[EndedLimb], list[ChainError]]:
        """The limbs of one action, and the errors of those whose IK cannot be switched off for this action alone."""
        ended, errors = [], []
        for solved in limbs:
            try:
                ended.append(self._ended(solved))
            except ChainError as error:
                errors.append(error)
        return ended, errors

    def _ended(self, solved: SolvedLimb) -> EndedLimb:
        limb = solved.plan
        others = next((self._needed[end.path] for end in limb.ends if end.path in self._needed), None)
        if others is None:
            return EndedLimb(solved, ())
        linked = [each for each in others if not each.action.is_editable]
        notes = [
            note(
                "Other actions use this IK ({actions}), so it is keyed off here and on there instead of being muted.",
                actions=names_of(others),
            )
        ]
        notes += [
            note('Action "{action}" is linked and cannot be keyed, so this IK may be off in it.', action=each.name)
            for each in linked
        ]
        if limb.keyed_off:
            return EndedLimb(solved, tuple(notes))
        if limb.influence_refused is not None:
            raise ChainError(
                "{limb} is used by other actions ({actions}), so it must be keyed off in this one. {remedy}",
                limb=limb.name,
                actions=names_of(others),
                remedy=limb.influence_refused.sentence,
            )
        return EndedLimb(with_influence_off(solved), tuple(notes))

    def finish(self) -> None:
        """Mute the constraints that no action needs any more, and hold the others on in the actions that need them."""
        for path, (end, limb) in self._ends.items():
            others = self._needed.get(path, [])
            for each in others:
                hold(each, path, end.present, end.group)
            if not others and end.ik is not None and not limb.keyed_off:
                mute(end.ik)


Remark: TypeAlias = tuple[Sentence, Sentence]
"""A statement for the status bar, and the note that says the same at greater length."""


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    """The limbs of one action."""

    armature: str
    wanted: Conversion
    limbs: Sequence[LimbPlan]
    left: Sequence[TwoBoneError]
    """Errors of the limbs that cannot be converted."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The limbs of one action, solved."""

    limbs: Sequence[EndedLimb]
    left: Sequence[TwoBoneError]
    """Errors of the limbs that cannot be converted."""
    evaluation: str | dict[str, str]
    endings: Endings | None = None
    """How all IK is switched off, shared by all actions."""
    longer: Sequence[Remark] = ()
    """Remark on keying the played action over the scene's range, if that makes it longer."""


ConvertDone: TypeAlias = Done[ConversionPlan, Converted, Samples]


class Convert(Task[ConvertSettings, ConversionPlan, Converted, Samples]):
    """Key the bones in the poses that their IK gives them, and switch the IK off."""

    NAME = "convert"
    TABLE = TABLES["convert"]

    def by_armature(self, settings: ConvertSettings, active: Object | None) -> Mapping[Object, ConvertSettings]:
        """The armature whose IK is converted."""
        refuse_strips(ALL, settings.destination)
        return {find_armature(settings.armature, active): settings}

    def plan(self, scene: Scene, settings: ConvertSettings, active: Object | None, span: Span | None) -> ConversionPlan:
        """Plan all limbs that can be converted."""
        armature = find_armature(settings.armature, active)
        wanted = Conversion.of(settings)
        if span is not None:
            wanted = replace(wanted, settings=with_range(wanted.settings, span), goes_on=goes_on_beside(armature, span))
        limbs, left = plan_limbs(scene, wanted, armature)
        return ConversionPlan(armature.name, wanted, limbs, left)

    def reaches(self, plan: ConversionPlan) -> list[Reach]:
        """Keyed data paths of the limbs, also those that switch IK off: IK converted earlier is on again while sampling."""
        found = []
        for limb in plan.limbs:
            frames, names = limb.chain.frames, limb.chain.names
            strip = names.upper if plan.wanted.settings.destination == "NLA" else ""
            found.append(Reach(plan.armature, limb.keyed_paths(), (float(frames[0]), float(frames[-1])), strip))
        return found

    def solve(self, plan: ConversionPlan, begun: Any, look: Look) -> Steps[Converted]:
        """Solve the FK keys of the limbs as their IK poses them."""
        plans = [limb.chain for limb in plan.limbs]
        quantities = [quantity for limb in plan.limbs for quantity in limb.quantities()]
        samples = yield from look(quantities, all_frames(each.frames for each in plans), evaluation=evaluation_of(plans))
        solved, stretched = _solved(plan.limbs, samples)
        if stretched and (plan.wanted.bone or not solved):
            raise stretched[0]
        return Converted([EndedLimb(limb, ()) for limb in solved], [*plan.left, *stretched], samples.evaluation)

    def settle(self, solved: Sequence[ConvertDone]) -> Sequence[ConvertDone]:
        """Decide over all actions together how the IK of each limb is switched off."""
        first = solved[0].plan
        armature = object_named(first.armature)
        playing = armature.animation_data.action if armature.animation_data is not None else None
        actions = [action_named(done.action) if done.action else playing for done in solved]
        longer = [] if solved[0].action else _made_longer(armature, first.wanted, first.limbs[0], playing)
        pairs = [(action, [limb.solved for limb in done.solution.limbs]) for action, done in zip(actions, solved, strict=True)]
        endings = Endings(armature, pairs, first.wanted.settings.destination)
        ended = [(done, *endings.ended(limbs)) for done, (_, limbs) in zip(solved, pairs, strict=True)]
        errors = [error for _, _, found in ended for error in found]
        if errors and (first.wanted.bone or not any(limbs for _, limbs, _ in ended)):
            raise errors[0]
        return [
            replace(
                done,
                solution=replace(done.solution, limbs=limbs, left=[*done.solution.left, *found], endings=endings, longer=longer),
            )
            for done, limbs, found in ended
        ]

    def paths(self, plan: ConversionPlan, solution: Converted) -> set[tuple[Object, str]]:
        """Keyed data paths of the limbs, and those that switch their IK off."""
        armature = object_named(plan.armature)
        return {(armature, key.path) for limb in solution.limbs for key in limb.solved.keyed.keys}

    def write(self, scene: Scene, plan: ConversionPlan, solution: Converted, begun: Beginning) -> Converted:
        """Key the limbs."""
        put(chain_changes([_with_mutes(limb.solved) for limb in solution.limbs], self.NAME), begun.earlier)
        return solution

    def finish(self, written: Sequence[ConvertDone]) -> None:
        """Mute the IK that no action needs any more."""
        endings = written[0].solution.endings
        if endings is not None:
            endings.finish()

    def prove(self, plan: ConversionPlan, solution: Converted, look: Look) -> Steps[Samples | None]:
        """Sample the converted limbs as Blender evaluates them."""
        if not plan.wanted.settings.verify or not solution.limbs:
            return None
        limbs = [limb.solved.plan for limb in solution.limbs]
        plans = [limb.chain for limb in limbs]
        quantities: list[Quantity] = []
        for limb in limbs:
            quantities += [*limb.poses(), limb.chain.armature_world]
            quantities += [limb.chain.target_world] if limb.ik else []
        frames = all_frames(each.report_frames for each in plans)
        return (yield from look(quantities, frames, evaluation=evaluation_of(plans, proving=True)))

    def judge(self, scene: Scene, done: ConvertDone) -> list[ConvertedReport]:
        """One entry for each limb."""
        units, notes = units_of(scene), [] if done.action else _notes(scene, done)
        entries = [converted_report(limb.solved, done.proof, limb.notes, units) for limb in done.solution.limbs]
        return with_notes(entries, notes)

    def report(self, outcome: Outcome[ConversionPlan, Converted, Samples]) -> BakeReport:
        """Report of all limbs in all actions."""
        first = outcome.done[0]
        if first.action:
            refused = ((done, error) for done in outcome.done for error in done.solution.left)
            return bake_report(outcome, [Refused(done.plan.armature, done.action, error.sentence) for done, error in refused])
        long_remarks = [*first.solution.longer, *_muted_elsewhere(outcome.scene, first.solution)]
        left = [statement("LIMBS_LEFT", {"count": len(first.solution.left)})] if first.solution.left else []
        remarks = [*left, *_were_off(first.solution), *(remark for remark, _ in long_remarks)]
        return bake_report(outcome, remarks=remarks)


CONVERT = Convert()


def _notes(scene: Scene, done: ConvertDone) -> list[Sentence]:
    """Notes on converting the action that the armature plays now."""
    long_remarks = [*done.solution.longer, *_muted_elsewhere(scene, done.solution)]
    return [*(error.sentence for error in done.solution.left), *(long_note for _, long_note in long_remarks)]


def _were_off(converted: Converted) -> list[Sentence]:
    limbs = [limb.solved.plan for limb in converted.limbs]
    return [statement("IK_WAS_OFF", {"bone": limb.ik.bone}) for limb in limbs if limb.ik and limb.was_off]


def _made_longer(armature: Object, wanted: Conversion, limb: LimbPlan, action: Action | None) -> list[Remark]:
    """Remark on an action, one of several, that becomes longer because it is keyed over the scene's range."""
    span = key_span(action) if action is not None else None
    settings, frames = wanted.settings, limb.chain.report_frames
    is_requested = settings.frame_range == "CUSTOM" or settings.destination != "ACTION"
    if action is None or span is None or is_requested or len(actions_of(armature)) == 1:
        return []
    first, last = frames[0], frames[-1]
    if span[0] <= first and last <= span[1]:
        return []
    long_note = note(
        'Action "{action}" had keys from {start:g} to {end:g}, and has some from {first:g} to {last:g} now. Enter its name as '
        "Actions to convert it over its own range.",
        action=action.name,
        start=span[0],
        end=span[1],
        first=first,
        last=last,
    )
    return [(statement("ACTION_LONGER", {"action": action.name, "first": f"{first:g}", "last": f"{last:g}"}), long_note)]


def _muted_elsewhere(scene: Scene, converted: Converted) -> list[Remark]:
    """Remark on frames of the scene outside the keys, where a muted constraint has no effect any more either."""
    # A limb with notes has an IK that other actions need: it is keyed off, not muted.
    muted = [limb.solved.plan for limb in converted.limbs if not limb.notes]
    frames = [plan.chain.report_frames for plan in muted if plan.ik is not None and not plan.keyed_off]
    if not frames or (frames[0][0] <= scene.frame_start and scene.frame_end <= frames[0][-1]):
        return []
    first, last = frames[0][[0, -1]]
    long_note = note(
        "IK is also off before frame {first:g} and after frame {last:g}. Key its influence instead to keep it there.",
        first=first,
        last=last,
    )
    return [(statement("IK_OFF_OUTSIDE", {"first": f"{first:g}", "last": f"{last:g}"}), long_note)]


def _solved(limbs: Sequence[LimbPlan], samples: Samples) -> tuple[list[SolvedLimb], list[ChainError]]:
    """The solved limbs, and the errors of those that cannot be converted."""
    solved, errors = [], []
    for limb in limbs:
        try:
            solved.append(solve_limb(limb, samples))
        except ChainError as error:
            errors.append(error)
    return solved, errors


def _with_mutes(solved: SolvedLimb) -> KeyedChain:
    """The keys of a limb, with the mute properties of its constraints as values that the task sets."""
    return replace(solved.keyed, sets=tuple(mute_path(end.ik) for end in solved.plan.ends if end.ik is not None))
