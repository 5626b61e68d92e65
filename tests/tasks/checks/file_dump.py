"""Everything in the open file as one flat dictionary, to compare before and after."""

import warnings

import bpy
import numpy as np
from mathutils import Color, Euler, Quaternion, Vector

LEFT_OUT = {
    *("window_managers", "screens", "workspaces", "brushes", "libraries"),
    *("all_ids", "depsgraph", "rna_type", "bl_rna", "original", "node", "channels", "uv_sculpt", "particle_edit"),
}
"""The window's own state, second ways to the same things, ways back up, and what crashes 4.2 when read."""

DERIVED = {"is_evaluated", "frame_range", "curve_frame_range", "storage_type", "bound_box", "dimensions", "is_library_indirect"}
"""Follows from other things that are dumped themselves, or from when one looks; Blender decides the last anew at saving."""

OF_A_KEY = (
    *(("co", 2, np.float32), ("handle_left", 2, np.float32), ("handle_right", 2, np.float32)),
    *((name, 1, np.float32) for name in ("amplitude", "back", "period")),
    *((name, 1, np.int32) for name in ("handle_left_type", "handle_right_type", "interpolation", "easing", "type")),
    *((name, 1, bool) for name in ("select_control_point", "select_left_handle", "select_right_handle")),
)
"""Everything that a key has, how many numbers, and their type: there are too many keys to ask each of them what it has."""

ARRAYS = {Color, Euler, Quaternion, Vector}
SCALARS = {bool, int, str, bytes, type(None)}
WITH_CUSTOM = (bpy.types.ID, bpy.types.PoseBone, bpy.types.Bone)


def dump_file():
    """Path to value of all RNA properties and custom properties of all datablocks, and of what is active where."""
    bpy.context.view_layer.update()
    found = _Found(_context())
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # Blender's own properties, by name
        for name in bpy.data.bl_rna.properties.keys():  # noqa: SIM118 - a Blender collection, not a dict
            collection = getattr(bpy.data, name)
            if name in LEFT_OUT or not isinstance(collection, bpy.types.bpy_prop_collection):
                continue
            found[f"{name}.names"] = sorted(collection.keys())
            for datablock in collection:
                _dump(datablock, f"{name}[{datablock.name}]", found)
    return dict(found)


class _Found(dict):
    """Path to value; and the names of the properties of each type that was met."""

    def __init__(self, found):
        super().__init__(found)
        self.names = {}

    def names_of(self, thing):
        """All names, and those that are dumped."""
        kind = type(thing)
        if kind not in self.names:
            names = thing.bl_rna.properties.keys()
            self.names[kind] = names, [name for name in names if name not in LEFT_OUT and name not in DERIVED]
        return self.names[kind]


def differences(before, after):
    """Paths whose value differs, or that are in one of the two only."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path, "-") != after.get(path, "-"))


def _context():
    context, layer = bpy.context, bpy.context.view_layer
    return {
        "mode": context.mode,
        "scene": context.scene.name,
        "active object": layer.objects.active.name if layer.objects.active else None,
        "selected objects": sorted(thing.name for thing in layer.objects if thing.select_get()),
        "hidden objects": sorted(thing.name for thing in layer.objects if thing.hide_get()),
        "handlers": [len(getattr(bpy.app.handlers, name)) for name in ("frame_change_pre", "frame_change_post")],
    }


def _dump(thing, path, found, trail=()):
    registered, names = found.names_of(thing)
    for name in names:
        value = getattr(thing, name)
        if type(value) in SCALARS:
            found[f"{path}.{name}"] = value
        else:
            _dump_value(value, f"{path}.{name}", found, (*trail, name))
    if isinstance(thing, WITH_CUSTOM):
        for key, value in thing.items():
            if key not in registered:  # Else dumped as such; before 5.0 they are custom properties as well.
                found[f'{path}["{key}"]'] = _plain(value)


def _dump_value(value, path, found, trail):
    if trail[-1] == "keyframe_points":
        found[path] = [len(value), *(_of_all(value, *part) for part in OF_A_KEY)]
    elif isinstance(value, bpy.types.bpy_prop_collection):
        found[f"{path}.length"] = len(value)
        for label, item in _labelled(value):
            _dump_item(item, f"{path}[{label}]", found, trail)
    elif isinstance(value, bpy.types.bpy_struct):
        _dump_item(value, path, found, trail)
    else:
        found[path] = _plain(value)


def _dump_item(item, path, found, trail):
    if item is None:
        found[path] = None
    elif isinstance(item, bpy.types.ID) and not item.is_embedded_data:
        found[path] = f"{type(item).__name__} {item.name}"
    elif isinstance(item, bpy.types.PoseBone | bpy.types.Bone) and trail[-1] != "bones":
        found[path] = f"bone {item.name}"
    elif len(trail) < DEEPEST and not _leads_back(trail):
        _dump(item, path, found, trail)


DEEPEST = 9
"""Properties deep enough for a key of a strip's channelbag; what points in circles ends here."""


def _leads_back(trail):
    """Whether properties repeat themselves, as `children[a].parent.children[a]` does."""
    return len(trail) > len(set(trail)) + 2


def _labelled(items):
    """Each with its name, or its number where it has none or shares it."""
    taken = set()
    for index, item in enumerate(items):
        name = f"{item.data_path} {item.array_index}" if isinstance(item, bpy.types.FCurve) else getattr(item, "name", "")
        yield name if name and name not in taken else f"{name} {index}".strip(), item
        taken.add(name)


def _of_all(keys, name, width, kind):
    """One property of all keys, as bytes."""
    values = np.empty(len(keys) * width, dtype=kind)
    keys.foreach_get(name, values)
    return (values + kind(0)).tobytes()  # 0 and -0 are equal.


def _plain(value):
    kind = type(value)
    if kind is float:
        return "nan" if value != value else value  # noqa: PLR0124 - no two that are not a number are equal
    if kind in SCALARS:
        return value
    if kind is set:
        return tuple(sorted(value))
    if hasattr(value, "to_dict"):
        return repr(value.to_dict())
    if hasattr(value, "to_list"):
        return tuple(value.to_list())
    # Vectors give all their numbers at once.
    return tuple(map(_plain, value[:] if kind in ARRAYS else value)) if hasattr(value, "__iter__") else kind.__name__
