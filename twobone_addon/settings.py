"""The settings of one bake: declared once, checked when built.

`BakeSettings` is the table. Each field carries an `Option` that says how people meet it: kind, range,
unit, label and a one-line text. The operator's properties, the stored chain's properties, the command
line's flags, the job file's schema and the options' page are all made from `OPTIONS`.
"""

from __future__ import annotations

import math
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


def _option(group: Group, kind: Kind, default: Any, label: str, text: str, **rest: Any) -> Any:
    return field(default=default, metadata={"option": (group, kind, default, label, text, rest)})


def _object(group: Group, label: str, text: str) -> Any:
    return _option(group, Kind.OBJECT, "", label, text)


def _bone(group: Group, label: str, text: str) -> Any:
    return _option(group, Kind.BONE, "", label, text)


def _number(group: Group, default: float, label: str, text: str, **rest: Any) -> Any:
    return _option(group, Kind.NUMBER, default, label, text, **rest)


def _switch(group: Group, default: bool, label: str, text: str) -> Any:  # noqa: FBT001 - mirrors the other makers
    return _option(group, Kind.SWITCH, default, label, text)


def _choice(group: Group, default: str, label: str, text: str, *choices: tuple[str, str, str]) -> Any:
    made = tuple(Choice(*choice) for choice in choices)
    return _option(group, Kind.CHOICE, default, label, text, choices=made)


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """Everything one bake of one chain depends on besides the file itself.

    Raises `SettingError` when a value has no meaning: not a finite number, out of range, an unknown
    choice, an end before the start. Nothing is clamped silently.
    """

    armature: str = _object(Group.CHAIN, "Armature", "Armature that holds the chain; empty for the active object")
    upper: str = _bone(Group.CHAIN, "Upper Bone", "First bone of the chain, such as a thigh; empty to take it from the selection")
    lower: str = _bone(Group.CHAIN, "Lower Bone", "Second bone of the chain, such as a shin; empty to take it from the selection")
    tip: str = _bone(Group.CHAIN, "Tip Bone", "Bone below the lower bone whose joint follows the target; empty to choose it from the rig")
    tip_end: str = _choice(
        Group.CHAIN, "AUTO", "Tip End", "Which end of the tip bone follows the target",
        ("AUTO", "Automatic", "Head of a bone below the lower bone, tail of the lower bone itself"),
        ("HEAD", "Head", "The joint at the start of the tip bone"),
        ("TAIL", "Tail", "The end of the tip bone"),
    )  # fmt: skip
    target: str = _object(Group.CHAIN, "Target", "Object that the tip follows, such as an empty")
    target_bone: str = _bone(Group.CHAIN, "Target Bone", "Bone that the tip follows when the target is an armature")

    plane: str = _choice(
        Group.PLANE, "YZ", "Plane", "Plane in which the chain bends",
        ("XY", "XY (Top)", "The plane seen in Top view"),
        ("XZ", "XZ (Front)", "The plane seen in Front view"),
        ("YZ", "YZ (Right)", "The plane seen in Right view"),
    )  # fmt: skip
    plane_space: str = _choice(
        Group.PLANE, "ARMATURE", "Plane Space", "Whose axes the plane's letters mean",
        ("WORLD", "World", "The world's axes"),
        ("ARMATURE", "Armature", "The axes of the armature object"),
        ("PARENT", "Parent Bone", "The axes of the bone that the upper bone hangs from"),
    )  # fmt: skip
    bend: str = _choice(
        Group.PLANE, "POSITIVE", "Bend", "Side to which the chain bends, as seen in the plane",
        ("POSITIVE", "Positive", "The lower bone turns counter-clockwise from the upper bone"),
        ("NEGATIVE", "Negative", "The lower bone turns clockwise from the upper bone"),
    )  # fmt: skip

    frame_range: str = _choice(
        Group.KEYS, "SCENE", "Frame Range", "Frames to bake",
        ("SCENE", "Scene", "From the scene's first to its last frame"),
        ("PREVIEW", "Preview", "The preview range if it is on, else the scene's range"),
        ("TARGET", "Target", "From the target's first to its last key"),
        ("CUSTOM", "Custom", "From a first to a last frame of your own"),
    )  # fmt: skip
    frame_start: float = _number(Group.KEYS, 1.0, "Start", "First frame to bake", unit="FRAMES")
    frame_end: float = _number(Group.KEYS, 250.0, "End", "Last frame to bake", unit="FRAMES")
    step: float = _number(
        Group.KEYS, 1.0, "Step", "Frames from one key to the next", minimum=0.0, above=True, unit="FRAMES"
    )
    verify: bool = _switch(
        Group.KEYS, True, "Verify", "Evaluate the baked animation again and report the measured distance to the target"
    )

    def __post_init__(self) -> None:
        """Refuse what has no meaning, one setting at a time, then the settings together."""
        for option in OPTIONS:
            check(option, getattr(self, option.name))
        if self.frame_range == "CUSTOM" and self.frame_end < self.frame_start:
            raise SettingError(
                f"The frame range ends before it starts ({self.frame_start:g} to {self.frame_end:g}). "
                "Choose an end at or after the start."
            )


def _made_options() -> tuple[Option, ...]:
    made = []
    for entry in fields(BakeSettings):
        group, kind, default, label, text, rest = entry.metadata["option"]
        made.append(Option(entry.name, kind, group, default, label, text, **rest))
    return tuple(made)


OPTIONS: tuple[Option, ...] = _made_options()
"""Every setting, in the order of the panel."""

OPTION: dict[str, Option] = {option.name: option for option in OPTIONS}
"""The same, by name."""


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
