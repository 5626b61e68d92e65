"""What a bake tells afterwards: one record per chain, JSON for machines, one line for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import ClassVar, TypeAlias

from .statements import Statement, Translate, in_english, joined

WORST = ("max_error", "max_off_plane", "max_distance_to_target", "target_off_plane", "between_frames", "max_twist")
"""Measures of which the largest one stands for several chains."""

MOST_SAID = 2
"""Chains of which a line tells more than that they are not on target, and actions that it names."""


@dataclass(frozen=True, slots=True)
class Visible:
    """What people see of a chain."""

    bone: str
    """The bone that deforms where the chain's lower bone is, or the lower bone itself."""
    follows: bool
    """Whether it follows what is keyed."""
    max_distance: float | None
    """Largest measured distance of its end from the target, where it does not follow."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a bake was about. Two that are equal are about the same."""

    settings: str
    """Of the chain's settings and the range they mean."""
    animation: str
    """Of all that moves the chain, its target, pole and plane object: keys, NLA strips, drivers, constraints, parents."""


@dataclass(frozen=True, slots=True)
class Refused:
    """An action that nothing was done for, or a chain in it, and why."""

    armature: str
    action: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """What became of one chain. Distances are in world units, frames are scene frames."""

    armature: str
    upper: str
    lower: str
    tip: str
    target: str
    frames: int
    frame_start: float
    frame_end: float
    keys: int
    """Keys in the range, over all channels."""
    full_rate_keys: int
    """As many as one key per frame and channel would be; more than `keys` after reduction."""
    channels: int
    """Curves that hold them."""
    reached: int
    too_far: int
    too_near: int
    degenerate: int
    """Frames, by what became of the target."""
    out_of_reach: list[list[float]]
    """`[first, last]` ranges of frames too far or too near."""
    max_error: float | None = None
    """Largest measured distance of the tip from the target's projection on the plane, frames in reach only.
    `None` without verification, or where no frame is in reach."""
    mean_error: float | None = None
    max_goal_error: float | None = None
    """Largest measured distance of the tip from where it is meant to be, after clamping, softening and limits."""
    max_off_plane: float | None = None
    """Largest measured distance of a joint from the plane through the root joint."""
    max_distance_to_target: float | None = None
    """Largest measured distance of the tip from the target itself, in space, at all frames, in reach or not. `None` without
    verification, or where the target is nowhere."""
    target_off_plane: float | None = None
    """Largest measured part of that distance across the plane: how far the target is beside the plane in which the tip moves."""
    between_frames: float | None = None
    """Largest measured distance of the tip from the target between the frames: at whole frames between keys, and at all
    quarters, of long takes where it is likely to be largest. `None` without verification, or where there is nothing between."""
    max_drift: float
    """Farthest that reduced keys let the tip drift from the full-rate motion, between frames too; 0 without reduction."""
    max_drift_middle: float
    """Farthest that they let a joint between root and tip, such as a knee, drift."""
    max_twist: float
    """Largest turn of a bone about its own axis, degrees, by which the bake changes the pose that it replaces; measured on the
    baked animation, so what reduced keys add is in it, and without verification computed."""
    plane_held: int
    """Frames at which the plane was undecided and taken from another frame."""
    notes: list[str] = field(default_factory=list)
    """Sentences a person should read: what limits or alters the result."""
    action: str = ""
    """The action that the armature plays with these keys; empty where it plays none."""
    visible: Visible | None = None
    """What people see where the lower bone is. `None` where nothing deforms, or without verification."""
    fingerprint: Fingerprint | None = None
    """What the bake was about: where that is not what is there now, the report is out of date. `None` where the armature has
    no stored chain that would keep the report."""
    statements: list[Statement] = field(default_factory=list)
    """Which frames are on target and why the others are not, to be told in any language."""

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the status bar and the panel."""
        if self.statements:
            keys = translate("{keys} keys on {curves} curves").format(keys=self.keys, curves=self.channels)
            return f"{joined(self.statements, translate)}; {keys}"
        keys = translate("{upper} to {lower}: {keys} keys on {curves} curves")
        return keys.format(upper=self.upper, lower=self.lower, keys=self.keys, curves=self.channels)

    @property
    def is_on_target(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return all(statement.is_good for statement in self.statements)

    def to_dict(self) -> dict[str, object]:
        """The report as JSON has it; `sentence` is what `statements` say in English."""
        return {**asdict(self), "sentence": self.sentence()}


@dataclass(frozen=True, slots=True)
class FurtherReport:
    """A chain's report, and what one use case tells besides: that is in the fields of its own kind of report."""

    IS_OF_TARGET: ClassVar[bool] = False
    """Whether what the chain follows has the keys, and not the chain."""

    chain: ChainReport

    def to_dict(self) -> dict[str, object]:
        """All in one object, as JSON has it."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "chain"}
        return {**asdict(self.chain), **own, "sentence": self.sentence()}

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        return self.chain.sentence(translate)


ReportEntry: TypeAlias = ChainReport | FurtherReport


@dataclass(frozen=True, slots=True)
class BakeReport:
    """What became of a bake of one or more chains."""

    entries: Sequence[ReportEntry]
    """One for each chain."""
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    evaluation: str | dict[str, str]
    """How motion was sampled: `PROBES` in a temporary scene, or `SCENE`, the user's own."""
    refused: Sequence[Refused] = ()
    """Of several actions, what could not be done."""
    skipped: Sequence[str] = ()
    """Names of stored chains that were meant and have never had a target."""
    remarks: Sequence[Statement] = ()
    """What a person would be misled without; notes say it at more length."""

    @property
    def is_as_asked(self) -> bool:
        """Whether there is nothing that a person should look at."""
        return not (self.remarks or self.refused) and all(chain.is_on_target for chain in self.chains)

    @property
    def chains(self) -> list[ChainReport]:
        """What is told of every chain, whatever was done with it."""
        return [entry.chain if isinstance(entry, FurtherReport) else entry for entry in self.entries]

    def to_json(self) -> str:
        """The report as one JSON object.

        `chains` holds one object per chain, each complete in itself. Beside it stand the same names for the whole
        bake: of a single chain its own values, of several the sums of counts and the worst of distances.
        """
        shared = {"seconds": self.seconds, "evaluation": self.evaluation}
        chains = [{**entry.to_dict(), **shared} for entry in self.entries]
        whole = chains[0] if len(chains) == 1 else {**self._totals(), **shared}
        skipped = {"skipped": list(self.skipped)} if self.skipped else {}
        refused = [asdict(each) for each in self.refused]
        return json.dumps({**whole, "chains": chains, "refused": refused, **skipped, "sentence": self.sentence()})

    def _totals(self) -> dict[str, object]:
        counts = ("frames", "keys", "channels", "reached", "too_far", "too_near", "degenerate")
        totals: dict[str, object] = {name: sum(getattr(chain, name) for chain in self.chains) for name in counts}
        for name in WORST:
            known = [getattr(chain, name) for chain in self.chains if getattr(chain, name) is not None]
            totals[name] = max(known, default=None)
        weighed = [(chain.mean_error, chain.reached) for chain in self.chains if chain.mean_error is not None]
        frames = sum(count for _, count in weighed)
        totals["mean_error"] = sum(mean * count for mean, count in weighed) / frames if frames else None
        notes = dict.fromkeys(note for chain in self.chains for note in chain.notes)
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
            parts.append(translate("{chains} not on target in places").format(chains=count))
            said = [(f"{chain.action}: " if in_several else "", chain.sentence(translate)) for chain in missed[:MOST_SAID]]
            parts += [name + sentence for name, sentence in said]
        elif any(chain.statements for chain in self.chains):
            parts.append(translate("all on target"))
        return "; ".join(parts)

    def _refused(self, translate: Translate) -> list[str]:
        """The actions in which something could not be done."""
        names = list(dict.fromkeys(each.action for each in self.refused))
        more = [translate("{count} more").format(count=len(names) - MOST_SAID)] if len(names) > MOST_SAID else []
        said = ", ".join([*names[:MOST_SAID], *more])
        return [translate("not all done in {actions}").format(actions=said)] if names else []

    def _left_out(self, translate: Translate) -> list[str]:
        if not self.skipped:
            return []
        if len(self.skipped) == 1:
            return [translate("{chain} has no target and was skipped").format(chain=self.skipped[0])]
        return [translate("{chains} have no target and were skipped").format(chains=", ".join(self.skipped))]


def _limb_count(chains: Sequence[ChainReport]) -> int:
    """How many different chains there are, however many actions each was baked in."""
    return len({(chain.armature, chain.upper, chain.lower, chain.tip) for chain in chains})
