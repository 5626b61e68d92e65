"""What a setting is to people: kind, range, unit, label and one line of text; and whether a value fits it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .errors import SettingError


class Kind(Enum):
    """What a setting holds."""

    OBJECT = "name of an object"
    BONE = "name of a bone"
    CHOICE = "one of a list"
    NUMBER = "number"
    SWITCH = "true or false"


class Group(Enum):
    """Where a setting stands in the panel and in the documentation."""

    CHAIN = "Chain"
    PLANE = "Plane"
    REACH = "Reach"
    KEYS = "Keys"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a setting that is one of a list."""

    value: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Option:
    """How people meet one setting."""

    name: str
    """Name in `BakeSettings`, on operators, stored chains and in job files; flags write `-` for `_`."""
    kind: Kind
    group: Group
    default: Any
    label: str
    text: str
    """One line for the tooltip, `--help` and the options' page; no full stop, as Blender's own tooltips."""
    choices: tuple[Choice, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    above: bool = False
    """`minimum` itself is not allowed."""
    unit: str = "NONE"
    """`LENGTH` (scene units), `ANGLE` (radians), `FRAMES`, `FACTOR` (fraction of a whole) or `NONE`."""


def _declared(group: Group, kind: Kind, default: Any, label: str, text: str, **rest: Any) -> Any:
    return field(default=default, metadata={"option": (group, kind, default, label, text, rest)})


def object_option(group: Group, label: str, text: str) -> Any:
    """Declare the name of an object."""
    return _declared(group, Kind.OBJECT, "", label, text)


def bone_option(group: Group, label: str, text: str) -> Any:
    """Declare the name of a bone."""
    return _declared(group, Kind.BONE, "", label, text)


def number_option(group: Group, default: float, label: str, text: str, **rest: Any) -> Any:
    """Declare a number."""
    return _declared(group, Kind.NUMBER, default, label, text, **rest)


def switch_option(group: Group, label: str, text: str, *, default: bool) -> Any:
    """Declare a yes or no."""
    return _declared(group, Kind.SWITCH, default, label, text)


def choice_option(group: Group, default: str, label: str, text: str, *choices: tuple[str, str, str]) -> Any:
    """Declare one of a list: value, label and text of each."""
    made = tuple(Choice(*choice) for choice in choices)
    return _declared(group, Kind.CHOICE, default, label, text, choices=made)


def check(option: Option, value: object) -> None:
    """Raise `SettingError` when `value` has no meaning for `option`."""
    if option.kind is Kind.NUMBER:
        _check_number(option, value)
    elif option.kind is Kind.SWITCH:
        if not isinstance(value, bool):
            raise SettingError(f"{option.label} is {value!r}. Use true or false.")
    elif not isinstance(value, str):
        raise SettingError(f"{option.label} is {value!r}. Use a text.")
    elif option.kind is Kind.CHOICE and value not in {choice.value for choice in option.choices}:
        known = ", ".join(choice.value for choice in option.choices)
        raise SettingError(f'{option.label} "{value}" is unknown. Use one of {known}.')


def _check_number(option: Option, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingError(f"{option.label} is {value!r}. Use a number.")
    if not math.isfinite(value):
        raise SettingError(f"{option.label} is {value}. Use a finite number.")
    if option.above and value <= option.minimum:
        raise SettingError(f"{option.label} is {value:g}. Use a number above {option.minimum:g}.")
    if value < option.minimum:
        raise SettingError(f"{option.label} is {value:g}. Use a number of at least {option.minimum:g}.")
    if value > option.maximum:
        raise SettingError(f"{option.label} is {value:g}. Use a number of at most {option.maximum:g}.")
