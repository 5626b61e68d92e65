"""What a task is: the parts of one story that `pipeline.run` tells for all of them.

    settings -> plan -> samples -> solution -> written -> proof -> report

A task says what is its own in each part. `run` alone decides when a part comes, over which actions, and what happens
where it cannot come: so refusals, Esc, dry runs, several actions, progress and verification are the same for every task.
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
"""Bytes of memory for each quantity at each frame that a task looks at, with all that comes of it, and keys: those of the task
that takes most, Find Contacts."""


def with_range(settings: BakeSettings, span: Span) -> BakeSettings:
    """Settings with the range of an action."""
    return replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])


def by_armature(settings: Any, active: Object | None) -> dict[Object, Any]:
    """The armatures of the settings' chains, each with its own ones; raises `SettingError` where several actions make strips."""
    found: dict[Object, Any] = {}
    for chain in settings.chains:
        refuse_strips(ALL, chain.destination)
        armature = find_armature(chain.armature, active)
        own = found.get(armature, replace(settings, chains=()))
        found[armature] = replace(own, chains=(*own.chains, chain))
    return found


class Look(Protocol):
    """Motion on request: `solve` asks with it for what it needs, as often as it needs to."""

    def __call__(self, quantities: Sequence[Quantity], frames: Array, *, evaluation: str = "AUTO", **how: Any) -> Steps[Samples]:
        """Sample quantities at `frames` `(F,)`, ascending; `how` goes to `motion.sampling.sample_steps`."""
        ...


@dataclass(frozen=True, slots=True)
class Done(Generic[Plan, Solution, Proof]):
    """One action of one armature, from plan to proof."""

    action: str
    """Name of the action that was played; empty where a task ran over what the armature plays now."""
    plan: Plan
    solution: Solution
    proof: Proof | None
    """`None` where nobody wants to know: without `verify`, in a dry run, or where somebody did not want to wait."""
    told: Any = None
    """What `Task.judge` makes of all that."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Plan, Solution, Proof]):
    """All that a report is made of."""

    scene: Scene
    done: Sequence[Done[Plan, Solution, Proof]]
    """One for each action, at least one."""
    refused: Sequence[Refused]
    """Of several actions, those that nothing could be done for."""
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    is_dry: bool
    """Whether nothing was written."""
    unused: Sequence[Sentence] = ()
    """What was asked for and has no effect."""


class Task(Generic[Settings, Plan, Solution, Proof]):
    """Base of all tasks: what most of them do alike. A task has no state, so one instance serves all runs."""

    NAME: ClassVar[str]
    """By which its keys are known."""
    TABLE: ClassVar[Table]
    """Its words and options: operator, command, job and pages are made from it."""
    READS_ONLY: ClassVar[bool] = False
    """Whether it never writes, so that every run ends where a dry run does."""
    REPORT: ClassVar[type] = object
    """What its report is made of: the record of one chain, of one action or of all, see `command_line.schemas`."""

    def by_armature(self, settings: Settings, active: Object | None) -> Mapping[Object, Settings]:
        """The armatures that the settings mean, each with its own settings; raises `ObjectError` without any."""
        if self.TABLE.of_chains:
            return by_armature(settings, active)
        return {find_armature(settings.armature, active): settings}  # type: ignore[attr-defined]

    def plan(self, scene: Scene, settings: Settings, active: Object | None, span: Span | None) -> Plan:
        """Find and check all that is meant, over a range that is not the settings' own if one is given.

        Reads only. Everything that can be refused is refused here, with a `TwoBoneError`.
        """
        raise NotImplementedError

    def reaches(self, plan: Plan) -> Sequence[Reach]:
        """What is about to be written: this run plans, samples and solves the motion from before its own earlier keys there."""
        return ()

    def held(self, plan: Plan) -> int:
        """Bytes of memory for each quantity at each frame that is looked at, where `HELD` is far off."""
        return HELD

    @contextmanager
    def begun(self, scene: Scene, plan: Plan, beginning: Beginning) -> Iterator[Any]:
        """What must be there until keys are written, and go if the block fails.

        beginning : what is taken back while the task samples and solves; `write` hands it on
        """
        yield beginning

    def solve(self, plan: Plan, begun: Any, look: Look) -> Steps[Solution]:
        """From samples to all that will be written; changes nothing. May raise a `TwoBoneError`.

        Without one of its own, a task writes what it has planned.
        """
        yield from ()
        return plan  # type: ignore[return-value]

    def settle(self, solved: Sequence[Done[Plan, Solution, Proof]]) -> Sequence[Done[Plan, Solution, Proof]]:
        """What several actions have to agree on before any is written, such as a constraint that all of them share."""
        return solved

    def store(self, scene: Scene, plan: Plan) -> None:
        """What must be in the file before the first key, such as the chains of limbs that were found."""

    def paths(self, plan: Plan, solution: Solution) -> set[tuple[Object, str]]:
        """The datablocks and data paths that get keys; edits beside them that nobody has keyed stay."""
        return set()

    def write(self, scene: Scene, plan: Plan, solution: Solution, begun: Any) -> Solution:
        """Write it; returns what became of it. Raises nothing that `plan` or `solve` could have raised."""
        raise NotImplementedError

    def finish(self, written: Sequence[Done[Plan, Solution, Proof]]) -> None:
        """What is done once, when all actions are written."""

    def prove(self, plan: Plan, solution: Solution, look: Look) -> Steps[Proof | None]:
        """Let Blender evaluate what is there now; `None` where that is not wanted, or where there is nothing to measure."""
        yield from ()
        return None

    def judge(self, scene: Scene, done: Done[Plan, Solution, Proof]) -> Any:
        """What became of one action, while the armature plays it."""
        return None

    def report(self, outcome: Outcome[Plan, Solution, Proof]) -> Any:
        """What became of all, out of what `judge` told of each, for people and for machines."""
        raise NotImplementedError
