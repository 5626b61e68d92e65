"""Synchronizes the active chain with the selection: a bone of its limb, its target, its pole or its plane object.

The last action counts. Selecting something makes its chain active in the list; a row that is clicked afterwards stays active
until something else is selected. A handler updates the list's index, and operators update it once more before they begin. The
selection at the last update is kept on the window manager, which undo does not change.
"""

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import depsgraph_update_post, persistent

from ...desk.meant import Chains, chain_named, chain_new, chains_chosen
from ...errors import SelectionError, TwoBoneError
from ...pipeline.plan.stored import StoredChain, active_armature, active_chain, guided_chains
from ...scene.sampling.stage import STAGE_NAME
from ...scene.writer import assign
from ...settings.tasks import Table
from .storing import add_limb, add_selected_chain, selected_limb
from .where import redraw_viewports

BONE_GUIDES = (("target", "target_bone"), ("pole", "pole_bone"))
"""Properties of a chain that point to an object, and those that name a bone of it to follow."""

NOT_LISTED = (
    'The selected limb "{bone}" has no chain yet. Press Add Target for it first, or select a bone of a chain that is in the list.'
)

KEPT = ("twobone_selection", "twobone_unlisted")
"""Properties of the window manager: the mark of the last known selection, and its limb's lower bone if that has no chain."""


def follow_selection(view_layer: bpy.types.ViewLayer) -> None:
    """Make the selected chain active if the selection has changed since the last call."""
    manager = bpy.data.window_managers[0]
    mark = _mark(view_layer)
    if not mark or mark == manager.twobone_selection:
        return
    manager.twobone_selection = mark
    manager.twobone_unlisted = _unlisted(view_layer.objects.active).get("lower", "")
    chains = selected_chains(view_layer)
    # Nothing of a linked armature can be changed, nor which of its chains is active.
    if chains and chains[0].id_data.is_editable:
        make_active(chains[0])


def keep_active(context: bpy.types.Context, chain: StoredChain) -> None:
    """Make this chain active until something else is selected."""
    make_active(chain)
    list_changed(context, chain.id_data)


def list_changed(context: bpy.types.Context, armature: bpy.types.Object) -> None:
    """Call after an operator has changed the list: keep the active row until something else is selected, and redraw.

    Also tags the armature, since overlay and Live read the evaluated one, which otherwise lacks new chains.
    """
    manager = bpy.data.window_managers[0]
    manager.twobone_selection = _mark(context.view_layer)
    armature.update_tag()
    redraw_viewports(manager)


def make_active(chain: StoredChain) -> None:
    """Make this chain active in the list and the panel."""
    stored = chain.id_data.twobone
    index = stored.chains.find(chain.name)
    if stored.active_index != index:
        assign(stored, "active_index", index)


def selected_chains(view_layer: bpy.types.ViewLayer) -> list[StoredChain]:
    """Return the stored chains of the selection, that of the active bone or object first; in Pose Mode of all armatures."""
    active = view_layer.objects.active
    if active is None:
        return []
    selected = [active, *(other for other in view_layer.objects.selected if other != active)]
    if active.type == "ARMATURE":
        posed = [rig for rig in selected if rig.type == "ARMATURE" and rig.mode == "POSE"]
        return [chain for armature in posed if active.mode == "POSE" for chain in chains_of_bones(armature)]
    armatures = [rig for rig in view_layer.id_data.objects if rig.type == "ARMATURE"]
    chains = [chain for guide in selected for armature in armatures for chain in guided_chains(armature, guide)]
    return [chain for number, chain in enumerate(chains) if chain not in chains[:number]]


def chains_of_bones(armature: bpy.types.Object) -> list[StoredChain]:
    """Return the stored chains of the armature's selected bones, that of the active bone first."""
    from ...scene.rig.chain_finding import selected_bones

    if not armature.twobone.chains:
        return []
    bones = selected_bones(armature)
    active = armature.data.bones.active
    bones.sort(key=lambda bone: bone.name != (active.name if active else ""))
    return [armature.twobone.chains[name] for name in dict.fromkeys(_names_of_chains(armature, bones))]


def _names_of_chains(armature: bpy.types.Object, bones: list[bpy.types.PoseBone]) -> Iterator[str]:
    # The active chain comes first, so that of two chains with the same bones it stays active.
    from ...scene.rig.chain_finding import is_body, limb_finder

    chains = sorted(armature.twobone.chains, key=lambda chain: chain != active_chain(armature))
    chain_of = _chains_by_bone(armature, chains)
    limbs = {(chain.upper, chain.lower): chain.name for chain in reversed(chains)}
    find = limb_finder(armature)
    for bone in bones:
        limb = None if bone.name in chain_of else find(bone)
        if bone.name in chain_of:
            yield chain_of[bone.name]
        elif limb in limbs:
            yield limbs[limb]
        elif limb is not None and limb[0] in chain_of and not is_body(bone):
            # A toe with its foot looks like a limb, but continues the stored one.
            yield chain_of[limb[0]]


