"""Which chains a command is about: from flags, from a job file, or stored in the shot."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import bpy

from ..baking.completing import completed, stored_chains, stored_settings
from ..errors import ObjectError
from ..settings import BakeSettings
from .chain_flags import ChainGroup
from .jobs import Job
from .outcomes import UsageError


@dataclass(frozen=True, slots=True)
class Wanted:
    """What flags and job file say together; nothing has been looked up in the shot yet."""

    chains: tuple[ChainGroup, ...]
    """Settings of each chain; one empty group where none were named: the active stored chain, or the selection."""
    stored: bool
    """Instead, the enabled chains that are stored in the scene, with the settings of the one group in `chains` on top."""


@dataclass(frozen=True, slots=True)
class NamedSettings:
    """A chain to bake, and what people call it."""

    label: str
    settings: BakeSettings


def wanted_chains(arguments: argparse.Namespace, job: Job | None) -> Wanted:
    """Bring flags and job together: shared settings, then the chain's own, then shared flags, which win."""
    shared_flags, *flag_chains = arguments.groups
    shared_job = job.shared if job else {}
    stored = arguments.stored or bool(job and job.stored)
    if flag_chains and job and job.chains:
        raise UsageError(f'Chains are given both by --chain and by job "{job.path}". Give them in one place.')
    if stored and (flag_chains or (job and job.chains)):
        raise UsageError("Chains are given beside --stored. Give one of them.")
    if flag_chains:
        chains = [ChainGroup(group.label, {**shared_job, **shared_flags.values, **group.values}) for group in flag_chains]
    else:
        groups = job.chains if job and job.chains else (ChainGroup(""),)
        chains = [ChainGroup(group.label, {**shared_job, **group.values, **shared_flags.values}) for group in groups]
    for group in chains:
        BakeSettings(**group.values)  # Refuses what contradicts itself before any shot is opened.
    return Wanted(tuple(chains), stored)


def settings_of(wanted: Wanted) -> list[NamedSettings]:
    """The complete settings of every chain; raises a `TwoBoneError` where the shot does not have what they name."""
    active = active_object()
    if wanted.stored:
        return _stored(wanted.chains[0].values)
    return [NamedSettings(group.label, completed(group.values, active)) for group in wanted.chains]


def active_object() -> Any:
    """The active object, also where no window is in context."""
    layer = bpy.context.view_layer
    return layer.objects.active if layer else None


def _stored(over: Mapping[str, Any]) -> list[NamedSettings]:
    only = over.get("armature", "")
    found = [
        NamedSettings(chain.name, stored_settings(armature, chain, over))
        for armature, chain in stored_chains(bpy.context.scene)
        if chain.enabled and only in {"", armature.name}
    ]
    if not found:
        where = f'on armature "{only}"' if only else f'in scene "{bpy.context.scene.name}"'
        raise ObjectError(f"No enabled chain is stored {where}. Store one in the panel, or name bones and target.")
    return found
