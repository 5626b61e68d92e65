"""Which frames are on target, and why the others are not, as statements. No frame is counted for two reasons."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import frame_rows
from ...core.curves.frames import ranges
from ...core.solver import Reach
from ...said import Sentence
from ...settings import BakeSettings
from ..pose.solving import SolvedChain
from .between import WIDEST
from .proof import Measured
from .statements import statement
from .units import Units

BETWEEN_KEYS = 1e-3
"""Part of a limb's length by which a tip may be off between keys before it is worth saying: a millimetre on a leg."""

BETWEEN_FRAMES = 1e-2
"""The same where every frame has a key: only motion blur and slow motion show what is between frames."""

LETTER_PLANES = {"XY", "XZ", "YZ", "OBJECT"}
"""Planes that need not contain the target."""


def verdict(chain: SolvedChain, measured: Measured | None, units: Units, part: str) -> list[Sentence]:
    """What to say of a chain; `part` is what people call its tip."""
    reach = chain.pose.on_targets.reach[chain.plan.report_rows]
    if measured is None:
        return _unmeasured(chain.plan.report_frames, reach, part)
    return _Verdict(chain, measured, units, reach).statements(part)


def _unmeasured(frames: Array, reach: Codes, part: str) -> list[Sentence]:
    outside = (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)
    said = [statement("IN_REACH", {"part": part, "count": int(np.count_nonzero(~outside)), "frames": len(frames)})]
    if outside.any():
        count = {"count": int(np.count_nonzero(outside))}
        said.append(statement("OUT_OF_REACH_UNMEASURED", count, ranges(frames, outside)))
    return said


@dataclass(frozen=True, slots=True)
class _Verdict:
    chain: SolvedChain
    measured: Measured
    units: Units
    reach: Codes

    @property
    def settings(self) -> BakeSettings:
        return self.chain.plan.settings

    @property
    def frames(self) -> Array:
        return self.chain.plan.report_frames

    def statements(self, part: str) -> list[Sentence]:
        """First what people do not see, then what is on target, then what is not."""
        on = self.measured.distances <= self._allowed()
        unseen = self._unseen()
        # Where the visible limb goes its own way, only the bones that are keyed can be on target.
        said = [*unseen, self._on_target(on, self.chain.plan.names.lower if unseen else part)]
        left = ~on
        for kind, mask in self._reasons():
            said += self._off(kind, mask & left)
            left = left & ~mask
        return said + self._between()

    def _unseen(self) -> list[Sentence]:
        sight = self.measured.sight
        if sight is None or sight.follows or sight.max_distance is None:
            return []
        values = {"bone": sight.bone, "distance": self.units.text(sight.max_distance), "frame": f"{sight.frame:g}"}
        return [statement("NOT_SHOWN", values, [[sight.frame, sight.frame]])]

    def _allowed(self) -> float:
        """Distance at which a tip is on target: what cannot be seen, and what somebody has allowed the keys to drift."""
        seen = self.units.seen(self.measured.limb_length)
        return seen + (self.settings.tolerance if self.settings.keys == "REDUCE" else 0.0)

    def _on_target(self, on: Mask, part: str) -> Sentence:
        count, frames = int(np.count_nonzero(on)), len(on)
        named = {"part": part, "frames": frames}
        if 0 < count < frames:
            return statement("SOME_ON_TARGET", {**named, "count": count})
        if count == 0:
            return statement("NONE_ON_TARGET", named)
        farthest, seen = float(self.measured.distances.max()), self.units.seen(self.measured.limb_length)
        kind = "ALL_WITHIN" if farthest > seen else "ALL_ON_TARGET"
        return statement(kind, {**named, "distance": self.units.text(max(farthest, seen))})

    def _reasons(self) -> list[tuple[str, Mask]]:
        """Reasons for not being on target with the frames they hold for, the first that fits counts."""
        measured, allowed = self.measured, self._allowed()
        influence = np.broadcast_to(frame_rows(self.chain.motion.influence, self.chain.plan.report_rows), self.reach.shape)
        overridden = measured.sight is not None and measured.sight.is_own and not measured.sight.follows
        beside = "BESIDE_LETTER_PLANE" if self.settings.plane in LETTER_PLANES else "BESIDE_PLANE"
        in_plane = np.sqrt(np.maximum(measured.distances**2 - measured.beside**2, 0.0))
        return [
            ("NOWHERE", ~np.isfinite(measured.distances)),
            ("INFLUENCE", influence < 1.0),
            # A link that is scaled to nothing leaves a circle to reach: what is off it is as far out of reach.
            ("OUT_OF_REACH", self.reach != Reach.REACHED),
            (beside, (measured.beside > 0.5 * allowed) & (in_plane <= measured.beside + allowed)),
            ("HELD_BACK", measured.aside > 0.5 * allowed),
            ("OVERRIDDEN" if overridden else "OTHERWISE", np.ones(self.reach.shape, dtype=bool)),
        ]

    def _off(self, kind: str, mask: Mask) -> list[Sentence]:
        if not mask.any():
            return []
        values: dict[str, str | int] = {"count": int(np.count_nonzero(mask))}
        if kind != "NOWHERE":
            worst = int(np.argmax(np.where(mask, self.measured.distances, -1.0)))
            values |= {"distance": self.units.text(float(self.measured.distances[worst])), "frame": f"{self.frames[worst]:g}"}
        return [statement(kind, values, ranges(self.frames, mask))]

    def _between(self) -> list[Sentence]:
        between = self.measured.between
        if between is None:
            return []
        apart = np.diff(self.frames).max() > WIDEST or self.settings.keys == "REDUCE"
        least = (BETWEEN_KEYS if apart else BETWEEN_FRAMES) * self.measured.limb_length
        least = max(least, self._allowed())
        if between.rise <= least:
            return []
        values: dict[str, str | int] = {"distance": self.units.text(between.rise), "frame": f"{between.frame:g}"}
        return [statement("BETWEEN", values, between.stretches(least))]
