"""What the animation that is there does, measured against the chains it ought to follow. Nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...pipeline.beginning import Beginning, Reach
from ...pipeline.pose.solving import SolvedChain
from ...pipeline.report.reporting import chain_report
from ...pipeline.report.reports import ChainReport
from ...pipeline.report.statements import statement
from ...pipeline.report.units import units_of
from ...pipeline.task import Span
from ...scene.blender_types import Object, Scene
from ...scene.keys.tables import NEAR_FRAME, read_keys
from ...scene.lookup import object_named
from ...scene.versions import curve_bag
from ...settings.tasks import BakeAllSettings
from .task import Bake, Baked, BakeDone, BakePlan


class Inspect(Bake):
    """The report of a bake, about the animation as it is: its own keys and curves, its measured distances.

    Which frames are in reach is what a bake would find. Raises a `TwoBoneError` where a bake would. Writes nothing.
    """

    NAME = "report"

    def plan(self, scene: Scene, settings: BakeAllSettings, active: Object | None, span: Span | None) -> BakePlan:
        """All chains, which may overlap, for none of them is written."""
        chains = tuple(replace(chain, verify=True) for chain in settings.chains)
        return super().plan(scene, replace(settings, chains=chains, last_wins=True), active, span)

    def reaches(self, plan: BakePlan) -> list[Reach]:
        """Nothing: what is there is looked at as it is."""
        return []

    def paths(self, plan: BakePlan, solution: Baked) -> set[tuple[Object, str]]:
        """Nothing is keyed."""
        return set()

    def write(self, scene: Scene, plan: BakePlan, solution: Baked, begun: Beginning) -> Baked:
        """Nothing is written."""
        return solution

    def judge(self, scene: Scene, done: BakeDone) -> list[ChainReport]:
        """One report for each chain, with the keys that are there."""
        chains, units = [chain.solved for chain in done.solution.chains], units_of(scene)
        measured: Sequence = done.proof or [None] * len(chains)
        return [
            _with_present_keys(chain, chain_report(chain, (), found, units=units))
            for chain, found in zip(chains, measured, strict=True)
        ]


INSPECT = Inspect()


def _with_present_keys(chain: SolvedChain, report: ChainReport) -> ChainReport:
    """Count the keys that are in the range now, on the channels that a bake writes.

    Nobody knows whether they were made to follow the target, so nothing else is blamed where they do not.
    """
    bag = curve_bag(object_named(chain.plan.names.armature))
    paths = chain.plan.keyed_paths()
    counts = [_keys_between(fcurve, report) for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path in paths]
    statements = [statement("OFF", each.values, each.frames) if each.kind == "OTHERWISE" else each for each in report.statements]
    channels = sum(count > 0 for count in counts)
    return replace(report, keys=sum(counts), channels=channels, statements=statements)


def _keys_between(fcurve: object, report: ChainReport) -> int:
    frames = read_keys(fcurve)["co"][:, 0]
    inside = (frames >= report.frame_start - NEAR_FRAME) & (frames <= report.frame_end + NEAR_FRAME)
    return int(np.count_nonzero(inside))
