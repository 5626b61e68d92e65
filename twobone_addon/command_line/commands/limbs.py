"""`limbs`: a character's arms and legs as stored chains."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import bpy

from ...baking.limbs.finding import find_and_store
from ...baking.plan.completing import active_object
from ..files.shot_files import window_in_context
from ..jobs.job import Job
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from .baking import asked_goal, opened, save


def limbs_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Find the limbs of one armature, and store those that are not stored yet; there being none is said, and no failure."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        job = shot.job or Job(Path())
        armature = arguments.armature or job.shared.get("armature", "")
        report = find_and_store(bpy.context.scene, armature, active_object(bpy.context), targets=arguments.targets or job.targets)
        voice.say(report.sentence())
        saved = save(asked_goal(arguments), voice)
    return Outcome(ExitCode.DONE, json.loads(report.to_json()), (), shot.source, saved)
