"""Clear Baked Keys: remove the keys of bakes and other tasks, and restore what they replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ...pipeline.clips import in_words
from ...pipeline.report.reports import Refused, WholeReport
from ...pipeline.task import Look, Outcome, Span, Task, with_range
from ...said import Sentence, joined, note
from ...scene.blender_types import Object, Scene
from ...scene.lookup import object_named
from ...scene.sampling.stepping import Steps
from ...settings.tasks import TABLES, ClearSettings
from .baked_keys import ClearPlan, clear, count_left, count_to_clear, plan_clearing


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearReport(WholeReport):
    """Report of cleared keys."""

    KIND: ClassVar[str] = "clear"

    chains: int
    """Number of chains that were cleared."""
    keys_removed: int
    keys_left: int
    """Number of baked keys that remain outside the range."""
    planting_undone: list[str]
    """Chains and roots that were planted together, and have their earlier keys again."""
    refused: list[Refused]
    """Actions in which keys could not be removed."""

    @property
    def is_as_asked(self) -> bool:
        """Whether no baked keys are left."""
        return not (self.keys_left or self.refused)

    @property
    def is_changed(self) -> bool:
        """Whether there were any baked keys, even if all are outside the range, which the redo panel can extend."""
        return bool(self.keys_removed or self.keys_left)

    @property
    def summary(self) -> Sentence:
        """Summary of how many keys were removed, and how many remain."""
        removed, left = self.keys_removed, self.keys_left
        result = Sentence("{count} baked keys removed.", {"count": removed})
        if removed <= 1:
            result = Sentence("1 baked key removed." if removed else "No baked keys in the range.")
        if not left:
            return result
        stay = Sentence("{count} stay outside the range: All Frames removes them as well.", {"count": left})
        return joined([result, Sentence("1 stays outside the range: All Frames removes it as well.") if left == 1 else stay])


@dataclass(frozen=True, slots=True)
class Cleared:
    """Numbers of baked keys in one action, after the clearing or, in a dry run, as expected."""

    removed: int
    edited: int
    """Number of keys that remain because they were edited since."""
    left: int
    """Number of other keys that remain."""


class Clear(Task[ClearSettings, ClearPlan, Cleared, None]):
    """Remove the baked keys of chains."""

    NAME = "clear"
    TABLE = TABLES["clear"]
    REPORT = ClearReport

    def plan(self, scene: Scene, settings: ClearSettings, active: Object | None, span: Span | None) -> ClearPlan:
        """Plan the clearing of all chains."""
        chains = [chain if span is None else with_range(chain, span) for chain in settings.chains]
        return plan_clearing(scene, chains, active, all_frames=settings.all_frames, in_strips=span is None)

    def solve(self, plan: ClearPlan, begun: Any, look: Look) -> Steps[Cleared]:
        """Count the keys to remove."""
        yield from ()
        removed = sum(map(count_to_clear, plan.clearings))
        return Cleared(removed, 0, max(count_left(plan) - removed, 0))

    def paths(self, plan: ClearPlan, solution: Cleared) -> set[tuple[Object, str]]:
        """Data paths of all keys to clear."""
        found = [pair for clearing in plan.clearings for pair in clearing.paths.items()]
        return {(object_named(name), path) for name, paths in found for path in paths}

    def write(self, scene: Scene, plan: ClearPlan, solution: Cleared, begun: Any) -> Cleared:
        """Remove the keys; if none are left, also remove the stored reports of the chains."""
        cleared = [clear(each, stays=plan.keeps_actions) for each in plan.clearings]
        removed, edited = sum(each.removed for each in cleared), sum(each.edited for each in cleared)
        left = count_left(plan) - edited
        for each in plan.clearings if removed and not left else ():
            armature = object_named(each.armature)
            armature.twobone.planted = ""
            for name in each.stored:
                armature.twobone.chains[name].report = ""
        return Cleared(removed, edited, left)

    def report(self, outcome: Outcome[ClearPlan, Cleared, None]) -> ClearReport:
        """Report of all actions together."""
        done = outcome.done
        edited, refused = sum(each.solution.edited for each in done), list(outcome.refused)
        plans = [each.plan for each in done if each.solution.removed]
        undone = dict.fromkeys(name for plan in plans for name in plan.undone)
        put_back = dict.fromkeys(name for plan in plans for name in plan.put_back)
        notes = []
        if undone:
            notes.append(note("Planting removed from all legs; previous keys restored on {names}.", names=", ".join(undone)))
        if put_back:
            notes.append(note("Fit Root removed: previous keys restored on {names}.", names=", ".join(put_back)))
        for root, chains in {root: chains for plan in plans for root, chains in plan.held.items()}.items():
            kept = note("Kept Fit Root on {root}: other chains still use it ({chains}).", root=root, chains=", ".join(chains))
            notes.append(kept)
        if edited == 1:
            notes.append(note("1 key that was edited since stays. Clear again to remove it as well."))
        elif edited:
            template = "{count} keys that were edited since stay. Clear again to remove them as well."
            notes.append(note(template, count=edited))
        return ClearReport(
            chains=len({(limb.armature, *limb.rotations) for each in done for limb in each.plan.clearings}),
            keys_removed=sum(each.solution.removed for each in done),
            keys_left=sum(each.solution.left for each in done),
            planting_undone=list(undone),
            refused=refused,
            notes=[*notes, *in_words(refused, len(done) + len(refused)), *outcome.unused],
        )


CLEAR = Clear()
