"""What a request means: which chains it is about, with which settings, and which of them are left out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..errors import SelectionError
from ..pipeline.plan.naming import named_as
from ..pipeline.plan.stored import (
    StoredChain,
    active_armature,
    explicit,
    free_name,
    is_in_scope,
    never_had_target,
    over_stored,
    refuse_lost,
    stored_chains,
    stored_settings,
    with_custom_range,
)
from ..records import replace
from ..said import Sentence
from ..scene.blender_types import Context, Object, Scene
from ..scene.lookup import find_armature, object_or_none
from ..scene.writer import assign
from ..settings import BakeSettings
from ..settings.options import ACTIVE
from ..settings.tasks import Table

CHAIN = "CHAIN"
"""Scope of a request for the chain that it names, or for the active one."""

NO_TARGETS = "None of the enabled chains has a target. Add a target to each limb to bake."

NO_CHAIN = "No enabled chain is stored in the {where}. Add a chain in the sidebar first."

SCOPES = {"ACTIVE": "active armature", "SELECTED": "selection", "SCENE": "scene"}
"""Where each scope looks for stored chains, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Chains:
    """The chains that a request is about."""

    settings: tuple[BakeSettings, ...] = ()
    """The complete settings of each; `label` is its name in refusals, if there are several or it was not asked for by name."""
    keepers: tuple[str, ...] = ()
    """Name of the stored chain that keeps the report of each; empty for one that is not stored."""
    skipped: tuple[str, ...] = ()
    """Names of the stored chains that are left out, for they never had a target."""


@dataclass(frozen=True, slots=True)
class Meant:
    """A request, complete."""

    table: Table
    settings: Any
    """Settings of the task."""
    active: Object | None
    """The armature for settings that name none; or the active object that no chain uses, to be refused by its name."""
    chains: Chains = Chains()

    @property
    def actions(self) -> str:
        """The actions to work on."""
        return getattr(self.settings, "actions", ACTIVE)

    @property
    def keepers(self) -> Sequence[str]:
        """Names of the stored chains that keep the report of each chain; none where a chain gets several reports, or none."""
        return self.chains.keepers if self.table.keeps_reports and self.actions == ACTIVE else ()

    def is_written(self, report: Any) -> bool:
        """Whether the run of which this is the report has changed the file, so that chains keep the names that they got."""
        return report.is_changed and not self.table.is_read_only


def meant(context: Context, table: Table, own: Mapping[str, Any], chains: Chains | None = None) -> Meant:
    """A request with the settings given for the whole run, and its chains; raises `SettingError`.

    A start or an end alone means a custom range. The only other selected armature is the source of a retarget without one.
    """
    if any(option.name == "frame_range" for option in table.own):
        own = with_custom_range(context.scene, own)
    if table.task == "finish_retarget" and not own.get("source"):
        armature = object_or_none(own.get("armature", "")) or active_armature(context)
        others = [thing.name for thing in context.selected_objects if thing.type == "ARMATURE" and thing != armature]
        own = {**own, "source": others[0] if len(others) == 1 else ""}
    if chains is None:
        return Meant(table, table.settings(**own), active_armature(context))
    whole: dict[str, Any] = {**own, "chains": chains.settings}
    return Meant(table, table.settings(**whole), active_armature(context), chains)


def chain_named(context: Context, table: Table, given: Mapping[str, Any], stored: str = "", label: str = "") -> Chains:
    """The chain that is given by its bones, or stored under a name, or else the active one or the selected bones.

    Raises a `TwoBoneError`, which names the chain if it has a `label`.
    """
    from ..pipeline.plan.completing import completed

    with named_as(label, given.get("armature", "")):
        settings = replace(completed(context.scene, given, active_armature(context), stored), label=label)
        armature = object_or_none(settings.armature) if settings.armature else active_armature(context)
        chain = _stored_as(armature, settings, stored)
        if table.task == "give" and chain is not None and not (settings.target or settings.stored or chain.target is None):
            settings = replace(settings, target=chain.target.name, target_bone=chain.target_bone)
        if chain is not None and table.needs_targets and not settings.target:
            refuse_lost(chain)
    return Chains((settings,), (stored or settings.stored,))


def chain_new(context: Context, given: Mapping[str, Any]) -> Chains:
    """The selected bones with the settings of a new chain, whatever chain is the active one; raises a `TwoBoneError`."""
    from ..pipeline.plan.completing import fresh_settings

    return Chains((fresh_settings(context.scene, given, active_armature(context)),), ("",))


def chains_given(context: Context, table: Table, groups: Sequence[tuple[str, Mapping[str, Any]]], stored: str = "") -> Chains:
    """`chain_named` of each group of settings, with the label that refusals call it by."""
    chains = [chain_named(context, table, given, stored, label) for label, given in groups]
    settings, keepers = (tuple(part for chain in chains for part in getattr(chain, name)) for name in ("settings", "keepers"))
    return Chains(settings, keepers)


