"""Find what should move something and cannot: missing linked data, missing files, drivers that do not run.

Blender opens such a file, replaces what is missing by a placeholder that does not move, and reports nothing afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import bpy

from ..blender_types import Constraint, FCurve, Object
from ..lookup import absolute_path, bone_owner, library_of
from .rig_graph import Node, dependencies, drivers_by_owner

HARMLESS = {name for name in dir(math) if not name.startswith("_")} | {
    *("abs", "all", "any", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "round", "sorted", "sum"),
    *("frame", "lerp", "clamp", "smoothstep"),
}
"""Names that an expression may use and still run where scripts may not."""


@dataclass(frozen=True, slots=True, order=True)
class Missing:
    """One thing that is missing or does not work."""

    what: str
    """Its kind and name: `object "Car"`."""
    why: str
    """The missing file, or what keeps it from working."""


def missing_above(objects: Mapping[str, Object], starts: list[Node]) -> list[Missing]:
    """Everything missing among what `starts` depend on, themselves included; sorted, without duplicates."""
    bpy.context.view_layer.update()  # Blender marks drivers as blocked only when they are to run.
    found = set[Missing]()
    for name, bone in dependencies(objects, starts).nodes:
        thing = objects[name]
        found.update(_of_bone(thing, bone) if bone else _of_object(thing))
    return sorted(found)


def _of_object(thing: Object) -> Iterator[Missing]:
    data = thing.animation_data
    actions = [data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)] if data else []
    reference = thing.override_library.reference if thing.override_library else None
    for kind, datablock in (("object", thing), ("object", reference), ("data", thing.data), *(("action", a) for a in actions)):
        yield from _if_missing(kind, datablock)
    yield from _of_constraints(thing.constraints)
    yield from _of_drivers(thing, "")


def _of_bone(armature: Object, name: str) -> Iterator[Missing]:
    bone = armature.pose.bones.get(name) if armature.pose else None
    if bone is not None:
        yield from _of_constraints(bone.constraints)
        yield from _of_drivers(armature, bone_owner(bone))


def _of_constraints(constraints: Iterable[Constraint]) -> Iterator[Missing]:
    for constraint in constraints:
        for pointer in ("action", "cache_file"):
            yield from _if_missing(pointer.replace("_", " "), getattr(constraint, pointer, None))
        cache = getattr(constraint, "cache_file", None)
        if cache is not None and not absolute_path(cache).exists():
            yield Missing(f'cache file "{cache.name}"', f'"{absolute_path(cache)}" is not there')


def _of_drivers(thing: Object, owner: str) -> Iterator[Missing]:
    for curve in drivers_by_owner(thing).get(owner, []):
        if curve.mute:
            continue
        what = f'driver of "{curve.data_path}" of "{thing.name}"'
        if _is_blocked(curve):
            yield Missing(what, "scripts may not run, see --scripts")
        elif not curve.driver.is_valid:
            yield Missing(what, "it cannot be evaluated")
        for variable in curve.driver.variables:
            for target in variable.targets:
                yield from _if_missing("datablock", target.id)


def _is_blocked(curve: FCurve) -> bool:
    """Whether a driver needs scripts, in a file whose scripts were kept from running.

    Blender reports only the first driver that it blocked. The others count as blocked where their expressions would not pass
    Blender's own check.
    """
    driver = curve.driver
    if driver.type != "SCRIPTED" or driver.is_simple_expression or not bpy.app.autoexec_fail:
        return False
    try:
        code = compile(driver.expression.strip(), "driver", "eval")
    except (SyntaxError, ValueError):
        return False  # It cannot run anywhere, and is not valid.
    own = {variable.name for variable in driver.variables}
    return not set(code.co_names) <= HARMLESS | own


def _if_missing(kind: str, datablock: Any) -> Iterator[Missing]:
    if datablock is not None and datablock.is_missing:
        yield Missing(f'{kind} "{datablock.name}"', f"{library_of(datablock).text()} does not have it, or is not there")
