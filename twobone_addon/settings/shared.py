"""Settings that several use cases have alike: declared here, with the sentence that differs given to them."""

from __future__ import annotations

from typing import Any

from .options import ACTIVE, Group, choice_option, number_option, when

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
