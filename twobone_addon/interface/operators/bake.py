"""The bake operators: gather settings, call the use-case, say the result."""

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ...baking.bake import bake_steps
from ...baking.plan.completing import StoredChain, limit_pairs, over_stored, stored_chains, stored_settings
from ...baking.plan.planning import plan_chain
from ...errors import ObjectError, SelectionError, TwoBoneError
from ...options import Group
from ...scene.lookup import find_armature
from ...settings import BakeSettings
from ..rows import LIMITS, draw_options
from ..stored.option_properties import given_settings, operator_properties, show_settings, with_properties
from ..stored.properties import TwoBoneLimit
from ..stored.selecting import meant_chains, meant_settings, selected_chains
from ..stored.storing import keep_names_apart, keyed_settings, set_limits, set_values
from ..stored.where import NeedsMode, active_armature
from .progress import Begun, ShowsProgress

SCOPES = (
    ("ACTIVE", "Active Armature", "Every enabled chain of the active armature"),
    ("SELECTED", "Selected Armatures", "Every enabled chain of the selected armatures"),
    ("SCENE", "Scene", "Every enabled chain of the scene"),
)


SETTLED = {
    "armature", "upper", "lower", "tip", "tip_end", "target", "target_bone", "target_offset", "joints", "method",
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
        description="Per-joint limits, used when Joints is All. If empty, the upper and lower limits apply",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    is_repeated: bool
    """Whether the redo panel bakes a stored chain again, with what was changed there."""
    several = 0
    """How many chains are baked where several are selected."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """The bake of the chain that is meant, or of all that are selected; the redo panel shows a single one's settings."""
        armature = active_armature(context)
        owners = {armature, *(chain.id_data for chain in selected_chains(context.view_layer))}
        armatures = [owner for owner in owners if owner is not None and owner.type == "ARMATURE"]
        self.renamed = [renamed for owner in armatures for renamed in keep_names_apart(owner)]
        wanted = self._settings(context)
        self.several = len(wanted) if len(wanted) > 1 else 0
        self.is_repeated = bool(self.stored and self.upper and self.lower)
        if not self.several:
            self._show(wanted[0])
        keepers = [settings.stored for settings in wanted] if self.several else [self.stored]
        return Begun(keepers, bake_steps(context.scene, wanted, armature))

    def explain(self, context: bpy.types.Context, error: TwoBoneError) -> str:
        """Where several chains were selected, say which of them it was."""
        chains = meant_chains(context.view_layer, active_armature(context)) if self.several else []
        return explained(context, chains, error)

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: what makes sense to change after the fact."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        if self.several:
            text = pgettext_iface("{count} chains, each with its own settings").format(count=self.several)
            self.layout.label(text=text, translate=False)
            return
        chain = self._stored_chain()
        without = SETTLED | (keyed_settings(chain) if chain else set())
        for group in (Group.PLANE, Group.ADVANCED, Group.CHAIN, Group.REACH, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=without)

    def settle(self) -> None:
        """Give the stored chain what was changed in the redo panel: panel, overlay and the next bake go on from there."""
        chain = self._stored_chain()
        if chain is not None and self.is_repeated:
            values = given_settings(self)
            set_values(chain, {name: values[name] for name in values.keys() - keyed_settings(chain)})

    def _stored_chain(self) -> StoredChain | None:
        armature = bpy.data.objects.get(self.armature)
        return armature.twobone.chains.get(self.stored) if armature is not None and self.stored else None

    def _settings(self, context: bpy.types.Context) -> list[BakeSettings]:
        """What is given, and from chain, selection and rig what is not; the same again when the redo panel repeats it."""
        given = given_settings(self)
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.stored:
            return [self._settings_of_stored(context, given)]
        return meant_settings(context, given)

    def _settings_of_stored(self, context: bpy.types.Context, given: dict[str, Any]) -> BakeSettings:
        """Those of the stored chain with what is given on top; where the bones are given, too, everything is."""
        armature = find_armature(self.armature, active_armature(context))
        chain = armature.twobone.chains.get(self.stored)
        if chain is None:
            known = ", ".join(f'"{chain.name}"' for chain in armature.twobone.chains) or "none"
            raise ObjectError(
                f'Armature "{armature.name}" has no stored chain "{self.stored}". Use the name of one that it has ({known}).'
            )
        if not (self.upper or self.lower):
            return stored_settings(armature, chain, over_stored(context.scene, chain, given))
        return BakeSettings(**{**given, "armature": armature.name}, stored=self.stored if self._is_as_stored() else "")

    def _is_as_stored(self) -> bool:
        """Whether nobody has chosen another bend or influence in the redo panel than the stored chain's."""
        chain = self._stored_chain()
        return chain is not None and self.bend == chain.bend and self.influence == chain.influence

    def _show(self, settings: BakeSettings) -> None:
        """Leave in the redo panel what was baked."""
        show_settings(self, settings)
        # A chain whose bend or influence was changed here stays the one that keeps the report.
        self.stored = self.stored or settings.stored
        set_limits(self.limits, settings.limits)


class TWOBONE_OT_bake_all(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake all enabled chains in one pass"""

    bl_idname = "twobone.bake_all"
    bl_label = "Bake All Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    scope: bpy.props.EnumProperty(
        name="Scope", description="Whose chains are baked", items=SCOPES, default="ACTIVE", options={"SKIP_SAVE"}
    )

    last_wins: bpy.props.BoolProperty(
        name="Last Wins",
        description="Let a later chain overwrite the keys of an earlier one on the same bones instead of refusing the bake",
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The bake of all enabled chains."""
        armatures = {armature for armature, _ in stored_chains(context.scene)}
        self.renamed = [renamed for armature in armatures for renamed in keep_names_apart(armature)]
        settings = [stored_settings(armature, chain, {}) for armature, chain in chains_in_scope(context, self.scope)]
        if not settings:
            where = {"ACTIVE": "active armature", "SELECTED": "selection", "SCENE": "scene"}[self.scope]
            raise SelectionError(f"No enabled chain is stored in the {where}. Add a chain in the sidebar first.")
        return Begun([wanted.stored for wanted in settings], bake_steps(context.scene, settings, last_wins=self.last_wins))

    def explain(self, context: bpy.types.Context, error: TwoBoneError) -> str:
        """Say which of the chains it was."""
        return explained(context, (chain for _, chain in chains_in_scope(context, self.scope)), error)


def explained(context: bpy.types.Context, chains: Iterable[StoredChain], error: TwoBoneError) -> str:
    """The sentence of what is wrong, with the chain that it is about; planning them one by one takes time."""
    for chain in chains:
        try:
            plan_chain(context.scene, stored_settings(chain.id_data, chain, {}), None)
        except TwoBoneError as found:
            return f'Chain "{chain.name}" of "{chain.id_data.name}": {found}'
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
