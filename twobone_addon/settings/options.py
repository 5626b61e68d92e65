"""Options, which describe settings to users: kind, range, unit, label, text; validity of values; settings without effect."""

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


class OptionKind(Enum):
    """Type of a setting's value."""

    OBJECT = "name of an object"
    BONE = "name of a bone"
    CHOICE = "one of a list"
    NUMBER = "number"
    SWITCH = "true or false"
    VECTOR = "three numbers"
    ACTIONS = "`ACTIVE`, `ALL`, or names of actions separated by semicolons"
    NAME = "name"
    PATH = "path of a file"


ACTIVE, ALL = "ACTIVE", "ALL"
"""The present action over the range of the settings; every action of the armature, each over its own range."""

TARGET_SHAPE, POLE_SHAPE = "SPHERE", "PLAIN_AXES"
"""Display shape of the empties that are added as targets and poles."""

AXES = 3


class Group(Enum):
    """Section of a setting in the panel and in the documentation."""

    CHAIN = "Chain"
    PLANE = "Plane"
    REACH = "Reach"
    KEYS = "Keys"
    ADVANCED = "Advanced"


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a choice setting."""

    value: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Need:
    """Values of another setting without which a setting has no effect."""

    setting: str
    """Name of the other setting."""
    values: tuple[Any, ...]
    """Values of which it must have one."""

    def is_met(self, settings: Any) -> bool:
        """Whether the other setting, an attribute of `settings`, has one of the values."""
        return getattr(settings, self.setting) in self.values


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as users see it."""

    name: str
    """Name in the settings class, on operators, stored chains and in job files; flags write `-` for `_`."""
    kind: OptionKind
    group: Group
    default: Any
    label: str
    text: str
    """One line for the tooltip, `--help` and the options page; no full stop, as in Blender's own tooltips."""
    choices: tuple[Choice, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    above: bool = False
    """`minimum` itself is not allowed."""
    unit: str = "NONE"
    """`LENGTH` (scene units), `ANGLE` (radians), `FRAMES`, `FACTOR` (fraction of a whole) or `NONE`."""
    object_types: tuple[str, ...] = ()
    """Blender's types of the objects to choose from, such as `MESH`; empty for all types."""
    needs: Need | None = None
    """Condition for the setting to have an effect; `None` if it always has one."""
    is_written: bool = False
    """Whether the file that a path names is written, not read; only the door (`twobone_addon.files`) opens it."""
    is_drawn: bool = True
    """Whether panels show it; settings that hardly anybody needs are only for scripts, commands and jobs."""


def _declared(group: Group, kind: OptionKind, default: Any, label: str, text: str, **rest: Any) -> Any:
    return field(default=default, metadata={"option": (group, kind, default, label, text, rest)})


def when(**condition: Sequence[Any]) -> Need:
    """Declare that a setting has an effect only if another one, named by the keyword, has one of these values."""
    ((setting, values),) = condition.items()
    return Need(setting, tuple(values))


def object_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of an object."""
    return _declared(group, OptionKind.OBJECT, "", label, text, **rest)


def bone_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of a bone."""
    return _declared(group, OptionKind.BONE, "", label, text, **rest)


def number_option(group: Group, default: float, label: str, text: str, **rest: Any) -> Any:
    """Declare a number."""
    return _declared(group, OptionKind.NUMBER, default, label, text, **rest)


def frame_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare a frame; `None` stands for the current one."""
    return _declared(group, OptionKind.NUMBER, None, label, text, unit="FRAMES", **rest)


def switch_option(group: Group, label: str, text: str, *, default: bool = False) -> Any:
    """Declare a switch: true or false."""
    return _declared(group, OptionKind.SWITCH, default, label, text)


def vector_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare three numbers, along the world's axes."""
    return _declared(group, OptionKind.VECTOR, (0.0,) * AXES, label, text, **rest)


def name_option(group: Group, label: str, text: str, **rest: Any) -> Any:
    """Declare the name of something that is neither object nor bone."""
    return _declared(group, OptionKind.NAME, "", label, text, **rest)


def path_option(group: Group, label: str, text: str, *, is_written: bool) -> Any:
    """Declare the path of a file that is read or written, from the job file's folder; `//` is the open file's."""
    return _declared(group, OptionKind.PATH, "", label, text, is_written=is_written)


def actions_option() -> Any:
    """Declare which actions are processed."""
    text = "ACTIVE, ALL, or names separated by semicolons. Unless it is ACTIVE, each action has its own range"
    return _declared(Group.KEYS, OptionKind.ACTIONS, ACTIVE, "Actions", text)


def choice_option(group: Group, default: str, label: str, text: str, *choices: tuple[str, str, str], **rest: Any) -> Any:
    """Declare a choice from a list of `choices`, each with value, label and text."""
    return _declared(group, OptionKind.CHOICE, default, label, text, choices=tuple(Choice(*choice) for choice in choices), **rest)


@cache
def options_of(settings: type) -> tuple[Option, ...]:
    """The options that the fields of a settings class declare, in order.

    Needs that refer to a setting the class does not have are dropped: classes share declarations.
    """
    entries = {entry.name: entry.metadata["option"] for entry in fields(settings) if "option" in entry.metadata}
    options = []
    for name, (group, kind, default, label, text, rest) in entries.items():
        needs = rest.get("needs")
        known = rest | {"needs": needs if needs and needs.setting in entries else None}
        options.append(Option(name, kind, group, default, label, text, **known))
    return tuple(options)


@dataclass(frozen=True)
class Settings:
    """Base of all settings classes: refuses invalid values, and knows which choices have no effect."""

    def __post_init__(self) -> None:
        """Raise `SettingError` for an invalid setting, and for a custom range that ends before it starts."""
        for option in options_of(type(self)):
            value = getattr(self, option.name)
            # Settings are made by the thousand, and most of them are left at their defaults.
            if type(value) is not type(option.default) or value != option.default:
                check(option, value)
        start, end = getattr(self, "frame_start", 0.0), getattr(self, "frame_end", 0.0)
        if getattr(self, "frame_range", "") == "CUSTOM" and end < start:
            raise SettingError(
                "The frame range ends before it starts ({start:g} to {end:g}). Choose an end at or after the start.",
                start=start,
                end=end,
            )

    def empty_choices(self) -> Iterator[tuple[str, Sentence]]:
        """Names of settings that have no effect because numbers they need are at their neutral values, each with a note."""
        yield from ()


def as_meant(option: Option, value: Any) -> Any:
    """Normalize a value as people write it: upper case for choices and for `ACTIVE` and `ALL`, tuples for lists."""
    if option.kind in {OptionKind.CHOICE, OptionKind.ACTIONS} and isinstance(value, str):
        is_word = option.kind is OptionKind.CHOICE or value.upper() in {ACTIVE, ALL}
        return value.upper() if is_word else value
    return tuple(value) if option.kind is OptionKind.VECTOR and isinstance(value, list) else value


def check(option: Option, value: object) -> None:  # noqa: C901 - one rule for each kind
    """Raise `SettingError` if `value` is not valid for `option`."""
    if value is None and option.default is None:
        return
    if option.kind is OptionKind.NUMBER:
        _check_number(option, value)
    elif option.kind is OptionKind.SWITCH:
        if not isinstance(value, bool):
            raise SettingError("{option} is {value}. Use true or false.", option=Sentence(option.label), value=shown(value))
    elif option.kind is OptionKind.VECTOR:
        if not isinstance(value, list | tuple) or len(value) != AXES or not all(is_number(number) for number in value):
            raise SettingError(
                "{option} is {value}. Use three finite numbers.", option=Sentence(option.label), value=shown(value)
            )
    elif not isinstance(value, str):
        raise SettingError("{option} is {value}. Use a string.", option=Sentence(option.label), value=shown(value))
    elif option.kind is OptionKind.ACTIONS and not value.replace(";", "").strip():
        raise SettingError("{option} names no action. Use ACTIVE, ALL, or names of actions.", option=Sentence(option.label))
    elif option.kind is OptionKind.PATH and "\0" in value:
        raise SettingError("{option} contains a NUL character. Name a file.", option=Sentence(option.label))
    elif option.kind is OptionKind.CHOICE and value not in {choice.value for choice in option.choices}:
        known = ", ".join(choice.value for choice in option.choices)
        raise SettingError(
            "{option} {value} is unknown. Use one of {known}.", option=Sentence(option.label), value=shown(value), known=known
        )


def shown(value: object) -> str:
    """A value as quoted in a message, shortened if it is long or deeply nested."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not write out integers of thousands of digits.
        return "a number of thousands of digits"


def is_finite(number: float) -> bool:
    """Whether the number is finite as a float; Python's integers may be too large for one."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def is_number(value: object) -> bool:
    """Whether the value is a finite number; true and false are not numbers."""
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
"""Choices that every frame range has."""


def range_option(text: str, *choices: tuple[str, str, str]) -> Any:
    """Declare a frame range: the ranges of the scene, then further choices."""
    return choice_option(Group.KEYS, "SCENE", "Frame Range", text, *RANGES, *choices, needs=when(actions=[ACTIVE]))


def start_option(text: str) -> Any:
    """Declare the start of a custom range."""
    return number_option(Group.KEYS, 1.0, "Start", text, unit="FRAMES", needs=when(frame_range=["CUSTOM"]))


def end_option(text: str) -> Any:
    """Declare the end of a custom range."""
    return number_option(Group.KEYS, 250.0, "End", text, unit="FRAMES", needs=when(frame_range=["CUSTOM"]))


def destination_option() -> Any:
    """Declare where keys are written."""
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
    """The settings that have no effect, by name and in the order of their table, each with a sentence that says why.

    A setting at its default is never among them: nobody would miss its effect.

    given : names of the settings that were given; by default all that are not at their defaults
    """
    options = {option.name: option for option in options_of(type(settings))}
    empty = dict(settings.empty_choices())
    sentences = {}
    for name in options if given is None else [name for name in options if name in set(given)]:
        why = empty.get(name) or _unmet(settings, options[name], options)
        if why and getattr(settings, name) != options[name].default:
            sentences[name] = why
    return sentences


def _unmet(settings: Settings, option: Option, options: dict[str, Option]) -> Sentence | None:
    """The sentence for a setting whose need is not met; `None` if it is met."""
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
    """A value as shown in the panel."""
    if option.kind is OptionKind.SWITCH:
        return Sentence("on" if value else "off")
    return Sentence(next((choice.label for choice in option.choices if choice.value == value), str(value)))
