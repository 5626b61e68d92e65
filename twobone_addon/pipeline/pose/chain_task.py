"""The solver's task per frame, from settings and motion: plane, bend side, targets, limits."""

from __future__ import annotations

import numpy as np

from ...core.array_types import Array, Mask
from ...core.arrays import frame_rows, held_rows, magnitude, path_length
from ...core.rig.following import TWO, ChainGoal
from ...core.rig.limb_normals import clear_sides
from ...core.rig.plane_frames import PlaneSpaces, from_plane, has_plane, in_plane, still_frames
from ...core.rig.posing import Laying, Reference, joints_of, pose_path
from ...core.rig.rotations import solve_linear
from ...core.rows import picked_rows
from ...core.solver import UNSEEN_BEND, ReachOptions, sides_with_hysteresis
from ...records import replace
from ...settings import LIMB_PLANES, BakeSettings
from ..motion.plan_motion import AimedMotion, PlanMotion, points
from ..plan.chain_plan import ChainPlan
from .limb_plane import Limb, Unaimed, kept_sides, limb_in_plane, needed_bends, overstretched_sides, seen_bend

SINGLE_PRECISION = 1e-6
"""Relative error of positions that Blender evaluates, with a margin of ten; a target out of reach by less is reached."""


def chain_task(unaimed: Unaimed, motion: AimedMotion, offset: Array) -> tuple[ChainGoal, Mask]:
    """The task of an aimed limb, and a mask `(F,)` of the frames at which its plane was undefined and taken from another frame.

    offset : (3,), see `target_offset`
    """
    targets = points(motion.armature_from_world, points(motion.target_world, offset))
    plan, reference = unaimed.plan, unaimed.reference
    settings, tolerance = plan.settings, _reach_tolerance(reference)
    if settings.plane in LIMB_PLANES:
        if settings.reference == "POSE":
            targets = _snapped_to_tips(targets, reference.joints, tolerance)
        limb = limb_in_plane(unaimed, motion, targets)
        frames, held, laying = limb.plane.frames, limb.plane.held, limb.laying
        as_posed = settings.plane == "POSE"
        bend = _bend_as_posed(plan, motion, limb, targets) if as_posed else _bend(unaimed, motion, frames)
    else:
        frames, held = _still_plane(plan, motion, targets)
        laying, bend = Laying(settings.depth == "FLATTEN"), _bend(unaimed, motion, frames)
    task = ChainGoal(
        frames=frames,
        targets=targets,
        bend=bend,
        options=reach_options(settings, tolerance),
        limits=joint_limits(settings, len(plan.rest.turning)),
        method=settings.method,
        laying=laying,
        world_scale=_world_scale(motion.world_from_armature[:, :3, :3], frames, targets - reference.joints[:, 0]),
    )
    return task, held


def target_offset(plan: ChainPlan, motion: AimedMotion) -> Array:
    """The tip's goal in the target's space, `(3,)`: 0, or the position that the tip has at the first keyed frame."""
    if plan.settings.target_offset == "NONE":
        return np.zeros(3)
    first = plan.report_rows[:1]
    tip = joints_of(plan.rest, pose_path(plan.rest, picked_rows(motion.chain, first)))[:, -1]
    tip_world = points(frame_rows(motion.world_from_armature, first), tip)[0]
    target_world = frame_rows(motion.target_world, first)[0]
    return solve_linear(target_world[:3, :3], tip_world - target_world[:3, 3])


