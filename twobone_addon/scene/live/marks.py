"""What tells the datablocks of a limb that Blender poses from others: custom properties, never names; and whether it can."""

from __future__ import annotations

import bpy

CONSTRAINT = "Two-Bone IK"
"""Name of the constraints, which users see."""

HELPER = "IK"
"""First word of the names of helpers and their stand-ins."""

MARK = "two_bone_live"
"""Custom property of a helper: the name of its stored chain; also of the shared mesh and of the stand-ins."""

REFERENCE = "two_bone_reference"
"""Custom property of a helper: what its numbers were made from, as text."""


def can_go_live() -> bool:
    """Whether constraints read what geometry nodes compute, so that Blender itself can pose a limb as Bake does; since 5.0."""
    return hasattr(bpy.types, "GeometryAttributeConstraint")
