"""Take a bake back: only what a bake wrote, only on the chain, only in the range."""

from __future__ import annotations

from collections.abc import Sequence

from ..scene.blender_types import Object, Scene
from ..scene.clearing import remove_baked_keys, remove_stretch
from ..scene.lookup import object_named
from ..scene.restoring import edits_kept
from ..scene.versions import curve_bag
from ..settings import BakeSettings
from .planning import ChainPlan, plan_chain


def clear_baked(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> int:
    """Remove the baked keys of one or more chains, and curves that are left empty; returns how many keys went.

    Keys held beside the range by a bake go as well. Raises a `TwoBoneError` before anything is changed.
    """
    return sum(_clear(scene, plan) for plan in [plan_chain(scene, settings, active) for settings in wanted])


def _clear(scene: Scene, plan: ChainPlan) -> int:
    armature = object_named(plan.names.armature)
    bag = curve_bag(armature)
    if bag is None:
        return 0
    start = float(plan.frames[0]) - (1.0 if plan.settings.key_before else 0.0)
    end = float(plan.frames[-1]) + (1.0 if plan.settings.key_after else 0.0)
    rotations, scales = plan.rotation_paths(), plan.scale_paths()
    with edits_kept(scene, [armature], {(armature, path) for path in (*rotations, *scales)}):
        return remove_stretch(armature, bag, scales, start, end) + remove_baked_keys(bag, rotations, start, end)
