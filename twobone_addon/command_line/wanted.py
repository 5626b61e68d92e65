"""The chains that a command processes: given by flags, by a job file, or stored in the shot."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy

from ..errors import ChainError, ObjectError, SettingError, TwoBoneError
from ..pipeline.plan.completing import completed
from ..pipeline.plan.planning import OverlapError, plan_bake
from ..pipeline.plan.stored import active_object, is_in_scope, over_stored, stored_chains, stored_settings
from ..records import replace
from ..settings import BakeSettings
from ..settings.options import without_effect
from .flags import ChainGroup, flag
from .job import Job
from .outcomes import UsageError

BONES = ("upper", "lower", "tip", "tip_end")
"""Settings that name a chain's bones, so stored chains cannot share them."""

STORED = {"ACTIVE", "SELECTED", "SCENE"}
"""Values of `scope` that select stored chains."""

TWO_CHAINS = 2
"""Number of groups with the shared one and a single chain, whose flags cannot be meant for another chain."""


@dataclass(frozen=True, slots=True)
class NamedSettings:
    """The settings of a chain, and its name; empty if it has none."""

    label: str
    settings: BakeSettings


def wanted_chains(arguments: argparse.Namespace, job: Job | None) -> list[NamedSettings]:
    """Return the complete settings of every chain given by flags or job, or, if requested, stored in the shot.

    Flags override the job; within each, a chain's own settings override the shared ones. Raises a `TwoBoneError` if settings
    contradict each other or name something that the shot does not have.
    """
    shared_flags, *flag_chains = arguments.groups
    shared_job = job.shared if job else {}
    once = {**(job.once if job else {}), **arguments.once}
    scope = once.get("scope", "")
    stored = arguments.stored or bool(job and job.stored) or scope in STORED
    if flag_chains and job and job.chains:
        raise UsageError('Chains are given both by --chain and by job "{path}". Give them in one place.', path=job.path)
    if stored and (flag_chains or (job and job.chains)):
        raise UsageError("--stored cannot be combined with --chain or a job's chains.")
    named = [flag(name) for name in BONES if name in shared_flags.values]
    named += [f'"{name}"' for name in BONES if name in shared_job]
    if stored and named:
        raise UsageError(
            "Stored chains have bones of their own and cannot be combined with {flags}. Leave one of them out.",
            flags=", ".join(named),
        )
    if flag_chains:
        chains = [ChainGroup(group.label, {**shared_job, **shared_flags.values, **group.values}) for group in flag_chains]
    else:
        groups = job.chains if job and job.chains else (ChainGroup(""),)
        chains = [ChainGroup(group.label, {**shared_job, **group.values, **shared_flags.values}) for group in groups]
    for group in chains:
        BakeSettings(**group.values)  # Raises `SettingError` for contradicting settings.
    if stored:
        found = _stored(chains[0].values, scope if scope in STORED else "SCENE")
    else:
        scene, active, under = bpy.context.scene, active_object(bpy.context), once.get("chain", "")
        found = [NamedSettings(group.label, completed(scene, group.values, active, under)) for group in chains]
    asked = {name for chain in found for name in chain.settings.asked}
    for name in sorted(asked) if arguments.strict_settings or (job and job.strict_settings) else ():
        having = [chain.settings for chain in found if name in chain.settings.asked]
        reasons = [without_effect(settings, [name]).get(name) for settings in having]
        if reasons[0] is not None and all(reasons):
            raise SettingError("{reason} Leave it out, or change what it depends on.", reason=reasons[0])
    return found


def of_last_chain(arguments: argparse.Namespace) -> str:
    """Return a sentence naming the flags that only the last of several chains has; empty if there are none."""
    groups = getattr(arguments, "groups", [])
    if len(groups) <= TWO_CHAINS:
        return ""
    *others, last = groups
    alone = [flag(name) for name in last.values if not any(name in group.values for group in others)]
    if not alone:
        return ""
    return f'Only chain "{last.label}" has {", ".join(alone)}. What all chains share stands before the first --chain.'


@contextmanager
def named_in_refusals(chains: Sequence[NamedSettings]) -> Iterator[None]:
    """Add the chain's name to a `TwoBoneError` raised in the block; plans the chains one by one to find out which it is."""
    try:
        yield
    except OverlapError as error:
        labels = [chains[number].label for number in error.numbers if number < len(chains)]
        if len(labels) == len(error.numbers) and all(labels):
            values = {**error.sentence.values, "first": labels[0], "second": labels[1]}
            raise ChainError(replace(error.sentence, values=values)) from error
        raise
    except TwoBoneError as error:
        for chain in chains if any(chain.label for chain in chains) else ():
            try:
                plan_bake(bpy.context.scene, chain.settings, active_object(bpy.context))
            except TwoBoneError as found:
                where = f' of "{chain.settings.armature}"' if chain.settings.armature else ""
                raise type(found)(
                    'Chain "{chain}"{where}: {reason}', chain=chain.label, where=where, reason=found.sentence
                ) from error
        raise


def _stored(over: Mapping[str, Any], scope: str) -> list[NamedSettings]:
    """Return the enabled stored chains in `scope`, overridden by the settings in `over`; raises `ObjectError` if none is."""
    only = over.get("armature", "")
    found = [
        NamedSettings(chain.name, stored_settings(armature, chain, over_stored(bpy.context.scene, chain, over)))
        for armature, chain in stored_chains(bpy.context.scene)
        if chain.enabled and only in {"", armature.name} and is_in_scope(armature, scope, active_object(bpy.context))
    ]
    if not found:
        where = f'on armature "{only}"' if only else f'in scene "{bpy.context.scene.name}"'
        raise ObjectError("No enabled chain is stored {where}. Store one in the panel, or name bones and target.", where=where)
    return found
