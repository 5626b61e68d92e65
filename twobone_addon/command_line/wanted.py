"""Which chains a command is about: from flags, from a job file, or stored in the shot."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ..baking.actions.choosing import ACTIVE
from ..baking.plan.completing import active_object, completed, over_stored, stored_chains, stored_settings
from ..baking.plan.planning import plan_bake
from ..errors import ObjectError, SettingError, TwoBoneError
from ..settings import BakeSettings
from ..unused import unused
from .flags.chain_flags import ChainGroup, flag
from .jobs.job import Job
from .outcomes import UsageError

BONES = ("upper", "lower", "tip", "tip_end")
"""Settings that a stored chain cannot share with others."""

TWO_CHAINS = 2
"""The shared group and one chain: its flags can be nobody else's."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What flags and job file say together; nothing has been looked up in the shot yet."""

    chains: tuple[ChainGroup, ...]
    """Settings of each chain; one empty group where none were named: the active stored chain, or the selection."""
    stored: bool
    """Instead, the enabled chains that are stored in the scene, with the settings of the one group in `chains` on top."""
    strict_settings: bool
    """Refuse settings that make no difference to any chain."""


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
        raise UsageError("--stored cannot be combined with --chain or a job's chains.")
    named = [flag(name) for name in BONES if name in shared_flags.values]
    if stored and named:
        raise UsageError(f"--stored bakes the bones of the stored chains and cannot be combined with {', '.join(named)}.")
    if flag_chains:
        chains = [ChainGroup(group.label, {**shared_job, **shared_flags.values, **group.values}) for group in flag_chains]
    else:
        groups = job.chains if job and job.chains else (ChainGroup(""),)
        chains = [ChainGroup(group.label, {**shared_job, **group.values, **shared_flags.values}) for group in groups]
    for group in chains:
        BakeSettings(**group.values)  # Refuses what contradicts itself before any shot is opened.
    strict = arguments.strict_settings or bool(job and job.strict_settings)
    return Wanted(tuple(chains), stored, strict)


def of_last_chain(arguments: argparse.Namespace) -> str:
    """Which flags only the last of several chains was given, in a sentence; empty where every chain has the same ones."""
    groups = getattr(arguments, "groups", [])
    if len(groups) <= TWO_CHAINS:
        return ""
    *others, last = groups
    alone = [flag(name) for name in last.values if not any(name in group.values for group in others)]
    if not alone:
        return ""
    return f'Only chain "{last.label}" has {", ".join(alone)}. What all chains share stands before the first --chain.'


def settings_of(wanted: Wanted) -> list[NamedSettings]:
    """The complete settings of every chain; raises a `TwoBoneError` where the shot does not have what they name."""
    active, scene = active_object(bpy.context), bpy.context.scene
    if wanted.stored:
        chains = _stored(wanted.chains[0].values)
    else:
        chains = [NamedSettings(group.label, completed(scene, group.values, active)) for group in wanted.chains]
    if wanted.strict_settings:
        _refuse_unused(chains)
    return chains


@contextmanager
def named_in_refusals(chains: Sequence[NamedSettings]) -> Iterator[None]:
    """Let what refuses a block name the chain that it is about, if that has a name; planning them one by one takes time."""
    try:
        yield
    except TwoBoneError as error:
        for chain in chains if any(chain.label for chain in chains) else ():
            try:
                plan_bake(bpy.context.scene, chain.settings, active_object(bpy.context))
            except TwoBoneError as found:
                where = f' of "{chain.settings.armature}"' if chain.settings.armature else ""
                raise type(found)(f'Chain "{chain.label}"{where}: {found}') from error
        raise


def _refuse_unused(chains: list[NamedSettings]) -> None:
    """Raise `SettingError` for a setting that was given and makes no difference to any of the chains that it was given to."""
    for name in sorted({name for chain in chains for name in chain.settings.asked}):
        reasons = [unused(chain.settings, [name]).get(name) for chain in chains if name in chain.settings.asked]
        if all(reasons):
            raise SettingError(f"{reasons[0]} Leave it out, or change what it depends on.")


def asked_actions(arguments: argparse.Namespace, job: Job | None) -> str:
    """Which actions flags or job mean: the present one where they say nothing."""
    return arguments.actions or (job.actions if job else "") or ACTIVE


def _stored(over: Mapping[str, Any]) -> list[NamedSettings]:
    only = over.get("armature", "")
    found = [
        NamedSettings(chain.name, stored_settings(armature, chain, over_stored(bpy.context.scene, chain, over)))
        for armature, chain in stored_chains(bpy.context.scene)
        if chain.enabled and only in {"", armature.name}
    ]
    if not found:
        where = f'on armature "{only}"' if only else f'in scene "{bpy.context.scene.name}"'
        raise ObjectError(f"No enabled chain is stored {where}. Store one in the panel, or name bones and target.")
    return found
