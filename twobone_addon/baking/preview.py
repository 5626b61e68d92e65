"""What the overlay shows of a chain, in world space: plane, reach and both solutions now, and the ways over the range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..array_types import Array, Codes
from ..rig.planes import in_plane
from ..rig.posing import rest_reference
from ..scene.blender_types import Scene
from ..settings import BakeSettings
from ..solver import Reach, forward
from .live import PresentPlan, aimed, present_motion
from .motion import PlanMotion, motion_quantities, plan_motion, points
from .planning import ChainPlan, plan_chain
from .sampling import sample
from .solving import SolvedChain, solve_chain_pose

ARC_STEPS = 64
"""Points of a curve that bounds the reach: no corner is seen at any usual size on screen."""

SOFT = 4
"""Beside the codes of `solver.Reach`: within reach, but kept from the target by softness or distance bounds."""

SOFTENED = 1e-4
"""Distance of goal and target, relative to the chain's length, above which a frame counts as softened."""


@dataclass(frozen=True, slots=True)
class ChainPicture:
    """A chain at one frame, world space."""

    root: Array
    """`(3,)` the root joint, which is the plane's origin."""
    axes: Array
    """`(3, 2)` u and v as columns, as long as the chain."""
    reach_bounds: tuple[Array, ...]
    """Curves `(P, 3)` between which, or within which, the tip can be."""
    joints: Array
    """`(n + 1, 3)` bent to the chosen side."""
    other_joints: Array
    """`(n + 1, 3)` bent to the other side."""
    target: Array
    """`(3,)` the target in the plane."""


@dataclass(frozen=True, slots=True)
class PathPicture:
    """The ways of target and tip over the range, world space."""

    frames: Array
    """`(F,)`"""
    targets: Array
    """`(F, 3)`"""
    tips: Array
    """`(F, 3)`"""
    reach: Codes
    """`(F,)` of `solver.Reach`, or `SOFT`."""


def chain_picture(present: PresentPlan, scene: Scene, depsgraph: Any, place_world: Array | None = None) -> ChainPicture:
    """The chain at the scene's frame, as the depsgraph has it; with its target at a place `(3,)` if one is given."""
    plan, motion = present_motion(present, scene, depsgraph)
    if place_world is not None:
        motion = aimed(motion, place_world)
    chosen = solve_chain_pose(plan, motion)
    other = solve_chain_pose(plan, replace(motion, bend=-chosen.task.bend))
    world_from_armature = motion.world_from_armature[0]
    frame, root = chosen.task.frames[0], chosen.pose.turned.joints[0, 0]
    target = in_plane(frame, chosen.task.targets[0] - root)
    lengths = _lengths(chosen)
    return ChainPicture(
        root=_carried(world_from_armature, root[None])[0],
        axes=world_from_armature[:3, :3] @ frame[:, :2] * lengths.sum(),
        reach_bounds=tuple(
            _carried(world_from_armature, root + bound @ frame[:, :2].T) for bound in _bounds(plan, motion, chosen, lengths)
        ),
        joints=_carried(world_from_armature, chosen.pose.turned.joints[0]),
        other_joints=_carried(world_from_armature, other.pose.turned.joints[0]),
        target=_carried(world_from_armature, (root + frame[:, :2] @ target)[None])[0],
    )


def path_picture(scene: Scene, settings: BakeSettings) -> PathPicture | None:
    """The ways that a bake with these settings would find and make; raises a `TwoBoneError`. Changes nothing.

    `None` where only a walk through the user's own scene could tell: nobody has asked for one.
    """
    plan = plan_chain(scene, settings, None)
    if plan.reads_scene:
        return None
    samples = sample(scene, motion_quantities(plan), plan.frames)
    motion = plan_motion(plan, samples, np.arange(len(plan.frames)))
    solved = solve_chain_pose(plan, motion)
    joints = solved.turned.joints
    targets = in_plane(solved.task.frames, solved.task.targets - joints[:, 0])
    softened = _norm(targets - solved.pose.goals) > SOFTENED * _norm(np.diff(joints, axis=1)).sum(axis=-1)
    reach = np.where(softened & (solved.pose.reach == Reach.REACHED), SOFT, solved.pose.reach)
    return PathPicture(
        frames=plan.frames,
        targets=points(motion.world_from_armature, solved.task.targets),
        tips=points(motion.world_from_armature, joints[:, -1]),
        reach=reach.astype(np.int8),
    )


def _bounds(plan: ChainPlan, motion: PlanMotion, chosen: SolvedChain, lengths: Array) -> list[Array]:
    """Curves `(P, 2)` in the plane, from the root joint, that bound where the tip can be."""
    limits = chosen.task.limits
    if limits is not None and len(lengths) == 2:  # noqa: PLR2004 - two links
        return limit_bounds(lengths, limits.ravel(), _rest_direction(plan, motion, chosen))
    full = np.linspace(-np.pi, np.pi, 2 * ARC_STEPS + 1)
    circle = np.stack([np.cos(full), np.sin(full)], axis=-1)
    far = lengths.sum()
    near = max(0.0, 2.0 * lengths.max() - far)
    return [circle * radius for radius in (far, near) if radius > 0.0]


def limit_bounds(lengths: Array, limits: Array, rest_direction: float) -> list[Array]:
    """Curves `(P, 2)` that hold every bound of what two links `(2,)` reach within joint limits `(4,)`.

    The tip depends smoothly on both angles, so its region is bounded by images of the box's edges, and of the lines
    inside it where the chain is straight or folded and the tip cannot move along it.
    """
    upper = rest_direction + np.clip(limits[:2], -np.pi, np.pi)
    lower = np.clip(limits[2:], -np.pi, np.pi)
    turns = np.linspace(0.0, 1.0, ARC_STEPS + 1)
    still = [lower[0], lower[1], *(angle for angle in (-np.pi, 0.0, np.pi) if lower[0] < angle < lower[1])]
    edges = [(upper[0] + (upper[1] - upper[0]) * turns, np.full_like(turns, angle)) for angle in still]
    edges += [(np.full_like(turns, angle), lower[0] + (lower[1] - lower[0]) * turns) for angle in upper]
    return [forward(np.stack(edge, axis=-1), lengths)[..., -1, :] for edge in edges]


def _rest_direction(plan: ChainPlan, motion: PlanMotion, chosen: SolvedChain) -> float:
    reference = rest_reference(plan.rest, motion.chain)
    joints = reference.joints.reshape(-1, *reference.joints.shape[-2:])[0]
    first = in_plane(chosen.task.frames[0], joints[1] - joints[0])
    return float(np.arctan2(first[1], first[0]))


def _lengths(chosen: SolvedChain) -> Array:
    """Lengths `(n,)` of the links in the plane, not stretched."""
    links = np.diff(chosen.pose.turned.joints[0], axis=0)
    return _norm(in_plane(chosen.task.frames[0], links)) / float(chosen.pose.ratio[0])


def _carried(matrix: Array, places: Array) -> Array:
    """Points `(P, 3)` brought along by one matrix `(4, 4)`."""
    return places @ matrix[:3, :3].T + matrix[:3, 3]


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.sum(vectors * vectors, axis=-1))
