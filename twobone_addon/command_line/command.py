"""`blender SHOT.blend --command twobone ...`: registered with Blender, one entry for all sub-commands."""

from __future__ import annotations

import argparse

import bpy

from ..errors import SettingError, TwoBoneError
from .arguments import parse
from .baking_command import bake_command, report_command
from .batch_command import batch_command
from .clearing_command import clear_command
from .converting_command import convert_command, target_command
from .listing import chains_command
from .outcomes import ExitCode, UsageError
from .output import Voice, clean_standard_output, complain, hand_over

NAME = "twobone"
COMMANDS = {
    "bake": bake_command,
    "report": report_command,
    "chains": chains_command,
    "clear": clear_command,
    "convert": convert_command,
    "target": target_command,
    "batch": batch_command,
}

_registered: list[object] = []
"""Blender's handle on the command, while it is registered."""


def main(argv: list[str]) -> int:
    """Run one sub-command and return its exit code; only `--help` raises `SystemExit`."""
    try:
        return int(_run(parse(argv)))
    except (UsageError, SettingError) as error:
        complain(str(error))
        return int(ExitCode.USAGE)
    except TwoBoneError as error:
        complain(str(error))
        return int(ExitCode.COULD_NOT)


def _run(arguments: argparse.Namespace) -> ExitCode:
    voice = Voice(quiet=arguments.quiet, verbose=arguments.verbose)
    report = getattr(arguments, "report", None)
    with clean_standard_output(report):
        code, document = COMMANDS[arguments.command](arguments, voice)
    hand_over(report, document)
    return code


def register() -> None:
    """Make the command known to Blender, where it has a command line: the bpy module has none, and 4.2's fails at exit."""
    if bpy.app.binary_path:
        _registered.append(bpy.utils.register_cli_command(NAME, main))


def unregister() -> None:
    """Take it back."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
