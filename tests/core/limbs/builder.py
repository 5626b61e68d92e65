"""Skeletons drawn by hand: a character is a tree of joints, each given by its name, its parent and its place.

Places are those of a character that stands on z = 0 and faces -Y, so its left side is +X.
"""

import dataclasses
import random

import numpy as np

from twobone_addon.core.limbs.finding import find_limbs
from twobone_addon.core.limbs.skeleton import Skeleton

LEAF = 0.05
"""Length that importers give bones without children."""


class Builder:
    """Collects bones; the tail of a bone is where its first child begins, as importers make it up."""

    def __init__(self):
        self.names, self.parents, self.heads, self.tails, self.deforms = [], [], [], [], []
        self.copies, self.bound = [], set()

    def bone(self, name, parent, head, tail=None, *, deform=True):
        number = len(self.names)
        above = self.names.index(parent) if parent else -1
        if above >= 0 and self.tails[above] is None:
            self.tails[above] = head
        self.names.append(name)
        self.parents.append(above)
        self.heads.append(head)
        self.tails.append(tail)
        self.deforms.append(deform)
        return number

    def chain(self, parent, *joints, **options):
        """Bones that hang one from the other: pairs of a name and a head."""
        for name, head in joints:
            self.bone(name, parent, head, **options)
            parent = name

    def both(self, parent, *joints, **options):
        """The same on both sides: `{}` in names is the side, and a parent without it is in the middle."""
        for side, sign in (("L", 1.0), ("R", -1.0)):
            mirrored = [(name.format(side), (sign * x, y, z)) for name, (x, y, z) in joints]
            self.chain(parent.format(side), *mirrored, **options)

    def follow(self, name, other):
        """Copy another bone's transforms."""
        self.copies.append((self.names.index(name), self.names.index(other)))
        self.bound.add(self.names.index(name))

    def skeleton(self, **more):
        heads = np.array(self.heads, dtype=float)
        tails = np.array([tail or (head[0], head[1], head[2] + LEAF) for head, tail in zip(self.heads, self.tails, strict=True)])
        return Skeleton(
            tuple(self.names), tuple(self.parents), heads, tails, tuple(self.deforms), tuple(self.copies),
            frozenset(self.bound), **more,
        )  # fmt: skip


def found(skeleton):
    """What is found, as `{(kind, side, upper, lower, tip)}`."""
    limbs = find_limbs(skeleton).limbs
    return {(limb.kind.value, limb.side.value, limb.upper, limb.lower, limb.tip) for limb in limbs}


def both_sides(kind, *names):
    """Left and right limb with these names, `{}` being the side."""
    return {(kind, word, *(name.format(side) for name in names)) for side, word in (("L", "LEFT"), ("R", "RIGHT"))}


def renamed(skeleton, seed):
    """The same bones under names that say nothing, and what they were called before."""
    order = list(range(len(skeleton.names)))
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    names = tuple(f"x{number:04}" for number in order)
    return dataclasses.replace(skeleton, names=names), dict(zip(names, skeleton.names, strict=True))


def moved(skeleton, linear, offset=(0.0, 0.0, 0.0)):
    """The same bones turned, scaled or mirrored, with the hint about what is down left as it is."""
    return dataclasses.replace(
        skeleton, heads=skeleton.heads @ np.transpose(linear) + offset, tails=skeleton.tails @ np.transpose(linear) + offset
    )


def spine(builder, *, hips="hips"):
    builder.bone(hips, "", (0, 0, 1.0))
    builder.chain(hips, ("spine", (0, 0.01, 1.1)), ("chest", (0, 0.02, 1.25)), ("neck", (0, 0.01, 1.5)), ("head", (0, 0, 1.6)))


def legs(builder, *, hips="hips"):
    builder.both(
        hips, ("thigh.{}", (0.1, 0, 0.95)), ("shin.{}", (0.1, -0.02, 0.5)), ("foot.{}", (0.1, 0.02, 0.08)),
        ("toe.{}", (0.1, -0.12, 0.02)),
    )  # fmt: skip


def arms(builder, *, chest="chest", clavicle=True):
    shoulder = [("clavicle.{}", (0.03, 0, 1.45))] if clavicle else []
    builder.both(
        chest, *shoulder, ("upper_arm.{}", (0.18, 0, 1.45)), ("forearm.{}", (0.45, 0.01, 1.45)), ("hand.{}", (0.7, 0, 1.45))
    )


def fingers(builder, *, hand="hand.{}"):
    for number in range(4):
        y = 0.03 - 0.02 * number
        builder.both(
            hand,
            *((f"finger{number}{joint}.{{}}", (0.78 + 0.03 * joint, y, 1.45)) for joint in range(3)),
        )


def person():
    builder = Builder()
    spine(builder)
    legs(builder)
    arms(builder)
    fingers(builder)
    return builder


PERSON = both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}") | both_sides("ARM", "upper_arm.{}", "forearm.{}", "hand.{}")


def four_legged():
    """A cat-like animal with shoulder blades; `C` legs bend as real ones do."""
    builder = Builder()
    builder.bone("hips", "", (0, 0.4, 0.8))
    builder.chain(
        "hips", ("spine", (0, 0.2, 0.8)), ("chest", (0, -0.1, 0.8)), ("neck", (0, -0.35, 0.85)), ("head", (0, -0.5, 1.0)),
        ("jaw", (0, -0.55, 0.97)),
    )  # fmt: skip
    builder.chain("hips", *((f"tail{number}", (0, 0.5 + 0.12 * number, 0.8)) for number in range(5)))
    builder.both(
        "hips", ("thigh.{}", (0.12, 0.34, 0.74)), ("shin.{}", (0.12, 0.27, 0.47)), ("foot.{}", (0.11, 0.48, 0.25)),
        ("toe.{}", (0.11, 0.41, 0.04)),
    )  # fmt: skip
    builder.both(
        "chest", ("scapula.{}", (0.06, -0.26, 0.89)), ("front_thigh.{}", (0.12, -0.32, 0.69)),
        ("front_shin.{}", (0.12, -0.22, 0.44)), ("front_foot.{}", (0.11, -0.21, 0.17)), ("front_toe.{}", (0.11, -0.25, 0.04)),
    )  # fmt: skip
    builder.both("head", ("ear.{}", (0.05, -0.5, 1.1)), ("ear_tip.{}", (0.08, -0.5, 1.2)))
    return builder


FOUR_LEGGED = both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}") | both_sides(
    "LEG", "front_thigh.{}", "front_shin.{}", "front_foot.{}"
)
