"""Operators that switch Live and optional settings on and off, read limits from the rig, fit the plane and flip the bend."""

from typing import Any

import bpy
from bpy.app.translations import pgettext_rpt

from ...desk.meant import keep_names_apart, name_back
from ...errors import TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature, stored_settings
from ...scene.live.marks import NEEDS_NEWER, can_go_live
from ...settings import AUTO, LIMITS, OPTION
from ..refusing import MayRefuse
from ..stored.live_limbs import live_limb_of, start, stop
from ..stored.storing import key_if_keyed, set_values
from ..stored.where import NeedsChain, chain_in

STORED = 1e-6
"""Difference in radians up to which a limit still counts as the default, since Blender stores single precision."""

SOFTNESS = 0.05
"""Initial softness: a straight leg loses a twentieth of its length to the ease."""

LEAST_DISTANCE = 0.1
"""Lower bound of the initial minimum distance, relative to the chain's length, since links of equal length fold to zero."""

SWITCHED = (
    ("softness", "Softness", "Ease into full extension"),
    ("softness_near", "Softness Near", "Ease into the fully folded pose"),
    ("min_distance", "Minimum Distance", "Keep the tip at least this far from the root joint"),
    ("max_distance", "Maximum Distance", "Keep the tip at most this far from the root joint"),
    ("use_limits", "Joint Limits", "Keep both joints within limits, initially those of the rig"),
)
"""Name, label and tooltip of each setting that can be switched."""


def is_on(chain: StoredChain, name: str) -> bool:
    """Whether a setting that can be switched is on."""
    return bool(getattr(chain, name))


