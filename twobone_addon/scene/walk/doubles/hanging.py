"""Empties that hang from a rig, such as targets that it carries: they can hang from the rig's double instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...blender_types import Object
from ...moves.animation_reading import is_mixed
from ...moves.dependencies import DependencyFinder
from ..quantities import Quantity


def hanging_from(armature: Object, others: Iterable[Quantity], finder: DependencyFinder) -> list[list[Object]] | None:
    """The lineage of each object among the quantities that hangs from the armature: itself first, up to the armature's child.

    `None` where something hangs from it in another way than by parents, so that it cannot hang from something else.
    """
    found = []
    for name, bone in dict.fromkeys((quantity.object, quantity.bone) for quantity in others):
        if all(owner != armature.name for owner, _ in finder.above([(name, bone)]).nodes):
            continue
        lineage = _lineage(finder.objects[name], armature)
        if bone or lineage is None:
            return None
        found.append(lineage)
    return found


def carriers(lineages: Iterable[Sequence[Object]]) -> list[str]:
    """The bones that carry them."""
    return [lineage[-1].parent_bone for lineage in lineages if lineage[-1].parent_type == "BONE"]


def _lineage(thing: Object, armature: Object) -> list[Object] | None:
    """An object and its parents below the armature, where that is all that moves them besides their own keys."""
    found = []
    while thing != armature:
        if thing is None or not _is_plain(thing):
            return None
        found.append(thing)
        thing = thing.parent
    return found


def _is_plain(thing: Object) -> bool:
    data = thing.animation_data
    local = thing.library is None and thing.override_library is None
    moved = data is not None and (is_mixed(data) or len(data.drivers) > 0)
    bare = thing.type == "EMPTY" and thing.parent_type in {"OBJECT", "BONE"} and thing.rigid_body is None
    return local and bare and not moved and not thing.constraints


def hung_from(double: Object, lineages: Iterable[Sequence[Object]], name: str) -> dict[str, Object]:
    """Copies of what hangs from an armature, by the names of the originals, that hang from its double; `name` is theirs."""
    copies: dict[str, Object] = {}
    for lineage in lineages:
        parent = double
        for thing in reversed(lineage):
            if thing.name not in copies:
                copy = thing.copy()
                copy.name = name
                inverse = thing.matrix_parent_inverse.copy()
                copy.parent = parent
                copy.parent_type, copy.parent_bone = thing.parent_type, thing.parent_bone
                copy.matrix_parent_inverse = inverse
                copies[thing.name] = copy
            parent = copies[thing.name]
    return copies
