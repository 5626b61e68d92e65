"""Backup of the chains stored on library overrides, which would be lost when the file is opened again.

Since Blender 5.0, a property group on an override is lost if the library has none of it, but a string property is not. So
the group is written to a string before the file is saved, and missing values are read back after it was loaded.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import bpy
from bpy.app.handlers import load_post, persistent, save_pre


def kept_values(group: bpy.types.PropertyGroup) -> dict[str, Any]:
    """Return all values set in a property group as JSON data, objects as name and library path."""
    values: dict[str, Any] = {}
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name == "rna_type" or (prop.is_readonly and prop.type != "COLLECTION") or not group.is_property_set(name):
            continue
        value = getattr(group, name)
        if prop.type == "COLLECTION":
            values[name] = [kept_values(item) for item in value]
        elif prop.type == "POINTER":
            values[name] = [value.name, value.library.filepath if value.library else None] if value else None
        else:
            values[name] = list(value) if getattr(prop, "is_array", False) else value
    return values


def give_back(group: bpy.types.PropertyGroup, values: Mapping[str, Any]) -> None:
    """Restore the values from `kept_values`: append the missing items of collections; a missing object becomes `None`."""
    known = group.bl_rna.properties
    for name, value in values.items():
        if name not in known:  # Saved by another version.
            continue
        if known[name].type == "COLLECTION":
            items = getattr(group, name)
            for entry in value[len(items) :]:
                give_back(items.add(), entry)
        elif known[name].type == "POINTER":
            # By name and library: linked objects may have the names of others.
            setattr(group, name, bpy.data.objects.get(tuple(value)) if value else None)
        else:
            setattr(group, name, value)


def _overrides() -> Iterator[bpy.types.Object]:
    return (thing for thing in bpy.data.objects if thing.override_library is not None and thing.type == "ARMATURE")


@persistent
def _before_saving(*_: Any) -> None:
    for armature in _overrides():
        values = kept_values(armature.twobone)
        text = json.dumps(values) if values.get("chains") else ""
        if armature.twobone_kept != text:
            armature.twobone_kept = text


@persistent
def _after_loading(*_: Any) -> None:
    for armature in _overrides():
        values = json.loads(armature.twobone_kept) if armature.twobone_kept else {}
        if len(values.get("chains", ())) > len(armature.twobone.chains):
            give_back(armature.twobone, values)


def register() -> None:
    """Register the string property and the handlers."""
    bpy.types.Object.twobone_kept = bpy.props.StringProperty(
        name="Kept",
        description="All that is stored on an override, as JSON",
        options={"HIDDEN"},
        override={"LIBRARY_OVERRIDABLE"},
    )
    save_pre.append(_before_saving)
    load_post.append(_after_loading)


def unregister() -> None:
    """Remove the handlers and the property; values already saved in files remain there."""
    load_post.remove(_after_loading)
    save_pre.remove(_before_saving)
    del bpy.types.Object.twobone_kept
