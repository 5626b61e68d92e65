"""The ground on which feet stand, its surface, and its space, which may move under the feet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...records import replace
from ..array_types import Array
from ..arrays import every_row

Surface = Callable[[Array], tuple[Array, Array]]
"""Maps places `(n, 3)` in the space of the ground to ground heights `(n,)` and upward unit normals `(n, 3)`. Where there is
no ground, the height is that of the place and the normal is zero."""


def level_surface(height: float, most: float = np.inf) -> Surface:
    """Flat ground at `height`; at a place farther than `most` above or below it, the ground is at the place's own height."""

    def surface(places: Array) -> tuple[Array, Array]:
        heights = np.where(np.abs(places[:, 2] - height) <= most, height, places[:, 2])
        return heights, np.tile([0.0, 0.0, 1.0], (len(places), 1))

    return surface


@dataclass(frozen=True, slots=True)
class Ground:
    """Ground that may move but does not deform."""

    world_from_ground: Array
    """`(S, 4, 4)`, or one for all samples; without scale. At the first sample of the range both spaces coincide."""
    surface: Surface | None = None
    """Surface onto which feet are placed; `None` keeps their average heights."""
    level: float = 0.0
    """Height of the flat ground that the feet were animated on, as estimated."""
    is_flat: bool = False
    """Without a surface: whether all feet stand so nearly at `level` that they are planted there."""
    is_new: bool = False
    """Whether the feet were animated on flat ground and are moved onto the surface."""
    ground_from_world: Array = field(init=False)

    def __post_init__(self) -> None:
        """Compute the inverse matrices."""
        object.__setattr__(self, "ground_from_world", np.linalg.inv(self.world_from_ground))

    def over(self, places_ground: Array) -> Array:
        """Heights `(n,)` of places `(n, 3)` above the ground."""
        return places_ground[:, 2] - (self.level if self.surface is None else self.surface(places_ground)[0])

    def is_below(self, place_ground: Array) -> bool:
        """Whether there is ground below or above a place `(3,)`; always true without a surface."""
        return self.surface is None or bool(np.any(self.surface(place_ground[None])[1]))

    def into(self, places_world: Array) -> Array:
        """Transform points `(S, 3)` from world space to ground space."""
        return _transformed(self.ground_from_world, places_world)

    def out_of(self, places_ground: Array) -> Array:
        """Transform points `(S, 3)` from ground space to world space."""
        return _transformed(self.world_from_ground, places_ground)

    def turned_into(self, turns_world: Array) -> Array:
        """Transform rotations `(S, 3, 3)` from world space to ground space."""
        return np.swapaxes(self.world_from_ground[:, :3, :3], -1, -2) @ turns_world

    def stretched_into(self, stretches_world: Array | None) -> Array | None:
        """Transform stretches `(S, 3, 3)` from world axes to ground axes; `None` stays `None`."""
        axes = self.world_from_ground[:, :3, :3]
        return None if stretches_world is None else np.swapaxes(axes, -1, -2) @ stretches_world @ axes

    def turned_out_of(self, turns_ground: Array) -> Array:
        """Transform rotations `(S, 3, 3)` from ground space to world space."""
        return self.world_from_ground[:, :3, :3] @ turns_ground

    def at(self, rows: Array | slice) -> Ground:
        """The ground at some samples."""
        return self if len(self.world_from_ground) == 1 else replace(self, world_from_ground=self.world_from_ground[rows])


def _transformed(matrices: Array, places: Array) -> Array:
    """Transform places `(S, 3)` by matrices `(S, 4, 4)`, or by one for all."""
    if len(matrices) == 1:
        return places @ matrices[0, :3, :3].T + matrices[0, :3, 3]
    return np.einsum("sij,sj->si", matrices[:, :3, :3], places) + matrices[:, :3, 3]


def moving_ground(times: Array, velocity: Array, since: float | None = None) -> Ground:
    """Ground that moves at `velocity` `(3,)`, units per second, at `times` `(S,)` in seconds.

    since : time in seconds at which world and ground space coincide; `None` for the first of `times`
    """
    matrices = np.tile(np.eye(4), (len(times) if np.any(velocity) else 1, 1, 1))
    matrices[:, :3, 3] = (times[: len(matrices)] - (times[0] if since is None else since))[:, None] * velocity
    return Ground(matrices)


def moved_ground(ground: Ground, moves: Array) -> Ground:
    """The ground with displacements `moves` `(S, 3)`, world space, added to its own motion."""
    matrices = np.array(every_row(ground.world_from_ground, len(moves)))
    matrices[:, :3, 3] += moves
    return replace(ground, world_from_ground=matrices)


def carried_ground(matrices: Array) -> Ground:
    """Ground that moves with an object, given the object's world matrices `(S, 4, 4)`."""
    return Ground(matrices @ np.linalg.inv(matrices[:1]))
