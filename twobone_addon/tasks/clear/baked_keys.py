"""What goes with a bake that is taken back: only what a bake wrote, only on the chain, in the range or at all frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...pipeline.plan.found_chain import end_bone_of, find_chain
from ...pipeline.plan.frame_choice import frame_range
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames, read_rest_bone, rotation_path, scale_path
from ...scene.keys.clearing import ClearedKeys, clear_keys, count_baked_keys, unmake
from ...scene.keys.contact_keys import contact_path
from ...scene.keys.destinations import remove_baked_strip, strips_of
from ...scene.keys.guarding import refuse_uneditable
from ...scene.keys.replaced import FOUND, Ledger, ledgers_of_objects, limb_name
from ...scene.lookup import bone_owner, object_named, owner_of
from ...scene.rig.rest_reading import foot_bone
from ...scene.versions import curve_bag
from ...settings import BakeSettings

IN_STRIPS = '"strips": ["'
"""In what is noted of plantings, where any is in strips."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What to clear of one chain."""

    armature: str
    strips: list[str] | None
    """Names of the strips that go, of a bake into the NLA; `None` where keys in the action do."""
    rotations: list[str]
    scales: list[str]
    replaced: set[str]
    """Data paths on which keys go that replaced others: those come back."""
    start: float
    end: float
    stored: list[str]
    """Names of the stored chains of the same bones."""
    related: dict[str, set[str]] = field(default_factory=dict)
    """Data paths of what else goes with them, by the names of the objects."""

    @property
    def paths(self) -> dict[str, set[str]]:
        """Data paths of all that goes, by the names of the objects."""
        paths = {name: set(found) for name, found in self.related.items()}
        paths.setdefault(self.armature, set()).update((*self.rotations, *self.scales, *self.replaced))
        return paths


@dataclass(frozen=True, slots=True)
class ClearPlan:
    """What to clear of all chains."""

    clearings: Sequence[Clearing]
    keeps_actions: bool
    """Whether slots and actions that were made for the keys stay, and strips: where keys go in several actions."""
    undone: Sequence[str]
    """Names of chains and roots of which a planting is undone."""
    put_back: Sequence[str]
    """Names of roots that were fitted, and will move as before again."""
    held: Mapping[str, list[str]]
    """Roots that stay where they were fitted, to the chains that are still baked on them."""


def plan_clearing(
    scene: Scene, wanted: Sequence[BakeSettings], active: Object | None, *, all_frames: bool, in_strips: bool
) -> ClearPlan:
    """What goes with the baked keys of one or more chains, and with curves that are left empty.

    A chain that was planted together with its root takes the root back, and with it the others that stand on it; a root that
    was fitted comes back with the last chain that is baked on it. Keys go in the chain's range, or at all frames: a range may
    have been shortened since the bake. Keys held beside the range by a bake go as well, and of chains that are baked into the
    NLA their own strip: where the action has no baked keys of a chain, whatever its destination is now, unless `in_strips`
    is false. The target may be gone already. Raises a `TwoBoneError`.
    """
    planned = [_planned(scene, settings, active, in_strips=in_strips) for settings in wanted]
    if all_frames:
        planned = [replace(clearing, start=-math.inf, end=math.inf) for clearing in planned]
    planned, held = _with_roots_held(planned)
    undone = dict.fromkeys(name for clearing in planned for name in _planted_together(clearing))
    fitted = dict.fromkeys(name for clearing in planned for name in _fitted_roots(clearing))
    return ClearPlan(planned, not in_strips, list(undone), list(fitted), held)


def count_to_clear(clearing: Clearing) -> int:
    """How many baked keys a clearing is about; of strips how many these are."""
    if clearing.strips is not None:
        return len(clearing.strips)
    bags = ((curve_bag(object_named(name)), paths) for name, paths in clearing.paths.items())
    return sum(count_baked_keys(bag, paths, clearing.start, clearing.end) for bag, paths in bags if bag is not None)


def count_left(plan: ClearPlan) -> int:
    """How many baked keys the chains have in their actions, at whatever frame."""
    paths: dict[str, set[str]] = {}
    for clearing in plan.clearings:
        paths.setdefault(clearing.armature, set()).update((*clearing.rotations, *clearing.scales))
    bags = ((curve_bag(object_named(name)), found) for name, found in paths.items())
    return sum(count_baked_keys(bag, found) for bag, found in bags if bag is not None)


