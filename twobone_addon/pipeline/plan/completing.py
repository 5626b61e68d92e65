"""What is not said is taken from the stored chain and from the rig: the same for operator, script and command line."""

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
    """`wanted`, or the same with the first number (`.001` ...) that is not taken."""
    base = wanted or "Chain"
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}.{number:03}"
    return name


StoredChain: TypeAlias = Any
"""An entry of `object.twobone.chains`."""


def completed(scene: Scene, given: Mapping[str, Any], active: Object | None = None, stored: str = "") -> BakeSettings:
    """The settings meant by those that were `given` by name, on top of those of the chain that is `stored` under a name.

    Without an armature, `active` is meant; without bones, the chain that is active in the armature's list, if there is
    one; without plane and bend, those of `first_plane`, or of `fitting_letters` if something about a letter plane is given.
    Raises a `TwoBoneError` where that needs something that is not there.
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
    """The settings of a chain that is not stored: its bones as given or selected, plane and bend as for a fresh chain."""
    given = {**with_custom_range(scene, given), "asked": frozenset(given)}
    settings = BakeSettings(**given)
    if "plane" in given or "bend" in given:
        return settings
    chosen = fitting_letters if FOR_LETTERS & given.keys() else first_plane
    return BakeSettings(**{**chosen(find_chain(settings, armature)), **given})


def fresh_chain(armature: Object) -> dict[str, str]:
    """Settings of a new chain for the selected bones: bones, tip, and its plane, see `first_plane`.

    The tip is left empty (automatic) unless a third bone is selected. Raises a `TwoBoneError` where the selection
    means no chain.
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
"""Settings that mean a letter plane: who gives them without a plane has one in mind."""


def active_object(context: Context) -> Object | None:
    """The active object, also where no window is in context."""
    return context.view_layer.objects.active if context.view_layer else None


def active_chain(armature: Object | None) -> StoredChain | None:
    """The chain that is active in the list of this armature."""
    if armature is None or armature.type != "ARMATURE":
        return None
    stored = armature.twobone
    return stored.chains[stored.active_index] if 0 <= stored.active_index < len(stored.chains) else None


def over_stored(scene: Scene, chain: StoredChain, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is given on top of a stored chain; a start or an end alone changes that end of the chain's own custom range."""
    return given if chain.frame_range == "CUSTOM" else with_custom_range(scene, given)


def stored_settings(armature: Object, chain: StoredChain, over: Mapping[str, Any]) -> BakeSettings:
    """The settings of a stored chain, with those in `over` instead of its own; raises `SettingError` or `ObjectError`.

    What is animated on the chain is read per frame, unless `over` says otherwise about it.
    """
    for thing in (armature, chain.target, chain.pole, chain.plane_object):
        if thing is not None:
            refuse_namesake(thing)
    stored = "" if any(name in over for name in ANIMATABLE) else chain.name
    return BakeSettings(**{**stored_values(armature, chain), **over, "stored": stored, "asked": frozenset(over)})


def stored_values(armature: Object, chain: StoredChain) -> dict[str, Any]:
    """What a stored chain holds under the names of `BakeSettings`; objects by name, as operators take them."""
    values: dict[str, Any] = {"armature": armature.name, "limits": limit_pairs(chain.limits)}
    for option in OPTIONS:
        if option.name != "armature":
            value = getattr(chain, option.name)
            if option.kind is Kind.OBJECT:
                value = value.name if value else ""
            values[option.name] = value
    return values


FLIPPED = "is_flipped"
"""In what a stored chain keeps of its last bake: whether that took the pose's other side, which is its own since then."""


def was_flipped(armature: Object, stored: str) -> bool:
    """Whether the last bake of a stored chain made the other side the pose's own, so that this pose is what the next finds."""
    chain = armature.twobone.chains.get(stored) if stored else None
    return chain is not None and chain.bend != "NEGATIVE" and f'"{FLIPPED}": true' in chain.report


def names_of(chain: StoredChain) -> ChainNames:
    """The bones of a stored chain; raises `ChainError` where they do not form one."""
    return chain_from_names(chain.id_data, chain.upper, chain.lower, chain.tip, chain.tip_end)


def limit_pairs(limits: Any) -> tuple[tuple[float, float], ...]:
    """Joint limits, stored or on an operator, as `BakeSettings` has them."""
    return tuple((limit.minimum, limit.maximum) for limit in limits)


def is_in_scope(armature: Object, scope: str, active: Object | None) -> bool:
    """Whether the chains of an armature are meant by `ACTIVE`, `SELECTED` or `SCENE`."""
    return scope == "SCENE" or (armature == active if scope == "ACTIVE" else armature.select_get())


def stored_chains(scene: Scene) -> Iterator[tuple[Object, StoredChain]]:
    """Every chain stored on an armature of the scene, with its armature, armatures by name."""
    armatures = sorted((thing for thing in scene.objects if thing.type == "ARMATURE"), key=lambda thing: thing.name)
    for armature in armatures:
        for chain in armature.twobone.chains:
            yield armature, chain
