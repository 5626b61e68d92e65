"""Reports of tasks, over one action or several: statements on each chain, JSON for machines, one line for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeVar

from ...records import replace
from ...said import INFO, WARN, Sentence, Statement, Value, joined, note
from ...scene.blender_types import Scene
from .form import Told, as_data, together

FORMAT = 1
"""Version of report, job and summary: increases when a key changes its meaning or is removed, not when one is added."""

FINE, LOOK, FAILED = "fine", "look", "failed"
"""Verdicts: done as asked; done, but something needs a person's attention; nothing was done."""

ON_TARGET = Sentence("all on target")

MOST_SAID = 2
"""Largest number of off-target chains that a line describes one by one, and of failed actions that it names."""


@dataclass(frozen=True, slots=True)
class Visible:
    """The bone that shows the chain: it deforms a mesh where the lower bone is."""

    bone: str
    """Name; the lower bone itself where that deforms."""
    follows: bool
    """Whether it follows the keyed bones."""
    max_distance: float | None
    """Largest distance of its end from the target; `None` where it follows."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Digests of a bake's inputs, by which the sidebar detects that a result is out of date."""

    settings: str
    """Digest of the chain's settings and its frame range."""
    animation: str
    """Digest of all that moves the chain, target, pole and plane object: keys, NLA strips, drivers, constraints, parents."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An action, or a chain in it, that failed, and why."""

    TELLS: ClassVar[tuple[str, ...]] = ("verdict",)

    armature: str
    action: str
    reason: Sentence
    """Sentence that says why, and what to do."""

    @property
    def verdict(self) -> str:
        """`failed`."""
        return FAILED


@dataclass(frozen=True, slots=True)
class MovedOutside:
    """A bone or an object that is somewhere else than before outside the keys of a run, where all was to stay."""

    name: str
    """Name of the bone, or of the object."""
    action: str
    """Name of the action, where several were chosen; empty where it is what is played."""
    max_moved_outside: float | None
    """Largest distance of any point of it from where it was; `None` where its curve differs and nothing is seen to move."""
    frame_start: float
    """First frame at which that was seen."""
    frame_end: float
    """Last frame at which that was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Told):
    """The report of a run, or of one action of it."""

    TELLS: ClassVar[tuple[str, ...]] = ("version", "sentence")
    SAYS_NOTES: ClassVar[bool] = True
    """Whether the status bar shows the notes after the summary."""
    IS_KEPT: ClassVar[bool] = False
    """Whether the panel keeps what is said also where nothing needs attention, because nothing else there shows the result."""

    kind: str = ""
    """The task: the headings below."""
    notes: list[Sentence] = field(default_factory=list)
    """Sentences about what limits or changes the result."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each stage, by name."""
    evaluation: str | dict[str, str] = ""
    """The slowest [way of sampling](how_it_works.md#sampling) that was used; several by armature, empty for none."""
    refused: list[Refused] = field(default_factory=list)
    """The actions, of several, and chains in them that failed."""
    moved_outside: list[MovedOutside] = field(default_factory=list)
    """What moved outside the new keys, where everything was to stay, one in each action. Empty without `verify`."""

    @property
    def summary(self) -> Sentence:
        """One line for people."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """The result in one sentence, in English."""
        return self.summary.text()

    @property
    def says(self) -> Sentence:
        """What the status bar says: the summary, and the notes if it says them."""
        return joined([self.summary, *(self.notes if self.SAYS_NOTES else ())])

    @property
    def version(self) -> int:
        """Version of the form, 1; it goes up when a field changes its meaning or is removed."""
        return FORMAT

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return not self.notes

    @property
    def is_changed(self) -> bool:
        """Whether anything was done."""
        return True

    @property
    def rank(self) -> float:
        """Place among the reports of several actions: the highest is listed first."""
        return 0.0

    def lines(self) -> list[str]:
        """What the command line prints."""
        return [self.sentence, *(f"  {said}" for said in self.notes)]

    def details(self) -> list[str]:
        """What the command line prints besides with `--verbose`."""
        return []

    def to_dict(self) -> dict[str, Any]:
        """The report as a dictionary for JSON, its kind first."""
        return {"kind": self.kind, **as_data(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipReport(Report):
    """The report of one action of an armature."""

    TELLS: ClassVar[tuple[str, ...]] = (*Report.TELLS, "verdict")

    action: str = ""
    """Name of the action, where several were chosen; empty where it is what is played."""

    @property
    def verdict(self) -> str:
        """`fine` or, where something needs a person's attention, `look`."""
        return FINE if self.is_as_asked else LOOK


