"""The operators of all tasks but Bake: generated from their tables, or written by hand if they need more."""

import json
from typing import Any

import bpy

from ...pipeline.plan.stored import explicit, over_stored, stored_settings
from ...pipeline.report.reports import BakeReport
from ...records import replace
from ...settings import BakeSettings
from ...settings.options import Group
from ...settings.tasks import TABLES, GiveSettings, SwitchSettings
from ...tasks.all_tasks import task_named
from ..rows import draw_options
from ..running.from_table import FromTable, operator_for, operator_of
from ..running.progress import Begun, ShowsProgress
from ..running.repeating import RepeatsChain
from ..stored.option_properties import LISTED, given_settings, offer_range
from ..stored.selecting import meant_chains
from ..stored.storing import chain_of_bones, set_values
from ..stored.where import NeedsMode, active_armature
from .bake import stored_in_scope
from .nudging import TWOBONE_OT_nudge

RANGE = {"frame_range", "frame_start", "frame_end"}


def _settings_in_scope(context: bpy.types.Context, scope: str, given: dict[str, Any]) -> list[BakeSettings]:
    """Return the settings of all enabled chains in the scope, overridden by `given`; raises `SelectionError` if none is."""
    chains = stored_in_scope(context, scope)
    return [stored_settings(chain.id_data, chain, over_stored(context.scene, chain, given)) for chain in chains]


@operator_for(TABLES["convert"])
class TWOBONE_OT_convert_ik(FromTable, NeedsMode, bpy.types.Operator):
    """Convert IK, limited to the limbs of selected bones."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the conversion, in Pose Mode only of selected limbs unless another armature or a bone is named."""
        from ...pipeline.run import run_steps
        from ...scene.rig.chain_finding import bones_of_selected_limbs

        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        poses = context.mode == "POSE" and armature is not None and armature.mode == "POSE"
        selected = bones_of_selected_limbs(armature) if poses and not named and not self.bone else frozenset()
        settings = replace(self.own_settings(context), bones=selected)
        return Begun([], run_steps(context.scene, task_named(self.table.task), settings, armature, actions=settings.actions))


