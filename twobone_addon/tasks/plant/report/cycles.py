"""Cycles that planting opens: the last pose matched the first one before, and no longer does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....core.planting.cycles import round_way, ways_gone
from .proof import Track


def cycle_gap(tracks: Sequence[tuple[Track, Track]], leg_length: float, travel: Array) -> float | None:
    """Largest distance of a leg's point at the last frame from its place by the first pose, world units.

    `None` if the motion was no cycle, that is if its last pose differed from its first by more than a common displacement.

    tracks : tracks of each leg in world space, before and after
    travel : (3,) added root motion from the first frame to the last
    """
    before, after = (
        np.concatenate([ways_gone(leg.joints, leg.heels, leg.balls) for leg in side]) for side in zip(*tracks, strict=True)
    )
    if round_way(before, leg_length) is None:
        return None
    return float(magnitude(after - before - travel).max())
