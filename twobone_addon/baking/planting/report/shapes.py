"""Feet that cannot stand still because their shape changes while they stand: what scales them, and what to do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....array_types import Array
from ....arrays import magnitude
from ....scene.lookup import object_named
from ....scene.rig.foot_reading import scaled_bone_above
from ....scene.walk.evaluate import Samples
from ..plan.feet import LegMotion
from .proof import foot_pose
from .records import ContactReport

SEEN = 2e-4
"""Part of the leg's length by which a foot that stands may slide without anybody seeing it."""

ENOUGH = 0.3
"""Part of a slide that a foot's change of shape has to make up for being named as its cause."""


OF_BONE = (
    'The scale of bone "{}" changes the shape of bone "{}" while it stands, so it still slides. '
    'Set Inherit Scale of bone "{}" to None.'
)

ABOVE = (
    'The scale above bone "{}" changes its shape while it stands, so it still slides. '
    "Scale the character evenly, and without keys."
)


def changing_shape(leg: LegMotion, contacts: Sequence[ContactReport], after: Samples | None) -> list[str]:
    """Why a foot still slides, if that is because a scale above it changes its shape while it stands."""
    if after is None or not any(_is_moved_by_shape(leg, contact, after) for contact in contacts):
        return []
    plan = leg.leg.plan
    foot = foot_pose(leg.leg).bone
    bone = scaled_bone_above(object_named(plan.names.armature), foot)
    if bone is None:
        return [ABOVE.format(foot)]
    return [OF_BONE.format(bone, foot, foot)]


def _is_moved_by_shape(leg: LegMotion, contact: ContactReport, after: Samples) -> bool:
    slide = contact.slide_after
    if slide is None or slide <= SEEN * leg.length:
        return False
    rows = (after.frames >= contact.first) & (after.frames <= contact.last)
    return _change(leg, after, rows) >= ENOUGH * slide


def _change(leg: LegMotion, after: Samples, rows: Array) -> float:
    """How far heel or ball get from the ankle or nearer to it, or to the other, at some of the samples `(M,)`, world units."""
    world, foot = (after.every(each)[rows, :3, :3] for each in (leg.leg.plan.armature_world, foot_pose(leg.leg)))
    points = leg.leg.points
    ways = np.stack([points.heel, points.ball, points.ball - points.heel])
    lengths = magnitude(np.einsum("fij,pj->fpi", world @ foot, ways))
    return float(np.ptp(lengths, axis=0).max(initial=0.0))
