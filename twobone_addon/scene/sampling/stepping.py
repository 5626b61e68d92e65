"""Work that can be done a bit at a time, so that a window can show how far it is, and a person can stop it.

Such work is a generator: it yields the part that is done of its present walk, 0 to 1, and returns its result. Closing
it before its end puts back everything that the walk disturbs.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[float, None, Result]
"""Yields parts done; returns its result."""


class Verifying(float):
    """Part done of a proof: whatever is stopped from now on is written already."""

    __slots__ = ()


FIRST_STEP = 8
"""Frames evaluated before the first look at the clock: few enough for a heavy scene."""

SHORT = 0.002
"""Seconds: steps that take less are followed by steps twice as long, so that the looks do not cost."""


class Pace:
    """How many frames are evaluated between two looks at the clock."""

    def __init__(self) -> None:
        """Begin slowly."""
        self._step = 0
        self._start = 0.0

    def next_step(self) -> int:
        """Frames of the step that starts now."""
        now = time.perf_counter()
        if not self._step:
            self._step = FIRST_STEP
        elif now - self._start < SHORT:
            self._step *= 2
        self._start = now
        return self._step


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


def verifying(steps: Steps[Result]) -> Steps[Result]:
    """The same work, of which whoever shows progress can tell that it is a proof."""
    with closing(steps):
        while True:
            try:
                part = next(steps)
            except StopIteration as end:
                return end.value
            yield Verifying(part)
