"""The one call a bake makes: reach the targets in the chosen way."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ..errors import SettingError
from .forward import forward
from .reach import ROUNDING_SLACK
from .ring import ring_limits
from .two_bone import solve_two_bone


class ReachMode(StrEnum):
    """What a chain does about targets near or outside what it can reach."""

    CLAMP = "CLAMP"


@dataclass(frozen=True, slots=True)
class ReachOptions:
    """How a chain reaches for its targets."""

    mode: ReachMode | str = ReachMode.CLAMP
    """A `ReachMode` or its name."""

    tolerance: float = ROUNDING_SLACK
    """How far outside the ring, relative to the chain length, still counts as reached."""

    def __post_init__(self) -> None:
        """Raise SettingError for values that have no meaning."""
        if self.mode not in list(ReachMode):
            names = ", ".join(mode.value for mode in ReachMode)
            raise SettingError(f'Reach "{self.mode}" is unknown. Choose one of {names}.')


@dataclass(frozen=True, slots=True)
class PlanarSolution:
    """Poses for every frame, and what became of each."""

    angles: np.ndarray
    """(..., F, 2) radians, as in `TwoBoneSolution`."""

    ratio: np.ndarray
    """(..., F), scale of both links; 1 unless stretched."""

    reach: np.ndarray
    """(..., F) int8 of `Reach`, of the raw target and the unscaled links."""

    goals: np.ndarray
    """(..., F, 2), where the tip is to be after clamping, softening or stretching."""


def solve_planar(
    targets: np.ndarray,
    lengths: np.ndarray,
    bend: float | np.ndarray,
    options: ReachOptions = ReachOptions(),
) -> PlanarSolution:
    """Solve planar two-link chains for targets in the way `options` say.

    targets : (..., F, 2), relative to the root joint, in plane coordinates u, v
    lengths : (..., F, 2) or (2,), both >= 0
    bend : scalar or (..., F) of +1 and -1; +1 (POSITIVE) means angle 2 >= 0

    Frames that leave the pose free hold it as `solve_two_bone` does; nothing returned is NaN.
    """
    targets = np.asarray(targets, dtype=np.float64)
    lengths = np.asarray(lengths, dtype=np.float64)
    solution = solve_two_bone(targets, lengths, bend, tolerance=options.tolerance)
    ratio = np.ones(targets.shape[:-1])
    goals = _goals(targets, lengths, solution.angles)
    return PlanarSolution(solution.angles, ratio, solution.reach, goals)


def _goals(targets: np.ndarray, lengths: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the point of the ring nearest to each target; the pose's own tip if there is none."""
    distances = np.hypot(targets[..., 0], targets[..., 1])
    near, far = ring_limits(lengths[..., 0], lengths[..., 1])
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.clip(distances, near, far) / distances
        goals = targets * scale[..., np.newaxis]
    undirected = ~np.isfinite(goals).all(axis=-1) | ~np.isfinite(distances)
    if undirected.any():
        goals[undirected] = forward(angles, lengths)[..., 2, :][undirected]
    return goals
