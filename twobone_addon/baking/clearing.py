"""Take a bake back: only what a bake wrote, only on the chain, in the range or at all frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..scene.blender_types import Object, Scene
from ..scene.keys.clearing import count_baked_keys, remove_baked_keys, remove_stretch
from ..scene.keys.destinations import remove_baked_strip, strips_of
from ..scene.keys.guarding import refuse_uneditable
from ..scene.keys.replaced import put_back, replaced_paths
from ..scene.lookup import bone_owner, object_named, owner_of
from ..scene.paths import rotation_path, scale_path
from ..scene.rest_bones import read_rest_bone
from ..scene.rig.chain_finding import ChainNames
from ..scene.rig.foot_reading import foot_bone
from ..scene.versions import curve_bag
from ..scene.walk.restoring import edits_kept
from ..settings import BakeSettings
from .plan.finding import end_bone_of, find_chain
from .plan.frame_choice import frame_range


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What became of the baked keys of some chains."""

    keys: int
    """How many went."""
    undone: list[str] = field(default_factory=list)
    """Names of chains and roots of which a planting was undone."""
    put_back: list[str] = field(default_factory=list)
    """Names of roots that were fitted, and move as before again."""
    held: dict[str, list[str]] = field(default_factory=dict)
    """Roots that stay where they were fitted, to the chains that are still baked on them."""


@dataclass(frozen=True, slots=True)
class _Clearing:
    """What is to be cleared of one chain."""

    armature: str
    strips: list[str] | None
    """Names of the strips that go, of a bake into the NLA; `None` where keys in the action do."""
    rotations: list[str]
    scales: list[str]
    replaced: set[str]
    """Data paths on which keys go that replaced others: those come back."""
    start: float
    end: float


def clear_baked(
    scene: Scene,
    wanted: Sequence[BakeSettings],
    active: Object | None = None,
    *,
    all_frames: bool = False,
    in_strips: bool = True,
) -> TakenBack:
    """Remove the baked keys of one or more chains, and curves that are left empty.

    A chain that was planted together with its root takes the root back, and with it the others that stand on it; a root that
    was fitted comes back with the last chain that is baked on it. Keys go in the chain's range, or at all frames: a range may
    have been shortened since the bake. Keys held beside the range by a bake go as well, and of chains that are baked into the
    NLA their own strip: where the action has no baked keys of a chain, whatever its destination is now, unless `in_strips`
    is false. The target may be gone already. Raises a `TwoBoneError` before anything is changed.
    """
    planned = [_planned(scene, settings, active, in_strips=in_strips) for settings in wanted]
    if all_frames:
        planned = [replace(clearing, start=-math.inf, end=math.inf) for clearing in planned]
    planned, held = _with_roots_held(planned)
    undone = dict.fromkeys(name for clearing in planned for name in _planted_together(clearing))
    fitted = dict.fromkeys(name for clearing in planned for name in _fitted_roots(clearing))
    removed = sum(_clear(scene, clearing) for clearing in planned)
    return TakenBack(removed, list(undone), list(fitted), held) if removed else TakenBack(0)


def count_baked(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None = None) -> int:
    """How many baked keys one or more chains have, at whatever frame; raises a `TwoBoneError` where clearing would."""
    paths: dict[str, set[str]] = {}
    for clearing in (_planned(scene, settings, active) for settings in wanted):
        paths.setdefault(clearing.armature, set()).update((*clearing.rotations, *clearing.scales))
    bags = ((curve_bag(object_named(name)), found) for name, found in paths.items())
    return sum(count_baked_keys(bag, found) for bag, found in bags if bag is not None)


def _planned(scene: Scene, settings: BakeSettings, active: Object | None, *, in_strips: bool = False) -> _Clearing:
    chain = find_chain(settings, active)
    armature, names, rest = chain.armature, chain.names, chain.rest
    end_bone, _ = end_bone_of(chain, settings)
    foot = foot_bone(armature, names)
    turned = [rest.bones[index] for index in rest.turning] + ([end_bone] if end_bone else [])
    rotations = [rotation_path(bone) for bone in turned]
    feet = [rotation_path(read_rest_bone(foot))] if foot else []
    scales = [scale_path(rest.bones[index]) for index in rest.turning]
    replaced = _replaced(armature, {*rotations, *feet}) if settings.destination != "NLA" else set()
    strips = None
    if settings.destination == "NLA" or (in_strips and not _has_baked_keys(armature, {*rotations, *scales, *replaced})):
        strips = _strips(armature, settings, names) or ([] if settings.destination == "NLA" else None)
    refuse_uneditable(armature, [*rotations, *replaced], settings.destination if strips is None else "NLA")
    start, end = frame_range(scene, settings)
    return _Clearing(
        armature.name,
        strips,
        rotations,
        scales,
        replaced,
        start - (1.0 if settings.key_before else 0.0),
        end + (1.0 if settings.key_after else 0.0),
    )


