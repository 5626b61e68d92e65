"""Names for Blender's types in annotations.

Blender's Python types grow with each version and its stubs follow one of them, so these names say what is meant
without tying the code to one version's stubs.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

Object: TypeAlias = Any
"""`bpy.types.Object`"""
Scene: TypeAlias = Any
"""`bpy.types.Scene`"""
Context: TypeAlias = Any
"""`bpy.types.Context`"""
Bone: TypeAlias = Any
"""`bpy.types.Bone`"""
PoseBone: TypeAlias = Any
"""`bpy.types.PoseBone`"""
EditBone: TypeAlias = Any
"""`bpy.types.EditBone`"""
Constraint: TypeAlias = Any
"""`bpy.types.Constraint`"""
Action: TypeAlias = Any
"""`bpy.types.Action`"""
AnimData: TypeAlias = Any
"""`bpy.types.AnimData`"""
NlaTrack: TypeAlias = Any
"""`bpy.types.NlaTrack`"""
NlaStrip: TypeAlias = Any
"""`bpy.types.NlaStrip`"""
FCurve: TypeAlias = Any
"""`bpy.types.FCurve`"""
CurveBag: TypeAlias = Any
"""Holder of `fcurves` and `groups`: an `Action` before 4.4, an `ActionChannelbag` since."""
ViewLayer: TypeAlias = Any
"""`bpy.types.ViewLayer`"""
NodeTree: TypeAlias = Any
"""`bpy.types.NodeTree`"""


class Property(NamedTuple):
    """A property of Blender's data."""

    owner: Object
    """The datablock."""
    path: str
    """Its data path there."""


class Channel(NamedTuple):
    """A number that an F-curve animates."""

    path: str
    """Data path of the property."""
    array_index: int = 0
    """Index in the property; 0 for a single number."""

    @classmethod
    def of(cls, fcurve: FCurve) -> Channel:
        """The channel that an F-curve animates."""
        return cls(fcurve.data_path, fcurve.array_index)
