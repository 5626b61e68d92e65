"""Cycles that planting opens: a motion whose last pose was its first one, and is not any more."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....core.planting.cycles import round_way, ways_gone
from .proof import Track


def cycle_gap(tracks: Sequence[tuple[Track, Track]], leg_length: float, travel: Array) -> float | None:
    """How far a joint of the legs is now from where the first pose would have it at the last frame, world units.

    `None` where the motion is no cycle: where joints do not end as they began, but for a way that all of them have gone.

    tracks : of each leg in the world, before and after
    travel : (3,) how much farther the root goes from the first frame to the last than it did
    """
    before, after = (
        np.concatenate([ways_gone(each.joints, each.heels, each.balls) for each in side]) for side in zip(*tracks, strict=True)
    )
    if round_way(before, leg_length) is None:
        return None
    return float(magnitude(after - before - travel).max())
