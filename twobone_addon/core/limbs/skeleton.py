"""The bones of an armature, at rest and in some poses of its action, as arrays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import Array

END = re.compile(r"(?<![a-z])(?:end|nub|tip|leaf)(?![a-z])|(?:End|Nub|Tip|Leaf)(?![a-z])")
"""What exporters call bones that are nothing but the ends of others."""


def hang(parents: list[int], bone: int, carrier: int) -> bool:
    """Make `carrier` the parent of a bone, and tell whether that was done: not where it is the bone itself or below it.

    The only place that changes the tree of a skeleton or of its joints: geometry may find that two bones end at each other,
    and a tree must stay a tree, for everything that goes up or down in it ends only then.
    """
    above = carrier
    while above not in {-1, bone}:
        above = parents[above]
    if above == bone:
        return False
    parents[bone] = carrier
    return True


def is_tree(parents: Sequence[int]) -> bool:
    """Whether every bone leads up to one without a parent."""
    known = {-1}
    for bone in range(len(parents)):
        path, above = dict[int, None](), bone
        while above not in known and above not in path:
            path[above] = None
            above = parents[above]
        if above in path:
            return False
        known.update(path)
    return True


def way_up(parents: Sequence[int], start: int) -> list[int]:
    """A bone or joint and its ancestors, nearest first; empty for -1."""
    path = []
    while start >= 0:
        path.append(start)
        start = parents[start]
    return path


@dataclass(frozen=True, slots=True)
class Skeleton:
    """`B` bones at rest, in armature space, any unit."""

    names: tuple[str, ...]
    """`B` names; the module `names` decides whether they are trusted."""
    parents: tuple[int, ...]
    """Index of each bone's parent, -1 for none."""
    heads: Array
    """`(B, 3)`."""
    tails: Array
    """`(B, 3)`."""
    deforms: tuple[bool, ...]
    """Whether each bone deforms a mesh."""
    copies: tuple[tuple[int, int], ...] = ()
    """Pairs of a bone moved by a constraint and a bone that it copies or is constrained to as a child."""
    bound: frozenset[int] = frozenset()
    """Bones rotated by constraints, so that their own rotation channels are not the visible rotation."""
    down: tuple[float, float, float] = (0.0, 0.0, -1.0)
    """World down in armature space; only a hint, because armatures may lie in any direction."""
    mirrored: bool = False
    """Whether the object's scale mirrors it, exchanging left and right."""
    weighted: tuple[bool, ...] = ()
    """Whether each bone carries some of a mesh; empty where no mesh follows the armature."""
    poses: Array | None = None
    """`(P, B, 2, 3)` heads and tails in some poses of each action; `None` without actions."""

    def __post_init__(self) -> None:
        """Refuse a ring, in which no way up ends; `hang` keeps a tree one."""
        if not is_tree(self.parents):
            raise ValueError("The parents of a skeleton go round in a ring.")

    def end_marks(self) -> frozenset[int]:
        """The bones that are nothing but the ends of others: leaves without weight below bones with some.

        Without a mesh, leaves that are called so.
        """
        leaves = set(range(len(self.names))) - set(self.parents)
        if not any(self.weighted):
            return frozenset(leaf for leaf in leaves if END.search(self.names[leaf]))
        ends = [leaf for leaf in leaves if self.parents[leaf] >= 0 and not self.weighted[leaf]]
        return frozenset(leaf for leaf in ends if self.weighted[self.parents[leaf]])

    def carried(self) -> tuple[bool, ...]:
        """Whether each bone carries some of a mesh or leads to one that does; all without a mesh."""
        if not any(self.weighted):
            return (True,) * len(self.names)
        carried = list(self.weighted)
        for bone in range(len(self.names)):
            if self.weighted[bone]:
                for above in self.way_up(bone):
                    carried[above] = True
        return tuple(carried)

    @property
    def size(self) -> float:
        """Greatest extent along an axis."""
        return float(np.ptp(np.concatenate([self.heads, self.tails]), axis=0).max())

    def way_up(self, bone: int) -> list[int]:
        """The bone and its ancestors, nearest first; empty for -1."""
        return way_up(self.parents, bone)

    def between(self, upper: int, last: int) -> set[int]:
        """Both bones, and the bones between them or, where `last` is not below `upper`, all above it."""
        path = self.way_up(last)
        return {upper, *path[: path.index(upper) if upper in path else None]}
