"""What the chain is to do, per frame: plane, side, goals, limits, out of settings and motion."""

from __future__ import annotations

import numpy as np

from ..array_types import Array, Mask
from ..rig.inverse import TWO, Task
from ..rig.limb_planes import carried_normal, plane_through_pole, plane_with_normal, rest_normal
from ..rig.planes import carried_frames, has_plane, letter_axes
from ..rig.posing import Laying, Reference, joints_of, link_vectors, pose_path
from ..rig.rotations import before
from ..rig.scaling import stretched
from ..settings import BakeSettings
from ..solver import ReachOptions, sides_with_hysteresis
from .motion import PlanMotion, points
from .planning import ChainPlan

SINGLE_PRECISION = 1e-6
"""Relative error of positions that Blender evaluates, with a margin of ten: what is out of reach by less is reached."""

NEARLY_STRAIGHT = np.radians(1.0)
"""Bend below which a pose that keeps its side says nothing about it: less cannot be seen."""

LIMB_PLANES = ("REST", "POLE")


def chain_task(plan: ChainPlan, motion: PlanMotion, reference: Reference, offset: Array) -> tuple[Task, Mask]:
    """The task of a plan, and at which frames `(F,)` its plane was undecided and taken from another frame.

    offset : (3,), see `target_offset`
    """
    targets = points(motion.armature_from_world, points(motion.target_world, offset))
    frames, held = _plane(plan, motion, targets, reference)
    settings = plan.settings
    flatten = settings.depth == "FLATTEN" or settings.plane in LIMB_PLANES
    normal = _reference_normal(plan, motion, reference) if settings.plane in LIMB_PLANES else None
    task = Task(
        frames=frames,
        targets=targets,
        bend=_bend(plan, motion, frames),
        options=reach_options(settings, _reach_tolerance(reference)),
        limits=joint_limits(settings, len(plan.rest.turning)),
        method=settings.method,
        laying=Laying(flatten, normal),
        world_scale=np.cbrt(np.abs(np.linalg.det(motion.world_from_armature[:, :3, :3]))),
        stretched=lambda chain_motion, ratio: stretched(plan.rest, chain_motion, ratio),
    )
    return task, held


def target_offset(plan: ChainPlan, motion: PlanMotion) -> Array:
    """Where the tip is to be, `(3,)`, seen from the target: on it, or where the tip was at the first frame."""
    if plan.settings.target_offset == "NONE":
        return np.zeros(3)
    tip = joints_of(plan.rest, pose_path(plan.rest, motion.chain))[:1, -1]
    tip_world = points(motion.world_from_armature[:1], tip)[0]
    return before(motion.target_world[0, :3, :3], tip_world - motion.target_world[0, :3, 3])


def reach_options(settings: BakeSettings, tolerance: float) -> ReachOptions:
    """The solver's options."""
    return ReachOptions(
        mode=settings.reach,
        softness=settings.softness if settings.reach != "CLAMP" else 0.0,
        softness_near=settings.softness_near if settings.reach != "CLAMP" else 0.0,
        stretch_start=settings.stretch_start,
        stretch_max=settings.stretch_max,
        compress_min=settings.compress_min,
        min_distance=settings.min_distance,
        max_distance=settings.max_distance,
        tolerance=tolerance,
    )


def joint_limits(settings: BakeSettings, count: int) -> Array | None:
    """Least and greatest angle of each of `count` joints, `(count, 2)`; `None` without limits.

    Those of each joint where the chain has them, else those of the upper bone, and the lower bone's for all others.
    """
    if not settings.use_limits:
        return None
    if settings.joints == "ALL" and settings.limits:
        return np.array(settings.limits)
    lower = (settings.lower_min, settings.lower_max)
    return np.array([(settings.upper_min, settings.upper_max)] + [lower] * (count - 1))


def _reach_tolerance(reference: Reference) -> float:
    """Slack of the reach, relative to the chain's length: positions far from the armature's origin are less exact.

    The chain counts where its parents carry it, at the frame that is least exact.
    """
    joints = reference.joints
    lengths = np.sqrt(np.sum(np.diff(joints, axis=-2) ** 2, axis=-1)).sum(axis=-1)
    known = lengths > 0.0
    if not known.any():
        return SINGLE_PRECISION
    afar = np.abs(joints).max(axis=(-2, -1))
    # A chain shorter than the rounding of its joints (bones of no length) cannot tell reached from missed at all.
    return min(1.0, SINGLE_PRECISION * (1.0 + float(np.max(afar[known] / lengths[known]))))


