"""Entry point of `blender SHOT.blend --command twobone ...`."""

from __future__ import annotations

import argparse
import functools
import math
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from ..errors import AgainError, FileError, SettingError, TwoBoneError
from ..files import NOTHING, content_of, locked
from ..pipeline.completeness import version_text
from ..settings.tasks import Table
from ..tasks.all_tasks import KEYS_LIMBS
from ..version import addon_version
from .batch.batch_command import batch_command
from .batch.shots import ANY
from .batch.workers import PATIENCE, serve
from .exit_codes import ExitCode
from .flags import ChainGroup, add_chain_flags, add_option_flags
from .job import ALIASES, OF_COMMAND, READS_ONLY
from .outcomes import StoppedError, UsageError
from .output import Voice, clean_standard_output, complain, hand_over, open_closed_streams
from .outputs import STANDARD_OUTPUT, file_name, file_path, refuse_wrong_outputs
from .provenance import with_provenance
from .schemas import NAMES, schema_command
from .shot_commands import COMMANDS as TASKS
from .shot_commands import task_command
from .shot_files import save_goal, source_of
from .stopping import stopped_by_signals

PROGRAM = "blender [SHOT.blend] --command twobone"

CODES = "exit codes: " + ", ".join(
    f"{int(code)} {text}"
    for code, text in {
        ExitCode.DONE: "done",
        ExitCode.COULD_NOT: "failed",
        ExitCode.USAGE: "invalid flags or job file",
        ExitCode.STRICT: "--strict not met",
        ExitCode.INCOMPLETE: "something that moves the chain is missing",
        ExitCode.STOPPED: "stopped by Ctrl-C or a signal",
        ExitCode.AGAIN: "another run has the file, or the disk is full: try again",
    }.items()
)

LONGEST_NUMBER = 30
"""Maximum number of characters of an invalid number that a message repeats."""

NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)

FILE_LIKE_FLAG = re.compile(r"-[^=]*\.(toml|json|blend)", re.IGNORECASE)
"""A file whose name begins like a flag: no flag of ours ends like that."""

LEAVING = 2.0 * PATIENCE
"""Seconds in which a worker whose batch was killed lets go of its shot, so that the batch can be started again at once."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises `UsageError` instead of printing and exiting."""

    def error(self, message: str) -> NoReturn:
        raise UsageError("{message}. See: {program} --help", message=f"{message[:1].upper()}{message[1:]}", program=self.prog)


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse the arguments into a namespace with `command`, `groups` and `once`.

    Raises `UsageError`, or `SystemExit` after `--help`.
    """
    joined = [ALIASES.get(word, word) for word in argv[:1]]
    argv = [*argv[:1], *(f"./{word}" if FILE_LIKE_FLAG.fullmatch(word) else word for word in argv[1:])]
    # `--flag -1e-3` becomes `--flag=-1e-3`: argparse mistakes a negative number with an exponent for a flag.
    for word in argv[1:]:
        if NEGATIVE_NUMBER.fullmatch(word) and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    arguments = command_parser().parse_args(joined)
    arguments.groups = getattr(arguments, "groups", None) or [ChainGroup("")]
    arguments.once = getattr(arguments, "once", None) or {}
    return arguments


def _number(kind: type[int | float], fits: Callable[[float], bool], what: str) -> Callable[[str], Any]:
    """Return the parser of a flag's number that raises `ArgumentTypeError` for one that does not fit, which is told by `what`."""

    def parsed(text: str) -> int | float:
        try:
            value = kind(text)
        except ValueError:
            whole = "whole " if kind is int else ""
            raise argparse.ArgumentTypeError(f"{text[:LONGEST_NUMBER]} is not a {whole}number") from None
        if not fits(value):
            raise argparse.ArgumentTypeError(f"{text} {what}")
        return value

    return parsed


distance = _number(float, lambda value: 0.0 <= value < math.inf, "must be 0 or greater")
duration = _number(float, lambda value: 0.0 < value < math.inf, "must be a number greater than 0")
count = _number(int, lambda value: value >= 1, "is too small, use 1 or more")

IN_PLACE = True
"""Value of `--save` without a file name: save over the opened file. An empty file name is refused."""

