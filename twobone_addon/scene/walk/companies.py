"""Who is walked through time together: what shares nothing goes apart, in companies that Blender evaluates fast.

A scene with a hundred characters takes four times as long for each of them as one with ten. So characters that share
nothing, no object and nothing that objects hang from, are evaluated in several scenes, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..blender_types import Object
from ..moves.dependencies import DependencyFinder
from .quantities import Quantity

FEW_OBJECTS = 32
"""Objects in a scene up to which each takes about as long as it does alone."""


def companies(quantities: Sequence[Quantity], objects: Mapping[str, Object]) -> list[list[Quantity]]:
    """The quantities in companies, each with all that is needed of any object; one where there are few objects.

    Objects that hang from one another, or from the same object, stay together; `objects` are all of the file, by name.
    """
    if len({quantity.object for quantity in quantities}) <= FEW_OBJECTS:
        return [list(quantities)] if quantities else []
    by_circle: dict[int, list[Quantity]] = {}
    circle_of = _circles(quantities, objects)
    for quantity in quantities:
        by_circle.setdefault(circle_of[quantity.object], []).append(quantity)
    found: list[list[Quantity]] = []
    room = 0
    for circle in by_circle.values():
        size = len({quantity.object for quantity in circle})
        if size > room:
            found.append([])
            room = FEW_OBJECTS
        found[-1] += circle
        room -= size
    return found


def _circles(quantities: Iterable[Quantity], objects: Mapping[str, Object]) -> dict[str, int]:
    """For each object, a number that it shares with all that it shares something with."""
    finder = DependencyFinder(objects)
    members: dict[int, set[str]] = {}
    circle_of: dict[str, int] = {}
    for number, (name, bone) in enumerate(dict.fromkeys((quantity.object, quantity.bone) for quantity in quantities)):
        circle = {name, *(owner for owner, _ in finder.above([(name, bone)]).nodes)}
        for other in {circle_of[each] for each in circle if each in circle_of}:
            circle |= members.pop(other)
        members[number] = circle
        circle_of |= dict.fromkeys(circle, number)
    return circle_of
