"""What is known of an armature's bones at rest."""

from __future__ import annotations

from dataclasses import dataclass

from ..array_types import Array


@dataclass(frozen=True, slots=True)
class Skeleton:
    """`B` bones at rest, in armature space, any unit."""

    names: tuple[str, ...]
    """`B` names. Only the side of the body is read from them."""
    parents: tuple[int, ...]
    """For each bone the one it hangs from, -1 for none."""
    heads: Array
    """`(B, 3)`."""
    tails: Array
    """`(B, 3)`."""
    deforms: tuple[bool, ...]
    """Whether each bone deforms meshes."""
    copies: tuple[tuple[int, int], ...] = ()
    """Bones that constraints move, each with a bone that it copies or hangs from that way."""
    bound: frozenset[int] = frozenset()
    """Bones that constraints turn, so that their own rotation is not what is seen."""
    down: tuple[float, float, float] = (0.0, 0.0, -1.0)
    """Where the world's down points; a hint only, for armatures may lie anyhow."""
    mirrored: bool = False
    """Whether the object's scale shows left as right."""