@operator_for(TABLES["give"])
class TWOBONE_OT_bake_target(RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake Target from Chain, whose redo panel also changes the stored chain."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin giving the motion of the chains to their targets; show a single one's settings in the redo panel."""
        from ...pipeline.run import run_steps
        from ...tasks.give.baking import with_rotation

        armature = active_armature(context)
        if self.scope == "CHAIN":
            chains = [_with_stored_guides(settings) for settings in self.wanted_settings(context)]
        else:
            self.is_repeated = False
            chains = _settings_in_scope(context, self.scope, given_settings(self))
        if self.rotate:
            chains = [with_rotation(settings) for settings in chains]
        self.show(chains)
        settings = GiveSettings(chains=tuple(chains), rotate=self.rotate, scope=self.scope, actions=self.actions)
        return Begun([], run_steps(context.scene, task_named(self.table.task), settings, armature, actions=self.actions))

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


def _with_stored_guides(settings: BakeSettings) -> BakeSettings:
    """Return the settings with the target of the stored chain that has these bones, unless a target is given."""
    armature = bpy.data.objects.get(settings.armature)
    chain = chain_of_bones(armature, settings.upper, settings.lower) if armature is not None else None
    if settings.target or settings.stored or chain is None or chain.target is None:
        return settings
    return replace(settings, target=chain.target.name, target_bone=chain.target_bone)


@operator_for(TABLES["switch"])
class TWOBONE_OT_switch(FromTable, NeedsMode, bpy.types.Operator):
    """Switch to FK or IK, of one limb or of several."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the switch of one limb or of all in the scope; show the first one's range in the redo panel."""
        from ...pipeline.plan.completing import completed
        from ...pipeline.run import run_steps

        active, given = active_armature(context), given_settings(self)
        selected = meant_chains(context.view_layer, active)
        if self.scope != "CHAIN":
            chains = self._limbs_in_scope(context, given)
        elif len(selected) > 1 and not (self.chain or any(given.get(name) for name in ("armature", "upper", "lower"))):
            chains = [stored_settings(chain.id_data, chain, over_stored(context.scene, chain, given)) for chain in selected]
        else:
            chains = [completed(context.scene, given, active, self.chain)]
        ranges = {(chain.frame_range, chain.frame_start, chain.frame_end) for chain in chains}
        if len(ranges) == 1:  # Shown in the redo panel, it would become that of every limb.
            self.frame_range, self.frame_start, self.frame_end = ranges.pop()
            offer_range(self, context.scene)
        given_own = given_settings(self, self.table.own)
        switch = SwitchSettings(**given_own, chains=tuple(chains))
        return Begun([], run_steps(context.scene, task_named(self.table.task), switch, active, actions=switch.actions))

    def _limbs_in_scope(self, context: bpy.types.Context, given: dict[str, Any]) -> list[BakeSettings]:
        """Return the settings of all enabled chains in the scope, or of the limbs found on an armature that has no chains."""
        from ...pipeline.plan.completing import fresh_settings
        from ...tasks.find_limbs import found_limbs

        armature = active_armature(context)
        if self.scope != "ACTIVE" or armature is None or armature.type != "ARMATURE" or armature.twobone.chains:
            return _settings_in_scope(context, self.scope, given)
        limbs = [record.settings for record in found_limbs(context.scene, armature)]
        if not limbs:
            return _settings_in_scope(context, self.scope, given)
        of_rig = {"armature": armature.name}
        return [fresh_settings(context.scene, {**limb, **explicit(given), **of_rig}, armature) for limb in limbs]

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
class TWOBONE_OT_plant(FromTable, NeedsMode, bpy.types.Operator):
    """Plant Feet, whose result stays in the sidebar."""

    has_panel = True

    def settle(self, report: Any, said: str) -> None:
        """Keep the result for the panel."""
        keep_planted(report, said)


def keep_planted(report: Any, said: str) -> None:
    """Store the sentence and all stances on the armature: those that still slide first, then those that were moved most."""
    from ...tasks.find_contacts.task import steps

    document = json.loads(report.to_json())
    contacts = []
    for leg in document.get("chains", ()):
        noted = leg.get("contacts", ())
        for first, last in steps((entry["first"], entry["last"]) for entry in noted):
            within = [entry for entry in noted if first <= entry["first"] <= last]
            sure = [entry["confidence"] for entry in within if entry["confidence"] is not None]
            contacts.append(
                {
                    "chain": leg["chain"],
                    "first": first,
                    "last": last,
                    "slide": max(entry["slide_between"] or entry["slide_after"] or 0.0 for entry in within),
                    "before": max(entry["slide_between_before"] for entry in within),
                    "moved": max(entry["moved"] or 0.0 for entry in within),
                    "confidence": min(sure) if sure else None,
                }
            )
    is_seen = report.lengths.is_seen if contacts else bool
    contacts.sort(key=lambda contact: (-contact["slide"] if is_seen(contact["slide"]) else 0.0, -contact["moved"]))
    armature = bpy.data.objects.get(document.get("armature") or report.chains[0].armature)
    if armature is not None:
        length = report.lengths.leg if contacts else 0.0
        result = {"sentence": said, "contacts": contacts, "leg": length}
        armature.twobone.planted = json.dumps(result)


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


@operator_for(TABLES["audit"])
class TWOBONE_OT_audit(FromTable, NeedsMode, bpy.types.Operator):
    """Audit, which keeps its report for the panel."""

    def settle(self, report: Any, _said: str) -> None:
        """Store the report for the panel in a property of its own, since the next bake replaces the usual one."""
        bpy.context.window_manager.twobone_audit = report.to_json()


BY_HAND = {
    "import_contacts": TWOBONE_OT_import_contacts,
    "export_contacts": TWOBONE_OT_export_contacts,
    "audit": TWOBONE_OT_audit,
    "nudge": TWOBONE_OT_nudge,
    "plant": TWOBONE_OT_plant,
    "convert": TWOBONE_OT_convert_ik,
    "give": TWOBONE_OT_bake_target,
    "switch": TWOBONE_OT_switch,
}

OPERATORS = {table.operator: BY_HAND.get(name) or operator_of(table) for name, table in TABLES.items() if name != "bake"}
"""The operator of each task but Bake, by the name in its table."""

register, unregister = bpy.utils.register_classes_factory(OPERATORS.values())
