"""Command-line flags built from the option tables: one per setting, grouped by chain where there are several chains."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..settings import OPTIONS
from ..settings.options import Group, Option, OptionKind, as_meant, check

METAVARS = {
    OptionKind.OBJECT: "OBJECT",
    OptionKind.BONE: "BONE",
    OptionKind.NAME: "NAME",
    OptionKind.PATH: "FILE",
    OptionKind.ACTIONS: "ACTIVE|ALL|NAMES",
    OptionKind.NUMBER: "NUMBER",
    OptionKind.VECTOR: ("X", "Y", "Z"),
}
UNITS = {"LENGTH": "scene units", "ANGLE": "radians", "FRAMES": "frames", "FACTOR": "fraction"}


@dataclass(frozen=True, slots=True)
class ChainGroup:
    """The settings given between one `--chain` and the next."""

    label: str
    """The name given to `--chain`; empty for the group before the first `--chain`, which all chains share."""
    values: dict[str, Any] = field(default_factory=dict)
    """Only the settings that were given, by their names in `BakeSettings`."""


def add_chain_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--chain` and one flag per setting; parsing sets `groups` to a list of `ChainGroup`, the shared one first."""
    start = parser.add_argument_group("Several chains")
    start.add_argument(
        "--chain",
        action=_NextGroup,
        metavar="NAME",
        help="begin the settings of the next chain; flags before the first --chain are shared by all",
    )
    add_option_flags(parser, OPTIONS)


def add_option_flags(parser: argparse.ArgumentParser, options: Sequence[Option], *, once: bool = False) -> None:
    """Add a flag for each of these settings: one value per chain group, or with `once` a single value for the whole command."""
    for group in Group:
        block = parser.add_argument_group(f"{group.value} settings, as on the operator (angles in radians)")
        for option in options:
            if option.group is group:
                keywords: dict[str, Any] = {"dest": option.name, "default": argparse.SUPPRESS, "help": _help(option)}
                keywords["action"] = partial(_IntoGroup, option=option, once=once)
                names = [flag(option.name)]
                if option.kind is OptionKind.SWITCH:
                    names.append(flag(f"no_{option.name}"))
                    keywords["nargs"] = 0
                elif option.kind is OptionKind.CHOICE:
                    values = [choice.value for choice in option.choices]
                    keywords |= {"type": str.upper, "choices": values, "metavar": "|".join(values)}
                else:
                    keywords["metavar"] = METAVARS[option.kind]
                if option.kind in {OptionKind.NUMBER, OptionKind.VECTOR}:
                    keywords["type"] = float
                if option.kind is OptionKind.VECTOR:
                    keywords["nargs"] = len(METAVARS[option.kind])
                block.add_argument(*names, **keywords)


def flag(name: str) -> str:
    """Return the flag of a setting: `--frame-start` for `frame_start`."""
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
        value = not str(flag).startswith("--no-") if option.kind is OptionKind.SWITCH else as_meant(option, values)
        check(option, value)
        if self.once and getattr(namespace, "once", None) is None:
            namespace.once = {}
        values = namespace.once if self.once else _groups(namespace)[-1].values
        values[self.dest] = value


def _groups(namespace: argparse.Namespace) -> list[ChainGroup]:
    if getattr(namespace, "groups", None) is None:
        namespace.groups = [ChainGroup("")]
    return namespace.groups


def _help(option: Option) -> str:
    """Return the tooltip's text with unit and default; `%` is doubled because argparse formats the text."""
    unit = f" ({UNITS[option.unit]})" if option.unit in UNITS else ""
    default = (
        {True: "on", False: "off"}.get(option.default, option.default) if option.kind is OptionKind.SWITCH else option.default
    )
    ending = f"; default {default}" if default not in {"", None} else ""
    return f"{option.text}{unit}{ending}".replace("%", "%%")
