"""Which way characters face, by the line between their hips."""

from __future__ import annotations

import math

import numpy as np

from ..array_types import Array

STEADY = math.radians(20.0)
"""Difference from the mean beyond which hips turn otherwise: a retarget copies the rotation of the hips to a few degrees."""


def heading_difference(left_to_right: Array, of_source: Array) -> tuple[float, float]:
    """Mean angle about the world's Z axis from the heading of a source to that of a character, and the share of unsteady rows.

    Both are vectors `(F, 3)`, world space, from the left to the right hip joint. Without any length in plan they have no heading,
    and the angle is 0.
    """
    headings = [np.arctan2(across[:, 1], across[:, 0]) for across in (left_to_right, of_source)]
    turns = np.exp(1j * (headings[0] - headings[1]))
    mean = turns.mean()
    return float(np.angle(mean)), float(np.mean(np.abs(np.angle(turns * np.conj(mean))) > STEADY))
