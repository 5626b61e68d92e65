"""Which armature and which chain a person means, from what is active."""

import bpy

from ..baking.completing import StoredChain, active_chain

GUIDES = ("target", "pole", "plane_object")
"""Objects of a chain that a person moves while working on it."""

MODES = {"OBJECT", "POSE"}


def active_object(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active object, also where no window is in context."""
    return context.view_layer.objects.active if context.view_layer else None


def active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or the one whose active chain uses the active object as target, pole or plane."""
    active = active_object(context)
    if active is None or active.type == "ARMATURE":
        return active
    return next((thing for thing in context.scene.objects if _guides(thing, active)), None)


def chain_in(context: bpy.types.Context) -> StoredChain | None:
    """The stored chain that a person works on."""
    return active_chain(active_armature(context))


def _guides(thing: bpy.types.Object, active: bpy.types.Object) -> bool:
    chain = active_chain(thing)
    return chain is not None and any(getattr(chain, name) == active for name in GUIDES)


class NeedsMode:
    """Operators that work where nothing is being edited."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what to do where it cannot work."""
        if context.mode not in MODES:
            cls.poll_message_set("Leave the present mode first: this works in Object Mode and in Pose Mode")
            return False
        return True


class NeedsArmature(NeedsMode):
    """Operators that work on the armature that is meant."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what to do where it cannot work."""
        if not super().poll(context):
            return False
        armature = active_armature(context)
        if armature is None or armature.type != "ARMATURE":
            cls.poll_message_set("Make the armature active first")
            return False
        if not armature.is_editable:
            cls.poll_message_set("The armature is linked from another file: make it local or override it first")
            return False
        return True


class NeedsChain(NeedsArmature):
    """Operators that work on the stored chain that is active in the list."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Say what to do where it cannot work."""
        if not super().poll(context):
            return False
        if chain_in(context) is None:
            cls.poll_message_set("Add a chain to the list first: select a limb's bone and press Add Chain")
            return False
        return True
