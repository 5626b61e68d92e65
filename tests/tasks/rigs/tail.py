"""A tail of four links, and a way for its target."""

import math

import numpy as np

from tests.tasks.scenes import BoneShape

TAIL = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("a", (0.1, 0.2, 1.1), (0.1, 0.5, 0.4), "parent"),
    BoneShape("b", (0.1, 0.5, 0.4), (0.1, 0.6, -0.3), "a", connected=True),
    BoneShape("c", (0.1, 0.6, -0.3), (0.1, 0.4, -0.9), "b", connected=True),
    BoneShape("d", (0.1, 0.4, -0.9), (0.1, 0.0, -1.3), "c", connected=True),
)
"""A tail of four links in the plane YZ that curls to one side."""

LAST = 24
LENGTH = 2.9
"""Of the tail, rounded up."""


def circle(reach=0.75, last=LAST):
    turn = 2.0 * np.pi * np.arange(last) / last
    radius = LENGTH * (reach - 0.2 * np.cos(2 * turn))
    return [(0.1, 0.2 + r * math.sin(t), 1.1 - r * math.cos(t)) for r, t in zip(radius, turn, strict=True)]