class Worst(NamedTuple):
    """What one chain adds to the sentence on several."""

    distance: float
    says: Sentence
    """Said if no other chain's distance is larger."""


@dataclass(frozen=True, kw_only=True)
class ChainReach(Told):
    """One chain, the frames at which it follows its target, and where that is in reach."""

    # Without slots: the report of several chains has these fields beside those of a report.
    armature: str
    upper: str
    lower: str
    tip: str
    target: str
    frames: int
    """Number of baked frames."""
    frame_start: float
    frame_end: float
    reached: int
    """Frames at which the target is in reach."""
    too_far: int
    """Frames at which it is too far."""
    too_near: int
    """Frames at which it is too near."""
    degenerate: int
    """Frames at which the target determines no pose."""
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames too far or too near."""


@dataclass(frozen=True, kw_only=True)
class ChainReport(ChainReach):
    """The report of one chain. Distances are in world units, frames are scene frames."""

    TELLS: ClassVar[tuple[str, ...]] = ("sentence",)

    keys: int
    """Keys in the range, over all channels."""
    full_rate_keys: int
    """Keys that one on every frame would take; more than `keys` after Reduce."""
    channels: int
    """F-Curves that hold them."""
    max_error: float | None = None
    """Largest measured distance of the tip from the target's projection on the plane, frames in reach only.
    `None` also where no frame is in reach."""
    mean_error: float | None = None
    """Mean of that distance over the same frames."""
    max_goal_error: float | None = None
    """Largest measured distance of the tip from its goal after clamping, softening and limits."""
    max_off_plane: float | None = None
    """Largest measured distance of a joint from the plane through the root joint."""
    max_distance_to_target: float | None = None
    """Largest measured distance of the tip from the target itself, at all frames, in reach or not."""
    target_off_plane: float | None = None
    """Largest part of that distance across the plane: how far the target is beside it."""
    between_frames: float | None = None
    """Largest measured distance of the tip from the target between the frames: at whole frames between keys, and at quarter
    frames; of long takes where it is likely to be largest. `None` also where there is nothing between."""
    max_drift: float
    """Largest distance by which Reduce lets the tip drift, between frames too; 0 without Reduce."""
    max_drift_middle: float
    """Largest drift of the joints between root and tip, such as the knee."""
    max_twist: float
    """Largest rotation of a bone about its own axis against the replaced pose, degrees; measured on the baked animation, so
    it includes what Reduce adds. Without verification it is computed."""
    plane_held: int
    """Frames at which the plane was undefined and kept from another frame."""
    notes: list[Sentence] = field(default_factory=list)
    """Sentences about what limits or changes the result."""
    action: str = ""
    """The action that the armature plays with these keys; empty where it plays none."""
    visible: Visible | None = None
    """The bone that shows the chain. `None` also where nothing deforms."""
    fingerprint: Fingerprint | None = None
    """Digests of the inputs. `None` where the armature has no stored chain that would keep the report."""
    statements: list[Statement] = field(default_factory=list)
    """The sentence in pieces."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each stage of the whole run, by name."""
    evaluation: str | dict[str, str] = ""
    """How motion was sampled in the whole run."""

    BAKED: ClassVar[str] = "{chains} chains baked, {keys} keys"
    """Template of the line on several chains."""

    @property
    def says(self) -> Sentence:
        """One line for people."""
        values: dict[str, Value] = {"keys": self.keys, "curves": self.channels}
        if self.statements:
            return joined([*self.statements, Sentence("{keys} keys on {curves} curves", values)], "; ")
        return Sentence(
            "{upper} to {lower}: {keys} keys on {curves} curves", {"upper": self.upper, "lower": self.lower, **values}
        )

    @property
    def is_on_target(self) -> bool:
        """Whether nothing needs a person's attention."""
        return all(statement.level == INFO for statement in self.statements)

    @property
    def at_worst(self) -> Worst:
        """What is said of several chains, all on target, if this chain's distance is the largest."""
        for statement in self.statements:
            if statement.kind == "ALL_WITHIN":
                within = Sentence("all within {distance} of their targets", {"distance": statement.values["distance"]})
                return Worst(self.max_distance_to_target or 0.0, within)
        return Worst(0.0, ON_TARGET)

    @property
    def sentence(self) -> str:
        """The result in one sentence, in English."""
        return self.says.text()


Chain = TypeVar("Chain", bound=ChainReport)


