"""The settings of planted feet, and of the root that lets legs reach: declared once, as those of a bake."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ..options import (
    Group,
    bone_option,
    choice_option,
    number_option,
    object_option,
    options_of,
    switch_option,
    when,
)
from .contacts import ContactOptions, ContactSettings
from .shared import CUSTOM, check_all, destination_option, end_option, evaluation_option, range_option, start_option


@dataclass(frozen=True)
class RangeSettings:
    """Which armature, and which frames."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature to work on. Leave empty to use the active object")
    frame_range: str = range_option("Frames to work on", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")


@dataclass(frozen=True)
class RootSettings(RangeSettings):
    """How far the root may move so that the legs reach."""

    root: str = bone_option(Group.REACH, "Root", "Bone above all legs, such as the hips. Leave empty to detect it")
    max_lower: float = number_option(
        Group.REACH, 0.0, "Maximum Lowering", "Maximum distance the root may be lowered (0 = a tenth of the leg length)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    max_raise: float = number_option(
        Group.REACH, 0.0, "Maximum Raising", "Maximum distance the root may be raised (0 = a tenth of the leg length)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    reserve: float = number_option(
        Group.REACH, 0.001, "Reserve",
        "Fraction of the leg length kept in reserve, so that knees stay bent. Frames that are straighter already are not changed",
        minimum=0.0, maximum=0.5, unit="FACTOR",
    )  # fmt: skip
    window: float = number_option(
        Group.REACH, 0.5, "Window", "Number of seconds over which the root's movement is smoothed", minimum=0.0,
    )  # fmt: skip
    keys: str = choice_option(
        Group.KEYS, "FRAMES", "Keys", "Which frames get keys",
        ("FRAMES", "Every Frame", "A key on every frame that changes"),
        ("REDUCE", "Reduce", "As few keys as keep the motion within the tolerance"),
    )  # fmt: skip
    tolerance: float = number_option(
        Group.KEYS, 0.001, "Tolerance", "Maximum distance by which reduced keys may change the motion of feet off the ground",
        minimum=0.0, above=True, unit="LENGTH", needs=when(keys=["REDUCE"]),
    )  # fmt: skip
    destination: str = destination_option()
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the new animation and report how far the feet slide in it", default=True,
    )  # fmt: skip
    evaluation: str = evaluation_option()


@dataclass(frozen=True)
class PlantOnlySettings(RootSettings, ContactOptions):
    """How feet come to the ground and leave it, and how it is found when they stand, where that is not keyed."""

    use_root: bool = switch_option(
        Group.REACH, "Move Root", "Move the root as little as needed so that all planted feet are reached", default=True
    )
    ease: float = number_option(
        Group.REACH, 10.0, "Ease", "Number of frames over which the correction fades in before a contact and out after it",
        minimum=0.0, unit="FRAMES",
    )  # fmt: skip
    root_motion: str = choice_option(
        Group.REACH, "KEEP", "Root Motion", "Whether the root carries the walk through the world",
        ("KEEP", "Keep", "The character stays where it is, or gets along, as before"),
        ("ADD", "Add", "A walk in place, or on a treadmill, goes through the world, and its ground stands still"),
        ("REMOVE", "Remove", "A walk through the world stays in place, and its ground moves under it"),
        needs=when(use_root=[True]),
    )  # fmt: skip
    keep_targets: bool = switch_option(
        Group.KEYS, "Keep Targets",
        "Give each leg a target and a pole with keys that follow the planted foot, to go on by hand",
        default=False,
    )  # fmt: skip
    max_tilt: float = number_option(
        Group.REACH, math.radians(40.0), "Maximum Tilt", "Steepest ground on which soles lie flat, as far as ankles allow",
        minimum=0.0, maximum=math.radians(80.0), unit="ANGLE", needs=when(ground=["HEIGHT", "OBJECT"]),
    )  # fmt: skip


@dataclass(frozen=True)
class RootFitSettings(RootSettings):
    """Everything a root fit depends on besides the file; raises `SettingError` when a value has no meaning."""

    axis: str = choice_option(
        Group.REACH, "Z", "Axis", "World axis along which the root is moved. Along X and Y, lowering is the negative direction",
        ("X", "X", "Along the world's X axis"),
        ("Y", "Y", "Along the world's Y axis"),
        ("Z", "Z", "Along the world's vertical"),
        ("FREE", "Free", "In whichever direction is shortest"),
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        check_all(self, ROOT_OPTIONS)


@dataclass(frozen=True)
class PlantSettings(PlantOnlySettings):
    """Everything planting depends on besides the file; raises `SettingError` when a value has no meaning."""

    ground_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of a ground that moves as it is given, units a second along the world's axes."""

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        check_all(self, PLANT_OPTIONS)
        self.contacts()

    def contacts(self) -> ContactSettings:
        """The settings with which contacts are found."""
        own = {entry.name: getattr(self, entry.name) for entry in fields(ContactSettings)}
        return ContactSettings(**own)


ROOT_OPTIONS = options_of(RootFitSettings)
PLANT_OPTIONS = options_of(PlantOnlySettings)
