"""Loops: where the animation goes on from the last frame to the first, smooth keys have one slope on both sides of the seam."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array_types import Array
from ...core.curves.frames import goes_on, meets, seam_slopes
from ..plan.chain_plan import ChainPlan
from ..pose.solving import CurveSamples

QUATERNION = ".rotation_quaternion"


def loop_slopes(plan: ChainPlan, curves: Sequence[CurveSamples]) -> tuple[Array, Array] | None:
    """Slopes `(K,)` of the curves, per frame, at the first and the last key of a loop; `None` where there is none.

    Automatic takes a range for a loop whose first pose is its last one, if target or chain are made to repeat, or if the
    motion leaves the first pose as it comes to the last. Quaternions may come back with the other sign.
    """
    ends = (int(plan.report_rows[0]), int(plan.report_rows[-1])) == (0, len(plan.frames) - 1)
    if plan.settings.loop == "OFF" or not ends or len(plan.frames) == 1 or not curves:
        return None
    values = np.stack([curve.values[[0, 1, -2, -1]] for curve in curves], axis=-1)
    signs = _signs(curves, values)
    values[2:] *= signs
    times = plan.frames[[0, 1, -2, -1]]
    if plan.settings.loop == "AUTO" and not (meets(values) and (plan.repeats or goes_on(times, values))):
        return None
    slopes = seam_slopes(times, values)
    return slopes, slopes * signs


def _signs(curves: Sequence[CurveSamples], values: Array) -> Array:
    """-1 for the curves `(K,)` of quaternions that end on the other side of where they begin, else 1."""
    signs = np.ones(len(curves))
    for path in {curve.path for curve in curves if curve.path.endswith(QUATERNION)}:
        columns = [number for number, curve in enumerate(curves) if curve.path == path]
        if values[0, columns] @ values[-1, columns] < 0.0:
            signs[columns] = -1.0
    return signs
