"""A task as the runner, the command line and the pages know it, and what its story asks the runner for.

A task is one generator, read from top to bottom. It yields requests, and gets the answers; all else is plain code:

    plan = plan_nudge(...)                              # only reads; every refusal
    beginning = yield StartOver(reaches)                # the motion from before its own earlier keys
    samples = yield Sample(quantities, frames)          # progress, Esc
    solution = solve_nudges(plan, beginning, samples)   # arrays
    yield Write(changes, report)                        # the only write; a dry run ends here
    seen = yield Sample(quantities, frames)             # Esc skips the check
    return report(seen)

A number that it yields is its progress since the last request, 0 to 1. A story that ends without `Write` has only read. What
it may ask for when is the table `MAY_ASK`; the runner refuses anything else as a mistake in the task.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from ..core.array_types import Array
from ..records import replace
from ..scene.actions import OwnAction
from ..scene.blender_types import Object, Property, Scene
from ..scene.keys.writing import Change
from ..scene.lookup import find_armature
from ..scene.sampling.evaluate import Place, Verified
from ..scene.sampling.quantities import Quantity
from ..scene.sampling.stepping import at_once
from ..settings import BakeSettings
from ..settings.options import Settings
from ..settings.tasks import Table
from .beginning import ToWrite
from .chosen_actions import ALL, refuse_strips
from .motion.sampling import sample_steps
from .plan.frame_choice import frame_range
from .plan.naming import named
from .report.reports import Report, Results, report_of_clips

Result = TypeVar("Result")

HELD = 1000
"""Bytes of memory per sampled quantity and frame, including everything computed from it and the keys; the value of the task
that needs the most, Find Contacts."""


class SkipCheckError(Exception):
    """Thrown into a run by a user who does not want to wait for the proof; before the first write, it stops the run."""


@dataclass(frozen=True, slots=True)
class StartOver:
    """Ask for the motion from before the task's own earlier keys, until all actions are solved; answered by the `Beginning`.

    Where there are such keys, what was told so far is told again from that motion, so until here a story only reads.
    """

    reaches: Sequence[ToWrite]


@dataclass(frozen=True, slots=True)
class Sample:
    """Ask for samples of quantities at `frames` `(F,)`, ascending; answered by `Samples`. See `motion.sampling.sample_steps`."""

    quantities: Sequence[Quantity]
    frames: Array
    evaluation: str = "AUTO"
    held: int = HELD
    """Bytes of memory per quantity and frame that the story needs; to be given where `HELD` is far off."""
    verified: Verified | None = None
    place: Place | None = None
    start: float = 0.0
    """Progress of the story when the samples begin, if they have a `share`."""
    share: float | None = None
    """Their part of the whole progress; `None` for most of what is left of it, see `Unfolding`."""


@dataclass(frozen=True, slots=True)
class Make:
    """Ask for what must exist until keys are written, such as new objects; answered by what its context yields.

    Its block ends when everything is written, or with an error if nothing is: then it must undo what it has made.
    """

    what: AbstractContextManager


@dataclass(frozen=True, slots=True)
class Agree:
    """Ask to decide over all actions, such as on a constraint that they share; answered by what is decided for this one."""

    value: Any
    decide: Callable[[list[Any]], Sequence[Any]]
    """Given the values of all actions, decides something for each; only the first action's is called."""


@dataclass(frozen=True, slots=True)
class Write:
    """Ask for everything to be written; answered by the name of the action that has the keys, empty without a chosen one.

    Whatever can be refused has been refused before. All actions are written together.
    """

    changes: Sequence[Change]
    """All keys that are written, and so all that are declared; none where only `also` writes."""
    report: Callable[[], Any]
    """Makes the report of a run that ends here: a dry one, or one whose check is skipped."""
    paths: Callable[[], Collection[Property]] = tuple
    """Finds further datablocks and data paths that are written; unkeyed edits of all other properties are kept."""
    also: Callable[[], object] | None = None
    """Writes what is no key."""
    then: Callable[[], object] | None = None
    """Writes what has to be written once, after the keys of all actions; only the first action's is called."""


Request: TypeAlias = StartOver | Sample | Make | Agree | Write | float
"""What a story may yield; a number is its progress."""

Story: TypeAlias = Generator[Request, Any, Result]
"""What a task asks for, and what it reports in the end."""

SOLVING = {Sample: "solving", Make: "solving", float: "solving", Agree: "agreed", Write: "written"}
MAY_ASK: Mapping[str, Mapping[type, str]] = {
    "begun": {StartOver: "solving", **SOLVING},
    "begun anew": {StartOver: "solving"},
    "solving": SOLVING,
    "agreed": {Write: "written"},
    "written": {Sample: "written"},
    "told apart": {Sample: "told apart", float: "told apart"},
}
"""What a story may ask for at each stage, and the stage that follows. It may end at any, but for `begun anew`.

Until it starts over it only reads. When all agree, the motion is no longer that of its beginning, so it is not sampled. A story
that is told outside a run is `told apart`.
"""


class StoryError(Exception):
    """A story asks for what it may not ask for, or not then: a mistake in a task, not in what it was given."""


