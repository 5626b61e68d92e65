"""Rotation matrices by formulas of their own: Rodrigues' with an axis, and products about the three axes."""

import numpy as np

AXES = dict(zip("XYZ", np.eye(3), strict=True))


def about(axis, angle):
    """`(3, 3)`; the axis is a unit vector."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def about_axes(angles, order):
    """`(3, 3)` of Euler angles: the first letter of the order turns first."""
    turn = np.eye(3)
    for letter in order:
        turn = about(AXES[letter], angles["XYZ".index(letter)]) @ turn
    return turn


def placed(linear, location):
    """`(4, 4)`"""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, location
    return matrix
