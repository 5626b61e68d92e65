"""The planes that follow a limb at every frame (of its pose, of its rest pose, through its pole), and its bend in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import dot, every_row, held_rows
from ...core.contacts.states import runs
from ...core.planting.knees import knee_angles, links_of
from ...core.rig.bones import limb_lines
from ...core.rig.following import TWO
from ...core.rig.inheritance import parent_transform
from ...core.rig.limb_normals import (
    CLEAR_SINE,
    LITTLE,
    Hinges,
    holding_links,
    is_bent_at_rest,
    is_straight,
    limb_bends,
    limb_hinges,
    limb_normals,
)
from ...core.rig.limb_planes import LimbPlane, carried_normal, plane_through_pole, plane_with_normal, rest_normal
from ...core.rig.posing import Laying, Reference, hinge_axis, joints_of, link_vectors, pose_path
from ...core.rig.rotations import least_turn
from ...core.rows import in_parts, sliced
from ...core.solver import UNSEEN_BEND, bend_sides, sides_with_hysteresis
from ..motion.plan_motion import PlanMotion, points
from ..plan.chain_plan import ChainPlan

SAME_NORMAL = np.cos(1e-3)
"""Cosine of the largest angle between normals that are equal but for single precision, if a limb is hardly bent."""


@dataclass(frozen=True)
class Unaimed:
    """A limb before it is aimed at its target; each part is computed once, when it is first needed."""

    plan: ChainPlan
    motion: PlanMotion
    reference: Reference

    @cached_property
    def joints(self) -> Array:
        """`(F, n + 1, 3)` joints of its pose, armature space; one row if nothing moves."""
        return self.reference.joints if self.plan.settings.reference == "POSE" else posed_joints(self.plan, self.motion)

    @cached_property
    def upper(self) -> Array:
        """Linear map `(F, 3, 3)` of the posed upper bone, without its own scale."""
        return self.reference.inherited[0] @ self.motion.chain.channels[self.plan.rest.turning[0]].rotation

    @cached_property
    def bends(self) -> tuple[Array, Hinges | None]:
        """Normals `(F, 3)` of the planes in which it is bent in its pose, and the hinges they come from; see `limb_normals`."""
        return limb_normals(self.plan.rest, self.joints, self.upper, self.plan.hinges)

    @cached_property
    def normal_at_rest(self) -> Array:
        """Normal `(F, 3)` of its bend at rest, carried along by its parents; one row if nothing moves."""
        rest = self.plan.rest
        return carried_normal(rest_normal(rest), self.reference.inherited[0] @ np.linalg.inv(rest.upper.rest[:3, :3]))

    @cached_property
    def is_straight(self) -> bool:
        """Whether it is straight at all frames."""
        hinges = self.bends[1]
        if self.plan.hinges is None and hinges is not None and hinges.telling >= CLEAR_SINE:
            return False  # Some frame is bent twice as much.
        return is_straight(self.joints, self.upper)


@dataclass(frozen=True, slots=True)
class Limb:
    """A limb's plane, and the limb before it is brought into that plane."""

    plane: LimbPlane
    laying: Laying
    own: Array
    """`(F, 3, 3)` frames of the plane of its pose, rotated as little as possible from those of `plane`."""
    joints: Array
    """`(F, n + 1, 3)` joints of its pose, armature space."""


def limb_in_plane(unaimed: Unaimed, motion: PlanMotion, targets: Array) -> Limb:
    """The plane at every frame, and how the limb is brought into it, if the plane is one of `settings.LIMB_PLANES`.

    targets : (F, 3), armature space

    Starting from the pose of each frame, the limb is rotated as a whole; starting from its rest pose, it is laid flat. In both
    cases the limb's own plane is brought into the plane, with the same sense of rotation.
    """
    plan, joints = unaimed.plan, unaimed.joints
    posed, hinges = unaimed.bends
    at_rest = np.broadcast_to(unaimed.normal_at_rest, targets.shape)
    bent_at_rest = is_bent_at_rest(plan.rest)
    # A limb that is straight at rest shows the plane of its hinges only where it is bent in its pose.
    plane = _plane(plan, motion, targets, joints[:, 0], posed=posed, at_rest=at_rest if bent_at_rest or not hinges else posed)
    planes = plane.frames[..., 2]
    if plan.settings.plane == "POSE":
        normals = posed
    elif hinges or bent_at_rest:
        normals = _facing(plan, motion, posed, planes, joints)
        normals = normals if hinges is None else _kept_where_straight(normals, planes, joints, hinges.telling)
    else:
        normals = _untwisted(planes, joints)
    normals = np.broadcast_to(normals, planes.shape)
    own_frames = in_parts(lambda part: least_turn(planes[part], normals[part]) @ plane.frames[part], len(planes))
    if plan.settings.reference == "POSE":
        return Limb(plane, Laying(flatten=False, own=own_frames), own_frames, joints)
    return Limb(plane, Laying(flatten=True, normal=normal_to_lay(unaimed, normals)), own_frames, joints)


