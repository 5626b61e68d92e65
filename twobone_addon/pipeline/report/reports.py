"""Reports of tasks: one record per chain with statements of known kinds, JSON for machines, one line for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from ...said import INFO, WARN, Sentence, Translate, Value, as_json, in_english, joined

FORMAT = 1
"""Version of report, job and summary: increases when a key changes its meaning or is removed, not when one is added."""

FINE, LOOK, FAILED = "fine", "look", "failed"
"""Verdicts: done as asked; done, but something needs a person's attention; nothing was done."""

COUNTS = ("frames", "keys", "channels", "reached", "too_far", "too_near", "degenerate")
"""Measures that are summed over several chains."""

WORST = ("max_error", "max_off_plane", "max_distance_to_target", "target_off_plane", "between_frames", "max_twist")
"""Measures of which the largest one stands for several chains."""

ON_TARGET = Sentence("all on target")

MOST_SAID = 2
"""Largest number of off-target chains that a line describes one by one, and of failed actions that it names."""


def headed(kind: str, own: dict[str, Any]) -> dict[str, Any]:
    """The contents of a report, headed by its kind and the version of the format."""
    return {"kind": kind, "version": FORMAT, **own}


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

    armature: str
    action: str
    reason: Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeReport:
    """A report on a whole run instead of chain by chain: its own fields, a summary, and notes."""

    KIND: ClassVar[str]

    notes: list[Sentence] = field(default_factory=list)
    """Sentences a person should read."""

    @property
    def summary(self) -> Sentence:
        """One line for people."""
        raise NotImplementedError

    def sentence(self, translate: Translate = in_english) -> str:
        """The summary and the notes, for the status bar."""
        return joined([self.summary, *self.notes]).text(translate)

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return not self.notes

    @property
    def is_changed(self) -> bool:
        """Whether anything was done."""
        return True

    def to_json(self) -> str:
        """The report as one JSON object."""
        return json.dumps(headed(self.KIND, {**asdict(self, dict_factory=as_json), "sentence": self.summary.text()}))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """The report of one chain. Distances are in world units, frames are scene frames."""

    armature: str
    upper: str
    lower: str
    tip: str
    target: str
    frames: int
    """Number of baked frames."""
    frame_start: float
    frame_end: float
    keys: int
    """Keys in the range, over all channels."""
    full_rate_keys: int
    """Keys that one on every frame would take; more than `keys` after Reduce."""
    channels: int
    """F-Curves that hold them."""
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
    statements: list[Sentence] = field(default_factory=list)
    """The sentence in pieces: `kind` of each, its `values` and the `ranges` of frames."""

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the status bar and the panel."""
        if self.statements:
            keys = translate("{keys} keys on {curves} curves").format(keys=self.keys, curves=self.channels)
            return f"{joined(self.statements, '; ').text(translate)}; {keys}"
        keys = translate("{upper} to {lower}: {keys} keys on {curves} curves")
        return keys.format(upper=self.upper, lower=self.lower, keys=self.keys, curves=self.channels)

    @property
    def is_on_target(self) -> bool:
        """Whether nothing needs a person's attention."""
        return all(statement.level == INFO for statement in self.statements)

    def to_dict(self) -> dict[str, object]:
        """The report as a dictionary for JSON; `sentence` is the text of `statements` in English."""
        return {**asdict(self, dict_factory=as_json), "sentence": self.sentence()}


