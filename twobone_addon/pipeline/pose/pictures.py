"""What the overlay draws of a chain, in world space: plane, reach and both solutions now, and the paths over the range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.array_types import Array, Codes
from ...core.arrays import magnitude, path_length
from ...core.rig.plane_frames import in_plane
from ...core.rig.posing import rest_reference
from ...core.solver import Reach, forward
from ...records import replace
from ...scene.blender_types import Scene
from ...settings import BakeSettings
from ..motion.plan_motion import AimedMotion, followed_motion, motion_quantities, points
from ..motion.sampling import sample
from ..plan.planning import ChainPlan, plan_bake
from .chain_task import turned_over
from .present import PresentPlan, present_inputs, present_limbs, present_motion
from .solving import AimedPose, aimed_poses, solve_chain_pose

ARC_STEPS = 64
"""Segments of a curve that bounds the reach: so many that no corner is visible at any usual size on screen."""

SOFT = 4
"""Code besides those of `solver.Reach`: within reach, but kept from the target by softness or distance bounds."""

ASIDE = 5
"""Code besides those of `solver.Reach`: within reach in the plane, but the target itself is beside the plane."""

MISSED = 1e-3
"""Distance between tip and target, relative to the chain's length, above which a miss is visible."""

SOFTENED = 1e-4
"""Distance between goal and target, relative to the chain's length, above which a frame counts as softened."""


@dataclass(frozen=True, slots=True)
class ChainPicture:
    """A chain at one frame, world space."""

    root: Array
    """`(3,)` the root joint, which is the plane's origin."""
    axes: Array
    """`(3, 2)` u and v as columns, as long as the chain."""
    reach_bounds: tuple[Array, ...]
    """Curves `(P, 3)` that bound the region the tip can reach."""
    joints: Array
    """`(n + 1, 3)` bent to the chosen side."""
    other_joints: Array
    """`(n + 1, 3)` bent to the other side."""
    target: Array
    """`(3,)` the target projected on the plane."""
    aim: Array
    """`(3,)` the target itself."""
    pole: Array | None
    """`(3,)` the pole, if there is one."""

    @property
    def length(self) -> float:
        """Length of the chain in its plane."""
        return float(magnitude(self.axes[:, 0]))

    @property
    def is_missed(self) -> bool:
        """Whether the tip is visibly off the target."""
        return bool(magnitude(self.joints[-1] - self.aim) > MISSED * self.length)


@dataclass(frozen=True, slots=True)
class ChainPictures:
    """A chain at some frames, one row each."""

    world_from_armature: Array
    """`(F, 4, 4)`"""
    frames: Array
    """`(F, 3, 3)` plane frames, armature space."""
    joints: Array
    """`(F, n + 1, 3)` bent to the chosen side, armature space."""
    other_joints: Array
    """`(F, n + 1, 3)` bent to the other side."""
    targets: Array
    """`(F, 2)` targets in the plane, relative to the root joint."""
    lengths: Array
    """`(F, n)` lengths of the links in the plane, without stretching."""
    rest_directions: Array
    """`(F,)` direction of the first link at rest in the plane, radians."""
    limits: Array | None
    """`(n, 2)` limits of the joints, radians."""
    aims: Array
    """`(F, 3)` the targets themselves, world space."""
    poles: Array | None
    """`(F, 3)` world space."""

    def at(self, row: int) -> ChainPicture:
        """The picture of one row."""
        world, axes, root = self.world_from_armature[[row]], self.frames[row, :, :2], self.joints[row, 0]
        lengths = self.lengths[row]
        if self.limits is not None and len(lengths) == 2:  # noqa: PLR2004 - two links
            bounds = limit_bounds(lengths, self.limits.ravel(), float(self.rest_directions[row]))
        else:
            bounds = ring_bounds(lengths)
        return ChainPicture(
            root=points(world, root[None])[0],
            axes=world[0, :3, :3] @ axes * lengths.sum(),
            reach_bounds=tuple(points(world, root + bound @ axes.T) for bound in bounds),
            joints=points(world, self.joints[row]),
            other_joints=points(world, self.other_joints[row]),
            target=points(world, (root + axes @ self.targets[row])[None])[0],
            aim=self.aims[row],
            pole=None if self.poles is None else self.poles[row],
        )


@dataclass(frozen=True, slots=True)
class PathPicture:
    """The paths of target and tip over the range, world space."""

    frames: Array
    """`(F,)`"""
    targets: Array
    """`(F, 3)`"""
    tips: Array
    """`(F, 3)`"""
    reach: Codes
    """`(F,)` codes of `solver.Reach`, or `SOFT`, or `ASIDE`."""
    chains: ChainPictures
    """The chain at each frame."""

    def chain_at(self, frame: float) -> ChainPicture | None:
        """The chain at a frame; `None` if the range does not include it."""
        row = int(np.searchsorted(self.frames, frame))
        return self.chains.at(row) if row < len(self.frames) and self.frames[row] == frame else None


