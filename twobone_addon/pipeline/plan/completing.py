"""Complete settings from the stored chain and the rig, in the same way for operator, script and command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import ChainError
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, objects_by_name
from ...scene.rig.chain_finding import automatic_tip, chain_from_names, chain_from_selection
from ...settings import BakeSettings
from .found_chain import chain_found
from .planes_of_rig import decided, first_plane
from .stored import StoredChain, active_chain, explicit, over_stored, stored_settings, with_custom_range


def completed(scene: Scene, given: Mapping[str, Any], active: Object | None = None, stored: str = "") -> BakeSettings:
    """Complete settings, from those `given` by name on top of those of the chain `stored` under a name.

    Without an armature, `active` is used; without bones, the active chain in the armature's list, if there is one; what is
    left `AUTO` is chosen by `decided`.
    Raises a `TwoBoneError` if something needed is missing.
    """
    if stored:
        armature = find_armature(given.get("armature", ""), active)
        if stored not in armature.twobone.chains:
            raise ChainError(
                'Armature "{armature}" has no stored chain "{chain}". Choose one from its list.',
                armature=armature.name,
                chain=stored,
            )
        return stored_settings(armature, armature.twobone.chains[stored], given)
    armature = objects_by_name().get(given["armature"]) if given.get("armature") else active
    chain = active_chain(armature)
    if armature is not None and chain is not None and not (given.get("upper") or given.get("lower")):
        return stored_settings(armature, chain, over_stored(scene, chain, given))
    return fresh_settings(scene, given, armature)


def fresh_settings(scene: Scene, given: Mapping[str, Any], armature: Object | None) -> BakeSettings:
    """The settings of a chain that is not stored: bones as given or selected, plane and bend as for a new chain."""
    asked = explicit(with_custom_range(scene, given))
    return decided(BakeSettings(**asked, asked=frozenset(asked)), armature)


def fresh_chain(armature: Object) -> dict[str, str]:
    """Settings of a new chain for the selected bones: bones, tip, and its plane, see `first_plane`.

    The tip is left empty (automatic) unless a third bone is selected. Raises a `TwoBoneError` if the selection
    does not identify a chain.
    """
    names = chain_from_selection(armature)
    automatic = automatic_tip(armature.pose.bones[names.lower], "AUTO")
    return {
        "upper": names.upper,
        "lower": names.lower,
        "tip": "" if automatic == (names.tip, names.tip_at_tail) else names.tip,
        **first_plane(chain_found(armature, names)),
    }


def names_of(chain: StoredChain) -> ChainNames:
    """The bones of a stored chain; raises `ChainError` if they do not form a chain."""
    return chain_from_names(chain.id_data, chain.upper, chain.lower, chain.tip, chain.tip_end)
