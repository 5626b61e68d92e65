"""Stretch: which bones carry the scale, so that every link grows alike and no bone is sheared.

The scale is uniform, on the upper bone; what hangs from it grows with it. A bone that turns further down but does not
inherit scale gets the scale as its own. A uniform scale never shears, whatever inherits it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...array_types import Array
from ..bones import ChainMotion, RestBone, RestChain

NOT_INHERITED = ("NONE", "NONE_LEGACY")
"""Ways to inherit scale that inherit none."""


def scale_carriers(chain: RestChain) -> tuple[int, ...]:
    """Which of the chain's bones are scaled when it stretches."""
    later = (index for index in chain.turning[1:] if chain.bones[index].inherit_scale in NOT_INHERITED)
    return (chain.turning[0], *later)


def bone_that_stops_stretch(chain: RestChain) -> RestBone | None:
    """A bone that rides along between two joints but passes no scale on, so that its link cannot grow; `None` if none.

    The last bone does so where the tip is not its head.
    """
    count = len(chain.bones) if np.any(chain.tip != 0.0) else len(chain.bones) - 1
    riding = (index for index in range(count) if index not in chain.turning)
    return next((chain.bones[index] for index in riding if chain.bones[index].inherit_scale in NOT_INHERITED), None)


def stretched(chain: RestChain, motion: ChainMotion, ratio: Array) -> ChainMotion:
    """The motion with every link scaled by `ratio` `(..., F)`."""
    channels = list(motion.channels)
    for index in scale_carriers(chain):
        channels[index] = replace(channels[index], scale=channels[index].scale * ratio[..., None])
    return replace(motion, channels=tuple(channels))
