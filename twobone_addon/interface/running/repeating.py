"""Redo panel for operators on stored chains: repeating them with changed settings also changes the stored chain."""

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ...errors import ObjectError
from ...pipeline.plan.stored import StoredChain, limit_pairs, over_stored, stored_settings
from ...pipeline.report.reports import BakeReport
from ...scene.lookup import find_armature
from ...settings import OPTIONS, BakeSettings
from ...settings.options import Group
from ..rows import draw_options
from ..stored.option_properties import given_settings, offer_range
from ..stored.properties import TwoBoneLimit
from ..stored.selecting import meant_settings
from ..stored.storing import keyed_settings, set_limits, set_values
from ..stored.where import active_armature
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

    is_repeated: bool
    """Whether the redo panel repeats the operator for a stored chain."""

    several = 0
    """Number of chains if there are several; 0 for a single one."""

    def wanted_settings(self, context: bpy.types.Context) -> list[BakeSettings]:
        """Return the settings of each chain, completing the given ones from stored chain, selection and rig.

        When the redo panel repeats the operator, the result depends on its settings alone. Raises a `TwoBoneError`.
        """
        self.is_repeated = bool(self.stored and self.upper and self.lower)
        given = given_settings(self)
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.stored:
            return [self._settings_of_stored(context, given)]
        return meant_settings(context, given)

    def show(self, chains: Sequence[BakeSettings]) -> None:
        """Show the complete settings of a single chain in the redo panel, or the number of several chains."""
        self.several = len(chains) if len(chains) > 1 else 0
        if self.several:
            return
        (settings,) = chains
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
        armature = bpy.data.objects.get(self.armature)
        return armature.twobone.chains.get(self.stored) if armature is not None and self.stored else None

    def keyed_settings(self) -> set[str]:
        """Return the names of the settings that are keyed on the stored chain."""
        chain = self.stored_chain()
        return keyed_settings(chain) if chain is not None else set()

    def _settings_of_stored(self, context: bpy.types.Context, given: dict[str, Any]) -> BakeSettings:
        """Return the stored chain's settings overridden by `given`; if `given` has bones, it is complete.

        Raises a `TwoBoneError`.
        """
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
        # A bend or an influence that was changed in the redo panel is not the keyed one of the stored chain.
        stored = self.stored if (self.bend, self.influence) == (chain.bend, chain.influence) else ""
        from ...pipeline.plan.planes_of_rig import decided

        return decided(BakeSettings(**{**given, "armature": armature.name}, stored=stored), armature)