def reach_options(settings: BakeSettings, tolerance: float) -> ReachOptions:
    """The solver's reach options."""
    # Clamp ignores softness, whatever was set before it was chosen.
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

    Limits per joint if the chain has them; else those of the upper bone for the first joint, of the lower for all others.
    """
    if not settings.use_limits:
        return None
    if settings.joints == "ALL" and settings.limits:
        return np.array(settings.limits)
    lower = (settings.lower_min, settings.lower_max)
    return np.array([(settings.upper_min, settings.upper_max)] + [lower] * (count - 1))


def _reach_tolerance(reference: Reference) -> float:
    """Tolerance of the reach, relative to the chain's length: positions far from the armature's origin are less exact.

    The chain's position includes its parents' motion; the least exact frame counts.
    """
    joints = reference.joints
    lengths = path_length(joints)
    known = lengths > 0.0
    if not known.any():
        return SINGLE_PRECISION
    afar = np.abs(joints).max(axis=(-2, -1))
    # For a chain shorter than the rounding error of its joints (zero-length bones), every target counts as reached.
    return min(1.0, SINGLE_PRECISION * (1.0 + float(np.max(afar[known] / lengths[known]))))


def _snapped_to_tips(targets: Array, joints: Array, tolerance: float) -> Array:
    """Targets `(F, 3)`, moved onto the present tip where single precision cannot tell the two apart.

    A nearly straight limb amplifies the difference: half a millionth of its length bends its joint by a tenth of a degree.
    """
    tips = joints[:, -1]
    length = path_length(joints)
    near = np.sum((targets - tips) ** 2, axis=-1) <= (tolerance * length) ** 2
    return np.where(near[:, None], tips, targets)


def _world_scale(linear: Array, frames: Array, directions: Array) -> Array:
    """World units `(F,)` per unit of armature space along the in-plane direction from root to target.

    The armature's scale may differ by direction. A target at the root has no direction: the mean scale is used.
    """
    projected = from_plane(frames, in_plane(frames, directions))
    length = magnitude(projected)
    average = np.cbrt(np.abs(np.linalg.det(linear)))
    along = magnitude((linear @ projected[..., None])[..., 0])
    return np.divide(along, length, out=np.broadcast_to(average, length.shape).copy(), where=length > 0.0)


def _still_plane(plan: ChainPlan, motion: PlanMotion, targets: Array) -> tuple[Array, Mask]:
    """Frames `(F, 3, 3)` of a plane that does not follow the limb, and a mask `(F,)` of those taken from another frame."""
    spaces = PlaneSpaces(
        motion.armature_from_world[:, :3, :3],
        None if motion.chain.parent_pose is None else motion.chain.parent_pose[:, :3, :3],
        None if motion.plane_world is None else (motion.armature_from_world @ motion.plane_world)[:, :3, :3],
    )
    frames = still_frames(plan.settings.plane, plan.settings.plane_space, spaces).reshape(-1, 3, 3)
    lost = ~has_plane(frames)
    # A plane object scaled to a line spans no plane: the last valid one is kept.
    if lost.all():
        frames = np.broadcast_to(np.eye(3), frames.shape)
    elif lost.any():
        frames = frames[held_rows(~lost)]
    return frames, np.broadcast_to(lost, targets.shape[:1])


def _bend(unaimed: Unaimed, motion: PlanMotion, frames: Array) -> Array:
    """Side of the bend `(F,)` in the plane, +1 or -1."""
    plan, reference = unaimed.plan, unaimed.reference
    if motion.bend is not None or plan.settings.bend != "KEEP":
        return _asked_side(plan, motion)
    resting = reference.joints if plan.settings.reference == "REST" else None
    return kept_sides(frames, unaimed.joints, resting)


def _bend_as_posed(plan: ChainPlan, motion: PlanMotion, limb: Limb, targets: Array) -> Array:
    """Side of the bend `(F,)` if the positive side is the one to which the limb is bent in its pose.

    A limb of two links that is overstretched by less than can be seen stays so while it need not bend more; to bend more it
    takes the side of the frames around. One that is visibly but slightly overstretched takes that side, for as long as it is
    overstretched, if it must bend far more.
    """
    asked = _asked_side(plan, motion)
    bends = seen_bend(limb.own, limb.joints)
    posed_sides = np.where(bends < 0.0, -1.0, 1.0)
    if limb.joints.shape[-2] - 1 != TWO:
        return asked * posed_sides
    root, tip = limb.joints[..., 0, :], limb.joints[..., -1, :]
    nearer = np.sum((targets - root) ** 2, axis=-1) < np.sum((tip - root) ** 2, axis=-1)
    around = sides_with_hysteresis(bends, UNSEEN_BEND)
    sides = np.where(nearer & (np.abs(bends) <= UNSEEN_BEND), around, posed_sides)
    clear = clear_sides(bends) if plan.hinges is None else plan.hinges.sides
    return asked * overstretched_sides(sides, bends, needed_bends(limb.joints, targets), clear)


def _asked_side(plan: ChainPlan, motion: PlanMotion) -> Array:
    """Side `(F,)` that the settings ask for; Keep counts as the positive side."""
    if motion.bend is not None:
        return np.where(motion.bend < 0.0, -1.0, 1.0)
    return np.full(len(motion.frames), -1.0 if plan.settings.bend == "NEGATIVE" else 1.0)


def turned_over(plan: ChainPlan, motion: AimedMotion, task: ChainGoal) -> AimedMotion:
    """The motion with the bend set to the other side at every frame."""
    return replace(motion, bend=-(_asked_side(plan, motion) if plan.settings.plane == "POSE" else task.bend))
