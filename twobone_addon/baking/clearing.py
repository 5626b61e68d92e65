"""Take a bake back: only what a bake wrote, only on the chain, in the range or at all frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..rig.following.scaling import scale_carriers
from ..scene.blender_types import Object, Scene
from ..scene.keys.clearing import count_baked_keys, remove_baked_keys, remove_stretch
from ..scene.keys.destinations import remove_baked_strip
from ..scene.keys.guarding import refuse_uneditable
from ..scene.keys.replaced import put_back, replaced_paths
from ..scene.lookup import bone_owner, object_named, owner_of
from ..scene.paths import rotation_path, scale_path
from ..scene.rest_bones import read_rest_bone
from ..scene.rig.foot_reading import foot_bone
from ..scene.versions import curve_bag
from ..scene.walk.restoring import edits_kept
from ..settings import BakeSettings
from .plan.finding import end_bone_of, find_chain
from .plan.frame_choice import frame_range


@dataclass(frozen=True, slots=True)
class _Clearing:
    """What is to be cleared of one chain."""

    armature: str
    strip: str
    """Name of the strip that a bake into the NLA made; empty where keys are in the action."""
    rotations: list[str]
    scales: list[str]
    replaced: set[str]
    """Data paths on which keys go that replaced others: those come back."""
    start: float
    end: float


def clear_baked(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None, *, all_frames: bool = False
) -> tuple[int, list[str]]:
    """Remove the baked keys of one or more chains, and curves that are left empty.

    Returns how many keys went, and the names of chains and roots of which a planting was undone: a chain that was planted
    together with its root takes the root back, and with it the others that stand on it. Keys go in the chain's range, or at
    all frames: a range may have been shortened since the bake. Keys held beside the range by a bake go as well, and of
    chains that are baked into the NLA their own strip. The target may be gone already. Raises a `TwoBoneError` before
    anything is changed.
    """
    planned = [_planned(scene, settings, active) for settings in wanted]
    if all_frames:
        planned = [replace(clearing, start=-math.inf, end=math.inf) for clearing in planned]
    undone = dict.fromkeys(name for clearing in planned for name in _planted_together(clearing))
    removed = sum(_clear(scene, clearing) for clearing in planned)
    return removed, list(undone) if removed else []


def count_baked(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> int:
    """How many baked keys one or more chains have, at whatever frame; raises a `TwoBoneError` where clearing would."""
    paths: dict[str, set[str]] = {}
    for clearing in (_planned(scene, settings, active) for settings in wanted):
        paths.setdefault(clearing.armature, set()).update((*clearing.rotations, *clearing.scales))
    bags = ((curve_bag(object_named(name)), found) for name, found in paths.items())
    return sum(count_baked_keys(bag, found) for bag, found in bags if bag is not None)


def _planned(scene: Scene, settings: BakeSettings, active: Object | None) -> _Clearing:
    chain = find_chain(settings, active)
    armature, names, rest = chain.armature, chain.names, chain.rest
    end_bone, _ = end_bone_of(chain, settings)
    foot = foot_bone(armature, names)
    turned = [rest.bones[index] for index in rest.turning] + ([end_bone] if end_bone else [])
    rotations = [rotation_path(bone) for bone in turned]
    feet = [rotation_path(read_rest_bone(foot))] if foot else []
    replaced = _replaced(armature, {*rotations, *feet}) if settings.destination != "NLA" else set()
    refuse_uneditable(armature, [*rotations, *replaced], settings.destination)
    start, end = frame_range(scene, settings)
    return _Clearing(
        armature.name,
        (settings.stored or names.upper) if settings.destination == "NLA" else "",
        rotations,
        [scale_path(rest.bones[index]) for index in scale_carriers(rest)],
        replaced,
        start - (1.0 if settings.key_before else 0.0),
        end + (1.0 if settings.key_after else 0.0),
    )


def _clear(scene: Scene, clearing: _Clearing) -> int:
    armature = object_named(clearing.armature)
    paths = {(armature, path) for path in (*clearing.rotations, *clearing.scales, *clearing.replaced)}
    with edits_kept(scene, [armature], paths):
        if clearing.strip:
            return remove_baked_strip(armature, clearing.strip)
        bag = curve_bag(armature)
        if bag is None:
            return 0
        stretched = remove_stretch(armature, bag, clearing.scales, clearing.start, clearing.end)
        removed = remove_baked_keys(bag, {*clearing.rotations, *clearing.replaced}, clearing.start, clearing.end)
        put_back(armature, bag, clearing.replaced, clearing.start, clearing.end)
        return stretched + removed


def _replaced(armature: Object, own: set[str]) -> set[str]:
    """Data paths on which keys have replaced others that are to come back with those on a chain's own paths.

    Where a root was moved for the chain, all that was planted on it: without it the others would slide. A root that was
    moved for no planting comes back with any chain.
    """
    replaced = replaced_paths(armature)
    roots = {path for path in replaced if _is_root(path)}
    if replaced == roots:
        return roots
    return replaced if roots and own & replaced else own & replaced


def _is_root(path: str) -> bool:
    return path.endswith("location")


def _planted_together(clearing: _Clearing) -> list[str]:
    """Names of what was planted with a root (the bones, where no chain is stored), and of that; none where no root was moved."""
    armature = object_named(clearing.armature)
    roots = [path for path in sorted(clearing.replaced) if _is_root(path)]
    if not roots or len(roots) == len(clearing.replaced):
        return []
    owners = {owner_of(path) for path in clearing.replaced if path not in roots}
    bones = {bone_owner(bone): bone.name for bone in armature.pose.bones}
    named = {bones[owner] for owner in owners if owner in bones}
    legs = [chain.name for chain in armature.twobone.chains if {chain.upper, chain.lower} & named]
    return [*(legs or sorted(named)), *dict.fromkeys(bones.get(owner_of(path), armature.name) for path in roots)]