@dataclass(frozen=True, slots=True, kw_only=True)
class BakeReport(Report, ChainReport):
    """The report of a bake: of all its chains together, under the names that each of `chains` has."""

    TELLS: ClassVar[tuple[str, ...]] = Report.TELLS
    UNTOLD: ClassVar[frozenset[str]] = frozenset({"remarks"})
    SAYS_NOTES: ClassVar[bool] = False

    chains: Sequence[ChainReport]
    """One record for each chain; with several actions one for each chain in each."""
    skipped: list[str] = field(default_factory=list)
    """Names of chosen stored chains that have never had a target."""
    remarks: list[Statement] = field(default_factory=list)
    """Remarks without which the line would mislead; notes say the same at more length."""

    @property
    def is_as_asked(self) -> bool:
        """Whether all tips are where they ought to be, and nothing failed or needs a remark."""
        return not (self.remarks or self.refused) and all(chain.is_on_target for chain in self.chains)

    def lines(self) -> list[str]:
        """What the command line prints: the sentence, then the notes of each chain."""
        names = [f"{chain.upper} to {chain.lower}: " if len(self.chains) > 1 else "" for chain in self.chains]
        notes = [(name, said) for name, chain in zip(names, self.chains, strict=True) for said in chain.notes]
        return [self.sentence, *(f"  {name}{said}" for name, said in notes)]

    def details(self) -> list[str]:
        """What the command line prints besides with `--verbose`: each of several chains."""
        return [f"  {chain.armature}: {chain.sentence}" for chain in self.chains if len(self.chains) > 1]

    @property
    def summary(self) -> Sentence:
        """What was baked and what is off, the remarks, what failed and what was left out."""
        parts = [*self._baked(), *self.remarks]
        failed = list(dict.fromkeys(action.action for action in self.refused))
        if failed:
            named = [Sentence("{action}", {"action": name}) for name in failed[:MOST_SAID]]
            named += [Sentence("{count} more", {"count": len(failed) - MOST_SAID})] if len(failed) > MOST_SAID else []
            parts.append(Sentence("some limbs failed in {actions}", {"actions": joined(named, ", ")}))
        return joined([*parts, *skipped_chains(self.skipped)], "; ")

    def _baked(self) -> list[Sentence]:
        if len(self.chains) == 1:
            return [self.chains[0].says]
        actions = {(chain.armature, chain.action) for chain in self.chains}
        in_several = len(actions) > len({armature for armature, _ in actions})
        count = _limb_count(self.chains) if in_several else len(self.chains)
        done = self.chains[0].BAKED if self.chains else ChainReport.BAKED
        if in_several and count == 1:
            done = "1 chain in {actions} actions baked, {keys} keys"
        elif in_several:
            done = "{chains} chains in {actions} actions baked, {keys} keys"
        keys = sum(chain.keys for chain in self.chains)
        parts = [Sentence(done, {"chains": count, "actions": len(actions), "keys": keys})]
        missed = [chain for chain in self.chains if not chain.is_on_target]
        if missed:
            # Whoever is on target at all frames may need a look for another reason.
            unseen = [chain for chain in missed if any(each.kind == "NOT_SHOWN" for each in chain.statements)]
            if unseen:
                values = {"chains": _limb_count(unseen) if in_several else len(unseen)}
                parts.append(Sentence("{chains} not visible: use Switch All Limbs to FK", values))
            missed = [chain for chain in missed if chain not in unseen]
            off = [chain for chain in missed if not any(each.kind in ON_TARGET_THROUGHOUT for each in chain.statements)]
            others = [chain for chain in missed if chain not in off]
            for chains, text in ((off, "{chains} off target at some frames"), (others, "{chains} on target with a warning")):
                if chains:
                    parts.append(Sentence(text, {"chains": _limb_count(chains) if in_several else len(chains)}))
            for chain in missed[:MOST_SAID]:
                named = Sentence("{action}: {sentence}", {"action": chain.action, "sentence": chain.says})
                parts.append(named if in_several else chain.says)
        elif any(chain.statements for chain in self.chains):
            parts.append(max((chain.at_worst for chain in self.chains), key=lambda worst: worst.distance).says)
        return parts


def skipped_chains(names: Sequence[str]) -> list[Sentence]:
    """What is said of chosen chains that never had a target; nothing where there are none."""
    if not names:
        return []
    if len(names) == 1:
        return [Sentence("{chain} has no target and was skipped", {"chain": names[0]})]
    return [Sentence("{chains} have no target and were skipped", {"chains": ", ".join(names)})]


def _limb_count(chains: Sequence[ChainReport]) -> int:
    """Number of different chains, however many actions each was baked in."""
    return len({(chain.armature, chain.upper, chain.lower, chain.tip) for chain in chains})


