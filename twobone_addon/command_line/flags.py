"""Flags out of the tables of options: those of chains, those that commands share, and the numbers that they take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..settings import OPTIONS
from ..settings.options import Group, Kind, Option, as_meant, check
from .files.outputs import file_name, file_path
from .outcomes import ExitCode


def distance(text: str) -> float:
    """A distance of 0 or greater."""
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or greater")
    return value


def duration(text: str) -> float:
    """A time, or another amount, above 0."""
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} must be a number greater than 0")
    return value


def count(text: str) -> int:
    """A whole number of 1 or more."""
    return _at_least(1, text)


def some(text: str) -> int:
    """A whole number of 0 or more."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is too small, use {least} or more")
    return value


METAVARS = {
    Kind.OBJECT: "OBJECT",
    Kind.BONE: "BONE",
    Kind.NAME: "NAME",
    Kind.ACTIONS: "ACTIVE|ALL|NAMES",
    Kind.NUMBER: "NUMBER",
    Kind.VECTOR: ("X", "Y", "Z"),
}
UNITS = {"LENGTH": "scene units", "ANGLE": "radians", "FRAMES": "frames", "FACTOR": "fraction"}


@dataclass(frozen=True, slots=True)
class ChainGroup:
    """The settings given between one `--chain` and the next."""

    label: str
    """What followed `--chain`; empty for the group before the first, which all chains share."""
    values: dict[str, Any] = field(default_factory=dict)
    """By the names of `BakeSettings`; only what was given."""


