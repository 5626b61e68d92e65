"""Redo panel for operators on stored chains: repeating them with changed settings also changes the stored chain."""

from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ...desk.kept import chain_kept, keyed_settings
from ...desk.meant import Chains, chain_named
from ...pipeline.plan.stored import StoredChain, active_armature, chain_stored, limit_pairs
from ...pipeline.report.reports import BakeReport
from ...scene.lookup import find_armature
from ...settings import OPTIONS, BakeSettings
from ...settings.options import Group
from ...settings.tasks import Table
from ..rows import draw_options
from ..stored.option_properties import given_settings, offer_range
from ..stored.properties import TwoBoneLimit
from ..stored.selecting import chains_selected
from ..stored.storing import set_limits, set_values
from .from_table import MEANT


class RepeatsChain:
    """Mixin for operators with a property for each chain setting, which run on one chain or on all selected chains.

    `draw_settings()` draws the settings of a single chain.
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

    table: Table
    is_repeated: bool
    """Whether the redo panel repeats the operator for a stored chain."""

    several = 0
    """Number of chains if there are several; 0 for a single one."""

    def wanted_chains(self, context: bpy.types.Context) -> Chains:
        """Return the chains with their settings, completing the given ones from stored chain, selection and rig.

        When the redo panel repeats the operator, the result depends on its settings alone. Raises a `TwoBoneError`.
        """
        self.is_repeated = bool(self.stored and self.upper and self.lower)
        given = given_settings(self)
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.is_repeated:
            return self._repeated(context, given)
        if self.stored:
            return chain_named(context, self.table, given, self.stored)
        return chains_selected(context, self.table, given)

    def show(self, chains: Chains) -> None:
        """Show the complete settings of a single chain in the redo panel, or the number of several chains."""
        self.several = len(chains.settings) if len(chains.settings) > 1 else 0
        if self.several:
            return
        settings = chains.settings[0]
        for option in OPTIONS:
            setattr(self, option.name, getattr(settings, option.name))
        offer_range(self, bpy.context.scene)
        # The settings of a chain whose bend or influence was changed here name no stored chain, but it still keeps the report.
        self.stored = self.stored or settings.stored
        set_limits(self.limits, settings.limits)

    def can_be_corrected(self) -> bool:
        """Whether there is a single chain; several chains have their own settings in the list."""
        return not self.several

    def draw_correction(self) -> None:
        """Draw the chain to work on, and its settings."""
        draw_options(self.layout.column(), self, Group.CHAIN, only=MEANT)
        self.draw_settings()

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the redo panel, or the dialog after a refusal."""
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
        """Write settings changed in the redo panel to the stored chain, for the panel, the overlay and the next bake."""
        chain = self.stored_chain()
        if chain is not None and self.is_repeated:
            values = given_settings(self)
            # What is keyed follows its curve, and would only get a value that nobody has keyed.
            set_values(chain, {name: values[name] for name in values.keys() - keyed_settings(chain)})

    def stored_chain(self) -> StoredChain | None:
        """Return the stored chain that the operator works on; `None` for several chains or one that is not stored."""
        return chain_kept(self.armature, self.stored) if self.armature else None

    def keyed_settings(self) -> set[str]:
        """Return the names of the settings that are keyed on the stored chain."""
        chain = self.stored_chain()
        return keyed_settings(chain) if chain is not None else set()

    def _repeated(self, context: bpy.types.Context, given: dict[str, Any]) -> Chains:
        """Return the stored chain with the settings of the redo panel, which are complete; raises a `TwoBoneError`."""
        from ...pipeline.plan.planes_of_rig import decided

        armature = find_armature(self.armature, active_armature(context))
        chain = chain_stored(armature, self.stored)
        # A bend or an influence that was changed in the redo panel is not the keyed one of the stored chain.
        stored = self.stored if (self.bend, self.influence) == (chain.bend, chain.influence) else ""
        settings = decided(BakeSettings(**{**given, "armature": armature.name}, stored=stored), armature)
        return Chains((settings,), (self.stored,))
