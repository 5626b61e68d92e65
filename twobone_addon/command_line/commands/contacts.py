"""`contacts`: when feet are on the ground."""

from __future__ import annotations

import argparse
import json
from typing import Any

import bpy

from ...baking.completeness import missing_in_rig
from ...baking.contacts.finding import find_contacts
from ...baking.plan.completing import active_object
from ...baking.plan.frame_choice import with_custom_range
from ...settings.contacts import ContactSettings
from ..files.shot_files import window_in_context
from ..jobs.job import Job
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from .baking import asked_goal, completeness, opened, save


def contacts_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Find the contacts of one character's feet, and key them."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        report = find_contacts(
            bpy.context.scene, ContactSettings(**given_settings(arguments, shot.job)), active_object(bpy.context)
        )
        voice.say(f"{report.armature}: {report.sentence()}")
        for chain in report.chains:
            voice.detail(f"  {chain.chain}: {', '.join(f'{each.first:g}-{each.last:g} {each.point}' for each in chain.contacts)}")
        missing = missing_in_rig(report.armature)
        code = completeness(missing, arguments, shot.job, voice)
        saved = save(asked_goal(arguments), voice) if code is ExitCode.DONE else None
        document = json.loads(report.to_json()) | {"incomplete": missing}
        return Outcome(code, document, [], shot.source, saved)


def given_settings(arguments: argparse.Namespace, job: Job | None) -> dict[str, Any]:
    """Settings of a command that has its own, by name: those of the job, and the flags, which win."""
    shared = job.shared if job else {}
    given = dict(with_custom_range(bpy.context.scene, {**shared, **arguments.groups[0].values}))
    velocity = getattr(arguments, "ground_velocity", None)
    return given if velocity is None else given | {"ground_velocity": tuple(velocity)}
