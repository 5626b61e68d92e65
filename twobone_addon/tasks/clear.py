"""Clear Baked Keys: remove the keys of bakes and other tasks, and restore what they replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..pipeline.chosen_actions import own_span
from ..pipeline.plan.completing import names_of
from ..pipeline.plan.found_chain import end_bone_of, find_chain
from ..pipeline.plan.frame_choice import frame_range
from ..pipeline.plan.naming import named
from ..pipeline.report.reports import Report, Results, refusals_in_words
from ..pipeline.story import Story, Task, Write, with_range
from ..records import replace
from ..said import Sentence, joined, note
from ..scene.actions import OwnAction, actions_of
from ..scene.blender_types import Object, Property, Scene
from ..scene.bones import ChainNames, location_path, read_rest_bone, rotation_path, scale_path
from ..scene.keys.clearing import ClearedKeys, clear_keys, unmake
from ..scene.keys.contact_keys import contact_path
from ..scene.keys.destinations import (
    is_planted,
    paths_of_strips,
    remove_baked_strip,
    strips_elsewhere,
    strips_of,
    tasks_of_strips,
)
from ..scene.keys.guarding import refuse_uneditable
from ..scene.keys.ledger import Ledger, count_baked_keys, ledgers_by_owner
from ..scene.keys.nudges import nudges_of
from ..scene.keys.replaced import FOUND, WITH_FEET, limb_name
from ..scene.lookup import bone_owner, datablock_named, object_named, owner_of
from ..scene.rig.rest_reading import foot_bone
from ..scene.versions import curve_bag
from ..scene.visible.feet_beside import feet_beside
from ..scene.writer import assign, at_end
from ..settings import BakeSettings
from ..settings.tasks import TABLES, ClearSettings

SWITCHING = {"switch", "convert"}
"""Tasks that key beside a limb what its own keys are seen by."""


@dataclass(frozen=True, slots=True)
class Clearing:
    """What to clear for one chain."""

    armature: str
    strips: list[str] | None
    """Names of the NLA strips to remove; `None` where keys in the action are cleared instead."""
    rotations: list[str]
    """Data paths of the chain's rotations."""
    scales: list[str]
    """Data paths of the chain's scales."""
    replaced: set[str]
    """Data paths on which baked keys replaced others, which are restored."""
    start: float
    end: float
    stored: list[str]
    """Names of the stored chains with the same bones."""
    related: dict[str, set[str]] = field(default_factory=dict)
    """Data paths of further keys that are cleared along with these, by the keys of their owners, see `key_of`."""
    is_elsewhere: bool = False
    """Whether those further keys are cleared because the limb itself has none: of its targets, poles and controls."""
    strips_elsewhere: Sequence[tuple[str, str]] = ()
    """Strips of other datablocks that are removed along with these, each as its owner's key and its name."""

    @property
    def paths(self) -> dict[str, set[str]]:
        """Data paths of all keys to clear, by the keys of their owners."""
        paths = {name: set(paths_of) for name, paths_of in self.related.items()}
        paths.setdefault(self.armature, set()).update((*self.rotations, *self.scales, *self.replaced))
        return paths


@dataclass(frozen=True, slots=True)
class ClearPlan:
    """What to clear for all chains."""

    clearings: Sequence[Clearing]
    keeps_actions: bool
    """Whether slots and actions made for the keys are kept, and strips too: so when several actions are cleared."""
    undone: Sequence[str]
    """Names of chains and roots whose planting is undone."""
    put_back: Sequence[str]
    """Names of fitted roots whose earlier motion is restored."""
    held: Mapping[str, list[str]]
    """Fitted roots that are kept, by name, with the chains that are still baked on them."""
    elsewhere: Sequence[str]
    """Names of targets, poles and controls that lose keys because the limb that they were made for has none itself."""


def plan_clearing(
    scene: Scene, chains: Sequence[BakeSettings], active: Object | None, *, all_frames: bool, in_strips: bool
) -> ClearPlan:
    """Plan the clearing of all baked keys of one or more chains, and of curves that are then empty.

    A chain that was planted together with its root also restores the root, and so the other chains planted on it; a fitted
    root is restored with the last chain that is baked on it. Keys are cleared in the chain's range, or at all frames, since
    the range may have been shortened after the bake. Keys held beside the range by a bake are cleared as well. For a chain
    baked into the NLA its strip is removed: where its destination is the NLA, or, unless `in_strips` is false, where the
    action has no baked keys of it. The target need not exist any more. Raises a `TwoBoneError`.
    """
    clearings = []
    for chain in chains:
        with named(chain):
            clearings.append(_clearing(scene, chain, active, in_strips=in_strips))
    if all_frames:
        clearings = [replace(clearing, start=-math.inf, end=math.inf) for clearing in clearings]
    clearings, held = _with_roots_held(clearings)
    undone = dict.fromkeys(name for clearing in clearings for name in _planted_together(clearing))
    fitted = dict.fromkeys(name for clearing in clearings for name in _fitted_roots(clearing))
    elsewhere = dict.fromkeys(name for clearing in clearings for name in _keyed_elsewhere(clearing))
    return ClearPlan(clearings, not in_strips, list(undone), list(fitted), held, list(elsewhere))


