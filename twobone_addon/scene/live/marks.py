"""What tells the datablocks of a limb that Blender poses from others: custom properties, never names; and whether it can."""

from __future__ import annotations

import bpy

CONSTRAINT = "Two-Bone IK"
"""Name of the constraints, which users see."""

HELPER = "IK"
"""First word of the names of helpers and their stand-ins."""

CARRIES = "CHILD_OF"
"""Kind of the constraint that lets a helper move with its armature or bone: it alone gives it any axes there."""

CORE = "Two-Bone IK"
"""Name of the group node that has the limb's own numbers, and of the modifier and the mesh."""

INFLUENCE = "Influence"
"""Name of the node with the limb's influence, where its own pose is seen in part."""

MARK = "two_bone_live"
"""Custom property of a helper: the name of its stored chain; also of the shared mesh and of the stand-ins."""

REFERENCE = "two_bone_reference"
"""Custom property of a helper: what its numbers were made from, as text."""


KIND = "two_bone_solver"
"""Custom property of the trees that limbs share: kind of plane, reach, and the version of the nodes."""


def has_solvers() -> bool:
    """Whether the file has any of the shared trees, and so may have limbs that Blender poses."""
    return any(KIND in tree for tree in bpy.data.node_groups)


def can_go_live() -> bool:
    """Whether constraints read what geometry nodes compute, so that Blender itself can pose a limb as Bake does; since 5.0."""
    return hasattr(bpy.types, "GeometryAttributeConstraint")


NEEDS_NEWER = "Live needs Blender 5.0 or newer. Use Drag, or Bake."
"""What users of an older Blender are told."""
