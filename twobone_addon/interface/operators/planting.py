"""Feet that stand still on the ground, and the root that lets legs reach."""

import bpy

from ...baking.planting.fitting import fit_root_steps
from ...baking.planting.planting import plant_steps
from ...settings.planting import PLANT_OPTIONS, ROOT_OPTIONS, PlantSettings, RootFitSettings
from ..rows import draw_own_options
from ..running.own_options import GROUND_VELOCITY, StandsOnGround, draw_with_ground, given_options
from ..running.progress import Begun, ShowsProgress
from ..stored.option_properties import properties_of, with_properties
from ..stored.where import NeedsMode, active_armature


@with_properties(properties_of(PLANT_OPTIONS) | GROUND_VELOCITY)
class TWOBONE_OT_plant(StandsOnGround, NeedsMode, bpy.types.Operator):
    """Keep the character's feet still while they are on the ground, and move the hips only as much as needed"""

    bl_idname = "twobone.plant"
    bl_label = "Plant Feet"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context: bpy.types.Context) -> Begun:
        """All legs of one character."""
        settings = PlantSettings(**given_options(self, context, PLANT_OPTIONS))
        return Begun([], plant_steps(context.scene, settings, active_armature(context)))

    def draw_correction(self) -> None:
        """All settings."""
        draw_with_ground(self, PLANT_OPTIONS)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel."""
        if not self.draws_refusal(context):
            self.draw_correction()


@with_properties(properties_of(ROOT_OPTIONS))
class TWOBONE_OT_fit_root(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Move the root, such as the hips, as little as needed so that all enabled chains reach their targets"""

    bl_idname = "twobone.fit_root"
    bl_label = "Fit Root"
    bl_options = {"REGISTER", "UNDO"}

    def begin(self, context: bpy.types.Context) -> Begun:
        """The root of all chains of one armature."""
        settings = RootFitSettings(**given_options(self, context, ROOT_OPTIONS))
        return Begun([], fit_root_steps(context.scene, settings, active_armature(context)))

    def draw_correction(self) -> None:
        """All settings."""
        draw_own_options(self.layout, self, ROOT_OPTIONS)

    def draw(self, context: bpy.types.Context) -> None:
        """The redo panel."""
        if not self.draws_refusal(context):
            self.draw_correction()


CLASSES = (TWOBONE_OT_plant, TWOBONE_OT_fit_root)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
