"""A bake without its writing: everything is found, sampled and solved, nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import magnitude
from ..scene.blender_types import Object, Scene
from ..scene.walk.stepping import at_once
from ..settings import BakeSettings
from .actions.choosing import ACTIVE
from .bake import action_passes, left_out
from .keys.keying import KeyedChain, keyed_chain
from .report.records import ChainReport, Refused
from .report.reporting import chain_report
from .stages import Stopwatch, solve


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


def rehearse(
    scene: Scene,
    wanted: Sequence[BakeSettings],
    active: Object | None = None,
    *,
    last_wins: bool = False,
    actions: str = ACTIVE,
) -> Rehearsal:
    """What `bake` with the same arguments would do; raises what it would raise."""
    if actions != ACTIVE:
        return _rehearse_actions(scene, wanted, active, actions, last_wins=last_wins)
    walk = at_once(solve(scene, wanted, active, Stopwatch(), may_overlap=last_wins))
    return Rehearsal([_rehearsal(keyed_chain(chain)) for chain in walk.solved], walk.evaluation)


def _rehearse_actions(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, actions: str, *, last_wins: bool
) -> Rehearsal:
    """The same for several actions of each armature, which are as before afterwards."""
    chains: list[ChainRehearsal] = []
    with ExitStack() as stack:
        passes = action_passes(scene, wanted, active, actions, watch=Stopwatch(), stack=stack, last_wins=last_wins)
        ready = at_once(passes.prepared())
        for each in ready:
            own = (_rehearsal(chain) for chain in each.prepared.chains)
            chains += [replace(one, report=replace(one.report, action=each.one.own.name)) for one in own]
    return Rehearsal(chains, ready[0].prepared.evaluation, [*passes.refused, *left_out(ready)])


def _rehearsal(keyed: KeyedChain) -> ChainRehearsal:
    plan = keyed.solved.plan
    links = np.diff(plan.rest.rest_joints(), axis=0)
    return ChainRehearsal(
        settings=plan.settings,
        tip_at_tail=plan.names.tip_at_tail,
        rest_lengths=tuple(float(length) for length in magnitude(links)),
        curves=tuple(CurveRehearsal(key.path, key.index, len(key.frames)) for key in keyed.keys),
        report=chain_report(keyed.solved, keyed.keys, None, drift=keyed.drift),
    )