FLAGS: dict[str, dict[str, Any]] = {
    "--file": {"type": file_path, "metavar": "SHOT.blend", "help": "open this file; default: what Blender was started with"},
    "--scene": {"metavar": "NAME", "help": "work in this scene of the file; default: the one that is open"},
    "--report": {
        "type": file_name, "metavar": "FILE|-", "help": "write the result as JSON to a file, or to standard output",
    },
    "--job": {
        "type": file_path, "metavar": "FILE", "help": "take settings and chains from a TOML or JSON file; flags win over it",
    },
    "--stored": {"action": "store_true", "help": "use all enabled chains stored in the scene; flags win over them"},
    "--strict-settings": {
        "action": "store_true", "help": "refuse settings that make no difference, as jobs with chains do",
    },
    "--strict": {
        "action": "store_true",
        "help": f"exit with {int(ExitCode.STRICT)}, unsaved, when a frame is out of reach, or a clip is not fine",
    },
    "--max-error": {
        "type": distance, "metavar": "DISTANCE", "help": "also fail if the measured error exceeds this (implies --strict)",
    },
    "--allow-incomplete": {
        "action": "store_true",
        "help": "go on without a library, a linked object or a driver that moves the chain, instead of "
        f"{int(ExitCode.INCOMPLETE)}",
    },
    "--save": {
        "nargs": "?", "type": file_name, "const": IN_PLACE, "metavar": "FILE",
        "help": "save afterwards; without FILE over the shot",
    },
    "--no-clobber": {"action": "store_true", "help": "refuse to save over a file that is there already"},
    "--upgrade": {
        "action": "store_true", "help": "save over a file of another Blender version, which may be unable to read it then",
    },
    "--switch-first": {
        "action": "store_true", "help": "switch limbs that IK poses to FK before, with their motion, instead of refusing them",
    },
    "--dry-run": {"action": "store_true", "help": "say what would be done and written; change nothing"},
}  # fmt: skip
"""Keyword arguments of `add_argument` for the flags that several commands share."""


def _add(parser: argparse.ArgumentParser, *flags: str) -> None:
    for flag in flags:
        parser.add_argument(flag, **FLAGS[flag])


