"""Where F-Curves alone bring things between the frames that are measured, a part of a long take after the other."""

from __future__ import annotations

import numpy as np

from ...array_types import Array
from ...scene.blender_types import Scene
from ...scene.moves.lineage_reading import LineageReader
from ...scene.walk.evaluate import Quantity, animation_times
from ..motion.curve_motion import CurveMotion
from ..motion.plan_motion import points
from .between import TELLING, parts_of, telling


class MotionBetween:
    """Finds places at the telling moments of all intervals between `frames` `(M,)`."""

    def __init__(self, scene: Scene, frames: Array) -> None:
        """Take the scene for how its time is mapped."""
        self._scene = scene
        self._frames = frames
        self._whole: CurveMotion | None = None
        """Of a short take, kept: several chains hang from the same."""

    def places(self, quantity: Quantity, place: Array) -> Array | None:
        """Where a matrix brings a point `(3,)`, `(M - 1, 2, 3)`; `None` where curves do not tell."""
        found = np.empty((len(self._frames) - 1, len(TELLING), 3))
        for rows in parts_of(len(found)):
            matrices = self._at(rows).find(quantity)
            if matrices is None:
                return None
            part = found[rows].reshape(-1, 3)
            part[:] = points(matrices, place)
        return found

    def _at(self, rows: slice) -> CurveMotion:
        """What moves in some of the intervals; kept where that is all of them."""
        if rows.stop - rows.start < len(self._frames) - 1:
            return self._motion(rows)
        self._whole = self._whole or self._motion(rows)
        return self._whole

    def _motion(self, rows: slice) -> CurveMotion:
        times = telling(self._frames[rows.start : rows.stop + 1])
        return CurveMotion(LineageReader(animation_times(self._scene, times)))