def stage_after(stage: str, request: object, task: str) -> str:
    """The stage that follows a request; raises `StoryError` for one that is none, or that has no place there."""
    kind = float if isinstance(request, float | int) and not isinstance(request, bool) else type(request)
    if kind not in MAY_ASK[stage]:
        name = kind.__name__ if kind in SOLVING or kind is StartOver else repr(request)
        expected = " or ".join(allowed.__name__ for allowed in MAY_ASK[stage])
        raise StoryError(f"Task {task}: its story, {stage}, yields {name}. Expected {expected}.")
    begin = end = 0.0
    if isinstance(request, Sample):
        begin, end = request.start, request.start + (1.0 if request.share is None else request.share)
    elif isinstance(request, float | int):
        begin = end = request
    if not 0.0 <= begin <= end <= 1.0 + ROUNDED:
        raise StoryError(f"Task {task}: its story, {stage}, yields {kind.__name__} with a progress up to {end}. Expected 0 to 1.")
    return MAY_ASK[stage][kind]


ROUNDED = 1e-9
"""How far a progress may be beyond 1: parts of parts do not add up exactly."""


MOST = 0.8
"""Part of what is left of a story's progress that samples take which do not say how much: nobody knows how many follow."""


@dataclass(slots=True)
class Unfolding:
    """The progress of a story as it unfolds: it never goes back, and is not at its end while anything may follow."""

    done: float = 0.0
    """Progress at which the next samples begin unless they say so themselves."""

    def placed(self, request: Sample) -> Sample:
        """Samples with their start and their share of the whole progress."""
        if request.share is None:
            request = replace(request, start=self.done, share=MOST * (1.0 - self.done))
        self.done = max(self.done, request.start + (request.share or 0.0))
        return request


def part_of_story(story: Story[Result], number: int, count: int) -> Story[Result]:
    """Tell a part of a story, which is being solved, as number `number`, from 0, of `count` parts of the same length."""
    unfolding = Unfolding()
    with closing(story):
        answer = None
        while True:
            try:
                request = story.send(answer)
            except StopIteration as end:
                return end.value
            # Scaled, a progress beyond 1 would pass for one that is not.
            stage_after("solving", request, PART)
            if isinstance(request, Sample):
                request = unfolding.placed(request)
                request = replace(request, start=(number + request.start) / count, share=(request.share or 0.0) / count)
            elif isinstance(request, float | int):
                request = (number + request) / count
            answer = yield request


PART = "(a part of one)"
"""Name of the task in an error of a story that is told in parts."""


def answered(scene: Scene, part: Story[Result]) -> Result:
    """Tell a part of a story that only samples, at once and outside a run; its progress is told to nobody."""
    answer = None
    with closing(part):  # Where sampling fails, what the part has made for it goes at once.
        while True:
            try:
                request = part.send(answer)
            except StopIteration as end:
                return end.value
            stage_after("told apart", request, PART)
            answer = None
            if isinstance(request, Sample):
                how = {"evaluation": request.evaluation, "place": request.place, "verified": request.verified}
                answer = at_once(sample_steps(scene, request.quantities, request.frames, **how))


Asked = TypeVar("Asked", bound=Settings)
"""Type of a task's settings."""

Span: TypeAlias = tuple[float, float]
"""First and last frame of an action."""


def with_range(settings: BakeSettings, span: Span | None) -> BakeSettings:
    """The settings with a custom range: that of an action, if there is one."""
    return settings if span is None else replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])


def range_asked(scene: Scene, settings: Settings, span: Span | None = None) -> Span:
    """First and last frame of a run whose settings have a range: those of the chosen action, if `span` is given."""
    named = {name: getattr(settings, name) for name in ("frame_range", "frame_start", "frame_end")}
    return frame_range(scene, with_range(BakeSettings(**named), span))


def by_armature(asked: Asked, active: Object | None) -> dict[Object, Asked]:
    """The armatures that settings refer to, each with its own; raises `SettingError` if several actions would make strips."""
    settings: Any = asked  # Whatever the task, either chains or an armature are among them.
    if not hasattr(settings, "chains"):
        return {find_armature(settings.armature, active): settings}
    chains_of: dict[Object, Any] = {}
    for chain in settings.chains:
        with named(chain):
            refuse_strips(ALL, chain.destination)
            armature = find_armature(chain.armature, active)
        gathered = chains_of[armature] if armature in chains_of else replace(settings, chains=())
        chains_of[armature] = replace(gathered, chains=(*gathered.chains, chain))
    return chains_of


@dataclass(frozen=True, slots=True)
class Task(Generic[Asked]):
    """A task. It has no state, so one instance serves all runs."""

    name: str
    """Name under which its keys are recorded."""
    table: Table
    """Its texts and options, from which operator, command, job and pages are made."""
    story: Callable[[Scene, Asked, Object | None, OwnAction | None], Story[Any]]
    """Tells it for the settings and the active object: for a chosen action, or without one for whatever is played now."""
    record: type[Report]
    """Type of the report of a run; of several actions there is one each where it `has_clips`."""
    by_armature: Callable[[Asked, Object | None], Mapping[Object, Asked]] = by_armature
    """Finds the armatures that the settings refer to, each with its own settings; raises `ObjectError` if there are none."""
    takes_live_away: bool = False
    """Whether what poses a live limb goes with the run: its keys, or those that it takes away, are what is seen from then on."""
    joined: Callable[[Results], Any] = report_of_clips
    """Makes the report of a run from those of its actions; by default several actions have one each."""

    @property
    def has_clips(self) -> bool:
        """Whether several actions have a report each."""
        return self.joined is report_of_clips and any(option.name == "actions" for option in self.table.own)