def _plane(plan: ChainPlan, motion: PlanMotion, targets: Array, reference: Reference) -> tuple[Array, Mask]:
    """Plane frames `(F, 3, 3)`, and where they were taken from another frame."""
    settings = plan.settings
    root = reference.joints[..., 0, :]
    if settings.plane in LIMB_PLANES:
        normals = carried_normal(rest_normal(plan.rest), _carried_by_parent(plan, reference))
        if motion.pole_world is None:
            limb = plane_with_normal(normals, targets - root)
        else:
            poles = points(motion.armature_from_world, motion.pole_world)
            limb = plane_through_pole(targets - root, poles - root, settings.pole_angle, normals)
        return limb.frames, limb.held
    if motion.plane_world is not None:
        frames = carried_frames(np.eye(3)[:, :2], (motion.armature_from_world @ motion.plane_world)[:, :3, :3])
    else:
        frames = carried_frames(letter_axes(settings.plane), _armature_from_plane_space(plan, motion))
    frames, held = _hold_frames(frames)
    return frames, np.broadcast_to(held, targets.shape[:1])


def _armature_from_plane_space(plan: ChainPlan, motion: PlanMotion) -> Array:
    """Linear map `(F, 3, 3)` from the space in which the plane's letters are meant."""
    if plan.settings.plane_space == "WORLD":
        return motion.armature_from_world[:, :3, :3]
    if plan.settings.plane_space == "PARENT" and motion.chain.parent_pose is not None:
        return motion.chain.parent_pose[:, :3, :3]
    return np.eye(3)[None]


def _carried_by_parent(plan: ChainPlan, reference: Reference) -> Array:
    """Linear map `(F, 3, 3)` by which the parent carries what the chain is at rest."""
    carried = reference.inherited[0] @ np.linalg.inv(plan.rest.upper.rest[:3, :3])
    return np.broadcast_to(carried, (*reference.joints.shape[:-2], 3, 3))


def _reference_normal(plan: ChainPlan, motion: PlanMotion, reference: Reference) -> Array:
    """The limb's own normal `(F, 3)` in its reference pose, armature space."""
    at_rest = carried_normal(rest_normal(plan.rest), _carried_by_parent(plan, reference))
    if plan.settings.reference == "REST":
        return at_rest
    joints = joints_of(plan.rest, pose_path(plan.rest, motion.chain))
    root = joints[:, 0]
    middle = joints[:, 1:-1].mean(axis=1)
    return plane_through_pole(joints[:, -1] - root, middle - root, 0.0, at_rest).frames[..., 2]


def _bend(plan: ChainPlan, motion: PlanMotion, frames: Array) -> Array:
    """Side of the bend `(F,)`, +1 or -1."""
    if motion.bend is not None:
        return np.where(motion.bend < 0.0, -1.0, 1.0)
    if plan.settings.bend != "KEEP":
        return np.full(len(motion.frames), 1.0 if plan.settings.bend == "POSITIVE" else -1.0)
    return sides_with_hysteresis(seen_bend(frames, joints_of(plan.rest, pose_path(plan.rest, motion.chain))), NEARLY_STRAIGHT)


def seen_bend(frames: Array, joints: Array) -> Array:
    """Bend `(F,)` in radians of joints `(F, n + 1, 3)` as seen in the plane of `frames`, counter-clockwise positive.

    Of two links the angle between them; of more, that of two links of half the length with the same area.
    """
    links = link_vectors(frames, joints)
    lengths = np.hypot(links[..., 0], links[..., 1])
    spokes = np.cumsum(links, axis=-2)
    area = np.sum(spokes[..., :-1, 0] * spokes[..., 1:, 1] - spokes[..., :-1, 1] * spokes[..., 1:, 0], axis=-1)
    if links.shape[-2] == TWO:
        return np.arctan2(area, np.sum(links[..., 0, :] * links[..., 1, :], axis=-1))
    half = 0.5 * lengths.sum(axis=-1)
    sine = np.divide(area, half * half, out=np.zeros_like(area), where=half > 0.0)
    return np.arcsin(np.clip(sine, -1.0, 1.0))


def _hold_frames(frames: Array) -> tuple[Array, Mask]:
    """Frames that span no plane (a plane object scaled to a line) replaced by the last one that does."""
    lost = ~has_plane(frames)
    if not lost.any():
        return frames, lost
    if lost.all():
        return np.broadcast_to(np.eye(3), frames.shape), lost
    rows = np.arange(len(frames))
    last = np.maximum.accumulate(np.where(lost, np.argmin(lost), rows))
    return frames[last], lost
