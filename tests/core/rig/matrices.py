"""Random matrices and bones for the tests of the rig room."""

from dataclasses import replace

import numpy as np

from twobone_addon.core.rig.bones import BoneChannels, ChainMotion, RestBone, RestChain
from twobone_addon.core.rig.rotations import from_quaternion


def rotations(rng, *shape):
    return from_quaternion(rng.normal(size=(*shape, 4)))


def affine(rng, *shape, kind="rotated"):
    """Matrices `(*shape, 4, 4)`: `rotated`, `scaled` evenly, `uneven`, `mirrored` or `sheared`."""
    linear = rotations(rng, *shape)
    if kind == "scaled":
        linear = linear * rng.uniform(0.3, 3, (*shape, 1, 1))
    elif kind in {"uneven", "mirrored", "sheared"}:
        scale = rng.uniform(0.5, 2, (*shape, 1, 3))
        if kind == "mirrored":
            scale[..., 0] *= -1
        linear = linear * scale
        if kind == "sheared":
            linear = rotations(rng, *shape) * rng.uniform(0.6, 1.6, (*shape, 1, 3)) @ linear
    matrices = np.zeros((*shape, 4, 4))
    matrices[..., :3, :3] = linear
    matrices[..., :3, 3] = rng.normal(size=(*shape, 3))
    matrices[..., 3, 3] = 1.0
    return matrices


def limb(rng, **flags):
    """A two-bone chain under a parent, its rest pose in general position."""
    root, mid = rng.normal(size=3), rng.normal(size=3)
    parent, upper, lower = affine(rng), affine(rng), affine(rng)
    upper[:3, 3], lower[:3, 3] = root, mid
    bones = (
        RestBone("upper", upper, parent, 1.0, "QUATERNION", **flags),
        RestBone("lower", lower, upper, 1.3, "QUATERNION", **flags),
    )
    return RestChain(bones, (0, 1), np.array([0.0, 1.3, 0.0]))


def single_precision(chain):
    """The chain with rest matrices as Blender keeps them, which are not quite rotations."""
    bones = tuple(replace(bone, rest=_rounded(bone.rest), parent_rest=_rounded(bone.parent_rest)) for bone in chain.bones)
    return RestChain(bones, chain.turning, chain.tip)


def resting(count):
    """Channels of a bone that nobody has moved."""
    return BoneChannels(np.zeros((count, 3)), np.broadcast_to(np.eye(3), (count, 3, 3)), np.ones((count, 3)))


def _rounded(matrix):
    return matrix.astype(np.float32).astype(float)


def motion_under(parents):
    return ChainMotion(parents, (resting(len(parents)), resting(len(parents))))


def plane_frames(rng, count):
    """Frames `(count, 3, 3)` with columns u, v, n."""
    return rotations(rng, count)
