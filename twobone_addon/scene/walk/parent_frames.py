"""The space that an object's location is in: what its parent makes of it, whatever kind of parent that is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...errors import WriteError
from ..blender_types import Constraint, Object
from ..keys.reading import is_animated

STAND_IN = ".twobone_stand_in"


def refuse_constrained(thing: Object) -> None:
    """Raise `WriteError` where keys on an object's location would not be what is seen."""
    acting = next((constraint for constraint in thing.constraints if _may_act(thing, constraint)), None)
    if acting is not None:
        raise WriteError(
            f'Object "{thing.name}" has constraint "{acting.name}", so keys would not place it. Mute the constraint first.'
        )


def _may_act(thing: Object, constraint: Constraint) -> bool:
    animated = is_animated(thing, f"{constraint.path_from_id()}.influence")
    return not constraint.mute and (constraint.influence > 0.0 or animated)


@contextmanager
def parent_frames(things: list[Object]) -> Iterator[list[str]]:
    """Names of empties, for a while, that are where each object would be without any location, rotation and scale."""
    empties = []
    try:
        for thing in things:
            empty = bpy.data.objects.new(STAND_IN, None)
            empties.append(empty)
            empty.parent = thing.parent
            empty.parent_type, empty.parent_bone = thing.parent_type, thing.parent_bone
            empty.parent_vertices = thing.parent_vertices
            empty.matrix_parent_inverse = thing.matrix_parent_inverse
        yield [empty.name for empty in empties]
    finally:
        for empty in empties:
            bpy.data.objects.remove(empty)
