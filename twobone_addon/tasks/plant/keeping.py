"""Targets and poles that follow planted legs, kept for work by hand: baking the legs again gives the same motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from ...pipeline.plan.completing import stored_settings
from ...pipeline.run import run
from ...scene.blender_types import Object, Scene
from ...scene.lookup import object_named
from ...settings import BakeSettings
from ...settings.planting import PlantSettings
from ...settings.tasks import GiveSettings
from ..give.baking import planned_guides
from ..give.guides import missing_guides
from ..give.task import GIVE
from .plan.planning import LegPlan, PlantingPlan

KeyTargets: TypeAlias = Callable[[], Sequence[Mapping[str, Any]]]
"""Keys the targets of all legs, once these are planted, and tells what the report of each has about them; nothing if unwanted."""


@contextmanager
def kept_targets(scene: Scene, plan: PlantingPlan, settings: PlantSettings) -> Iterator[KeyTargets]:
    """What keys targets and poles, which are made where a leg has none; raises a `TwoBoneError` where they could not be keyed.

    If the block fails, those that were made are gone again.
    """
    if not settings.keep_targets:
        yield lambda: [{}] * len(plan.legs)
        return
    armature = object_named(plan.armature)
    wanted = [_settings(armature, leg, plan, settings) for leg in plan.legs]
    with missing_guides(scene, wanted, armature) as filled:
        planned_guides(scene, filled, armature)
        # All at once: it is a moment's work, and half of it is of no use to anybody.
        yield lambda: [_told(entry.to_dict()) for entry in run(scene, GIVE, GiveSettings(chains=tuple(filled)), armature).entries]
        for leg in plan.legs:
            _follow_pole(armature, leg)


def _told(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: report[name] for name in ("target", "pole", "max_round_trip", "notes")}


def _kept(leg: LegPlan) -> dict[str, Any]:
    """Settings with which a bake of the leg restores its motion from target and pole."""
    end = "TARGET" if leg.has_foot else "NONE"
    as_planted = {"plane": "POLE", "reference": "POSE", "end_rotation": end, "interpolation": "BEZIER"}
    return {**as_planted, "target_root_bone": "", "target_scale": 1.0}


def _settings(armature: Object, leg: LegPlan, plan: PlantingPlan, settings: PlantSettings) -> BakeSettings:
    frames = {"frame_range": "CUSTOM", "frame_start": float(plan.frames[0]), "frame_end": float(plan.frames[-1]), "step": 1.0}
    own = {"keys": "FRAMES", "destination": "ACTION", "verify": settings.verify, "evaluation": settings.evaluation}
    return stored_settings(armature, armature.twobone.chains[leg.chain], {**_kept(leg), **frames, **own})


def _follow_pole(armature: Object, leg: LegPlan) -> None:
    chain = armature.twobone.chains[leg.chain]
    for name, value in _kept(leg).items():
        setattr(chain, name, value)
