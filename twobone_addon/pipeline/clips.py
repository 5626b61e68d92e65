"""Reports of runs over several actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeVar

from ..records import replace
from ..said import Sentence, as_json, joined, note
from ..scene.blender_types import Scene
from .report.reports import FAILED, FINE, LOOK, BakeReport, ChainReport, Refused, Report, headed

Chain = TypeVar("Chain", bound=ChainReport)


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that a report is made from."""

    kind: str
    """Name of the task."""
    scene: Scene
    done: Sequence[Any]
    """What the story of each action reports, at least one."""
    refused: Sequence[Refused]
    """The actions that failed, if there were several."""
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    is_dry: bool
    """Whether nothing was written."""
    actions: Sequence[str] = ()
    """Names of the actions that were chosen, as far as they did not fail."""
    armature: str = ""
    """Name of the armature whose actions were chosen; empty if the task ran over whatever is played now."""
    unused: Sequence[Sentence] = ()
    """Notes on settings that were given and have no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipsReport(Report):
    """The report of several actions of one armature."""

    SAYS_NOTES: ClassVar[bool] = False
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"evaluation"})

    armature: str
    clips: Sequence[tuple[str, Any]]
    """Name of each action that was done, and its report."""

    @property
    def is_as_asked(self) -> bool:
        """Whether no action failed or needs a person's attention."""
        return not self.refused and all(report.is_as_asked for _, report in self.clips)

    @property
    def chains(self) -> list[Any]:
        """The reports of all chains in all actions."""
        return [chain for _, report in self.clips for chain in report.chains]

    @property
    def summary(self) -> Sentence:
        """How many actions are fine, then the others; for a single action its own sentence."""
        if len(self.clips) == 1 and not self.refused:
            ((action, report),) = self.clips
            return Sentence("{action}: {sentence}", {"action": action, "sentence": report.says})
        off = [(action, report.says) for action, report in self.clips if not report.is_as_asked]
        count = len(self.clips) + len(self.refused)
        parts = [Sentence("{fine} of {count} actions fine", {"fine": len(self.clips) - len(off), "count": count})]
        failed = [(each.action, each.reason) for each in self.refused]
        looks, fails = "{count} to look at, first {action}: {sentence}", "{count} failed, first {action}: {sentence}"
        for text, found in ((looks, off), (fails, failed)):
            for action, sentence in found[:1]:
                parts.append(Sentence(text, {"count": len(found), "action": action, "sentence": sentence}))
        return joined(parts, "; ")

    def lines(self) -> list[str]:
        """What the command line prints: of one action its sentence, of several also a line for each."""
        return [self.sentence(), *(f"  {said.text()}" for said in self.notes)]

    def to_dict(self) -> dict[str, Any]:
        """The report as a dictionary for JSON, with the complete report of each action."""
        clips = [{**report.to_dict(), "action": action, "verdict": _verdict(report)} for action, report in self.clips]
        failed = [{**asdict(each, dict_factory=as_json), "verdict": FAILED} for each in self.refused]
        own = {"armature": self.armature, "seconds": self.seconds, "notes": [each.text() for each in self.notes]}
        return headed(self.kind, {**own, "clips": clips, "refused": failed, "sentence": self.sentence()})


def report_of_clips(results: Results) -> Any:
    """The report of whatever an armature plays now, or of several actions together, from the report of each.

    Notes on settings without effect come first in each report.
    """
    shared: dict[str, Any] = {"kind": results.kind, "seconds": results.seconds}
    reports: list[Report] = [replace(each, **shared, notes=[*results.unused, *each.notes]) for each in results.done]
    if not results.armature:
        return reports[0]
    clips = sorted(zip(results.actions, reports, strict=True), key=lambda clip: -clip[1].rank)
    # Failed ones first, fine ones last.
    notes = [note('"{action}" failed: {reason}', action=each.action, reason=each.reason) for each in results.refused]
    for action, report in sorted(clips, key=lambda clip: clip[1].is_as_asked):
        notes.append(note('"{action}" {verdict}: {sentence}', action=action, verdict=_verdict(report), sentence=report.says))
    more: dict[str, Any] = {"evaluation": reports[0].evaluation, "refused": results.refused, "notes": notes}
    return ClipsReport(**shared, **more, armature=results.armature, clips=clips)


def _verdict(report: Report) -> str:
    return FINE if report.is_as_asked else LOOK


def bake_report(results: Results, left: Sequence[Refused] = (), **more: Any) -> BakeReport:
    """The report of chains, from the entries of each action; the notes of the first chain name what failed.

    left : what failed in actions that were otherwise done
    """
    chains = [chain for done in results.done for chain in done.entries]
    refused = [*results.refused, *left]
    known = {said for chain in chains for said in chain.notes}
    unused = [said for said in results.unused if said not in known]
    chains = with_notes(chains, [*in_words(refused, len(results.done) + len(results.refused)), *unused])
    return BakeReport(
        kind=results.kind,
        chains=chains,
        notes=list(dict.fromkeys(said for chain in chains for said in chain.notes)),
        seconds=results.seconds,
        evaluation=results.done[0].evaluation,
        refused=refused,
        **more,
    )


def with_notes(chains: Sequence[Chain], notes: Sequence[Sentence]) -> list[Chain]:
    """The reports of chains, with `notes` added to the first."""
    if not notes:
        return list(chains)
    first, *others = chains
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
