"""Complete settings from the stored chain and the rig, in the same way for operator, script and command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from ...errors import ChainError
from ...scene.blender_types import Context, Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, objects_by_name, refuse_namesake
from ...scene.rig.chain_finding import automatic_tip, chain_from_names, chain_from_selection
from ...settings import OPTIONS, BakeSettings
from ...settings.options import Kind
from .found_chain import chain_found, find_chain
from .frame_choice import with_custom_range
from .planes_of_rig import first_plane, fitting_letters
from .planning import ANIMATABLE


def free_name(wanted: str, taken: AbstractSet[str]) -> str:
    """`wanted`, with the first free number (`.001` ...) appended if the name is taken."""
    base = wanted or "Chain"
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}.{number:03}"
    return name


StoredChain: TypeAlias = Any
"""An entry of `object.twobone.chains`."""


def completed(scene: Scene, given: Mapping[str, Any], active: Object | None = None, stored: str = "") -> BakeSettings:
    """Complete settings, from those `given` by name on top of those of the chain `stored` under a name.

    Without an armature, `active` is used; without bones, the active chain in the armature's list, if there is one; without
    plane and bend, those of `first_plane`, or of `fitting_letters` if a setting of letter planes is given.
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
    given = {**with_custom_range(scene, given), "asked": frozenset(given)}
    settings = BakeSettings(**given)
    if "plane" in given or "bend" in given:
        return settings
    chosen = fitting_letters if FOR_LETTERS & given.keys() else first_plane
    return BakeSettings(**{**chosen(find_chain(settings, armature)), **given})


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


FOR_LETTERS = {"plane_space", "depth"}
"""Settings of letter planes only: given without a plane, they imply a letter plane."""


def active_object(context: Context) -> Object | None:
    """The active object, even without a window in the context."""
    return context.view_layer.objects.active if context.view_layer else None


def active_chain(armature: Object | None) -> StoredChain | None:
    """The active chain in the list of this armature; `None` without one."""
    if armature is None or armature.type != "ARMATURE":
        return None
    stored = armature.twobone
    return stored.chains[stored.active_index] if 0 <= stored.active_index < len(stored.chains) else None


def over_stored(scene: Scene, chain: StoredChain, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings given on top of a stored chain; a start or an end alone changes only that end of the chain's custom range."""
    return given if chain.frame_range == "CUSTOM" else with_custom_range(scene, given)


def stored_settings(armature: Object, chain: StoredChain, over: Mapping[str, Any]) -> BakeSettings:
    """The settings of a stored chain, overridden by those in `over`; raises `SettingError` or `ObjectError`.

    Settings animated on the chain are read per frame, unless `over` has one of them.
    """
    for thing in (armature, chain.target, chain.pole, chain.plane_object):
        if thing is not None:
            refuse_namesake(thing)
    stored = "" if any(name in over for name in ANIMATABLE) else chain.name
    return BakeSettings(**{**stored_values(armature, chain), **over, "stored": stored, "asked": frozenset(over)})


def stored_values(armature: Object, chain: StoredChain) -> dict[str, Any]:
    """The values of a stored chain under the names of `BakeSettings`; objects by name, as operators take them."""
    values: dict[str, Any] = {"armature": armature.name, "limits": limit_pairs(chain.limits)}
    for option in OPTIONS:
        if option.name != "armature":
            value = getattr(chain, option.name)
            if option.kind is Kind.OBJECT:
                value = value.name if value else ""
            values[option.name] = value
    return values


FLIPPED = "is_flipped"
"""Key in a stored chain's last report: whether the bake bent the pose to its other side, which is its own side since then."""


def was_flipped(armature: Object, stored: str) -> bool:
    """Whether the last bake of a stored chain bent the pose to its other side, so that the next bake finds it there."""
    chain = armature.twobone.chains.get(stored) if stored else None
    return chain is not None and chain.bend != "NEGATIVE" and f'"{FLIPPED}": true' in chain.report


def names_of(chain: StoredChain) -> ChainNames:
    """The bones of a stored chain; raises `ChainError` if they do not form a chain."""
    return chain_from_names(chain.id_data, chain.upper, chain.lower, chain.tip, chain.tip_end)


def limit_pairs(limits: Any) -> tuple[tuple[float, float], ...]:
    """Joint limits of a stored chain or an operator, in the form of `BakeSettings`."""
    return tuple((limit.minimum, limit.maximum) for limit in limits)


def is_in_scope(armature: Object, scope: str, active: Object | None) -> bool:
    """Whether an armature is within the scope `ACTIVE`, `SELECTED` or `SCENE`."""
    return scope == "SCENE" or (armature == active if scope == "ACTIVE" else armature.select_get())


def stored_chains(scene: Scene) -> Iterator[tuple[Object, StoredChain]]:
    """Every chain stored on an armature of the scene, with its armature; armatures sorted by name."""
    armatures = sorted((thing for thing in scene.objects if thing.type == "ARMATURE"), key=lambda thing: thing.name)
    for armature in armatures:
        for chain in armature.twobone.chains:
            yield armature, chain
