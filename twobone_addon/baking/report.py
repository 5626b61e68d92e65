"""What a bake tells afterwards: one record per chain, JSON for machines, one line for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeAlias

Translate: TypeAlias = Callable[[str], str]
"""From an English text, with `{names}` where something is inserted, to the same in the language that is spoken."""


def in_english(text: str) -> str:
    """Leaves a text as it is."""
    return text


@dataclass(frozen=True, slots=True)
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
    max_error: float | None
    """Largest measured distance of the tip from the target's projection on the plane, frames in reach only.
    `None` without verification, or where no frame is in reach."""
    mean_error: float | None
    max_goal_error: float | None
    """Largest measured distance of the tip from where it is meant to be, after clamping, softening and limits."""
    max_off_plane: float | None
    """Largest measured distance of a joint from the plane through the root joint."""
    max_drift: float
    """Farthest that reduced keys let the tip drift from the full-rate motion, between frames too; 0 without reduction."""
    plane_held: int
    """Frames at which the plane was undecided and taken from another frame."""
    notes: list[str] = field(default_factory=list)
    """Sentences a person should read: what limits or alters the result."""

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for the status bar and the panel."""
        keys = translate("{upper} to {lower}: {keys} keys on {curves} curves")
        parts = [keys.format(upper=self.upper, lower=self.lower, keys=self.keys, curves=self.channels)]
        if self.max_error is not None:
            parts.append(translate("at most {distance} off").format(distance=f"{self.max_error:.2g}"))
        missed = self.too_far + self.too_near
        if missed:
            first, last = self.out_of_reach[0]
            where = f"{first:g}" if first == last else f"{first:g} \u2013 {last:g}"
            if len(self.out_of_reach) > 1:
                where = translate("{first} and {count} more").format(first=where, count=len(self.out_of_reach) - 1)
            outside = translate("{missed} of {frames} frames out of reach ({where})")
            parts.append(outside.format(missed=missed, frames=self.frames, where=where))
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class BakeReport:
    """What became of a bake of one or more chains."""

    chains: Sequence[ChainReport]
    seconds: dict[str, float]
    """Per stage: read, sample, solve, write, verify."""
    evaluation: str | dict[str, str]
    """How motion was sampled: `PROBES` in a temporary scene, or `SCENE`, the user's own."""

    def to_json(self) -> str:
        """The report as one JSON object.

        `chains` holds one object per chain, each complete in itself. Beside it stand the same names for the whole
        bake: of a single chain its own values, of several the sums of counts and the worst of distances.
        """
        shared = {"seconds": self.seconds, "evaluation": self.evaluation}
        chains = [{**asdict(chain), **shared} for chain in self.chains]
        whole = chains[0] if len(chains) == 1 else {**self._totals(), **shared}
        return json.dumps({**whole, "chains": chains})

    def _totals(self) -> dict[str, object]:
        counts = ("frames", "keys", "channels", "reached", "too_far", "too_near", "degenerate")
        totals: dict[str, object] = {name: sum(getattr(chain, name) for chain in self.chains) for name in counts}
        for name in ("max_error", "max_off_plane"):
            known = [getattr(chain, name) for chain in self.chains if getattr(chain, name) is not None]
            totals[name] = max(known, default=None)
        weighed = [(chain.mean_error, chain.reached) for chain in self.chains if chain.mean_error is not None]
        frames = sum(count for _, count in weighed)
        totals["mean_error"] = sum(mean * count for mean, count in weighed) / frames if frames else None
        return totals

    def sentence(self, translate: Translate = in_english) -> str:
        """One line for people."""
        if len(self.chains) == 1:
            return self.chains[0].sentence(translate)
        keys = sum(chain.keys for chain in self.chains)
        parts = [translate("{chains} chains baked, {keys} keys").format(chains=len(self.chains), keys=keys)]
        missed = sum(bool(chain.out_of_reach) for chain in self.chains)
        if missed:
            parts.append(translate("{chains} out of reach in places").format(chains=missed))
        return ", ".join(parts)
