"""Run a task, the same way for every task: plan all, sample and solve all, then write all, then measure all.

Whatever stops a run before the first write (a refusal, a dry run, Esc, an error) leaves everything unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..errors import ObjectError, TwoBoneError
from ..records import replace
from ..said import INFO, Sentence
from ..scene.actions import OwnAction, Stage, staged
from ..scene.blender_types import Object, Property, Scene
from ..scene.graph.rig_graph import dependencies
from ..scene.keys.ledger import forget_unpacked
from ..scene.keys.writing import put
from ..scene.lookup import datablock_named, objects_by_name, objects_known, only_reading
from ..scene.restoring import edits_kept
from ..scene.sampling.quantities import Samples
from ..scene.sampling.stepping import Steps, Verifying, at_once
from ..scene.writer import Transaction, on_failure, unnoted
from .beginning import Beginning, ToWrite, starting_over
from .chosen_actions import ACTIVE, chosen_of_all
from .live import drop_live
from .motion.sampling import sample_steps
from .outside import SeenOutside, said_moved, seen_outside
from .plan.found_chain import refuse_unknown
from .played import keeping_played
from .report.reports import MovedOutside, Refused
from .report.units import units_of
from .story import (
    Agree,
    Asked,
    Make,
    Results,
    Sample,
    SkipCheckError,
    StartOver,
    Story,
    StoryError,
    Task,
    Unfolding,
    Write,
    stage_after,
)

Answer = TypeVar("Answer")


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


def run(scene: Scene, task: Task[Asked], settings: Asked, active: Object | None = None, **how: Any) -> Any:
    """`run_steps` in one go."""
    return at_once(run_steps(scene, task, settings, active, **how))


def run_steps(
    scene: Scene,
    task: Task[Asked],
    settings: Asked,
    active: Object | None = None,
    *,
    actions: str = ACTIVE,
    dry_run: bool = False,
    outer: Transaction | None = None,
    notes: Sequence[Sentence] = (),
) -> Steps[Any]:
    """Run a task in small steps and return its report; raises a `TwoBoneError` before anything is changed.

    active : the armature for settings that name none
    actions : `ACTIVE`, `ALL`, or names, see `chosen_actions`; if some of several fail, the others are done and the report
        names the failed ones
    dry_run : stop before writing, and report what would have been written
    outer : what all changes belong to, where the run is a part of something that is done whole or not at all
    notes : what the report shall say as well
    """
    unused, report = [*notes, *task.table.unused(settings)], None
    with ExitStack() as stack, suppress(_DryRunEnd):
        stack.callback(forget_unpacked)
        passes = _passes(task, settings, active, actions)
        telling = _Telling(scene, task, active, _Playback(scene, passes, stack), outer)
        stack.callback(telling.close)
        unused = [*unused, *telling.playback.notes]
        # If this block ends early, all that was written is put back, then what the stories have made is undone.
        with ExitStack() as made, telling.changes:
            if task.takes_live_away:
                with telling.changes.noting():
                    drop_live(settings, active)
            with unnoted(), ExitStack() as unfinished:
                unfinished.callback(telling.close)
                told = yield from telling.solve(passes, made)
                unfinished.pop_all()
            if dry_run or not any(story.write for story in told):
                report = telling.report(told, [telling.unproved(story) for story in told], unused, is_dry=dry_run)
                raise _DryRunEnd
            with telling.changes.noting():
                telling.write(told)
                made.close()
            forget_unpacked()
        reports = yield from telling.prove(told)
        report = telling.report(told, reports, unused)
    return report


def _passes(task: Task[Asked], settings: Asked, active: Object | None, actions: str) -> list[_Pass]:
    """One pass per chosen action; a single one for whatever is played now. Raises a `TwoBoneError` if there is none."""
    if actions == ACTIVE:
        return [_Pass(settings)]
    by_armature = task.by_armature(settings, active)
    return [_Pass(by_armature[armature], armature, action) for armature, action in chosen_of_all(list(by_armature), actions)]


def _followed(armature: Object, passes: Sequence[_Pass]) -> set[Object]:
    """Other objects that an armature or its chains depend on, such as targets, poles and parents."""
    settings = next(run_pass.settings for run_pass in passes if run_pass.armature == armature)
    named: set[str] = set()
    for chain in getattr(settings, "chains", ()):
        named |= {chain.target, chain.pole, chain.plane_object}
    for chain in armature.twobone.chains:
        named |= {thing.name for thing in (chain.target, chain.pole, chain.plane_object) if thing is not None}
    objects = objects_by_name()
    starts = [(thing.name, "") for thing in (armature, *(objects[name] for name in sorted(named) if name in objects))]
    # Each bone may depend on other objects than the whole does.
    for name, _ in list(starts):
        starts += [(name, bone.name) for bone in (objects[name].pose.bones if objects[name].pose else ())]
    return {objects[name] for name, _ in dependencies(objects, starts).nodes if name in objects} - {armature}


def _paths_of(write: Write) -> set[Property]:
    """Datablocks and data paths that a story wants to write."""
    return {
        *(Property(datablock_named(change.owner), key.path) for change in write.changes for key in change.keys),
        *write.paths(),
    }


class _Playback:
    """The armatures of a run, each of which plays its actions one after another; or all of them whatever they play now."""

    def __init__(self, scene: Scene, passes: Sequence[_Pass], stack: ExitStack) -> None:
        self.refused: list[Refused] = []
        """Actions that failed."""
        by_armature: dict[Object, list[OwnAction]] = {}
        for run_pass in passes:
            if run_pass.armature is not None and run_pass.own is not None:
                by_armature.setdefault(run_pass.armature, []).append(run_pass.own)
        self._stages: dict[Object, Stage] = {
            armature: stack.enter_context(staged(scene, armature, actions, _followed(armature, passes)))
            for armature, actions in by_armature.items()
        }

    def play(self, run_pass: _Pass) -> None:
        """Make the armature play the action of a pass, or the copy that was keyed in its place."""
        if run_pass.armature is not None and run_pass.own is not None:
            stage = self._stages[run_pass.armature]
            stage.play(stage.renewed.get(run_pass.own.action, run_pass.own.action), run_pass.own.slot)

    def refuse_alone(self, run_pass: _Pass) -> None:
        """Raise `ObjectError` where something that the armature follows has no action that goes with that of a pass."""
        if run_pass.armature is not None:
            for companion in self._stages[run_pass.armature].companions:
                companion.refuse_alone(run_pass.name)

    @property
    def notes(self) -> list[Sentence]:
        """Notes on what played actions of its own along with several of the armatures."""
        sentences = []
        for companion in (companion for stage in self._stages.values() for companion in stage.companions):
            names = sorted({f'"{action.name}"' for action in companion.actions.values() if action is not None})
            text = '"{object}" played {actions} along with all actions.'
            if companion.changes:
                text = '"{object}" played its own actions along with those of the same names: {actions}.'
            if len(companion.actions) > 1:
                values = {"object": companion.player.thing.name, "actions": ", ".join(names)}
                sentences.append(Sentence(text, values, level=INFO))
        return list(dict.fromkeys(sentences))

    def hold(self, run_pass: _Pass, paths: set[Property]) -> None:
        """Record the present values of paths that will get keys, to be restored for the actions that come after."""
        if run_pass.armature is not None:
            self._stages[run_pass.armature].hold(paths)

    def note_written(self, run_pass: _Pass, paths: set[Property]) -> str:
        """Note that the action of a pass now has keys on these paths; return its name, empty if the pass has no action."""
        if run_pass.armature is None or run_pass.own is None:
            return ""
        stage, action = self._stages[run_pass.armature], run_pass.armature.animation_data.action
        stage.written |= {path for owner, path in paths if owner == run_pass.armature}
        on_failure(stage.renewed.clear)
        stage.renewed[run_pass.own.action] = action
        return action.name if action is not None else run_pass.name


@dataclass(slots=True)
class _Told:
    """The story of a pass, as far as it is told."""

    run_pass: _Pass
    story: Story
    stage: str = "begun"
    """What it may ask for next, see `MAY_ASK`."""
    action: str = ""
    """Name of the chosen action, or of the copy that was keyed in its place; empty without one."""
    reaches: Sequence[ToWrite] = ()
    """What it may write, whose earlier keys it starts over from."""
    beginning: Beginning = field(default_factory=Beginning)
    agree: Agree | None = None
    write: Write | None = None
    """What it wants to write; `None` if it only reads."""
    report: Any = None
    """What it reports, once it has ended."""
    notes: list[Sentence] = field(default_factory=list)
    """What the runner did for it."""
    seen: SeenOutside | None = None
    """What was seen outside its keys before these were written."""
    moved: MovedOutside | None = None
    """What was seen to have moved there, once these were written."""
    sampled: Sample | None = None
    """The last sampling that it asked for before it wrote."""


class _Progress:
    """Part of a run that is done: it never goes back, and there is at least one step for each pass."""

    def __init__(self, number: int, count: int, *, after: float = 0.0, of: float = 1.0, kind: type[float] = float) -> None:
        """Begin pass `number` of `count`, which together are `of` of the whole, after the part `after`."""
        self._start, self._length, self._kind = after + of * number / count, of / count, kind
        self._part: float | None = None
        self.unfolding = Unfolding()

    def at(self, part: float) -> float:
        """Progress of the run at a part of the pass."""
        self._part = max(part, self._part or 0.0)
        return self._kind(self._start + self._length * self._part)

    @property
    def is_unseen(self) -> bool:
        """Whether it was never asked for."""
        return self._part is None


class _Telling:
    """Runs each pass up to its `Write`; once everything is written, runs each to its end."""

    def __init__(
        self, scene: Scene, task: Task[Any], active: Object | None, playback: _Playback, outer: Transaction | None
    ) -> None:
        self.scene, self.task, self.active, self.playback = scene, task, active, playback
        self.watch, self.changes = Stopwatch(), Transaction(outer)
        self._is_skipped = False
        """Whether the user does not want to wait for further proofs."""
        self._stories: list[Story] = []

    def close(self) -> None:
        """End the stories that wait for others, so that what they hold open goes before anything else is put back."""
        for story in self._stories:
            story.close()

    def solve(self, passes: Sequence[_Pass], made: ExitStack) -> Steps[list[_Told]]:
        """Tell each pass up to its write, skipping those that fail; raises the first `TwoBoneError` if all fail."""
        solved, errors, count = [], [], len(passes)
        whole = 0.5 if count > 1 else 1.0
        for number, run_pass in enumerate(passes):
            self.playback.play(run_pass)
            try:
                self.playback.refuse_alone(run_pass)
                progress = _Progress(number, count, of=whole)
                if count > 1:  # Yield between two passes, however short they are.
                    yield progress.at(0.0)
                solved.append((yield from self._solved(run_pass, progress, made)))
            except TwoBoneError as error:
                if run_pass.armature is None:  # There are no others to go on with.
                    raise
                errors.append(error)
                self.playback.refused.append(Refused(run_pass.armature.name, run_pass.name, error.sentence))
        if not solved:
            raise errors[0]
        asking = [told for told in solved if told.agree is not None]
        decided = asking[0].agree.decide([told.agree.value for told in asking]) if asking else []
        for told, answer in zip(asking, decided, strict=True):
            self.playback.play(told.run_pass)
            progress = _Progress(0, 1, after=whole, of=0.0)
            yield from self._tell(told, answer, progress, made)
            with starting_over(self.scene, self.task.name, told.reaches):
                yield from self._keep_played(told, progress)
        if count > 1:
            self._refuse_overwriting(solved)
        return solved

    def _refuse_overwriting(self, stories: Sequence[_Told]) -> None:
        """Raise `ObjectError` where two actions would key something else that plays one action along with both of them."""
        keyed: dict[tuple[Object, Any, str], str] = {}
        for told, write in [(told, told.write) for told in stories if told.write is not None]:
            # What plays along with an action is known while that is played.
            self.playback.play(told.run_pass)
            for owner, path in sorted(_paths_of(write), key=lambda pair: (pair[0].name, pair[1])):
                data = owner.animation_data
                first = keyed.setdefault((owner, data.action if data is not None else None, path), told.run_pass.name)
                if owner != told.run_pass.armature and first != told.run_pass.name:
                    raise ObjectError(
                        '"{object}" would get keys for "{first}" and then others for "{second}" in one and the same action. '
                        "Work on one action at a time, or let the object play an action of its own for each, named after it.",
                        object=owner.name,
                        first=first,
                        second=told.run_pass.name,
                    )

    def _solved(self, run_pass: _Pass, progress: _Progress, made: ExitStack) -> Steps[_Told]:
        """Tell a pass up to where others have a say, from the motion that it starts from."""
        told = _Told(run_pass, self._story(run_pass), action=run_pass.name)
        # What a story that fails has made is put back, whatever becomes of the others.
        with ExitStack() as stack, Transaction(self.changes):
            start = yield from self._tell(told, None, progress, stack, stage="read")
            for chain in getattr(run_pass.settings, "chains", ()):
                refuse_unknown(self.scene, chain)
            if isinstance(start, StartOver):
                told.reaches = start.reaches
                # On leaving, the keys of the last run are back, before they are written over.
                with starting_over(self.scene, self.task.name, start.reaches) as told.beginning:
                    # What it has read so far was read from the keys of its last run.
                    if told.beginning.earlier:
                        told.story.close()
                        told.story, told.stage = self._story(run_pass), "begun anew"
                        if (yield from self._tell(told, None, progress, stack, stage="read")) is None:
                            raise StoryError(f"Task {self.task.name}: its story, {told.stage}, ends. Expected StartOver.")
                    yield from self._tell(told, told.beginning, progress, stack)
                    yield from self._keep_played(told, progress)
            else:
                yield from self._keep_played(told, progress)
            if progress.is_unseen:  # Every run can be stopped.
                yield progress.at(1.0)
            made.push(stack.pop_all())
        return told

    def _story(self, run_pass: _Pass) -> Story:
        self._stories.append(self.task.story(self.scene, run_pass.settings, self.active, run_pass.own))
        return self._stories[-1]

    def _tell(
        self, told: _Told, answer: Any, progress: _Progress, made: ExitStack, *, stage: str = "solve"
    ) -> Steps[StartOver | None]:
        """Tell a story on with an answer, until it starts over, asks for what others have a say in, or ends."""
        skipped: SkipCheckError | None = None
        with ExitStack() as unfinished:
            unfinished.callback(told.story.close)
            while True:
                try:
                    with self.watch.stage(stage), only_reading() if stage == "read" else nullcontext():
                        request = told.story.throw(skipped) if skipped is not None else told.story.send(answer)
                except StopIteration as end:
                    told.report = end.value
                    return None
                told.stage = stage_after(told.stage, request, self.task.name)
                stage, answer, skipped = "solve" if stage == "read" else stage, None, None
                try:
                    if isinstance(request, Sample):
                        told.sampled = told.sampled if stage == "verify" else request
                        answer = yield from self._sampled(request, progress, is_proof=stage == "verify")
                    elif isinstance(request, Make):
                        with self.changes.noting():
                            answer = made.enter_context(request.what)
                        # Its block ends with the action of its pass being played.
                        made.callback(self.playback.play, told.run_pass)
                    elif isinstance(request, float | int):
                        yield progress.at(request)
                    else:
                        told.agree = request if isinstance(request, Agree) else None
                        told.write = request if isinstance(request, Write) else None
                        unfinished.pop_all()
                        return request if isinstance(request, StartOver) else None
                except SkipCheckError as error:
                    if stage != "verify":
                        raise
                    self._is_skipped, skipped = True, error

    def _keep_played(self, told: _Told, progress: _Progress) -> Steps[None]:
        """Let a story also write keys that keep what is played beside its own; from the motion that it started from."""
        if told.write is None:
            return
        table = self.task.table
        options = {option.name for option in (*table.own, *table.of_chains)}
        kept = yield from self._answered(keeping_played(self.scene, told.write, options), progress)
        told.write, told.notes = kept.write, list(kept.said)
        asked = told.run_pass.settings
        if any(chain.verify for chain in asked.chains) if hasattr(asked, "chains") else getattr(asked, "verify", True):
            in_scene = told.sampled is not None and told.sampled.evaluation == "SCENE"
            verified = told.sampled.verified if told.sampled is not None else None
            looking = seen_outside(self.scene, kept.write, kept.taken, in_scene=in_scene, verified=verified)
            told.seen = yield from self._answered(looking, progress)

    def _answered(self, asking: Story[Answer], progress: _Progress, *, is_proof: bool = False) -> Steps[Answer]:
        """Sample what the runner itself needs to know before it writes, or to prove what it has written."""
        answer = None
        with closing(asking):
            while True:
                try:
                    request = asking.send(answer)
                except StopIteration as end:
                    return end.value
                answer = yield from self._sampled(request, progress, is_proof=is_proof)

    def _sampled(self, request: Sample, progress: _Progress, *, is_proof: bool) -> Steps[Samples]:
        if is_proof and self._is_skipped:
            raise SkipCheckError
        request = progress.unfolding.placed(request)
        how = {"evaluation": request.evaluation, "place": request.place, "verified": request.verified}
        # Once everything is written, a check does not fail for want of memory.
        steps = sample_steps(self.scene, request.quantities, request.frames, held=0 if is_proof else request.held, **how)
        with self.watch.stage("verify" if is_proof else "sample"), closing(steps):
            while True:
                try:
                    part = next(steps)
                except StopIteration as end:
                    return end.value
                yield progress.at(request.start + (request.share or 0.0) * part)

    def unproved(self, told: _Told) -> Any:
        """The report of a story that was not written, or whose check was skipped."""
        if told.write is None:
            return told.report
        self.playback.play(told.run_pass)
        with self.watch.stage("report"), only_reading():
            return told.write.report()

    def write(self, stories: Sequence[_Told]) -> None:
        """Write what the stories want to write."""
        writes = [(told, told.write) for told in stories if told.write is not None]
        with self.watch.stage("write"), objects_known():
            for told, write in writes:
                self.playback.play(told.run_pass)
                paths = _paths_of(write)
                self.playback.hold(told.run_pass, paths)
                # With a chosen action, its stage itself keeps the unkeyed edits.
                owners = list(dict.fromkeys(owner for owner, _ in paths))
                with edits_kept(self.scene, owners, paths) if told.run_pass.own is None else nullcontext():
                    put(write.changes, told.beginning.earlier)
                    if write.also is not None:
                        write.also()
                told.action = self.playback.note_written(told.run_pass, paths)
            for _, write in writes[:1]:
                if write.then is not None:
                    write.then()

    def prove(self, stories: Sequence[_Told]) -> Steps[list[Any]]:
        """Tell the stories to their ends, until the user skips the check; return what they report."""
        count = len(stories)
        for number, told in enumerate(stories):
            # With several passes, solving them was the first half of the progress.
            write, after = told.write, 0.5 if count > 1 else 0.0
            if write is None:
                continue
            progress = _Progress(number, count, after=after, of=1.0 - after, kind=Verifying)
            self.playback.play(told.run_pass)
            try:
                with ExitStack() as made:
                    yield from self._tell(told, told.action, progress, made, stage="verify")
                    if told.seen is not None:
                        changes = told.seen.changes(self.scene, told.action)
                        told.moved = yield from self._answered(changes, progress, is_proof=True)
                        told.notes += [said_moved(told.moved, units_of(self.scene))] if told.moved is not None else []
                if progress.is_unseen:
                    yield progress.at(1.0)
            except SkipCheckError:
                self._is_skipped = True
                told.report = told.report if told.report is not None else write.report()
        return [told.report for told in stories]

    def report(
        self, stories: Sequence[_Told], reports: Sequence[Any], unused: Sequence[Sentence], *, is_dry: bool = False
    ) -> Any:
        """The report of the whole run."""
        armature, actions = stories[0].run_pass.armature, [told.action for told in stories]
        name = armature.name if armature is not None else ""
        with self.watch.stage("report"):
            unused = list(dict.fromkeys([*unused, *(said for told in stories for said in told.notes)]))
            kind, seconds, refused = self.task.table.task, self.watch.seconds, self.playback.refused
            report = self.task.joined(Results(kind, self.scene, reports, refused, seconds, is_dry, actions, name, unused))
            moved = [told.moved for told in stories if told.moved is not None]
            return replace(report, moved_outside=moved) if moved else report
