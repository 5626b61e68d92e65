"""`switch`: limbs from IK to FK, or from FK to IK, with their motion."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path

import bpy

from ...baking.completeness import missing_in_rig
from ...baking.ik_to_fk.switches import MOTIONS, SIDES
from ...baking.plan.completing import active_object
from ...baking.switching.limb_switch import switch_limb
from ...baking.switching.records import SwitchReport
from ..files.shot_files import window_in_context
from ..jobs.job import Job
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from ..wanted import settings_of, wanted_chains
from .baking import asked_goal, completeness, opened, save


def switch_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Switch the chains' limbs to FK or IK over the range; outside of it nothing changes."""
    shot = opened(arguments, voice)
    job = shot.job or Job(Path())
    to, motion = arguments.to or job.to or SIDES[0], arguments.motion or job.motion or MOTIONS[0]
    with window_in_context(shot.scene):
        settings = [chain.settings for chain in settings_of(wanted_chains(arguments, shot.job))]
        reports = [
            switch_limb(bpy.context.scene, each, active_object(bpy.context), to=to, motion=motion, just_baked=False)
            for each in settings
        ]
        for report in reports:
            voice.say(_line(report))
            for note in report.notes:
                voice.say(f"  {note}")
        missing = [sentence for name in dict.fromkeys(each.armature for each in reports) for sentence in missing_in_rig(name)]
        code = completeness(missing, arguments, shot.job, voice)
        saved = save(asked_goal(arguments), voice) if code is ExitCode.DONE else None
    document = {"chains": [asdict(report) for report in reports], "incomplete": missing}
    return Outcome(code, document, settings, shot.source, saved)


def _line(report: SwitchReport) -> str:
    name = f"{report.armature}: {report.upper} to {report.lower}"
    if not report.properties and not report.baked:
        return f"{name} is on {report.to} already"
    keyed = f", keyed from {' and from '.join(f'{first:g} to {last:g}' for first, last in report.ranges)}" if report.keys else ""
    moved = f"; joints are seen to move by at most {report.max_moved:.3g}" if report.max_moved is not None else ""
    kept = "" if report.baked else "; it shows the keys that the FK bones have"
    return f"{name} switched to {report.to}{keyed}{moved}{kept}"
