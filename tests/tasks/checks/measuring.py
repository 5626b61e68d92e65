"""What an animation really does, evaluated by Blender and measured here, without the add-on's own mathematics."""

import math
from dataclasses import dataclass

import bpy
import numpy as np

PROMISE = 2e-6
"""Largest tip error in reach, relative to chain length plus distance of the chain from its armature's origin."""

LETTER_AXES = {"XY": (0, 1), "XZ": (0, 2), "YZ": (1, 2)}


@dataclass(frozen=True)
class Evaluated:
    """A limb over time as Blender evaluates it, one row per frame, armature space."""

    frames: np.ndarray
    joints: np.ndarray
    """`(F, 3, 3)` root, mid, tip."""
    worlds: np.ndarray
    """`(F, 4, 4)` of the armature object."""
    axes: np.ndarray
    """`(F, 3, 2)` the two axes that span the plane, carried from the plane's own space."""
    targets: np.ndarray | None
    """`(F, 3)`"""

    @property
    def plane(self):
        """`(F, 3, 3)` columns u, v, n: orthonormal."""
        first, second = self.axes[..., 0], self.axes[..., 1]
        normal = unit(np.cross(first, second))
        u = unit(first)
        return np.stack([u, np.cross(normal, u), normal], axis=-1)

    @property
    def links(self):
        """`(F, 2, 3)`"""
        return np.diff(self.joints, axis=1)

    @property
    def links_plane(self):
        """`(F, 2, 2)` along u and v."""
        return np.einsum("fij,fli->flj", self.plane[:, :, :2], self.links)

    @property
    def tips_plane(self):
        """`(F, 2)` from the root joint."""
        return self.links_plane.sum(axis=1)

    @property
    def targets_plane(self):
        """`(F, 2)` from the root joint."""
        return np.einsum("fij,fi->fj", self.plane[:, :, :2], self.targets - self.joints[:, 0])

    @property
    def depths(self):
        """`(F, 2)` how far each link goes along the normal."""
        return np.einsum("fi,fli->fl", self.plane[:, :, 2], self.links)

    @property
    def errors(self):
        """`(F,)` distance of the tip from the target's projection on the plane."""
        return np.linalg.norm(self.tips_plane - self.targets_plane, axis=-1)

    @property
    def scales(self):
        """`(F,)` chain length plus distance of the chain from its armature's origin: what the promise is relative to."""
        return np.linalg.norm(self.links, axis=-1).sum(axis=-1) + np.linalg.norm(self.joints, axis=-1).max(axis=-1)

    @property
    def seen_bends(self):
        """`(F,)` sine of the bend, counter-clockwise as seen in the plane's own space, which mirrors nothing."""
        flat = self.links - self.plane[:, None, :, 2] * self.depths[..., None]
        seen = unit(np.einsum("fij,flj->fli", np.linalg.pinv(self.axes), flat))
        return seen[:, 0, 0] * seen[:, 1, 1] - seen[:, 0, 1] * seen[:, 1, 0]


def evaluate(armature, limb, frames, *, target=None, target_bone="", plane="YZ", plane_space="ARMATURE"):
    """Set every frame in Blender and read what is there."""
    rows = [_read(armature, limb, frame, target, target_bone) for frame in frames]
    joints, worlds, parents, targets = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    spaces = {
        "ARMATURE": np.broadcast_to(np.eye(3), (len(rows), 3, 3)),
        "WORLD": np.linalg.inv(worlds)[:, :3, :3],
        "PARENT": parents,
    }
    axes = spaces[plane_space][:, :, LETTER_AXES[plane]]
    return Evaluated(np.array(frames, dtype=float), joints, worlds, axes, None if target is None else targets)


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _read(armature, limb, frame, target, target_bone):
    whole = math.floor(frame)
    bpy.context.scene.frame_set(whole, subframe=frame - whole)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    rig = armature.evaluated_get(depsgraph)
    bones = rig.pose.bones
    carrier, upper = bones[limb.carrier], bones[limb.upper]
    joints = [upper.head.copy(), bones[limb.lower].head.copy(), (carrier.tail if limb.at_tail else carrier.head).copy()]
    parent = np.array(upper.parent.matrix)[:3, :3] if upper.parent else np.eye(3)
    world = np.array(rig.matrix_world, dtype=float)
    return joints, world, parent, _place(depsgraph, target, target_bone, world) if target else np.zeros(3)


def _place(depsgraph, target, target_bone, world):
    """The target in armature space."""
    aim = target.evaluated_get(depsgraph)
    place = np.array(aim.matrix_world, dtype=float)
    if target_bone:
        place = place @ np.array(aim.pose.bones[target_bone].matrix, dtype=float)
    return np.linalg.solve(world, [*place[:3, 3], 1.0])[:3]
