"""Entry point of `blender SHOT.blend --command twobone ...`, and its registration with Blender."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

import bpy

from ..errors import SettingError, TwoBoneError
from .arguments import parse
from .batch.batch_command import batch_command
from .batch.worker import serve
from .commands.tasks import COMMANDS as TASKS
from .commands.tasks import task_command
from .files.claims import claimed
from .files.outputs import STANDARD_OUTPUT, refuse_wrong_outputs
from .files.shot_files import save_goal, source_of
from .outcomes import AgainError, ExitCode, FileError, Outcome, StoppedError, UsageError
from .output import Voice, clean_standard_output, complain, hand_over, open_closed_streams
from .provenance import with_provenance
from .schemas import schema_command
from .stopping import stopped_by_signals

NAME = "twobone"
COMMANDS = {
    **dict.fromkeys(TASKS, task_command),
    "batch": batch_command,
    "schema": schema_command,
}

WORKER = "worker"
"""Internal command with which a batch starts its worker Blenders; not for users."""

OF_SHOTS = set(COMMANDS) - {"batch", "schema"}
"""Commands that open a shot."""

OUTPUTS = ("report", "save", "linked")
"""Attributes of the parsed arguments that name files to write."""

_registered: list[object] = []
"""The handle that Blender returned for the registered command; empty while it is not registered."""


def main(argv: list[str]) -> int:
    """Run one sub-command and return its exit code; only `--help` raises `SystemExit`."""
    open_closed_streams()
    if argv == [WORKER]:
        return serve(main)
    try:
        return int(_run(parse(argv)))
    except (UsageError, SettingError) as error:
        complain(str(error))
        return int(ExitCode.USAGE)
    except StoppedError as error:
        complain(str(error))
        return int(ExitCode.STOPPED)
    except AgainError as error:
        complain(str(error))
        return int(ExitCode.AGAIN)
    except TwoBoneError as error:
        complain(str(error))
        return int(ExitCode.COULD_NOT)


def _run(arguments: argparse.Namespace) -> ExitCode:
    voice = Voice(quiet=arguments.quiet, verbose=arguments.verbose)
    if arguments.command not in OF_SHOTS:
        return COMMANDS[arguments.command](arguments, voice).code
    with ExitStack() as stack:
        stack.enter_context(stopped_by_signals(voice.stop))
        outputs = _claimed_outputs(arguments, stack)
        with voice.stop.interrupting():
            with clean_standard_output(wanted=STANDARD_OUTPUT in outputs.values()):
                outcome = COMMANDS[arguments.command](arguments, voice)
            if arguments.report is not None:
                _write_report(arguments.report, outcome, voice)
    return outcome.code


def _claimed_outputs(arguments: argparse.Namespace, stack: ExitStack) -> dict[str, str]:
    """Return the files to write, by flag, after refusing those that would destroy something.

    The output shot is claimed until `stack` closes. Raises `UsageError` or `FileError`.
    """
    source = source_of(arguments.file)
    named = {f"--{name}": getattr(arguments, name, None) for name in OUTPUTS}
    outputs = {flag: name for flag, name in named.items() if isinstance(name, str)}
    read: dict[str, Path | None] = {"--file": source, "--job": getattr(arguments, "job", None)}
    refuse_wrong_outputs(outputs, {flag: path for flag, path in read.items() if path is not None})
    if getattr(arguments, "save", None) is not None:
        goal = save_goal(arguments.save, source)
        refuse_wrong_outputs({"--save": str(goal)}, {})
        if arguments.no_clobber and goal.exists():
            raise FileError('"{goal}" already exists, and --no-clobber replaces nothing. Save elsewhere.', goal=goal)
        if not stack.enter_context(claimed(goal)):
            complain(f'The folder "{goal.parent}" knows no locks, so a second run that writes "{goal.name}" is not noticed.')
    return outputs


def _write_report(report: str, outcome: Outcome, voice: Voice) -> None:
    """Write the report; if that fails, the raised `FileError` also names the shot that was already saved."""
    try:
        hand_over(report, with_provenance(outcome, voice.warnings))
    except FileError as error:
        if outcome.saved is None:
            raise
        raise type(error)('{reason} The shot was saved as "{path}".', reason=error.sentence, path=outcome.saved) from error


def register() -> None:
    """Register the command with Blender, but not in the bpy module: it has no command line, and that of 4.2 fails at exit."""
    if bpy.app.binary_path:
        _registered.append(bpy.utils.register_cli_command(NAME, main))


def unregister() -> None:
    """Unregister the command."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
