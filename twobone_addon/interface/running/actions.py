"""The property by which operators go through several actions."""

from collections.abc import Iterator

import bpy

from ...baking.actions.choosing import ACTIVE, ALL
from ...scene.actions.finding import actions_of
from ..stored.where import active_armature


def _suggested(operator: bpy.types.Operator, context: bpy.types.Context, _text: str) -> Iterator[str]:
    """What the field offers while somebody types."""
    armature = bpy.data.objects.get(getattr(operator, "armature", "")) or active_armature(context)
    yield from (ACTIVE, ALL)
    if armature is not None and armature.type == "ARMATURE":
        yield from (own.name for own in actions_of(armature))


ACTIONS = {
    "actions": bpy.props.StringProperty(
        name="Actions",
        description="ACTIVE, ALL, or names separated by semicolons. Unless it is ACTIVE, each action has its own range",
        default=ACTIVE,
        search=_suggested,
        search_options={"SUGGESTION"},
        options={"SKIP_SAVE"},
    )
}
"""For the class decorator `with_properties`."""
