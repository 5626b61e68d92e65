"""What can be sampled, and the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing to know at every frame."""

    kind: str
    """`WORLD`: world matrix of an object or bone, `(F, 4, 4)`. `POSE`: a bone's posed matrix, armature space,
    `(F, 4, 4)`. `CHANNELS`: a bone's own location (3), rotation (4: quaternion, axis-angle, or Euler and 0) and
    scale (3), `(F, 10)`. `VALUE`: the number at an object's data path, `(F,)`."""
    object: str
    bone: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Samples:
    """What was sampled, and how."""

    values: dict[Quantity, Array]
    evaluation: str | dict[str, str]
    """`STILL`, `CURVES`, `PROBES` or `SCENE`, see `baking.sampling`; by object where they differ."""

    def __getitem__(self, quantity: Quantity) -> Array:
        """The values of a quantity, first axis frames."""
        return self.values[quantity]

    def at(self, quantity: Quantity, rows: Array) -> Array:
        """The values at some rows, ascending; of a still quantity one row, which stands for all."""
        values = self._one_if_still(quantity)
        return values if len(values) == len(rows) else frame_rows(values, rows)

    def _one_if_still(self, quantity: Quantity) -> Array:
        values = self.values[quantity]
        return values[:1] if values.strides[0] == 0 else values


def still_row(values: Array) -> Array:
    """The first of the rows of `values` `(F, ...)` if all are alike, `(1, ...)`; else all."""
    # Most of what moves is told from its ends.
    return values[:1] if np.array_equal(values[0], values[-1]) and np.all(values == values[0]) else values


def frame_rows(values: Array, rows: Array) -> Array:
    """Rows of `values` `(F, ...)`; what has one row only stands for all frames and stays as it is."""
    return values if len(values) == 1 else values[rows]
