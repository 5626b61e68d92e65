"""Whether keys on a limb are seen: its bones are turned in a trial, and a tip that stays where it is is posed by something else.

What a constraint does to a pose depends on its type, its space, its mix and its axes, and on those before and after it. So the
rig itself is asked. Limits, which take nothing from elsewhere, are not asked about: they cut off keys, and pose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from mathutils import Matrix, Vector

from ..blender_types import Object
from ..rig.constraints import Carried
from .trials import TrialRig, trial
from .visible_bone import FOLLOWS

SMALL = 0.05
"""Radians by which a bone is turned: far more than rounding, and less than most joint limits leave free on one side."""

DIRECTIONS = ((1.0, "X"), (-1.0, "X"), (1.0, "Z"), (-1.0, "Z"))
"""Turns that move the end of a bone: about its own axis nothing does, and a range that is mapped may end on one side."""


ELSEWHERE = 0.01
"""Difference of a pose, of its axes or in lengths of the bone, from which on a bone is not where its keys take it."""


@dataclass(frozen=True, slots=True)
class Override:
    """A constraint that keeps a bone from where its keys take it."""

    bone: str
    constraint: str
    share: float
    """Part of the motion of keys that is seen all the same, 0..1."""


def override_of(
    armature: Object, limb: Sequence[str], weights: Mapping[tuple[str, str], float], off: Sequence[Carried]
) -> Override | None:
    """The constraint by which a bone of a limb does not move as it is keyed; `None` where all of them do.

    limb : names of the bones from the upper to the lower one
    weights : influences that the constraints of these bones have, each by its bone and name
    off : IK constraints that turn the limb at other times
    """
    with trial(armature, with_followers=False) as tried:
        bones = tried.thing.pose.bones
        for carrier, constraint in off:
            bones[carrier.name].constraints[constraint.name].mute = True
        # What is not asked about, such as limits, does not hinder what is.
        for bone in limb:
            for constraint in bones[bone].constraints:
                constraint.mute = constraint.mute or (bone, constraint.name) not in weights
        for (bone, name), weight in weights.items():
            constraint = bones[bone].constraints[name]
            for channel in ("influence", "mute"):
                constraint.driver_remove(channel)
            constraint.mute, constraint.influence = weight <= 0.0, weight
        # The last bone first: one that stays keeps the tip where it is, whatever is turned above.
        for bone in reversed(limb):
            share = _share(tried, bone, limb[-1])
            if share < FOLLOWS:
                return _culprit(tried, bone, limb, share, weights)
        return _added(tried, limb, weights)


def _added(tried: TrialRig, limb: Sequence[str], weights: Mapping[tuple[str, str], float]) -> Override | None:
    """The constraint that takes a bone elsewhere, on top of its keys, in the pose as it is or when a bone of the limb turns.

    Some add what another bone of the limb does, which is nothing in many a pose that a rig has before it is keyed.
    """
    for (owner, name), weight in weights.items():
        if weight <= 0.0:
            continue
        if _displaces(tried, owner, name):
            return Override(owner, name, 1.0)
        for bone in limb:
            turned = tried.thing.pose.bones[bone]
            basis = turned.matrix_basis.copy()
            for axis in "XYZ":
                turned.matrix_basis = basis @ Matrix.Rotation(SMALL, 4, axis)
                if _displaces(tried, owner, name):
                    return Override(owner, name, 1.0)
            turned.matrix_basis = basis
    return None


def _displaces(tried: TrialRig, owner: str, name: str) -> bool:
    """Whether a constraint takes a bone elsewhere than it would be without it."""
    constraint = tried.thing.pose.bones[owner].constraints[name]
    tried.layer.update()
    pose = tried.evaluated(tried.thing).pose.bones[owner]
    before, length = np.array(pose.matrix), pose.length
    constraint.mute = True
    tried.layer.update()
    change = np.array(tried.evaluated(tried.thing).pose.bones[owner].matrix) - before
    constraint.mute = False
    return max(np.abs(change[:3, :3]).max(), np.abs(change[:3, 3]).max() / max(length, np.finfo(float).tiny)) > ELSEWHERE


def _culprit(tried: TrialRig, bone: str, limb: Sequence[str], share: float, weights: Mapping[tuple[str, str], float]) -> Override:
    """The constraint without which a bone would follow its keys better, nearest to the end of the stack; else the last one."""
    # Those of the bone itself come first, each stack from its end.
    stacked = list(weights)
    acting = sorted(
        (key for key, weight in weights.items() if weight > 0.0),
        key=lambda key: (key[0] != bone, -limb.index(key[0]), -stacked.index(key)),
    )
    for owner, name in acting:
        constraint = tried.thing.pose.bones[owner].constraints[name]
        constraint.mute = True
        more = _share(tried, bone, limb[-1])
        constraint.mute = False
        if more > share + 1.0 - FOLLOWS:
            return Override(owner, name, share)
    return Override(*acting[0], share)


def _share(tried: TrialRig, bone: str, last: str) -> float:
    """0..1, how far the end of a limb moves when one of its bones is turned, the most of all directions; 1 if as far as keyed."""
    turned = tried.thing.pose.bones[bone]
    basis, best = turned.matrix_basis.copy(), 0.0
    tried.layer.update()
    before, pose = _end(tried, last), tried.evaluated(tried.thing).pose.bones[bone].matrix.copy()
    for sign, axis in DIRECTIONS:
        rotation = Matrix.Rotation(sign * SMALL, 4, axis)
        distance = (pose @ rotation @ pose.inverted_safe() @ before - before).length
        turned.matrix_basis = basis @ rotation
        tried.layer.update()
        if distance > 0.0:
            best = max(best, (_end(tried, last) - before).length / distance)
        if best >= FOLLOWS:
            break
    turned.matrix_basis = basis
    tried.layer.update()
    return min(best, 1.0)


def _end(tried: TrialRig, bone: str) -> Vector:
    return tried.evaluated(tried.thing).pose.bones[bone].tail.copy()
