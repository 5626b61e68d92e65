"""The bake: plan, sample, solve, choose keys, write, prove, report. Nothing is changed before everything is known."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ..errors import TwoBoneError
from ..scene.blender_types import Object, Scene
from ..scene.lookup import find_armature, objects_known
from ..scene.walk.evaluate import Trust
from ..scene.walk.stepping import Steps, at_once
from ..settings import BakeSettings
from .actions.choosing import ACTIVE, chosen_of_all, refuse_strips
from .actions.passes import Pass, Passes, Ready, Span, with_range
from .keys.keying import KeyedChain, keyed_chain
from .keys.writing import put_chains, write_chains
from .plan.planning import plan_bake
from .report.freshness import fingerprints_of
from .report.proof import Measured
from .report.records import BakeReport, Refused, ReportEntry
from .report.reporting import chain_report
from .report.twist import largest_twists
from .report.units import units_of
from .stages import SkipCheckError, Stopwatch, prove, solve


def bake(
    scene: Scene,
    wanted: Sequence[BakeSettings],
    active: Object | None = None,
    *,
    last_wins: bool = False,
    actions: str = ACTIVE,
) -> BakeReport:
    """Bake one or more chains in one walk over time; raises a `TwoBoneError` before anything is changed.

    `active` is the armature meant by settings that name none. Chains that key the same bones at the same frames are
    refused, unless the `last_wins`. `actions`: see `actions.choosing`.
    """
    return at_once(bake_steps(scene, wanted, active, last_wins=last_wins, actions=actions))


def bake_steps(
    scene: Scene,
    wanted: Sequence[BakeSettings],
    active: Object | None = None,
    *,
    last_wins: bool = False,
    actions: str = ACTIVE,
) -> Steps[BakeReport]:
    """The same bit by bit. Closed before anything is written, nothing has changed; see also `SkipCheckError`."""
    if actions != ACTIVE:
        return (yield from _bake_actions(scene, wanted, active, actions, last_wins=last_wins))
    watch = Stopwatch()
    work = _Work(scene, wanted, active, watch, last_wins)
    prepared = yield from work.prepare(None)
    with watch.stage("write"), objects_known():
        write_chains(scene, prepared.chains)
    try:
        chains = yield from work.prove(prepared)
    except SkipCheckError:
        chains = work.reports(prepared)
    return BakeReport(chains, watch.seconds, prepared.evaluation)


def _bake_actions(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, actions: str, *, last_wins: bool
) -> Steps[BakeReport]:
    """The same for several actions of each armature."""
    watch = Stopwatch()
    with ExitStack() as stack:
        passes = action_passes(scene, wanted, active, actions, watch=watch, stack=stack, last_wins=last_wins)
        ready = yield from passes.prepared()
        passes.write(ready)
        chains = yield from passes.proved(ready)
    return passes.report(chains, left_out(ready), watch.seconds, ready[0].prepared.evaluation)


def action_passes(
    scene: Scene,
    wanted: Sequence[BakeSettings],
    active: Object | None,
    actions: str,
    *,
    watch: Stopwatch,
    stack: ExitStack,
    last_wins: bool,
) -> Passes[KeyedBake]:
    """A pass for each of the actions that are meant; until the stack is left the armatures play them."""
    by_armature: dict[Object, list[BakeSettings]] = {}
    for settings in wanted:
        refuse_strips(actions, settings.destination)
        by_armature.setdefault(find_armature(settings.armature, active), []).append(settings)
    works = {armature: _Work(scene, own, active, watch, last_wins) for armature, own in by_armature.items()}
    chosen = chosen_of_all(list(by_armature), actions)
    return Passes(scene, [Pass(armature, own, works[armature]) for armature, own in chosen], stack)


def left_out(ready: Sequence[Ready[KeyedBake]]) -> list[Refused]:
    """The chains that cannot be baked in actions in which others can."""
    return [Refused(each.one.armature.name, each.one.own.name, reason) for each in ready for reason in each.prepared.left]


@dataclass(frozen=True, slots=True)
class KeyedBake:
    """What is to be written."""

    chains: list[KeyedChain]
    left: list[str]
    """Sentences about chains that cannot be baked."""
    evaluation: str | dict[str, str]
    trust: Trust


@dataclass(frozen=True, slots=True)
class _Work:
    """A bake of chains as their armatures move now."""

    scene: Scene
    wanted: Sequence[BakeSettings]
    active: Object | None
    watch: Stopwatch
    last_wins: bool

    def prepare(self, span: Span | None) -> Steps[KeyedBake]:
        """Find, sample and solve the chains, and choose their keys."""
        wanted, left = (self.wanted, []) if span is None else self._bakeable(span)
        walk = yield from solve(self.scene, wanted, self.active, self.watch, may_overlap=self.last_wins)
        with self.watch.stage("keys"):
            return KeyedBake([keyed_chain(chain) for chain in walk.solved], left, walk.evaluation, walk.trust)

    def _bakeable(self, span: Span) -> tuple[list[BakeSettings], list[str]]:
        """The chains that can be baked over a range, and what is wrong with the others; raises that where it is all of them."""
        wanted, errors = [], []
        for settings in (with_range(each, span) for each in self.wanted):
            try:
                plan_bake(self.scene, settings, self.active)
                wanted.append(settings)
            except TwoBoneError as error:
                errors.append(error)
        if not wanted:
            raise errors[0]
        return wanted, [str(error) for error in errors]

    def write(self, prepared: KeyedBake) -> set[str]:
        """Write the keys where somebody else looks after what is not keyed."""
        with self.watch.stage("write"), objects_known():
            put_chains(prepared.chains)
        return {key.path for chain in prepared.chains for key in chain.keys}

    def prove(self, prepared: KeyedBake) -> Steps[list[ReportEntry]]:
        """Let Blender evaluate the chains as they are now."""
        with self.watch.stage("verify"):
            measured = yield from prove(self.scene, [chain.solved for chain in prepared.chains], prepared.trust)
        return self.reports(prepared, measured)

    def reports(self, prepared: KeyedBake, measured: Sequence[Measured | None] = ()) -> list[ReportEntry]:
        """One for each chain."""
        with self.watch.stage("report"), objects_known():
            solved = [chain.solved for chain in prepared.chains]
            fingerprints = fingerprints_of(self.scene, [chain.plan for chain in solved])
            found_of = measured or [None] * len(solved)
            known = zip(prepared.chains, found_of, largest_twists(solved, measured), fingerprints, strict=True)
            units = units_of(self.scene)
            return [
                replace(
                    chain_report(chain.solved, chain.keys, found, drift=chain.drift, units=units, twist=twist),
                    fingerprint=fingerprint,
                )
                for chain, found, twist, fingerprint in known
            ]
