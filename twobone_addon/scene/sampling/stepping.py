"""Work in steps, so that a window can show its progress, and a person can stop it.

Such work is a generator: it yields the part done of its present pass over the frames, 0 to 1, and returns its result.
Closing it before its end restores everything that the pass changes.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import closing
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[float, None, Result]
"""Yields the part done, 0 to 1; returns the result."""


class Verifying(float):
    """Part done of a proof: all keys are written by then, even if it is stopped."""

    __slots__ = ()


FIRST_STEP = 8
"""Frames evaluated before the clock is first checked: few enough for a heavy scene."""

SHORT = 0.002
"""Seconds: a shorter step is followed by one of twice as many frames, so that checking the clock costs nothing."""


class Pace:
    """Number of frames to evaluate between two checks of the clock."""

    def __init__(self) -> None:
        """Start with a small step."""
        self._step = 0
        self._start = 0.0

    def next_step(self) -> int:
        """Number of frames of the step that starts now."""
        now = time.perf_counter()
        if not self._step:
            self._step = FIRST_STEP
        elif now - self._start < SHORT:
            self._step *= 2
        self._start = now
        return self._step


def at_once(steps: Steps[Result]) -> Result:
    """Run all steps now, and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def part_of_steps(steps: Steps[Result], number: int, count: int) -> Steps[Result]:
    """Run the steps as number `number`, from 0, of `count` pieces of work of the same length."""
    with closing(steps):
        while True:
            try:
                part = next(steps)
            except StopIteration as end:
                return end.value
            yield (number + part) / count
