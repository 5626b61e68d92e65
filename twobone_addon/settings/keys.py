"""The settings of a bake that say when, and what is left behind."""

from __future__ import annotations

from dataclasses import dataclass

from .options import Group, choice_option, number_option, switch_option, when
from .shared import CUSTOM, destination_option, end_option, evaluation_option, range_option, start_option


@dataclass(frozen=True)
class KeySettings:
    """Which frames are baked, which keys are written, where to, and how all is evaluated."""

    frame_range: str = range_option(
        "Frames to bake",
        ("TARGET", "Target", "From the target's first to its last key"),
        CUSTOM,
        ("AUTO", "Automatic", "From the target's first to its last key where it has several, else the scene's range"),
    )
    frame_start: float = start_option("First frame to bake")
    frame_end: float = end_option("Last frame to bake")
    keys: str = choice_option(
        Group.KEYS, "FRAMES", "Keys", "Which frames get keys",
        ("FRAMES", "Every Frame", "A key every Step frames"),
        ("TARGET_KEYS", "Target's Keys", "Where the target has keys"),
        ("CHAIN_KEYS", "Chain's Keys", "Where the chain's bones have keys"),
        ("REDUCE", "Reduce", "As few keys as keep the tip and the middle joint within the tolerance"),
    )  # fmt: skip
    keep_keys: str = choice_option(
        Group.KEYS, "NONE", "Keep Keys", "Frames that always get a key when keys are reduced",
        ("NONE", "None", "Only the keys that the tolerance requires"),
        ("TARGET", "Target's Keys", "Where the target has keys of its own"),
        ("EXTREMES", "Extremes", "Where the tip changes direction"),
        ("BOTH", "Both", "Where the target has keys and where the tip changes direction"), needs=when(keys=["REDUCE"]),
    )  # fmt: skip
    step: float = number_option(
        Group.KEYS, 1.0, "Step", "Number of frames between keys", minimum=0.0, above=True, unit="FRAMES",
        needs=when(keys=["FRAMES", "REDUCE"]),
    )  # fmt: skip
    tolerance: float = number_option(
        Group.KEYS, 0.001, "Tolerance", "Maximum distance the tip and the middle joint may drift when keys are reduced",
        minimum=0.0, above=True, unit="LENGTH", needs=when(keys=["REDUCE"]),
    )  # fmt: skip
    interpolation: str = choice_option(
        Group.KEYS, "LINEAR", "Interpolation", "Interpolation of the new keys. Reduce always uses Bezier",
        ("CONSTANT", "Constant", "Hold each key until the next one"),
        ("LINEAR", "Linear", "Straight from key to key"),
        ("BEZIER", "Bezier", "Smooth, with handles along the motion"), needs=when(keys=["FRAMES", "TARGET_KEYS", "CHAIN_KEYS"]),
    )  # fmt: skip
    loop: str = choice_option(
        Group.KEYS, "AUTO", "Loop", "Make the last key continue smoothly into the first",
        ("AUTO", "Automatic", "If the first and last pose match and the animation repeats"),
        ("ON", "On", "Always"), ("OFF", "Off", "Never"),
    )  # fmt: skip
    key_before: bool = switch_option(
        Group.KEYS, "Key Before", "Add a key one frame before the range so the animation before it is unaffected",
        default=False,
    )  # fmt: skip
    key_after: bool = switch_option(
        Group.KEYS, "Key After", "Add a key one frame after the range so the animation after it is unaffected",
        default=False,
    )  # fmt: skip
    destination: str = destination_option()
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the baked animation and report its measured distance to the target",
        default=True,
    )  # fmt: skip
    evaluation: str = evaluation_option()
