"""Whether people see what was keyed: the bone that deforms where the chain's lower bone is, measured as the tip is.

Most rigs that are followed cost nothing here: parents and constraints tell. Only where these say that a bone does not
follow, or where that may change over time, Blender evaluates the bone at a few frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.array_types import Array
from ...said import Sentence, note
from ...scene.lookup import object_named
from ...scene.sampling.quantities import Quantity, Samples
from ...scene.visible.skin import Skins, seen_from
from ...scene.visible.switches import influences_change
from ...scene.visible.visible_bone import Shown, shown_bone
from ..motion.plan_motion import points, target_matrices
from ..pose.solving import SolvedChain
from .between import distances

MOST_LOOKS = 12
"""Frames at which the visible bone is evaluated, evenly spread: visibility changes by switches, not by the frame."""

APART = 0.01
"""Part of the limb's length that a visible bone may be away from where the tip takes it: rigs bend and stretch their skin."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """The visible bone of one chain, world units."""

    bone: str
    """The bone that deforms beside the lower bone, or the lower bone itself."""
    is_own: bool
    """Whether it is the lower bone itself."""
    follows: bool
    hindrances: tuple[Sentence, ...]
    """Sentences that say why not."""
    max_distance: float | None
    """Largest distance of the visible limb's end from the target, where it was measured."""
    frame: float
    """When that is."""


def look_for(solved: SolvedChain, skins: Skins) -> Shown | None:
    """The bone that people see; `None` where there is none."""
    return shown_bone(object_named(solved.plan.names.armature), solved.plan.names, skins)


def needs_a_look(solved: SolvedChain, shown: Shown) -> bool:
    """Whether parents and constraints do not tell that the visible bone follows at all frames."""
    if is_own(solved, shown):
        return False
    if not shown.follows:
        return True
    return influences_change(object_named(solved.plan.names.armature), shown.deciding)


def is_own(solved: SolvedChain, shown: Shown) -> bool:
    """Whether the visible bone is the chain's lower bone itself."""
    return (shown.armature, shown.bone) == (solved.plan.names.armature, solved.plan.rest.lower.name)


def look_frames(solved: SolvedChain) -> Array:
    """Frames `(L,)` of the report at which the visible bone is evaluated."""
    frames = solved.plan.report_frames
    return frames[np.unique(np.linspace(0, len(frames) - 1, min(MOST_LOOKS, len(frames))).round().astype(int))]


def look_quantities(solved: SolvedChain, shown: Shown) -> list[Quantity]:
    """What to sample in order to see what people see."""
    plan = solved.plan
    tip = plan.pose(len(plan.rest.bones) - 1)
    seen = [Quantity("WORLD", shown.armature), Quantity("POSE", shown.armature, shown.bone)]
    return [plan.armature_world, *plan.aims, tip, *seen]


def unmeasured(solved: SolvedChain, shown: Shown, skins: Skins) -> Visibility:
    """What is known without looking."""
    return Visibility(shown.bone, is_own(solved, shown), shown.follows, _reasons(solved, shown, skins), None, 0.0)


def visibility(solved: SolvedChain, shown: Shown, skins: Skins, samples: Samples, limb_length: float) -> Visibility:
    """Compare the visible bone, at the frames of `look_frames`, which the samples have, with the chain's tip and its target."""
    plan, samples = solved.plan, samples.on(look_frames(solved))
    world, other = samples[plan.armature_world], object_named(shown.armature)
    at_rest = np.array(seen_from(object_named(plan.names.armature), other, shown.bone, plan.rest.rest_joints()[-1]))
    posed = samples[Quantity("POSE", other.name, shown.bone)]
    seen = points(samples[Quantity("WORLD", other.name)], points(posed, at_rest))
    tip = points(world, points(samples[plan.pose(len(plan.rest.bones) - 1)], plan.rest.tip))
    target = points(target_matrices(plan, samples), solved.pose.target_offset)
    away = np.broadcast_to(distances(seen, target), samples.frames.shape)
    apart = np.broadcast_to(distances(seen, tip), samples.frames.shape)
    if apart.max() <= APART * limb_length or not np.isfinite(away).any():
        return Visibility(shown.bone, is_own=False, follows=True, hindrances=_unseen(solved, skins), max_distance=None, frame=0.0)
    worst = int(np.nanargmax(np.where(apart > APART * limb_length, away, -1.0)))
    found = _reasons(solved, shown, skins)
    when = float(samples.frames[worst])
    return Visibility(shown.bone, is_own=False, follows=False, hindrances=found, max_distance=float(away[worst]), frame=when)


def _reasons(solved: SolvedChain, shown: Shown, skins: Skins) -> tuple[Sentence, ...]:
    unseen = _unseen(solved, skins)
    if shown.follows or not shown.hindrances:
        return unseen
    first = shown.hindrances[0]
    cause = Sentence('a driver of the rotation of "{bone}"', {"bone": first.bone})
    if first.constraint:
        cause = Sentence('constraint "{constraint}" of "{bone}"', {"constraint": first.constraint, "bone": first.bone})
    leader = Sentence("the keys") if is_own(solved, shown) else Sentence('"{bone}"', {"bone": solved.plan.names.lower})
    said = 'Bone "{bone}" does not follow {leader}: {cause} does not act on it.'
    if first.acts:
        said = 'Bone "{bone}" does not follow {leader}: {cause} acts on it.'
    return (*unseen, note(said, bone=shown.bone, leader=leader, cause=cause))


def _unseen(solved: SolvedChain, skins: Skins) -> tuple[Sentence, ...]:
    """Sentences about meshes that do not show the motion of the armature or of one that follows it."""
    found = skins.hidden(object_named(solved.plan.names.armature))
    return tuple(
        note(
            'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow.',
            modifier=modifier,
            mesh=mesh,
        )
        for modifier, mesh in found
    )