def chain_picture(present: PresentPlan, scene: Scene, depsgraph: Any, place_world: Array | None = None) -> ChainPicture:
    """The chain at the scene's frame, as evaluated by the depsgraph; with its target at `place_world` `(3,)` if given."""
    (limb,) = present_limbs([present_inputs(present, scene, depsgraph)], [None])
    motion = present_motion(limb, place_world)
    return _chain_pictures(limb.inputs.plan, motion, aimed_poses([limb.unaimed], [motion])[0]).at(0)


def path_picture(scene: Scene, settings: BakeSettings) -> PathPicture | None:
    """The paths of target and tip in a bake with these settings; raises a `TwoBoneError`. Changes nothing.

    `None` if that would need stepping through the user's own scene, which nobody has asked for.
    """
    if settings.keys != "REDUCE":  # Sample every frame, however few get keys: the path is curved between them.
        settings = replace(settings, keys="FRAMES", step=min(settings.step, 1.0))
    plan = plan_bake(scene, settings, None)
    if plan.reads_scene:
        return None
    samples = sample(scene, motion_quantities(plan), plan.frames)
    motion = followed_motion(plan, samples)
    solved = solve_chain_pose(plan, motion)
    chains = _chain_pictures(plan, motion, solved)
    lengths = path_length(solved.turned.joints)
    reached = solved.on_targets.reach == Reach.REACHED
    aside = reached & (magnitude(solved.task.targets - solved.on_targets.turned.joints[:, -1]) > MISSED * lengths)
    softened = reached & (magnitude(chains.targets - solved.on_targets.goals) > SOFTENED * lengths)
    reach = np.select([softened, aside], [SOFT, ASIDE], solved.on_targets.reach)
    return PathPicture(
        frames=plan.frames,
        targets=points(motion.world_from_armature, solved.task.targets),
        tips=points(motion.world_from_armature, solved.turned.joints[:, -1]),
        reach=reach.astype(np.int8),
        chains=chains,
    )


def _chain_pictures(plan: ChainPlan, motion: AimedMotion, chosen: AimedPose) -> ChainPictures:
    other = solve_chain_pose(plan, turned_over(plan, motion, chosen.task))
    count = len(motion.target_world)
    frames = np.broadcast_to(chosen.task.frames, (count, 3, 3))
    joints = np.broadcast_to(chosen.on_targets.turned.joints, (count, *chosen.on_targets.turned.joints.shape[1:]))
    links = in_plane(frames[:, None], np.diff(joints, axis=1))
    reference = rest_reference(plan.rest, motion.chain).joints
    at_rest = in_plane(frames, np.broadcast_to(reference[..., 1, :] - reference[..., 0, :], (count, 3)))
    return ChainPictures(
        world_from_armature=np.broadcast_to(motion.world_from_armature, (count, 4, 4)),
        frames=frames,
        joints=joints,
        other_joints=np.broadcast_to(other.on_targets.turned.joints, joints.shape),
        targets=in_plane(frames, chosen.task.targets - joints[:, 0]),
        lengths=magnitude(links) / np.broadcast_to(chosen.on_targets.ratio, (count,))[:, None],
        rest_directions=np.arctan2(at_rest[:, 1], at_rest[:, 0]),
        limits=chosen.task.limits,
        aims=np.broadcast_to(points(motion.world_from_armature, chosen.task.targets), (count, 3)),
        poles=None if motion.pole_world is None else np.broadcast_to(motion.pole_world, (count, 3)),
    )


def ring_bounds(lengths: Array) -> list[Array]:
    """Circles `(P, 2)` that the tip reaches with the chain of links `(n,)` straight, and folded."""
    full = np.linspace(-np.pi, np.pi, 2 * ARC_STEPS + 1)
    circle = np.stack([np.cos(full), np.sin(full)], axis=-1)
    far = lengths.sum()
    # Folded, all other links lie against the longest one.
    near = max(0.0, 2.0 * lengths.max() - far)
    return [circle * radius for radius in (far, near) if radius > 0.0]


def limit_bounds(lengths: Array, limits: Array, rest_direction: float) -> list[Array]:
    """Curves `(P, 2)` that include the boundary of the region two links `(2,)` reach within joint limits `(4,)`.

    The tip depends smoothly on both angles, so its region is bounded by the images of the edges of the box of limits, and of
    the line inside the box on which the chain is straight, where the tip cannot move along the chain.
    """
    upper = rest_direction + np.clip(limits[:2], -np.pi, np.pi)
    lower = np.clip(limits[2:], -np.pi, np.pi)
    turns = np.linspace(0.0, 1.0, ARC_STEPS + 1)
    still = [*lower, *([0.0] if lower[0] < 0.0 < lower[1] else [])]
    edges = [(upper[0] + (upper[1] - upper[0]) * turns, np.full_like(turns, angle)) for angle in still]
    edges += [(np.full_like(turns, angle), lower[0] + (lower[1] - lower[0]) * turns) for angle in upper]
    return [forward(np.stack(edge, axis=-1), lengths)[..., -1, :] for edge in edges]
