"""From IK to FK with one button, and back."""

import json
from typing import Any

import bpy
from bpy.app.translations import pgettext_rpt

from ...baking.plan.completing import completed, stored_settings
from ...baking.switching.limb_switch import switch_limb
from ...baking.switching.ranges import in_words
from ...baking.switching.records import SwitchReport
from ...errors import ChainError
from ...options import Group
from ...scene.lookup import find_armature
from ...settings import BakeSettings
from ..refusing import MayRefuse
from ..rows import draw_options
from ..stored.option_properties import offer_range, operator_properties, with_properties
from ..stored.where import NeedsMode, active_armature

RANGE = {"frame_range", "frame_start", "frame_end"}
SETTINGS = {"armature", "upper", "lower", "tip", "tip_end", *RANGE}
TO = (
    ("FK", "FK", "The visible limb follows the bones that a bake keys"),
    ("IK", "IK", "The visible limb follows the IK of its rig, whose controls get the motion of the bones"),
)
MOTION = (
    ("AUTO", "Automatic", "Bake the visible motion onto FK, unless the FK bones have just been baked or the IK does not move"),
    ("BAKE", "Bake", "Bake the visible motion onto the other side, so that nothing visibly moves"),
    ("KEEP", "Keep", "Keep the keys that the FK bones have"),
)


@with_properties({name: made for name, made in operator_properties().items() if name in SETTINGS})
class TWOBONE_OT_switch(MayRefuse, NeedsMode, bpy.types.Operator):
    """Switch the limb to FK or IK over the range, with its motion. Outside the range nothing changes"""

    bl_idname = "twobone.switch"
    bl_label = "Switch FK/IK"
    bl_options = {"REGISTER", "UNDO"}

    chain: bpy.props.StringProperty(
        name="Chain", description="Name of the stored chain. Leave empty to use the active one", options={"SKIP_SAVE"}
    )
    to: bpy.props.EnumProperty(name="To", description="What the limb should follow", items=TO, options={"SKIP_SAVE"})
    motion: bpy.props.EnumProperty(
        name="Motion", description="What happens to the motion when switching to FK", items=MOTION, options={"SKIP_SAVE"}
    )

    def act(self, context: bpy.types.Context) -> set[str]:
        """Switch, and say what was switched."""
        armature = active_armature(context)
        settings = self._settings(context)
        self._show(context.scene, settings)
        report = switch_limb(
            context.scene, settings, armature, to=self.to, motion=self.motion, just_baked=_was_just_baked(context, settings)
        )
        context.window_manager.twobone_report = report.to_json()
        if not report.properties and not report.baked:
            to_fk = self.to == "FK"
            already = pgettext_rpt("The limb is on FK already") if to_fk else pgettext_rpt("The limb is on IK already")
            self.report({"INFO"}, already)
            return {"CANCELLED"}
        said = "; ".join([_said(report), *(remark.text(pgettext_rpt) for remark in report.remarks)])
        self.report({"INFO" if all(remark.is_good for remark in report.remarks) else "WARNING"}, said)
        return {"FINISHED"}

    def _settings(self, context: bpy.types.Context) -> BakeSettings:
        is_given = self.properties.is_property_set
        given: dict[str, Any] = {name: getattr(self, name) for name in SETTINGS if is_given(name)}
        active = active_armature(context)
        if not self.chain:
            return completed(context.scene, given, active)
        armature = find_armature(given.get("armature", ""), active)
        stored = armature.twobone.chains.get(self.chain)
        if stored is None:
            raise ChainError(f'Armature "{armature.name}" has no stored chain "{self.chain}". Choose one of its list.')
        return stored_settings(armature, stored, given)

    def _show(self, scene: bpy.types.Scene, settings: BakeSettings) -> None:
        """Leave in the redo panel which range is meant."""
        self.frame_range, self.frame_start, self.frame_end = settings.frame_range, settings.frame_start, settings.frame_end
        offer_range(self, scene)

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: what the limb follows, what happens to its motion, and the range."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        column = self.layout.column()
        column.prop(self, "to")
        if self.to == "FK":
            column.prop(self, "motion")
        draw_options(self.layout.column(), self, Group.KEYS, only=RANGE)


def _said(report: SwitchReport) -> str:
    """What was switched, and over which frames."""
    to_fk = report.to == "FK"
    if not report.keys:
        return pgettext_rpt("Switched to FK") if to_fk else pgettext_rpt("Switched to IK")
    if len(report.ranges) > 1:
        said = pgettext_rpt("Switched to FK at frames {frames}") if to_fk else pgettext_rpt("Switched to IK at frames {frames}")
        return said.format(frames=in_words(report.ranges))
    said = pgettext_rpt("Switched to FK, keyed from {first} to {last}")
    if not to_fk:
        said = pgettext_rpt("Switched to IK, keyed from {first} to {last}")
    return said.format(first=f"{report.frame_start:g}", last=f"{report.frame_end:g}")


def _was_just_baked(context: bpy.types.Context, settings: BakeSettings) -> bool:
    """Whether the last thing that was done is a bake of this chain."""
    text = context.window_manager.twobone_report
    chains = json.loads(text).get("chains", []) if text else []
    names = settings.upper, settings.lower
    own = [chain for chain in chains if (chain.get("upper"), chain.get("lower")) == names]
    return any(not {"to", "max_round_trip", "constraint"} & chain.keys() for chain in own)


register, unregister = bpy.utils.register_classes_factory((TWOBONE_OT_switch,))