def _add_shot(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the shot, its scripts, its scene and the report."""
    _add(parser, "--file")
    _add_scripts(parser, "with --file: run the scripts in it")
    _add(parser, "--scene", "--report")


def _add_scripts(parser: argparse.ArgumentParser, text: str) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--scripts", action="store_const", const=True, help=f"{text}; default: off, or as Blender was told with -y or -Y"
    )
    choice.add_argument(
        "--no-scripts", dest="scripts", action="store_const", const=False, help="run none, however Blender was started"
    )


def _add_chains(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say which chains to process."""
    _add(parser, "--job", "--stored", "--strict-settings")
    add_chain_flags(parser)


@functools.cache
def command_parser() -> argparse.ArgumentParser:
    """Build the parser with all sub-commands and their flags, once: a batch's Blender parses the flags of every shot."""
    parser = _Parser(prog=PROGRAM, description="Bake two-bone IK without a window.", epilog=CODES, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"twobone {addon_version()}, Blender {version_text()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for command, table in OF_COMMAND.items():
        _add_task(_add_command(commands, command, table.help or f"{table.text[:1].lower()}{table.text[1:]}"), table)
    report = _add_command(commands, "report", "measure the existing animation; change nothing")
    _add_shot(report)
    _add(report, "--allow-incomplete", "--strict", "--max-error")
    _add_chains(report)
    _add_shot(_add_command(commands, "chains", "list the chains stored in the file"))
    _add_batch(_add_command(commands, "batch", "bake many shots, several at a time"))
    schema = _add_command(commands, "schema", "print the JSON Schema of a file that the command reads or writes")
    schema.add_argument("name", choices=NAMES, metavar="|".join(NAMES), help="which schema")
    return parser


def _add_command(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.", epilog=CODES, allow_abbrev=False)
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="print only errors")
    loudness.add_argument("--verbose", action="store_true", help="print more: every chain, the time of every stage")
    return parser


def _add_task(parser: argparse.ArgumentParser, table: Table) -> None:
    """Add the flags that all task commands share, and one for each setting in the task's table."""
    _add_shot(parser)
    if not table.is_of_any_shot:
        _add(parser, "--allow-incomplete")
    if table.command not in READS_ONLY:
        _add(parser, "--save", "--no-clobber", "--upgrade")
        for hidden in ("--expects", "--record"):  # For batches: what the output must still be, and where to note what it becomes.
            parser.add_argument(hidden, help=argparse.SUPPRESS)
    _add(parser, "--dry-run", *(["--switch-first"] if table.task in KEYS_LIMBS else []))
    if table.is_strict:
        _add(parser, "--strict", *(["--max-error"] if table.of_chains else []))
    if table.of_chains:
        _add_chains(parser)
    else:
        _add(parser, "--job", "--strict-settings")
    # With several chains, `--chain` starts the settings of the next one, so it cannot be an option.
    add_option_flags(parser, [option for option in table.own if option.name != "chain" or not table.of_chains], once=True)
    if table.task == "convert":  # For in-place batches: after a kill, a batch may reach shots that it has already converted.
        parser.add_argument("--again", action="store_true", help=argparse.SUPPRESS)


def _add_batch(parser: argparse.ArgumentParser) -> None:
    _add(parser, "--allow-incomplete", "--upgrade")
    parser.add_argument("--dry-run", action="store_true", help="open every shot and say what would happen to it; save nothing")
    parser.add_argument("job", type=file_path, metavar="JOB", help="TOML or JSON file with the shots, the output and the chains")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="print the shots with their numbers, and do nothing else")
    only.add_argument("--shot", metavar="NAME|NUMBER", help="only this shot, by its name, or by its number in --list")
    parser.add_argument(
        "--jobs", type=count, metavar="N", help="shots at a time; default: as many as there are cores, and memory for them"
    )
    parser.add_argument(
        "--shots-per-blender", type=count, default=100, metavar="N", help="start a new Blender after N shots; default 100"
    )
    parser.add_argument(
        "--user-addons", action="store_true", help="start the Blenders with your settings and add-ons, instead of factory ones"
    )
    replacing = parser.add_mutually_exclusive_group()
    replacing.add_argument(
        "--replace", action="store_true", help="replace outputs also where somebody has changed them, or no batch has saved them"
    )
    replacing.add_argument("--no-clobber", action="store_true", help="replace no output, not even that of an earlier batch")
    parser.add_argument("--logs", type=file_path, metavar="FOLDER", help="keep the whole log of every shot in this folder")
    parser.add_argument(
        "--progress", choices=["text", "json"], default="text", metavar="text|json", help="how progress is printed; default text"
    )
    parser.add_argument("--timeout", type=duration, metavar="SECONDS", help="stop a shot after this time; default: no limit")
    parser.add_argument(
        "--resume", action="store_true", help="leave out shots that are done, with the same job and the same file"
    )
    _add_scripts(parser, "run the scripts in the shots")
    parser.add_argument(
        "--summary",
        type=file_name,
        metavar="FILE.json|-",
        help="where the summary goes; default: JOB.summary.json, with --shot JOB.NAME.summary.json; JOB with its ending",
    )


COMMANDS = {
    **dict.fromkeys(TASKS, task_command),
    "batch": batch_command,
    "schema": schema_command,
}

CODE_OF = {
    UsageError: ExitCode.USAGE,
    SettingError: ExitCode.USAGE,
    StoppedError: ExitCode.STOPPED,
    AgainError: ExitCode.AGAIN,
    TwoBoneError: ExitCode.COULD_NOT,
}
"""Exit codes of errors; the first class that an error has counts."""

WORKER = "worker"
"""Internal command with which a batch starts its worker Blenders; not for users."""

OF_SHOTS = set(COMMANDS) - {"batch", "schema"}
"""Commands that open a shot."""

OUTPUTS = ("report", "save")
"""Attributes of the parsed arguments that name files to write."""


def main(argv: list[str]) -> int:
    """Run one sub-command and return its exit code; only `--help` raises `SystemExit`."""
    open_closed_streams()
    if argv == [WORKER]:
        return serve(main)
    try:
        return int(_run(parse(argv)))
    except TwoBoneError as error:
        complain(str(error))
        return int(next(code for kind, code in CODE_OF.items() if isinstance(error, kind)))


def _run(arguments: argparse.Namespace) -> ExitCode:
    voice = Voice(quiet=arguments.quiet, verbose=arguments.verbose)
    if arguments.command not in OF_SHOTS:
        return COMMANDS[arguments.command](arguments, voice).code
    with ExitStack() as stack:
        stack.enter_context(stopped_by_signals(voice.stop))
        outputs = _locked_outputs(arguments, stack)
        with voice.stop.interrupting():
            with clean_standard_output(wanted=STANDARD_OUTPUT in outputs.values()):
                outcome = COMMANDS[arguments.command](arguments, voice)
            if arguments.report is not None:
                try:
                    hand_over("--report", arguments.report, with_provenance(outcome, voice.warnings))
                except FileError as error:
                    if outcome.saved is None:
                        raise
                    raise type(error)(
                        '{reason} The shot was saved as "{path}".', reason=error.sentence, path=outcome.saved
                    ) from error
    return outcome.code


def _locked_outputs(arguments: argparse.Namespace, stack: ExitStack) -> dict[str, str]:
    """Return the files to write, by flag, after refusing those that would destroy something.

    The output shot is locked until `stack` closes. Raises `UsageError` or `FileError`.
    """
    source = source_of(arguments.file)
    named = {f"--{name}": getattr(arguments, name, None) for name in OUTPUTS}
    outputs = {flag: name for flag, name in named.items() if isinstance(name, str)}
    read: dict[str, Path | None] = {"--file": source, "--job": getattr(arguments, "job", None)}
    refuse_wrong_outputs(outputs, {flag: path for flag, path in read.items() if path is not None})
    arguments.lock = None
    if getattr(arguments, "save", None) is not None:
        goal = save_goal(arguments.save, source)
        refuse_wrong_outputs({"--save": str(goal)}, {})
        if arguments.no_clobber and goal.exists():
            raise FileError('"{goal}" already exists, and --no-clobber replaces nothing. Save elsewhere.', goal=goal)
        arguments.lock = stack.enter_context(locked(goal, patience=LEAVING))
        if arguments.expects in {None, ANY}:  # What is replaced is what lies there now, before the shot is opened.
            arguments.expects = NOTHING if arguments.no_clobber else content_of(goal)
            refuse_wrong_outputs({"--save": str(goal)}, {})  # Somebody may have saved there since the first look.
    return outputs
