"""A hind leg of three links that walks, and how it is judged."""

import numpy as np

from twobone_addon.core.solver import forward

FRAMES = 72
LEG = np.array([0.4, 0.38, 0.22])
"""A hind leg: thigh, shin, foot."""

turn = np.linspace(0.0, 2.0 * np.pi, FRAMES)


def walking_leg():
    """Angles (F, 3): the leg swings, the knee bends forwards by 35 to 106 degrees, the hock backwards by 33 to 79."""
    swing = np.radians(-110 + 25 * np.sin(turn))
    knee = np.radians(70 + 35 * np.sin(turn + 1.0))
    hock = np.radians(-56 + 23 * np.sin(turn + 2.0))
    return np.stack([swing, knee, hock], axis=-1)


def longest_step(angles):
    return np.abs(np.diff(np.unwrap(angles, axis=0), axis=0)).max()


def tips_of(angles, lengths):
    return forward(angles, lengths)[:, -1]
