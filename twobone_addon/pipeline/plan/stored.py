"""Read the chains that are stored on armatures, as every button and handler does: without NumPy, and soon imported."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from ...errors import ChainError, ObjectError
from ...said import Sentence
from ...scene.blender_types import Context, Object, Scene
from ...scene.lookup import LOST, NOTHING_CHOSEN, refuse_namesake
from ...settings import AUTO, AUTOMATIC, OPTIONS, BakeSettings
from ...settings.options import OptionKind

StoredChain: TypeAlias = Any
"""An entry of `object.twobone.chains`."""

ANIMATABLE = ("influence", "bend")
"""Settings of a stored chain that are read per frame where they are animated."""

FLIPPED = "is_flipped"
"""Key in a stored chain's last report: whether the bake bent the pose to its other side, which is its own side since then."""


def stored_chains(scene: Scene) -> Iterator[StoredChain]:
    """Every chain stored on an armature of the scene, whose `id_data` it is; armatures sorted by name."""
    armatures = sorted((thing for thing in scene.objects if thing.type == "ARMATURE"), key=lambda thing: thing.name)
    for armature in armatures:
        yield from armature.twobone.chains


def active_chain(armature: Object | None) -> StoredChain | None:
    """The active chain in the list of this armature; `None` without one."""
    if armature is None or armature.type != "ARMATURE":
        return None
    stored = armature.twobone
    return stored.chains[stored.active_index] if 0 <= stored.active_index < len(stored.chains) else None


def active_object(context: Context) -> Object | None:
    """The active object, even without a window in the context."""
    return context.view_layer.objects.active if context.view_layer else None


MODES = {"OBJECT", "POSE"}
"""Modes of Blender in which a task can run."""

GUIDES = ("target", "pole", "plane_object")
"""Properties of a chain that point to objects which the user moves while working on it."""


def active_armature(context: Context) -> Object | None:
    """The active armature, or one with a chain that uses the active object as target, pole or plane.

    Of several armatures, one whose active chain uses the object comes first. `None` without an active object; an object that
    no chain uses is returned as it is, to be refused by its name.
    """
    active = active_object(context)
    if active is None or active.type == "ARMATURE":
        return active
    guided = [rig for rig in context.scene.objects if rig.type == "ARMATURE" and guided_chains(rig, active)]
    return next((rig for rig in guided if active_chain(rig) in guided_chains(rig, active)), guided[0] if guided else None)


def guided_chains(armature: Object, guide: Object) -> list[StoredChain]:
    """The armature's chains that use an object as target, pole or plane, the active chain first."""
    chains = [chain for chain in armature.twobone.chains if any(getattr(chain, name) == guide for name in GUIDES)]
    return sorted(chains, key=lambda chain: chain != active_chain(armature))


NONE_STORED = 'Armature "{armature}" has no stored chain, so none is "{chain}". Name its bones, or add its limbs with Find Limbs.'


def chain_stored(armature: Object, name: str) -> StoredChain:
    """The chain that is stored on an armature under a name; raises `ChainError` where there is none."""
    chain = armature.twobone.chains.get(name)
    if chain is None:
        known = ", ".join(f'"{stored.name}"' for stored in armature.twobone.chains)
        if not known:
            raise ChainError(NONE_STORED, armature=armature.name, chain=name)
        raise ChainError(
            'Armature "{armature}" has no stored chain "{chain}". Use the name of one that it has ({known}).',
            armature=armature.name,
            chain=name,
            known=known,
        )
    return chain


def lost_target(chain: StoredChain) -> str | None:
    """Name of the target that a stored chain has lost, empty where nobody knows it; `None` if it has one, or never had one.

    A chain without a target that was baked before, or that names a target bone, has lost its target, as has one whose target
    was seen to be deleted.
    """
    if chain.target is not None or not (chain.target_bone or chain.report or chain.lost_target):
        return None
    return chain.lost_target or str(last_report(chain).get("target", ""))


def never_had_target(chain: StoredChain) -> bool:
    """Whether a stored chain has no target and never had one, as after Find Limbs: batches leave it out, and say so."""
    return chain.target is None and lost_target(chain) is None


