"""`plant` and `fit-root`: feet that stand still, and the root that lets legs reach."""

from __future__ import annotations

import argparse
import json

import bpy

from ...baking.completeness import missing_in_rig
from ...baking.plan.completing import active_object
from ...baking.planting.fitting import fit_root
from ...baking.planting.planting import plant
from ...baking.planting.report.records import PlantReport, RootFitReport, missed_by
from ...baking.report.statements import in_english
from ...settings.planting import PlantSettings, RootFitSettings
from ..files.shot_files import window_in_context
from ..outcomes import ExitCode, Outcome
from ..output import Voice, complain
from .baking import OpenedShot, asked_goal, completeness, opened, save
from .contacts import given_settings


def plant_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Let the feet of one character stand still while they are on the ground."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        report = plant(bpy.context.scene, PlantSettings(**given_settings(arguments, shot.job)), active_object(bpy.context))
        return _finished(arguments, shot, report, voice)


def fit_root_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Move the root of one armature so that its chains reach their targets."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        report = fit_root(bpy.context.scene, RootFitSettings(**given_settings(arguments, shot.job)), active_object(bpy.context))
        return _finished(arguments, shot, report, voice)


def _finished(arguments: argparse.Namespace, shot: OpenedShot, report: PlantReport | RootFitReport, voice: Voice) -> Outcome:
    voice.say(report.sentence())
    for note in report.notes:
        voice.say(f"  {note}")
    stages = ", ".join(f"{stage} {seconds:.3f} s" for stage, seconds in report.seconds.items())
    voice.detail(f"  {stages}; evaluation {report.evaluation}")
    document = json.loads(report.to_json())
    missing = missing_in_rig(report.chains[0].armature)
    code = completeness(missing, arguments, shot.job, voice)
    missed = [chain for chain in report.chains if not chain.is_on_target]
    if code is ExitCode.DONE and (arguments.strict or (shot.job and shot.job.strict)) and missed:
        for chain in missed:
            complain(missed_by(chain, in_english))
        code = ExitCode.STRICT
    saved = save(asked_goal(arguments), voice) if code is ExitCode.DONE else None
    return Outcome(code, document | {"incomplete": missing}, [], shot.source, saved)