STATEMENTS = {
    "NOT_SHOWN": "Visible bone {bone} does not follow (up to {distance} off the target at frame {frame}). Use Switch to FK",
    "ALL_ON_TARGET": "{part} on target in all {frames} frames (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target in all {frames} frames",
    "SOME_ON_TARGET": "{part} on target in {count} of {frames} frames",
    "NONE_ON_TARGET": "{part} on target in none of {frames} frames",
    "IN_REACH": "{part} in reach in {count} of {frames} frames, not measured",
    "OUT_OF_REACH": "{count} out of reach, up to {distance} at frame {frame}",
    "OUT_OF_REACH_UNMEASURED": "{count} out of reach",
    "BESIDE_PLANE": "{count} beside the plane, up to {distance} at frame {frame}",
    "BESIDE_LETTER_PLANE": "{count} beside the plane, up to {distance} at frame {frame}: use Current Pose",
    "HELD_BACK": "{count} held back by the reach settings, up to {distance} at frame {frame}",
    "INFLUENCE": "{count} with an influence below 1, up to {distance} at frame {frame}",
    "NOWHERE": "{count} without a target position",
    "OTHERWISE": "{count} off although in reach, up to {distance} at frame {frame}: something else moves the bones",
    "AS_ON_IK": "{upper} to {lower} move as on IK (within {distance} at frames)",
    "MOVED": "{part} moved by up to {distance} at frame {frame}: something else moves the bones",
    "MOVED_IN_STRIP": "{part} moves by up to {distance} between keys, at frame {frame} of the action, where a strip plays it",
    "OFF": "{count} off although in reach, up to {distance} at frame {frame}",
    "OVERRIDDEN": "{count} off although in reach, up to {distance} at frame {frame}: use Switch to FK",
    "FLIPPED": "{bone} bends to the other side than before at frames {frames}",
    "BETWEEN": "{distance} off between keys, at frame {frame}",
    "HALFWAY": "skipped frames {frames}: blended between FK and IK",
    "IK_WAS_OFF": "the IK of {bone} was off",
    "IK_OFF_OUTSIDE": "IK is also off before frame {first} and after frame {last}",
    "ACTION_LONGER": "action {action} has keys from {first} to {last} now",
    "LIMBS_LEFT": "limbs not converted: {count}",
    "OWN_KEYS": "shows the existing FK keys",
    "TWIST_LOST": "{bone} loses its twist, up to {angle} degrees at frame {frame}: IK turns no bone about itself",
    "SEEN_TO_MOVE": "joints visibly move by up to {distance}",
    "UNMOVED": "all stays within {distance} at frames",
}
"""Templates of statements, by kind."""

AT_ONE_FRAME = {
    "ALL_ON_TARGET": "{part} on target (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target",
    "NONE_ON_TARGET": "{part} not on target",
}
"""Templates used instead if only one frame was baked."""

WITHOUT_DISTANCE = {"NOT_SHOWN": "Visible bone {bone} does not follow. Use Switch to FK"}
"""Templates used instead if there is no distance worth a word."""

ON_TARGET_THROUGHOUT = {"ALL_ON_TARGET", "ALL_WITHIN"}
"""Kinds that say that the tip is on its target at all frames."""

GOOD = {"ALL_ON_TARGET", "ALL_WITHIN", "SOME_ON_TARGET", "NONE_ON_TARGET", "IN_REACH", "AS_ON_IK", "OWN_KEYS", "UNMOVED"}
"""Kinds that only count frames; all others give reasons and need a person's attention."""


def statement(kind: str, values: Mapping[str, Value], frames: Iterable[Sequence[float]] = ()) -> Statement:
    """A statement of one of the kinds in `STATEMENTS`; `frames` are the `[first, last]` ranges that it is about."""
    texts = {**STATEMENTS, **AT_ONE_FRAME} if values.get("frames") == 1 else STATEMENTS
    if "distance" not in values:
        texts = {**texts, **WITHOUT_DISTANCE}
    spans = tuple((first, last) for first, last in frames)
    return Statement(texts[kind], values, spans, INFO if kind in GOOD else WARN, kind)


