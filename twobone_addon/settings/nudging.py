"""The settings of a nudge: limb, offset, and number of frames."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SettingError
from ..said import Sentence
from .bake_options import TIP_ENDS
from .options import (
    Group,
    Settings,
    bone_option,
    choice_option,
    frame_option,
    name_option,
    number_option,
    object_option,
    switch_option,
    vector_option,
    when,
)

LEAST_RANGE = 0.1
"""Shortest fade in frames; Blender takes keys closer than a tenth of this for one key."""


def _range_option(label: str, side: str) -> float:
    text = f"Frames over which the nudge {side} (0 = a quarter of a second)"
    return number_option(Group.KEYS, 0.0, label, text, minimum=0.0, unit="FRAMES", needs=when(remove=[False]))


@dataclass(frozen=True)
class NudgeSettings(Settings):
    """The limb to nudge, and the nudge; or the frame of a nudge to remove."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature with the limb. Leave empty to use the active object")
    chain: str = name_option(Group.CHAIN, "Chain", "Name of the stored chain. Leave empty to use the bones or the active one")
    upper: str = bone_option(Group.CHAIN, "Upper Bone", "First bone of a limb that is not stored, such as the upper arm")
    lower: str = bone_option(Group.CHAIN, "Lower Bone", "Second bone of the limb, such as the forearm")
    tip: str = bone_option(Group.CHAIN, "Tip Bone", "Bone whose head or tail moves, such as the hand. Leave empty to detect it")
    tip_end: str = choice_option(
        Group.CHAIN, "AUTO", "Tip End", "Which end of the tip bone is moved",
        *TIP_ENDS,
    )  # fmt: skip
    frame: float | None = frame_option(
        Group.KEYS, "Frame", "Frame at which the tip moves by the whole offset. Leave it out to use the current frame. "
        "An existing nudge of the limb at this frame is replaced",
    )  # fmt: skip
    offset: tuple[float, float, float] = vector_option(
        Group.KEYS, "Offset", "How far the tip moves, along the world's axes", needs=when(remove=[False])
    )
    before: float = _range_option("Before", "fades in")
    after: float = _range_option("After", "fades out")
    falloff: str = choice_option(
        Group.KEYS, "SMOOTH", "Falloff", "How the nudge fades in and out",
        ("SMOOTH", "Smooth", "Ease in and out"),
        ("LINEAR", "Linear", "Evenly"),
        ("CONSTANT", "Constant", "The whole offset at all frames of the range"), needs=when(remove=[False]),
    )  # fmt: skip
    loop: str = choice_option(
        Group.KEYS, "AUTO", "Loop", "Whether a nudge near the end of a cycle continues at its beginning",
        ("AUTO", "Automatic", "If the limb's animation repeats"),
        ("ON", "On", "Always: from the limb's first to its last key"), ("OFF", "Off", "Never"), needs=when(remove=[False]),
    )  # fmt: skip
    remove: bool = switch_option(Group.KEYS, "Remove", "Remove the limb's nudge at the frame. The others stay as they are")
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the nudged animation and report where the tip is", default=True
    )

    def __post_init__(self) -> None:
        """Also refuse fades that are too short for keys."""
        super().__post_init__()
        for name, value in (("Before", self.before), ("After", self.after)):
            if 0.0 < value < LEAST_RANGE:
                raise SettingError(
                    "{option} is {value:g} frames, too short for keys. Use at least {least:g}, or 0 for a quarter of a second.",
                    option=Sentence(name),
                    value=value,
                    least=LEAST_RANGE,
                )
