"""The chain that the user works on, from the active object; and mixins for operators that need it or its armature."""

import bpy
from bpy.app.translations import pgettext_rpt

from ...pipeline.plan.stored import MODES, StoredChain, active_armature, active_chain


def chain_in(context: bpy.types.Context) -> StoredChain | None:
    """Return the active chain of the armature that the user works on; `None` if there is none."""
    return active_chain(active_armature(context))


def is_busy(manager: bpy.types.WindowManager) -> bool:
    """Whether a modal operator or playback is running, so that timers must not change frames."""
    return any(window.modal_operators or window.screen.is_animation_playing for window in manager.windows)


def redraw_viewports(manager: bpy.types.WindowManager) -> None:
    """Redraw every 3D viewport and its sidebar, since changes from Python do not trigger it."""
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


class NeedsMode:
    """Mixin for operators that need Object or Pose Mode."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Whether the operator can run; gives Blender the reason if not."""
        hindrance = cls.hindrance(context)
        if hindrance:
            cls.poll_message_set(pgettext_rpt(hindrance))
        return not hindrance

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, with a remedy; empty if it can."""
        if context.mode not in MODES:
            return "Switch to Object Mode or Pose Mode first"
        return ""


class NeedsArmature(NeedsMode):
    """Mixin for operators that need an editable active armature."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance:
            return hindrance
        armature = active_armature(context)
        if armature is None or armature.type != "ARMATURE":
            return "Make the armature active first"
        return "" if armature.is_editable else "The armature is linked from another file: make it local or override it first"


class NeedsChain(NeedsArmature):
    """Mixin for operators that need an active stored chain."""

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance or chain_in(context) is not None:
            return hindrance
        return "Add a chain to the list first: select a limb's bone and press Add Chain"
