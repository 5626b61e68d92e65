"""Some frames of a chain's motion and poses, for what is worth doing only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...array_types import Array, Mask
from ..bones import BoneChannels, ChainMotion
from ..local_rotations import Matrices
from .posing import Laying, Reference, Turned


def at_frames(values: Array, where: Mask, size: int) -> Array:
    """Frames `where` `(F,)` of values `(F, ...)` with `size` axes per frame; one row, or none, stands for all frames."""
    return values if values.ndim == size or len(values) == 1 else values[where]


def motion_at(motion: ChainMotion, where: Mask) -> ChainMotion:
    """Some frames of a motion."""
    parent = None if motion.parent_pose is None else at_frames(motion.parent_pose, where, 2)
    channels = (
        BoneChannels(at_frames(each.location, where, 1), at_frames(each.rotation, where, 2), at_frames(each.scale, where, 1))
        for each in motion.channels
    )
    return ChainMotion(parent, tuple(channels))


def reference_at(reference: Reference, where: Mask) -> Reference:
    """Some frames of a reference."""
    return Reference(
        joints=at_frames(reference.joints, where, 2),
        inherited=tuple(at_frames(matrix, where, 2) for matrix in reference.inherited),
        links=tuple(at_frames(link, where, 1) for link in reference.links),
        rotations=tuple(at_frames(rotation, where, 2) for rotation in reference.rotations),
    )


def laying_at(laying: Laying, where: Mask) -> Laying:
    """Some frames of a laying."""
    normal = None if laying.normal is None else at_frames(laying.normal, where, 1)
    own = None if laying.own is None else at_frames(laying.own, where, 2)
    return replace(laying, normal=normal, own=own)


def with_frames(turned: Turned, where: Mask, found: Turned) -> Turned:
    """The chain with the frames `where` `(F,)` posed as in `found`, which has only these."""
    rotations = tuple(
        Matrices(with_rows(base.matrices, where, other.matrices))
        for base, other in zip(turned.rotations, found.rotations, strict=True)
    )
    poses = tuple(with_rows(base, where, other) for base, other in zip(turned.poses, found.poses, strict=True))
    return Turned(turned.chain, turned.motion, rotations, poses)


def with_rows(values: Array, where: Mask, rows: Array) -> Array:
    """Values `(F, ...)`, or one row of them, with other rows at the frames `where` `(F,)`."""
    filled = np.broadcast_to(values, (len(where), *values.shape[1:])).copy()
    filled[where] = rows
    return filled
