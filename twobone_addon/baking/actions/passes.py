"""A use case for one action after another: all are solved before any is written, and all are written before any is measured.

So whoever stops it before the first key has changed nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from ...errors import TwoBoneError
from ...scene.actions.finding import OwnAction
from ...scene.actions.playing import Stage, staged
from ...scene.blender_types import Action, Object, Scene
from ...scene.walk.stepping import Steps
from ...settings import BakeSettings
from ..report.records import BakeReport, Refused, ReportEntry
from ..stages import SkipCheckError
from .choosing import own_span

Prepared = TypeVar("Prepared")
Span = tuple[float, float]


class Work(Protocol[Prepared]):
    """What is done for each action, while the armature plays it."""

    def prepare(self, span: Span | None) -> Steps[Prepared]:
        """Find and solve everything, over a range that is not the settings' own if it is given; raises a `TwoBoneError`."""
        ...

    def write(self, prepared: Prepared) -> set[str]:
        """Write the keys; returns the data paths of the armature that have some now."""
        ...

    def prove(self, prepared: Prepared) -> Steps[list[ReportEntry]]:
        """Measure what is there now."""
        ...

    def reports(self, prepared: Prepared) -> list[ReportEntry]:
        """The same without measuring."""
        ...


@dataclass(frozen=True, slots=True)
class Pass(Generic[Prepared]):
    """One action of one armature."""

    armature: Object
    own: OwnAction
    work: Work[Prepared]


@dataclass(frozen=True, slots=True)
class Ready(Generic[Prepared]):
    """A pass that is solved, and what came of it."""

    one: Pass[Prepared]
    prepared: Prepared


class Passes(Generic[Prepared]):
    """Several passes, each armature on a stage of its own."""

    def __init__(self, scene: Scene, passes: Sequence[Pass[Prepared]], stack: ExitStack) -> None:
        self._passes = passes
        actions: dict[Object, list[OwnAction]] = {}
        for each in passes:
            actions.setdefault(each.armature, []).append(each.own)
        self._stages: dict[Object, Stage] = {
            armature: stack.enter_context(staged(scene, armature, own)) for armature, own in actions.items()
        }
        self.refused: list[Refused] = []
        """Actions that nothing can be done for."""

    def prepared(self) -> Steps[list[Ready[Prepared]]]:
        """Solve all; raises the first `TwoBoneError` where none can be."""
        ready, errors = [], []
        for number, one in enumerate(self._passes):
            self._play(one, one.own.action)
            try:
                own_part = _parts(one.work.prepare(own_span(one.own)), number, 2 * len(self._passes))
                ready.append(Ready(one, (yield from own_part)))
            except TwoBoneError as error:
                errors.append(error)
                self.refused.append(Refused(one.armature.name, one.own.name, str(error)))
        if not ready:
            raise errors[0]
        return ready

    def write(self, ready: Sequence[Ready[Prepared]]) -> None:
        """Write what was solved."""
        for each in ready:
            stage, source = self._stages[each.one.armature], each.one.own.action
            self._play(each.one, source)
            stage.written |= each.one.work.write(each.prepared)
            stage.renewed[source] = each.one.armature.animation_data.action

    def proved(self, ready: Sequence[Ready[Prepared]]) -> Steps[list[ReportEntry]]:
        """Measure what was written, until somebody does not want to wait any longer."""
        reports: list[ReportEntry] = []
        skipped = False
        for number, each in enumerate(ready, start=len(ready)):
            self._play(each.one, self._stages[each.one.armature].renewed[each.one.own.action])
            try:
                proof = None if skipped else _parts(each.one.work.prove(each.prepared), number, 2 * len(ready))
                reports += each.one.work.reports(each.prepared) if proof is None else (yield from proof)
            except SkipCheckError:
                skipped = True
                reports += each.one.work.reports(each.prepared)
        return reports

    def report(
        self, entries: list[ReportEntry], left: Sequence[Refused], seconds: dict[str, float], evaluation: str | dict[str, str]
    ) -> BakeReport:
        """All together; `left` is what could not be done in actions in which something could. The first chain tells of it."""
        refused = [*self.refused, *left]
        report = BakeReport(entries, seconds, evaluation, refused)
        if entries:
            report.chains[0].notes.extend(in_words(refused, len(self._passes)))
        return report

    def _play(self, one: Pass[Prepared], action: Action) -> None:
        self._stages[one.armature].play(action, one.own.slot)


def with_range(settings: BakeSettings, span: Span) -> BakeSettings:
    """Settings with the range of an action."""
    return replace(settings, frame_range="CUSTOM", frame_start=span[0], frame_end=span[1])


def in_words(refused: Sequence[Refused], passes: int) -> list[str]:
    """Each reason once, with the actions that it is about; without them where it is about all."""
    actions: dict[str, list[str]] = {}
    for each in refused:
        actions.setdefault(each.reason, []).append(f'"{each.action}"')
    return [reason if len(names) == passes > 1 else f"{', '.join(names)}: {reason}" for reason, names in actions.items()]


Result = TypeVar("Result")


def _parts(steps: Steps[Result], number: int, count: int) -> Steps[Result]:
    """One of several equal parts of a longer way: it looks up at its beginning, too."""
    with closing(steps):
        yield number / count
        while True:
            try:
                part = next(steps)
            except StopIteration as end:
                return end.value
            yield (number + part) / count
