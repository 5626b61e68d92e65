"""What an animator does about keys besides baking: take a bake back, and make joints single curves."""

from collections.abc import Iterable, Iterator

import bpy
from bpy.app.translations import pgettext_rpt

from ...baking.actions.clearing import clear_actions
from ...baking.hinges.aligning import align_hinges
from ...settings import BakeSettings
from ..refusing import MayRefuse
from ..running.actions import ACTIONS
from ..sentences import in_language
from ..stored.option_properties import given_settings, operator_properties, with_properties
from ..stored.selecting import meant_settings
from ..stored.where import NeedsMode, active_armature


@with_properties(operator_properties() | ACTIONS)
class TWOBONE_OT_clear_baked(MayRefuse, NeedsMode, bpy.types.Operator):
    """Remove the keys that a bake wrote on the selected chain, in its range or at all frames; hand-made keys are kept"""

    bl_idname = "twobone.clear_baked"
    bl_label = "Clear Baked Keys"
    bl_options = {"REGISTER", "UNDO"}

    all_frames: bpy.props.BoolProperty(
        name="All Frames",
        description="Also remove baked keys outside the chain's range, such as those of a longer range baked before",
        default=False,
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Remove them, and say how many and how many stay; the redo panel is where to take those as well."""
        armature = active_armature(context)
        wanted = meant_settings(context, given_settings(self))
        cleared = clear_actions(context.scene, wanted, armature, self.actions, all_frames=self.all_frames)
        removed, left = cleared.removed, cleared.left
        if removed and not left:
            forget_results(wanted)
        said = [*_said(removed, left), *map(in_language, cleared.said_undone()), *cleared.notes()]
        self.report({"WARNING" if left or cleared.refused else "INFO"}, " ".join(said))
        return {"FINISHED"} if removed or left else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: whether the range counts."""
        self.layout.use_property_split = True
        self.layout.prop(self, "all_frames")
        self.layout.prop(self, "actions")


def forget_results(wanted: Iterable[BakeSettings]) -> None:
    """Take the results of their last bake from the stored chains that settings come from."""
    for settings in wanted:
        chain = bpy.data.objects[settings.armature].twobone.chains.get(settings.stored) if settings.stored else None
        if chain is not None:
            chain.report = ""


def _said(removed: int, left: int) -> Iterator[str]:
    if removed == 0:
        yield pgettext_rpt("No baked keys in the range.")
    elif removed == 1:
        yield pgettext_rpt("1 baked key removed.")
    else:
        yield pgettext_rpt("{count} baked keys removed.").format(count=removed)
    if left == 1:
        yield pgettext_rpt("1 stays outside the range: All Frames removes it as well.")
    elif left:
        yield pgettext_rpt("{count} stay outside the range: All Frames removes them as well.").format(count=left)


@with_properties(operator_properties())
class TWOBONE_OT_align_hinge(MayRefuse, NeedsMode, bpy.types.Operator):
    """Set the bones' rotation modes so that each joint needs only one F-Curve"""

    bl_idname = "twobone.align_hinge"
    bl_label = "Align Hinges"
    bl_options = {"REGISTER", "UNDO"}

    roll: bpy.props.BoolProperty(
        name="Change Roll",
        description="Roll bones whose hinge is not one of their own axes; pose and motion stay as they are",
        default=False,
        options={"SKIP_SAVE"},
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Align what can be aligned, and say what cannot."""
        armature = active_armature(context)
        aligned = align_hinges(context.scene, meant_settings(context, given_settings(self))[0], armature, roll=self.roll)
        if aligned.changed:
            done = pgettext_rpt("Hinges aligned: {bones}.").format(bones=", ".join(aligned.changed))
        else:
            done = pgettext_rpt("All hinges are aligned already.")
        self.report({"WARNING" if aligned.left else "INFO"}, " ".join([done, *map(in_language, aligned.left)]))
        return {"FINISHED"} if aligned.changed else {"CANCELLED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: whether rolls may change."""
        self.layout.use_property_split = True
        self.layout.prop(self, "roll")


CLASSES = (TWOBONE_OT_clear_baked, TWOBONE_OT_align_hinge)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
