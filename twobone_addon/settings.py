"""The settings of one bake: declared once, checked when built.

`BakeSettings` is the table. Each field carries an `Option` that says how people meet it: kind, range,
unit, label and a one-line text. The operator's properties, the stored chain's properties, the command
line's flags, the job file's schema and the options' page are all made from `OPTIONS`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from .errors import SettingError
from .options import Group, Option, bone_option, check, choice_option, number_option, object_option, switch_option, when

LETTERS = ("XY", "XZ", "YZ")
"""Planes named by two axes."""

LIMB_PLANES = ("POSE", "REST", "POLE")
"""Planes that follow the limb, or its pole, and contain the target."""


@dataclass(frozen=True, slots=True)
class BakeSettings:
    """Everything one bake of one chain depends on besides the file itself.

    Raises `SettingError` when a value has no meaning: not a finite number, out of range, an unknown
    choice, an end before the start. Nothing is clamped silently.
    """

    armature: str = object_option(
        Group.CHAIN, "Armature", "Armature that contains the chain. Leave empty to use the active object"
    )
    upper: str = bone_option(
        Group.CHAIN, "Upper Bone", "First bone of the chain, such as the thigh. Leave empty to use the selected bones"
    )
    lower: str = bone_option(
        Group.CHAIN, "Lower Bone", "Second bone of the chain, such as the shin. Leave empty to use the selected bones"
    )
    tip: str = bone_option(
        Group.CHAIN, "Tip Bone", "Bone whose head or tail should follow the target, such as the foot. Leave empty to detect it"
    )
    tip_end: str = choice_option(
        Group.CHAIN, "AUTO", "Tip End", "Which end of the tip bone follows the target",
        ("AUTO", "Automatic", "Head of the tip bone if it is a child of the lower bone, tail if it is the lower bone"),
        ("HEAD", "Head", "The joint at the start of the tip bone"),
        ("TAIL", "Tail", "The end of the tip bone"),
    )  # fmt: skip
    target: str = object_option(Group.CHAIN, "Target", "Object that the tip follows, such as an empty")
    target_bone: str = bone_option(Group.CHAIN, "Target Bone", "Bone that the tip follows, if the target is an armature")

    target_offset: str = choice_option(
        Group.CHAIN, "NONE", "Target Offset", "Offset to keep between the target and the tip",
        ("NONE", "None", "Put the tip exactly on the target"),
        ("KEEP", "Keep", "Keep the offset of the first frame, moving with the target"),
    )  # fmt: skip
    end_rotation: str = choice_option(
        Group.CHAIN, "NONE", "End Rotation", "How the bone at the tip, such as the foot, rotates",
        ("NONE", "Follow", "Rotate with its parent. No keys are added"),
        ("KEEP", "Keep", "Keep its orientation in the armature and key its rotation"),
        ("TARGET", "Copy Target", "Match the target's rotation and key it"),
    )  # fmt: skip
    joints: str = choice_option(
        Group.ADVANCED, "TWO", "Joints", "Which bones of the chain bend",
        ("TWO", "Two", "Bend at the upper and lower bone only. Bones in between move rigidly with them"),
        ("ALL", "All", "Bend at every bone from the upper to the lower one"),
    )  # fmt: skip
    method: str = choice_option(
        Group.ADVANCED, "AUTO", "Method", "How chains of more than two links are solved",
        ("AUTO", "Automatic", "Smooth over time. Does not get stuck at joint limits"),
        ("SPRING", "Spring", "Open and close all joints by one common factor, as a hind leg does"),
        ("CCD", "Cyclic Coordinate Descent", "Textbook cyclic coordinate descent, for comparison. Can get stuck at joint limits"),
        needs=when(joints=["ALL"]),
    )  # fmt: skip

    plane: str = choice_option(
        Group.PLANE, "YZ", "Plane", "Plane in which the chain bends",
        ("POSE", "Current Pose", "The plane of the chain's bend on each frame, rotated as little as possible to hold the target"),
        ("POLE", "Pole", "The plane through the root joint, the target and the pole"),
        ("REST", "Rest", "The plane in which the chain is bent at rest, rotated so the target lies in it"),
        ("XY", "XY (Top)", "The plane seen in Top view"),
        ("XZ", "XZ (Front)", "The plane seen in Front view"),
        ("YZ", "YZ (Right)", "The plane seen in Right view"),
        ("OBJECT", "Object", "The XY plane of an object"),
    )  # fmt: skip
    plane_space: str = choice_option(
        Group.PLANE, "ARMATURE", "Plane Space", "Space in which XY, XZ and YZ are measured",
        ("WORLD", "World", "The world's axes"),
        ("ARMATURE", "Armature", "The axes of the armature object"),
        ("PARENT", "Parent Bone", "The axes of the upper bone's parent"), needs=when(plane=LETTERS),
    )  # fmt: skip
    plane_object: str = object_option(
        Group.PLANE, "Plane Object", "Object whose X and Y axes span the plane", needs=when(plane=["OBJECT"]),
    )  # fmt: skip
    pole: str = object_option(Group.PLANE, "Pole", "Object that the knee or elbow points at", needs=when(plane=["POLE"]))
    pole_bone: str = bone_option(
        Group.PLANE, "Pole Bone", "Bone that the knee or elbow points at, if the pole is an armature",
        needs=when(plane=["POLE"]),
    )  # fmt: skip
    pole_angle: float = number_option(
        Group.PLANE, 0.0, "Pole Angle", "Rotate the bend plane around the line from the root joint to the target", unit="ANGLE",
        needs=when(plane=["POLE"]),
    )  # fmt: skip
    bend: str = choice_option(
        Group.PLANE, "POSITIVE", "Bend", "Direction in which the chain bends, as seen in the plane",
        ("POSITIVE", "Positive", "The lower bone turns counter-clockwise from the upper bone"),
        ("NEGATIVE", "Negative", "The lower bone turns clockwise from the upper bone"),
        ("KEEP", "Keep", "Keep the direction in which the chain is bent on each frame"),
    )  # fmt: skip
    depth: str = choice_option(
        Group.ADVANCED, "KEEP", "Depth", "What happens to bones that do not lie in the XY, XZ, YZ or object plane",
        ("KEEP", "Keep", "Only rotate around the plane's normal. Bones keep their distance from the plane"),
        ("FLATTEN", "Flatten", "Rotate the bones into the plane first"), needs=when(plane=[*LETTERS, "OBJECT"]),
    )  # fmt: skip
    reference: str = choice_option(
        Group.ADVANCED, "REST", "Reference", "Pose that the rotation starts from",
        ("REST", "Rest Pose", "Start from the rest pose, without the bones' own rotation"),
        ("POSE", "Current Pose", "Start from the pose on each frame and keep its twist"),
    )  # fmt: skip

    reach: str = choice_option(
        Group.REACH, "CLAMP", "Reach", "What happens near the limits of the chain's reach",
        ("CLAMP", "Clamp", "Point straight at a target that is too far away, fold for one that is too close"),
        ("SOFTEN", "Soften", "Ease in before the limb is fully extended or folded"),
        ("STRETCH", "Stretch", "Scale the bones so the tip stays on the target"),
    )  # fmt: skip
    softness: float = number_option(
        Group.REACH, 0.0, "Softness", "Fraction of the chain length over which to ease into full extension",
        minimum=0.0, maximum=1.0, unit="FACTOR", needs=when(reach=["SOFTEN", "STRETCH"]),
    )  # fmt: skip
    softness_near: float = number_option(
        Group.REACH, 0.0, "Softness Near", "Fraction of the chain length over which to ease into the fully folded pose",
        minimum=0.0, maximum=1.0, unit="FACTOR", needs=when(reach=["SOFTEN", "STRETCH"]),
    )  # fmt: skip
    stretch_start: float = number_option(
        Group.REACH, 1.0, "Stretch Start", "Fraction of the chain's reach at which stretching begins",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR", needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    stretch_max: float = number_option(
        Group.REACH, 2.0, "Stretch Maximum", "Largest scale of the bones", minimum=1.0, maximum=1000.0,
        needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    compress_min: float = number_option(
        Group.REACH, 1.0, "Compress Minimum", "Smallest bone scale, used for targets too close to reach",
        minimum=0.0, above=True, maximum=1.0, unit="FACTOR", needs=when(reach=["STRETCH"]),
    )  # fmt: skip
    min_distance: float = number_option(
        Group.REACH, 0.0, "Minimum Distance", "Keep the tip at least this far from the root joint (0 = off)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    max_distance: float = number_option(
        Group.REACH, 0.0, "Maximum Distance", "Keep the tip at most this far from the root joint (0 = off)",
        minimum=0.0, unit="LENGTH",
    )  # fmt: skip
    use_limits: bool = switch_option(Group.REACH, "Joint Limits", "Keep both joints within limits", default=False)
    upper_min: float = number_option(
        Group.REACH, -math.pi, "Upper Minimum", "Smallest rotation of the upper bone from rest", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    upper_max: float = number_option(
        Group.REACH, math.pi, "Upper Maximum", "Largest rotation of the upper bone from rest", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    lower_min: float = number_option(
        Group.REACH, -math.pi, "Lower Minimum", "Smallest angle between the two links", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    lower_max: float = number_option(
        Group.REACH, math.pi, "Lower Maximum", "Largest angle between the two links", unit="ANGLE",
        needs=when(use_limits=[True]),
    )  # fmt: skip
    influence: float = number_option(
        Group.CHAIN, 1.0, "Influence", "Blend between the existing pose (0) and the IK solution (1)",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip

    frame_range: str = choice_option(
        Group.KEYS, "SCENE", "Frame Range", "Frames to bake",
        ("SCENE", "Scene", "From the scene's first to its last frame"),
        ("PREVIEW", "Preview", "The preview range if it is on, else the scene's range"),
        ("TARGET", "Target", "From the target's first to its last key"),
        ("CUSTOM", "Custom", "Use Start and End"),
        ("AUTO", "Automatic", "From the target's first to its last key where it has several, else the scene's range"),
    )  # fmt: skip
    frame_start: float = number_option(
        Group.KEYS, 1.0, "Start", "First frame to bake", unit="FRAMES", needs=when(frame_range=["CUSTOM"]),
    )  # fmt: skip
    frame_end: float = number_option(
        Group.KEYS, 250.0, "End", "Last frame to bake", unit="FRAMES", needs=when(frame_range=["CUSTOM"]),
    )  # fmt: skip
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
    destination: str = choice_option(
        Group.KEYS, "ACTION", "Destination", "Where the keys go",
        ("ACTION", "Current Action", "Into the armature's own action and slot"),
        ("NEW_ACTION", "New Action", "Into a new action that replaces the current one on the armature; the current one is kept"),
        ("NLA", "NLA Strip", "Into a strip on a new NLA track above all others"),
    )  # fmt: skip
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the baked animation and report its measured distance to the target",
        default=True,
    )  # fmt: skip
    evaluation: str = choice_option(
        Group.ADVANCED, "AUTO", "Evaluation", "How motion is sampled",
        ("AUTO", "Automatic", "Fastest method that is still exact, chosen per object"),
        ("PROBES", "Probes", "Let Blender evaluate only what is needed, in a temporary scene"),
        ("SCENE", "Scene", "Let Blender evaluate this scene frame by frame"),
    )  # fmt: skip

    stored: str = ""
    """Name of the stored chain these settings come from, whose animated settings are read per frame. Not an option."""

    asked: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the settings that were given for this bake, neither stored on a chain nor chosen for it. Not an option."""

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
