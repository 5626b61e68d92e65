"""`blender SHOT.blend --command twobone ...`: registered with Blender, one entry for all sub-commands."""

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
"""What a batch starts its Blenders with; no command for people."""

OF_SHOTS = set(COMMANDS) - {"batch", "schema"}
"""Those that open a shot."""

OUTPUTS = ("report", "save", "linked")
"""Flags that name files to write."""

_registered: list[object] = []
"""Blender's handle on the command, while it is registered."""


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
                _hand_over(arguments.report, outcome, voice)
    return outcome.code


def _claimed_outputs(arguments: argparse.Namespace, stack: ExitStack) -> dict[str, str]:
    """The files to write, by their flags; refused where they would destroy something, and the shot's is ours until the end."""
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


def _hand_over(report: str, outcome: Outcome, voice: Voice) -> None:
    """Write the report; where that fails, what was saved before is said."""
    try:
        hand_over(report, with_provenance(outcome, voice.warnings))
    except FileError as error:
        if outcome.saved is None:
            raise
        raise type(error)('{reason} The shot was saved as "{path}".', reason=error.sentence, path=outcome.saved) from error


def register() -> None:
    """Make the command known to Blender, where it has a command line: the bpy module has none, and 4.2's fails at exit."""
    if bpy.app.binary_path:
        _registered.append(bpy.utils.register_cli_command(NAME, main))


def unregister() -> None:
    """Take it back."""
    while _registered:
        bpy.utils.unregister_cli_command(_registered.pop())
