"""Restore what a bake disturbs: the frame, and unkeyed edits.

Evaluating a scene's animation overwrites every animated channel with its curve's value, and with it whatever the user
has changed there without keying it. These edits are found beforehand and set again afterwards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy

from .blender_types import Channel, CurveBag, Object, Property, Scene
from .lookup import animated_datablocks, forget_known, resolved
from .versions import curve_bag, present_fcurves, strip_bag
from .writer import assign, assign_item, on_failure, tracks_of


def as_evaluated(thing: Object) -> Object:
    """The object with its constraints, drivers and parents evaluated, at the present frame."""
    bpy.context.view_layer.update()
    return thing.evaluated_get(bpy.context.evaluated_depsgraph_get())


def bring_up_to_date() -> None:
    """Evaluate everything at the present frame, before anything is read.

    Blender does so itself before a script's operators and between events, but not before an operator runs again from the redo
    panel: it has undone a step then and has evaluated nothing since, so that objects are at the world's origin.
    """
    forget_known()
    bpy.context.view_layer.update()


def write_animated_values() -> None:
    """Let new keys write their present values into the properties they animate, as the next redraw would.

    The undo step that Blender stores at the end of an operator then has them. Without them an object may be equal in the
    steps before and after; on undo Blender rereads only what differs, and would leave it at values that nothing animates.
    """
    bpy.context.view_layer.update()


UNCHANGED = 1e-6
"""Relative difference up to which a channel has its curve's value; single precision has 6e-8."""

SINGLE = bool | int | float | str
"""Types of values of properties without components; an enum's is its name."""

ELEMENT = re.compile(r"(?P<array>.+)\[(?P<index>\d+)\]")
"""Data path of one component of a property, as drivers name it."""


def component(path: str) -> Channel:
    """The channel at a data path that may name one component of a property, such as `location[0]`."""
    element = ELEMENT.fullmatch(path)
    return Channel(path) if element is None else Channel(element["array"], int(element["index"]))


@dataclass(frozen=True, slots=True)
class Edit:
    """A value to set, such as one that differs from its animation."""

    datablock: Object
    path: str
    index: int
    value: object


@contextmanager
def edits_kept(scene: Scene, datablocks: list[Object], except_paths: set[Property]) -> Iterator[None]:
    """Run a block that re-evaluates animation of `datablocks`, then restore their unkeyed edits.

    `except_paths`: pairs of datablock and data path that the block itself animates.
    """
    edits = [edit for datablock in datablocks for edit in unkeyed_edits(scene, datablock)]
    on_failure(partial(_evaluate_and_edit, scene, edits))
    edits = [edit for edit in edits if (edit.datablock, edit.path) not in except_paths]
    try:
        yield
    finally:
        # Otherwise the values from before would count as edits the next time.
        write_animated_values()
        if edits:
            _evaluate_and_edit(scene, edits)


def _evaluate_and_edit(scene: Scene, edits: list[Edit]) -> None:
    for layer in scene.view_layers:
        # Pending updates write animated values. Done now, they cannot overwrite the edits afterwards.
        layer.update()
    apply_edits(edits)


@contextmanager
def frame_and_edits_kept(scene: Scene) -> Iterator[None]:
    """Run a block that changes the scene's frame, then restore the frame and all unkeyed edits in the file."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    edits = [edit for datablock in animated_datablocks() for edit in unkeyed_edits(scene, datablock)]
    try:
        yield
    finally:
        # Blender reports negative subframes at negative frames, but accepts only positive ones.
        whole = math.floor(frame + subframe)
        with suppress(ReferenceError):  # A scene may have been removed while an operator runs.
            scene.frame_set(whole, subframe=frame + subframe - whole)
            if (scene.frame_current, scene.frame_subframe) != (frame, subframe):  # another add-on's handler changed it
                scene.frame_current, scene.frame_subframe = frame, subframe
        apply_edits(edits)


def unkeyed_edits(scene: Scene, datablock: Object) -> Iterator[Edit]:
    """Values of animated channels that a person has changed without keying them: they differ from their curves now."""
    # With time remapping curves are evaluated at another time than the frame that is shown.
    time = scene.frame_current_final
    data = datablock.animation_data
    if data is None:
        return
    if data.nla_tracks or data.use_tweak_mode:
        # Where strips are blended, no single curve tells what is an edit: all values count as such.
        curves = (fcurve for bag in animating_bags(datablock) for fcurve in bag.fcurves)
        yield from present_values(datablock, dict.fromkeys(map(Channel.of, curves)))
        return
    for fcurve in present_fcurves(datablock):
        value = _value(datablock, fcurve.data_path, fcurve.array_index)
        if value is not None and _differs(value, fcurve.evaluate(time)):
            yield Edit(datablock, fcurve.data_path, fcurve.array_index, value)


def present_values(datablock: Object, channels: Iterable[Channel]) -> list[Edit]:
    """Present values of channels, given as data path and index; those that lead nowhere are left out."""
    channels = list(channels)
    found = {path: resolved(datablock, path) for path in dict.fromkeys(path for path, _ in channels)}
    values = ((channel, _component(found[channel.path], channel.array_index)) for channel in channels)
    return [Edit(datablock, *channel, value) for channel, value in values if value is not None]


def animating_bags(datablock: Object) -> Iterator[CurveBag]:
    """The curves that a datablock with animation data plays: those of its action, then those of its strips."""
    bag = curve_bag(datablock)
    if bag is not None:
        yield bag
    for track in tracks_of(datablock.animation_data):
        for strip in track.strips:
            bag = strip_bag(strip)
            if bag is not None:
                yield bag


def _value(datablock: Object, path: str, index: int) -> object:
    """The channel's present value; `None` where the path leads nowhere (a renamed bone, a removed property)."""
    return _component(resolved(datablock, path), index)


def _component(value: Any, index: int) -> object:
    """The value itself, or one of its components; `None` where it has none of that index."""
    if isinstance(value, SINGLE):
        return value
    try:
        return value[index]
    except (TypeError, IndexError, KeyError):
        return None


def _differs(value: object, animated: float) -> bool:
    if isinstance(value, str):
        return True  # An enum's curve holds its number, which its name does not tell: restore it in any case.
    if isinstance(value, bool | int):
        return int(value) != int(animated)
    return abs(value - animated) > UNCHANGED * max(abs(value), abs(animated))


def apply_edits(edits: list[Edit]) -> None:
    """Set values; paths that lead nowhere any more, such as into a removed chain, are skipped."""
    for edit in edits:
        if _value(edit.datablock, edit.path, edit.index) is None:
            continue
        element = ELEMENT.fullmatch(edit.path)
        if element is not None:
            assign_item(edit.datablock.path_resolve(element["array"]), int(element["index"]), edit.value)
            continue
        is_custom = edit.path.endswith("]")
        owner, _, name = edit.path[:-2].rpartition('["') if is_custom else edit.path.rpartition(".")
        holder = edit.datablock.path_resolve(owner) if owner else edit.datablock
        name = bpy.utils.unescape_identifier(name) if is_custom else name
        present = holder[name] if is_custom else getattr(holder, name)
        if not isinstance(present, SINGLE):
            assign_item(present, edit.index, edit.value)
        elif is_custom:
            assign_item(holder, name, edit.value)
        else:
            assign(holder, name, edit.value)
