"""Convert IK to FK Keys: keep the motion, mute or switch off the constraints, delete nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np

from ...core.array_types import Array
from ...core.arrays import magnitude, path_length
from ...errors import ChainError, TwoBoneError
from ...pipeline.beginning import ToWrite
from ...pipeline.chosen_actions import ALL, first_names, goes_on_beside, own_span, refuse_strips
from ...pipeline.motion.plan_motion import points
from ...pipeline.proof import SeenBones, moved_bones, on_copies, refuse_movement, seen_below
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import BakeReport, ChainReport, Refused, Results, Worst, bake_report, statement, with_notes
from ...pipeline.report.units import Units, units_of
from ...pipeline.stages import all_frames, chain_changes, evaluation_of, with_steps
from ...pipeline.story import Agree, Sample, StartOver, Story, Task, Write, by_armature, with_range
from ...records import extended, replace
from ...said import Sentence, Statement, note
from ...scene.actions import OwnAction, actions_of, hold, is_held, key_span
from ...scene.blender_types import Action, Object, Property, Scene
from ...scene.lookup import find_armature
from ...scene.rig.constraints import is_turned_by_others, mute, mute_path
from ...scene.sampling.quantities import Samples
from ...settings.tasks import TABLES, ConvertSettings
from .plans import Conversion, plan_limbs, without_overridden
from .solve import FkKeys, LimbPlan, moved_points, solve_limb, with_influence_off


@dataclass(frozen=True, kw_only=True)
class ConvertedReport(ChainReport):
    """One limb. `reached` counts the frames at which the IK had the tip on its target."""

    bone: str
    """Bone that carries the IK constraint; empty for a Rigify limb."""
    constraint: str
    """Name of the IK constraint; empty for a Rigify limb."""
    max_moved: float | None
    """Largest distance that the conversion moved any point of the limb's bones, world units."""

    @property
    def at_worst(self) -> Worst:
        """How far the limb moved, and the sentence that says so if no other limb moved farther."""
        distance = self.statements[0].values["distance"]
        return Worst(self.max_moved or 0.0, Sentence("all move as on IK (within {distance} at frames)", {"distance": distance}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertReport(BakeReport, ConvertedReport):
    """All limbs."""

    chains: Sequence[ConvertedReport]


SEEN_TO_MOVE = 2e-3
"""Movement, relative to a limb's length, above which a conversion counts as visible; stretched IK has a quarter of that."""


def converted_report(limb: FkKeys, proof: Samples | None, further_notes: Sequence[Sentence], units: Units) -> ConvertedReport:
    """Report of one limb; `proof` are samples after the conversion, `units` are the scene's."""
    keyed, ik = limb.keyed, limb.plan.ik
    chain = chain_report(keyed.solved, keyed.keys, None, drift=keyed.drift)
    reached = int(np.count_nonzero(limb.on_target[keyed.solved.plan.report_rows])) if ik else chain.frames
    chain = replace(chain, reached=reached, too_far=0, too_near=0, out_of_reach=[], notes=[*chain.notes, *further_notes])
    max_moved = None
    if proof is not None:
        moved = _moved(limb, proof)
        chain, max_moved = _with_errors(chain, limb, proof), float(moved.max())
        chain = replace(chain, statements=[_statement(limb, moved, units)])
    named = {"bone": ik.bone if ik else "", "constraint": ik.constraint if ik else ""}
    return extended(ConvertedReport, chain, **named, max_moved=max_moved)


def _with_errors(chain: ChainReport, limb: FkKeys, proof: Samples) -> ChainReport:
    """The report with the tip's distance from the target, over frames at which the IK had it there."""
    plan = limb.plan.chain
    reached = limb.on_target[limb.keyed.solved.plan.report_rows]
    if not reached.any():
        return chain
    shown = proof.on(plan.report_frames)
    tips = points(shown.every(plan.armature_world), points(limb.plan.posed(shown)[2], plan.rest.tip))
    errors = magnitude(tips - shown.every(plan.target_world)[:, :3, 3])[reached]
    return replace(chain, max_error=float(errors.max()), mean_error=float(errors.mean()))


def _moved(limb: FkKeys, proof: Samples) -> Array:
    """Largest distance `(R,)` that any point of the limb's bones moved, at each frame that is measured, world units."""
    shown = proof.on(limb.plan.seen_frames)
    rows = np.searchsorted(limb.plan.chain.frames, limb.plan.seen_frames)
    linear = shown.every(limb.plan.chain.armature_world)[:, :3, :3]
    farthest = np.zeros(len(rows))
    # One bone after another, as the points of all would take as much memory as everything else.
    for before, after in zip(limb.shown, limb.plan.posed(shown), strict=True):
        moved = moved_points(limb.plan, before[rows], after)
        np.maximum(farthest, magnitude(np.einsum("fij,fpj->fpi", linear, moved)).max(axis=1), out=farthest)
    return farthest


def _statement(limb: FkKeys, moved: Array, units: Units) -> Statement:
    """Statement on the limb's largest deviation `moved` `(R,)` from its motion on IK."""
    plan, worst = limb.plan.chain, int(np.argmax(moved))
    size = np.cbrt(np.abs(np.linalg.det(limb.keyed.solved.motion.world_from_armature[0, :3, :3])))
    length = float(path_length(plan.rest.rest_joints())) * float(size)
    allowed = SEEN_TO_MOVE * length + (plan.settings.tolerance if plan.settings.keys == "REDUCE" else 0.0)
    farthest = float(moved[worst])
    if farthest <= allowed:
        names, distance = plan.names, units.text(max(farthest, units.seen(length)))
        return statement("AS_ON_IK", {"upper": names.upper, "lower": names.lower, "distance": distance})
    frame = float(limb.plan.seen_frames[worst])
    values = {"part": plan.names.lower, "distance": units.text(farthest), "frame": f"{frame:g}"}
    kind = "MOVED_IN_STRIP" if frame in limb.plan.strip_frames else "MOVED"
    return statement(kind, values, [[frame, frame]])


@dataclass(frozen=True, slots=True)
class ConvertedKeys:
    """A limb with all its keys, and notes on how its IK is switched off."""

    solved: FkKeys
    notes: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class ToEnd:
    """The limbs of one action before it is decided how their IK is switched off."""

    action: Action | None
    """The chosen action; `None` for whatever is played now."""
    limbs: Sequence[FkKeys]


class Endings:
    """Decides how the IK of each limb is switched off, over all actions; each action may have converted other limbs.

    It is muted; or, where actions that are not converted need it, keyed off in the converted ones and on in the others. Muting
    affects every action, and an influence without keys keeps the value that the last action played gave it.
    """

    def __init__(self, armature: Object, converted: Sequence[ToEnd], destination: str) -> None:
        plans = [solved.plan for of_action in converted for solved in of_action.limbs]
        self._ends = {end.path: (end, plan) for plan in plans for end in plan.ends}
        armature_actions = actions_of(armature)
        self._needed: dict[str, list[OwnAction]] = {}
        """Actions that still need the IK, by the data path that switches it off."""
        for path, (end, _) in self._ends.items():
            converted_actions = {
                of_action.action
                for of_action in converted
                if any(limb_end.path == path for solved in of_action.limbs for limb_end in solved.plan.ends)
            }
            # A new action leaves the one that it was made from unchanged, which then still needs the IK.
            converted_actions = set() if destination == "NEW_ACTION" else converted_actions
            others = [
                other
                for other in armature_actions
                if other.action not in converted_actions and not is_held(other, path, end.value)
            ]
            if others:
                self._needed[path] = others

    def ended(self, limbs: Sequence[FkKeys]) -> tuple[list[ConvertedKeys], list[ChainError]]:
        """The limbs of one action, and the errors of those whose IK cannot be switched off for this action alone."""
        ended, errors = [], []
        for solved in limbs:
            try:
                ended.append(self._ended(solved))
            except ChainError as error:
                errors.append(error)
        return ended, errors

    def _ended(self, solved: FkKeys) -> ConvertedKeys:
        limb = solved.plan
        others = next((self._needed[end.path] for end in limb.ends if end.path in self._needed), None)
        if others is None:
            return ConvertedKeys(solved, ())
        linked = [action for action in others if not action.action.is_editable]
        notes = [
            note(
                "Other actions use this IK ({actions}), so it is keyed off here and on there instead of being muted.",
                actions=first_names(others),
            )
        ]
        notes += [
            note('Action "{action}" is linked and cannot be keyed, so this IK may be off in it.', action=action.name)
            for action in linked
        ]
        if limb.keyed_off:
            return ConvertedKeys(solved, tuple(notes))
        if limb.influence_refused is not None:
            raise ChainError(
                "{limb} is used by other actions ({actions}), so it must be keyed off in this one. {remedy}",
                limb=limb.name,
                actions=first_names(others),
                remedy=limb.influence_refused.sentence,
            )
        return ConvertedKeys(with_influence_off(solved), tuple(notes))

    def finish(self) -> None:
        """Mute the constraints that no action needs any more, and hold the others on in the actions that need them."""
        for path, (end, limb) in self._ends.items():
            others = self._needed.get(path, [])
            for action in others:
                hold(action, path, end.present, end.group)
            if not others and end.ik is not None and not limb.keyed_off:
                mute(end.ik)


Remark: TypeAlias = tuple[Statement, Sentence]
"""A statement for the status bar, and the note that says the same at greater length."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The limbs of one action with all their keys, and their reports."""

    limbs: Sequence[ConvertedKeys]
    left: Sequence[TwoBoneError]
    """Errors of the limbs that cannot be converted."""
    endings: Endings
    """How all IK is switched off, shared by all actions."""
    evaluation: str | dict[str, str] = ""
    longer: Sequence[Remark] = ()
    """Remark on keying the played action over the scene's range, if that makes it longer."""
    entries: Sequence[ConvertedReport] = ()


def convert_ik(scene: Scene, settings: ConvertSettings, active: Object | None, chosen: OwnAction | None) -> Story[Converted]:
    """Key the bones in the poses that their IK gives them, and switch the IK off."""
    armature, conversion = find_armature(settings.armature, active), Conversion.of(settings)
    span = own_span(chosen)
    if span is not None:
        conversion = replace(conversion, settings=with_range(conversion.settings, span), goes_on=goes_on_beside(armature, span))
    limbs, refused = plan_limbs(scene, conversion, armature)
    plans = [limb.chain for limb in limbs]
    # IK that was converted earlier is on again while sampling.
    strips = [plan.names.upper if conversion.settings.destination == "NLA" else "" for plan in plans]
    yield StartOver(
        [ToWrite(armature.name, limb.keyed_paths(), limb.chain.within, strip) for limb, strip in zip(limbs, strips, strict=True)]
    )
    quantities = [quantity for limb in limbs for quantity in limb.quantities()]
    samples = yield Sample(quantities, all_frames(plan.frames for plan in plans), evaluation_of(plans))
    chains = yield from with_steps(plans, [limb.poses() for limb in limbs])
    stepped = [replace(limb, chain=chain) for limb, chain in zip(limbs, chains, strict=True)]
    solved, stretched = _solved(stepped, samples)
    solved, moved = yield from _proved_unmoved(scene, armature, solved, samples)
    stretched += moved
    if stretched and (conversion.bone or not solved):
        raise stretched[0]
    to_end = ToEnd(chosen.action if chosen is not None else None, solved)
    converted: Converted = yield Agree(to_end, partial(_ended, armature, conversion))
    longer = _made_longer(armature, conversion, limbs[0], playing_now(armature)) if chosen is None else []
    refused = [*refused, *stretched, *converted.left]
    converted = replace(converted, left=refused, evaluation=samples.evaluation, longer=longer)
    del samples, solved  # What is left of them is in what was converted.

    def report(proof: Samples | None = None) -> Converted:
        units, notes = units_of(scene), [] if chosen is not None else _notes(scene, converted)
        entries = [converted_report(limb.solved, proof, limb.notes, units) for limb in converted.limbs]
        return replace(converted, entries=with_notes(entries, notes))

    keyed = []
    for solved_limb in (limb.solved for limb in converted.limbs):  # Muting is what the task sets besides its keys.
        mutes = tuple(mute_path(end.ik) for end in solved_limb.plan.ends if end.ik is not None)
        keyed.append(replace(solved_limb.keyed, sets=mutes))
    yield Write(chain_changes(keyed, CONVERT.name), report, then=converted.endings.finish)
    ended = [limb.solved.plan for limb in converted.limbs]
    if not conversion.settings.verify or not ended:
        return report()
    quantities = []
    for limb in ended:
        quantities += [*limb.poses(), limb.chain.armature_world]
        quantities += [limb.chain.target_world] if limb.ik else []
    frames = all_frames(ended_limb.seen_frames for ended_limb in ended)
    return report((yield Sample(quantities, frames, evaluation_of([limb.chain for limb in ended], proving=True))))


def _ended(armature: Object, conversion: Conversion, actions: Sequence[ToEnd]) -> list[Converted]:
    """Decide over all actions together how the IK of each limb is switched off."""
    endings = Endings(
        armature,
        [ToEnd(action.action or playing_now(armature), action.limbs) for action in actions],
        conversion.settings.destination,
    )
    ended = [endings.ended(action.limbs) for action in actions]
    errors = [error for _, refused in ended for error in refused]
    if errors and (conversion.bone or not any(limbs for limbs, _ in ended)):
        raise errors[0]
    return [Converted(limbs, refused, endings) for limbs, refused in ended]


def playing_now(armature: Object) -> Action | None:
    """The action that an armature plays."""
    return armature.animation_data.action if armature.animation_data is not None else None


def _by_armature(settings: ConvertSettings, active: Object | None) -> Mapping[Object, ConvertSettings]:
    refuse_strips(ALL, settings.destination)
    return by_armature(settings, active)


def _convert_report(results: Results) -> BakeReport:
    """Report of all limbs in all actions."""
    first: Converted = results.done[0]
    if results.armature:
        by_action = list(zip(results.actions, results.done, strict=True))
        refused = [Refused(results.armature, action, error.sentence) for action, done in by_action for error in done.left]
        return bake_report(results, refused, record=ConvertReport)
    long_remarks = [*first.longer, *_muted_elsewhere(results.scene, first)]
    remarks = [statement("LIMBS_LEFT", {"count": len(first.left)})] if first.left else []
    limbs = [limb.solved.plan for limb in first.limbs]
    remarks += [statement("IK_WAS_OFF", {"bone": limb.ik.bone}) for limb in limbs if limb.ik and limb.was_off]
    remarks += [remark for remark, _ in long_remarks]
    return bake_report(results, remarks=remarks, record=ConvertReport)


CONVERT = Task("convert", TABLES["convert"], convert_ik, ConvertReport, by_armature=_by_armature, joined=_convert_report)


def _notes(scene: Scene, converted: Converted) -> list[Sentence]:
    """Notes on converting the action that the armature plays now."""
    long_remarks = [*converted.longer, *_muted_elsewhere(scene, converted)]
    return [*(error.sentence for error in converted.left), *(long_note for _, long_note in long_remarks)]


def _made_longer(armature: Object, conversion: Conversion, limb: LimbPlan, action: Action | None) -> list[Remark]:
    """Remark on an action, one of several, that becomes longer because it is keyed over the scene's range."""
    span = key_span(action) if action is not None else None
    settings, frames = conversion.settings, limb.chain.report_frames
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


def _solved(limbs: Sequence[LimbPlan], samples: Samples) -> tuple[list[FkKeys], list[ChainError]]:
    """The solved limbs, and the errors of those that cannot be converted."""
    solved, errors = [], []
    for limb in limbs:
        try:
            solved.append(solve_limb(limb, samples))
        except ChainError as error:
            errors.append(error)
    return solved, errors


def _proved_unmoved(
    scene: Scene, armature: Object, solved: Sequence[FkKeys], samples: Samples
) -> Story[tuple[list[FkKeys], list[ChainError]]]:
    """The limbs that stay where they are without their IK, and the errors of those that would be seen to move.

    Where another constraint would take over that the IK had overridden, it is switched off as well.
    """
    units, kept, errors = units_of(scene), [], []
    for limb in solved:
        if limb.plan.ik is None or not is_turned_by_others(armature, limb.plan.ik.names):
            kept.append(limb)
            continue
        chain = limb.plan.chain
        joints = chain.rest.rest_joints() @ np.array(armature.matrix_world.to_3x3()).T
        names = limb.plan.ik.names
        seen = SeenBones(armature.name, seen_below(armature, (names.upper, names.lower)), (), float(path_length(joints)))
        before = yield Sample(seen.quantities(), chain.report_frames, "PROBES")
        slack = chain.settings.tolerance if chain.settings.keys == "REDUCE" else 0.0
        try:
            moved, tried = [], limb
            # First as it is; then, if that moves, with the constraints switched off that the IK had overridden.
            for number in range(1 + bool(limb.plan.overridden)):
                tried = solve_limb(without_overridden(limb.plan), samples) if number else limb
                muted = [Property(armature, mute_path(end.ik)) for end in tried.plan.ends if end.ik and not tried.plan.keyed_off]
                with on_copies(scene, [armature]) as trial:
                    trial.put(chain_changes([tried.keyed], "convert"), muted)
                    after = yield Sample(seen.quantities(), chain.report_frames, "PROBES")
                moved = moved_bones(seen, before, after, slack=slack)
                if moved[0].excess <= 1.0:
                    break
            remedy = "Nothing was changed for this limb. Mute what acts on it besides its IK, or use Blender's Bake Action."
            refuse_movement(moved, units, Sentence(remedy))
            kept.append(tried)
        except ChainError as error:
            errors.append(error)
    return kept, errors
