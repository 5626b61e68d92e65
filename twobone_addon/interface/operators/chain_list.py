"""Operators of the buttons beside the list of chains."""

from dataclasses import asdict

import bpy

from ...pipeline.plan.stored import active_armature, stored_settings, stored_values
from ...scene.lookup import other_side
from ..refusing import MayRefuse
from ..stored.live_limbs import stop
from ..stored.selecting import keep_active, list_changed
from ..stored.storing import add_chain, add_selected_chain, chain_of_bones, limb_of, set_limb, set_values
from ..stored.where import NeedsArmature, NeedsChain, chain_in


class TWOBONE_OT_chain_add(MayRefuse, NeedsArmature, bpy.types.Operator):
    """Add a chain for the selected bones. Nothing moves until it is baked"""

    bl_idname = "twobone.chain_add"
    bl_label = "Add Chain"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Add the chain and make it active."""
        keep_active(context, add_selected_chain(active_armature(context)))
        return {"FINISHED"}


class NeedsFreeList(NeedsChain):
    """Mixin for operators that remove or reorder chains, which Blender does not allow on a library override."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance or active_armature(context).override_library is None:
            return hindrance
        return "Chains on a library override cannot be removed or reordered. Disable them instead"


class TWOBONE_OT_chain_remove(MayRefuse, NeedsFreeList, bpy.types.Operator):
    """Remove the active chain from the list. Its keys are kept"""

    bl_idname = "twobone.chain_remove"
    bl_label = "Remove Chain"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Remove the active chain, and make its neighbour active."""
        armature = active_armature(context)
        stored = armature.twobone
        stop(stored.chains[stored.active_index])
        stored.chains.remove(stored.active_index)
        stored.active_index = max(min(stored.active_index, len(stored.chains) - 1), 0)
        list_changed(context, armature)
        return {"FINISHED"}


class TWOBONE_OT_chain_move(MayRefuse, NeedsFreeList, bpy.types.Operator):
    """Move the active chain up or down in the list"""

    bl_idname = "twobone.chain_move"
    bl_label = "Move Chain"
    bl_options = {"REGISTER", "UNDO"}

    direction: bpy.props.EnumProperty(
        name="Direction",
        description="Direction in which to move the chain",
        items=(("UP", "Up", "Towards the top of the list"), ("DOWN", "Down", "Towards the end of the list")),
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Move the active chain by one place; cancelled at the end of the list."""
        armature = active_armature(context)
        stored = armature.twobone
        index = stored.active_index + (-1 if self.direction == "UP" else 1)
        if not 0 <= index < len(stored.chains):
            return {"CANCELLED"}
        stored.chains.move(stored.active_index, index)
        stored.active_index = index
        list_changed(context, armature)
        return {"FINISHED"}


class TWOBONE_OT_chain_duplicate(MayRefuse, NeedsChain, bpy.types.Operator):
    """Add a copy of the active chain, with its settings and its target"""

    bl_idname = "twobone.chain_duplicate"
    bl_label = "Duplicate Chain"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Copy the active chain, and make the copy active."""
        armature, chain = active_armature(context), chain_in(context)
        name, values, limb = chain.name, stored_values(armature, chain), limb_of(chain)
        copy = add_chain(armature, name, values)
        set_limb(copy, limb)
        keep_active(context, copy)
        return {"FINISHED"}


class TWOBONE_OT_chain_mirror(MayRefuse, NeedsChain, bpy.types.Operator):
    """Add or update the mirrored chain on the other side, with its target and pole. Missing ones are created"""

    bl_idname = "twobone.chain_mirror"
    bl_label = "Mirror Chain"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Update the chain of the mirrored bones if it exists, otherwise add it, and make it active."""
        from ...pipeline.plan.completing import mirrored_limb, mirrored_settings
        from ...tasks.give.guides import other_guides

        armature, chain = active_armature(context), chain_in(context)
        name, settings = other_side(chain.name), stored_settings(armature, chain, {})
        limb = mirrored_limb(armature, limb_of(chain))
        flipped = mirrored_settings(armature, settings)
        present = chain_of_bones(armature, flipped.upper, flipped.lower)
        # Guides are mirrored from where they are, and a plane object's plane from where its image then is.
        context.view_layer.update()
        guides = other_guides(context.scene, armature, settings, flipped, present)
        context.view_layer.update()
        values = asdict(mirrored_settings(armature, settings, guides))
        if present is None:
            present = add_chain(armature, name, values)
        else:
            set_values(present, values)
        set_limb(present, limb)
        keep_active(context, present)
        return {"FINISHED"}


CLASSES = (
    TWOBONE_OT_chain_add,
    TWOBONE_OT_chain_remove,
    TWOBONE_OT_chain_move,
    TWOBONE_OT_chain_duplicate,
    TWOBONE_OT_chain_mirror,
)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
