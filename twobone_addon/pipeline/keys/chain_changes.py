"""Keys of all chains, put where their settings say."""

from __future__ import annotations

from collections.abc import Sequence

from ...scene.blender_types import Scene
from ...scene.keys.replaced import limb_name
from ...scene.keys.writing import Change, Earlier, put, write
from .keying import KeyedChain


def write_chains(scene: Scene, keyed: Sequence[KeyedChain], *, task: str = "bake", earlier: Sequence[Earlier] = ()) -> None:
    """Put the keys of all chains where their settings say; edits that are not keyed stay."""
    write(scene, chain_changes(keyed, task), earlier)


def put_chains(keyed: Sequence[KeyedChain], *, task: str = "bake", earlier: Sequence[Earlier] = ()) -> None:
    """The same where somebody else looks after edits that are not keyed."""
    put(chain_changes(keyed, task), earlier)


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