def _chains_by_bone(armature: bpy.types.Object, chains: list[StoredChain]) -> dict[str, str]:
    """Return the chain's name for each bone that is part of a chain, or that is its target or pole."""
    from ...scene.rig.chain_finding import bones_between

    chain_of: dict[str, str] = {}
    for chain in chains:
        bones = bones_between(armature, chain.upper, chain.tip or chain.lower)
        for bone in bones or bones_between(armature, chain.upper, chain.lower):
            chain_of.setdefault(bone.name, chain.name)
        if chain.tip and not bones:
            chain_of.setdefault(chain.tip, chain.name)
    for chain in chains:
        for pointer, bone in BONE_GUIDES:
            if getattr(chain, pointer) == armature:
                chain_of.setdefault(getattr(chain, bone), chain.name)
    return chain_of


def chain_meant(context: bpy.types.Context, armature: bpy.types.Object) -> StoredChain:
    """Return the chain of the selected limb, adding it if it has none, else the active chain.

    Raises a `TwoBoneError` if there is neither.
    """
    unlisted = unlisted_limb(context, armature)
    if unlisted:
        return add_limb(armature, unlisted)
    return active_chain(armature) or add_selected_chain(armature)


def chains_selected(context: bpy.types.Context, table: Table, given: dict[str, Any]) -> Chains:
    """Return the chain given by name, or else all selected chains, or else the active one, with complete settings.

    Disabled ones among several selected chains are skipped. Raises a `TwoBoneError`, also if the selected limb has no stored
    chain and no target is given.
    """
    armature = active_armature(context)
    named = given.get("armature")
    if given.get("upper") or given.get("lower") or (named and (armature is None or named != armature.name)):
        return chain_named(context, table, given)
    unlisted = unlisted_limb(context, armature)
    if unlisted and not given.get("target"):
        raise SelectionError(NOT_LISTED, bone=unlisted["lower"])
    if unlisted:
        return chain_new(context, given)
    chains = meant_chains(context.view_layer, armature)
    return chains_chosen(context, table, chains, given) if len(chains) > 1 else chain_named(context, table, given)


def meant_chains(view_layer: bpy.types.ViewLayer, armature: bpy.types.Object | None) -> list[StoredChain]:
    """Return the enabled selected chains if the active one is selected, else only the active one."""
    chain = active_chain(armature)
    selected = selected_chains(view_layer)
    if chain not in selected:
        return [chain] if chain is not None else []
    return [chosen for chosen in selected if chosen.enabled or len(selected) == 1] or [chain]


def unlisted_limb(context: bpy.types.Context, armature: bpy.types.Object | None) -> dict[str, str]:
    """Return settings of a new chain for the selected bones if they are a limb without a stored chain; else empty."""
    return _unlisted(armature) if context.mode == "POSE" else {}


def _unlisted(armature: bpy.types.Object | None) -> dict[str, str]:
    from ...scene.rig.chain_finding import is_body

    if active_chain(armature) is None or armature.mode != "POSE" or chains_of_bones(armature):
        return {}
    try:
        values = selected_limb(armature)
    except TwoBoneError:
        return {}  # The selection is not a limb.
    return {} if is_body(armature.pose.bones[values["upper"]]) else values


def offered_limb(context: bpy.types.Context) -> str:
    """Return the lower bone of the selected limb if it has no stored chain, else an empty text; cheap enough for panels."""
    manager, armature = bpy.data.window_managers[0], active_armature(context)
    if _mark(context.view_layer) != manager.twobone_selection:
        return unlisted_limb(context, armature).get("lower", "")
    listed = armature is not None and any(chain.lower == manager.twobone_unlisted for chain in armature.twobone.chains)
    return "" if listed else manager.twobone_unlisted


def _mark(view_layer: bpy.types.ViewLayer) -> str:
    """Return a text that identifies the selection; empty if it does not affect the active chain."""
    from ...scene.rig.chain_finding import selection_mark

    active = view_layer.objects.active
    if active is None:
        return ""
    if active.type != "ARMATURE":
        return active.name
    return selection_mark(active) if active.mode == "POSE" and active.twobone.chains else ""


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    if depsgraph.mode == "VIEWPORT" and not scene.name.startswith(STAGE_NAME):
        follow_selection(depsgraph.view_layer)


def register() -> None:
    """Register the properties and the handler."""
    for name in KEPT:
        setattr(bpy.types.WindowManager, name, bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"}))
    depsgraph_update_post.append(_after_update)


def unregister() -> None:
    """Remove the handler and the properties."""
    depsgraph_update_post.remove(_after_update)
    for name in KEPT:
        delattr(bpy.types.WindowManager, name)
