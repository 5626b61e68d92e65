"""What operators with settings of their own share: those that were given, and where the ground goes."""

from collections.abc import Sequence
from typing import Any

import bpy

from ...baking.plan.frame_choice import with_custom_range
from ...options import Option
from ..rows import draw_own_options
from ..stored.option_properties import offer_range
from .progress import ShowsProgress

GROUND_VELOCITY = {
    "ground_velocity": bpy.props.FloatVectorProperty(
        name="Ground Velocity",
        description="Velocity of the ground if Ground Moves is Given, in units per second along the world axes",
        size=3,
        options={"SKIP_SAVE"},
    )
}
"""For the class decorator `with_properties`."""


def given_options(operator: bpy.types.Operator, context: bpy.types.Context, options: Sequence[Option]) -> dict[str, Any]:
    """The settings that somebody has given an operator, by name; a start or an end alone means a custom range.

    The redo panel shows that range.
    """
    is_given = operator.properties.is_property_set
    given = {option.name: getattr(operator, option.name) for option in options if is_given(option.name)}
    if hasattr(operator, "ground_velocity") and is_given("ground_velocity"):
        given["ground_velocity"] = tuple(operator.ground_velocity)
    settings = dict(with_custom_range(context.scene, given))
    for name in ("frame_range", "frame_start", "frame_end"):
        setattr(operator, name, settings.get(name, getattr(operator, name)))
    offer_range(operator, context.scene)
    return settings


class StandsOnGround(ShowsProgress):
    """Operators that have a ground and the property `GROUND_VELOCITY`: Object is chosen first, and then which one."""

    def is_half_chosen(self) -> bool:
        """Whether the field of the ground object has just appeared in the redo panel, and is empty."""
        return self.options.is_repeat and self.ground == "OBJECT" and not self.ground_object


def draw_with_ground(operator: bpy.types.Operator, options: Sequence[Option]) -> None:
    """The redo panel of an operator that has the property `GROUND_VELOCITY` too."""
    draw_own_options(operator.layout, operator, options)
    if operator.ground_moves == "GIVEN":
        operator.layout.column().prop(operator, "ground_velocity")
