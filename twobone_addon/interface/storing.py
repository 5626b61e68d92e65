"""Chains put on an armature and changed there."""

from typing import Any

import bpy

from ..baking.choosing import fresh_chain
from ..baking.completing import StoredChain, active_chain
from ..errors import TwoBoneError
from ..options import Kind
from ..scene.chain_finding import bones_between
from ..scene.limb_pieces import is_body
from ..scene.versions import is_selected
from ..settings import OPTIONS


def add_chain(armature: bpy.types.Object, name: str, values: dict[str, Any]) -> StoredChain:
    """A new chain at the end of the armature's list, made active, with these settings (objects by name)."""
    chain = armature.twobone.chains.add()
    chain.name = name
    keep_names_apart(armature)
    set_values(chain, values)
    armature.twobone.active_index = len(armature.twobone.chains) - 1
    return chain


def add_selected_chain(armature: bpy.types.Object) -> StoredChain:
    """A new chain for the selected bones; raises a `TwoBoneError` where they mean none."""
    values = fresh_chain(armature)
    return add_chain(armature, values["lower"], values)


def chain_meant(context: bpy.types.Context, armature: bpy.types.Object) -> StoredChain:
    """The chain that a person means: that of the selected bones, made if there is none, else the active one.

    Raises a `TwoBoneError` where there is neither.
    """
    other = other_limb(context, armature)
    if not other:
        return active_chain(armature) or add_selected_chain(armature)
    present = chain_of_bones(armature, other["upper"], other["lower"])
    if present is None:
        return add_chain(armature, other["lower"], other)
    make_active(present)
    return present


def other_limb(context: bpy.types.Context, armature: bpy.types.Object) -> dict[str, str]:
    """Settings of a chain for the selected bones if these mean another limb than the active chain's; else none."""
    chain = active_chain(armature)
    if chain is None or context.mode != "POSE":
        return {}
    try:
        values = fresh_chain(armature)
    except TwoBoneError:
        return {}  # Whatever is selected, it is no limb.
    own = bones_between(armature, chain.upper, chain.tip or chain.lower)
    is_same = any(is_selected(bone) for bone in own)
    return {} if is_same or is_body(armature.pose.bones[values["upper"]]) else values


def make_active(chain: StoredChain) -> None:
    """Let the panel show this chain."""
    stored = chain.id_data.twobone
    stored.active_index = stored.chains.find(chain.name)


def set_values(chain: StoredChain, values: dict[str, Any]) -> None:
    """Set some of a stored chain's settings, objects by name."""
    for option in OPTIONS:
        if option.name == "armature" or option.name not in values:
            continue
        value = values[option.name]
        if option.kind is Kind.OBJECT:
            value = bpy.data.objects.get(value) if value else None
        setattr(chain, option.name, value)
    if "limits" in values:
        set_limits(chain.limits, values["limits"])


def set_limits(limits: Any, pairs: tuple[tuple[float, float], ...]) -> None:
    """Make joint limits, of a stored chain or on an operator, those given."""
    while len(limits) > len(pairs):
        limits.remove(len(limits) - 1)
    while len(limits) < len(pairs):
        limits.add()
    for limit, (least, greatest) in zip(limits, pairs, strict=True):
        limit.minimum, limit.maximum = least, greatest


def keep_names_apart(armature: bpy.types.Object) -> None:
    """Give chains that were given the name of one above them in the list a name of their own, as Blender does for bones."""
    taken: set[str] = set()
    for chain in armature.twobone.chains:
        name = free_name(chain.name, taken)
        if name != chain.name:
            chain.name = name
        taken.add(name)


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or the same with the first number (`.001` ...) that is not taken."""
    base = wanted or "Chain"
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}.{number:03}"
    return name


def chain_of_bones(armature: bpy.types.Object, upper: str, lower: str) -> StoredChain | None:
    """The stored chain with these bones."""
    return next((chain for chain in armature.twobone.chains if (chain.upper, chain.lower) == (upper, lower)), None)
