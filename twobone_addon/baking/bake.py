"""The bake: plan, sample, solve, choose keys, write, prove, report. Nothing is changed before everything is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..scene.blender_types import Object, Scene
from ..scene.walk.stepping import Steps, at_once
from ..settings import BakeSettings
from .keys.keying import keyed_chain
from .keys.writing import write_chains
from .report.freshness import fingerprints_of
from .report.records import BakeReport
from .report.reporting import chain_report
from .report.twist import largest_twists
from .report.units import units_of
from .stages import SkipCheckError, Stopwatch, prove, solve


def bake(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None, *, last_wins: bool = False) -> BakeReport:
    """Bake one or more chains in one walk over time; raises a `TwoBoneError` before anything is changed.

    `active` is the armature meant by settings that name none. Chains that key the same bones at the same frames are
    refused, unless the `last_wins`.
    """
    return at_once(bake_steps(scene, wanted, active, last_wins=last_wins))


def bake_steps(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None, *, last_wins: bool = False
) -> Steps[BakeReport]:
    """The same bit by bit. Closed before anything is written, nothing has changed; see also `SkipCheckError`."""
    watch = Stopwatch()
    walk = yield from solve(scene, wanted, active, watch, may_overlap=last_wins)
    with watch.stage("keys"):
        keyed = [keyed_chain(chain) for chain in walk.solved]
    with watch.stage("write"):
        write_chains(scene, keyed)
    with watch.stage("verify"):
        try:
            measured = yield from prove(scene, walk.solved)
        except SkipCheckError:
            measured = [None] * len(walk.solved)
    with watch.stage("report"):
        plans = [chain.plan for chain in walk.solved]
        known = zip(keyed, measured, largest_twists(walk.solved), fingerprints_of(scene, plans), strict=True)
        units = units_of(scene)
        chains = [
            replace(
                chain_report(chain.solved, chain.keys, found, drift=chain.drift, units=units, twist=twist),
                fingerprint=fingerprint,
            )
            for chain, found, twist, fingerprint in known
        ]
    return BakeReport(chains, watch.seconds, walk.evaluation)
