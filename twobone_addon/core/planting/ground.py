"""The space of the ground on which feet stand, which may move under them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..array_types import Array
from ..arrays import every_row

Surface = Callable[[Array], tuple[Array, Array]]
"""From places `(n, 3)` in the space of the ground to the heights `(n,)` of the ground there, and its upward unit normals
`(n, 3)`; where there is none, the place's own height, and no normal."""


def level_surface(height: float, most: float = np.inf) -> Surface:
    """Flat ground, and wherever a place is farther from it than `most`, ground of its own height."""

    def surface(places: Array) -> tuple[Array, Array]:
        heights = np.where(np.abs(places[:, 2] - height) <= most, height, places[:, 2])
        return heights, np.tile([0.0, 0.0, 1.0], (len(places), 1))

    return surface


@dataclass(frozen=True, slots=True)
class Ground:
    """Ground that moves, but does not change its shape."""

    world_from_ground: Array
    """`(S, 4, 4)`, or one for all samples; no change of size. At the first sample of the range both spaces are alike."""
    surface: Surface | None = None
    """On which feet are put down; `None` leaves them as high as they are on average."""
    level: float = 0.0
    """Height of the flat ground on which the feet seem to have been walking."""
    is_new: bool = False
    """Whether the feet have been walking on flat ground so far, and are now to walk on the surface."""
    ground_from_world: Array = field(init=False)

    def __post_init__(self) -> None:
        """Know the reverse."""
        object.__setattr__(self, "ground_from_world", np.linalg.inv(self.world_from_ground))

    def over(self, places_ground: Array) -> Array:
        """How high `(n,)` places `(n, 3)` are over the ground."""
        return places_ground[:, 2] - (self.level if self.surface is None else self.surface(places_ground)[0])

    def is_below(self, place_ground: Array) -> bool:
        """Whether there is any ground below or above a place `(3,)`; one that is not known is everywhere."""
        return self.surface is None or bool(np.any(self.surface(place_ground[None])[1]))

    def into(self, places_world: Array) -> Array:
        """World points `(S, 3)` in the space of the ground."""
        return _moved(self.ground_from_world, places_world)

    def out_of(self, places_ground: Array) -> Array:
        """The reverse."""
        return _moved(self.world_from_ground, places_ground)

    def turned_into(self, turns_world: Array) -> Array:
        """Rotations `(S, 3, 3)` in the world as seen from the ground."""
        return np.swapaxes(self.world_from_ground[:, :3, :3], -1, -2) @ turns_world

    def stretched_into(self, stretches_world: Array | None) -> Array | None:
        """Stretches `(S, 3, 3)` along the world's axes as seen from the ground."""
        axes = self.world_from_ground[:, :3, :3]
        return None if stretches_world is None else np.swapaxes(axes, -1, -2) @ stretches_world @ axes

    def turned_out_of(self, turns_ground: Array) -> Array:
        """The reverse."""
        return self.world_from_ground[:, :3, :3] @ turns_ground

    def at(self, rows: Array) -> Ground:
        """The same at some samples."""
        return self if len(self.world_from_ground) == 1 else replace(self, world_from_ground=self.world_from_ground[rows])


def _moved(matrices: Array, places: Array) -> Array:
    """Places `(S, 3)` that matrices `(S, 4, 4)`, or one, make of others."""
    if len(matrices) == 1:
        return places @ matrices[0, :3, :3].T + matrices[0, :3, 3]
    return np.einsum("sij,sj->si", matrices[:, :3, :3], places) + matrices[:, :3, 3]


def moving_ground(times: Array, velocity: Array, since: float | None = None) -> Ground:
    """Ground that moves at a `velocity` `(3,)`, units a second, at `times` `(S,)`, seconds.

    since : when the world and the ground are alike, if not at the first of the times
    """
    matrices = np.tile(np.eye(4), (len(times) if np.any(velocity) else 1, 1, 1))
    matrices[:, :3, 3] = (times[: len(matrices)] - (times[0] if since is None else since))[:, None] * velocity
    return Ground(matrices)


def moved_ground(ground: Ground, moves: Array) -> Ground:
    """The same with `moves` `(S, 3)` in the world on top of its own motion."""
    matrices = np.array(every_row(ground.world_from_ground, len(moves)))
    matrices[:, :3, 3] += moves
    return replace(ground, world_from_ground=matrices)


def carried_ground(matrices: Array) -> Ground:
    """Ground that an object carries, with its world matrices `(S, 4, 4)`."""
    return Ground(matrices @ np.linalg.inv(matrices[:1]))
