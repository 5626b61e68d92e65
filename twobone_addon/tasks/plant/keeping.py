"""Keyed targets and poles that follow planted legs, kept for editing: baking the legs onto them gives the planted motion."""

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
"""Keys the targets of all planted legs and returns the report fields about them, one mapping per leg; empty ones if unwanted."""


@contextmanager
def kept_targets(scene: Scene, plan: PlantingPlan, settings: PlantSettings) -> Iterator[KeyTargets]:
    """Create missing targets and poles, and yield the function that keys them; raises a `TwoBoneError` if they cannot be keyed.

    If the block fails, the created objects are removed again.
    """
    if not settings.keep_targets:
        yield lambda: [{}] * len(plan.legs)
        return
    armature = object_named(plan.armature)
    wanted = [_bake_settings(armature, leg, plan, settings) for leg in plan.legs]
    with missing_guides(scene, wanted, armature) as filled:
        planned_guides(scene, filled, armature)
        # Without interruption: it takes a moment, and half of the targets would be useless.
        yield lambda: [
            _target_fields(entry.to_dict()) for entry in run(scene, GIVE, GiveSettings(chains=tuple(filled)), armature).entries
        ]
        for leg in plan.legs:
            _follow_pole(armature, leg)


def _target_fields(report: Mapping[str, Any]) -> dict[str, Any]:
    return {name: report[name] for name in ("target", "pole", "max_round_trip", "notes")}


def _rebake_settings(leg: LegPlan) -> dict[str, Any]:
    """Settings with which baking the leg restores its motion from target and pole."""
    end = "TARGET" if leg.has_foot else "NONE"
    as_planted = {"plane": "POLE", "reference": "POSE", "end_rotation": end, "interpolation": "BEZIER"}
    return {**as_planted, "target_root_bone": "", "target_scale": 1.0}


def _bake_settings(armature: Object, leg: LegPlan, plan: PlantingPlan, settings: PlantSettings) -> BakeSettings:
    frames = {"frame_range": "CUSTOM", "frame_start": float(plan.frames[0]), "frame_end": float(plan.frames[-1]), "step": 1.0}
    output = {"keys": "FRAMES", "destination": "ACTION", "verify": settings.verify, "evaluation": settings.evaluation}
    return stored_settings(armature, armature.twobone.chains[leg.chain], {**_rebake_settings(leg), **frames, **output})


def _follow_pole(armature: Object, leg: LegPlan) -> None:
    chain = armature.twobone.chains[leg.chain]
    for name, value in _rebake_settings(leg).items():
        setattr(chain, name, value)
