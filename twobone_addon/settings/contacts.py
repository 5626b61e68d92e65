"""The settings for finding, importing and exporting contacts of feet, declared in the same way as those of a bake."""

from __future__ import annotations

from dataclasses import dataclass

from .options import (
    CUSTOM,
    Group,
    Settings,
    actions_option,
    choice_option,
    end_option,
    evaluation_option,
    number_option,
    object_option,
    path_option,
    range_option,
    start_option,
    switch_option,
    vector_option,
    when,
)

SURFACES = ("MESH", "CURVE", "SURFACE", "META", "FONT")
"""Blender's object types that have a surface to stand on."""


@dataclass(frozen=True)
class ContactSettings(Settings):
    """Everything that finding contacts depends on: feet, frames, ground, and the thresholds for standing."""

    armature: str = object_option(
        Group.CHAIN, "Armature", "Armature whose feet are checked. Leave empty to use the active object"
    )
    arms: bool = switch_option(
        Group.CHAIN, "Include Arms", "Also find when hands, or paws that are listed as arms, are on the ground"
    )
    actions: str = actions_option()
    frame_range: str = range_option("Frames to search for contacts", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")
    contacts_from: str = object_option(
        Group.PLANE, "Contacts From", "Armature to take the contacts from, such as the source of a retarget",
        object_types=("ARMATURE",),
    )  # fmt: skip
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
    ground_velocity: tuple[float, float, float] = vector_option(
        Group.PLANE, "Ground Velocity",
        "Velocity of the ground if Ground Moves is Given, in units per second along the world axes",
        needs=when(ground_moves=["GIVEN"]),
    )  # fmt: skip
    sole_height: float = number_option(
        Group.PLANE, 0.0, "Sole Height", "Height of the ankle above the sole (0 = automatic)", minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    enter_speed: float = number_option(
        Group.REACH, 0.0, "Contact Speed",
        "Speed in units per second below which a heel or ball counts as standing (0 = automatic)",
        minimum=0.0,
    )  # fmt: skip
    leave_speed: float = number_option(
        Group.REACH, 0.0, "Leaving Speed", "Speed in units per second above which a contact ends (0 = automatic)",
        minimum=0.0, is_drawn=False,
    )  # fmt: skip
    enter_height: float = number_option(
        Group.REACH, 0.0, "Contact Height", "Height above the ground below which a heel or ball may stand (0 = automatic)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    leave_height: float = number_option(
        Group.REACH, 0.0, "Leaving Height", "Height above the ground above which a contact ends (0 = automatic)",
        minimum=0.0, is_drawn=False, unit="LENGTH",
    )  # fmt: skip
    heel_lift: float = number_option(
        Group.REACH, 0.0, "Heel Lift",
        "Height of the heel over the ball, or of the ball over the heel, above which a foot is no longer flat (0 = automatic)",
        minimum=0.0, is_drawn=False, unit="LENGTH",
    )  # fmt: skip
    min_contact: float = number_option(
        Group.REACH, 0.0, "Shortest Contact", "Shorter contacts are ignored (0 = automatic)",
        minimum=0.0, is_drawn=False, unit="FRAMES",
    )  # fmt: skip
    max_gap: float = number_option(
        Group.REACH, 0.0, "Longest Gap", "Shorter gaps in a contact are closed (0 = automatic)",
        minimum=0.0, is_drawn=False, unit="FRAMES",
    )  # fmt: skip
    keep: bool = switch_option(Group.KEYS, "Keep Edited", "Keep contacts that were edited by hand", default=True)
    evaluation: str = evaluation_option()


CONTACTS_FILE = "Contacts file (.npz, .csv or .json) with heel and ball of the left and the right foot"


@dataclass(frozen=True)
class ContactFileSettings(Settings):
    """A file of contacts, and the frames that it covers."""

    armature: str = object_option(
        Group.CHAIN, "Armature", "Armature whose contacts are in the file. Leave empty to use the active object"
    )
    filepath: str = path_option(Group.CHAIN, "File", CONTACTS_FILE, is_written=False)
    frame_start: float = number_option(Group.PLANE, 1.0, "First Frame", "Frame of the first row of the file", unit="FRAMES")
    fps: float = number_option(
        Group.PLANE, 0.0, "Frame Rate", "Frame rate of the file (0 = that of the file or the scene)", minimum=0.0
    )
    evaluation: str = evaluation_option()


@dataclass(frozen=True)
class ExportContactSettings(ContactFileSettings):
    """A file of contacts to write, and whether an existing one may be replaced."""

    filepath: str = path_option(Group.CHAIN, "File", CONTACTS_FILE, is_written=True)
    overwrite: bool = switch_option(Group.KEYS, "Overwrite", "Replace the file if it is a contacts file")
