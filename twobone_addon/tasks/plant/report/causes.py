"""Causes of planted feet that still slide: constraints that act on top of the keys, or a scale that changes their shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....said import Sentence, note
from ....scene.lookup import object_named
from ....scene.rig.constraints import acts_on
from ....scene.rig.rest_reading import scaled_bone_above
from ....scene.sampling.quantities import Samples
from ..plan.feet import LegMotion
from .plant_report import ContactReport
from .proof import foot_pose

VISIBLE_SLIDE = 2e-4
"""Slide up to which a planted foot visibly stands still, relative to leg length."""

CAUSE_SHARE = 0.3
"""Smallest change of a foot's shape, relative to its slide, that is named as the cause."""


OF_BONE = (
    'The scale of bone "{scaled}" changes the shape of bone "{bone}" while it stands, so it still slides. '
    'Set Inherit Scale of bone "{bone}" to None.'
)

ABOVE = (
    'The scale above bone "{bone}" changes its shape while it stands, so it still slides. '
    "Scale the character evenly, and without keys."
)


CONSTRAINED = 'Constraints of bone "{bone}" act on top of the keys, so the foot still slides. Mute them first.'


def sliding_causes(leg: LegMotion, contacts: Sequence[ContactReport], after: Samples | None) -> list[Sentence]:
    """Note the cause of a visible slide in the evaluated motion; nothing without such a slide or without a known cause."""
    sliding = [contact for contact in contacts if (contact.slide_after or 0.0) > VISIBLE_SLIDE * leg.length]
    if after is None or not sliding:
        return []
    plan = leg.leg.plan
    armature = object_named(plan.names.armature)
    foot = foot_pose(leg.leg).bone
    turned = [*(plan.rest.bones[index].name for index in plan.rest.turning), foot]
    constrained = next((name for name in turned if acts_on(armature.pose.bones[name])), None)
    if constrained is not None:
        return [note(CONSTRAINED, bone=constrained)]
    if not any(_is_moved_by_shape(leg, contact, after) for contact in sliding):
        return []
    bone = scaled_bone_above(armature, foot)
    if bone is None:
        return [note(ABOVE, bone=foot)]
    return [note(OF_BONE, scaled=bone, bone=foot)]


def _is_moved_by_shape(leg: LegMotion, contact: ContactReport, after: Samples) -> bool:
    rows = (after.frames >= contact.first) & (after.frames <= contact.last)
    return _shape_change(leg, after, rows) >= CAUSE_SHARE * (contact.slide_after or 0.0)


def _shape_change(leg: LegMotion, after: Samples, rows: Array) -> float:
    """Largest change of a distance between ankle, heel and ball over some of the samples `(M,)`, world units."""
    world, foot = (after.every(each)[rows, :3, :3] for each in (leg.leg.plan.armature_world, foot_pose(leg.leg)))
    points = leg.leg.points
    vectors = np.stack([points.heel, points.ball, points.ball - points.heel])
    lengths = magnitude(np.einsum("fij,pj->fpi", world @ foot, vectors))
    return float(np.ptp(lengths, axis=0).max(initial=0.0))
