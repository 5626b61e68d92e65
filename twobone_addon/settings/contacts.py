"""The settings with which the contacts of feet are found: declared once, as those of a bake."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SettingError
from ..options import (
    Group,
    choice_option,
    is_finite,
    number_option,
    object_option,
    options_of,
    shown,
    switch_option,
    when,
)
from .shared import CUSTOM, check_all, end_option, evaluation_option, range_option, start_option

AXES = 3


SURFACES = ("MESH", "CURVE", "SURFACE", "META", "FONT")
"""Blender's types of objects that have a surface to stand on."""


@dataclass(frozen=True)
class ContactOptions:
    """Which feet, over which frames, on which ground, and what counts as standing."""

    armature: str = object_option(
        Group.CHAIN, "Armature", "Armature whose feet are checked. Leave empty to use the active object"
    )
    arms: bool = switch_option(
        Group.CHAIN, "Include Arms", "Also find when hands, or paws that are listed as arms, are on the ground", default=False
    )
    frame_range: str = range_option("Frames to search for contacts", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")
    ground: str = choice_option(
        Group.PLANE, "AUTO", "Ground", "What the feet stand on",
        ("AUTO", "Automatic", "Flat ground at the height at which the feet stand"),
        ("HEIGHT", "Height", "Flat ground at a given height"),
        ("OBJECT", "Object", "The surface of a mesh, such as stairs, terrain or a moving platform"),
    )  # fmt: skip
    ground_height: float = number_option(
        Group.PLANE, 0.0, "Ground Height", "Height of the flat ground", unit="LENGTH", needs=when(ground=["HEIGHT"]),
    )  # fmt: skip
    ground_object: str = object_option(
        Group.PLANE, "Ground Object", "Mesh that the feet stand on", needs=when(ground=["OBJECT"]), object_types=SURFACES
    )
    ground_moves: str = choice_option(
        Group.PLANE, "AUTO", "Ground Moves", "Whether the ground moves under the feet, as on a treadmill or in a walk in place",
        ("AUTO", "Automatic", "Detect from the feet whether the ground moves while the character stays in place"),
        ("NO", "No", "The ground stands still"),
        ("GIVEN", "Given", "The ground moves at Ground Velocity"),
    )  # fmt: skip
    enter_speed: float = number_option(
        Group.REACH, 0.0, "Contact Speed",
        "Speed in units per second below which a heel or ball counts as standing (0 = automatic)",
        minimum=0.0,
    )  # fmt: skip
    leave_speed: float = number_option(
        Group.REACH, 0.0, "Leaving Speed", "Speed in units per second above which a contact ends (0 = automatic)", minimum=0.0,
    )  # fmt: skip
    enter_height: float = number_option(
        Group.REACH, 0.0, "Contact Height", "Height above the ground below which a heel or ball may stand (0 = automatic)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    leave_height: float = number_option(
        Group.REACH, 0.0, "Leaving Height", "Height above the ground above which a contact ends (0 = automatic)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    heel_lift: float = number_option(
        Group.REACH, 0.0, "Heel Lift",
        "Height of the heel over the ball, or of the ball over the heel, above which a foot is no longer flat (0 = automatic)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    min_contact: float = number_option(
        Group.REACH, 0.0, "Shortest Contact", "Shorter contacts are ignored (0 = automatic)", minimum=0.0, unit="FRAMES",
    )  # fmt: skip
    max_gap: float = number_option(
        Group.REACH, 0.0, "Longest Gap", "Shorter gaps in a contact are closed (0 = automatic)", minimum=0.0, unit="FRAMES",
    )  # fmt: skip
    keep: bool = switch_option(Group.KEYS, "Keep Edited", "Keep contacts that were edited by hand", default=True)
    evaluation: str = evaluation_option()


CONTACT_OPTIONS = options_of(ContactOptions)


@dataclass(frozen=True)
class ContactSettings(ContactOptions):
    """Everything that finding contacts depends on besides the file; raises `SettingError` when a value has no meaning."""

    ground_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of a ground that moves as it is given, units a second along the world's axes."""

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        check_all(self, CONTACT_OPTIONS)
        if len(self.ground_velocity) != AXES or not all(is_finite(part) for part in self.ground_velocity):
            raise SettingError(f"Ground Velocity is {shown(self.ground_velocity)}. Use three finite numbers.")
