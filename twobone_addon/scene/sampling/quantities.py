"""Quantities that can be sampled, and their samples."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import every_row, frame_rows
from ...records import replace


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity to sample at every frame."""

    kind: str
    """`WORLD`: world matrix of an object or bone, `(F, 4, 4)`. `POSE`: a bone's posed matrix, armature space,
    `(F, 4, 4)`. `CHANNELS`: a bone's own location (3), rotation (4: quaternion, axis-angle, or Euler and 0) and
    scale (3), `(F, 10)`. `VALUE`: the number at an object's data path, `(F,)`."""
    object: str
    bone: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """Sampled values, their frames, and how they were evaluated."""

    values: dict[Quantity, Array]
    """Each `(S, ...)` over all sampled frames, or a single row if it does not change."""
    frames: Array
    """`(F,)` ascending."""
    evaluation: str | dict[str, str]
    """`STILL`, `CURVES`, `PROBES` or `SCENE`, see `pipeline.motion.sampling`, or `PRESENT`; by object where they differ."""
    rows: Indices | slice = field(default_factory=lambda: slice(None))
    """Rows of `values` that `frames` are."""

    def on(self, frames: Array) -> Samples:
        """The samples at some of the frames only, ascending."""
        if np.array_equal(frames, self.frames):
            return self
        rows = np.searchsorted(self.frames, frames)
        return replace(self, frames=frames, rows=rows if isinstance(self.rows, slice) else self.rows[rows])

    def renewed(self, newer: Samples) -> Samples:
        """These samples with those of `newer` at its frames, which are some of these."""
        rows, values = np.searchsorted(self.frames, newer.frames), {}
        for quantity in self.values:
            values[quantity] = self.every(quantity).copy()
            values[quantity][rows] = newer.every(quantity)
        return Samples(values, self.frames, newer.evaluation)

    def __getitem__(self, quantity: Quantity) -> Array:
        """Values of a quantity, first axis frames; a single row if it does not change."""
        return frame_rows(self.values[quantity], self.rows)

    def every(self, quantity: Quantity) -> Array:
        """Values of a quantity with a row for each frame, even if it does not change; read-only."""
        return every_row(self[quantity], len(self.frames))
