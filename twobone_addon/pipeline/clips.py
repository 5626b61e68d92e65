"""Reports of runs over several actions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeVar

from ..said import Sentence, Translate, as_json, in_english, note
from .report.reports import FAILED, FINE, LOOK, BakeReport, FurtherReport, Refused, ReportEntry, headed
from .task import Outcome

Entry = TypeVar("Entry", bound=ReportEntry)


class ClipReport(Protocol):
    """The report of one action."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        ...

    @property
    def chains(self) -> Sequence[Any]:
        """The reports of its chains."""
        ...

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        ...

    def to_json(self) -> str:
        """The report as one JSON object."""
        ...


@dataclass(frozen=True, slots=True)
class ClipsReport:
    """The report of several actions of one armature."""

    kind: str
    """Name of the task."""
    armature: str
    clips: Sequence[tuple[str, ClipReport]]
    """Name of each action that was done, and its report."""
    refused: Sequence[Refused]
    """The actions that failed."""
    seconds: dict[str, float]

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return not self.refused and all(report.is_as_asked for _, report in self.clips)

    @property
    def chains(self) -> list[Any]:
        """The reports of all chains in all actions."""
        return [chain for _, report in self.clips for chain in report.chains]

    @property
    def evaluation(self) -> str | dict[str, str]:
        """How the motion of the first action was sampled."""
        return getattr(self.clips[0][1], "evaluation", "")

    @property
    def notes(self) -> list[Sentence]:
        """One sentence for each action, failed ones first, fine ones last."""
        failed = [note('"{action}" failed: {reason}', action=each.action, reason=each.reason) for each in self.refused]
        ordered = sorted(self.clips, key=lambda clip: clip[1].is_as_asked)
        done = '"{action}" {verdict}: {sentence}'
        inserted = ({"action": name, "verdict": _verdict(report), "sentence": report.sentence()} for name, report in ordered)
        return [*failed, *(note(done, **values) for values in inserted)]

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people: how many actions are fine, then the others; for a single action its own sentence."""
        if len(self.clips) == 1 and not self.refused:
            action, report = self.clips[0]
            return f"{action}: {report.sentence(translate)}"
        fine = sum(report.is_as_asked for _, report in self.clips)
        count = len(self.clips) + len(self.refused)
        parts = [translate("{fine} of {count} actions fine").format(fine=fine, count=count)]
        if len(self.clips) > fine:
            action, report = next(clip for clip in self.clips if not clip[1].is_as_asked)
            looks = translate("{count} to look at, first {action}: {sentence}")
            parts.append(looks.format(count=len(self.clips) - fine, action=action, sentence=report.sentence(translate)))
        if self.refused:
            failed = translate("{count} failed, first {action}: {sentence}")
            first = self.refused[0]
            parts.append(failed.format(count=len(self.refused), action=first.action, sentence=first.reason.text(translate)))
        return "; ".join(parts)

    def to_json(self) -> str:
        """The report as one JSON object, with the complete report of each action."""
        clips = [{**json.loads(report.to_json()), "action": action, "verdict": _verdict(report)} for action, report in self.clips]
        failed = [{**asdict(each, dict_factory=as_json), "verdict": FAILED} for each in self.refused]
        notes = [each.text() for each in self.notes]
        own = {"armature": self.armature, "seconds": self.seconds, "notes": notes, "clips": clips, "refused": failed}
        return json.dumps(headed(self.kind, {**own, "sentence": self.sentence()}))


def report_of_clips(outcome: Outcome, kind: str) -> Any:
    """The report of whatever an armature plays now, or of several actions together, from the reports in `Done.told`.

    Notes on settings without effect come first in each report.
    """
    first = outcome.done[0]
    reports = [replace(done.told, seconds=outcome.seconds, notes=[*outcome.unused, *done.told.notes]) for done in outcome.done]
    if not first.action:
        return reports[0]
    clips = [(done.action, report) for done, report in zip(outcome.done, reports, strict=True)]
    return ClipsReport(kind, first.plan.armature, clips, outcome.refused, outcome.seconds)


def _verdict(report: ClipReport) -> str:
    return FINE if report.is_as_asked else LOOK


def bake_report(outcome: Outcome, left: Sequence[Refused] = (), **more: Any) -> BakeReport:
    """The report of chains, from the lists in `Done.told`; the notes of the first chain name what failed.

    left : what failed in actions that were otherwise done
    """
    evaluation, entries = outcome.done[0].solution.evaluation, [entry for done in outcome.done for entry in done.told]
    passes = len(outcome.done) + len(outcome.refused)
    refused = [*outcome.refused, *left]
    known = {said for entry in entries for said in (entry.chain if isinstance(entry, FurtherReport) else entry).notes}
    unused = [said for said in outcome.unused if said not in known]
    return BakeReport(with_notes(entries, [*in_words(refused, passes), *unused]), outcome.seconds, evaluation, refused, **more)


def with_notes(entries: Sequence[Entry], notes: Sequence[Sentence]) -> list[Entry]:
    """The reports of chains, with `notes` added to the first."""
    if not notes:
        return list(entries)
    first, *others = entries
    if isinstance(first, FurtherReport):
        return [replace(first, chain=replace(first.chain, notes=[*first.chain.notes, *notes])), *others]
    return [replace(first, notes=[*first.notes, *notes]), *others]


def in_words(refused: Sequence[Refused], passes: int) -> list[Sentence]:
    """Each reason once, with the actions it holds for; without them if it holds for all of several."""
    actions: dict[Sentence, list[str]] = {}
    for each in refused:
        actions.setdefault(each.reason, []).append(f'"{each.action}"')
    return [
        reason if len(names) == passes > 1 else note("{actions}: {reason}", actions=", ".join(names), reason=reason)
        for reason, names in actions.items()
    ]
