"""What is known of an armature's bones, at rest and in some poses of its action."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array


@dataclass(frozen=True, slots=True)
class Skeleton:
    """`B` bones at rest, in armature space, any unit."""

    names: tuple[str, ...]
    """`B` names; see `names` for when they are believed."""
    parents: tuple[int, ...]
    """For each bone its parent, -1 for none."""
    heads: Array
    """`(B, 3)`."""
    tails: Array
    """`(B, 3)`."""
    deforms: tuple[bool, ...]
    """Whether each bone deforms meshes."""
    copies: tuple[tuple[int, int], ...] = ()
    """Bones that constraints move, each with a bone that it copies or is parented to that way."""
    bound: frozenset[int] = frozenset()
    """Bones that constraints turn, so that their own rotation is not the visible one."""
    down: tuple[float, float, float] = (0.0, 0.0, -1.0)
    """Where the world's down points; a hint only, for armatures may lie anyhow."""
    mirrored: bool = False
    """Whether the object's scale shows left as right."""
    poses: Array | None = None
    """`(P, B, 2, 3)` heads and tails in some poses of the action; `None` without one."""

    @property
    def size(self) -> float:
        """Longest distance along an axis."""
        return float(np.ptp(np.concatenate([self.heads, self.tails]), axis=0).max())

    def way_up(self, bone: int) -> list[int]:
        """The bone and its ancestors, nearest first; none for -1."""
        way = []
        while bone >= 0:
            way.append(bone)
            bone = self.parents[bone]
        return way

    def between(self, upper: int, last: int) -> set[int]:
        """Two bones and those between them; all above the last one where it does not hang from the upper one."""
        way = self.way_up(last)
        return {upper, *way[: way.index(upper)]} if upper in way else {upper, *way}