def chains_in_scope(context: Context, table: Table, scope: str, given: Mapping[str, Any]) -> Chains:
    """The enabled stored chains in a scope, overridden by `given`, which may also name the only armature that counts.

    Raises a `TwoBoneError`: where none is stored, and as `chains_chosen` does. A switch of an armature that has no chains is
    about the limbs that are found on it.
    """
    active, only = active_armature(context), given.get("armature", "")
    chains = [
        chain
        for chain in stored_chains(context.scene)
        if chain.enabled and only in {"", chain.id_data.name} and is_in_scope(chain.id_data, scope, active)
    ]
    if chains:
        return chains_chosen(context, table, chains, given)
    armature = find_armature(only, active) if only or scope == "ACTIVE" else None
    if table.task == "switch" and armature is not None and not armature.twobone.chains:
        limbs = _limbs_of(context.scene, armature, given)
        if limbs:
            return Chains(limbs, ("",) * len(limbs))
    where = Sentence('armature "{armature}"', {"armature": only}) if only else Sentence(SCOPES[scope])
    raise SelectionError(NO_CHAIN, where=where)


def chains_chosen(
    context: Context, table: Table, chains: Sequence[StoredChain], given: Mapping[str, Any], *, by_name: bool = True
) -> Chains:
    """Stored chains, at least one, overridden by `given`; unless it is not `by_name`, a refusal names the chain it is about.

    Where targets are needed and none is given, a single chain must have one, and so must one of several. The others are
    skipped if they never had one: Find Limbs lists chains without targets, and an animator adds them to those to be baked.
    Raises a `TwoBoneError`, also for a chain that has lost its target.
    """
    needs = table.needs_targets and not given.get("target")
    never = [chain for chain in chains if never_had_target(chain)] if needs else []
    if len(never) == len(chains) > 1:
        raise SelectionError(NO_TARGETS)
    taken = [chain for chain in chains if chain not in never] if len(chains) > 1 else chains
    settings = []
    for chain in taken:
        armature = chain.id_data
        label = chain.name if by_name else ""
        with named_as(label, armature.name):
            over = over_stored(context.scene, chain, {**given, "armature": armature.name} if "armature" in given else given)
            settings.append(replace(stored_settings(armature, chain, over), label=label))
            if needs:
                refuse_lost(chain)
    skipped = tuple(chain.name for chain in chains if chain not in taken)
    return Chains(tuple(settings), tuple(chain.name for chain in taken), skipped)


def _stored_as(armature: Object | None, settings: BakeSettings, name: str) -> StoredChain | None:
    """The stored chain of that name, or else the first one that has the bones of the settings; `None` if there is none."""
    chains = armature.twobone.chains if armature is not None and armature.type == "ARMATURE" else ()
    same = [chain for chain in chains if (chain.upper, chain.lower) == (settings.upper, settings.lower)]
    return next((chain for chain in same if chain.name == (name or settings.stored)), same[0] if same else None)


def _limbs_of(scene: Scene, armature: Object, given: Mapping[str, Any]) -> tuple[BakeSettings, ...]:
    """Settings of the limbs that are found on an armature."""
    from ..pipeline.plan.completing import fresh_settings
    from ..tasks.find_limbs import found_limbs

    of_rig = {**explicit(given), "armature": armature.name}
    limbs = [record.settings for record in found_limbs(scene, armature)]
    return tuple(fresh_settings(scene, {**limb, **of_rig}, armature) for limb in limbs)


@dataclass(frozen=True, slots=True)
class Renamed:
    """A stored chain that was renamed so that its armature has no other of that name."""

    armature: str
    now: str
    """New name of the chain."""
    before: str
    """Old name of the chain."""


def names_apart(scene: Scene) -> list[Renamed]:
    """Give every stored chain of the scene a name of its own on its armature: settings and reports find it by that."""
    armatures = dict.fromkeys(chain.id_data for chain in stored_chains(scene))
    return [renamed for armature in armatures if armature.is_editable for renamed in keep_names_apart(armature)]


def keep_names_apart(armature: Object) -> list[Renamed]:
    """Rename chains with the same name as one above them in the list, as Blender does for bones; return what was renamed."""
    taken: set[str] = set()
    renamed = []
    for chain in armature.twobone.chains:
        name = free_name(chain.name, taken)
        if name != chain.name:
            renamed.append(Renamed(armature.name, name, chain.name))
            assign(chain, "name", name)
        taken.add(name)
    return renamed


def name_back(renamed: Sequence[Renamed]) -> None:
    """Undo the renames of `keep_names_apart`."""
    for entry in renamed:
        armature = object_or_none(entry.armature)
        if armature is not None and entry.now in armature.twobone.chains:
            armature.twobone.chains[entry.now].name = entry.before


@contextmanager
def names_kept_apart(scene: Scene) -> Iterator[list[Renamed]]:
    """`names_apart` for a block, which is given what was renamed; taken back if it raises anything."""
    renamed, is_done = names_apart(scene), False
    try:
        yield renamed
        is_done = True
    finally:
        if not is_done:
            name_back(renamed)
