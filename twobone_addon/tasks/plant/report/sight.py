"""Check that planting is visible: compare the deforming bone at each leg's lower bone with the leg."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude, path_length
from ....pipeline.motion.plan_motion import points
from ....pipeline.report.reports import Visible
from ....pipeline.report.visibility import APART, MOST_LOOKS
from ....scene.lookup import object_named
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.visible.skin import Skins, seen_from
from ....scene.visible.switches import influences_change
from ....scene.visible.visible_bone import Shown, shown_bone
from ..plan.planning import LegPlan, PlantingPlan


def shown_legs(plan: PlantingPlan) -> list[Shown | None]:
    """The visible bone of each leg; `None` where nothing deforms."""
    armature, skins = object_named(plan.armature), Skins()
    return [shown_bone(armature, leg.plan.names, skins) for leg in plan.legs]


def look_frames(plan: PlantingPlan) -> Array:
    """Frames `(L,)` at which the visible bones are evaluated; a few suffice, since switches decide which bones follow."""
    count = len(plan.frames)
    return plan.frames[np.unique(np.linspace(0, count - 1, min(MOST_LOOKS, count)).round().astype(int))]


def look_quantities(plan: PlantingPlan, shown: Iterable[Shown | None]) -> list[Quantity]:
    """The quantities to sample for the visible bones; none if parents and constraints already show that all legs follow."""
    needed = []
    for leg, seen in zip(plan.legs, shown, strict=True):
        if seen is not None and _is_doubtful(leg, seen):
            tip = leg.plan.pose(len(leg.plan.rest.bones) - 1)
            needed += [leg.plan.armature_world, tip, Quantity("WORLD", seen.armature), Quantity("POSE", seen.armature, seen.bone)]
    return list(dict.fromkeys(needed))


def visible_leg(leg: LegPlan, shown: Shown | None, samples: Samples | None) -> Visible | None:
    """The visible bone of a leg; `samples` are those of `look_quantities`, `None` if nothing was sampled."""
    if shown is None:
        return None
    if samples is None or not _is_doubtful(leg, shown):
        return Visible(shown.bone, shown.follows, None)
    plan, other = leg.plan, object_named(shown.armature)
    joints, world = plan.rest.rest_joints(), samples.every(plan.armature_world)
    at_rest = np.array(seen_from(object_named(plan.names.armature), other, shown.bone, joints[-1]))
    posed = samples.every(Quantity("POSE", other.name, shown.bone))
    seen = points(samples.every(Quantity("WORLD", other.name)), points(posed, at_rest))
    tip = points(world, points(samples.every(plan.pose(len(plan.rest.bones) - 1)), plan.rest.tip))
    apart, length = float(magnitude(seen - tip).max()), float(path_length(joints @ world[0, :3, :3].T))
    follows = apart <= APART * length
    return Visible(shown.bone, follows, None if follows else apart)


def _is_doubtful(leg: LegPlan, shown: Shown) -> bool:
    """Whether parents and constraints leave it open if the visible bone follows at all frames."""
    armature = object_named(leg.plan.names.armature)
    if (shown.armature, shown.bone) == (armature.name, leg.plan.rest.lower.name):
        return False
    return not shown.follows or influences_change(armature, shown.deciding)
