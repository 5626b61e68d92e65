"""IK constraints turned into keys, and keys turned into the motion of targets."""

import bpy

from ...baking.fk_to_target.baking import with_rotation
from ...baking.fk_to_target.records import TargetReport
from ...baking.giving import give_actions_steps
from ...baking.ik_to_fk.converting import convert_steps
from ...baking.ik_to_fk.plans import SETTINGS, Conversion
from ...baking.plan.completing import over_stored, stored_settings
from ...baking.plan.frame_choice import with_custom_range
from ...baking.report.records import BakeReport
from ...options import Group
from ...scene.rig.chain_finding import bones_of_selected_limbs
from ...settings import BakeSettings
from ..rows import draw_options
from ..running.actions import ACTIONS
from ..running.progress import Begun, ShowsProgress
from ..running.repeating import RepeatsChain
from ..stored.option_properties import given_settings, offer_range, operator_properties, with_properties
from ..stored.storing import set_values
from ..stored.where import NeedsMode, active_armature
from .bake import SCOPES, stored_in_scope

CHOSEN = ("CHAIN", "Chain", "The chain that is named or selected, or the active one")

SWITCHES = (
    ("MUTE", "Mute", "Mute the constraint"),
    ("INFLUENCE", "Key Influence", "Key the constraint's influence to 0 over the range, and leave it as it is elsewhere"),
)


@with_properties({name: made for name, made in operator_properties().items() if name in SETTINGS} | ACTIONS)
class TWOBONE_OT_convert_ik(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the bones as their IK constraints pose them, and mute the constraints; nothing in the viewport moves"""

    bl_idname = "twobone.convert_ik"
    bl_label = "Convert IK to FK Keys"
    bl_options = {"REGISTER", "UNDO"}

    bone: bpy.props.StringProperty(
        name="Bone",
        description="Bone that carries the IK constraint. Leave empty for the selected limbs, or for all if none is selected",
        options={"SKIP_SAVE"},
    )
    switch_off: bpy.props.EnumProperty(
        name="Switch Off", description="How to turn the IK constraint off", items=SWITCHES, default="MUTE", options={"SKIP_SAVE"}
    )
    rigify: bpy.props.BoolProperty(
        name="Rigify",
        description="Key the FK controls of a Rigify rig, and its switches from IK to FK over the range",
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The conversion of all constraints that are meant."""
        is_given = self.properties.is_property_set
        given = with_custom_range(context.scene, {name: getattr(self, name) for name in SETTINGS if is_given(name)})
        keys = BakeSettings(**given)
        self.frame_range, self.frame_start, self.frame_end = keys.frame_range, keys.frame_start, keys.frame_end
        offer_range(self, context.scene)
        armature = active_armature(context)
        named = self.armature and (armature is None or armature.name != self.armature)
        poses = context.mode == "POSE" and armature is not None and armature.mode == "POSE"
        selected = bones_of_selected_limbs(armature) if poses and not named and not self.bone else frozenset()
        wanted = Conversion(keys, self.bone, self.switch_off, self.rigify, selected, self.actions)
        return Begun([], convert_steps(context.scene, wanted, armature))

    def draw_correction(self) -> None:
        """Which bone of which armature, and how."""
        armature = bpy.data.objects.get(self.armature) or active_armature(bpy.context)
        draw_options(self.layout.column(), self, Group.CHAIN, only={"armature"})
        self._draw_settings(armature)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel."""
        if self.draws_refusal(context):
            return
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        self._draw_settings(bpy.data.objects.get(self.armature) or active_armature(context))

    def _draw_settings(self, armature: bpy.types.Object | None) -> None:
        column = self.layout.column()
        if armature is not None and armature.type == "ARMATURE":
            column.prop_search(self, "bone", armature.data, "bones")
        column.prop(self, "rigify")
        if not self.rigify:
            column.prop(self, "switch_off")
        column.prop(self, "actions")
        draw_options(self.layout.column(), self, Group.KEYS)


@with_properties(operator_properties() | ACTIONS)
class TWOBONE_OT_bake_target(RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the target where the chain's tip is now, and the pole where the chain bends to: the reverse of Bake"""

    bl_idname = "twobone.bake_target"
    bl_label = "Bake Target from Chain"
    bl_options = {"REGISTER", "UNDO"}

    rotate: bpy.props.BoolProperty(
        name="Rotate",
        description="Key the target's rotation as well, so that the bone at the tip, such as the foot, can copy it",
        options={"SKIP_SAVE"},
    )

    scope: bpy.props.EnumProperty(
        name="Scope",
        description="Whose chains give their motion to their targets",
        items=(CHOSEN, *SCOPES),
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """The motion of one chain, or of all that are meant, given to their targets; the redo panel shows a single one's."""
        armature = active_armature(context)
        wanted = self.wanted_settings(context) if self.scope == "CHAIN" else self._stored_chains(context)
        if self.rotate:
            wanted = [with_rotation(settings) for settings in wanted]
        self.show(wanted)
        return Begun([], give_actions_steps(context.scene, wanted, armature, self.actions))

    def _stored_chains(self, context: bpy.types.Context) -> list[BakeSettings]:
        """All enabled chains in the scope, with what is given here on top of their own settings."""
        self.is_repeated, given = False, given_settings(self)
        found = stored_in_scope(context, self.scope)
        return [stored_settings(armature, chain, over_stored(context.scene, chain, given)) for armature, chain in found]

    def settle(self, report: BakeReport) -> None:
        """Give the stored chain what was changed in the redo panel, and the target and pole that were made for it."""
        super().settle(report)
        chain = self.stored_chain()
        if chain is not None and self.is_repeated:
            (baked,), (entry,) = report.chains, report.entries
            pole = {"pole": entry.pole} if isinstance(entry, TargetReport) and entry.pole else {}
            set_values(chain, {"target": baked.target} | pole)

    def draw_settings(self) -> None:
        """Those of a single chain that somebody may try out."""
        self.layout.prop(self, "rotate")
        self.layout.prop(self, "actions")
        for group in (Group.PLANE, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=self.keyed_settings())


CLASSES = (TWOBONE_OT_convert_ik, TWOBONE_OT_bake_target)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