def normal_to_lay(unaimed: Unaimed, normals: Array) -> Array:
    """The normal `(F, 3)` in its rest pose that is brought onto the plane's, for a limb with `normals` `(F, 3)` in its pose."""
    if is_bent_at_rest(unaimed.plan.rest):
        return np.broadcast_to(unaimed.normal_at_rest, normals.shape)
    return carried_normal(hinge_axis(unaimed.upper, normals), unaimed.reference.inherited[0])


def posed_joints(plan: ChainPlan, motion: PlanMotion) -> Array:
    """Joints `(F, n + 1, 3)` of each frame's present pose, armature space; one row if nothing moves."""
    rest, chain = plan.rest, motion.chain
    return in_parts(lambda part: joints_of(rest, pose_path(rest, sliced(chain, part))), len(motion.frames))


def posed_normals(plan: ChainPlan, motion: PlanMotion, joints: Array) -> Array:
    """Normals `(F, 3)` of the planes in which the limb is bent, for posed joints `(F, n + 1, 3)`; see `limb_normals`."""
    return limb_normals(plan.rest, joints, _upper_bone(plan, motion))[0]


def hinges_of(plan: ChainPlan, motion: PlanMotion, rows: Indices | None = None, joints: Array | None = None) -> Hinges | None:
    """Hinge axes of the limb over the frames of the plan; frames in which it is straight take them from the others.

    rows : rows of the frames to use, in order of time; `None` for all as they are
    joints : (F, n + 1, 3), the `posed_joints`, if known
    """
    joints, upper = posed_joints(plan, motion) if joints is None else joints, _upper_bone(plan, motion)
    if rows is not None:
        joints, upper = (every_row(values, len(plan.frames))[rows] for values in (joints, upper))
    return limb_hinges(plan.rest, joints, upper)


def _upper_bone(plan: ChainPlan, motion: PlanMotion) -> Array:
    """Linear map `(F, 3, 3)` of the posed upper bone, without its own scale."""
    inherited = parent_transform(plan.rest.upper, motion.chain.parent_pose).turn_and_scale
    return inherited @ motion.chain.channels[plan.rest.turning[0]].rotation


def _plane(plan: ChainPlan, motion: PlanMotion, targets: Array, root: Array, *, posed: Array, at_rest: Array) -> LimbPlane:
    """The plane through `root` and `targets` `(F, 3)`: through the pole, or with the normals `(F, 3)` of pose or rest pose."""
    lines = targets - root
    if motion.pole_world is not None:
        poles = points(motion.armature_from_world, motion.pole_world)
        return plane_through_pole(lines, poles - root, plan.settings.pole_angle, at_rest)
    return plane_with_normal(posed if plan.settings.plane == "POSE" else at_rest, lines)


def _facing(plan: ChainPlan, motion: PlanMotion, posed: Array, planes: Array, joints: Array) -> Array:
    """Normals `(F, 3)` of the pose, with the sign with which they are brought onto the plane's normals `planes` `(F, 3)`.

    With a pole, the limb's bend is rotated towards it. If the settings merely ask for the other side, the limb is not rotated
    half a turn but bends the other way; nor is it rotated for frames in which it is overstretched.
    """
    if plan.settings.plane != "POLE":
        return posed
    if plan.settings.bend != "POSITIVE" or motion.bend is not None:
        # One sign for all frames, so that no frame turns over against the one before.
        return -posed if np.sum(posed * planes) < 0.0 else posed
    area, _ = limb_bends(joints)
    posed = -posed if np.sum(posed * area) < 0.0 else posed
    against = (np.sum(posed * area, axis=-1) < 0.0) & (np.sum(posed * planes, axis=-1) < 0.0)
    return np.where(against[:, None], -posed, posed)