def count_to_clear(clearing: Clearing) -> int:
    """Number of baked keys that a clearing removes, or of strips."""
    elsewhere = len(clearing.strips_elsewhere)
    if clearing.strips is not None:
        return elsewhere + len(clearing.strips)
    return elsewhere + sum(
        count_baked_keys(datablock_named(name), paths, clearing.start, clearing.end) for name, paths in clearing.paths.items()
    )


def count_left(plan: ClearPlan) -> int:
    """Number of baked keys that the chains have in their actions, at any frame."""
    paths: dict[str, set[str]] = {}
    for clearing in plan.clearings:
        paths.setdefault(clearing.armature, set()).update((*clearing.rotations, *clearing.scales))
    return sum(count_baked_keys(object_named(name), paths_of) for name, paths_of in paths.items())


def _clearing(scene: Scene, settings: BakeSettings, active: Object | None, *, in_strips: bool = False) -> Clearing:
    chain = find_chain(settings, active)
    armature, names, rest = chain.armature, chain.names, chain.rest
    end_bone, _ = end_bone_of(chain, settings)
    foot = foot_bone(armature, names)
    keyed_bones = [rest.bones[index] for index in rest.turning] + ([end_bone] if end_bone else [])
    rotations = [rotation_path(bone) for bone in keyed_bones]
    feet = [rotation_path(read_rest_bone(foot))] if foot else []
    # What the leg only meets may have gone along, and still counts as its foot once it is freed of what kept it there.
    for beside in feet_beside(armature, names):
        feet += [rotation_path(read_rest_bone(beside)), location_path(read_rest_bone(beside))]
    contacts = {contact_path(leg) for leg in armature.twobone.chains if leg.upper == names.upper}
    scales = [scale_path(rest.bones[index]) for index in rest.turning]
    same = [str(limb.name) for limb in armature.twobone.chains if (limb.upper, limb.lower) == (names.upper, names.lower)]
    stored: list[str] = list(dict.fromkeys([*([settings.stored] if settings.stored else []), *same]))
    replaced = _replaced(armature, {*rotations, *feet, *contacts}) if settings.destination != "NLA" else set()
    strips, elsewhere = None, list[tuple[str, str]]()
    # Contacts are keyed in the action even where the planted keys are in strips.
    if settings.destination == "NLA" or (
        in_strips and not count_baked_keys(armature, {*rotations, *scales, *replaced} - contacts)
    ):
        # A bake names its strip after the stored chain, or else after the upper bone.
        strips = strips_of(armature, [*stored, names.upper]) or ([] if settings.destination == "NLA" else None)
        # As with keys: those of the same task, or, where the limb itself has none, those made for it elsewhere.
        elsewhere = strips_elsewhere(
            armature, limb_name(armature.name, names.upper), tasks_of_strips(armature, strips) if strips else None
        )
    refuse_uneditable(armature, [*rotations, *replaced], settings.destination if strips is None else "NLA")
    start, end = frame_range(scene, settings)
    if settings.frame_range == "AUTO":
        # A nudge may begin or end beyond the keys of the target.
        spans = [span for nudge in nudges_of(curve_bag(armature), names.upper) for span in nudge.spans(None)]
        start = min([start, *(first for first, _ in spans)])
        end = max([end, *(last for _, last in spans)])
    is_elsewhere = False
    if strips is None:
        related, is_elsewhere = _related(armature, names, {*rotations, *scales, *replaced})
    else:
        related = {armature.name: _contacts_of(armature, strips)} if strips else {}
    for name, paths in related.items():
        refuse_uneditable(datablock_named(name), sorted(paths), settings.destination)
    for name, _ in elsewhere:
        refuse_uneditable(datablock_named(name), [], "NLA")
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
        is_elsewhere,
        elsewhere,
    )


