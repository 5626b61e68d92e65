"""The bake: plan, sample, solve, choose keys, write, prove, report. Nothing is changed before everything is known."""

from __future__ import annotations

from collections.abc import Sequence

from ..scene.blender_types import Object, Scene
from ..scene.clearing import remove_stretch
from ..scene.destinations import open_destination
from ..scene.lookup import object_named
from ..scene.restoring import edits_kept
from ..scene.stepping import Steps, at_once
from ..scene.writing import write_keys
from ..settings import BakeSettings
from .keying import KeyedChain, keyed_chain
from .report import BakeReport
from .reporting import chain_report
from .stages import Stopwatch, prove, solve


class CheckSkippedError(Exception):
    """Thrown into `bake_steps` by somebody who does not want to wait for the proof; before it, it stops the bake."""


def bake(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> BakeReport:
    """Bake one or more chains in one walk over time; raises a `TwoBoneError` before anything is changed.

    `active` is the armature meant by settings that name none.
    """
    return at_once(bake_steps(scene, wanted, active))


def bake_steps(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> Steps[BakeReport]:
    """The same bit by bit. Closed before anything is written, nothing has changed; see also `CheckSkippedError`."""
    watch = Stopwatch()
    walk = yield from solve(scene, wanted, active, watch)
    with watch.stage("keys"):
        keyed = [keyed_chain(chain) for chain in walk.solved]
    with watch.stage("write"):
        write_chains(scene, keyed)
    with watch.stage("verify"):
        try:
            measured = yield from prove(scene, walk.solved)
        except CheckSkippedError:
            measured = [None] * len(walk.solved)
    chains = [
        chain_report(chain.solved, chain.keys, found, drift=chain.drift) for chain, found in zip(keyed, measured, strict=True)
    ]
    return BakeReport(chains, watch.seconds, walk.evaluation)


def write_chains(scene: Scene, keyed: Sequence[KeyedChain]) -> None:
    """Put the keys of all chains where their settings say; edits that are not keyed stay."""
    names = dict.fromkeys(chain.solved.plan.names.armature for chain in keyed)
    armatures = {name: object_named(name) for name in names}
    written = {(armatures[chain.solved.plan.names.armature], key.path) for chain in keyed for key in chain.keys}
    with edits_kept(scene, list(armatures.values()), written):
        for chain in keyed:
            plan, settings = chain.solved.plan, chain.solved.plan.settings
            start, end = float(plan.frames[0]), float(plan.frames[-1])
            name, armature = settings.stored or plan.names.upper, armatures[plan.names.armature]
            with open_destination(armature, settings.destination, name, start, end) as bag:
                remove_stretch(armature, bag, plan.scale_paths(), start, end)
                write_keys(bag, chain.keys, start, end)
