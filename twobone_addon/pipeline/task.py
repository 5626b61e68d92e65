"""The base class of all tasks, and the records that `pipeline.run` passes from stage to stage.

    settings -> plan -> samples -> solution -> written -> proof -> report

A task implements what is specific to it in each stage. `run` alone decides when a stage runs, over which actions, and what
happens if it fails: so refusals, Esc, dry runs, several actions, progress and verification are the same for every task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from ..core.array_types import Array
from ..said import Sentence
from ..scene.blender_types import Object, Scene
from ..scene.lookup import find_armature
from ..scene.sampling.quantities import Quantity, Samples
from ..scene.sampling.stepping import Steps
from ..settings import BakeSettings
from ..settings.tasks import Table
from .actions.choosing import ALL, refuse_strips
from .beginning import Beginning, Reach
from .report.reports import Refused

Settings = TypeVar("Settings")
Plan = TypeVar("Plan")
Solution = TypeVar("Solution")
Proof = TypeVar("Proof")

Span: TypeAlias = tuple[float, float]
"""First and last frame of an action."""


HELD = 1000
"""Bytes of memory per sampled quantity and frame, including everything computed from it and the keys; the value of the task
that needs the most, Find Contacts."""


def with_range(settings: BakeSettings, span: Span) -> BakeSettings:
    """The settings with a custom range: that of an action."""
    return replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])


def by_armature(settings: Any, active: Object | None) -> dict[Object, Any]:
    """Settings per armature, each with that armature's chains; raises `SettingError` if several actions would make strips."""
    found: dict[Object, Any] = {}
    for chain in settings.chains:
        refuse_strips(ALL, chain.destination)
        armature = find_armature(chain.armature, active)
        own = found.get(armature, replace(settings, chains=()))
        found[armature] = replace(own, chains=(*own.chains, chain))
    return found


class Look(Protocol):
    """Samples motion on request: `solve` calls it for what it needs, as often as it needs to."""

    def __call__(self, quantities: Sequence[Quantity], frames: Array, *, evaluation: str = "AUTO", **how: Any) -> Steps[Samples]:
        """Sample quantities at `frames` `(F,)`, ascending; `how` goes to `motion.sampling.sample_steps`."""
        ...


@dataclass(frozen=True, slots=True)
class Done(Generic[Plan, Solution, Proof]):
    """The results of one action of one armature, from plan to proof."""

    action: str
    """Name of the action that was played; empty if the task ran over whatever the armature plays now."""
    plan: Plan
    solution: Solution
    proof: Proof | None
    """`None` if nothing was measured: without `verify`, in a dry run, or if the user skipped the check."""
    told: Any = None
    """The result of `Task.judge` for this action."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Plan, Solution, Proof]):
    """Everything that a report is made from."""

    scene: Scene
    done: Sequence[Done[Plan, Solution, Proof]]
    """One for each action, at least one."""
    refused: Sequence[Refused]
    """The actions that failed, if there were several."""
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    is_dry: bool
    """Whether nothing was written."""
    unused: Sequence[Sentence] = ()
    """Notes on settings that were given and have no effect."""


class Task(Generic[Settings, Plan, Solution, Proof]):
    """Base class of all tasks, with the defaults most of them share. A task has no state, so one instance serves all runs."""

    NAME: ClassVar[str]
    """Name under which its keys are recorded."""
    TABLE: ClassVar[Table]
    """Its texts and options, from which operator, command, job and pages are made."""
    READS_ONLY: ClassVar[bool] = False
    """Whether it never writes, so that every run ends like a dry run."""
    REPORT: ClassVar[type] = object
    """Record type of its report: of one chain, of one action or of the whole run; see `command_line.schemas`."""

    def by_armature(self, settings: Settings, active: Object | None) -> Mapping[Object, Settings]:
        """The armatures that the settings refer to, each with its own settings; raises `ObjectError` if there are none."""
        if self.TABLE.of_chains:
            return by_armature(settings, active)
        return {find_armature(settings.armature, active): settings}  # type: ignore[attr-defined]

    def plan(self, scene: Scene, settings: Settings, active: Object | None, span: Span | None) -> Plan:
        """Find and check everything the settings refer to; `span`, if given, replaces the range of the settings.

        Reads only. Everything that can be refused is refused here, with a `TwoBoneError`.
        """
        raise NotImplementedError

    def reaches(self, plan: Plan) -> Sequence[Reach]:
        """What is about to be written: the run plans, samples and solves the motion from before its own earlier keys there."""
        return ()

    def held(self, plan: Plan) -> int:
        """Bytes of memory per sampled quantity and frame; to be overridden where `HELD` is far off."""
        return HELD

    @contextmanager
    def begun(self, scene: Scene, plan: Plan, beginning: Beginning) -> Iterator[Any]:
        """Set up what must exist until keys are written; undo it if the block fails.

        beginning : the earlier keys that are taken back while the task samples and solves; `write` passes it on
        """
        yield beginning

    def solve(self, plan: Plan, begun: Any, look: Look) -> Steps[Solution]:
        """Turn samples into everything that will be written; changes nothing. May raise a `TwoBoneError`.

        By default the plan itself is the solution.
        """
        yield from ()
        return plan  # type: ignore[return-value]

    def settle(self, solved: Sequence[Done[Plan, Solution, Proof]]) -> Sequence[Done[Plan, Solution, Proof]]:
        """Make several actions agree before any is written, such as on a constraint that all of them share."""
        return solved

    def store(self, scene: Scene, plan: Plan) -> None:
        """Put into the file what must exist before the first key, such as the chains of limbs that were found."""

    def paths(self, plan: Plan, solution: Solution) -> set[tuple[Object, str]]:
        """The datablocks and data paths that get keys; unkeyed edits of all other properties are kept."""
        return set()

    def write(self, scene: Scene, plan: Plan, solution: Solution, begun: Any) -> Solution:
        """Write the solution and return it as written. Raises nothing that `plan` or `solve` could have raised."""
        raise NotImplementedError

    def finish(self, written: Sequence[Done[Plan, Solution, Proof]]) -> None:
        """Do what has to be done once, after all actions are written."""

    def prove(self, plan: Plan, solution: Solution, look: Look) -> Steps[Proof | None]:
        """Let Blender evaluate the result and measure it; `None` if verification is off or there is nothing to measure."""
        yield from ()
        return None

    def judge(self, scene: Scene, done: Done[Plan, Solution, Proof]) -> Any:
        """Assess one action while the armature plays it; becomes `Done.told`."""
        return None

    def report(self, outcome: Outcome[Plan, Solution, Proof]) -> Any:
        """The report of the whole run, from what `judge` returned for each action, for people and for machines."""
        raise NotImplementedError
