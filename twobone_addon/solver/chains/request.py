"""What is asked of the chain solver: checked, brought to one shape, and laid out for it."""

from dataclasses import dataclass

import numpy as np

from ...array_types import Array, Mask
from ..angles import hold
from .problem import ChainProblem
from .start import preferred_pose

FARTHEST = 1e12
"""Chain lengths; targets beyond are brought to this distance, where only their direction matters."""

BESIDE_ROOT = 1e-100
"""Chain lengths; a target on the root joint is put this far from it, in the last direction."""


@dataclass(frozen=True, slots=True)
class ChainRequest:
    """Targets and chains, every array with all frames, every number finite."""

    targets: Array
    """`(..., F, 2)`; where a frame is not readable, what was there before."""
    lengths: Array
    """`(..., F, n)`; where a frame is not readable, what was there before."""
    limits: Array
    """`(..., F, n, 2)` radians, infinite where there is no limit."""
    start: Array
    """`(..., F, n)` radians, inside the limits."""
    bend: Array
    """`(..., F)` of +1 and -1."""
    readable: Mask
    """`(..., F)`, whether the frame's numbers are finite and its chain has a length."""

    @property
    def chain_lengths(self) -> Array:
        """The sum of the lengths, `(..., F)`."""
        return self.lengths.sum(axis=-1)

    def to_problem(self) -> ChainProblem:
        """The same without units and joint-major, the frames of a chain side by side."""
        preferred = preferred_pose(self.start, self.lengths, self.bend, self.limits)
        return ChainProblem(
            _joint_major(self._targets_beside_root()),
            _joint_major(self.lengths / self.chain_lengths[..., np.newaxis]),
            _joint_major(self.limits[..., 0]),
            _joint_major(self.limits[..., 1]),
            _joint_major(preferred),
            self.bend.reshape(-1),
        )

    def _targets_beside_root(self) -> Array:
        """Targets `(..., F, 2)` in chain lengths, each with a direction."""
        distance = np.hypot(self.targets[..., 0], self.targets[..., 1])
        heading = hold(np.arctan2(self.targets[..., 1], self.targets[..., 0]), distance > 0)
        with np.errstate(over="ignore"):
            distance = np.clip(distance / self.chain_lengths, BESIDE_ROOT, FARTHEST)
        return distance[..., np.newaxis] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)

    def from_joint_major(self, angles: Array) -> Array:
        """Angles `(n, C * F)` in the shape of the request, `(..., F, n)`."""
        return angles.T.reshape(self.lengths.shape)


def read_request(
    targets: Array,
    lengths: Array,
    bend: float | Array,
    limits: Array | None,
    start: Array | None,
) -> ChainRequest:
    """Complete the arguments of `solve_chain`, see there."""
    targets = np.asarray(targets, dtype=np.float64)
    frames = targets.shape[:-1]
    joints = np.shape(lengths)[-1]
    lengths = np.broadcast_to(np.asarray(lengths, dtype=np.float64), (*frames, joints))
    limits = np.broadcast_to([-np.inf, np.inf] if limits is None else limits, (*frames, joints, 2)).astype(np.float64)
    start = np.broadcast_to(np.asarray(0.0 if start is None else start, dtype=np.float64), (*frames, joints))
    start = np.clip(np.where(np.isfinite(start), start, 0.0), limits[..., 0], limits[..., 1])
    bend = np.where(np.broadcast_to(bend, frames) < 0, -1.0, 1.0)
    readable = np.isfinite(targets).all(axis=-1) & np.isfinite(lengths).all(axis=-1)
    readable &= np.where(readable, lengths.sum(axis=-1), 0.0) > 0
    if not readable.all():
        targets = _hold_rows(targets, readable)
        lengths = _hold_rows(lengths, readable)
        # A chain without a readable frame is solved as any chain, and then not used.
        lengths = np.where(lengths.sum(axis=-1, keepdims=True) > 0, lengths, 1.0)
    return ChainRequest(targets, lengths, limits, start, bend, readable)


def _hold_rows(rows: Array, readable: Mask) -> Array:
    """Rows `(..., F, k)` with unreadable frames replaced by the last readable one."""
    return np.moveaxis(hold(np.moveaxis(rows, -1, 0), readable), 0, -1)


def _joint_major(rows: Array) -> Array:
    """Rows `(..., F, k)` as `(k, C * F)`."""
    return np.ascontiguousarray(rows.reshape(-1, rows.shape[-1]).T)
