"""The operators of all tasks but Bake: generated from their tables, or written by hand if they need more."""

import bpy

from ...desk.meant import Meant, chain_named, chains_chosen, chains_in_scope, meant
from ...pipeline.plan.stored import active_armature
from ...pipeline.report.reports import BakeReport
from ...records import replace
from ...settings.options import Group
from ...settings.tasks import TABLES
from ..rows import draw_options
from ..running.from_table import FromTable, operator_for, operator_of
from ..running.progress import ShowsProgress, SwitchesFirst
from ..running.repeating import RepeatsChain
from ..stored.option_properties import LISTED, RANGE, given_settings, show_range
from ..stored.selecting import meant_chains
from ..stored.storing import set_values
from ..stored.where import NeedsMode
from .nudging import TWOBONE_OT_nudge

SET_UP = replace(
    TABLES["find_limbs"],
    label="Set Up Limbs",
    text="Find the arms and legs of the armature, and give each a target with its motion. Nothing moves",
    operator="set_up_limbs",
)


@operator_for(TABLES["convert"])
class TWOBONE_OT_convert_ik(FromTable, NeedsMode, bpy.types.Operator):
    """Convert IK, limited to the limbs of selected bones."""

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the conversion, in Pose Mode only of selected limbs unless another armature or a bone is named."""
        from ...scene.rig.chain_finding import bones_of_selected_limbs

        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        poses = context.mode == "POSE" and armature is not None and armature.mode == "POSE"
        selected = bones_of_selected_limbs(armature) if poses and not named and not self.bone else frozenset()
        request = FromTable.requested(self, context)
        return replace(request, settings=replace(request.settings, bones=selected))


@operator_for(TABLES["give"])
class TWOBONE_OT_bake_target(SwitchesFirst, RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake Target from Chain, whose redo panel also changes the stored chain."""

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the chains whose motion their targets are given; show a single one's settings in the redo panel."""
        from ...tasks.give.baking import with_rotation

        if self.scope == "CHAIN":
            chains = self.wanted_chains(context)
        else:
            self.is_repeated = False
            chains = chains_in_scope(context, self.table, self.scope, given_settings(self))
        if self.rotate:
            chains = replace(chains, settings=tuple(with_rotation(settings) for settings in chains.settings))
        self.show(chains)
        return meant(context, self.table, {"rotate": self.rotate, "scope": self.scope, "actions": self.actions}, chains)

    def settle(self, report: BakeReport, said: str) -> None:
        """Write settings changed in the redo panel, and the new target and pole, to the stored chain."""
        from ...tasks.give.baking import TargetReport

        super().settle(report, said)
        chain = self.stored_chain()
        if chain is not None and self.is_repeated:
            (baked,) = report.chains
            pole = {"pole": baked.pole} if isinstance(baked, TargetReport) and baked.pole else {}
            set_values(chain, {"target": baked.target} | pole)

    def draw_settings(self) -> None:
        """Draw the settings of a single chain that users try out afterwards."""
        self.layout.prop(self, "rotate")
        self.layout.prop(self, LISTED["actions"])
        for group in (Group.PLANE, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=self.keyed_settings())


@operator_for(TABLES["switch"])
class TWOBONE_OT_switch(FromTable, NeedsMode, bpy.types.Operator):
    """Switch to FK or IK, of one limb or of several."""

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return one limb or all in the scope; show the first one's range in the redo panel."""
        active, given = active_armature(context), given_settings(self)
        selected = meant_chains(context.view_layer, active)
        if self.scope != "CHAIN":
            chains = chains_in_scope(context, self.table, self.scope, given)
        elif len(selected) > 1 and not (self.chain or any(given.get(name) for name in ("armature", "upper", "lower"))):
            chains = chains_chosen(context, self.table, selected, given)
        else:
            chains = chain_named(context, self.table, given, self.chain)
        if len({tuple(getattr(chain, name) for name in RANGE) for chain in chains.settings}) == 1:
            show_range(self, context.scene, chains.settings[0])  # One that is shown becomes that of every limb.
        return meant(context, self.table, given_settings(self, self.table.own), chains)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the redo panel, or the dialog after a refusal."""
        if not self.draws_refusal(context):
            self.draw_correction()

    def draw_correction(self) -> None:
        """Draw what the limb shall follow, which motion it gets, and the range."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        column = self.layout.column()
        column.prop(self, "to")
        if self.to == "FK":
            column.prop(self, "motion")
        draw_options(self.layout.column(), self, Group.KEYS, only=RANGE)


@operator_for(TABLES["plant"])
class TWOBONE_OT_plant(SwitchesFirst, FromTable, NeedsMode, bpy.types.Operator):
    """Plant Feet, whose result stays in the sidebar."""

    has_panel = True


class _FromFile(FromTable, NeedsMode):
    """Mixin for operators that need a file."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Open the file browser, unless the file is given."""
        if self.filepath:
            return super().invoke(context, event)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}


@operator_for(TABLES["import_contacts"])
class TWOBONE_OT_import_contacts(_FromFile, bpy.types.Operator):
    """Import contacts from a file."""


@operator_for(TABLES["export_contacts"])
class TWOBONE_OT_export_contacts(_FromFile, bpy.types.Operator):
    """Export contacts to a file."""


BY_HAND = {
    "import_contacts": TWOBONE_OT_import_contacts,
    "export_contacts": TWOBONE_OT_export_contacts,
    "nudge": TWOBONE_OT_nudge,
    "plant": TWOBONE_OT_plant,
    "convert": TWOBONE_OT_convert_ik,
    "give": TWOBONE_OT_bake_target,
    "switch": TWOBONE_OT_switch,
}


@operator_for(SET_UP)
class TWOBONE_OT_set_up_limbs(FromTable, NeedsMode, bpy.types.Operator):
    """Find Limbs with targets, under a title of its own."""

    fixed = frozenset({"targets"})

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the search for limbs, all of which get targets."""
        self.targets = True
        return FromTable.requested(self, context)


OPERATORS = {table.operator: BY_HAND.get(name) or operator_of(table) for name, table in TABLES.items() if name != "bake"}
"""The operator of each task but Bake, by the name in its table."""

register, unregister = bpy.utils.register_classes_factory((*OPERATORS.values(), TWOBONE_OT_set_up_limbs))
