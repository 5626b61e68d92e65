"""Gizmos in the 3D viewport beside the active chain's joints: drag the tip, flip the knee."""

import bpy
from bpy_extras import view3d_utils
from mathutils import Matrix, Vector

from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature
from ..stored.live_limbs import is_live
from ..stored.where import MODES, chain_in

BESIDE = 26.0
"""Distance from a joint to its gizmo in pixels, at resolution scale 1, so that bones and targets stay clickable."""

SIZE = 0.16
"""Radius of a gizmo, relative to Blender's gizmo size."""


class TWOBONE_GGT_chain(bpy.types.GizmoGroup):
    """Handles of the active chain"""

    bl_idname = "TWOBONE_GGT_chain"
    bl_label = "Two-Bone IK"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT"}

    tip: bpy.types.Gizmo
    knee: bpy.types.Gizmo

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether there is an active chain to drag and flip."""
        armature, chain = active_armature(context), chain_in(context)
        return (
            context.mode in MODES
            and chain is not None
            and armature.twobone.show_gizmos
            and armature.is_editable
            and armature.visible_get(viewport=context.space_data)
        )

    def setup(self, _context: bpy.types.Context) -> None:
        """Make both gizmos."""
        self.tip = self._button("twobone.drag", "VIEW_PAN")
        self.knee = self._button("twobone.flip", "ARROW_LEFTRIGHT")

    def _button(self, operator: str, icon: str) -> bpy.types.Gizmo:
        button = self.gizmos.new("GIZMO_GT_button_2d")
        button.icon = icon
        button.draw_options = {"BACKDROP", "OUTLINE"}
        button.scale_basis = SIZE
        button.color, button.alpha = (0.0, 0.0, 0.0), 0.5
        button.color_highlight, button.alpha_highlight = (0.2, 0.5, 0.9), 0.9
        button.target_set_operator(operator)
        return button

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Move the gizmos to the joints, and hide those whose operator would refuse."""
        chain = chain_in(context)
        joints = knee_and_tip(context, chain) if chain is not None else None
        self.tip.hide = joints is None or is_live(chain)
        self.knee.hide = joints is None or chain.bend == "KEEP"
        for button, joint in zip((self.knee, self.tip), joints or (), strict=False):
            button.matrix_basis = Matrix.Translation(beside(context, joint))


def knee_and_tip(context: bpy.types.Context, chain: StoredChain) -> tuple[Vector, Vector] | None:
    """Return middle joint and tip as evaluated, world space; `None` if the bones form no chain."""
    from ...pipeline.plan.completing import names_of
    from ...tasks.give.guides import target_guide

    armature = chain.id_data
    try:
        names = names_of(chain)
    except TwoBoneError:
        return None
    evaluated = armature.evaluated_get(context.view_layer.depsgraph)
    knee = evaluated.matrix_world @ evaluated.pose.bones[names.lower].head
    return knee, Vector(target_guide(evaluated, names).location_world)


def beside(context: bpy.types.Context, joint: Vector) -> Vector:
    """Return the position of a gizmo, world space: at the depth of the joint, a little to the right of it on screen."""
    on_screen = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, joint)
    # What is behind the viewer has no position on the screen.
    if on_screen is None:
        return joint
    right = on_screen + Vector((BESIDE * context.preferences.system.ui_scale, 0.0))
    return view3d_utils.region_2d_to_location_3d(context.region, context.region_data, right, joint)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_GGT_chain,))
