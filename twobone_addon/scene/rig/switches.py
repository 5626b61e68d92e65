"""What switches a limb from IK to FK: properties that drive influences, found by trying them, and influences themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ..blender_types import Object, ViewLayer
from ..moves.stillness import Stillness
from ..walk.doubles import point_to_itself
from .chain_finding import ChainNames
from .showing import Hindrance, hindrances

STAGE_NAME = ".twobone_trial"

TRIED = (1.0, 0.0)
"""Values of a property that switches something."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A property of an armature object, and what it has to be."""

    path: str
    value: float


def fk_settings(armature: Object, names: ChainNames) -> list[Setting]:
    """What has to be set so that all that is seen of a limb follows the chain; empty where it does, or nothing would help.

    Properties are tried on a copy of the armature.
    """
    found: dict[str, float] = {}
    asked: dict[str, None] = {}
    for hindrance in hindrances(armature, names):
        driving = driving_properties(armature, hindrance)
        if driving is None:
            found |= _undriven(armature, hindrance)
        asked |= dict.fromkeys(driving or ())
    if asked:
        found |= _helpful_values(armature, names, asked)
    return [Setting(path, value) for path, value in found.items()]


def influences_change(armature: Object, deciding: Iterable[tuple[str, str]]) -> bool:
    """Whether any of these influences, each given by its bone and constraint, may change over time."""
    stillness = Stillness()
    paths = (_constraint_path(Hindrance(bone, constraint, acts=True)) for bone, constraint in deciding)
    return not all(stillness.keeps(armature, f"{path}.{name}") for path in paths for name in ("influence", "mute"))


def set_value(armature: Object, path: str, value: float) -> None:
    """Give a property a number, of the kind that it holds."""
    present = armature.path_resolve(path)
    number = type(present)(value)
    if path.endswith("]"):
        owner, _, key = path[:-2].rpartition('["')
        holder = armature.path_resolve(owner) if owner else armature
        holder[bpy.utils.unescape_identifier(key)] = number
    else:
        owner, _, name = path.rpartition(".")
        setattr(armature.path_resolve(owner) if owner else armature, name, number)
    armature.update_tag()


def _constraint_path(hindrance: Hindrance) -> str:
    bone, constraint = (bpy.utils.escape_identifier(name) for name in (hindrance.bone, hindrance.constraint))
    return f'pose.bones["{bone}"].constraints["{constraint}"]'


def driving_properties(armature: Object, hindrance: Hindrance) -> list[str] | None:
    """Properties of the armature that drive a constraint; `None` where nothing drives it."""
    prefix, data = f"{_constraint_path(hindrance)}.", armature.animation_data
    drivers = [fcurve.driver for fcurve in data.drivers if fcurve.data_path.startswith(prefix)] if data else []
    if not drivers:
        return None
    return [
        target.data_path
        for driver in drivers
        for variable in driver.variables
        if variable.type == "SINGLE_PROP"
        for target in variable.targets
        if target.id == armature and isinstance(_value(armature, target.data_path), bool | int | float)
    ]


def _undriven(armature: Object, hindrance: Hindrance) -> dict[str, float]:
    """The constraint's own influence, and whether it is muted."""
    path = _constraint_path(hindrance)
    if hindrance.acts:
        return {f"{path}.influence": 0.0}
    muted = armature.path_resolve(path).mute
    return {f"{path}.influence": 1.0, **({f"{path}.mute": 0.0} if muted else {})}


def _helpful_values(armature: Object, names: ChainNames, paths: Iterable[str]) -> dict[str, float]:
    """Those of the properties that let fewer things hinder the limb than now, with the value that does."""
    helpful: dict[str, float] = {}
    with trial(armature) as (thing, layer):
        fewest = _count_hindrances(thing, layer, names)
        for path in paths:
            best = thing.path_resolve(path)
            for value in TRIED:
                set_value(thing, path, value)
                left = _count_hindrances(thing, layer, names)
                if left < fewest:
                    fewest, best = left, value
                    helpful[path] = value
            set_value(thing, path, best)
    return helpful


def _count_hindrances(thing: Object, layer: ViewLayer, names: ChainNames) -> int:
    layer.update()
    return len(hindrances(thing.evaluated_get(layer.depsgraph), names))


@contextmanager
def trial(armature: Object) -> Iterator[tuple[Object, ViewLayer]]:
    """A copy of the armature without animation, but with its drivers, in a scene of its own."""
    stage, thing = bpy.data.scenes.new(STAGE_NAME), armature.copy()
    try:
        data = thing.animation_data
        if data is not None:
            data.use_tweak_mode = False
            data.action = None
            for track in list(data.nla_tracks):
                data.nla_tracks.remove(track)
        point_to_itself(thing, armature)
        stage.collection.objects.link(thing)
        yield thing, stage.view_layers[0]
    finally:
        bpy.data.objects.remove(thing)
        bpy.data.scenes.remove(stage)


def _value(armature: Object, path: str) -> object:
    """What a data path leads to; `None` where it leads nowhere."""
    try:
        return armature.path_resolve(path)
    except ValueError:
        return None
