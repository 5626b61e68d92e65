"""Whether the visible bone follows the keys: the bone that deforms where the chain's lower bone is, measured like the tip.

For most rigs this costs nothing: parents and constraints show that the bone follows. Only if they show that it does not,
or if that may change over time, does Blender evaluate the bone at a few frames.
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
"""Number of evenly spread frames at which the visible bone is evaluated: switches change visibility, single frames do not."""

APART = 0.01
"""Distance, as a fraction of limb length, by which a visible bone that follows may miss the tip: rigs bend and stretch skin."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """Whether the visible bone of one chain follows; distances in world units."""

    bone: str
    """Name of the bone that deforms where the lower bone is, or of the lower bone itself."""
    is_own: bool
    """Whether it is the lower bone itself."""
    follows: bool
    hindrances: tuple[Sentence, ...]
    """The reasons why it does not."""
    max_distance: float | None
    """Largest distance of the visible limb's end from the target; `None` if it follows or was not measured."""
    frame: float
    """Frame of that distance."""


def look_for(solved: SolvedChain, skins: Skins) -> Shown | None:
    """The visible bone of a chain; `None` if no bone deforms."""
    return shown_bone(object_named(solved.plan.names.armature), solved.plan.names, skins)


def needs_a_look(solved: SolvedChain, shown: Shown) -> bool:
    """Whether parents and constraints alone do not show that the visible bone follows at all frames."""
    if is_own(solved, shown):
        return False
    if not shown.follows:
        return True
    return influences_change(object_named(solved.plan.names.armature), shown.deciding)


def is_own(solved: SolvedChain, shown: Shown) -> bool:
    """Whether the visible bone is the chain's lower bone itself."""
    return (shown.armature, shown.bone) == (solved.plan.names.armature, solved.plan.rest.lower.name)


def look_frames(solved: SolvedChain) -> Array:
    """Report frames `(L,)` at which the visible bone is evaluated."""
    frames = solved.plan.report_frames
    return frames[np.unique(np.linspace(0, len(frames) - 1, min(MOST_LOOKS, len(frames))).round().astype(int))]


def look_quantities(solved: SolvedChain, shown: Shown) -> list[Quantity]:
    """Quantities to sample to compare the visible bone with tip and target."""
    plan = solved.plan
    tip = plan.pose(len(plan.rest.bones) - 1)
    seen = [Quantity("WORLD", shown.armature), Quantity("POSE", shown.armature, shown.bone)]
    return [plan.armature_world, *plan.aims, tip, *seen]


def unmeasured(solved: SolvedChain, shown: Shown, skins: Skins) -> Visibility:
    """What parents and constraints show, without evaluation."""
    return Visibility(shown.bone, is_own(solved, shown), shown.follows, _reasons(solved, shown, skins), None, 0.0)


def visibility(solved: SolvedChain, shown: Shown, skins: Skins, samples: Samples, limb_length: float) -> Visibility:
    """Compare the visible bone with the chain's tip and target at the frames of `look_frames`, which the samples include."""
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
    """Notes on meshes whose modifier is hidden, so that they do not show the motion of the armature or of one that follows it."""
    found = skins.hidden(object_named(solved.plan.names.armature))
    return tuple(
        note(
            'Modifier "{modifier}" of "{mesh}" is hidden in the viewport, so that mesh does not follow.',
            modifier=modifier,
            mesh=mesh,
        )
        for modifier, mesh in found
    )
