"""Numbers that flags take; what is none is refused as argparse wants it."""

from __future__ import annotations

import argparse
import math


def distance(text: str) -> float:
    """A distance of 0 or greater."""
    value = float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} must be 0 or greater")
    return value


def duration(text: str) -> float:
    """A time, or another amount, above 0."""
    value = float(text)
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is too small or no number, use one above 0")
    return value


def count(text: str) -> int:
    """A whole number of 1 or more."""
    return _at_least(1, text)


def some(text: str) -> int:
    """A whole number of 0 or more."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    value = int(text)
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is too small, use {least} or more")
    return value
