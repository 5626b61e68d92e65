"""Switch: move limbs from FK to IK or back over a range without visible movement."""

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
    """Reports of the switched limbs; none in a dry run."""

    limbs: Sequence[SwitchReport] = ()


class Switch(Task[SwitchSettings, Sequence[LimbSwitch], Switched, None]):
    """Bake the limbs' motion onto the bones or controls of the other side, and let the limbs follow that.

    Parts of a limb's range are written one after the other, see `limb_switch`, which also sets switches that are not keyed;
    nothing is written until all parts have been tried.
    """

    NAME = "switch"
    TABLE = TABLES["switch"]

    def plan(self, scene: Scene, settings: SwitchSettings, active: Object | None, span: Span | None) -> Sequence[LimbSwitch]:
        """Plan the limbs of all chains."""
        how: dict[str, Any] = {"to": settings.to, "motion": settings.motion, "just_baked": settings.just_baked}
        chains = [chain if span is None else with_range(chain, span) for chain in settings.chains]
        return [plan_switch(scene, chain, active, **how) for chain in chains]

    def solve(self, plan: Sequence[LimbSwitch], begun: Any, look: Look) -> Steps[Switched]:
        """Solve all limbs without writing anything."""
        for number, limb in enumerate(plan):
            yield from part_of(limb.prepare(), number, len(plan))
        return Switched()

    def paths(self, plan: Sequence[LimbSwitch], solution: Switched) -> set[tuple[Object, str]]:
        """Properties that switch the limbs."""
        return {pair for limb in plan for pair in limb.properties}

    def write(self, scene: Scene, plan: Sequence[LimbSwitch], solution: Switched, begun: Any) -> Switched:
        """Switch all limbs."""
        return Switched([limb.write() for limb in plan])

    def report(self, outcome: Outcome[Sequence[LimbSwitch], Switched, None]) -> SwitchedLimbs:
        """Report of all limbs in each action; joint movement was measured when each part was written."""
        limbs = [replace(limb, action=done.action) for done in outcome.done for limb in done.solution.limbs]
        passes = len(outcome.done) + len(outcome.refused)
        return SwitchedLimbs(limbs, outcome.refused, [*in_words(outcome.refused, passes), *outcome.unused])


SWITCH = Switch()
