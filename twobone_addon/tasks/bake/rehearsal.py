"""What a bake would write: the outcome of a dry run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.arrays import magnitude
from ...pipeline.keys.keying import KeyedChain
from ...pipeline.report.records import ChainReport, Refused
from ...settings import BakeSettings


@dataclass(frozen=True, slots=True)
class CurveRehearsal:
    """One curve that a bake would write."""

    path: str
    index: int
    keys: int


@dataclass(frozen=True, slots=True)
class ChainRehearsal:
    """What a bake would do with one chain."""

    settings: BakeSettings
    tip_at_tail: bool
    """Whether the tip is the tip bone's tail; else its head."""
    rest_lengths: tuple[float, ...]
    """Of the links, from joint to joint, in the armature's own units."""
    curves: tuple[CurveRehearsal, ...]
    report: ChainReport
    """As the bake would give it, but nothing is measured."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a bake would do."""

    chains: list[ChainRehearsal]
    evaluation: str | dict[str, str]
    """How motion was sampled, as in `BakeReport`."""
    refused: list[Refused] = field(default_factory=list)
    """Of several actions, what cannot be baked."""


def rehearsal(keyed: KeyedChain, report: ChainReport) -> ChainRehearsal:
    """What would be written of a chain."""
    plan = keyed.solved.plan
    links = np.diff(plan.rest.rest_joints(), axis=0)
    return ChainRehearsal(
        settings=plan.settings,
        tip_at_tail=plan.names.tip_at_tail,
        rest_lengths=tuple(float(length) for length in magnitude(links)),
        curves=tuple(CurveRehearsal(key.path, key.index, len(key.frames)) for key in keyed.keys),
        report=report,
    )
