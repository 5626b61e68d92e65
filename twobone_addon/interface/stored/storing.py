"""Add stored chains to an armature, and change them."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import bpy

from ...desk.kept import keyed_settings
from ...desk.meant import keep_names_apart
from ...pipeline.plan.stored import StoredChain, fresh_range
from ...scene.writer import add_item, assign, on_failure
from ...settings import OPTIONS
from ...settings.options import OptionKind


def add_chain(armature: bpy.types.Object, name: str, values: dict[str, Any]) -> StoredChain:
    """Add a chain with these settings (objects by name) at the end of the armature's list, make it active and return it."""
    chain = add_item(armature.twobone.chains)
    assign(chain, "name", name)
    keep_names_apart(armature)
    set_values(chain, values)
    assign(armature.twobone, "active_index", len(armature.twobone.chains) - 1)
    return chain


def add_selected_chain(armature: bpy.types.Object) -> StoredChain:
    """Add a chain for the selected bones and return it; raises a `TwoBoneError` if they are not a chain."""
    return add_limb(armature, selected_limb(armature))


def add_limb(armature: bpy.types.Object, values: dict[str, Any]) -> StoredChain:
    """Add a chain with these settings, named after the limb's end, and return it."""
    from ...scene.rig.chain_finding import chain_from_names, end_name

    names = chain_from_names(armature, values["upper"], values["lower"], values.get("tip", ""), values.get("tip_end", "AUTO"))
    return add_chain(armature, end_name(armature, names), values)


def selected_limb(armature: bpy.types.Object) -> dict[str, Any]:
    """Return settings of a new chain for the selected bones, with the range of the keys that its target will have.

    Raises a `TwoBoneError` if the bones are not a chain.
    """
    from ...pipeline.plan.completing import fresh_chain

    return {**fresh_chain(armature), **fresh_range(bpy.context.scene)}


def set_values(chain: StoredChain, values: dict[str, Any]) -> None:
    """Set these settings of a stored chain, objects by name."""
    for option in OPTIONS:
        if option.name == "armature" or option.name not in values:
            continue
        value = values[option.name]
        if option.kind is OptionKind.OBJECT:
            value = bpy.data.objects.get(value) if value else None
        assign(chain, option.name, value)
    if "limits" in values:
        present = tuple((limit.minimum, limit.maximum) for limit in chain.limits)
        # Found again by its path, as Blender moves the entries of a list that grows.
        find = partial(chain.id_data.path_resolve, chain.path_from_id("limits"))
        on_failure(lambda: set_limits(find(), present))
        set_limits(chain.limits, values["limits"])


def limb_of(chain: StoredChain) -> dict[str, str]:
    """Return which limb of the character a stored chain is: `limb`, `side` and `toe`."""
    return {name: getattr(chain, name) for name in ("limb", "side", "toe")}


def set_limb(chain: StoredChain, limb: Mapping[str, str]) -> None:
    """Set which limb of the character a stored chain is, from `limb_of`."""
    for name, value in limb.items():
        assign(chain, name, value)


def key_if_keyed(context: bpy.types.Context, chain: StoredChain, name: str) -> None:
    """Key a setting of a stored chain at the present frame if it is already keyed and auto-keying is on."""
    if context.scene.tool_settings.use_keyframe_insert_auto and name in keyed_settings(chain):
        chain.keyframe_insert(name)


def set_limits(limits: Any, pairs: tuple[tuple[float, float], ...]) -> None:
    """Set the joint limits of a stored chain or an operator to these pairs of smallest and largest angle, in radians."""
    while len(limits) > len(pairs):
        limits.remove(len(limits) - 1)
    while len(limits) < len(pairs):
        limits.add()
    for limit, (least, greatest) in zip(limits, pairs, strict=True):
        limit.minimum, limit.maximum = least, greatest


def chain_of_bones(armature: bpy.types.Object, upper: str, lower: str) -> StoredChain | None:
    """Return the first stored chain with these bones; `None` if there is none."""
    return next((chain for chain in armature.twobone.chains if (chain.upper, chain.lower) == (upper, lower)), None)
