"""The length of a quaternion means nothing: Blender divides by it. So one of the four channels may be chosen freely.

A channel that stays away from zero is made straight, and the others are scaled with it: two keys instead of many, and
not one rotation changes. At both ends, and wherever the motion rests, the quaternions are as they were.
"""

import numpy as np

from ..array_types import Array
from .indices import Indices

# No quaternion becomes longer or shorter than by this factor, so that poses set between the keys still blend well.
MOST_STRETCH = 2.0

# A channel nearer to zero than this is not used: its own rounding would turn the bone.
SMALLEST = 0.2


def with_straight_channel(times: Array, quaternions: Array, rests: Indices) -> Array:
    """The rotations of `quaternions (F, 4)` with one channel straight between rests, or as they are where none can be.

    times : (F,) rising; rests : (R, 2) first and last samples of spans in which nothing moves
    """
    anchors = np.unique(np.concatenate([[0, len(times) - 1], rests.ravel()]))
    best, least = None, MOST_STRETCH
    for channel in quaternions.T:
        if np.abs(channel).min() < SMALLEST or np.any(channel * channel[0] < 0.0):
            continue
        stretch = np.interp(times, times[anchors], channel[anchors]) / channel
        most = max(float(stretch.max()), 1.0 / float(stretch.min()))
        if most < least:
            best, least = stretch, most
    return quaternions if best is None else quaternions * best[:, None]
