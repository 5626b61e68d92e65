"""Sides of the body as names tell them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum


class Side(Enum):
    """Side of the character."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"
    CENTER = "CENTER"

    @property
    def other(self) -> Side:
        """The opposite side."""
        return {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}.get(self, self)


WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]|\d+")
"""A word of a name: `Left` and `Up` of `LeftUpLeg01`, `L` of `thigh.L`; signs of other writings stand alone."""

LEFT = {"left", "l", "lt", "lf", "lft", "左", "gauche", "izq", "izquierda", "links", "sx", "esquerda"}
RIGHT = {"right", "r", "rt", "rgt", "右", "droite", "der", "derecha", "rechts", "dx", "direita"}
"""Words that tell a side."""


def sides_of(name: str) -> set[Side]:
    """Sides that a name speaks of."""
    words = {word.lower() for word in WORD.findall(name)}
    return {side for side, known in ((Side.LEFT, LEFT), (Side.RIGHT, RIGHT)) if known & words}


def side_by_names(names: Iterable[str], others: Iterable[str]) -> Side:
    """Side of what has the first names, told from those of its mirror image too; `CENTER` where names do not tell."""
    votes = 0
    for name, other in zip(names, others, strict=True):
        own, opposite = sides_of(name), sides_of(other)
        if own == {Side.LEFT} and opposite == {Side.RIGHT}:
            votes += 1
        elif own == {Side.RIGHT} and opposite == {Side.LEFT}:
            votes -= 1
    return Side.LEFT if votes > 0 else Side.RIGHT if votes < 0 else Side.CENTER
