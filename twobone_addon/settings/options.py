"""What a setting is to people: kind, range, unit, label, a line of text; whether a value fits, and whether it has an effect."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from typing import Any

from ..errors import SettingError
from ..said import Sentence, joined, note


class Kind(Enum):
    """What a setting holds."""

    OBJECT = "name of an object"
    BONE = "name of a bone"
    CHOICE = "one of a list"
    NUMBER = "number"
    SWITCH = "true or false"
    VECTOR = "three numbers"
    ACTIONS = "`ACTIVE`, `ALL`, or names of actions separated by semicolons"
    NAME = "name"


ACTIVE, ALL = "ACTIVE", "ALL"
"""The present action over the range that the settings have, and every action of the armature, each over its own."""

AXES = 3


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
    """Name in the settings class, on operators, stored chains and in job files; flags write `-` for `_`."""
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
    is_drawn: bool = True
    """Whether panels have it; what hardly anybody needs is there for scripts, commands and jobs."""


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


def frame_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare a frame, which is the current one where none is given."""
    return _declared(group, Kind.NUMBER, None, label, text, unit="FRAMES", **rest)


def switch_option(group: Group, label: str, text: str, *, default: bool = False) -> Any:
    """Declare a yes or no."""
    return _declared(group, Kind.SWITCH, default, label, text)


def vector_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare three numbers, along the world's axes."""
    return _declared(group, Kind.VECTOR, (0.0,) * AXES, label, text, **rest)


