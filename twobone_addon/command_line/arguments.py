"""The command's flags: one sub-command each for baking, looking, clearing and whole batches."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import bpy

from ..baking.ik_to_fk.plans import SETTINGS
from ..baking.ik_to_fk.switches import MOTIONS, SIDES, SWITCHES
from ..options import Option
from ..settings.contacts import CONTACT_OPTIONS
from ..settings.planting import PLANT_OPTIONS, ROOT_OPTIONS
from .files.outputs import file_name, file_path
from .flags.chain_flags import ChainGroup, add_ground_velocity, add_option_flags, add_setting_flags
from .flags.numbers import count, duration, some
from .flags.shared_flags import (
    add_actions,
    add_chosen_chains,
    add_completeness,
    add_file,
    add_job,
    add_saving,
    add_scripts,
    add_strictness,
    add_upgrade,
)
from .outcomes import ExitCode, UsageError
from .schemas import NAMES
from .version import addon_version

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
    }.items()
)

NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as the rest of the add-on does: by raising."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}. See: {self.prog} --help")


def parse(argv: list[str]) -> argparse.Namespace:
    """Flags as a namespace with `command`; raises `UsageError`, or `SystemExit` after `--help`."""
    found = command_parser().parse_args(_with_values_joined(argv))
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


def command_parser() -> argparse.ArgumentParser:
    """All commands with their flags."""
    parser = _Parser(prog=PROGRAM, description="Bake two-bone IK without a window.", epilog=CODES, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"twobone {addon_version()}, Blender {bpy.app.version_string}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    _bake(_sub(commands, "bake", "bake chains and report the result"))
    _report(_sub(commands, "report", "measure the existing animation; change nothing"))
    _chains(_sub(commands, "chains", "list the chains stored in the file"))
    _limbs(_sub(commands, "limbs", "find the arms and legs of a character and store them as chains"))
    _clear(_sub(commands, "clear", "remove the keys that a bake made"))
    _convert(_sub(commands, "convert", "convert IK to FK keys, and switch the IK off"))
    _target(_sub(commands, "target", "key targets and poles from the existing motion of the chains: the reverse of bake"))
    _switch(_sub(commands, "switch", "switch limbs to FK, or to the IK of their rig, with their motion"))
    _contacts(_sub(commands, "contacts", "detect when feet are on the ground, and key it on the leg chains"))
    _plant(_sub(commands, "plant", "keep feet still on the ground, moving the hips only as much as needed"))
    _own(_sub(commands, "fit-root", "move the root so that all enabled chains reach their targets"), ROOT_OPTIONS)
    _batch(_sub(commands, "batch", "bake many shots, each in its own Blender"))
    _schema(_sub(commands, "schema", "print the JSON Schema of a file that the command reads or writes"))
    return parser


def _sub(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=f"{text[:1].upper()}{text[1:]}.", epilog=CODES, allow_abbrev=False)
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("--quiet", action="store_true", help="print only errors")
    loudness.add_argument("--verbose", action="store_true", help="print more: every chain, the time of every stage")
    return parser


def _bake(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be baked and written; change nothing")
    parser.add_argument(
        "--last-wins", action="store_true", help="let a later chain overwrite the keys of an earlier one on the same bones"
    )
    add_actions(parser)
    add_strictness(parser)
    add_chosen_chains(parser)


def _report(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_strictness(parser)
    add_chosen_chains(parser)


def _chains(parser: argparse.ArgumentParser) -> None:
    add_file(parser)


def _limbs(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_saving(parser)
    add_job(parser)
    parser.add_argument("--armature", default="", metavar="NAME", help="armature to search; default: the active one")
    parser.add_argument("--targets", action="store_true", help="also add an empty at the tip of every limb as its target")


def _clear(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_saving(parser)
    add_actions(parser)
    add_chosen_chains(parser)


def _convert(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    add_job(parser)
    parser.add_argument(
        "--bone", default="", metavar="BONE", help="bone that carries the IK constraint; default: all in the armature"
    )
    off = f"mute the constraint, or key its influence to 0 over the range; default {SWITCHES[0]}"
    _choice(parser, "--switch-off", SWITCHES, off)
    parser.add_argument("--rigify", action="store_true", help="key Rigify's FK controls, and its switches from IK to FK")
    add_actions(parser)
    add_setting_flags(parser, SETTINGS)


def _target(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    add_actions(parser)
    add_chosen_chains(parser)
    parser.add_argument("--rotate", action="store_true", help="also key the targets' rotation, as the bones at the tips rotate")


def _switch(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    add_chosen_chains(parser)
    _choice(parser, "--to", SIDES, f"what the limb follows over the range; default {SIDES[0]}")
    _choice(parser, "--motion", MOTIONS, f"bake the visible motion onto the other side, or keep its keys; default {MOTIONS[0]}")


def _choice(parser: argparse.ArgumentParser, name: str, choices: Sequence[str], text: str) -> None:
    parser.add_argument(name, type=str.upper, choices=choices, default="", metavar="|".join(choices), help=text)


def _plant(parser: argparse.ArgumentParser) -> None:
    _own(parser, PLANT_OPTIONS)
    add_ground_velocity(parser)


def _own(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    """A command with settings of its own, about one armature."""
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    add_job(parser)
    parser.add_argument(
        "--strict", action="store_true", help=f"exit with {int(ExitCode.STRICT)}, unsaved, when a frame is out of reach"
    )
    add_option_flags(parser, options)


def _contacts(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_completeness(parser)
    add_saving(parser)
    add_job(parser)
    add_option_flags(parser, CONTACT_OPTIONS)
    add_ground_velocity(parser)


def _batch(parser: argparse.ArgumentParser) -> None:
    add_completeness(parser)
    parser.add_argument("--dry-run", action="store_true", help="open every shot and say what would happen to it; save nothing")
    parser.add_argument("job", type=file_path, metavar="JOB", help="TOML or JSON file with the shots, the output and the chains")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--list", action="store_true", help="print the shots with their numbers, and do nothing else")
    only.add_argument("--freeze", type=file_name, metavar="FILE", help="write the numbered list of shots, and do nothing else")
    only.add_argument("--shot", metavar="NAME|NUMBER", help="only this shot, by its name, or its number in the list of --frozen")
    parser.add_argument("--frozen", type=file_path, metavar="FILE", help="take the shots from the list that --freeze has written")
    parser.add_argument("--jobs", type=count, metavar="N", help="shots at a time; default: as many as the machine has cores")
    add_upgrade(parser)
    parser.add_argument(
        "--memory", type=duration, metavar="GB", help="stop a shot whose Blender uses more memory; default: no limit"
    )
    parser.add_argument(
        "--retries", type=some, default=0, metavar="N", help="try again what crashed or took too long, up to N times; default 0"
    )
    parser.add_argument("--timeout", type=duration, metavar="SECONDS", help="stop a shot after this time; default: no limit")
    parser.add_argument(
        "--resume", action="store_true", help="leave out shots that are done, with the same job and the same file"
    )
    add_scripts(parser, "run the scripts in the shots")
    parser.add_argument(
        "--summary",
        type=file_name,
        metavar="FILE.json|-",
        help="where the summary goes, with a .csv next to it; default: JOB.summary.json, JOB.NUMBER.summary.json",
    )


def _schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", choices=NAMES, metavar="|".join(NAMES), help="which schema")
