"""Chains put on an armature by a use case."""

from __future__ import annotations

from collections.abc import Mapping

from ...scene.blender_types import Object
from ..plan.chain_names import free_name
from ..plan.completing import StoredChain


def chain_with(armature: Object, upper: str, lower: str) -> StoredChain | None:
    """The stored chain with these bones."""
    return next((chain for chain in armature.twobone.chains if (chain.upper, chain.lower) == (upper, lower)), None)


def new_chain(armature: Object, name: str, values: Mapping[str, str | float]) -> StoredChain:
    """A new chain at the end of the armature's list, with these settings, none of which is an object."""
    taken = {chain.name for chain in armature.twobone.chains}
    chain = armature.twobone.chains.add()
    chain.name = free_name(name, taken)
    for setting, value in values.items():
        setattr(chain, setting, value)
    return chain


def note_limb(chain: StoredChain, limb: Mapping[str, str]) -> None:
    """Note on a chain which limb it is, unless somebody has done so."""
    if chain.limb == "NONE":
        for name, value in limb.items():
            setattr(chain, name, value)
