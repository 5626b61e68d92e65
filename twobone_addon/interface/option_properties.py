"""Blender properties made from the table of settings, for operators and for stored chains.

Ranges are soft: a value out of range is refused with a sentence when it is used, never clamped silently.
"""

import math
from collections.abc import Callable
from typing import Any

import bpy

from ..settings import OPTIONS, BakeSettings, Kind, Option

SUBTYPES = {"LENGTH": "DISTANCE", "ANGLE": "ANGLE", "FACTOR": "FACTOR"}
"""Blender's name for a unit; `FRAMES` and `NONE` have none."""


def operator_properties() -> dict[str, Any]:
    """Name to property; objects and bones by name, as operators cannot hold pointers."""
    return {option.name: _property(option, bpy.props.StringProperty) for option in OPTIONS}


def stored_properties() -> dict[str, Any]:
    """Name to property for a stored chain; objects are pointers, so that renaming them keeps the chain whole."""
    return {option.name: _property(option, _object_pointer) for option in OPTIONS if option.name != "armature"}


def with_properties(made: dict[str, Any]) -> Callable[[type], type]:
    """Class decorator that adds properties to what Blender registers."""

    def add(decorated: type) -> type:
        decorated.__annotations__ = {**decorated.__dict__.get("__annotations__", {}), **made}
        return decorated

    return add


def operator_settings(operator: bpy.types.Operator) -> BakeSettings:
    """The settings that an operator's properties hold; raises `SettingError`."""
    return BakeSettings(**{option.name: getattr(operator, option.name) for option in OPTIONS})


def _property(option: Option, of_object: Callable[..., Any]) -> Any:
    words = {"name": option.label, "description": option.text}
    if option.kind is Kind.OBJECT:
        return of_object(**words)
    if option.kind is Kind.BONE:
        return bpy.props.StringProperty(**words)
    if option.kind is Kind.SWITCH:
        return bpy.props.BoolProperty(default=option.default, **words)
    if option.kind is Kind.CHOICE:
        items = [(choice.value, choice.label, choice.text) for choice in option.choices]
        return bpy.props.EnumProperty(items=items, default=option.default, **words)
    return bpy.props.FloatProperty(default=option.default, **words, **_number_style(option))


def _number_style(option: Option) -> dict[str, Any]:
    style: dict[str, Any] = {"precision": 3}
    if option.unit in SUBTYPES:
        style["subtype"] = SUBTYPES[option.unit]
    if math.isfinite(option.minimum):
        style["soft_min"] = option.minimum
    if math.isfinite(option.maximum):
        style["soft_max"] = option.maximum
    return style


def _object_pointer(**words: Any) -> Any:
    return bpy.props.PointerProperty(type=bpy.types.Object, **words)
