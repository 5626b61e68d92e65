"""Short texts that change whenever keys, strips, drivers or settings of Blender's do."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import Any

import bpy

from ...array_types import Mask
from ..blender_types import AnimData, CurveBag, FCurve, NlaStrip, Object
from ..versions import curve_bag, strip_bag
from .tables import are_within, key_numbers

LENGTH = 8
"""Bytes of a digest."""

KEYED = ("co", "handle_left", "handle_right", "interpolation", "easing")
"""What of a key counts."""

LOOKS = {"name", "select", "active", "show_expanded", "mute_color", "is_valid", "error_location", "error_rotation"}
"""Properties of anything that make no difference to any motion."""

OfCurve = Callable[[FCurve], bool]
"""Whether a curve matters."""


class Digest:
    """Collects what is to be told apart, and remembers which properties are animated or driven."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=LENGTH)

    def text(self) -> str:
        """The digest of all that was added."""
        return self._hash.hexdigest()

    def add(self, *values: object) -> None:
        """Add plain values, each told from the next."""
        self._hash.update(repr(values).encode())

    def add_settings(self, thing: Any, *, without: Collection[str] = ()) -> None:
        """Add all that can be set on anything of Blender's; objects count by their names."""
        self.add(thing.bl_rna.identifier)
        for name in _settable(thing.bl_rna.identifier):
            if name not in without:
                self.add(name, plain(getattr(thing, name)))

    def add_animation(self, datablock: Object, matters: OfCurve) -> None:
        """Add all curves of a datablock that matter, in its action and its strips, and how these are mixed."""
        data: AnimData | None = datablock.animation_data
        if data is None:
            return
        bag = curve_bag(datablock)
        for fcurve in bag.fcurves if bag else ():
            if matters(fcurve):
                self.add_curve(fcurve)
        if data.action is not None:
            self.add(data.action_influence, data.action_blend_type, data.action_extrapolation)
        if data.use_nla:
            self._add_tracks(data, matters)

    def add_curve(self, fcurve: FCurve) -> None:
        """Add an F-curve, or the curve of a driver, with its keys and modifiers."""
        keys = fcurve.keyframe_points
        self.add(fcurve.data_path, fcurve.array_index, fcurve.mute, fcurve.extrapolation, len(keys), len(fcurve.sampled_points))
        self.add_keys(fcurve, slice(None))
        for modifier in fcurve.modifiers:
            self.add_settings(modifier)

    def add_keys(self, fcurve: FCurve, which: slice | Mask) -> None:
        """Add some keys of an F-curve."""
        for name in KEYED:
            self._hash.update(key_numbers(fcurve, name)[which].tobytes())

    def add_driver(self, fcurve: FCurve) -> None:
        """Add what a driver does with its variables; what they read is ignored."""
        driver = fcurve.driver
        self.add_curve(fcurve)
        self.add(driver.type, driver.expression, driver.use_self)
        for variable in driver.variables:
            self.add(variable.name, variable.type)
            for target in variable.targets:
                self.add_settings(target)

    def _add_tracks(self, data: AnimData, matters: OfCurve) -> None:
        for track in data.nla_tracks:
            strips = list(_strips(track.strips))
            curves = [[fcurve for fcurve in _strip_curves(strip) if matters(fcurve)] for strip in strips]
            if any(curves):
                self.add(track.mute, track.is_solo)
            for strip, found in zip(strips, curves, strict=True):
                if found:
                    self.add_settings(strip)
                    for fcurve in (*strip.fcurves, *found):
                        self.add_curve(fcurve)


def text_digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.blake2b(text.encode(), digest_size=LENGTH).hexdigest()


def keys_digest(bag: CurveBag, paths: Collection[str], start: float, end: float) -> str:
    """The digest of the keys from `start` to `end` on the data paths."""
    digest = Digest()
    found = [fcurve for fcurve in bag.fcurves if fcurve.data_path in paths]
    for fcurve in sorted(found, key=lambda fcurve: (fcurve.data_path, fcurve.array_index)):
        digest.add(fcurve.data_path, fcurve.array_index)
        digest.add_keys(fcurve, are_within(key_numbers(fcurve, "co")[:, 0], start, end))
    return digest.text()


def animated_paths(datablock: Object) -> set[str]:
    """Data paths that keys, strips or drivers of a datablock animate."""
    data: AnimData | None = datablock.animation_data
    if data is None:
        return set()
    bag = curve_bag(datablock)
    paths = {fcurve.data_path for fcurve in (bag.fcurves if bag else ())} | {fcurve.data_path for fcurve in data.drivers}
    strips = (strip for track in data.nla_tracks for strip in _strips(track.strips))
    return paths | {fcurve.data_path for strip in strips for fcurve in _strip_curves(strip)}


def plain(value: Any) -> object:
    """Something of Blender's as Python has it: a number, a text, names of objects, a tuple."""
    if isinstance(value, bpy.types.ID):
        return value.name
    if value is None or isinstance(value, bool | int | float | str | set):
        return sorted(value) if isinstance(value, set) else value
    if isinstance(value, bpy.types.bpy_prop_collection):
        return tuple((each.bl_rna.identifier, *(plain(getattr(each, name)) for name in _settable_of(each))) for each in value)
    try:
        return tuple(map(plain, value))
    except TypeError:
        return type(value).__name__


def _settable_of(thing: Any) -> tuple[str, ...]:
    return _settable(thing.bl_rna.identifier)


@lru_cache(maxsize=128)
def _settable(kind: str) -> tuple[str, ...]:
    """Names of what can be set on things of a type, and of the lists they hold."""
    properties = getattr(bpy.types, kind).bl_rna.properties
    return tuple(
        each.identifier
        for each in properties
        if each.identifier not in LOOKS and (not each.is_readonly or each.type == "COLLECTION") and each.identifier != "rna_type"
    )


def _strips(strips: Any) -> Iterator[NlaStrip]:
    """All strips, those inside of meta strips after their meta."""
    for strip in strips:
        yield strip
        yield from _strips(strip.strips)


def _strip_curves(strip: NlaStrip) -> list[FCurve]:
    bag = strip_bag(strip)
    return list(bag.fcurves) if bag else []
