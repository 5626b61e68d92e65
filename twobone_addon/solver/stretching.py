"""Stretch: both links grow or shrink by one ratio, so that the tip stays on the target.

Unreal scales its limbs linearly from a start ratio on, so that they are straight where the
scale ends: the ratio has a kink where it begins, and the knee still snaps where it ends.
Here the knee follows the curve of soft reach (see `softness`), which has no such places, and
the links make up for what that curve holds back. To start stretching early is therefore the
same as to soften early, and the earlier of both counts. With softness 0 and start 1 the chain
is straight first and stretched then.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array
from .softness import soften


def stretch_ratio(
    distances: ArrayLike,
    lengths: ArrayLike,
    *,
    start: float = 1.0,
    maximum: float = np.inf,
    compress_min: float = 1.0,
    softness: float = 0.0,
    softness_near: float = 0.0,
) -> tuple[Array, Array]:
    """How much to scale both links, and where the unscaled chain's tip is to be.

    distances : (..., F), of the target from the root joint
    lengths : (..., F, 2) or (2,)
    start : fraction of the chain length at which stretching begins, 0 to 1
    maximum : largest ratio, >= 1; at 1 this is soft reach without stretch
    compress_min : smallest ratio, > 0 and <= 1; at 1 the chain does not shrink
    softness, softness_near : as in `soften`

    Returns (ratio, reduced), both `(..., F)`: knee angle and direction are solved with the given
    lengths for the distance `reduced`, and the tip is then at ratio * reduced. That is the
    target's distance, except where the ratio is at a bound: there the tip stays behind as in
    soft reach. The ratio is continuous, its slope too but for the bounds, and 1 between the
    zones. A target on the root joint of equal links, and one that is no finite number, has 1.
    """
    distances = np.asarray(distances, dtype=np.float64)
    reduced = soften(distances, lengths, np.maximum(softness, 1.0 - start), softness_near)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.clip(distances / reduced, compress_min, maximum)
    return np.where(np.isfinite(distances) & (reduced > 0), ratio, 1.0), reduced
