"""The settings of a bake that say how the chain bends."""

from __future__ import annotations

from dataclasses import dataclass

from .options import Group, bone_option, choice_option, number_option, object_option, when

LETTERS = ("XY", "XZ", "YZ")
"""Planes named by two axes."""

LIMB_PLANES = ("POSE", "REST", "POLE")
"""Planes that follow the limb, or its pole, and contain the target."""


@dataclass(frozen=True)
class PlaneSettings:
    """In which plane a chain bends, to which side, and from which pose."""

    plane: str = choice_option(
        Group.PLANE, "YZ", "Plane", "Plane in which the chain bends",
        ("POSE", "Current Pose", "The plane of the chain's bend on each frame, rotated just enough to contain the target"),
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
