"""Blender properties generated from the option tables, for operators and for stored chains.

Ranges are soft: a value out of range is refused with an error when it is used, never silently clamped.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import bpy
from bpy.app.translations import pgettext_iface

from ...pipeline.plan.stored import active_armature
from ...records import replace
from ...settings import AUTOMATIC, OPTIONS
from ...settings.options import ACTIVE, ALL, AXES, Option, OptionKind

SUBTYPES = {"LENGTH": "DISTANCE", "ANGLE": "ANGLE", "FACTOR": "FACTOR"}
"""Property subtype of each unit; `FRAMES` and `NONE` have none."""

ANIMATED = {"bend", "influence"}
"""Settings that can be keyed on the stored chain, since a bake reads them at every frame."""

NUMBERS = {
    "bend": {"POSITIVE": 1, "NEGATIVE": -1, "KEEP": 2, "AUTO": 3},
    "plane": {"XY": 0, "XZ": 1, "YZ": 2, "REST": 3, "POLE": 4, "OBJECT": 5, "POSE": 6, "AUTO": 7},
    "plane_space": {"WORLD": 0, "ARMATURE": 1, "PARENT": 2, "AUTO": 3},
    "depth": {"KEEP": 0, "FLATTEN": 1, "AUTO": 2},
    "reference": {"REST": 0, "POSE": 1, "AUTO": 2},
    "method": {"AUTO": 0, "CCD": 1, "SPRING": 2},
}
"""Numbers of the choices in files and F-Curves. The bend is the sign of its number, so its F-Curve steps at 0. Choices of
other settings are numbered in order; since files store the numbers, a new choice takes the next one, wherever it is listed."""

UNSET = {"plane": "YZ", **AUTOMATIC}
"""Values of settings that a stored chain has never been given: files do not store them, and must keep their meaning."""

NOW = -1_048_575.0
"""Value of an operator's frame that stands for the current one: the frame before Blender's first."""

CONTEXT = "Two-Bone IK"
"""Translation context of our own terms, since Blender's "Chain" is a verb and its "Plane" a mesh."""

LISTED = {"actions": "actions_listed"}
"""For a text property that scripts set, the enum property from which a user chooses it."""

listed: dict[tuple[tuple[str, str], ...], list[tuple[str, str, str, int]]] = {}
"""Cache of all enum items of actions ever shown, since Blender keeps no reference to their strings."""

numbers = {ACTIVE: 0}
"""Number of each choice of actions ever shown, so that a number keeps its meaning when actions come and go."""

OVERRIDABLE = {"LIBRARY_OVERRIDABLE"}
"""Stored properties can be changed on a library override of their armature."""


def properties_of(options: Sequence[Option]) -> dict[str, Any]:
    """Return the properties of an operator by name; objects and bones are names, since operators cannot hold pointers.

    No value is remembered between calls: what is not given comes from the stored chain or the selection.
    """
    properties = {
        option.name: _property(option, bpy.props.StringProperty, {"options": {"SKIP_SAVE"}, **_search(option)})
        for option in options
    }
    return properties | {LISTED[option.name]: _listed_actions(option) for option in options if option.kind is OptionKind.ACTIONS}


def stored_properties(changed: Callable[[Any, Any], None] | None) -> dict[str, Any]:
    """Return the properties of a stored chain by name; objects are pointers, so that they can be renamed.

    changed : called with the chain and the context after a setting was changed by hand or by a script
    """
    properties, told = {}, {"update": changed} if changed is not None else {}
    for option in OPTIONS:
        if option.name != "armature":
            animatable = {"ANIMATABLE"} if option.name in ANIMATED else set()
            kept = replace(option, default=UNSET.get(option.name, option.default))
            pointer = partial(bpy.props.PointerProperty, type=bpy.types.Object)
            properties[option.name] = _property(kept, pointer, {"options": animatable, "override": OVERRIDABLE, **told})
    return properties


def with_properties(made: dict[str, Any]) -> Callable[[type], type]:
    """Return a class decorator that adds these properties for Blender to register."""

    def add(decorated: type) -> type:
        decorated.__annotations__ = {**inspect.get_annotations(decorated), **made}
        return decorated

    return add


def given_settings(operator: bpy.types.Operator, options: Sequence[Option] = OPTIONS) -> dict[str, Any]:
    """Return the settings that were set on an operator, by name."""
    given = [option for option in options if operator.properties.is_property_set(option.name)]
    values = {option.name: getattr(operator, option.name) for option in given}
    for option in given:
        if option.kind is OptionKind.VECTOR:
            values[option.name] = tuple(values[option.name])
        elif option.default is None and values[option.name] == NOW:
            values[option.name] = None
        elif (
            option.kind is OptionKind.NUMBER and values[option.name] == operator.properties.bl_rna.properties[option.name].default
        ):
            values[option.name] = option.default  # Blender keeps it in single precision.
    return values