def statement_of(data: Mapping) -> Statement:
    """Restore a statement from its JSON."""
    return statement(data["kind"], data["values"], data["ranges"])


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

    armature: str
    clips: Sequence[ClipReport]
    """The report of each action that was done."""

    @property
    def is_as_asked(self) -> bool:
        """Whether no action failed or needs a person's attention."""
        return not self.refused and all(clip.is_as_asked for clip in self.clips)

    @property
    def chains(self) -> list[Any]:
        """The reports of all chains in all actions."""
        return [chain for clip in self.clips for chain in getattr(clip, "chains", ())]

    @property
    def summary(self) -> Sentence:
        """How many actions are fine, then the others; for a single action its own sentence."""
        if len(self.clips) == 1 and not self.refused:
            (clip,) = self.clips
            return Sentence("{action}: {sentence}", {"action": clip.action, "sentence": clip.says})
        off = [(clip.action, clip.says) for clip in self.clips if not clip.is_as_asked]
        count = len(self.clips) + len(self.refused)
        parts = [Sentence("{fine} of {count} actions fine", {"fine": len(self.clips) - len(off), "count": count})]
        failed = [(refusal.action, refusal.reason) for refusal in self.refused]
        looks, fails = "{count} to look at, first {action}: {sentence}", "{count} failed, first {action}: {sentence}"
        for text, actions in ((looks, off), (fails, failed)):
            for action, sentence in actions[:1]:
                parts.append(Sentence(text, {"count": len(actions), "action": action, "sentence": sentence}))
        return joined(parts, "; ")


def report_of_clips(results: Results) -> Any:
    """The report of whatever an armature plays now, or of several actions together, from the report of each.

    Notes on settings without effect come first in each report.
    """
    shared: dict[str, Any] = {"kind": results.kind, "seconds": results.seconds}
    reports: list[Any] = [replace(done, **shared, notes=[*results.unused, *done.notes]) for done in results.done]
    if not results.armature:
        return reports[0]
    named = [replace(report, action=action) for action, report in zip(results.actions, reports, strict=True)]
    clips: list[ClipReport] = sorted(named, key=lambda clip: -clip.rank)
    # Failed ones first, fine ones last.
    notes = [note('"{action}" failed: {reason}', action=refusal.action, reason=refusal.reason) for refusal in results.refused]
    notes += [
        note('"{action}" {verdict}: {sentence}', action=clip.action, verdict=clip.verdict, sentence=clip.says)
        for clip in sorted(clips, key=lambda clip: clip.is_as_asked)
    ]
    shared |= {"evaluation": reports[0].evaluation, "refused": list(results.refused), "notes": notes}
    return ClipsReport(**shared, armature=results.armature, clips=clips)


def bake_report(
    results: Results, left: Sequence[Refused] = (), remarks: Sequence[Statement] = (), record: type[BakeReport] = BakeReport
) -> BakeReport:
    """The report of chains, from the entries of each action; the notes of the first chain name what failed.

    left : what failed in actions that were otherwise done
    record : type of the report, which has the fields of its chains
    """
    run: dict[str, Any] = {"seconds": results.seconds, "evaluation": results.done[0].evaluation}
    chains = [replace(chain, **run) for done in results.done for chain in done.entries]
    refused = [*results.refused, *left]
    known = {said for chain in chains for said in chain.notes}
    unused = [said for said in results.unused if said not in known]
    chains = with_notes(chains, [*refusals_in_words(refused, len(results.done) + len(results.refused)), *unused])
    return report_together(record, chains, kind=results.kind, refused=refused, remarks=list(remarks), **run)


def report_together(record: type[BakeReport], chains: Sequence[ChainReport], **run: Any) -> BakeReport:
    """The report of chains; the mean error is that of all frames in reach, and each note is there once."""
    of_all: dict[str, Any] = {"notes": list(dict.fromkeys(said for chain in chains for said in chain.notes))}
    measured = [(chain.mean_error, chain.reached) for chain in chains if chain.mean_error is not None]
    frames = sum(count for _, count in measured)
    if len(chains) > 1:
        of_all["mean_error"] = sum(mean * count for mean, count in measured) / frames if frames else None
    return together(record, chains, **of_all, **run)


def with_notes(chains: Sequence[Chain], notes: Sequence[Sentence]) -> list[Chain]:
    """The reports of chains, with `notes` added to the first."""
    if not notes:
        return list(chains)
    first, *others = chains
    return [replace(first, notes=[*first.notes, *notes]), *others]


def refusals_in_words(refused: Sequence[Refused], passes: int) -> list[Sentence]:
    """Each reason once, with the actions it holds for; without them if it holds for all of several."""
    actions: dict[Sentence, list[str]] = {}
    for action in refused:
        actions.setdefault(action.reason, []).append(f'"{action.action}"')
    return [
        replace(reason, level=WARN)
        if len(names) == passes > 1
        else note("{actions}: {reason}", actions=", ".join(names), reason=reason)
        for reason, names in actions.items()
    ]
