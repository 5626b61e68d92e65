"""Keyed targets and poles that follow planted legs, kept for editing: baking the legs onto them gives the planted motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...pipeline.plan.stored import stored_settings
from ...pipeline.proof import on_copies
from ...pipeline.story import Story
from ...scene.blender_types import Object, Scene
from ...scene.keys.writing import Change
from ...scene.lookup import object_named
from ...scene.writer import assign
from ...settings import BakeSettings
from ...settings.planting import PlantSettings
from ..give.baking import Guided, planned_guides, solved_guides
from .plan.planning import LegPlan, PlantingPlan


def kept_targets(
    scene: Scene, armature: Object, followed: Sequence[BakeSettings], changes: Sequence[Change]
) -> Story[list[Guided]]:
    """Solve the keys of the targets and poles of planted legs, on a copy of the action with the `changes` of planting."""
    with on_copies(scene, [armature]) as trial:
        trial.put(changes)
        guided, _ = yield from solved_guides(*planned_guides(scene, followed, armature))
    return guided


def rebake_settings(plan: PlantingPlan, settings: PlantSettings) -> list[BakeSettings]:
    """Settings with which the planted motion of each leg is baked onto its target and pole."""
    armature = object_named(plan.armature)
    frames = {"frame_range": "CUSTOM", "frame_start": float(plan.frames[0]), "frame_end": float(plan.frames[-1]), "step": 1.0}
    output = {"keys": "FRAMES", "destination": "ACTION", "verify": settings.verify, "evaluation": settings.evaluation}
    given = [{**_as_planted(leg), **frames, **output} for leg in plan.legs]
    chains = [armature.twobone.chains[leg.chain] for leg in plan.legs]
    return [stored_settings(armature, *each) for each in zip(chains, given, strict=True)]


def _as_planted(leg: LegPlan) -> dict[str, Any]:
    """Settings with which baking the leg restores its motion from target and pole."""
    end = "TARGET" if leg.has_foot else "NONE"
    as_planted = {"plane": "POLE", "reference": "POSE", "end_rotation": end, "interpolation": "BEZIER"}
    return {**as_planted, "target_root_bone": "", "target_scale": 1.0}


def follow_pole(armature: Object, leg: LegPlan) -> None:
    """Let the leg's stored chain bake as planted."""
    chain = armature.twobone.chains[leg.chain]
    for name, value in _as_planted(leg).items():
        assign(chain, name, value)
