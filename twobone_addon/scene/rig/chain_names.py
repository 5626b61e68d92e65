"""Chains and IK constraints by the names of their bones."""

from __future__ import annotations

from dataclasses import dataclass

from ..paths import constraint_path


@dataclass(frozen=True, slots=True)
class ChainNames:
    """A chain by the names of its bones."""

    armature: str
    upper: str
    lower: str
    tip: str
    """Bone that carries the tip: the lower bone itself or one below it."""
    tip_at_tail: bool
    """Whether the tip is that bone's tail; else its head."""


@dataclass(frozen=True, slots=True)
class IkLimb:
    """An IK constraint over two links."""

    names: ChainNames
    bone: str
    """Bone that carries the constraint."""
    constraint: str
    target: str
    target_bone: str

    @property
    def path(self) -> str:
        """Data path of the constraint."""
        return constraint_path(self.bone, self.constraint)
