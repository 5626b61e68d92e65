"""`clear`: take bakes back."""

from __future__ import annotations

import argparse
from typing import Any

import bpy

from ..baking.clearing import clear_baked
from .baking_command import asked_goal, opened, save
from .outcomes import ExitCode
from .output import Voice
from .shot_files import window_in_context
from .wanted import active_object, settings_of, wanted_chains


def clear_command(arguments: argparse.Namespace, voice: Voice) -> tuple[ExitCode, dict[str, Any]]:
    """Remove the baked keys of the chains in their ranges; keys that people made stay."""
    job = opened(arguments, voice)
    with window_in_context():
        chains = settings_of(wanted_chains(arguments, job))
        goal = asked_goal(arguments)
        removed = clear_baked(bpy.context.scene, [chain.settings for chain in chains], active_object())
        voice.say(f"{removed} baked keys removed from {len(chains)} chain{'s' if len(chains) > 1 else ''}")
        save(goal, voice)
    return ExitCode.DONE, {"chains": len(chains), "keys_removed": removed}
