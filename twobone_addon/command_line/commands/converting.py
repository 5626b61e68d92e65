"""`convert` and `target`: IK into keys, and keys into the motion of targets."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import bpy

from ...baking.completeness import missing_in_rig, missing_of_chains
from ...baking.fk_to_target.baking import with_rotation
from ...baking.giving import give_motion
from ...baking.ik_to_fk.converting import convert
from ...baking.ik_to_fk.plans import Conversion
from ...baking.ik_to_fk.switches import SWITCHES
from ...baking.plan.completing import active_object
from ...baking.plan.frame_choice import with_custom_range
from ...baking.report.records import BakeReport
from ...settings import BakeSettings
from ..files.shot_files import window_in_context
from ..jobs.job import Job
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from ..wanted import asked_actions, settings_of, wanted_chains
from .baking import OpenedShot, asked_goal, completeness, opened, save, tell


def convert_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Key the bones of one armature as their IK constraints pose them, and switch the constraints off."""
    shot = opened(arguments, voice)
    job = shot.job or Job(Path())
    with window_in_context(shot.scene):
        keys = BakeSettings(**with_custom_range(bpy.context.scene, {**job.shared, **arguments.groups[0].values}))
        switch_off = arguments.switch_off or job.switch_off or SWITCHES[0]
        wanted = Conversion(
            keys, arguments.bone or job.bone, switch_off, arguments.rigify or job.rigify, actions=asked_actions(arguments, job)
        )
        report = convert(bpy.context.scene, wanted, active_object(bpy.context))
        missing = missing_in_rig(report.chains[0].armature) if report.chains else []
        return _finished(arguments, shot, report, [keys], voice, missing=missing)


def target_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Key the chains' targets, and poles, so that a bake would give the motion that the chains have now."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        settings = [chain.settings for chain in settings_of(wanted_chains(arguments, shot.job))]
        if arguments.rotate or (shot.job and shot.job.rotate):
            settings = [with_rotation(each) for each in settings]
        actions = asked_actions(arguments, shot.job)
        report = give_motion(bpy.context.scene, settings, active_object(bpy.context), actions)
        missing = missing_of_chains(settings, [asdict(chain) for chain in report.chains])
        return _finished(arguments, shot, report, settings, voice, missing=missing)


def _finished(
    arguments: argparse.Namespace,
    shot: OpenedShot,
    report: BakeReport,
    settings: list[BakeSettings],
    voice: Voice,
    *,
    missing: list[str],
) -> Outcome:
    tell(report, voice)
    code = completeness(missing, arguments, shot.job, voice)
    saved = save(asked_goal(arguments), voice) if code is ExitCode.DONE else None
    document = json.loads(report.to_json()) | {"incomplete": missing}
    return Outcome(code, document, settings, shot.source, saved)