def _planned(scene: Scene, settings: BakeSettings, active: Object | None, *, in_strips: bool = False) -> Clearing:
    chain = find_chain(settings, active)
    armature, names, rest = chain.armature, chain.names, chain.rest
    end_bone, _ = end_bone_of(chain, settings)
    foot = foot_bone(armature, names)
    turned = [rest.bones[index] for index in rest.turning] + ([end_bone] if end_bone else [])
    rotations = [rotation_path(bone) for bone in turned]
    feet = [rotation_path(read_rest_bone(foot))] if foot else []
    contacts = {contact_path(leg) for leg in armature.twobone.chains if leg.upper == names.upper}
    scales = [scale_path(rest.bones[index]) for index in rest.turning]
    same = [str(limb.name) for limb in armature.twobone.chains if (limb.upper, limb.lower) == (names.upper, names.lower)]
    stored: list[str] = list(dict.fromkeys([*([settings.stored] if settings.stored else []), *same]))
    replaced = _replaced(armature, {*rotations, *feet, *contacts}) if settings.destination != "NLA" else set()
    strips = None
    # Contacts are keyed in the action also where what was planted is in strips.
    if settings.destination == "NLA" or (
        in_strips and not _has_baked_keys(armature, {*rotations, *scales, *replaced} - contacts)
    ):
        # A bake calls its strip like the stored chain, or else like the upper bone.
        strips = strips_of(armature, [*stored, names.upper]) or ([] if settings.destination == "NLA" else None)
    refuse_uneditable(armature, [*rotations, *replaced], settings.destination if strips is None else "NLA")
    start, end = frame_range(scene, settings)
    related = _related(armature, names, {*rotations, *scales, *replaced}) if strips is None else {}
    for name, paths in related.items():
        refuse_uneditable(object_named(name), sorted(paths), settings.destination)
    return Clearing(
        armature.name,
        strips,
        rotations,
        scales,
        replaced,
        start - (1.0 if settings.key_before else 0.0),
        end + (1.0 if settings.key_after else 0.0),
        stored,
        related,
    )


def _related(armature: Object, names: ChainNames, own: set[str]) -> dict[str, set[str]]:
    """What else goes with the keys of a limb's `own` data paths, by the objects' names.

    What was keyed along with them, such as the switch of the IK. If the limb itself has no baked keys, what was keyed for it
    elsewhere: its targets, poles and controls; or, if there is none of that either, its contacts.
    """
    limb = limb_name(armature.name, names.upper)
    ledgers = ledgers_of_objects()
    kept = ledgers[armature.name].channels if armature.name in ledgers else {}
    tasks = {each.task for (path, _), each in kept.items() if path in own and each.limb == limb}
    if tasks or _has_baked_keys(armature, own):
        return _found(ledgers, limb, tasks, own)
    return _found(ledgers, limb, None, own) or _found(ledgers, limb, {FOUND}, own)


def _found(ledgers: Mapping[str, Ledger], limb: str, tasks: set[str] | None, own: set[str]) -> dict[str, set[str]]:
    found = {name: ledger.limb_paths(limb, tasks) - own for name, ledger in ledgers.items()}
    return {name: paths for name, paths in found.items() if paths}


def clear(clearing: Clearing, *, stays: bool) -> ClearedKeys:
    """Remove it, and put back what it has replaced; slots and actions that were made for it go, unless they are to stay."""
    if clearing.strips is not None:
        return ClearedKeys(sum(remove_baked_strip(object_named(clearing.armature), strip) for strip in clearing.strips))
    cleared = ClearedKeys()
    for name, own in clearing.paths.items():
        owner = object_named(name)
        ledger = Ledger.present(owner)
        if ledger is not None:
            cleared += clear_keys(owner, ledger, own, clearing.start, clearing.end)
            ledger.save(owner)
            plantings = owner.twobone.plantings
            if plantings and IN_STRIPS not in plantings and not ledger.planted_paths():
                owner.twobone.plantings = ""
            if not stays:
                unmake(owner, ledger)
    return cleared


def _has_baked_keys(armature: Object, paths: set[str]) -> bool:
    bag = curve_bag(armature)
    return bag is not None and count_baked_keys(bag, paths) > 0


def _replaced(armature: Object, own: set[str]) -> set[str]:
    """Data paths on which keys have replaced others that are to come back with those on a chain's own paths.

    Where a root was moved for the chain, all that was planted on it: without it the others would slide. A root that was
    moved for no planting may come back with any chain.
    """
    ledger = Ledger.present(armature)
    replaced = ledger.planted_paths() if ledger is not None else set()
    roots = {path for path in replaced if _is_root(path)}
    if replaced == roots:
        return roots
    return replaced if roots and own & replaced else own & replaced


def _is_root(path: str) -> bool:
    return path.endswith("location")


def _with_roots_held(planned: Sequence[Clearing]) -> tuple[list[Clearing], dict[str, list[str]]]:
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


def _fitted_roots(clearing: Clearing) -> list[str]:
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


def _planted_together(clearing: Clearing) -> list[str]:
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
