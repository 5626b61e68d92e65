"""The one story that every task is told by: plan all, sample and solve all, then write all, then measure all.

Whatever stops before the first write (a refusal, a dry run, Esc, an error) has changed nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from ..core.array_types import Array
from ..errors import TwoBoneError
from ..scene.actions import OwnAction, Stage, staged
from ..scene.blender_types import Object, Scene
from ..scene.lookup import objects_known
from ..scene.restoring import edits_kept
from ..scene.sampling.quantities import Quantity, Samples
from ..scene.sampling.stepping import Steps, at_once, verifying
from .actions.choosing import ACTIVE, chosen_of_all, own_span
from .beginning import Beginning, starting_over
from .motion.sampling import sample_steps
from .plan.found_chain import refuse_unknown
from .report.reports import Refused
from .task import Done, Outcome, Task


class SkipCheckError(Exception):
    """Thrown into a run by somebody who does not want to wait for the proof; before the first write, it stops the run."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage. A stage inside another one stops the outer one meanwhile, so that nothing counts twice."""

    seconds: dict[str, float] = field(default_factory=dict)
    _running: list[str] = field(default_factory=list)
    _since: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of a block to a stage."""
        self._count()
        self._running.append(name)
        try:
            yield
        finally:
            self._count()
            self._running.pop()

    def _count(self) -> None:
        now = time.perf_counter()
        if self._running:
            self.seconds[self._running[-1]] = self.seconds.get(self._running[-1], 0.0) + now - self._since
        self._since = now


Result = TypeVar("Result")


class _DryRunEnd(Exception):  # noqa: N818
    """Ends a dry run as early as a refusal would, so that all is as before."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One action of one armature; or whatever all armatures of a run play now, over the settings' own range."""

    settings: Any
    armature: Object | None = None
    own: OwnAction | None = None

    @property
    def name(self) -> str:
        return self.own.name if self.own is not None else ""


@dataclass(frozen=True, slots=True)
class _Solved:
    """A pass that is ready to be written."""

    one: _Pass
    begun: Any
    done: Done


def run(scene: Scene, task: Task, settings: Any, active: Object | None = None, **how: Any) -> Any:
    """The same as `run_steps`, at once."""
    return at_once(run_steps(scene, task, settings, active, **how))


def run_steps(
    scene: Scene, task: Task, settings: Any, active: Object | None = None, *, actions: str = ACTIVE, dry_run: bool = False
) -> Steps[Any]:
    """Do a task, a bit at a time, and return its report; raises a `TwoBoneError` before anything is changed.

    active : the armature that is meant by settings that name none
    actions : `ACTIVE`, `ALL`, or names, see `actions.choosing`; of several, those that can be done are, and the report
        names the others
    dry_run : stop before writing, and report what would have been written
    """
    watch, report, unused = Stopwatch(), None, task.TABLE.unused(settings)
    with ExitStack() as stack, suppress(_DryRunEnd):
        passes = _passes(task, settings, active, actions)
        theatre = _Theatre(scene, passes, stack)
        # What `begun` took away is put back where this block ends early.
        with ExitStack() as beginnings:
            solved = yield from _solved(scene, task, theatre, active=active, watch=watch, beginnings=beginnings)
            if dry_run or task.READS_ONLY:
                judged = [_judged(scene, task, theatre, each, watch) for each in solved]
                report = task.report(Outcome(scene, judged, theatre.refused, watch.seconds, is_dry=True, unused=unused))
                raise _DryRunEnd
            with watch.stage("write"), objects_known():
                written = [_written(scene, task, theatre, each) for each in solved]
                task.finish([each.done for each in written])
        proved = yield from _proved(scene, task, theatre, written, watch)
        with watch.stage("report"):
            report = task.report(Outcome(scene, proved, theatre.refused, watch.seconds, is_dry=False, unused=unused))
    return report


def _passes(task: Task, settings: Any, active: Object | None, actions: str) -> list[_Pass]:
    """One for each action that is meant; a single one for whatever is played now. Raises a `TwoBoneError` without any."""
    if actions == ACTIVE:
        return [_Pass(settings)]
    by_armature = task.by_armature(settings, active)
    return [_Pass(by_armature[armature], armature, own) for armature, own in chosen_of_all(list(by_armature), actions)]


class _Theatre:
    """The armatures of a run, each of which plays one action after another; or all of them what they play now."""

    def __init__(self, scene: Scene, passes: Sequence[_Pass], stack: ExitStack) -> None:
        self.passes = passes
        self.refused: list[Refused] = []
        """Actions that nothing can be done for."""
        own: dict[Object, list[OwnAction]] = {}
        for one in passes:
            if one.armature is not None and one.own is not None:
                own.setdefault(one.armature, []).append(one.own)
        self._stages: dict[Object, Stage] = {
            armature: stack.enter_context(staged(scene, armature, actions)) for armature, actions in own.items()
        }

    def play(self, one: _Pass) -> None:
        """Let the armature play the action of a pass, or the copy of it that was keyed instead."""
        if one.armature is not None and one.own is not None:
            stage = self._stages[one.armature]
            stage.play(stage.renewed.get(one.own.action, one.own.action), one.own.slot)

    def hold(self, one: _Pass, paths: set[tuple[Object, str]]) -> None:
        """These will get keys: what they are now is what they are in the actions that come after."""
        if one.armature is not None:
            self._stages[one.armature].hold(paths)

    def note_written(self, one: _Pass, paths: set[tuple[Object, str]]) -> str:
        """An action of the pass has keys now, on these paths; returns its name, empty where a pass is about no single one."""
        if one.armature is None or one.own is None:
            return ""
        stage, action = self._stages[one.armature], one.armature.animation_data.action
        stage.written |= {path for owner, path in paths if owner == one.armature}
        stage.renewed[one.own.action] = action
        return action.name if action is not None else one.name

    @contextmanager
    def begun(self, task: Task, scene: Scene, one: _Pass, plan: Any, beginning: Beginning) -> Iterator[Any]:
        """`task.begun`, which finds the action of its own pass played when it ends as well."""
        with ExitStack() as stack:
            value = stack.enter_context(task.begun(scene, plan, beginning))
            try:
                yield value
            finally:
                self.play(one)


