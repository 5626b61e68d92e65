"""How the IK of converted limbs ends: muted; or keyed off, and on elsewhere, where actions that are not converted need it.

A muted constraint is muted for every action, and an influence without a key stays as the last action left it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import ChainError
from ...pipeline.actions.choosing import names_of
from ...said import Sentence, note
from ...scene.actions import OwnAction, actions_of, hold, is_held
from ...scene.blender_types import Action, Object
from ...scene.rig.constraints import mute
from .limb_plan import LimbPlan
from .solving import SolvedLimb, with_influence_off

Converted = tuple[Action | None, Sequence[SolvedLimb]]
"""An action, and its limbs that are converted."""


@dataclass(frozen=True, slots=True)
class EndedLimb:
    """A limb with all its keys, and what to say about the end of its IK."""

    solved: SolvedLimb
    notes: tuple[Sentence, ...]


class Endings:
    """What becomes of the IK of all limbs, of which each action may have converted others."""

    def __init__(
        self, armature: Object, converted: Sequence[tuple[Action | None, Sequence[SolvedLimb]]], destination: str
    ) -> None:
        plans = [solved.plan for _, limbs in converted for solved in limbs]
        self._ends = {end.path: (end, plan) for plan in plans for end in plan.ends}
        own = actions_of(armature)
        self._needed: dict[str, list[OwnAction]] = {}
        """Actions that go on with the IK, by what switches it off."""
        for path, (end, _) in self._ends.items():
            through = {action for action, limbs in converted if any(_ends_by(solved.plan, path) for solved in limbs)}
            # A new action leaves the one that it was made from as it is.
            through = set() if destination == "NEW_ACTION" else through
            others = [each for each in own if each.action not in through and not is_held(each, path, end.value)]
            if others:
                self._needed[path] = others

    def ended(self, limbs: Sequence[SolvedLimb]) -> tuple[list[EndedLimb], list[ChainError]]:
        """The limbs of one action, and what is wrong with those whose IK cannot be switched off for this action alone."""
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
        """Mute what no action needs any more, and keep on what others need."""
        for path, (end, limb) in self._ends.items():
            others = self._needed.get(path, [])
            for each in others:
                hold(each, path, end.present, end.group)
            if not others and end.ik is not None and not limb.keyed_off:
                mute(end.ik)


def _ends_by(limb: LimbPlan, path: str) -> bool:
    return any(end.path == path for end in limb.ends)
