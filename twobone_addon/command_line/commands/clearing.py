"""`clear`: take bakes back."""

from __future__ import annotations

import argparse
from dataclasses import asdict

import bpy

from ...baking.actions.clearing import clear_actions
from ...baking.plan.completing import active_object
from ..files.shot_files import window_in_context
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from ..wanted import asked_actions, settings_of, wanted_chains
from .baking import asked_goal, opened, save


def clear_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """Remove the baked keys of the chains in their ranges; hand-made keys are kept."""
    shot = opened(arguments, voice)
    with window_in_context(shot.scene):
        settings = [chain.settings for chain in settings_of(wanted_chains(arguments, shot.job))]
        goal = asked_goal(arguments)
        cleared = clear_actions(bpy.context.scene, settings, active_object(bpy.context), asked_actions(arguments, shot.job))
        voice.say(f"{cleared.removed} baked keys removed from {len(settings)} chain{'s' if len(settings) > 1 else ''}")
        for sentence in cleared.said_undone():
            voice.say(sentence)
        for note in cleared.notes():
            voice.warn(note)
        saved = save(goal, voice)
    document = {
        "chains": len(settings),
        "keys_removed": cleared.removed,
        "planting_undone": list(cleared.undone),
        "refused": [asdict(each) for each in cleared.refused],
    }
    return Outcome(ExitCode.DONE, document, settings, shot.source, saved)
