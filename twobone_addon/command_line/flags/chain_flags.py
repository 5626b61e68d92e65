"""Flags for every bake setting, made from the table of settings, and gathered chain by chain.

`--target Foot --chain left --upper thigh.L --lower shin.L --chain right --upper thigh.R --lower shin.R` is one group
shared by all chains (the target) and two groups of their own. Each `--chain` begins the next group.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...options import Group, Kind, Option, check
from ...settings import OPTIONS

METAVARS = {Kind.OBJECT: "OBJECT", Kind.BONE: "BONE", Kind.NUMBER: "NUMBER"}
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
    add_setting_flags(parser, [option.name for option in OPTIONS])


def add_setting_flags(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Add a flag for each of these settings of a bake."""
    add_option_flags(parser, [option for option in OPTIONS if option.name in names])


def add_option_flags(parser: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    """Add a flag for each of these settings, whoever's they are."""
    for group in Group:
        block = parser.add_argument_group(f"{group.value} settings, as on the operator (angles in radians)")
        for option in options:
            if option.group is group:
                action: Any = partial(_IntoGroup, option=option)
                block.add_argument(*_flags(option), action=action, dest=option.name, help=_help(option), **_form(option))


def add_ground_velocity(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the velocity of the ground under feet, which is three numbers."""
    parser.add_argument(
        "--ground-velocity",
        nargs=3,
        type=float,
        metavar=("X", "Y", "Z"),
        help="velocity of the ground with --ground-moves given, scene units per second along the world axes",
    )


def flag(name: str) -> str:
    """The flag of a setting: `--frame-start` for `frame_start`."""
    return f"--{name.replace('_', '-')}"


class _NextGroup(argparse.Action):
    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, _flag: str | None = None) -> None:
        _groups(namespace).append(ChainGroup(values))


class _IntoGroup(argparse.Action):
    def __init__(self, *words: Any, option: Option, **rest: Any) -> None:
        super().__init__(*words, **rest)
        self.option = option

    def __call__(self, _parser: object, namespace: argparse.Namespace, values: Any, flag: str | None = None) -> None:
        option = self.option
        value = not str(flag).startswith("--no-") if option.kind is Kind.SWITCH else values
        check(option, value)
        _groups(namespace)[-1].values[self.dest] = value


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
    return made | {"type": float} if option.kind is Kind.NUMBER else made


def _help(option: Option) -> str:
    """The tooltip's text, the unit and the default, with `%` doubled as argparse wants it."""
    unit = f" ({UNITS[option.unit]})" if option.unit in UNITS else ""
    default = {True: "on", False: "off"}.get(option.default, option.default) if option.kind is Kind.SWITCH else option.default
    ending = f"; default {default}" if default != "" else ""
    return f"{option.text}{unit}{ending}".replace("%", "%%")
