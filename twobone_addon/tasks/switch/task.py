"""Switch: limbs go from FK to IK or back over a range, and nothing visibly moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...pipeline.clips import in_words
from ...pipeline.task import Look, Outcome, Span, Task, with_range
from ...scene.blender_types import Object, Scene
from ...scene.sampling.stepping import Steps, part_of
from ...settings.tasks import TABLES, SwitchSettings
from .limb_switch import LimbSwitch, plan_switch
from .switch_report import SwitchedLimbs, SwitchReport


@dataclass(frozen=True, slots=True)
class Switched:
    """What was switched; nothing in a dry run."""

    limbs: Sequence[SwitchReport] = ()


class Switch(Task[SwitchSettings, Sequence[LimbSwitch], Switched, None]):
    """Let limbs follow the other side, whose bones or controls get their motion.

    Parts of a limb are written one after the other, see `limb_switch`, which also looks after what is not keyed; until all of
    them have been tried nothing is.
    """

    NAME = "switch"
    TABLE = TABLES["switch"]

    def plan(self, scene: Scene, settings: SwitchSettings, active: Object | None, span: Span | None) -> Sequence[LimbSwitch]:
        """The limbs of all chains."""
        how: dict[str, Any] = {"to": settings.to, "motion": settings.motion, "just_baked": settings.just_baked}
        chains = [chain if span is None else with_range(chain, span) for chain in settings.chains]
        return [plan_switch(scene, chain, active, **how) for chain in chains]

    def solve(self, plan: Sequence[LimbSwitch], begun: Any, look: Look) -> Steps[Switched]:
        """Try all of it."""
        for number, limb in enumerate(plan):
            yield from part_of(limb.prepare(), number, len(plan))
        return Switched()

    def paths(self, plan: Sequence[LimbSwitch], solution: Switched) -> set[tuple[Object, str]]:
        """What switches the limbs."""
        return {pair for limb in plan for pair in limb.properties}

    def write(self, scene: Scene, plan: Sequence[LimbSwitch], solution: Switched, begun: Any) -> Switched:
        """Switch all limbs."""
        return Switched([limb.write() for limb in plan])

    def report(self, outcome: Outcome[Sequence[LimbSwitch], Switched, None]) -> SwitchedLimbs:
        """All limbs, in each action. How far joints have moved is measured with each part."""
        limbs = [replace(limb, action=done.action) for done in outcome.done for limb in done.solution.limbs]
        passes = len(outcome.done) + len(outcome.refused)
        return SwitchedLimbs(limbs, outcome.refused, [*in_words(outcome.refused, passes), *outcome.unused])


SWITCH = Switch()
