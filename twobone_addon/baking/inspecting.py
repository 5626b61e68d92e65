"""What the animation that is there does, measured against the chains it ought to follow. Nothing is changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..scene.blender_types import Object, Scene
from ..scene.keys.tables import NEAR_FRAME, read_keys
from ..scene.lookup import object_named
from ..scene.versions import curve_bag
from ..scene.walk.stepping import at_once
from ..settings import BakeSettings
from .pose.solving import SolvedChain
from .report.records import BakeReport, ChainReport
from .report.reporting import chain_report
from .report.units import units_of
from .stages import Stopwatch, prove, solve


def inspect(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> BakeReport:
    """The report of a bake, about the animation as it is: its own keys and curves, its measured distances.

    Which frames are in reach is what a bake would find. Raises a `TwoBoneError` where a bake would.
    """
    watch = Stopwatch()
    walk = at_once(
        solve(scene, [dataclasses.replace(settings, verify=True) for settings in wanted], active, watch, may_overlap=True)
    )
    with watch.stage("verify"):
        measured = at_once(prove(scene, walk.solved, walk.trust))
    units = units_of(scene)
    chains = [
        _with_present_keys(chain, chain_report(chain, (), found, units=units))
        for chain, found in zip(walk.solved, measured, strict=True)
    ]
    return BakeReport(chains, watch.seconds, walk.evaluation)


def _with_present_keys(chain: SolvedChain, report: ChainReport) -> ChainReport:
    """Count the keys that are in the range now, on the channels that a bake writes.

    Nobody knows whether they were made to follow the target, so nothing else is blamed where they do not.
    """
    bag = curve_bag(object_named(chain.plan.names.armature))
    paths = chain.plan.keyed_paths()
    counts = [_keys_between(fcurve, report) for fcurve in (bag.fcurves if bag else ()) if fcurve.data_path in paths]
    statements = [dataclasses.replace(each, kind="OFF") if each.kind == "OTHERWISE" else each for each in report.statements]
    channels = sum(count > 0 for count in counts)
    return dataclasses.replace(report, keys=sum(counts), channels=channels, statements=statements)


def _keys_between(fcurve: object, report: ChainReport) -> int:
    frames = read_keys(fcurve)["co"][:, 0]
    inside = (frames >= report.frame_start - NEAR_FRAME) & (frames <= report.frame_end + NEAR_FRAME)
    return int(np.count_nonzero(inside))
