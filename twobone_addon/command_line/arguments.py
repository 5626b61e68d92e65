"""The command's flags: one sub-command each for baking, looking, clearing and whole batches."""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path
from typing import Any, NoReturn

from ..baking.conversion_plans import SETTINGS, SWITCHES
from .chain_flags import ChainGroup, add_chain_flags, add_setting_flags
from .outcomes import ExitCode, UsageError

PROGRAM = "blender [SHOT.blend] --command twobone"

CODES = "exit codes: " + ", ".join(
    f"{int(code)} {text}"
    for code, text in {
        ExitCode.DONE: "done",
        ExitCode.COULD_NOT: "could not",
        ExitCode.USAGE: "flags or job make no sense",
        ExitCode.STRICT: "--strict not met",
    }.items()
)

IN_PLACE = Path()
"""What `--save` without a file means: the file that was opened."""

NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as the rest of the add-on does: by raising."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See: {self.prog} --help")


def parse(argv: list[str]) -> argparse.Namespace:
    """Flags as a namespace with `command`; raises `UsageError`, or `SystemExit` after `--help`."""
    found = _parser().parse_args(_with_values_joined(argv))
    found.groups = getattr(found, "groups", None) or [ChainGroup("")]
    return found


def _with_values_joined(argv: list[str]) -> list[str]:
    """`--flag -1e-3` as `--flag=-1e-3`: argparse takes a negative number with an exponent for a flag."""
    made: list[str] = []
    for word in argv:
        if NEGATIVE_NUMBER.fullmatch(word) and made and made[-1].startswith("--") and "=" not in made[-1]:
            made[-1] += f"={word}"
        else:
            made.append(word)
    return made


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=PROGRAM, description="Bake two-bone IK without a window.", epilog=CODES, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _bake(_sub(commands, "bake", "bake chains and say what became of them"))
    _report(_sub(commands, "report", "measure the animation that is there, change nothing"))
    _chains(_sub(commands, "chains", "list the chains that are stored in the file"))
    _clear(_sub(commands, "clear", "remove the keys that a bake made"))
    _convert(_sub(commands, "convert", "key bones as their IK poses them, and switch the IK off"))
    _target(_sub(commands, "target", "key targets, and poles, as the chains move now: the reverse of bake"))
    _batch(_sub(commands, "batch", "bake many shots, each in a Blender of its own"))
    return parser


def _sub(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.", epilog=CODES, allow_abbrev=False)
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="print nothing but errors")
    loudness.add_argument("--verbose", action="store_true", help="print more: every chain, the time of every stage")
    return parser


def _file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", type=Path, metavar="SHOT.blend", help="open this file; default: what Blender was started with")
    parser.add_argument(
        "--scripts", action="store_true", help="with --file: run the scripts in it; default: as in Blender's preferences"
    )
    parser.add_argument("--report", metavar="FILE|-", help="write the result as JSON to a file, or to standard output")


def _chosen_chains(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--job", type=Path, metavar="FILE", help="take settings and chains from a TOML or JSON file; flags win over it"
    )
    parser.add_argument(
        "--stored", action="store_true", help="all enabled chains that are stored in the scene; flags win over them"
    )
    add_chain_flags(parser)


def _strictness(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict", action="store_true", help=f"exit with {int(ExitCode.STRICT)}, unsaved, when a frame is out of reach"
    )
    parser.add_argument(
        "--max-error", type=_distance, metavar="DISTANCE", help="and when the measured error is larger than this; means --strict"
    )


def _saving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--save", nargs="?", type=Path, const=IN_PLACE, metavar="FILE", help="save afterwards; without FILE over the file itself"
    )


def _bake(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    _saving(parser)
    parser.add_argument(
        "--linked", type=Path, metavar="FILE", help="write the files that the shot links, and their SHA-256, as JSON"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be baked and written; change nothing")
    _strictness(parser)
    _chosen_chains(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    _strictness(parser)
    _chosen_chains(parser)


def _chains(parser: argparse.ArgumentParser) -> None:
    _file(parser)


def _clear(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    _saving(parser)
    _chosen_chains(parser)


def _convert(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    _saving(parser)
    parser.add_argument(
        "--bone", default="", metavar="BONE", help="bone that carries the IK constraint; default: every one of the armature"
    )
    parser.add_argument(
        "--switch-off",
        type=str.upper,
        choices=SWITCHES,
        default=SWITCHES[0],
        metavar="|".join(SWITCHES),
        help=f"mute the constraint, or key its influence to 0 over the range; default {SWITCHES[0]}",
    )
    parser.add_argument("--rigify", action="store_true", help="key Rigify's FK controls, and its switches from IK to FK")
    add_setting_flags(parser, SETTINGS)


def _target(parser: argparse.ArgumentParser) -> None:
    _file(parser)
    _saving(parser)
    _chosen_chains(parser)


def _batch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", type=Path, metavar="JOB", help="TOML or JSON file that names the shots, the output and the chains")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="print the shots with their numbers, and do nothing")
    only.add_argument("--shot", type=_count, metavar="NUMBER", help="only this shot, for farms that count; numbers as in --list")
    parser.add_argument("--jobs", type=_count, metavar="N", help="shots at a time; default: as many as the machine has cores")
    parser.add_argument("--timeout", type=_duration, metavar="SECONDS", help="give a shot up after this time; default: never")
    parser.add_argument(
        "--resume", action="store_true", help="leave out shots that are done, with the same job and the same file"
    )
    parser.add_argument(
        "--scripts", action="store_true", help="run the scripts in the shots; default: as in Blender's preferences"
    )
    parser.add_argument(
        "--summary",
        type=Path,
        metavar="FILE.json",
        help="where the summary goes, with a .csv beside it; default: JOB.summary.json, JOB.NUMBER.summary.json",
    )


def _distance(text: str) -> float:
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no distance, use a number of at least 0")
    return value


def _duration(text: str) -> float:
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no time to wait, use seconds above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is too small, use 1 or more")
    return value
