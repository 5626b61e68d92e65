"""Operators whose texts, properties and redo panel are generated from the option table of a task."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

import bpy

from ...desk.meant import CHAIN, Meant, chains_in_scope, meant
from ...pipeline.plan.stored import active_armature
from ...settings.options import Group
from ...settings.tasks import Table
from ...tasks.all_tasks import KEYS_LIMBS
from ..refusing import can_ask
from ..rows import draw_options, draw_own_options
from ..stored.option_properties import given_settings, properties_of, show_range, with_properties
from ..stored.selecting import chains_selected, keep_active
from ..stored.where import NeedsMode
from .progress import ShowsProgress, SwitchesFirst

MEANT = {"armature", "upper", "lower", "tip", "target", "target_bone"}
"""Settings that say which chain an operator works on; shown in the dialog after a refusal."""


def operator_for(table: Table) -> Callable[[type], type]:
    """Return a class decorator that gives an operator its name, texts, and a property for each setting of the task's table."""

    def add(decorated: Any) -> type:
        decorated.table, decorated.__doc__ = table, table.text
        decorated.bl_idname, decorated.bl_label = f"twobone.{table.operator}", table.label
        decorated.bl_options = {"REGISTER"} if table.is_read_only else {"REGISTER", "UNDO"}
        return with_properties(properties_of([*table.of_chains, *table.own]))(decorated)

    return add


def operator_of(table: Table) -> type:
    """Make the operator of a task that needs no code of its own in the interface."""
    bases = (FromTable, NeedsMode, bpy.types.Operator)
    if table.task in KEYS_LIMBS:
        bases = (SwitchesFirst, *bases)
    return operator_for(table)(type(f"TWOBONE_OT_{table.operator}", bases, {"__module__": __name__}))


class FromTable(ShowsProgress):
    """Mixin for operators made from a task's table; tasks on chains run on the selected or named chains."""

    table: Table
    fixed: AbstractSet[str] = frozenset()
    """Names of the settings that the operator itself decides."""

    def requested(self, context: bpy.types.Context) -> Meant:
        """Return the task with the operator's settings; raises a `TwoBoneError`."""
        table = self.table
        if table.of_chains:
            scope = getattr(self, "scope", CHAIN)
            given = given_settings(self)
            chains = chains_selected(context, table, given) if scope == CHAIN else chains_in_scope(context, table, scope, given)
            return meant(context, table, given_settings(self, table.own), chains)
        request = meant(context, table, given_settings(self, table.own))
        if hasattr(request.settings, "frame_range"):
            show_range(self, context.scene, request.settings)
        return request

    def settle(self, report: Any, _said: str) -> None:
        """Make the chain that the report names active."""
        name = getattr(report, "shown_chain", "")
        if name:
            keep_active(bpy.context, bpy.data.objects[report.armature].twobone.chains[name])

    def draw_correction(self) -> None:
        """Draw the chain or armature to work on, and the settings."""
        column = self.layout.column()
        if self.table.of_chains:
            draw_options(column, self, Group.CHAIN, only=MEANT)
        else:
            column.prop_search(self, "armature", bpy.data, "objects")
        self._draw_settings(bpy.context)

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the redo panel, or the dialog after a refusal."""
        if not self.draws_refusal(context):
            self._draw_settings(context)

    def _draw_settings(self, context: bpy.types.Context) -> None:
        armature = bpy.data.objects.get(self.armature) or active_armature(context)
        first = self.table.first
        drawn = [option for option in self.table.own if option.name not in self.fixed]
        advanced = [option for option in drawn if first and option.name not in first]
        draw_own_options(self.layout, self, [option for option in drawn if option not in advanced], armature)
        if self.refusal is not None:  # The dialog only has room for advanced settings that were given.
            given = self.properties.is_property_set
            draw_own_options(self.layout, self, [option for option in advanced if given(option.name)], armature)
            return
        if not advanced:
            return
        if can_ask(context):
            header, body = self.layout.panel(f"{self.bl_idname}_advanced", default_closed=True)
            header.label(text="Advanced")
        else:
            body = self.layout.column()
            body.label(text="Advanced")
        if body is not None:
            draw_own_options(body, self, advanced, armature)
