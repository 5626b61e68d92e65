"""Which armature and which chain a person means, from what is active."""

import bpy
from bpy.app.translations import pgettext_rpt

from ...pipeline.plan.completing import StoredChain, active_chain, active_object

GUIDES = ("target", "pole", "plane_object")
"""Objects of a chain that a person moves while working on it."""

MODES = {"OBJECT", "POSE"}


def active_armature(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature, or the one with a chain that uses the active object as target, pole or plane.

    Of several the one whose active chain does.
    """
    active = active_object(context)
    if active is None or active.type == "ARMATURE":
        return active
    guided = [thing for thing in context.scene.objects if thing.type == "ARMATURE" and guided_chains(thing, active)]
    return next((thing for thing in guided if active_chain(thing) in guided_chains(thing, active)), guided[0] if guided else None)


def guided_chains(armature: bpy.types.Object, thing: bpy.types.Object) -> list[StoredChain]:
    """The armature's chains that use an object as target, pole or plane, the active one first."""
    found = [chain for chain in armature.twobone.chains if any(getattr(chain, name) == thing for name in GUIDES)]
    return sorted(found, key=lambda chain: chain != active_chain(armature))


def chain_in(context: bpy.types.Context) -> StoredChain | None:
    """The stored chain that a person works on."""
    return active_chain(active_armature(context))


def is_busy(manager: bpy.types.WindowManager) -> bool:
    """Whether the user is in the middle of a move, a bake or playback: nobody else should go through time now."""
    return any(window.modal_operators or window.screen.is_animation_playing for window in manager.windows)


def redraw_viewports(manager: bpy.types.WindowManager) -> None:
    """Let every 3D viewport and its sidebar show what has changed: what Python sets is not drawn by itself."""
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


class NeedsMode:
    """Operators that work where nothing is being edited."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether it works here; Blender shows why not."""
        hindrance = cls.hindrance(context)
        if hindrance:
            cls.poll_message_set(pgettext_rpt(hindrance))
        return not hindrance

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way, and what to do about it; empty where it works."""
        if context.mode not in MODES:
            return "Switch to Object Mode or Pose Mode first"
        return ""


class NeedsArmature(NeedsMode):
    """Operators that work on the armature that is meant."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way."""
        hindrance = super().hindrance(context)
        if hindrance:
            return hindrance
        armature = active_armature(context)
        if armature is None or armature.type != "ARMATURE":
            return "Make the armature active first"
        return "" if armature.is_editable else "The armature is linked from another file: make it local or override it first"


class NeedsChain(NeedsArmature):
    """Operators that work on the stored chain that is active in the list."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """What is in the way."""
        hindrance = super().hindrance(context)
        if hindrance or chain_in(context) is not None:
            return hindrance
        return "Add a chain to the list first: select a limb's bone and press Add Chain"
