"""Settings of the tasks about feet and the ground: contacts, planting, and how far the root moves for legs to reach."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .options import (
    CUSTOM,
    Group,
    Settings,
    actions_option,
    bone_option,
    choice_option,
    destination_option,
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


MOVES_ROOT = when(use_root=[True])


@dataclass(frozen=True)
class RootSettings(Settings):
    """Armature and frames, and how far its root may move so that the legs reach."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature to work on. Leave empty to use the active object")
    frame_range: str = range_option("Frames to work on", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")
    root: str = bone_option(
        Group.REACH, "Root", "Bone above all legs, such as the hips. Leave empty to detect it", needs=MOVES_ROOT
    )
    max_lower: float = number_option(
        Group.REACH, 0.0, "Maximum Lowering", "Maximum distance the root may be lowered (0 = a tenth of the leg length)",
        minimum=0.0, unit="LENGTH", needs=MOVES_ROOT,
    )  # fmt: skip
    max_raise: float = number_option(
        Group.REACH, 0.0, "Maximum Raising", "Maximum distance the root may be raised (0 = a tenth of the leg length)",
        minimum=0.0, unit="LENGTH", needs=MOVES_ROOT,
    )  # fmt: skip
    reserve: float = number_option(
        Group.REACH, 0.001, "Reserve",
        "Fraction of the leg length kept in reserve, so that knees stay bent. Frames that are straighter already are not changed",
        minimum=0.0, maximum=0.5, unit="FACTOR",
    )  # fmt: skip
    window: float = number_option(
        Group.REACH, 0.5, "Window", "Number of seconds over which the root's movement is smoothed", minimum=0.0,
        needs=MOVES_ROOT,
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
class PlantSettings(RootSettings, ContactSettings):
    """How feet are planted; and how contacts are found if none are keyed."""

    use_root: bool = switch_option(
        Group.REACH, "Move Root", "Move the root as little as needed so that all planted feet are reached", default=True
    )
    priority: str = choice_option(
        Group.REACH, "FEET", "Priority", "What takes priority if still feet and the motion of the body conflict",
        ("FEET", "Feet", "Planted feet are exact, and the root moves as little as needed"),
        ("BODY", "Body", "The body stays as it is. Feet reach as far as they can, and slides below 2 cm (of a 0.9 m leg) stay"),
        ("HEIGHTS", "Heights", "Feet only move up and down onto the ground, so that intended slides stay"),
    )  # fmt: skip
    max_repair: float = number_option(
        Group.REACH, 0.2, "Maximum Repair",
        "Fraction of the leg length by which planting may move a foot off its animation. Contacts found in the motion that need "
        "more are left as they are and listed (0 = no limit)",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip
    ease: float = number_option(
        Group.REACH, 0.0, "Ease",
        "Number of frames over which the correction fades in before a contact and out after it (0 = automatic, 0.1 s)",
        minimum=0.0, unit="FRAMES",
    )  # fmt: skip
    root_motion: str = choice_option(
        Group.REACH, "KEEP", "Root Motion", "Whether the root travels with the walk",
        ("KEEP", "Keep", "Leave the root motion unchanged"),
        ("ADD", "Add", "Make an in-place or treadmill walk travel"),
        ("REMOVE", "Remove", "Make a travelling walk stay in place"),
        needs=MOVES_ROOT,
    )  # fmt: skip
    keep_targets: bool = switch_option(
        Group.KEYS, "Keep Targets",
        "Give each leg a target and a pole keyed to follow the planted foot, for further editing",
    )  # fmt: skip
    max_tilt: float = number_option(
        Group.REACH, math.radians(40.0), "Maximum Tilt", "Steepest slope that feet are tilted to",
        minimum=0.0, maximum=math.radians(80.0), unit="ANGLE", needs=when(ground=["HEIGHT", "OBJECT"]),
    )  # fmt: skip

    def contacts(self) -> ContactSettings:
        """The settings for finding contacts."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(ContactSettings)}
        return ContactSettings(**values)


@dataclass(frozen=True)
class RootFitSettings(RootSettings):
    """The axis along which the root moves so that all enabled chains reach their targets."""

    actions: str = actions_option()

    axis: str = choice_option(
        Group.REACH, "Z", "Axis", "World axis along which the root is moved. Along X and Y, lowering is the negative direction",
        ("X", "X", "Along the world's X axis"),
        ("Y", "Y", "Along the world's Y axis"),
        ("Z", "Z", "Along the world's vertical"),
        ("FREE", "Free", "In whichever direction is shortest"),
    )  # fmt: skip


@dataclass(frozen=True)
class FinishSettings(Settings):
    """Two characters, one of which has the other's motion, and what is put right."""

    armature: str = object_option(
        Group.CHAIN, "Armature", "Armature whose motion was copied from the source. Leave empty to use the active object"
    )
    source: str = object_option(
        Group.CHAIN, "Source", "Armature that the motion was copied from. Leave empty to use the other selected armature",
        object_types=("ARMATURE",),
    )  # fmt: skip
    feet: bool = switch_option(
        Group.REACH,
        "Plant Feet",
        "Put the feet where the source has them, and plant them while the source's feet stand",
        default=True,
    )
    hips: str = choice_option(
        Group.REACH, "SCALED", "Hips", "What becomes of the path of the hips",
        ("SCALED", "Scaled", "The hips follow the source's, scaled by the ratio of leg lengths"),
        ("KEEP", "Keep", "The hips stay as they are, and move only so that feet reach"),
    )  # fmt: skip
    hands: str = choice_option(
        Group.REACH, "TOGETHER", "Hands", "What becomes of hands that meet",
        ("TOGETHER", "Together", "Palms that are near each other in the source are as near here, as in a clap"),
        ("KEEP", "Keep", "The arms stay as they are"),
    )  # fmt: skip
    actions: str = actions_option()
    frame_range: str = range_option("Frames to work on", CUSTOM)
    frame_start: float = start_option("First frame of the range")
    frame_end: float = end_option("Last frame of the range")
    ground: str = choice_option(
        Group.PLANE, "AUTO", "Ground", "What the feet stand on",
        ("AUTO", "Automatic", "The floor on which the character stands at rest"),
        ("HEIGHT", "Height", "Flat ground at a given height"),
        ("OBJECT", "Object", "The surface of a mesh, such as stairs, terrain or a moving platform"),
    )  # fmt: skip
    ground_height: float = number_option(
        Group.PLANE, 0.0, "Ground Height", "Height of the flat ground", unit="LENGTH", needs=when(ground=["HEIGHT"]),
    )  # fmt: skip
    ground_object: str = object_option(
        Group.PLANE, "Ground Object", "Mesh that the feet stand on", needs=when(ground=["OBJECT"]), object_types=SURFACES
    )
    max_repair: float = number_option(
        Group.REACH, 0.2, "Maximum Repair",
        "Fraction of the leg length by which planting may move a foot from where the source has it. Contacts that need more are "
        "left as they are and listed (0 = no limit)",
        minimum=0.0, maximum=1.0, unit="FACTOR", needs=when(feet=[True]),
    )  # fmt: skip
    destination: str = destination_option()
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the new animation and report where feet and hands are in it", default=True,
    )  # fmt: skip
    evaluation: str = evaluation_option()
