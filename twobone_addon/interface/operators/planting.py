"""Feet that stand still on the ground, and the root that lets legs reach."""

from collections.abc import Sequence
from typing import Any

import bpy

from ...baking.plan.frame_choice import with_custom_range
from ...baking.planting.fitting import fit_root_steps
from ...baking.planting.planting import plant_steps
from ...options import Option
from ...settings.planting import PLANT_OPTIONS, ROOT_OPTIONS, PlantSettings, RootFitSettings
from ..rows import draw_own_options
from ..running.progress import Begun, ShowsProgress
from ..stored.option_properties import properties_of, with_properties
from ..stored.where import NeedsMode, active_armature


def _given(operator: bpy.types.Operator, context: bpy.types.Context, options: Sequence[Option]) -> dict[str, Any]:
    """The settings that somebody has given an operator, by name; a start or an end alone means a custom range."""
    given = {
        option.name: getattr(operator, option.name) for option in options if operator.properties.is_property_set(option.name)
    }
    return dict(with_custom_range(context.scene, given))


@with_properties(properties_of(PLANT_OPTIONS))
class TWOBONE_OT_plant(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Keep the character's feet still while they are on the ground, and move the hips only as much as needed"""

    bl_idname = "twobone.plant"
    bl_label = "Plant Feet"
    bl_options = {"REGISTER", "UNDO"}

    ground_velocity: bpy.props.FloatVectorProperty(
        name="Ground Velocity",
        description="Velocity of the ground if Ground Moves is Given, in units per second along the world axes",
        size=3,
        options={"SKIP_SAVE"},
    )

    def begin(self, context: bpy.types.Context) -> Begun:
        """All legs of one character."""
        given = {**_given(self, context, PLANT_OPTIONS), "ground_velocity": tuple(self.ground_velocity)}
        settings = PlantSettings(**given)
        return Begun([], plant_steps(context.scene, settings, active_armature(context)))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        draw_own_options(self.layout, self, PLANT_OPTIONS)
        if self.ground_moves == "GIVEN":
            self.layout.column().prop(self, "ground_velocity")


@with_properties(properties_of(ROOT_OPTIONS))
class TWOBONE_OT_fit_root(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Move the root, such as the hips, as little as needed so that all enabled chains reach their targets"""

    bl_idname = "twobone.fit_root"
    bl_label = "Fit Root"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context: bpy.types.Context) -> Begun:
        """The root of all chains of one armature."""
        settings = RootFitSettings(**_given(self, context, ROOT_OPTIONS))
        return Begun([], fit_root_steps(context.scene, settings, active_armature(context)))

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel."""
        draw_own_options(self.layout, self, ROOT_OPTIONS)


CLASSES = (TWOBONE_OT_plant, TWOBONE_OT_fit_root)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