def refuse_lost(chain: StoredChain) -> None:
    """Raise `ObjectError` for a stored chain that has lost its target, with its name where that is known."""
    lost = lost_target(chain)
    if lost:
        raise ObjectError(LOST, role=Sentence("Target"), object=lost)
    if lost is not None:
        raise ObjectError(NOTHING_CHOSEN, role=Sentence("target"))


def last_report(chain: StoredChain) -> dict[str, Any]:
    """What the chain's last bake has reported; empty without one, and where somebody has written something else there."""
    try:
        report = json.loads(chain.report or "{}")
    except ValueError:
        return {}
    return report if isinstance(report, dict) else {}


def is_in_scope(armature: Object, scope: str, active: Object | None) -> bool:
    """Whether an armature is within the scope `ACTIVE`, `SELECTED` or `SCENE`."""
    return scope == "SCENE" or (armature == active if scope == "ACTIVE" else armature.select_get())


def stored_settings(armature: Object, chain: StoredChain, over: Mapping[str, Any]) -> BakeSettings:
    """The settings of a stored chain, overridden by those in `over`; raises `SettingError` or `ObjectError`.

    Settings animated on the chain are read per frame, unless `over` has one of them.
    """
    for thing in (armature, chain.target, chain.pole, chain.plane_object):
        if thing is not None:
            refuse_namesake(thing)
    over = explicit(over)
    stored = "" if any(name in over for name in ANIMATABLE) else chain.name
    values = {**stored_values(armature, chain), **over, "stored": stored, "asked": frozenset(over)}
    settings = BakeSettings(**values)
    if all(getattr(settings, name) != AUTO for name in ("plane", *AUTOMATIC)):
        return settings
    from .planes_of_rig import decided  # noqa: PLC0415 - with NumPy, which chains need only for what is automatic

    return decided(settings, armature)


def explicit(given: Mapping[str, Any]) -> dict[str, Any]:
    """The given settings without those that are automatic, which is the same as leaving them out."""
    return {name: value for name, value in given.items() if not (value == AUTO and (name in AUTOMATIC or name == "plane"))}


def stored_values(armature: Object, chain: StoredChain) -> dict[str, Any]:
    """The values of a stored chain under the names of `BakeSettings`; objects by name, as operators take them."""
    values: dict[str, Any] = {"armature": armature.name, "limits": limit_pairs(chain.limits)}
    for option in OPTIONS:
        if option.name != "armature":
            value = getattr(chain, option.name)
            if option.kind is OptionKind.OBJECT:
                value = value.name if value else ""
            values[option.name] = value
    return values


def limit_pairs(limits: Any) -> tuple[tuple[float, float], ...]:
    """Joint limits of a stored chain or an operator, in the form of `BakeSettings`."""
    return tuple((limit.minimum, limit.maximum) for limit in limits)


def was_flipped(armature: Object, stored: str) -> bool:
    """Whether the last bake of a stored chain bent the pose to its other side, so that the next bake finds it there."""
    chain = armature.twobone.chains.get(stored) if stored else None
    return chain is not None and chain.bend != "NEGATIVE" and f'"{FLIPPED}": true' in chain.report


def over_stored(scene: Scene, chain: StoredChain, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings given on top of a stored chain; a start or an end alone changes only that end of the chain's custom range."""
    return given if chain.frame_range == "CUSTOM" else with_custom_range(scene, given)


def with_custom_range(scene: Scene, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Settings by name, with a custom range if only a start or an end is given; the scene's range supplies the other end."""
    if "frame_range" in given or not {"frame_start", "frame_end"} & given.keys():
        return given
    whole = {"frame_start": float(scene.frame_start), "frame_end": float(scene.frame_end)}
    return {**whole, **given, "frame_range": "CUSTOM"}


def fresh_range(scene: Scene) -> dict[str, str | float]:
    """Range settings of a new chain: automatic, and the scene's range as the initial custom range."""
    return {"frame_range": "AUTO", "frame_start": float(scene.frame_start), "frame_end": float(scene.frame_end)}


def free_name(asked: str, taken: AbstractSet[str]) -> str:
    """`asked`, with the first free number (`.001` ...) appended if the name is taken."""
    base = asked or "Chain"
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}.{number:03}"
    return name
