"""Forward kinematics in the plane: angles to joints."""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array


def forward(angles: ArrayLike, lengths: ArrayLike) -> Array:
    """Where the joints of planar chains are.

    angles : (..., F, n), radians; the first is the direction of link 1 counter-clockwise from u,
        each further one is relative to the link before
    lengths : (..., F, n) or (n,), joint-to-joint distances

    Returns `(..., F, n + 1, 2)`: the root joint (always the origin), the joints between, the tip.
    """
    angles = np.asarray(angles, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    links = angles.shape[-1]
    joints = np.zeros((*angles.shape[:-1], links + 1, 2))
    direction = np.zeros(angles.shape[:-1])
    # Links are few and frames are many, so each link is one step over all frames.
    for link in range(links):
        direction += angles[..., link]
        length = lengths[..., link]
        joints[..., link + 1, 0] = joints[..., link, 0] + length * np.cos(direction)
        joints[..., link + 1, 1] = joints[..., link, 1] + length * np.sin(direction)
    return joints
