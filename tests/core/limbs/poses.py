"""Skeletons in other poses: turned as a whole, bone by bone, with arms anywhere."""

import dataclasses

import numpy as np

from tests.core.limbs.builder import (
    moved,
)

TURNS = {
    "y up": [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
    "x up": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],
    "upside down": [[1, 0, 0], [0, -1, 0], [0, 0, -1]],
    "askew": np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0],
}


def posed(skeleton, random, most):
    """The bones after a random turn of each about its head."""
    heads, tails = skeleton.heads.copy(), skeleton.tails.copy()
    for bone in range(len(skeleton.names)):
        axis = random.normal(size=3)
        turn = rotation(axis / np.linalg.norm(axis), random.uniform(-most, most))
        below = [other for other in range(len(skeleton.names)) if bone in ways_up(skeleton, other)]
        pivot = heads[bone].copy()
        for places in (heads, tails):
            places[below] = (places[below] - pivot) @ turn.T + pivot
    return dataclasses.replace(skeleton, heads=heads, tails=tails)


def ways_up(skeleton, bone):
    way = []
    while bone >= 0:
        way.append(bone)
        bone = skeleton.parents[bone]
    return way


def lying_anyhow(skeleton, seed):
    """Turned at random, and ten times as small or as large."""
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn)) * 10.0 ** (seed - 1)
    return moved(skeleton, turn, offset=(1.0, 2.0, 3.0))


ARMS = {
    "down and out": ((0.03, 0, 1.45), (0.18, 0, 1.45), (0.37, 0.01, 1.25), (0.55, -0.05, 1.06)),
    "down": ((0.03, 0, 1.45), (0.2, 0, 1.42), (0.22, 0.02, 1.13), (0.22, -0.03, 0.86)),
    "forwards": ((0.03, 0, 1.45), (0.2, 0, 1.42), (0.2, -0.29, 1.40), (0.2, -0.55, 1.42)),
    "up": ((0.03, 0, 1.45), (0.2, 0, 1.45), (0.25, 0.02, 1.73), (0.25, 0, 2.0)),
    "straight out": ((0.03, 0, 1.45), (0.18, 0, 1.45), (0.45, 0, 1.45), (0.7, 0, 1.45)),
}


def with_arms(builder, places):
    builder.both("chest", *zip(("clavicle.{}", "upper_arm.{}", "forearm.{}", "hand.{}"), places, strict=True))
    return builder


def rotation(axis, angle):
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
