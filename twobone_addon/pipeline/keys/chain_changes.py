"""The keys of chains as changes that are put where their settings say."""

from __future__ import annotations

from collections.abc import Sequence

from ...scene.keys.replaced import limb_name
from ...scene.keys.writing import Change
from .keying import KeyedChain


def chain_changes(keyed: Sequence[KeyedChain], task: str) -> list[Change]:
    """The keys of chains, but for those that have theirs already."""
    return [_change(chain, task) for chain in keyed if not chain.stays]


def _change(chain: KeyedChain, task: str) -> Change:
    plan = chain.solved.plan
    names, settings = plan.names, plan.settings
    return Change(
        owner=names.armature,
        keys=chain.keys,
        within=(float(plan.frames[0]), float(plan.frames[-1])),
        task=task,
        limb=limb_name(names.armature, names.upper),
        destination=settings.destination,
        strip=settings.stored or names.upper,
        sets=chain.sets,
        emptied=plan.stretched_paths(),
    )
