"""The ends of a range: keys beside it that preserve the curve outside, and slopes that continue across a loop's seam."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array_types import Array
from ...core.curves.bezier import parameters_at
from ...core.curves.frames import NEAR_FRAME, goes_on, meets, seam_slopes
from ...scene.keys.tables import HANDLE_FREE, INTERPOLATION, NO_KEYS, Keyed, KeyTable, joined_keys, new_keys, some_keys
from ...settings import BakeSettings
from ..plan.chain_plan import ChainPlan
from ..pose.solving import CurveSamples

Place = tuple[float, float]
"""Frame and value."""


def held_outside(
    keyed: Keyed, *, settings: BakeSettings, within: tuple[float, float], present: tuple[float, float]
) -> KeyTable | None:
    """All keys of a channel, with new keys that hold its value one frame before and after the range, as the settings ask.

    present : values before and after the range for a channel without a curve

    `None` if the settings do not ask for any, and for an NLA strip: outside it nothing changes anyway.
    """
    if settings.destination == "NLA" or not (settings.key_before or settings.key_after):
        return None
    before, after = (now if curve is None else curve for now, curve in zip(present, keyed.frame_beside, strict=True))
    return with_held_keys(
        NO_KEYS if keyed.table is None else keyed.table,
        (within[0] - 1.0, before) if settings.key_before else None,
        (within[1] + 1.0, after) if settings.key_after else None,
    )


def with_held_keys(table: KeyTable, before: Place | None, after: Place | None) -> KeyTable:
    """The keys with one more before and one after a range, at the curve's own values there; `None` adds none.

    A Bezier segment is split at the frame (de Casteljau), so the part outside keeps its shape; for that the handle of the
    neighbouring key outside becomes free. Both may be in the same segment. An existing key at that frame stays as it is.
    """
    start, end = 0, 0
    left = first = last = NO_KEYS
    right = table
    if before is not None:
        start, first, left = _held_key(table, *before, leads_outside=False)
        end = start
    if after is not None:
        end, last, right = _held_key(table, *after, leads_outside=True)
    if not len(first["co"]) and not len(last["co"]):
        return table
    outside, beyond = some_keys(left, slice(None, start)), some_keys(right, slice(end, None))
    return joined_keys(outside, first, some_keys(table, slice(start, end)), last, beyond)


def _held_key(table: KeyTable, frame: float, value: float, *, leads_outside: bool) -> tuple[int, KeyTable, KeyTable]:
    """Index at which a key at `frame` belongs, that key (`NO_KEYS` if there already is one), and the keys adjusted to it.

    leads_outside : whether the old curve continues after the key (it is after the range) instead of before it
    """
    frames = table["co"][:, 0]
    place = int(np.searchsorted(frames, frame - NEAR_FRAME))
    if place < len(frames) and frames[place] <= frame + NEAR_FRAME:
        return place, NO_KEYS, table
    held = new_keys(np.array([frame]), np.array([value]), INTERPOLATION["LINEAR"])
    if 0 < place < len(frames):
        if leads_outside:
            held["interpolation"][:] = table["interpolation"][place - 1]
        if table["interpolation"][place - 1, 0] == INTERPOLATION["BEZIER"]:
            table = {name: values.copy() for name, values in table.items()}
            _split(table, held, place, frame, leads_outside=leads_outside)
    return place, held, table


def _split(table: KeyTable, held: KeyTable, place: int, frame: float, *, leads_outside: bool) -> None:
    """Split the segment before `place` at `frame`: set the handles of `held` and of its neighbour outside, in place."""
    start, end = table["co"][place - 1].astype(float), table["co"][place].astype(float)
    duration = end[0] - start[0]
    right, left = (
        key + (handle - key) * min(1.0, duration / max(abs(handle[0] - key[0]), np.finfo(float).tiny))
        for key, handle in (
            (start, table["handle_right"][place - 1].astype(float)),
            (end, table["handle_left"][place].astype(float)),
        )
    )
    share = np.array((frame - start[0]) / duration)
    part = float(parameters_at(share, (right[0] - start[0]) / duration, (left[0] - start[0]) / duration))
    first, middle, last = start + part * (right - start), right + part * (left - right), left + part * (end - left)
    inner_left, inner_right = first + part * (middle - first), middle + part * (last - middle)
    if leads_outside:
        table["handle_left"][place], table["handle_left_type"][place] = last, HANDLE_FREE
        held["handle_right"][0], held["handle_right_type"][0] = inner_right, HANDLE_FREE
    else:
        table["handle_right"][place - 1], table["handle_right_type"][place - 1] = first, HANDLE_FREE
        held["handle_left"][0], held["handle_left_type"][0] = inner_left, HANDLE_FREE


QUATERNION = ".rotation_quaternion"


def loop_slopes(plan: ChainPlan, curves: Sequence[CurveSamples]) -> tuple[Array, Array] | None:
    """Slopes `(K,)` of the curves, per frame, at the first and the last key of a loop; `None` if there is no loop.

    Automatic treats a range without cuts as a loop if its first and last pose match, and either target or chain are set to
    repeat or the motion leaves the first pose as it arrives at the last. Quaternions may come back with the other sign.
    """
    if plan.settings.loop == "OFF" or len(plan.report_rows) == 1 or not curves:
        return None
    first, last = plan.report_rows[[0, -1]]
    rows = np.array([first, first + 1, last - 1, last])
    values = np.stack([curve.values[rows] for curve in curves], axis=-1)
    signs = _signs(curves, values)
    values[2:] *= signs
    times = plan.frames[rows]
    if plan.settings.loop == "AUTO" and (plan.is_cut or not (meets(values) and (plan.repeats or goes_on(times, values)))):
        return None
    slopes = seam_slopes(times, values)
    return slopes, slopes * signs


def _signs(curves: Sequence[CurveSamples], values: Array) -> Array:
    """Signs `(K,)` of the curves: -1 for those of quaternions that end with the sign opposite to their start, else 1."""
    signs = np.ones(len(curves))
    for path in {curve.path for curve in curves if curve.path.endswith(QUATERNION)}:
        columns = [number for number, curve in enumerate(curves) if curve.path == path]
        if values[0, columns] @ values[-1, columns] < 0.0:
            signs[columns] = -1.0
    return signs