def name_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of something that is neither object nor bone."""
    return _declared(group, Kind.NAME, "", label, text, **rest)


def actions_option() -> Any:
    """Declare which actions are gone through."""
    text = "ACTIVE, ALL, or names separated by semicolons. Unless it is ACTIVE, each action has its own range"
    return _declared(Group.KEYS, Kind.ACTIONS, ACTIVE, "Actions", text)


def choice_option(group: Group, default: str, label: str, text: str, *choices: tuple[str, str, str], **rest: Any) -> Any:
    """Declare one of a list: value, label and text of each."""
    return _declared(group, Kind.CHOICE, default, label, text, choices=tuple(Choice(*choice) for choice in choices), **rest)


@cache
def options_of(settings: type) -> tuple[Option, ...]:
    """The options that the fields of a settings class declare, in their order.

    What an option needs of a setting that the class does not have, it does not need: settings are shared by classes.
    """
    entries = {entry.name: entry.metadata["option"] for entry in fields(settings) if "option" in entry.metadata}
    made = []
    for name, (group, kind, default, label, text, rest) in entries.items():
        needs = rest.get("needs")
        own = rest | {"needs": needs if needs and needs.setting in entries else None}
        made.append(Option(name, kind, group, default, label, text, **own))
    return tuple(made)


@dataclass(frozen=True)
class Settings:
    """What all settings classes have in common: they refuse values without a meaning, and know which choices are empty."""

    def __post_init__(self) -> None:
        """Raise `SettingError` for a setting without a meaning, and for a custom range that ends before it starts."""
        for option in options_of(type(self)):
            check(option, getattr(self, option.name))
        start, end = getattr(self, "frame_start", 0.0), getattr(self, "frame_end", 0.0)
        if getattr(self, "frame_range", "") == "CUSTOM" and end < start:
            raise SettingError(
                "The frame range ends before it starts ({start:g} to {end:g}). Choose an end at or after the start.",
                start=start,
                end=end,
            )

    def empty_choices(self) -> Iterator[tuple[str, Sentence]]:
        """Settings that are nothing with the others as they are, each with a sentence: those that need a number and got none."""
        yield from ()


def as_meant(option: Option, value: Any) -> Any:
    """A value as people write it: choices, and the two words for actions that are no names, in any case, lists for tuples."""
    if option.kind in {Kind.CHOICE, Kind.ACTIONS} and isinstance(value, str):
        is_word = option.kind is Kind.CHOICE or value.upper() in {ACTIVE, ALL}
        return value.upper() if is_word else value
    return tuple(value) if option.kind is Kind.VECTOR and isinstance(value, list) else value


def check(option: Option, value: object) -> None:
    """Raise `SettingError` when `value` has no meaning for `option`."""
    if value is None and option.default is None:
        return
    if option.kind is Kind.NUMBER:
        _check_number(option, value)
    elif option.kind is Kind.SWITCH:
        if not isinstance(value, bool):
            raise SettingError("{option} is {value}. Use true or false.", option=Sentence(option.label), value=shown(value))
    elif option.kind is Kind.VECTOR:
        if not isinstance(value, list | tuple) or len(value) != AXES or not all(is_number(part) for part in value):
            raise SettingError(
                "{option} is {value}. Use three finite numbers.", option=Sentence(option.label), value=shown(value)
            )
    elif not isinstance(value, str):
        raise SettingError("{option} is {value}. Use a string.", option=Sentence(option.label), value=shown(value))
    elif option.kind is Kind.CHOICE and value not in {choice.value for choice in option.choices}:
        known = ", ".join(choice.value for choice in option.choices)
        raise SettingError(
            "{option} {value} is unknown. Use one of {known}.", option=Sentence(option.label), value=shown(value), known=known
        )


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


def is_number(value: object) -> bool:
    """Whether it is a finite number, which true and false are not."""
    return isinstance(value, int | float) and not isinstance(value, bool) and is_finite(value)


def _check_number(option: Option, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SettingError("{option} is {value}. Use a number.", option=Sentence(option.label), value=shown(value))
    if not is_finite(value):
        raise SettingError("{option} is {value}. Use a finite number.", option=Sentence(option.label), value=shown(value))
    if option.above and value <= option.minimum:
        raise SettingError(
            "{option} is {value:g}. Use a number above {minimum:g}.",
            option=Sentence(option.label),
            value=value,
            minimum=option.minimum,
        )
    if value < option.minimum:
        raise SettingError(
            "{option} is {value:g}. Use a number of at least {minimum:g}.",
            option=Sentence(option.label),
            value=value,
            minimum=option.minimum,
        )
    if value > option.maximum:
        raise SettingError(
            "{option} is {value:g}. Use a number of at most {maximum:g}.",
            option=Sentence(option.label),
            value=value,
            maximum=option.maximum,
        )


CUSTOM = ("CUSTOM", "Custom", "Use Start and End")
RANGES = (
    ("SCENE", "Scene", "From the scene's first to its last frame"),
    ("PREVIEW", "Preview", "The preview range if it is on, else the scene's range"),
)
"""What a frame range may be, whatever it is the range of."""


def range_option(text: str, *choices: tuple[str, str, str]) -> Any:
    """Declare which frames are meant, with the choices that follow the ranges of the scene."""
    return choice_option(Group.KEYS, "SCENE", "Frame Range", text, *RANGES, *choices, needs=when(actions=[ACTIVE]))


def start_option(text: str) -> Any:
    """Declare the start of a custom range."""
    return number_option(Group.KEYS, 1.0, "Start", text, unit="FRAMES", needs=when(frame_range=["CUSTOM"]))


def end_option(text: str) -> Any:
    """Declare the end of a custom range."""
    return number_option(Group.KEYS, 250.0, "End", text, unit="FRAMES", needs=when(frame_range=["CUSTOM"]))


def destination_option() -> Any:
    """Declare where keys go."""
    return choice_option(
        Group.KEYS, "ACTION", "Destination", "Where the keys go",
        ("ACTION", "Current Action", "Into the armature's own action and slot"),
        ("NEW_ACTION", "New Action", "Into a new action that replaces the current one on the armature; the current one is kept"),
        ("NLA", "NLA Strip", "Into a strip on a new NLA track above all others"),
    )  # fmt: skip


def evaluation_option() -> Any:
    """Declare how motion is sampled."""
    return choice_option(
        Group.ADVANCED, "AUTO", "Evaluation", "How motion is sampled",
        ("AUTO", "Automatic", "Fastest method that is still exact, chosen per object"),
        ("PROBES", "Probes", "Let Blender evaluate only what is needed, in a temporary scene"),
        ("SCENE", "Scene", "Let Blender evaluate this scene frame by frame"),
    )  # fmt: skip


def without_effect(settings: Settings, given: Iterable[str] | None = None) -> dict[str, Sentence]:
    """Which settings have no effect, by name and in the order of their table, each with a sentence that says why.

    A setting at its default says nothing that would be missed, so it is never among them.

    given : names of those that were given; without it, every setting that is not at its default was
    """
    options = {option.name: option for option in options_of(type(settings))}
    empty = dict(settings.empty_choices())
    found = {}
    for name in options if given is None else [name for name in options if name in set(given)]:
        why = empty.get(name) or _unmet(settings, options[name], options)
        if why and getattr(settings, name) != options[name].default:
            found[name] = why
    return found


def _unmet(settings: Settings, option: Option, options: dict[str, Option]) -> Sentence | None:
    """The sentence for a setting that needs another one to be otherwise; `None` where it does not."""
    needs = option.needs
    if needs is None or needs.is_met(settings):
        return None
    other = options[needs.setting]
    now = _shown(other, getattr(settings, needs.setting))
    return note(
        "{option} has no effect: {other} is {now}, not {wanted}.",
        option=Sentence(option.label),
        other=Sentence(other.label),
        now=now,
        wanted=joined((_shown(other, value) for value in needs.values), " or "),
    )


def _shown(option: Option, value: object) -> Sentence:
    """A value as the panel shows it."""
    if option.kind is Kind.SWITCH:
        return Sentence("on" if value else "off")
    return Sentence(next((choice.label for choice in option.choices if choice.value == value), str(value)))
