"""From which frame to which something moves: the keys of all that it depends on, where plain keys alone move it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import bpy
import numpy as np

from ..blender_types import FCurve, Object
from ..keys.reading import read_frames
from ..lookup import bone_owner, owner_of
from .animation_reading import is_flat, steers_bones
from .rig_graph import Node, RigGraph, bone_of, holds_still, is_by_transforms, is_simple_driver, parent_is_rigid

Span = tuple[float, float]


class _OtherMotionError(Exception):
    """Something moves that keys alone do not tell."""


def motion_span(starts: Sequence[Node], graph: RigGraph | None = None) -> Span | None:
    """First and last frame of the keys of all that moves `starts`: before and after, everything holds still.

    `None` where nothing has keys, and where anything else may move them: strips, modifiers, sloped extrapolation, drivers of
    the time, simulations, paths. Then the motion has no ends of its own.
    """
    graph = graph or RigGraph()
    needed = graph.above(list(starts))
    if needed.reads_scene:
        return None
    curves: set[FCurve] = set()
    try:
        for node in needed.nodes:
            curves.update(_curves_moving(graph, node))
    except _OtherMotionError:
        return None
    frames = [ends for ends in map(read_frames, curves) if len(ends)]
    return (min(float(keys[0]) for keys in frames), max(float(keys[-1]) for keys in frames)) if frames else None


def within_motion(span: Span | None, bounds: Span) -> Span:
    """The whole frames of `bounds` that hold all of the motion in `span`; `bounds` where the motion has no ends of its own."""
    if span is None:
        return bounds
    first, last = max(bounds[0], float(np.floor(span[0]))), min(bounds[1], float(np.ceil(span[1])))
    return (first, last) if last > first else bounds


def _curves_moving(graph: RigGraph, node: Node) -> Iterator[FCurve]:
    """The curves that move an object by itself, or a bone; raises `_OtherMotionError` where something else may."""
    thing = graph.objects[node[0]]
    bone, animation = bone_of(thing, node), graph.animation(thing)
    constraints, owner = (thing.constraints, "") if bone is None else (bone.constraints, bone_owner(bone))
    is_steered = bone is not None and (thing.data.is_editmode or steers_bones(thing.data))
    if (
        animation.mixed
        or is_steered
        or not all(map(is_by_transforms, constraints))
        or (bone is None and not parent_is_rigid(thing))
    ):
        raise _OtherMotionError
    for path, curves in animation.curves.items():
        if owner_of(path) == owner:
            yield from _held_outside(curves.values())
    for driver in graph.drivers(thing, owner):
        yield from _curves_read(graph, driver)


def _held_outside(curves: Iterator[FCurve] | Sequence[FCurve]) -> Iterator[FCurve]:
    """Curves that hold their values before their first and after their last key; raises `_OtherMotionError` for others."""
    for curve in curves:
        if curve.modifiers or curve.sampled_points or (curve.extrapolation != "CONSTANT" and not is_flat(curve)):
            raise _OtherMotionError
        yield curve


def _curves_read(graph: RigGraph, driver: FCurve) -> Iterator[FCurve]:
    """The curves of the properties that a driver reads; what else it reads is among the dependencies themselves."""
    if not is_simple_driver(driver):
        raise _OtherMotionError
    for variable in driver.driver.variables:
        if variable.type in {"TRANSFORMS", "ROTATION_DIFF", "LOC_DIFF"}:
            continue
        read = variable.targets[0]
        if (
            variable.type != "SINGLE_PROP"
            or read.id is None
            or isinstance(read.id, bpy.types.Scene)
            or not holds_still(read.data_path)
        ):
            raise _OtherMotionError
        yield from _held_outside(list(_curves_at(graph, read.id, read.data_path)))


def _curves_at(graph: RigGraph, datablock: Object, path: str) -> Iterator[FCurve]:
    """The curves of a property, or of what it is a component of; raises `_OtherMotionError` where something else sets it."""
    animation = graph.animation(datablock)
    data = datablock.animation_data
    driven = data is not None and any(path.startswith(driver.data_path) for driver in data.drivers)
    if animation.mixed or driven:
        raise _OtherMotionError
    yield from chain.from_iterable(curves.values() for other, curves in animation.curves.items() if path.startswith(other))