def _related(armature: Object, names: ChainNames, limb_paths: set[str]) -> tuple[dict[str, set[str]], bool]:
    """Data paths of further keys to clear with those on a limb's own data paths, by the keys of their owners; see `Clearing`.

    These are keys that the same tasks made along with them, such as the switch of the IK. If the limb itself has no baked
    keys, they are those made for it elsewhere: of its targets, poles and controls; or, if there are none, of its contacts.
    """
    limb = limb_name(armature.name, names.upper)
    ledgers = ledgers_by_owner()
    kept = ledgers[armature.name].channels if armature.name in ledgers else {}
    # Keys without a limb are for several, as those of Plant Feet.
    tasks = {record.task for (path, _), record in kept.items() if path in limb_paths and record.limb in {limb, ""}}
    if tasks or count_baked_keys(armature, limb_paths):
        # A later task may have replaced all that a switch had keyed on the limb itself, which would be left on FK without keys.
        return _further_paths(ledgers, limb, tasks | SWITCHING, limb_paths), False
    elsewhere = _further_paths(ledgers, limb, None, limb_paths)
    return (elsewhere, True) if elsewhere else (_further_paths(ledgers, limb, {FOUND}, limb_paths), False)


def _keyed_elsewhere(clearing: Clearing) -> list[str]:
    """Names of objects and bones whose keys are cleared because the limb has none."""
    if not clearing.is_elsewhere:
        return []
    armature = object_named(clearing.armature)
    bones = _bone_names(armature)
    of_armature = [bones[owner_of(path)] for path in sorted(clearing.related.get(armature.name, ())) if owner_of(path) in bones]
    others = [str(datablock_named(name).name) for name in clearing.related if name != armature.name]
    return list(dict.fromkeys([*others, *of_armature]))


def _contacts_of(armature: Object, strips: Sequence[str]) -> set[str]:
    """Data paths of the contacts that were keyed along with the feet in these strips; contacts are always in the action."""
    ledger = Ledger.present(armature)
    legs = [leg for leg in armature.twobone.chains if leg.name in strips or leg.upper in strips]
    paths = {contact_path(leg) for leg in legs}
    return {path for (path, _), kept in (ledger.channels.items() if ledger else ()) if path in paths and kept.task == WITH_FEET}


def _further_paths(ledgers: Mapping[str, Ledger], limb: str, tasks: set[str] | None, limb_paths: set[str]) -> dict[str, set[str]]:
    """Data paths that the tasks, or any, keyed for a limb besides its own ones, by the keys of their owners."""
    further = {name: ledger.limb_paths(limb, tasks) - limb_paths for name, ledger in ledgers.items()}
    return {name: paths for name, paths in further.items() if paths}


def clear(clearing: Clearing, *, stays: bool) -> ClearedKeys:
    """Clear the keys and restore what they replaced; slots and actions made for them are removed unless `stays`."""
    strips = [*((clearing.armature, strip) for strip in clearing.strips or ()), *clearing.strips_elsewhere]
    cleared = ClearedKeys(sum(remove_baked_strip(datablock_named(owner), strip) for owner, strip in strips))
    paths = clearing.paths if clearing.strips is None else {clearing.armature: set(), **clearing.related}
    for name, owner_paths in paths.items():
        owner = datablock_named(name)
        ledger = Ledger.present(owner)
        if ledger is not None:
            cleared += clear_keys(owner, ledger, owner_paths, clearing.start, clearing.end)
            ledger.save()
        is_planting_noted = owner.id_type == "OBJECT" and (owner.twobone.plantings or owner.twobone.planted)
        is_planting_gone = bool(is_planting_noted) and not is_planted(owner)
        if is_planting_gone:
            assign(owner.twobone, "planted", "")
        if ledger is not None and not stays:
            unmake(owner, ledger)
        if is_planting_gone:
            # Which actions are left is known once those of runs are removed, which was asked for before.
            at_end(partial(_forget_plantings, owner))
    return cleared


def _forget_plantings(armature: Object) -> None:
    """Empty the record of plantings, which all actions of an armature share, unless one of them is still planted."""
    bags = (action.bag for action in actions_of(armature))
    if not any(bag is not None and Ledger.of(bag).planted_paths() for bag in bags):
        assign(armature.twobone, "plantings", "")


def _replaced(armature: Object, chain_paths: set[str]) -> set[str]:
    """Data paths on which planting replaced keys that must be restored with a chain's own paths.

    If a root was moved for the chain, these are the paths of all that was planted on it, which would slide without the root's
    moves. A root that was moved for no planting (Fit Root) is restored with any chain.
    """
    ledger = Ledger.present(armature)
    planted = ledger.planted_paths() if ledger is not None else set()
    roots = {path for path in planted if _is_root(armature, path)}
    if planted == roots:
        return roots
    return planted if roots and chain_paths & planted else chain_paths & planted