class TWOBONE_OT_switch_setting(MayRefuse, NeedsChain, bpy.types.Operator):
    """Switch this on or off"""

    bl_idname = "twobone.switch_setting"
    bl_label = "Switch Setting"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    setting: bpy.props.EnumProperty(name="Setting", description="What to switch on or off", items=SWITCHED, options={"SKIP_SAVE"})

    @classmethod
    def description(cls, _context: bpy.types.Context, properties: bpy.types.OperatorProperties) -> str:
        """Return the tooltip of the setting."""
        return next(text for name, _, text in SWITCHED if name == properties.setting)

    def act(self, context: bpy.types.Context) -> set[str]:
        """Switch the setting; one that is switched on starts at a noticeable value."""
        armature, chain = active_armature(context), chain_in(context)
        if is_on(chain, self.setting):
            setattr(chain, self.setting, OPTION[self.setting].default)
        elif self.setting == "use_limits":
            chain.use_limits = True
            self._start_limits(chain)
        else:
            setattr(chain, self.setting, _initial_value(armature, chain, self.setting))
        return {"FINISHED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """Draw an empty redo panel."""

    def _start_limits(self, chain: StoredChain) -> None:
        """Read the limits from the rig, if it has some and the chain's are still the defaults."""
        if len(chain.limits) or any(abs(getattr(chain, name) - OPTION[name].default) > STORED for name in LIMITS):
            return
        try:
            set_values(chain, read_limits(chain))
        except TwoBoneError as error:
            self.report({"INFO"}, error.sentence.text(pgettext_rpt))


class TWOBONE_OT_read_limits(MayRefuse, NeedsChain, bpy.types.Operator):
    """Take the chain's joint limits from the Limit Rotation constraints or the IK limits of its bones, which stay"""

    bl_idname = "twobone.read_limits"
    bl_label = "Read Limits from Rig"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the limits of the active chain from the rig."""
        chain = chain_in(context)
        set_values(chain, read_limits(chain))
        return {"FINISHED"}


def read_limits(chain: StoredChain) -> dict[str, Any]:
    """Return the limits of a stored chain's rig, by setting; raises a `TwoBoneError` if it has none."""
    from ...pipeline.plan.planes_of_rig import limits_of_rig

    unlimited = {**{name: OPTION[name].default for name in LIMITS}, "limits": ()}
    return limits_of_rig(stored_settings(chain.id_data, chain, unlimited), chain.id_data)


class TWOBONE_OT_fit_plane(MayRefuse, NeedsChain, bpy.types.Operator):
    """Bend in whichever of the planes XY, XZ and YZ fits the chain best: nearest to its bend at rest, and to its side"""

    bl_idname = "twobone.fit_plane"
    bl_label = "Fit Axis Plane"
    bl_options = {"REGISTER", "UNDO"}

    def act(self, context: bpy.types.Context) -> set[str]:
        """Set the letter plane that fits the active chain best."""
        fit_letters(chain_in(context))
        return {"FINISHED"}


class TWOBONE_OT_flip(MayRefuse, NeedsChain, bpy.types.Operator):
    """Bend the chain to its other side, from the next bake on"""

    bl_idname = "twobone.flip"
    bl_label = "Flip Bend"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, such as a bend that follows the pose; empty if it can."""
        hindrance = super().hindrance(context)
        if hindrance or chain_in(context).bend != "KEEP":
            return hindrance
        return "Bend is Keep, which follows the pose: choose Positive or Negative to flip it"

    def act(self, context: bpy.types.Context) -> set[str]:
        """Flip the bend, and key it if it is keyed and auto-keying is on."""
        chain = chain_in(context)
        bend = stored_settings(chain.id_data, chain, {}).bend if chain.bend == AUTO else chain.bend
        chain.bend = "NEGATIVE" if bend == "POSITIVE" else "POSITIVE"
        key_if_keyed(context, chain, "bend")
        return {"FINISHED"}


def fit_letters(chain: StoredChain) -> None:
    """Set the letter plane that fits the chain best; raises a `TwoBoneError` if its bones form no chain."""
    from ...pipeline.plan.completing import names_of
    from ...pipeline.plan.found_chain import chain_found
    from ...pipeline.plan.planes_of_rig import fitting_letters

    limb = chain_found(chain.id_data, names_of(chain), every_joint=chain.joints == "ALL")
    set_values(chain, {**fitting_letters(limb), "reference": "REST"})


def _initial_value(armature: bpy.types.Object, chain: StoredChain, name: str) -> float:
    """Return the value of a setting when it is switched on."""
    import numpy as np

    from ...core.arrays import magnitude
    from ...pipeline.plan.completing import names_of
    from ...pipeline.plan.found_chain import chain_found

    if name.startswith("softness"):
        return SOFTNESS
    # Distances are in world units, even if the armature is scaled.
    joints = chain_found(armature, names_of(chain)).rest.rest_joints() @ np.array(armature.matrix_world.to_3x3()).T
    lengths = magnitude(np.diff(joints, axis=0))
    if name == "max_distance":
        return float(lengths.sum())
    return float(max(2 * lengths.max() - lengths.sum(), LEAST_DISTANCE * lengths.sum()))


class TWOBONE_OT_live(MayRefuse, NeedsChain, bpy.types.Operator):
    """Let Blender itself pose the limb as Bake would: it renders, and plays without the add-on. Click again to switch it off"""

    bl_idname = "twobone.live"
    bl_label = "Live"
    bl_options = {"REGISTER", "UNDO"}

    state: bpy.props.EnumProperty(
        name="State",
        description="Turn live following on or off",
        items=(
            ("TOGGLE", "Toggle", "Switch between on and off"),
            ("ON", "On", "Follow the target"),
            ("OFF", "Off", "Stop following"),
        ),
        options={"HIDDEN", "SKIP_SAVE"},
    )
    scope: bpy.props.EnumProperty(
        name="Scope",
        description="Which chains to switch",
        items=(
            ("CHAIN", "Active Chain", "The chain that is active in the list"),
            ("ARMATURE", "Whole Character", "All enabled chains of the armature that have a target"),
        ),
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def hindrance(cls, context: bpy.types.Context) -> str:
        """Return why the operator cannot run, such as an older Blender; empty if it can."""
        return super().hindrance(context) or ("" if can_go_live() else NEEDS_NEWER)

    def act(self, context: bpy.types.Context) -> set[str]:
        """Make chains live, or take away what poses them; a copy that moves with another armature gets nodes of its own."""
        armature = active_armature(context)
        # What is keyed is found by the chain's name.
        renamed = keep_names_apart(armature)
        chains = [chain_in(context)]
        if self.scope == "ARMATURE":
            chains = [chain for chain in armature.twobone.chains if chain.enabled and chain.target is not None]
        limbs = [live_limb_of(chain) for chain in chains]
        are_whole = all(limb is not None and limb.helper is not None and not limb.mimics for limb in limbs)
        is_off = self.state == "OFF" or (self.state == "TOGGLE" and are_whole)
        try:
            for chain in chains:
                if is_off:
                    stop(chain)
                else:
                    start(context.scene, chain)
        except TwoBoneError:
            name_back(renamed)
            raise
        return {"FINISHED"}


CLASSES = (TWOBONE_OT_live, TWOBONE_OT_read_limits, TWOBONE_OT_switch_setting, TWOBONE_OT_fit_plane, TWOBONE_OT_flip)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
