"""Run a task, the same way for every task: plan all, sample and solve all, then write all, then measure all.

Whatever stops a run before the first write (a refusal, a dry run, Esc, an error) leaves everything unchanged.
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
    """Thrown into a run by a user who does not want to wait for the proof; before the first write, it stops the run."""


@dataclass(slots=True)
class Stopwatch:
    """Seconds per stage. A nested stage pauses the outer one, so that no time counts twice."""

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
    """Ends a dry run the way a refusal would, so that everything is restored."""


@dataclass(frozen=True, slots=True)
class _Pass:
    """One action of one armature; or whatever all armatures of a run play now, over the range of the settings."""

    settings: Any
    armature: Object | None = None
    own: OwnAction | None = None

    @property
    def name(self) -> str:
        return self.own.name if self.own is not None else ""


@dataclass(frozen=True, slots=True)
class _Solved:
    """A pass that is ready to be written."""

    run_pass: _Pass
    begun: Any
    done: Done


def run(scene: Scene, task: Task, settings: Any, active: Object | None = None, **how: Any) -> Any:
    """`run_steps` in one go."""
    return at_once(run_steps(scene, task, settings, active, **how))


def run_steps(
    scene: Scene, task: Task, settings: Any, active: Object | None = None, *, actions: str = ACTIVE, dry_run: bool = False
) -> Steps[Any]:
    """Run a task in small steps and return its report; raises a `TwoBoneError` before anything is changed.

    active : the armature for settings that name none
    actions : `ACTIVE`, `ALL`, or names, see `actions.choosing`; if some of several fail, the others are done and the report
        names the failed ones
    dry_run : stop before writing, and report what would have been written
    """
    watch, report, unused = Stopwatch(), None, task.TABLE.unused(settings)
    with ExitStack() as stack, suppress(_DryRunEnd):
        passes = _passes(task, settings, active, actions)
        playback = _Playback(scene, passes, stack)
        # If this block ends early, what `begun` set up is undone.
        with ExitStack() as beginnings:
            solved = yield from _solved(scene, task, playback, active=active, watch=watch, beginnings=beginnings)
            if dry_run or task.READS_ONLY:
                judged = [_judged(scene, task, playback, each, watch) for each in solved]
                report = task.report(Outcome(scene, judged, playback.refused, watch.seconds, is_dry=True, unused=unused))
                raise _DryRunEnd
            with watch.stage("write"), objects_known():
                written = [_written(scene, task, playback, each) for each in solved]
                task.finish([each.done for each in written])
        proved = yield from _proved(scene, task, playback, written, watch)
        with watch.stage("report"):
            report = task.report(Outcome(scene, proved, playback.refused, watch.seconds, is_dry=False, unused=unused))
    return report


def _passes(task: Task, settings: Any, active: Object | None, actions: str) -> list[_Pass]:
    """One pass per chosen action; a single one for whatever is played now. Raises a `TwoBoneError` if there is none."""
    if actions == ACTIVE:
        return [_Pass(settings)]
    by_armature = task.by_armature(settings, active)
    return [_Pass(by_armature[armature], armature, own) for armature, own in chosen_of_all(list(by_armature), actions)]


class _Playback:
    """The armatures of a run, each of which plays its actions one after another; or all of them whatever they play now."""

    def __init__(self, scene: Scene, passes: Sequence[_Pass], stack: ExitStack) -> None:
        self.passes = passes
        self.refused: list[Refused] = []
        """Actions that failed."""
        own: dict[Object, list[OwnAction]] = {}
        for run_pass in passes:
            if run_pass.armature is not None and run_pass.own is not None:
                own.setdefault(run_pass.armature, []).append(run_pass.own)
        self._stages: dict[Object, Stage] = {
            armature: stack.enter_context(staged(scene, armature, actions)) for armature, actions in own.items()
        }

    def play(self, run_pass: _Pass) -> None:
        """Make the armature play the action of a pass, or the copy that was keyed in its place."""
        if run_pass.armature is not None and run_pass.own is not None:
            stage = self._stages[run_pass.armature]
            stage.play(stage.renewed.get(run_pass.own.action, run_pass.own.action), run_pass.own.slot)

    def hold(self, run_pass: _Pass, paths: set[tuple[Object, str]]) -> None:
        """Record the present values of paths that will get keys, to be restored for the actions that come after."""
        if run_pass.armature is not None:
            self._stages[run_pass.armature].hold(paths)

    def note_written(self, run_pass: _Pass, paths: set[tuple[Object, str]]) -> str:
        """Note that the action of a pass now has keys on these paths; return its name, empty if the pass has no action."""
        if run_pass.armature is None or run_pass.own is None:
            return ""
        stage, action = self._stages[run_pass.armature], run_pass.armature.animation_data.action
        stage.written |= {path for owner, path in paths if owner == run_pass.armature}
        stage.renewed[run_pass.own.action] = action
        return action.name if action is not None else run_pass.name

    @contextmanager
    def begun(self, task: Task, scene: Scene, run_pass: _Pass, plan: Any, beginning: Beginning) -> Iterator[Any]:
        """`task.begun`, with the action of its pass being played when it ends, too."""
        with ExitStack() as stack:
            value = stack.enter_context(task.begun(scene, plan, beginning))
            try:
                yield value
            finally:
                self.play(run_pass)


def _solved(
    scene: Scene, task: Task, playback: _Playback, *, active: Object | None, watch: Stopwatch, beginnings: ExitStack
) -> Steps[list[_Solved]]:
    """Plan, sample and solve all passes, skipping those that fail; raises the first `TwoBoneError` if all fail."""
    solved, errors, count = [], [], len(playback.passes)
    for number, run_pass in enumerate(playback.passes):
        playback.play(run_pass)
        try:
            with ExitStack() as own:
                plan = _planned(scene, task, run_pass, active, watch)
                # On leaving, the keys of the last run are back, before they are written over.
                with starting_over(scene, task.NAME, task.reaches(plan)) as beginning:
                    if beginning.earlier:
                        plan = _planned(scene, task, run_pass, active, watch)
                    begun = own.enter_context(playback.begun(task, scene, run_pass, plan, beginning))
                    with watch.stage("solve"):
                        steps = task.solve(plan, begun, partial(_timed_samples, scene, watch, "sample", held=task.held(plan)))
                        solution = yield from _with_progress(steps, number, count, of=0.5 if count > 1 else 1.0)
                solved.append(_Solved(run_pass, begun, Done(run_pass.name, plan, solution, None)))
                beginnings.push(own.pop_all())
        except TwoBoneError as error:
            if run_pass.armature is None:
                raise
            errors.append(error)
            playback.refused.append(Refused(run_pass.armature.name, run_pass.name, error.sentence))
    if not solved:
        raise errors[0]
    settled = task.settle([each.done for each in solved])
    return [replace(each, done=done) for each, done in zip(solved, settled, strict=True)]


def _planned(scene: Scene, task: Task, run_pass: _Pass, active: Object | None, watch: Stopwatch) -> Any:
    with watch.stage("read"), objects_known():
        plan = task.plan(scene, run_pass.settings, active, own_span(run_pass.own) if run_pass.own is not None else None)
        for chain in getattr(run_pass.settings, "chains", ()):
            refuse_unknown(scene, chain)
        return plan


def _written(scene: Scene, task: Task, playback: _Playback, solved: _Solved) -> _Solved:
    done = solved.done
    playback.play(solved.run_pass)
    task.store(scene, done.plan)
    paths = task.paths(done.plan, done.solution)
    playback.hold(solved.run_pass, paths)
    # With a chosen action, its stage itself keeps the unkeyed edits.
    owners = list(dict.fromkeys(owner for owner, _ in paths))
    with edits_kept(scene, owners, paths) if solved.run_pass.own is None else nullcontext():
        solution = task.write(scene, done.plan, done.solution, solved.begun)
    return replace(solved, done=replace(done, action=playback.note_written(solved.run_pass, paths), solution=solution))


def _proved(scene: Scene, task: Task, playback: _Playback, written: Sequence[_Solved], watch: Stopwatch) -> Steps[list[Done]]:
    """Measure what was written, until the user skips the check."""
    found, is_skipped, count = [], False, len(written)
    for number, each in enumerate(written):
        playback.play(each.run_pass)
        proof = None
        if not is_skipped:
            try:
                with watch.stage("verify"):
                    steps = task.prove(each.done.plan, each.done.solution, partial(_timed_samples, scene, watch, "verify"))
                    after = 0.5 if count > 1 else 0.0
                    proof = yield from verifying(_with_progress(steps, number, count, after=after, of=1.0 - after))
            except SkipCheckError:
                is_skipped = True
        found.append(_judged(scene, task, playback, replace(each, done=replace(each.done, proof=proof)), watch))
    return found


def _judged(scene: Scene, task: Task, playback: _Playback, solved: _Solved, watch: Stopwatch) -> Done:
    playback.play(solved.run_pass)
    with watch.stage("report"), objects_known():
        return replace(solved.done, told=task.judge(scene, solved.done))


def _timed_samples(
    scene: Scene, watch: Stopwatch, stage: str, quantities: Sequence[Quantity], frames: Array, **how: Any
) -> Steps[Samples]:
    with watch.stage(stage):
        return (yield from sample_steps(scene, quantities, frames, **how))


def _with_progress(steps: Steps[Result], number: int, count: int, *, after: float = 0.0, of: float = 1.0) -> Steps[Result]:
    """Run the steps of pass `number` of `count`, scaling their progress to its share.

    after : progress at which the first pass begins
    of : fraction of the whole progress that all passes make up
    """
    with closing(steps):
        if count > 1:  # Yield between two passes, however short they are.
            yield after + of * number / count
        part = None
        while True:
            try:  # Each sampling counts from 0; the progress shown never goes back.
                part = max(next(steps), part or 0.0)
            except StopIteration as end:
                if part is None:  # Yield at least once, so that every run can be stopped.
                    yield after + of * (number + 1) / count
                return end.value
            yield after + of * (number + part) / count
