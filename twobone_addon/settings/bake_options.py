"""The settings of a bake in four groups: chain and target, bend plane, reach, keys."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .options import (
    CUSTOM,
    Group,
    bone_option,
    choice_option,
    destination_option,
    end_option,
    evaluation_option,
    number_option,
    object_option,
    range_option,
    start_option,
    switch_option,
    when,
)

TIP_ENDS = (
    ("AUTO", "Automatic", "Head of the tip bone if it is a child of the lower bone, tail if it is the lower bone"),
    ("HEAD", "Head", "The joint at the start of the tip bone"),
    ("TAIL", "Tail", "The end of the tip bone"),
)
"""Choices for which end of a bone is the tip."""


@dataclass(frozen=True)
class ChainSettings:
    """The chain's bones, its target, and how the tip follows it."""

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
        *TIP_ENDS,
    )  # fmt: skip
    target: str = object_option(Group.CHAIN, "Target", "Object that the tip follows, such as an empty")
    target_bone: str = bone_option(Group.CHAIN, "Target Bone", "Bone that the tip follows, if the target is an armature")
    target_root_bone: str = bone_option(
        Group.ADVANCED,
        "Target Root Bone",
        "First bone of the limb that the target belongs to. The target is followed relative to that bone's head, turned if its "
        "character faces another way",
    )
    target_scale: float = number_option(
        Group.ADVANCED, 1.0, "Target Scale", "Scale of the target's and the pole's distance from the target root bone. "
        "0 is the length of this limb divided by that of the other", minimum=0.0,
    )  # fmt: skip
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
    influence: float = number_option(
        Group.CHAIN, 1.0, "Influence", "Blend between the existing pose (0) and the IK solution (1)",
        minimum=0.0, maximum=1.0, unit="FACTOR",
    )  # fmt: skip


LETTERS = ("XY", "XZ", "YZ")
"""Planes named by two axes."""

LIMB_PLANES = ("POSE", "REST", "POLE")
"""Planes that follow the limb or its pole, and contain the target."""


AUTO = "AUTO"
"""Value of a setting that is chosen from the rig, or on top of a stored chain is left as the chain has it."""

AUTOMATIC = {"plane_space": "ARMATURE", "bend": "POSITIVE", "depth": "KEEP", "reference": "REST"}
"""Settings besides the plane that may be `AUTO`, and what each is then if the plane is named."""


@dataclass(frozen=True)
class PlaneSettings:
    """The plane in which a chain bends, the side of the bend, and the pose from which it is rotated."""

    plane: str = choice_option(
        Group.PLANE, AUTO, "Plane", "Plane in which the chain bends",
        (AUTO, "Automatic", "Current Pose; in a flat rig such as a cut-out, the plane in which it lies"),
        ("POSE", "Current Pose", "The plane of the chain's bend on each frame, rotated just enough to contain the target"),
        ("POLE", "Pole", "The plane through the root joint, the target and the pole"),
        ("REST", "Rest", "The plane in which the chain is bent at rest, rotated so the target lies in it"),
        ("XY", "XY (Top)", "The plane seen in Top view"),
        ("XZ", "XZ (Front)", "The plane seen in Front view"),
        ("YZ", "YZ (Right)", "The plane seen in Right view"),
        ("OBJECT", "Object", "The XY plane of an object"),
    )  # fmt: skip
    plane_space: str = choice_option(
        Group.PLANE, AUTO, "Plane Space", "Space in which XY, XZ and YZ are measured",
        (AUTO, "Automatic", "Armature"),
        ("WORLD", "World", "The world's axes"),
        ("ARMATURE", "Armature", "The axes of the armature object"),
        ("PARENT", "Parent Bone", "The axes of the upper bone's parent"), needs=when(plane=[AUTO, *LETTERS]),
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
        Group.PLANE, AUTO, "Bend", "Direction in which the chain bends, as seen in the plane",
        (AUTO, "Automatic", "Positive; if Plane is automatic, the side to which the chain is bent"),
        ("POSITIVE", "Positive", "The lower bone turns counter-clockwise from the upper bone"),
        ("NEGATIVE", "Negative", "The lower bone turns clockwise from the upper bone"),
        ("KEEP", "Keep", "Keep the direction in which the chain is bent on each frame"),
    )  # fmt: skip
    depth: str = choice_option(
        Group.ADVANCED, AUTO, "Depth", "What happens to bones that do not lie in the XY, XZ, YZ or object plane",
        (AUTO, "Automatic", "Keep"),
        ("KEEP", "Keep", "Only rotate around the plane's normal. Bones keep their distance from the plane"),
        ("FLATTEN", "Flatten", "Rotate the bones into the plane first"), needs=when(plane=[AUTO, *LETTERS, "OBJECT"]),
    )  # fmt: skip
    reference: str = choice_option(
        Group.ADVANCED, AUTO, "Reference", "Pose that the rotation starts from",
        (AUTO, "Automatic", "Rest Pose; if Plane is automatic and not that of a flat rig, Current Pose"),
        ("REST", "Rest Pose", "Start from the rest pose, without the bones' own rotation"),
        ("POSE", "Current Pose", "Start from the pose on each frame and keep its twist"),
    )  # fmt: skip


@dataclass(frozen=True)
class ReachSettings:
    """What happens near the limits of reach and joints."""

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


@dataclass(frozen=True)
class KeySettings:
    """Which frames are baked, which keys are written and where, and how motion is evaluated."""

    frame_range: str = range_option(
        "Frames to bake",
        ("TARGET", "Target", "From the target's first to its last key"),
        CUSTOM,
        (
            "AUTO",
            "Automatic",
            "The target's keys where it has several, else all that moves it and the limb, within the scene's range",
        ),
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
        ("LINEAR", "Linear", "Straight from key to key; held where the motion holds still until the next key"),
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
