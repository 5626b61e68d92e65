"""The settings of one bake: declared once, checked when built.

`BakeSettings` is the table. Each field carries an `Option` that says how people meet it: kind, range,
unit, label and a one-line text. The operator's properties, the stored chain's properties, the command
line's flags, the job file's schema and the options' page are all made from `OPTIONS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .errors import SettingError
from .options import (
    Group,
    Option,
    bone_option,
    check,
    choice_option,
    number_option,
    object_option,
    switch_option,
)


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """Everything one bake of one chain depends on besides the file itself.

    Raises `SettingError` when a value has no meaning: not a finite number, out of range, an unknown
    choice, an end before the start. Nothing is clamped silently.
    """

    armature: str = object_option(Group.CHAIN, "Armature", "Armature that holds the chain; empty for the active object")
    upper: str = bone_option(
        Group.CHAIN, "Upper Bone", "First bone of the chain, such as a thigh; empty to take it from the selection"
    )
    lower: str = bone_option(
        Group.CHAIN, "Lower Bone", "Second bone of the chain, such as a shin; empty to take it from the selection"
    )
    tip: str = bone_option(
        Group.CHAIN,
        "Tip Bone",
        "Bone below the lower bone whose joint follows the target; empty to choose it from the rig",
    )
    tip_end: str = choice_option(
        Group.CHAIN, "AUTO", "Tip End", "Which end of the tip bone follows the target",
        ("AUTO", "Automatic", "Head of a bone below the lower bone, tail of the lower bone itself"),
        ("HEAD", "Head", "The joint at the start of the tip bone"),
        ("TAIL", "Tail", "The end of the tip bone"),
    )  # fmt: skip
    target: str = object_option(Group.CHAIN, "Target", "Object that the tip follows, such as an empty")
    target_bone: str = bone_option(Group.CHAIN, "Target Bone", "Bone that the tip follows when the target is an armature")

    target_offset: str = choice_option(
        Group.CHAIN, "NONE", "Target Offset", "Where the tip is to be, seen from the target",
        ("NONE", "None", "On the target itself"),
        ("KEEP", "Keep", "Where it is at the first frame, carried along by the target"),
    )  # fmt: skip
    end_rotation: str = choice_option(
        Group.CHAIN, "NONE", "End Rotation", "What the bone at the tip, such as a foot, does while the chain moves",
        ("NONE", "Follow", "It follows its parent; no keys"),
        ("KEEP", "Keep", "It keeps its orientation in the armature; its rotation is keyed"),
        ("TARGET", "Copy Target", "It turns as the target turns; its rotation is keyed"),
    )  # fmt: skip
    joints: str = choice_option(
        Group.CHAIN, "TWO", "Joints", "Which bones between upper and lower bone bend",
        ("TWO", "Two", "Only the upper and the lower bone; bones between them ride along"),
        ("ALL", "All", "Every bone from the upper to the lower one"),
    )  # fmt: skip
    method: str = choice_option(
        Group.CHAIN, "AUTO", "Method", "How a chain of more than two links is solved; two links use the closed form",
        ("AUTO", "Automatic", "Does not lock at joint limits and is continuous over time"),
        ("CCD", "Cyclic Coordinate Descent", "The published method, for comparison; it can lock at joint limits"),
    )  # fmt: skip

    plane: str = choice_option(
        Group.PLANE, "YZ", "Plane", "Plane in which the chain bends",
        ("XY", "XY (Top)", "The plane seen in Top view"),
        ("XZ", "XZ (Front)", "The plane seen in Front view"),
        ("YZ", "YZ (Right)", "The plane seen in Right view"),
        ("REST", "Rest", "The plane of the chain's own bend at rest, turned to contain the target"),
        ("POLE", "Pole", "The plane through root joint, target and pole"),
        ("OBJECT", "Object", "The XY plane of an object"),
    )  # fmt: skip
    plane_space: str = choice_option(
        Group.PLANE, "ARMATURE", "Plane Space", "Whose axes the plane's letters mean",
        ("WORLD", "World", "The world's axes"),
        ("ARMATURE", "Armature", "The axes of the armature object"),
        ("PARENT", "Parent Bone", "The axes of the bone that the upper bone hangs from"),
    )  # fmt: skip
    plane_object: str = object_option(Group.PLANE, "Plane Object", "Object whose X and Y axes span the plane")
    pole: str = object_option(Group.PLANE, "Pole", "Object towards which the middle joint points")
    pole_bone: str = bone_option(
        Group.PLANE, "Pole Bone", "Bone towards which the middle joint points when the pole is an armature"
    )
    pole_angle: float = number_option(
        Group.PLANE, 0.0, "Pole Angle", "Turn of the plane about the line from root joint to target", unit="ANGLE"
    )
    bend: str = choice_option(
        Group.PLANE, "POSITIVE", "Bend", "Side to which the chain bends, as seen in the plane",
        ("POSITIVE", "Positive", "The lower bone turns counter-clockwise from the upper bone"),
        ("NEGATIVE", "Negative", "The lower bone turns clockwise from the upper bone"),
        ("KEEP", "Keep", "The side to which the chain is bent at each frame before the bake"),
    )  # fmt: skip
    depth: str = choice_option(
        Group.PLANE, "KEEP", "Depth", "What a chain does that does not lie in the plane; Rest and Pole always flatten",
        ("KEEP", "Keep", "Each bone turns about the plane's normal only and keeps its distance from the plane"),
        ("FLATTEN", "Flatten", "The bones are laid into the plane first"),
    )  # fmt: skip
    reference: str = choice_option(
        Group.PLANE, "REST", "Reference", "The pose from which the bones are turned",
        ("REST", "Rest Pose", "The bones without rotation of their own"),
        ("POSE", "Present Pose", "The pose that each frame has, with its twist"),
    )  # fmt: skip

    reach: str = choice_option(
        Group.REACH, "CLAMP", "Reach", "What the chain does near the limits of its reach",
        ("CLAMP", "Clamp", "Points straight at a target that is too far, folds for one too near"),
        ("SOFTEN", "Soften", "Slows down before it is straight or folded"),
        ("STRETCH", "Stretch", "Scales its bones so that the tip stays on the target"),
    )  # fmt: skip
    softness: float = number_option(
        Group.REACH, 0.0, "Softness", "Part of the chain's length over which it eases into being straight",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip
    softness_near: float = number_option(
        Group.REACH, 0.0, "Softness Near", "Part of the chain's length over which it eases into being folded",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip
    stretch_start: float = number_option(
        Group.REACH, 1.0, "Stretch Start", "Part of the chain's reach at which stretching begins",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR",
    )  # fmt: skip
    stretch_max: float = number_option(
        Group.REACH, 2.0, "Stretch Maximum", "Largest scale of the bones", minimum=1.0, maximum=1000.0
    )
    compress_min: float = number_option(
        Group.REACH, 1.0, "Compress Minimum", "Smallest scale of the bones, for targets inside the folded chain's reach",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR",
    )  # fmt: skip
    min_distance: float = number_option(
        Group.REACH, 0.0, "Minimum Distance", "Targets nearer to the root joint count as this far from it; 0 is off",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    max_distance: float = number_option(
        Group.REACH, 0.0, "Maximum Distance", "Targets farther from the root joint count as this near to it; 0 is off",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    use_limits: bool = switch_option(Group.REACH, "Joint Limits", "Keep both joints within limits", default=False)
    upper_min: float = number_option(
        Group.REACH, -math.pi, "Upper Minimum", "Smallest turn of the upper bone from rest", unit="ANGLE"
    )
    upper_max: float = number_option(
        Group.REACH, math.pi, "Upper Maximum", "Largest turn of the upper bone from rest", unit="ANGLE"
    )
    lower_min: float = number_option(Group.REACH, -math.pi, "Lower Minimum", "Smallest angle between the two links", unit="ANGLE")
    lower_max: float = number_option(Group.REACH, math.pi, "Lower Maximum", "Largest angle between the two links", unit="ANGLE")
    influence: float = number_option(
        Group.REACH, 1.0, "Influence", "How far the pose goes from the present one to the solved one",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip

    frame_range: str = choice_option(
        Group.KEYS, "SCENE", "Frame Range", "Frames to bake",
        ("SCENE", "Scene", "From the scene's first to its last frame"),
        ("PREVIEW", "Preview", "The preview range if it is on, else the scene's range"),
        ("TARGET", "Target", "From the target's first to its last key"),
        ("CUSTOM", "Custom", "From a first to a last frame of your own"),
    )  # fmt: skip
    frame_start: float = number_option(Group.KEYS, 1.0, "Start", "First frame to bake", unit="FRAMES")
    frame_end: float = number_option(Group.KEYS, 250.0, "End", "Last frame to bake", unit="FRAMES")
    keys: str = choice_option(
        Group.KEYS, "FRAMES", "Keys", "Which frames get keys",
        ("FRAMES", "Every Frame", "One key every step"),
        ("TARGET_KEYS", "Target's Keys", "Where the target has keys"),
        ("CHAIN_KEYS", "Chain's Keys", "Where the chain's bones have keys"),
        ("REDUCE", "Reduce", "As few keys as keep the tip within the tolerance"),
    )  # fmt: skip
    step: float = number_option(
        Group.KEYS, 1.0, "Step", "Frames from one key to the next", minimum=0.0, above=True, unit="FRAMES"
    )
    tolerance: float = number_option(
        Group.KEYS,
        0.001,
        "Tolerance",
        "Farthest that reduced keys may let the tip drift",
        minimum=0.0,
        above=True,
        unit="LENGTH",
    )
    interpolation: str = choice_option(
        Group.KEYS, "LINEAR", "Interpolation", "How the motion goes from key to key; reduced keys are always Bezier",
        ("CONSTANT", "Constant", "Holds each key until the next"),
        ("LINEAR", "Linear", "Straight from key to key"),
        ("BEZIER", "Bezier", "Smooth, with handles along the motion"),
    )  # fmt: skip
    key_before: bool = switch_option(
        Group.KEYS,
        "Key Before",
        "Key the present pose one frame before the range, so that nothing earlier changes shape",
        default=False,
    )
    key_after: bool = switch_option(
        Group.KEYS,
        "Key After",
        "Key the present pose one frame after the range, so that nothing later changes shape",
        default=False,
    )
    destination: str = choice_option(
        Group.KEYS, "ACTION", "Destination", "Where the keys go",
        ("ACTION", "Current Action", "Into the armature's own action and slot"),
        ("NEW_ACTION", "New Action", "Into a new action that replaces the current one on the armature; the current one is kept"),
        ("NLA", "NLA Strip", "Into a strip on a new NLA track above all others"),
    )  # fmt: skip
    verify: bool = switch_option(
        Group.KEYS,
        "Verify",
        "Evaluate the baked animation again and report the measured distance to the target",
        default=True,
    )
    evaluation: str = choice_option(
        Group.KEYS, "AUTO", "Evaluation", "How motion is sampled",
        ("AUTO", "Automatic", "The cheapest way that is exact for each thing that moves"),
        ("PROBES", "Probes", "By Blender, in a temporary scene that holds nothing else"),
        ("SCENE", "Scene", "By Blender, in this scene, frame by frame"),
    )  # fmt: skip

    stored: str = ""
    """Name of the stored chain these settings come from, whose animated settings are read per frame. Not an option."""

    limits: tuple[tuple[float, float], ...] = ()
    """Least and greatest angle of each joint, radians, where `joints` is `ALL`: of the first its turn from rest, of each
    other the angle between its link and the one before. Empty: those of upper and lower bone. Not an option."""

    def __post_init__(self) -> None:
        """Refuse what has no meaning, one setting at a time, then the settings together."""
        for option in OPTIONS:
            check(option, getattr(self, option.name))
        if self.frame_range == "CUSTOM" and self.frame_end < self.frame_start:
            raise SettingError(
                f"The frame range ends before it starts ({self.frame_start:g} to {self.frame_end:g}). "
                "Choose an end at or after the start."
            )
        for low, high in PAIRS:
            if getattr(self, low) > getattr(self, high):
                raise SettingError(
                    f"{OPTION[low].label} ({getattr(self, low):g}) is above {OPTION[high].label} "
                    f"({getattr(self, high):g}). Swap them."
                )
        for number, (least, greatest) in enumerate(self.limits, start=1):
            if not least <= greatest:
                raise SettingError(f"The minimum of joint {number} ({least:g}) is above its maximum ({greatest:g}). Swap them.")
        if 0.0 < self.max_distance < self.min_distance:
            raise SettingError(
                f"Minimum Distance ({self.min_distance:g}) is above Maximum Distance ({self.max_distance:g}). Swap them."
            )


def _made_options() -> tuple[Option, ...]:
    made = []
    for entry in fields(BakeSettings):
        if "option" not in entry.metadata:
            continue
        group, kind, default, label, text, rest = entry.metadata["option"]
        made.append(Option(entry.name, kind, group, default, label, text, **rest))
    return tuple(made)


OPTIONS: tuple[Option, ...] = _made_options()
"""Every setting, in the order of the panel."""

PAIRS = (("upper_min", "upper_max"), ("lower_min", "lower_max"))
"""Settings of which the first is not to be above the second."""

OPTION: dict[str, Option] = {option.name: option for option in OPTIONS}
"""The same, by name."""
