"""Records of a chain's bones at rest and of their motion, independent of Blender."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..array_types import Array, MatrixRows, VectorRows
from ..arrays import cross, magnitude, path_length
from ..solver import CLEAR


@dataclass(frozen=True)
class RestBone:
    """One bone of the armature in its rest pose, with its inheritance settings."""

    name: str
    rest: MatrixRows
    """`(4, 4)` rest matrix, armature space (`Bone.matrix_local`); `(C, 1, 4, 4)` for chains that are posed together."""
    parent_rest: MatrixRows | None
    """`(4, 4)` or `(C, 1, 4, 4)` rest matrix of the parent, armature space; `None` without a parent."""
    length: float
    """Distance from head to tail at rest, along the bone's own Y axis."""
    rotation_mode: str
    """`QUATERNION`, `AXIS_ANGLE` or an Euler order such as `XYZ`."""
    inherit_scale: str = "FULL"
    """`FULL`, `FIX_SHEAR`, `ALIGNED`, `AVERAGE`, `NONE` or `NONE_LEGACY`."""
    inherit_rotation: bool = True
    local_location: bool = True
    connected: bool = False

    @cached_property
    def offset(self) -> Array:
        """`(4, 4)` rest matrix relative to the parent's rest matrix."""
        if self.parent_rest is None:
            return self.rest
        return np.linalg.solve(self.parent_rest, self.rest)


@dataclass(frozen=True, eq=False)
class RestChain:
    """The bones from the upper bone down to the one that carries the tip, some of which turn.

    Bones between two turning bones (twist bones) move rigidly with them: a link runs from the head of one turning bone to the
    head of the next, the last link to the tip.
    """

    bones: tuple[RestBone, ...]
    """A path: each bone is the parent of the next."""
    turning: tuple[int, ...]
    """Indices of the turning bones in `bones`, upper bone first; two for a two-bone chain."""
    tip: VectorRows
    """`(3,)` tip in the last bone's local space: the origin for its head, `(0, length, 0)` for its tail."""

    @property
    def upper(self) -> RestBone:
        """The first turning bone."""
        return self.bones[self.turning[0]]

    @property
    def lower(self) -> RestBone:
        """The last turning bone."""
        return self.bones[self.turning[-1]]

    def rest_joints(self) -> Array:
        """Joints `(n + 1, 3)` at rest, armature space: heads of the turning bones, then the tip; read-only."""
        return self._rest_joints

    @cached_property
    def _rest_joints(self) -> Array:
        heads = [self.bones[index].rest[:3, 3] for index in self.turning]
        last = self.bones[-1].rest
        joints = np.stack([*heads, last[:3, :3] @ self.tip + last[:3, 3]])
        joints.setflags(write=False)
        return joints


AT_ROOT = 1e-6
"""Root-tip distance, relative to the limb, below which it has no direction: ten times the noise of single precision."""


def limb_lines(joints: Array) -> Array:
    """Vector `(..., 3)` from root to tip of joints `(..., n + 1, 3)`, to which the limb's plane normal is perpendicular.

    For a limb folded with its tip on its root it is the longest link.
    """
    links = joints[..., 1:, :] - joints[..., :-1, :]
    longest = np.argmax(magnitude(links), axis=-1)[..., None, None]
    line = joints[..., -1, :] - joints[..., 0, :]
    folded = magnitude(line) <= AT_ROOT * path_length(joints)
    return np.where(folded[..., None], np.take_along_axis(links, longest, axis=-2)[..., 0, :], line)


def bend_area(joints: Array) -> Array:
    """Area vector `(..., 3)` of the bends of joints `(..., n + 1, 3)`: the normal of their plane, with the size of the bends.

    For two links it is their cross product, around which they bend counter-clockwise. For more it is the sum over neighbouring
    links, each flipped to the side of the first bend (see `solver.bend_sides`), so that the bends of an S do not cancel out.
    """
    links = joints[..., 1:, :] - joints[..., :-1, :]
    bends = cross(links[..., :-1, :], links[..., 1:, :])
    if bends.shape[-2] == 1:
        return bends[..., 0, :]
    lengths = magnitude(links)
    products = lengths[..., :-1] * lengths[..., 1:]
    sizes = magnitude(bends)
    sines = np.divide(sizes, products, out=np.zeros_like(sizes), where=products > 0.0)
    first = np.argmax(sines >= CLEAR * sines.max(axis=-1, keepdims=True), axis=-1)
    leading = np.take_along_axis(bends, first[..., None, None], axis=-2)
    against = np.sum(bends * leading, axis=-1, keepdims=True) < 0.0
    return np.where(against, -bends, bends).sum(axis=-2)


@dataclass(frozen=True, slots=True)
class BoneChannels:
    """A bone's own animated channels over time."""

    location: VectorRows
    """`(..., F, 3)`"""
    rotation: MatrixRows
    """`(..., F, 3, 3)` as matrices, whatever the rotation mode."""
    scale: VectorRows
    """`(..., F, 3)`"""


@dataclass(frozen=True, slots=True)
class ChainMotion:
    """Motion of a chain before its turning bones are turned: its parent's pose and its bones' channels."""

    parent_pose: MatrixRows | None
    """`(..., F, 4, 4)` posed matrices of the upper bone's parent, armature space; `None` without a parent."""
    channels: tuple[BoneChannels, ...]
    """Channels of each bone in `RestChain.bones`."""