def _solved(
    scene: Scene, task: Task, theatre: _Theatre, *, active: Object | None, watch: Stopwatch, beginnings: ExitStack
) -> Steps[list[_Solved]]:
    """Plan, sample and solve all passes; of several, those that can be. Raises the first `TwoBoneError` where none can."""
    solved, errors, count = [], [], len(theatre.passes)
    for number, one in enumerate(theatre.passes):
        theatre.play(one)
        try:
            with ExitStack() as own:
                plan = _planned(scene, task, one, active, watch)
                # What the last run has written is there again before anybody writes over it.
                with starting_over(scene, task.NAME, task.reaches(plan)) as beginning:
                    if beginning.earlier:
                        plan = _planned(scene, task, one, active, watch)
                    begun = own.enter_context(theatre.begun(task, scene, one, plan, beginning))
                    with watch.stage("solve"):
                        steps = task.solve(plan, begun, partial(_looked, scene, watch, "sample", held=task.held(plan)))
                        solution = yield from _part(steps, number, count, of=0.5 if count > 1 else 1.0)
                solved.append(_Solved(one, begun, Done(one.name, plan, solution, None)))
                beginnings.push(own.pop_all())
        except TwoBoneError as error:
            if one.armature is None:
                raise
            errors.append(error)
            theatre.refused.append(Refused(one.armature.name, one.name, error.sentence))
    if not solved:
        raise errors[0]
    settled = task.settle([each.done for each in solved])
    return [replace(each, done=done) for each, done in zip(solved, settled, strict=True)]


def _planned(scene: Scene, task: Task, one: _Pass, active: Object | None, watch: Stopwatch) -> Any:
    with watch.stage("read"), objects_known():
        plan = task.plan(scene, one.settings, active, own_span(one.own) if one.own is not None else None)
        for chain in getattr(one.settings, "chains", ()):
            refuse_unknown(scene, chain)
        return plan


def _written(scene: Scene, task: Task, theatre: _Theatre, solved: _Solved) -> _Solved:
    done = solved.done
    theatre.play(solved.one)
    task.store(scene, done.plan)
    paths = task.paths(done.plan, done.solution)
    theatre.hold(solved.one, paths)
    # A stage looks after what is not keyed itself.
    owners = list(dict.fromkeys(owner for owner, _ in paths))
    with edits_kept(scene, owners, paths) if solved.one.own is None else nullcontext():
        solution = task.write(scene, done.plan, done.solution, solved.begun)
    return replace(solved, done=replace(done, action=theatre.note_written(solved.one, paths), solution=solution))


def _proved(scene: Scene, task: Task, theatre: _Theatre, written: Sequence[_Solved], watch: Stopwatch) -> Steps[list[Done]]:
    """Measure what was written, until somebody does not want to wait any longer."""
    found, is_skipped, count = [], False, len(written)
    for number, each in enumerate(written):
        theatre.play(each.one)
        proof = None
        if not is_skipped:
            try:
                with watch.stage("verify"):
                    steps = task.prove(each.done.plan, each.done.solution, partial(_looked, scene, watch, "verify"))
                    after = 0.5 if count > 1 else 0.0
                    proof = yield from verifying(_part(steps, number, count, after=after, of=1.0 - after))
            except SkipCheckError:
                is_skipped = True
        found.append(_judged(scene, task, theatre, replace(each, done=replace(each.done, proof=proof)), watch))
    return found


def _judged(scene: Scene, task: Task, theatre: _Theatre, solved: _Solved, watch: Stopwatch) -> Done:
    theatre.play(solved.one)
    with watch.stage("report"), objects_known():
        return replace(solved.done, told=task.judge(scene, solved.done))


def _looked(
    scene: Scene, watch: Stopwatch, stage: str, quantities: Sequence[Quantity], frames: Array, **how: Any
) -> Steps[Samples]:
    with watch.stage(stage):
        return (yield from sample_steps(scene, quantities, frames, **how))


def _part(steps: Steps[Result], number: int, count: int, *, after: float = 0.0, of: float = 1.0) -> Steps[Result]:
    """One of `count` equal parts of a longer way, which goes on `of` the whole way `after` some of it is done."""
    with closing(steps):
        if count > 1:  # a look up between two passes, however short they are
            yield after + of * number / count
        part = None
        while True:
            try:
                part = next(steps)
            except StopIteration as end:
                if part is None:  # One look up in any case, so that everything can be stopped.
                    yield after + of * (number + 1) / count
                return end.value
            yield after + of * (number + part) / count