@dataclass(frozen=True, slots=True)
class FurtherReport:
    """A chain's report with the additional fields of one task."""

    KIND: ClassVar[str] = "bake"
    """Kind of the report that it is part of."""

    IS_OF_TARGET: ClassVar[bool] = False
    """Whether the keys are on the chain's target instead of on the chain."""

    chain: ChainReport

    @property
    def at_worst(self) -> tuple[float, Sentence]:
        """A distance, and the sentence on several chains, all on target, if this chain's distance is the largest."""
        return 0.0, ON_TARGET

    def to_dict(self) -> dict[str, object]:
        """All fields in one dictionary for JSON."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "chain"}
        return {**asdict(self.chain, dict_factory=as_json), **own, "sentence": self.sentence()}

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        return self.chain.sentence(translate)


ReportEntry: TypeAlias = ChainReport | FurtherReport


@dataclass(frozen=True, slots=True)
class BakeReport:
    """The report of a bake of one or more chains."""

    entries: Sequence[ReportEntry]
    """One for each chain."""
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    evaluation: str | dict[str, str]
    """How motion was sampled: `PROBES` in a temporary scene, or `SCENE`, the user's own."""
    refused: Sequence[Refused] = ()
    """What failed, if there were several actions."""
    skipped: Sequence[str] = ()
    """Names of chosen stored chains that have never had a target."""
    remarks: Sequence[Sentence] = ()
    """Remarks without which the line would mislead; notes say the same at more length."""

    @property
    def is_as_asked(self) -> bool:
        """Whether nothing needs a person's attention."""
        return not (self.remarks or self.refused) and all(chain.is_on_target for chain in self.chains)

    @property
    def kind(self) -> str:
        """Name of the task."""
        first = self.entries[0] if self.entries else None
        return first.KIND if isinstance(first, FurtherReport) else "bake"

    @property
    def chains(self) -> list[ChainReport]:
        """The plain report of every chain, without the fields of single tasks."""
        return [entry.chain if isinstance(entry, FurtherReport) else entry for entry in self.entries]

    def to_json(self) -> str:
        """The report as one JSON object.

        `chains` holds one object per chain, each complete in itself. Beside it stand the same keys for the whole
        bake: the values of a single chain, or the sums of counts and the largest of distances over several.
        """
        shared = {"seconds": self.seconds, "evaluation": self.evaluation}
        chains = [{**entry.to_dict(), **shared} for entry in self.entries]
        whole = chains[0] if len(chains) == 1 else {**self._totals(), **shared}
        refused, skipped = [asdict(each, dict_factory=as_json) for each in self.refused], list(self.skipped)
        whole = {**whole, "chains": chains, "refused": refused, "skipped": skipped, "sentence": self.sentence()}
        return json.dumps(headed(self.kind, whole))

    def _totals(self) -> dict[str, object]:
        totals: dict[str, object] = {name: sum(getattr(chain, name) for chain in self.chains) for name in COUNTS}
        for name in WORST:
            known = [getattr(chain, name) for chain in self.chains if getattr(chain, name) is not None]
            totals[name] = max(known, default=None)
        weighed = [(chain.mean_error, chain.reached) for chain in self.chains if chain.mean_error is not None]
        frames = sum(count for _, count in weighed)
        totals["mean_error"] = sum(mean * count for mean, count in weighed) / frames if frames else None
        notes = dict.fromkeys(said.text() for chain in self.chains for said in chain.notes)
        return {**totals, "notes": list(notes), "sentence": self.sentence()}

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        remarks = [remark.text(translate) for remark in self.remarks]
        return "; ".join([self._baked(translate), *remarks, *self._refused(translate), *self._left_out(translate)])

    def _baked(self, translate: Translate) -> str:
        if len(self.chains) == 1:
            return self.entries[0].sentence(translate)
        keys = sum(chain.keys for chain in self.chains)
        actions = {(chain.armature, chain.action) for chain in self.chains}
        in_several = len(actions) > len({armature for armature, _ in actions})
        count = _limb_count(self.chains) if in_several else len(self.chains)
        done = translate("{chains} chains baked, {keys} keys")
        if in_several and count == 1:
            done = translate("1 chain in {actions} actions baked, {keys} keys")
        elif in_several:
            done = translate("{chains} chains in {actions} actions baked, {keys} keys")
        elif all(isinstance(entry, FurtherReport) and entry.IS_OF_TARGET for entry in self.entries):
            done = translate("{keys} keys on the targets of {chains} chains")
        parts = [done.format(chains=count, actions=len(actions), keys=keys)]
        missed = [chain for chain in self.chains if not chain.is_on_target]
        if missed:
            count = _limb_count(missed) if in_several else len(missed)
            parts.append(translate("{chains} off target at some frames").format(chains=count))
            said = [(f"{chain.action}: " if in_several else "", chain.sentence(translate)) for chain in missed[:MOST_SAID]]
            parts += [name + sentence for name, sentence in said]
        elif any(chain.statements for chain in self.chains):
            ranked = [entry.at_worst for entry in self.entries if isinstance(entry, FurtherReport)] or [(0.0, ON_TARGET)]
            _, sentence = max(ranked, key=lambda each: each[0])
            parts.append(sentence.text(translate))
        return "; ".join(parts)

    def _refused(self, translate: Translate) -> list[str]:
        """A part of the line on the actions in which something failed."""
        names = list(dict.fromkeys(each.action for each in self.refused))
        more = [translate("{count} more").format(count=len(names) - MOST_SAID)] if len(names) > MOST_SAID else []
        said = ", ".join([*names[:MOST_SAID], *more])
        return [translate("some limbs failed in {actions}").format(actions=said)] if names else []

    def _left_out(self, translate: Translate) -> list[str]:
        if not self.skipped:
            return []
        if len(self.skipped) == 1:
            return [translate("{chain} has no target and was skipped").format(chain=self.skipped[0])]
        return [translate("{chains} have no target and were skipped").format(chains=", ".join(self.skipped))]


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
    "AS_ON_IK": "{upper} to {lower} move as on IK (within {distance})",
    "MOVED": "{part} moved by up to {distance} at frame {frame}: something else moves the bones",
    "OFF": "{count} off although in reach, up to {distance} at frame {frame}",
    "OVERRIDDEN": "{count} off although in reach, up to {distance} at frame {frame}: use Switch to FK",
    "BETWEEN": "{distance} off between keys, at frame {frame}",
    "HALFWAY": "skipped frames {frames}: blended between FK and IK",
    "IK_WAS_OFF": "the IK of {bone} was off",
    "IK_OFF_OUTSIDE": "IK is also off before frame {first} and after frame {last}",
    "ACTION_LONGER": "action {action} has keys from {first} to {last} now",
    "LIMBS_LEFT": "limbs not converted: {count}",
    "OWN_KEYS": "shows the existing FK keys",
    "TWIST_LOST": "{bone} loses its twist, up to {angle} degrees at frame {frame}: IK turns no bone about itself",
    "SEEN_TO_MOVE": "joints visibly move by up to {distance}",
}
"""Templates of statements, by kind."""

AT_ONE_FRAME = {
    "ALL_ON_TARGET": "{part} on target (< {distance})",
    "ALL_WITHIN": "{part} within {distance} of the target",
    "NONE_ON_TARGET": "{part} not on target",
}
"""Templates used instead if only one frame was baked."""

GOOD = {"ALL_ON_TARGET", "ALL_WITHIN", "SOME_ON_TARGET", "NONE_ON_TARGET", "IN_REACH", "AS_ON_IK", "OWN_KEYS"}
"""Kinds that only count frames; all others give reasons and need a person's attention."""


def statement(kind: str, values: Mapping[str, Value], frames: Iterable[Sequence[float]] = ()) -> Sentence:
    """A statement of one of the kinds in `STATEMENTS`; `frames` are the `[first, last]` ranges that it is about."""
    texts = {**STATEMENTS, **AT_ONE_FRAME} if values.get("frames") == 1 else STATEMENTS
    spans = tuple((first, last) for first, last in frames)
    return Sentence(texts[kind], values, spans, INFO if kind in GOOD else WARN, kind)


def statement_of(data: Mapping) -> Sentence:
    """Restore a statement from its JSON."""
    return statement(data["kind"], data["values"], data["ranges"])
