"""What a proof has measured of one chain, for its report."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.array_types import Array
from ...said import Sentence
from .between import Between


@dataclass(frozen=True, slots=True)
class Visibility:
    """Whether the visible bone of one chain follows; distances in world units."""

    bone: str
    """Name of the bone that deforms where the lower bone is, or of the lower bone itself."""
    is_own: bool
    """Whether it is the lower bone itself."""
    follows: bool
    hindrances: tuple[Sentence, ...]
    """The reasons why it does not."""
    max_distance: float | None
    """Largest distance of the visible limb's end from the target; `None` if it follows or was not measured."""
    frame: float
    """Frame of that distance."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of one chain at its report frames, in world units; `None` if there was no frame to measure."""

    max_error: float | None
    mean_error: float | None
    max_goal_error: float | None
    max_off_plane: float
    distances: Array
    """`(K,)` of the tip from its target, in space; NaN where the target has no position."""
    beside: Array
    """`(K,)` part of that distance across the plane."""
    aside: Array
    """`(K,)` distance in the plane from the target to the goal after clamping, softening and limits."""
    limb_length: float
    between: Between | None
    turned: tuple[Array, ...]
    """Posed matrices `(K, 4, 4)` of the bones that turn, one row where they are still."""
    visibility: Visibility | None = None
    """Whether the visible bone follows."""