def _clear(scene: Scene, clearing: _Clearing) -> int:
    armature = object_named(clearing.armature)
    paths = {(armature, path) for path in (*clearing.rotations, *clearing.scales, *clearing.replaced)}
    with edits_kept(scene, [armature], paths):
        if clearing.strips is not None:
            return sum(remove_baked_strip(armature, strip) for strip in clearing.strips)
        bag = curve_bag(armature)
        if bag is None:
            return 0
        stretched = remove_stretch(armature, bag, clearing.scales, clearing.start, clearing.end)
        removed = remove_baked_keys(bag, {*clearing.rotations, *clearing.replaced}, clearing.start, clearing.end)
        put_back(armature, bag, clearing.replaced, clearing.start, clearing.end)
        return stretched + removed


def _has_baked_keys(armature: Object, paths: set[str]) -> bool:
    bag = curve_bag(armature)
    return bag is not None and count_baked_keys(bag, paths) > 0


def _strips(armature: Object, settings: BakeSettings, names: ChainNames) -> list[str]:
    """Names of the strips that go with a chain: a bake calls its own like the stored chain, or else like the upper bone."""
    same = [chain.name for chain in armature.twobone.chains if (chain.upper, chain.lower) == (names.upper, names.lower)]
    return strips_of(armature, [settings.stored or names.upper, *same, names.upper])


def _replaced(armature: Object, own: set[str]) -> set[str]:
    """Data paths on which keys have replaced others that are to come back with those on a chain's own paths.

    Where a root was moved for the chain, all that was planted on it: without it the others would slide. A root that was
    moved for no planting may come back with any chain.
    """
    replaced = replaced_paths(armature)
    roots = {path for path in replaced if _is_root(path)}
    if replaced == roots:
        return roots
    return replaced if roots and own & replaced else own & replaced


def _is_root(path: str) -> bool:
    return path.endswith("location")


def _with_roots_held(planned: Sequence[_Clearing]) -> tuple[list[_Clearing], dict[str, list[str]]]:
    """The same without roots on which other chains are baked, and these roots with those chains."""
    cleared = {(clearing.armature, path) for clearing in planned for path in clearing.rotations}
    found, held = [], {}
    for clearing in planned:
        armature, roots = object_named(clearing.armature), _fitted_roots(clearing)
        others = [
            chain.name
            for chain in (armature.twobone.chains if roots else ())
            if not any((armature.name, path) in cleared for path in _rotations(armature, chain))
            and _has_baked_keys(armature, _rotations(armature, chain))
        ]
        held |= {root: others for root in roots if others}
        found.append(replace(clearing, replaced=set()) if others else clearing)
    return found, held


def _rotations(armature: Object, chain: Any) -> set[str]:
    """Data paths of the rotations of a stored chain's two bones, those that there are."""
    bones = (armature.pose.bones.get(name) for name in (chain.upper, chain.lower))
    return {rotation_path(read_rest_bone(bone)) for bone in bones if bone is not None}


def _fitted_roots(clearing: _Clearing) -> list[str]:
    """Names of the roots that come back alone: they were moved for no planting."""
    if not all(map(_is_root, clearing.replaced)):
        return []
    return _root_names(object_named(clearing.armature), clearing.replaced)


def _bone_names(armature: Object) -> dict[str, str]:
    """Names of the bones, by how data paths begin that are theirs."""
    return {bone_owner(bone): bone.name for bone in armature.pose.bones}


def _root_names(armature: Object, paths: set[str]) -> list[str]:
    bones, own = _bone_names(armature), str(armature.name)
    return list(dict.fromkeys(bones.get(owner_of(path), own) for path in sorted(paths) if _is_root(path)))


def _planted_together(clearing: _Clearing) -> list[str]:
    """Names of what was planted with a root (the bones, where no chain is stored), and of that; none where no root was moved."""
    if clearing.strips is not None:
        return clearing.strips if len(clearing.strips) > 1 else []
    armature = object_named(clearing.armature)
    roots = {path for path in clearing.replaced if _is_root(path)}
    if not roots or len(roots) == len(clearing.replaced):
        return []
    owners = {owner_of(path) for path in clearing.replaced if path not in roots}
    bones = _bone_names(armature)
    named = {bones[owner] for owner in owners if owner in bones}
    legs = [chain.name for chain in armature.twobone.chains if {chain.upper, chain.lower} & named]
    return [*(legs or sorted(named)), *_root_names(armature, roots)]
