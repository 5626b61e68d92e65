"""`plant` and `fit-root`: feet that stand still, and the root that lets legs reach."""

from __future__ import annotations

import argparse
import json
from typing import Any

import bpy

from ..baking.completeness import missing_in_rig
from ..baking.plan.frame_choice import with_custom_range
from ..baking.planting.fitting import fit_root
from ..baking.planting.planting import plant
from ..settings.planting import PlantSettings, RootFitSettings
from .baking_command import asked_goal, judged, opened, save
from .outcomes import ExitCode, Outcome
from .output import Voice
from .shot_files import window_in_context
from .wanted import active_object


def plant_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Let the feet of one character stand still while they are on the ground."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        report = plant(bpy.context.scene, PlantSettings(**_given(arguments)), active_object())
        return _finished(arguments, report, shot.source, voice)


def fit_root_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Move the root of one armature so that its chains reach their targets."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        report = fit_root(bpy.context.scene, RootFitSettings(**_given(arguments)), active_object())
        return _finished(arguments, report, shot.source, voice)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    return dict(with_custom_range(bpy.context.scene, arguments.groups[0].values))


def _finished(arguments: argparse.Namespace, report: Any, source: dict[str, str] | None, voice: Voice) -> Outcome:
    voice.say(report.sentence())
    for note in report.notes:
        voice.say(f"  {note}")
    stages = ", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in report.seconds.items())
    voice.detail(f"  {stages}; evaluation {report.evaluation}")
    document = json.loads(report.to_json())
    document["incomplete"] = missing_in_rig(report.chains[0].armature)
    code = judged(document, arguments, None, voice)
    saved = save(asked_goal(arguments), voice) if code is ExitCode.DONE else None
    return Outcome(code, document, [], source, saved)
