"""`clear`: take bakes back."""

from __future__ import annotations

import argparse
from typing import Any

import bpy

from ..baking.clearing import clear_baked
from .baking_command import opened
from .outcomes import ExitCode
from .output import Voice
from .shot_files import save_goal, save_shot, window_in_context
from .wanted import active_object, settings_of, wanted_chains


def clear_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    """Remove the baked keys of the chains in their ranges; keys that people made stay."""
    job = opened(arguments, voice)
    with window_in_context():
        chains = settings_of(wanted_chains(arguments, job))
        goal = save_goal(arguments.save) if arguments.save is not None else None
        removed = clear_baked(bpy.context.scene, [chain.settings for chain in chains], active_object())
        voice.say(f"{removed} baked keys removed from {len(chains)} chain{'s' if len(chains) > 1 else ''}")
        if goal is not None:
            save_shot(goal)
            voice.say(f'Saved "{goal}"')
    return ExitCode.DONE, {"chains": len(chains), "keys_removed": removed}
