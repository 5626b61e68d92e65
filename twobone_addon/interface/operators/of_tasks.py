"""The operators of all tasks but Bake: generated from their tables, or written by hand if they need more."""

import json
from dataclasses import replace
from typing import Any

import bpy

from ...pipeline.plan.completing import completed, over_stored, stored_settings
from ...pipeline.report.reports import BakeReport
from ...pipeline.run import run_steps
from ...scene.rig.chain_finding import bones_of_selected_limbs
from ...settings import BakeSettings
from ...settings.options import Group
from ...settings.tasks import GiveSettings, SwitchSettings
from ...tasks.all_tasks import TASKS
from ...tasks.audit.task import AUDIT
from ...tasks.bake.task import BAKE
from ...tasks.convert.task import CONVERT
from ...tasks.find_contacts.exchange import EXPORT_CONTACTS, IMPORT_CONTACTS
from ...tasks.find_contacts.judge import steps
from ...tasks.give.baking import with_rotation
from ...tasks.give.target_report import TargetReport
from ...tasks.give.task import GIVE
from ...tasks.nudge.task import NUDGE
from ...tasks.plant.task import PLANT
from ...tasks.switch.task import SWITCH
from ..rows import draw_options
from ..running.from_table import FromTable, operator_for, operator_of
from ..running.progress import Begun, ShowsProgress
from ..running.repeating import RepeatsChain
from ..stored.option_properties import LISTED, given_settings, offer_range
from ..stored.storing import chain_of_bones, set_values
from ..stored.where import NeedsMode, active_armature
from .auditing import TWOBONE_OT_audit
from .bake import stored_in_scope
from .nudging import TWOBONE_OT_nudge

RANGE = {"frame_range", "frame_start", "frame_end"}


def _settings_in_scope(context: bpy.types.Context, scope: str, given: dict[str, Any]) -> list[BakeSettings]:
    """Return the settings of all enabled chains in the scope, overridden by `given`; raises `SelectionError` if none is."""
    found = stored_in_scope(context, scope)
    return [stored_settings(armature, chain, over_stored(context.scene, chain, given)) for armature, chain in found]


@operator_for(CONVERT)
class TWOBONE_OT_convert_ik(FromTable, NeedsMode, bpy.types.Operator):
    """Convert IK, limited to the limbs of selected bones."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the conversion, in Pose Mode only of selected limbs unless another armature or a bone is named."""
        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        poses = context.mode == "POSE" and armature is not None and armature.mode == "POSE"
        selected = bones_of_selected_limbs(armature) if poses and not named and not self.bone else frozenset()
        settings = replace(self.own_settings(context), bones=selected)
        return Begun([], run_steps(context.scene, CONVERT, settings, armature, actions=settings.actions))


@operator_for(GIVE)
class TWOBONE_OT_bake_target(RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake Target from Chain, whose redo panel also changes the stored chain."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin giving the motion of the chains to their targets; show a single one's settings in the redo panel."""
        armature = active_armature(context)
        if self.scope == "CHAIN":
            wanted = [_with_stored_guides(settings) for settings in self.wanted_settings(context)]
        else:
            wanted = self._stored_chains(context)
        if self.rotate:
            wanted = [with_rotation(settings) for settings in wanted]
        self.show(wanted)
        settings = GiveSettings(chains=tuple(wanted), rotate=self.rotate, scope=self.scope, actions=self.actions)
        return Begun([], run_steps(context.scene, GIVE, settings, armature, actions=self.actions))

    def _stored_chains(self, context: bpy.types.Context) -> list[BakeSettings]:
        """Return the settings of all enabled chains in the scope, overridden by those given to the operator."""
        self.is_repeated, given = False, given_settings(self)
        return _settings_in_scope(context, self.scope, given)

    def settle(self, report: BakeReport, said: str) -> None:
        """Write settings changed in the redo panel, and the new target and pole, to the stored chain."""
        super().settle(report, said)
        chain = self.stored_chain()
        if chain is not None and self.is_repeated:
            (baked,), (entry,) = report.chains, report.entries
            pole = {"pole": entry.pole} if isinstance(entry, TargetReport) and entry.pole else {}
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


@operator_for(SWITCH)
class TWOBONE_OT_switch(FromTable, NeedsMode, bpy.types.Operator):
    """Switch to FK or IK, which also depends on whether the limb was just baked."""

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the switch of one limb or of all in the scope; show the first one's range in the redo panel."""
        active, given = active_armature(context), given_settings(self)
        if self.scope == "CHAIN":
            chains = [completed(context.scene, given, active, self.chain)]
        else:
            chains = _settings_in_scope(context, self.scope, given)
        settings = chains[0]
        self.frame_range, self.frame_start, self.frame_end = settings.frame_range, settings.frame_start, settings.frame_end
        offer_range(self, context.scene)
        own = given_settings(self, self.table.own)
        baked = all(_was_just_baked(context, each) for each in chains)
        wanted = SwitchSettings(**own, chains=tuple(chains), just_baked=baked)
        return Begun([], run_steps(context.scene, SWITCH, wanted, active, actions=wanted.actions))

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


def _was_just_baked(context: bpy.types.Context, settings: BakeSettings) -> bool:
    """Whether the last report is that of a bake of this chain."""
    text = context.window_manager.twobone_report
    report = json.loads(text) if text else {}
    chains = report["chains"] if report.get("kind") == "bake" else []
    return any((chain["upper"], chain["lower"]) == (settings.upper, settings.lower) for chain in chains)


@operator_for(PLANT)
class TWOBONE_OT_plant(FromTable, NeedsMode, bpy.types.Operator):
    """Plant Feet, whose result stays in the sidebar."""

    has_panel = True

    def settle(self, report: Any, said: str) -> None:
        """Store the sentence and all contacts on the armature, those that slide most first."""
        document = json.loads(report.to_json())
        contacts = []
        for leg in document.get("chains", ()):
            found = leg.get("contacts", ())
            for first, last in steps((each["first"], each["last"]) for each in found):
                within = [each for each in found if first <= each["first"] <= last]
                slide = max(each["slide_between"] or each["slide_after"] or 0.0 for each in within)
                contacts.append((leg["chain"], first, last, slide))
        contacts.sort(key=lambda contact: -contact[3])
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


@operator_for(IMPORT_CONTACTS)
class TWOBONE_OT_import_contacts(_FromFile, bpy.types.Operator):
    """Import contacts from a file."""


@operator_for(EXPORT_CONTACTS)
class TWOBONE_OT_export_contacts(_FromFile, bpy.types.Operator):
    """Export contacts to a file."""


BY_HAND = {
    IMPORT_CONTACTS: TWOBONE_OT_import_contacts,
    EXPORT_CONTACTS: TWOBONE_OT_export_contacts,
    AUDIT: TWOBONE_OT_audit,
    NUDGE: TWOBONE_OT_nudge,
    PLANT: TWOBONE_OT_plant,
    CONVERT: TWOBONE_OT_convert_ik,
    GIVE: TWOBONE_OT_bake_target,
    SWITCH: TWOBONE_OT_switch,
}

OPERATORS = {task.TABLE.operator: BY_HAND.get(task) or operator_of(task) for task in TASKS if task is not BAKE}
"""The operator of each task but Bake, by the name in its table."""

register, unregister = bpy.utils.register_classes_factory(OPERATORS.values())
