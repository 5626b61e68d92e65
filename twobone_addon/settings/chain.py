"""The settings of a bake that say what follows what."""

from __future__ import annotations

from dataclasses import dataclass

from .options import Group, bone_option, choice_option, number_option, object_option, when


@dataclass(frozen=True)
class ChainSettings:
    """Which bones and which target, and how the two are joined."""

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
    target_root_bone: str = bone_option(
        Group.ADVANCED,
        "Target Root Bone",
        "First bone of the limb that the target belongs to. The target is followed relative to that bone's head",
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
