"""What a setting is to people: kind, range, unit, label and one line of text; and whether a value fits it."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
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
    ADVANCED = "Advanced"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a setting that is one of a list."""

    value: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Need:
    """What another setting has to be for one to make a difference."""

    setting: str
    values: tuple[Any, ...]
    """Any of these."""

    def is_met(self, settings: Any) -> bool:
        """Whether the other setting is one of them: `settings` has each setting as an attribute."""
        return getattr(settings, self.setting) in self.values


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
    object_types: tuple[str, ...] = ()
    """Blender's types of the objects that are offered, such as `MESH`; empty: objects of every type."""
    needs: Need | None = None
    """Without which the setting changes nothing; `None` where it always makes a difference."""


def _declared(group: Group, kind: Kind, default: Any, label: str, text: str, **rest: Any) -> Any:
    return field(default=default, metadata={"option": (group, kind, default, label, text, rest)})


def when(**condition: Sequence[Any]) -> Need:
    """Declare that a setting makes a difference only where another one, named by the keyword, has one of these values."""
    ((setting, values),) = condition.items()
    return Need(setting, tuple(values))


def object_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of an object."""
    return _declared(group, Kind.OBJECT, "", label, text, **rest)


def bone_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of a bone."""
    return _declared(group, Kind.BONE, "", label, text, **rest)


def number_option(group: Group, default: float, label: str, text: str, **rest: Any) -> Any:
    """Declare a number."""
    return _declared(group, Kind.NUMBER, default, label, text, **rest)


def switch_option(group: Group, label: str, text: str, *, default: bool) -> Any:
    """Declare a yes or no."""
    return _declared(group, Kind.SWITCH, default, label, text)


def choice_option(
    group: Group, default: str, label: str, text: str, *choices: tuple[str, str, str], needs: Need | None = None
) -> Any:
    """Declare one of a list: value, label and text of each."""
    made = tuple(Choice(*choice) for choice in choices)
    return _declared(group, Kind.CHOICE, default, label, text, choices=made, needs=needs)


def options_of(settings: type) -> tuple[Option, ...]:
    """The options that the fields of a settings class declare, in their order."""
    made = []
    for entry in fields(settings):
        if "option" not in entry.metadata:
            continue
        group, kind, default, label, text, rest = entry.metadata["option"]
        made.append(Option(entry.name, kind, group, default, label, text, **rest))
    return tuple(made)


def check(option: Option, value: object) -> None:
    """Raise `SettingError` when `value` has no meaning for `option`."""
    if option.kind is Kind.NUMBER:
        _check_number(option, value)
    elif option.kind is Kind.SWITCH:
        if not isinstance(value, bool):
            raise SettingError(f"{option.label} is {shown(value)}. Use true or false.")
    elif not isinstance(value, str):
        raise SettingError(f"{option.label} is {shown(value)}. Use a string.")
    elif option.kind is Kind.CHOICE and value not in {choice.value for choice in option.choices}:
        known = ", ".join(choice.value for choice in option.choices)
        raise SettingError(f"{option.label} {shown(value)} is unknown. Use one of {known}.")


def shown(value: object) -> str:
    """A value as a message quotes it: however long or deep it is, only its beginning."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits.
        return "a number of thousands of digits"


def is_finite(number: float) -> bool:
    """Whether a float can hold the number; Python's integers have no largest one."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _check_number(option: Option, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingError(f"{option.label} is {shown(value)}. Use a number.")
    if not is_finite(value):
        raise SettingError(f"{option.label} is {shown(value)}. Use a finite number.")
    if option.above and value <= option.minimum:
        raise SettingError(f"{option.label} is {value:g}. Use a number above {option.minimum:g}.")
    if value < option.minimum:
        raise SettingError(f"{option.label} is {value:g}. Use a number of at least {option.minimum:g}.")
    if value > option.maximum:
        raise SettingError(f"{option.label} is {value:g}. Use a number of at most {option.maximum:g}.")