def add_chain_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--chain` and one flag per setting; the result's `groups` is a list of `ChainGroup`, the shared one first."""
    start = parser.add_argument_group("Several chains")
    start.add_argument(
        "--chain",
        action=_NextGroup,
        metavar="NAME",
        help="begin the settings of the next chain; flags before the first --chain are shared by all",
    )
    add_option_flags(parser, OPTIONS)


def add_option_flags(parser: argparse.ArgumentParser, options: Sequence[Option], *, once: bool = False) -> None:
    """Add a flag for each of these settings, which each group of flags may have, or `once` all of them together."""
    for group in Group:
        block = parser.add_argument_group(f"{group.value} settings, as on the operator (angles in radians)")
        for option in options:
            if option.group is group:
                action: Any = partial(_IntoGroup, option=option, once=once)
                block.add_argument(*_flags(option), action=action, dest=option.name, help=_help(option), **_form(option))


def flag(name: str) -> str:
    """The flag of a setting: `--frame-start` for `frame_start`."""
    return f"--{name.replace('_', '-')}"


class _NextGroup(argparse.Action):
    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, _flag: str | None = None) -> None:
        _groups(namespace).append(ChainGroup(values))


class _IntoGroup(argparse.Action):
    def __init__(self, *words: Any, option: Option, once: bool, **rest: Any) -> None:
        super().__init__(*words, **rest)
        self.option, self.once = option, once

    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, flag: str | None = None) -> None:
        option = self.option
        value = not str(flag).startswith("--no-") if option.kind is Kind.SWITCH else as_meant(option, values)
        check(option, value)
        if self.once and getattr(namespace, "once", None) is None:
            namespace.once = {}
        values = namespace.once if self.once else _groups(namespace)[-1].values
        values[self.dest] = value


def _groups(namespace: argparse.Namespace) -> list[ChainGroup]:
    if getattr(namespace, "groups", None) is None:
        namespace.groups = [ChainGroup("")]
    return namespace.groups


def _flags(option: Option) -> Sequence[str]:
    return [flag(option.name), flag(f"no_{option.name}")] if option.kind is Kind.SWITCH else [flag(option.name)]


def _form(option: Option) -> dict[str, Any]:
    if option.kind is Kind.SWITCH:
        return {"nargs": 0, "default": argparse.SUPPRESS}
    if option.kind is Kind.CHOICE:
        values = [choice.value for choice in option.choices]
        return {"type": str.upper, "choices": values, "metavar": "|".join(values), "default": argparse.SUPPRESS}
    made: dict[str, Any] = {"metavar": METAVARS[option.kind], "default": argparse.SUPPRESS}
    if option.kind is Kind.VECTOR:
        made["nargs"] = len(METAVARS[option.kind])
    return made | {"type": float} if option.kind in {Kind.NUMBER, Kind.VECTOR} else made


def _help(option: Option) -> str:
    """The tooltip's text, the unit and the default, with `%` doubled as argparse wants it."""
    unit = f" ({UNITS[option.unit]})" if option.unit in UNITS else ""
    default = {True: "on", False: "off"}.get(option.default, option.default) if option.kind is Kind.SWITCH else option.default
    ending = f"; default {default}" if default not in {"", None} else ""
    return f"{option.text}{unit}{ending}".replace("%", "%%")


IN_PLACE = True
"""What `--save` without a file means: the file that was opened. An empty name that is given is refused."""


def add_file(parser: argparse.ArgumentParser) -> None:
    """Which shot, with its scripts or not, which scene of it, and where the result goes."""
    parser.add_argument(
        "--file", type=file_path, metavar="SHOT.blend", help="open this file; default: what Blender was started with"
    )
    add_scripts(parser, "with --file: run the scripts in it")
    parser.add_argument("--scene", metavar="NAME", help="work in this scene of the file; default: the one that is open")
    parser.add_argument(
        "--report", type=file_name, metavar="FILE|-", help="write the result as JSON to a file, or to standard output"
    )


def add_scripts(parser: argparse.ArgumentParser, text: str) -> None:
    """Whether scripts run."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--scripts", action="store_const", const=True, help=f"{text}; default: off, or as Blender was told with -y or -Y"
    )
    choice.add_argument(
        "--no-scripts", dest="scripts", action="store_const", const=False, help="run none, however Blender was started"
    )


def add_job(parser: argparse.ArgumentParser) -> None:
    """A job file."""
    parser.add_argument(
        "--job", type=file_path, metavar="FILE", help="take settings and chains from a TOML or JSON file; flags win over it"
    )


def add_chosen_chains(parser: argparse.ArgumentParser) -> None:
    """Which chains."""
    add_job(parser)
    parser.add_argument("--stored", action="store_true", help="use all enabled chains stored in the scene; flags win over them")
    add_strict_settings(parser)
    add_chain_flags(parser)


def add_strict_settings(parser: argparse.ArgumentParser) -> None:
    """Whether settings without effect are refused."""
    parser.add_argument(
        "--strict-settings", action="store_true", help="refuse settings that make no difference, as jobs with chains do"
    )


def add_strict(parser: argparse.ArgumentParser) -> None:
    """Whether frames out of reach are a failure."""
    parser.add_argument(
        "--strict",
        action="store_true",
        help=f"exit with {int(ExitCode.STRICT)}, unsaved, when a frame is out of reach, or a clip is not fine",
    )


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """The same, and how large an error may be."""
    add_strict(parser)
    parser.add_argument(
        "--max-error", type=distance, metavar="DISTANCE", help="also fail if the measured error exceeds this (implies --strict)"
    )


def add_completeness(parser: argparse.ArgumentParser) -> None:
    """Whether to go on where something is missing."""
    parser.add_argument(
        "--allow-incomplete",
        action="store_true",
        help=f"go on without a library, a linked object or a driver that moves the chain, instead of {int(ExitCode.INCOMPLETE)}",
    )


def add_saving(parser: argparse.ArgumentParser) -> None:
    """Where the shot is saved."""
    parser.add_argument(
        "--save",
        nargs="?",
        type=file_name,
        const=IN_PLACE,
        metavar="FILE",
        help="save afterwards; without FILE over the shot",
    )
    parser.add_argument("--no-clobber", action="store_true", help="refuse to save over a file that is there already")
    parser.add_argument(
        "--linked", type=file_name, metavar="FILE|-", help="write the files that the shot links, and their SHA-256, as JSON"
    )
    parser.add_argument("--sha256", metavar="HASH", help="refuse a shot whose contents do not have this SHA-256")
    add_upgrade(parser)


def add_upgrade(parser: argparse.ArgumentParser) -> None:
    """Whether a file of another version may be saved over."""
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="save over a file of another Blender version, which may be unable to read it then",
    )