def _is_root(armature: Object, path: str) -> bool:
    """Whether a location was keyed for a root, or for a foot that went along with it, and not for one that follows its leg."""
    if not path.endswith("location"):
        return False
    ledger = Ledger.present(armature)
    return path not in _feet_paths(armature) or (ledger is not None and path in ledger.fitted_paths())


def _feet_paths(armature: Object) -> set[str]:
    """Data paths of the locations of all feet beside stored chains."""
    bones = armature.pose.bones
    chains = [chain for chain in armature.twobone.chains if chain.upper in bones and chain.lower in bones]
    names = [names_of(chain) for chain in chains if not chain.tip or chain.tip in bones]
    return {location_path(read_rest_bone(foot)) for limb in names for foot in feet_beside(armature, limb)}


def _with_roots_held(clearings: Sequence[Clearing]) -> tuple[list[Clearing], dict[str, list[str]]]:
    """The clearings without fitted roots on which other chains are still baked, and these roots with those chains."""
    cleared = {(clearing.armature, path) for clearing in clearings for path in clearing.rotations}
    without_held, held = [], {}
    for clearing in clearings:
        armature, roots = object_named(clearing.armature), _fitted_roots(clearing)
        others = [
            chain.name
            for chain in (armature.twobone.chains if roots else ())
            if not any((armature.name, path) in cleared for path in _rotations(armature, chain))
            and count_baked_keys(armature, _rotations(armature, chain))
        ]
        held |= {root: others for root in roots if others}
        without_held.append(replace(clearing, replaced=set()) if others else clearing)
    return without_held, held


def _rotations(armature: Object, chain: Any) -> set[str]:
    """Data paths of the rotations of a stored chain's two bones, as far as these exist."""
    bones = (armature.pose.bones.get(name) for name in (chain.upper, chain.lower))
    return {rotation_path(read_rest_bone(bone)) for bone in bones if bone is not None}


def _fitted_roots(clearing: Clearing) -> list[str]:
    """Names of the roots that are restored alone, because they were moved for no planting."""
    if not all(_is_root(object_named(clearing.armature), path) for path in clearing.replaced):
        return []
    return _root_names(object_named(clearing.armature), clearing.replaced)


def _bone_names(armature: Object) -> dict[str, str]:
    """Names of the bones, by the beginning of their data paths."""
    return {bone_owner(bone): bone.name for bone in armature.pose.bones}


def _root_names(armature: Object, paths: set[str]) -> list[str]:
    bones, object_name = _bone_names(armature), str(armature.name)
    return list(dict.fromkeys(bones.get(owner_of(path), object_name) for path in sorted(paths) if _is_root(armature, path)))


