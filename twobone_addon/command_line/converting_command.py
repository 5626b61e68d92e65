"""`convert` and `target`: IK into keys, and keys into the motion of targets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import bpy

from ..baking.conversion_plans import Conversion
from ..baking.converting import convert
from ..baking.report import BakeReport
from ..baking.target_baking import bake_targets
from ..settings import BakeSettings
from .baking_command import asked_goal, opened, save, tell
from .outcomes import ExitCode
from .output import Voice
from .shot_files import window_in_context
from .wanted import active_object, settings_of, wanted_chains


def convert_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    """Key the bones of one armature as their IK constraints pose them, and switch the constraints off."""
    keys = BakeSettings(**arguments.groups[0].values)
    wanted = Conversion(keys, arguments.bone, arguments.switch_off, arguments.rigify)
    opened(arguments, voice)
    with window_in_context():
        goal = asked_goal(arguments)
        return _finished(convert(bpy.context.scene, wanted, active_object()), goal, voice)


def target_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    """Key the chains' targets, and poles, so that a bake would give the motion that the chains have now."""
    job = opened(arguments, voice)
    with window_in_context():
        settings = [chain.settings for chain in settings_of(wanted_chains(arguments, job))]
        goal = asked_goal(arguments)
        return _finished(bake_targets(bpy.context.scene, settings, active_object()), goal, voice)


def _finished(report: BakeReport, goal: Path | None, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    tell(report, voice)
    save(goal, voice)
    return ExitCode.DONE, json.loads(report.to_json())