RANGE = frozenset({"frame_range", "frame_start", "frame_end"})
"""Settings that choose the frames."""


def show_range(operator: bpy.types.Operator, scene: bpy.types.Scene, settings: Any) -> None:
    """Show in the redo panel which frames settings mean."""
    for name in RANGE:
        setattr(operator, name, getattr(settings, name))
    offer_range(operator, scene)


def offer_range(operator: bpy.types.Operator, scene: bpy.types.Scene) -> None:
    """Initialize the start and end of a custom range, which the user may choose in the redo panel, with the scene's."""
    if operator.frame_range != "CUSTOM":
        operator.frame_range = operator.frame_range  # Mark as set, since a start without a range means a custom one.
        operator.frame_start, operator.frame_end = float(scene.frame_start), float(scene.frame_end)


def _property(option: Option, of_object: Callable[..., Any], rest: dict[str, Any]) -> Any:
    words = {"name": option.label, "description": option.text, "translation_context": CONTEXT, **rest}
    if option.kind is OptionKind.OBJECT:
        return of_object(**words)
    if option.kind in {OptionKind.BONE, OptionKind.NAME, OptionKind.PATH, OptionKind.ACTIONS}:
        return bpy.props.StringProperty(default=option.default, **words)
    if option.kind is OptionKind.VECTOR:
        return bpy.props.FloatVectorProperty(size=AXES, default=option.default, subtype="TRANSLATION", **words)
    if option.kind is OptionKind.SWITCH:
        return bpy.props.BoolProperty(default=option.default, **words)
    if option.kind is OptionKind.CHOICE:
        numbers = NUMBERS.get(option.name) or {choice.value: number for number, choice in enumerate(option.choices)}
        items = [(choice.value, choice.label, choice.text, numbers[choice.value]) for choice in option.choices]
        return bpy.props.EnumProperty(items=items, default=option.default, **words)
    return bpy.props.FloatProperty(default=NOW if option.default is None else option.default, **words, **_number_style(option))


def offered_objects(object_types: Sequence[str], typed: str) -> list[str]:
    """Return the sorted names of objects of these types that contain the typed text, ignoring case."""
    names = (thing.name for thing in bpy.data.objects if thing.type in object_types)
    return sorted(name for name in names if typed.casefold() in name.casefold())


def _search(option: Option) -> dict[str, Any]:
    """Return the `search` argument of a property for an object, limited to the setting's types; empty for other settings."""
    if not option.object_types:
        return {}

    def offered(_operator: bpy.types.Operator, _context: bpy.types.Context, typed: str) -> list[str]:
        return offered_objects(option.object_types, typed)

    return {"search": offered}


def show_listed(given: bpy.types.OperatorProperties) -> None:
    """Show text properties that were set on an operator in the enum properties of the redo panel."""
    for name, shown in LISTED.items():
        if hasattr(given, shown) and given.is_property_set(name) and getattr(given, name):  # Blender lists no empty name.
            setattr(given, shown, getattr(given, name))


def _listed_actions(option: Option) -> Any:
    """Return an enum property of the present action, all actions, the armature's actions, and names given by a script."""

    def items(operator: bpy.types.Operator, _context: bpy.types.Context) -> list[tuple[str, str, str, int]]:
        from ...pipeline.chosen_actions import SEPARATOR
        from ...scene.actions import actions_of

        armature = bpy.data.objects.get(getattr(operator, "armature", "")) or active_armature(bpy.context)
        is_rig = armature is not None and armature.type == "ARMATURE"
        choices = {ACTIVE: pgettext_iface("Present Action"), ALL: pgettext_iface("All Actions")}
        choices |= {
            action.name.replace(SEPARATOR, 2 * SEPARATOR): action.name for action in (actions_of(armature) if is_rig else ())
        }
        given = getattr(operator, option.name)
        choices |= {given: given} if given and given not in choices else {}
        made = [(value, text, "", numbers.setdefault(value, len(numbers))) for value, text in choices.items()]
        return listed.setdefault(tuple(choices.items()), made)

    def choose(operator: bpy.types.Operator, _context: bpy.types.Context) -> None:
        setattr(operator, option.name, getattr(operator, LISTED[option.name]))

    return bpy.props.EnumProperty(
        name=option.label,
        description="Whose keys are meant. Unless it is the present action, each has its own range",
        items=items,
        update=choose,
        translation_context=CONTEXT,
        options={"SKIP_SAVE", "HIDDEN"},  # Only for users; scripts set the text property.
    )


def _number_style(option: Option) -> dict[str, Any]:
    style: dict[str, Any] = {"precision": 3}
    if option.unit in SUBTYPES:
        style["subtype"] = SUBTYPES[option.unit]
    if option.unit == "FRAMES":
        style |= {"precision": 1, "step": 100}
    if math.isfinite(option.minimum):
        style["soft_min"] = option.minimum
    if math.isfinite(option.maximum):
        style["soft_max"] = option.maximum
    return style
