"""Chains put on an armature and changed there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from ...pipeline.plan.completing import StoredChain, free_name, fresh_chain
from ...pipeline.plan.frame_choice import fresh_range
from ...scene.keys.reading import is_animated
from ...settings import OPTIONS
from ...settings.options import Kind
from .option_properties import ANIMATED


@dataclass(frozen=True, slots=True)
class Renamed:
    """A chain that got a name of its own."""

    armature: str
    now: str
    before: str


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
    values = selected_limb(armature)
    return add_chain(armature, values["lower"], values)


def selected_limb(armature: bpy.types.Object) -> dict[str, Any]:
    """Settings of a new chain for the selected bones, baked over the range of the keys that its target will have."""
    return {**fresh_chain(armature), **fresh_range(bpy.context.scene)}


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


def limb_of(chain: StoredChain) -> dict[str, str]:
    """What a stored chain is on the character: `limb`, `side` and `toe`."""
    return {name: getattr(chain, name) for name in ("limb", "side", "toe")}


def set_limb(chain: StoredChain, limb: Mapping[str, str]) -> None:
    """Note on a stored chain what it is on the character."""
    for name, value in limb.items():
        setattr(chain, name, value)


def keyed_settings(chain: StoredChain) -> set[str]:
    """Names of the settings that have curves or drivers of their own, which a bake reads at every frame."""
    return {name for name in ANIMATED if is_animated(chain.id_data, chain.path_from_id(name))}


def key_if_keyed(context: bpy.types.Context, chain: StoredChain, name: str) -> None:
    """Key a setting of a stored chain that has keys already, at the present frame, if auto-keying is on."""
    if context.scene.tool_settings.use_keyframe_insert_auto and name in keyed_settings(chain):
        chain.keyframe_insert(name)


def set_limits(limits: Any, pairs: tuple[tuple[float, float], ...]) -> None:
    """Make joint limits, of a stored chain or on an operator, those given."""
    while len(limits) > len(pairs):
        limits.remove(len(limits) - 1)
    while len(limits) < len(pairs):
        limits.add()
    for limit, (least, greatest) in zip(limits, pairs, strict=True):
        limit.minimum, limit.maximum = least, greatest


def keep_names_apart(armature: bpy.types.Object) -> list[Renamed]:
    """Give chains that were given the name of one above them in the list a name of their own, as Blender does for bones."""
    taken: set[str] = set()
    renamed = []
    for chain in armature.twobone.chains:
        name = free_name(chain.name, taken)
        if name != chain.name:
            renamed.append(Renamed(armature.name, name, chain.name))
            chain.name = name
        taken.add(name)
    return renamed


def name_back(renamed: Sequence[Renamed]) -> None:
    """Give chains the names that `keep_names_apart` took from them."""
    for entry in renamed:
        bpy.data.objects[entry.armature].twobone.chains[entry.now].name = entry.before


def chain_of_bones(armature: bpy.types.Object, upper: str, lower: str) -> StoredChain | None:
    """The stored chain with these bones."""
    return next((chain for chain in armature.twobone.chains if (chain.upper, chain.lower) == (upper, lower)), None)