def _kept_where_straight(normals: Array, planes: Array, joints: Array, telling: float) -> Array:
    """Normals `(F, 3)` of the pose; those of the plane, `planes` `(F, 3)`, at straight frames whose neighbours lie in it already.

    A limb that was baked into the plane is straight where its target was out of reach. Its twist is right there as well,
    while an axis interpolated between the frames around would twist it anew.
    """
    tells = limb_bends(joints)[1] > telling
    right = dot(normals, planes) > SAME_NORMAL
    around = right[held_rows(tells)] & right[::-1][held_rows(tells[::-1])][::-1]
    is_kept = around & ~tells
    return np.where(is_kept[:, None], _untwisted(planes, joints), normals) if is_kept.any() else normals


def _untwisted(planes: Array, joints: Array) -> Array:
    """Normals `(F, 3)` for a limb that is never bent: it is brought into the plane of rest or pole without a twist."""
    lines = np.broadcast_to(limb_lines(joints), planes.shape)
    return holding_links(plane_with_normal(planes, lines).frames[..., 2], joints)


FAR_MORE = 2.0
"""Ratio of the needed bend to the present overstretch from which the overstretched side is ignored."""

ALL_TO_ONE_SIDE = 0.8
"""Least net bend of an arc, as a fraction of the sum of its absolute bends; in a zigzag they cancel."""


def kept_sides(frames: Array, joints: Array, resting: Array | None) -> Array:
    """Sides `(F,)`, +1 or -1, of a chain with joints `(F, n + 1, 3)` that keeps the side it has at each frame.

    resting : (F, n + 1, 3), joints of the reference pose if that is the rest pose; `None` if it is the frame's own pose

    An arc at rest that is flipped joint by joint is not mirrored in between, yet ends up on the other side.
    """
    bends = seen_bend(frames, joints)
    if resting is not None and joints.shape[-2] - 1 > TWO:
        at_rest, _ = _bends(link_vectors(frames, resting))
        # Of an arc opposite bends cancel, as in the signed area between the chain and its chord.
        if np.abs(at_rest.sum(axis=-1)).sum() >= ALL_TO_ONE_SIDE * np.abs(at_rest).sum():
            bends = _mean_bend(*_bends(link_vectors(frames, joints)))
    return sides_with_hysteresis(bends, UNSEEN_BEND)


def seen_bend(frames: Array, joints: Array) -> Array:
    """Bend `(F,)` in radians of joints `(F, n + 1, 3)` in the plane of `frames`, counter-clockwise positive.

    For two links the angle between them; for more, the mean of their absolute bends, with the sign given by `bend_sides`.
    """
    links = link_vectors(frames, joints)
    crosses, products = _bends(links)
    if links.shape[-2] == TWO:
        return np.arctan2(crosses[..., 0], np.sum(links[..., 0, :] * links[..., 1, :], axis=-1))
    return bend_sides(crosses, products) * _mean_bend(np.abs(crosses), products)


def needed_bends(joints: Array, targets: Array) -> Array:
    """Angle `(F,)` between the two links of joints `(F, 3, 3)` with the tip on `targets` `(F, 3)`, or as near as it gets."""
    return knee_angles(targets - joints[..., 0, :], links_of(joints))


def overstretched_sides(sides: Array, bends: Array, needed: Array, clear: Array) -> Array:
    """Sides `(F,)`; where a slightly overstretched limb has to bend far more, those of the frames around.

    sides, bends : (F,) side to which the limb would bend, and its present bend in radians
    needed : (F,) bend that it needs, radians
    clear : (F,) side to which it is clearly bent at the frames around

    The side is the same for as long as the limb is overstretched, so that the joint does not snap over meanwhile.
    """
    corrected, clear = sides.copy(), np.broadcast_to(clear, sides.shape)
    for first, last in runs((sides != clear) & (np.abs(bends) <= LITTLE)):
        rows = slice(first, last + 1)
        if needed[rows].max() > max(FAR_MORE * float(np.abs(bends[rows]).max()), LITTLE):
            corrected[rows] = clear[rows]
    return corrected


def _bends(links: Array) -> tuple[Array, Array]:
    """Cross product `(F, n - 1)` of each link `(F, n, 2)` with the next one, and the product of their lengths."""
    first, second = links[..., :-1, :], links[..., 1:, :]
    lengths = np.hypot(links[..., 0], links[..., 1])
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0], lengths[..., :-1] * lengths[..., 1:]


def _mean_bend(crosses: Array, products: Array) -> Array:
    largest = products.sum(axis=-1)
    sine = np.divide(crosses.sum(axis=-1), largest, out=np.zeros_like(largest), where=largest > 0.0)
    return np.arcsin(np.clip(sine, -1.0, 1.0))
