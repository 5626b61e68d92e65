"""The redo panel of operators that work on stored chains: it repeats them with what it shows, and the chain keeps it."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ...errors import ObjectError
from ...pipeline.plan.completing import StoredChain, limit_pairs, over_stored, stored_settings
from ...pipeline.report.reports import BakeReport
from ...scene.lookup import find_armature
from ...settings import BakeSettings
from ...settings.options import Group
from ..rows import draw_options
from ..stored.option_properties import given_settings, offer_range, show_settings
from ..stored.properties import TwoBoneLimit
from ..stored.selecting import meant_settings
from ..stored.storing import keyed_settings, set_limits, set_values
from ..stored.where import active_armature
from .from_table import MEANT


class RepeatsChain:
    """Operators with a property for each setting, for one chain or for all that are selected.

    What they draw of a single chain, they draw in `draw_settings()`.
    """

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
    """Whether the redo panel repeats it for a stored chain, with what was changed there."""

    several = 0
    """How many chains are meant where they are more than one."""

    def wanted_settings(self, context: bpy.types.Context) -> list[BakeSettings]:
        """What is given, and from chain, selection and rig what is not; the same again when the redo panel repeats it."""
        self.is_repeated = bool(self.stored and self.upper and self.lower)
        given = given_settings(self)
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.stored:
            return [self._settings_of_stored(context, given)]
        return meant_settings(context, given)

    def show(self, wanted: Sequence[BakeSettings]) -> None:
        """Leave in the redo panel what was meant: the settings of a single chain, of several how many they are."""
        self.several = len(wanted) if len(wanted) > 1 else 0
        if self.several:
            return
        (settings,) = wanted
        show_settings(self, settings)
        offer_range(self, bpy.context.scene)
        # A chain whose bend or influence was changed here stays the one that keeps the report.
        self.stored = self.stored or settings.stored
        set_limits(self.limits, settings.limits)

    def can_be_corrected(self) -> bool:
        """Of several chains each has its own settings, in the list."""
        return not self.several

    def draw_correction(self) -> None:
        """What the operator is about, and how it is done."""
        draw_options(self.layout.column(), self, Group.CHAIN, only=MEANT)
        self.draw_settings()

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel: what makes sense to change after the fact."""
        if self.draws_refusal(context):
            return
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        if self.several:
            text = pgettext_iface("{count} chains, each with its own settings").format(count=self.several)
            self.layout.label(text=text, translate=False)
            return
        self.draw_settings()

    def settle(self, _report: BakeReport, _said: str) -> None:
        """Give the stored chain what was changed in the redo panel: panel, overlay and the next bake go on from there."""
        chain = self.stored_chain()
        if chain is not None and self.is_repeated:
            values = given_settings(self)
            set_values(chain, {name: values[name] for name in values.keys() - keyed_settings(chain)})

    def stored_chain(self) -> StoredChain | None:
        """The chain that is repeated; `None` where several were meant, or one that is not stored."""
        armature = bpy.data.objects.get(self.armature)
        return armature.twobone.chains.get(self.stored) if armature is not None and self.stored else None

    def keyed_settings(self) -> set[str]:
        """Names of the settings that the chain's own keys decide."""
        chain = self.stored_chain()
        return keyed_settings(chain) if chain is not None else set()

    def _settings_of_stored(self, context: bpy.types.Context, given: dict[str, Any]) -> BakeSettings:
        """Those of the stored chain with what is given on top; where the bones are given, too, everything is."""
        armature = find_armature(self.armature, active_armature(context))
        chain = armature.twobone.chains.get(self.stored)
        if chain is None:
            known = ", ".join(f'"{chain.name}"' for chain in armature.twobone.chains) or "none"
            raise ObjectError(
                'Armature "{armature}" has no stored chain "{chain}". Use the name of one that it has ({known}).',
                armature=armature.name,
                chain=self.stored,
                known=known,
            )
        if not (self.upper or self.lower):
            return stored_settings(armature, chain, over_stored(context.scene, chain, given))
        return BakeSettings(**{**given, "armature": armature.name}, stored=self.stored if self._is_as_stored() else "")

    def _is_as_stored(self) -> bool:
        """Whether nobody has chosen another bend or influence in the redo panel than the stored chain's."""
        chain = self.stored_chain()
        return chain is not None and self.bend == chain.bend and self.influence == chain.influence