def _planted_together(clearing: Clearing) -> list[str]:
    """Names of the chains planted with a root (of bones, where none is stored), then of the root; empty if none was moved."""
    if clearing.strips is not None:
        return clearing.strips if len(clearing.strips) > 1 else []
    armature = object_named(clearing.armature)
    roots = {path for path in clearing.replaced if _is_root(armature, path)}
    if not roots or len(roots) == len(clearing.replaced):
        return []
    owners = {owner_of(path) for path in clearing.replaced if path not in roots}
    bones = _bone_names(armature)
    named = {bones[owner] for owner in owners if owner in bones}
    legs = [chain.name for chain in armature.twobone.chains if {chain.upper, chain.lower} & named]
    return [*(legs or sorted(named)), *_root_names(armature, roots)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearReport(Report):
    """Report of cleared keys."""

    chains: int
    """Number of chains that were cleared."""
    keys_removed: int
    keys_left: int
    """Number of baked keys that remain outside the range."""
    planting_undone: list[str]
    """Chains and roots that were planted together, and have their earlier keys again."""

    @property
    def is_as_asked(self) -> bool:
        """Whether no baked keys are left."""
        return not (self.keys_left or self.refused)

    @property
    def is_changed(self) -> bool:
        """Whether there were any baked keys, even if all are outside the range, which the redo panel can extend."""
        return bool(self.keys_removed or self.keys_left)

    @property
    def summary(self) -> Sentence:
        """Summary of how many keys were removed, and how many remain."""
        removed, remaining = self.keys_removed, self.keys_left
        result = Sentence("{count} baked keys removed.", {"count": removed})
        if removed <= 1:
            result = Sentence("1 baked key removed." if removed else "No baked keys in the range.")
        if not remaining:
            return result
        stay = Sentence("{count} stay outside the range: All Frames removes them as well.", {"count": remaining})
        return joined([result, Sentence("1 stays outside the range: All Frames removes it as well.") if remaining == 1 else stay])


@dataclass(frozen=True, slots=True)
class Cleared:
    """What becomes of one action, after the clearing or, in a dry run, as expected."""

    plan: ClearPlan
    removed: int
    """Number of baked keys that are removed."""
    left: int
    """Number of baked keys that remain and were not edited."""
    edited: int = 0
    """Number of keys that remain because they were edited since."""
    copy: str = ""
    """Name of the action, if it is a copy that stays although it has no baked keys any more."""


def clear_chains(scene: Scene, settings: ClearSettings, active: Object | None, chosen: OwnAction | None) -> Story[Cleared]:
    """Remove the baked keys of chains; if none are left, also the stored reports of the chains."""
    span = own_span(chosen)
    chains = [with_range(chain, span) for chain in settings.chains]
    plan = plan_clearing(scene, chains, active, all_frames=settings.all_frames, in_strips=span is None)
    removed = sum(map(count_to_clear, plan.clearings))
    cleared = Cleared(plan, removed, max(count_left(plan) - removed, 0))

    def remove() -> None:
        nonlocal cleared
        counts = [clear(clearing, stays=plan.keeps_actions) for clearing in plan.clearings]
        edited = sum(count.edited for count in counts)
        ledger = Ledger.present(object_named(plan.clearings[0].armature)) if plan.keeps_actions and plan.clearings else None
        copy = ledger.bag.id_data.name if ledger is not None and ledger.is_cleared_copy else ""
        # Edited keys are counted on all that is cleared, those that are left only on the chains' own bones.
        left = max(count_left(plan) - edited, 0)
        cleared = Cleared(plan, sum(count.removed for count in counts), left, edited, copy)
        for clearing in plan.clearings if cleared.removed and not cleared.left else ():
            armature = object_named(clearing.armature)
            for name in clearing.stored:
                assign(armature.twobone.chains[name], "report", "")

    paths_of_owners = [pair for clearing in plan.clearings for pair in clearing.paths.items()]
    paths_of_owners += [
        (owner, paths_of_strips(datablock_named(owner), [strip]))
        for clearing in plan.clearings
        for owner, strip in (*((clearing.armature, strip) for strip in clearing.strips or ()), *clearing.strips_elsewhere)
    ]
    paths = {Property(datablock_named(name), path) for name, own_paths in paths_of_owners for path in own_paths}
    yield Write([], lambda: cleared, lambda: paths, remove)
    return cleared


def _clear_report(results: Results) -> ClearReport:
    """Report of all actions together."""
    done: Sequence[Cleared] = results.done
    edited, refused = sum(cleared.edited for cleared in done), list(results.refused)
    plans = [cleared.plan for cleared in done if cleared.removed]
    undone = dict.fromkeys(name for plan in plans for name in plan.undone)
    put_back = dict.fromkeys(name for plan in plans for name in plan.put_back)
    notes = []
    if undone:
        notes.append(note("Planting removed from all legs; previous keys restored on {names}.", names=", ".join(undone)))
    if put_back:
        notes.append(note("Fit Root removed: previous keys restored on {names}.", names=", ".join(put_back)))
    for root, chains in {root: chains for plan in plans for root, chains in plan.held.items()}.items():
        kept = note("Kept Fit Root on {root}: other chains still use it ({chains}).", root=root, chains=", ".join(chains))
        notes.append(kept)
    elsewhere = ", ".join(dict.fromkeys(name for plan in plans for name in plan.elsewhere))
    if elsewhere:
        notes.append(note("The limbs had no baked keys: the motion that was made for {names} is gone.", names=elsewhere))
    if edited == 1:
        notes.append(note("1 key that was edited since stays. Clear again to remove it as well."))
    elif edited:
        template = "{count} keys that were edited since stay. Clear again to remove them as well."
        notes.append(note(template, count=edited))
    copies = ", ".join(cleared.copy for cleared in done if cleared.copy)
    if copies:
        notes.append(note("Copies that New Action made stay: {names}. Delete them, or clear each while it plays.", names=copies))
    return ClearReport(
        kind=results.kind,
        chains=len({(limb.armature, *limb.rotations) for cleared in done for limb in cleared.plan.clearings}),
        keys_removed=sum(cleared.removed for cleared in done),
        keys_left=sum(cleared.left for cleared in done),
        planting_undone=list(undone),
        refused=refused,
        notes=[*notes, *refusals_in_words(refused, len(done) + len(refused)), *results.unused],
        seconds=results.seconds,
    )


CLEAR = Task("clear", TABLES["clear"], clear_chains, ClearReport, takes_live_away=True, joined=_clear_report)
