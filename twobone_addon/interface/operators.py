"""The bake operators: gather settings, call the use-case, say the result."""

from collections.abc import Iterator

import bpy

from ..baking.bake import bake_steps
from ..baking.completing import StoredChain, completed, limit_pairs, stored_chains, stored_settings
from ..baking.planning import plan_chain
from ..errors import SelectionError, TwoBoneError
from ..options import Group
from ..settings import BakeSettings
from .option_properties import given_settings, operator_properties, show_settings, with_properties
from .progress import Begun, ShowsProgress
from .properties import TwoBoneLimit
from .rows import LIMITS, draw_options
from .storing import keep_names_apart, set_limits
from .where import NeedsMode, active_armature

SCOPES = (
    ("ACTIVE", "Active Armature", "Every enabled chain of the active armature"),
    ("SELECTED", "Selected Armatures", "Every enabled chain of the selected armatures"),
    ("SCENE", "Scene", "Every enabled chain of the scene"),
)


SETTLED = {
    "min_distance", "max_distance", "use_limits", *LIMITS,
    "interpolation", "key_before", "key_after", "destination", "verify", "evaluation",
}  # fmt: skip
"""Settings that nobody tries out by changing them after the bake: facts of the rig, and habits of the animator."""


@with_properties(operator_properties())
class TWOBONE_OT_bake(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake two-bone IK: key the rotations of a chain so that its tip follows the target in the chosen plane"""

    bl_idname = "twobone.bake"
    bl_label = "Bake Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    stored: bpy.props.StringProperty(
        name="Stored Chain",
        description="Name of the stored chain whose keyed bend and influence are read at every frame",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    limits: bpy.props.CollectionProperty(
        type=TwoBoneLimit,
        name="Joint Limits",
        description="Limits of each joint where all joints bend; empty for those of upper and lower bone",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The bake of one chain; the redo panel shows what is baked."""
        armature = active_armature(context)
        if armature is not None and armature.type == "ARMATURE":
            keep_names_apart(armature)
        settings = self._settings(context)
        self._show(settings)
        return Begun([self.stored], bake_steps(context.scene, [settings], active_armature(context)))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: what makes sense to change after the fact."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for group in (Group.PLANE, Group.REACH, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=SETTLED)

    def _settings(self, context: bpy.types.Context) -> BakeSettings:
        """What is given, and from chain, selection and rig what is not; the same again when the redo panel repeats it."""
        given = given_settings(self)
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.stored:
            return BakeSettings(**given, stored=self.stored if self._is_as_stored() else "")
        return completed(given, active_armature(context))

    def _is_as_stored(self) -> bool:
        """Whether nobody has chosen another bend or influence in the redo panel than the stored chain's."""
        chain = bpy.data.objects[self.armature].twobone.chains.get(self.stored)
        return chain is not None and self.bend == chain.bend and self.influence == chain.influence

    def _show(self, settings: BakeSettings) -> None:
        """Leave in the redo panel what was baked."""
        show_settings(self, settings)
        # A chain whose bend or influence was changed here stays the one that keeps the report.
        self.stored = self.stored or settings.stored
        set_limits(self.limits, settings.limits)


class TWOBONE_OT_bake_all(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake all enabled chains of the list, in one walk over time"""

    bl_idname = "twobone.bake_all"
    bl_label = "Bake All Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    scope: bpy.props.EnumProperty(
        name="Scope", description="Whose chains are baked", items=SCOPES, default="ACTIVE", options={"SKIP_SAVE"}
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The bake of all enabled chains."""
        for armature in {armature for armature, _ in stored_chains(context.scene)}:
            keep_names_apart(armature)
        settings = [stored_settings(armature, chain, {}) for armature, chain in chains_in_scope(context, self.scope)]
        if not settings:
            where = {"ACTIVE": "active armature", "SELECTED": "selection", "SCENE": "scene"}[self.scope]
            raise SelectionError(f"No enabled chain is stored in the {where}. Add a chain in the sidebar first.")
        return Begun([wanted.stored for wanted in settings], bake_steps(context.scene, settings))

    def explain(self, context: bpy.types.Context, error: TwoBoneError) -> str:
        """Say which of the chains it was; planning them one by one takes time, so only now."""
        for armature, chain in chains_in_scope(context, self.scope):
            try:
                plan_chain(context.scene, stored_settings(armature, chain, {}), None)
            except TwoBoneError as found:
                return f'Chain "{chain.name}" of "{armature.name}": {found}'
        return str(error)


def chains_in_scope(context: bpy.types.Context, scope: str) -> Iterator[tuple[bpy.types.Object, StoredChain]]:
    """Every enabled stored chain that `scope` means, with its armature."""
    active = active_armature(context)
    for armature, chain in stored_chains(context.scene):
        wanted = scope == "SCENE" or (armature == active if scope == "ACTIVE" else armature.select_get())
        if wanted and chain.enabled:
            yield armature, chain


CLASSES = (TWOBONE_OT_bake, TWOBONE_OT_bake_all)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
