"""Work that can be done a bit at a time, so that a window can show how far it is, and a person can stop it.

Such work is a generator: it yields the part that is done of its present walk, 0 to 1, and returns its result. Closing
it before its end puts back everything that the walk disturbs.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[float, None, Result]
"""Yields parts done; returns its result."""

FRAMES_PER_STEP = 8
"""Frames evaluated between two looks at the clock: few enough for a heavy scene, too many for the looks to cost."""


def at_once(steps: Steps[Result]) -> Result:
    """Do all of it now, and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def part_of(steps: Steps[Result], number: int, count: int) -> Steps[Result]:
    """The same work as the one of that number, from 0, among several of the same length."""
    with closing(steps):
        while True:
            try:
                part = next(steps)
            except StopIteration as end:
                return end.value
            yield (number + part) / count
