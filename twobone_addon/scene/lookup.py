"""Find objects and bones by name, and the files that they are linked from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import bpy

from ..errors import ObjectError
from ..said import Sentence
from .blender_types import Object, PoseBone


def absolute_path(entry: Any) -> Path:
    """Path where the file of a library or cache should be."""
    return Path(bpy.path.abspath(entry.filepath, library=entry.library))


def missing_libraries() -> list[str]:
    """The paths of libraries that are not where the file expects them, sorted."""
    return sorted({str(path) for path in map(absolute_path, bpy.data.libraries) if not path.exists()})


def library_of(thing: Any) -> Sentence:
    """Part of a sentence: the library that a datablock, or what it overrides, comes from."""
    reference = thing.override_library.reference if thing.override_library else None
    library = thing.library or (reference.library if reference else None)
    return Sentence('library "{path}"', {"path": str(absolute_path(library))}) if library else Sentence("its library")


BONES = 'pose.bones["'
"""Beginning of the data paths of bones and their constraints."""


@dataclass(slots=True)
class _Memory:
    """Cache of `objects_known`."""

    objects: dict[str, Object]
    """Objects by name; empty outside its block."""
    in_scenes: set[Object]
    """Objects in any scene; empty until first needed."""
    read: dict[tuple[Hashable, ...], Any] | None = None
    """What `read_once` has read; `None` outside the block of `only_reading`."""


_memory = _Memory({}, set())

Read = TypeVar("Read")


@contextmanager
def objects_known() -> Iterator[None]:
    """Cache the file's objects by name in a block in which none is added, removed or renamed and no other code runs.

    Blender finds an object by a linear search: for thousands of chains that would take longer than all else.
    """
    before, read = _memory.objects, _memory.read
    _memory.objects, _memory.read = objects_by_name(), None
    try:
        yield
    finally:
        _memory.objects, _memory.read = before, read
        _memory.in_scenes.clear()


@contextmanager
def only_reading() -> Iterator[None]:
    """`objects_known` for a block in which nothing is changed at all, so that tables of curves and bones are read only once."""
    read = {} if _memory.read is None else _memory.read
    with objects_known():
        _memory.read = read
        yield


def forget_known() -> None:
    """Forget what a block has left that was interrupted in its own last lines; called before a task begins."""
    _memory.objects, _memory.read = {}, None
    _memory.in_scenes.clear()


def is_reading() -> bool:
    """Whether `read_once` keeps what it reads."""
    return _memory.read is not None


def read_once(reader: Callable[[Any], Read], thing: Any) -> Read:
    """What a function reads of something of Blender's, kept until the end of `only_reading`; outside, it is read anew."""
    if _memory.read is None:
        return reader(thing)
    key = (reader, thing)
    if key not in _memory.read:
        _memory.read[key] = reader(thing)
    return _memory.read[key]


def object_named(name: str) -> Object:
    """The object of that name, which must exist."""
    return _memory.objects.get(name) or bpy.data.objects[name]


def resolved(datablock: Any, path: str) -> Any:
    """What is at a data path; `None` where it leads nowhere, such as to a renamed bone or a removed property."""
    try:
        return datablock.path_resolve(path)
    except ValueError:
        return None


OF_DATA = "\0"
"""Separator of kind and name in the key of a datablock that is no object; no name contains it."""


def key_of(datablock: Any) -> str:
    """Key by which `datablock_named` finds a datablock: an object's name, or the kind and name of other data."""
    return datablock.name if datablock.id_type == "OBJECT" else f"{datablock.id_type}{OF_DATA}{datablock.name}"


def datablock_named(key: str) -> Any:
    """The datablock of that key, which must exist."""
    kind, _, name = key.rpartition(OF_DATA)
    if not kind:
        return object_named(key)
    kinds = (
        getattr(bpy.data, kind_property.identifier)
        for kind_property in bpy.data.bl_rna.properties
        if kind_property.type == "COLLECTION"
    )
    return next(data for datablocks in kinds if (data := datablocks.get(name)) is not None and data.id_type == kind)


def object_or_none(name: str) -> Object | None:
    """The object of that name, if there is one."""
    return _memory.objects.get(name) or bpy.data.objects.get(name)


def is_in_a_scene(thing: Object) -> bool:
    """Whether any scene has an object; cached in `objects_known`, for Blender searches all scenes to tell."""
    if not _memory.objects:
        return bool(thing.users_scene)
    if not _memory.in_scenes:
        _memory.in_scenes = {member for scene in bpy.data.scenes for member in scene.objects}
    return thing in _memory.in_scenes


def playing_action(thing: Object) -> str:
    """Name of the action that an object plays; empty without one."""
    data = thing.animation_data
    return data.action.name if data is not None and data.action is not None else ""


def objects_by_name() -> dict[str, Object]:
    """Every object of the file by name; of several that share a name, the one that Blender finds by it: linked ones come last."""
    return _memory.objects or {thing.name: thing for thing in reversed(list(bpy.data.objects))}


def refuse_namesake(thing: Object) -> None:
    """Raise `ObjectError` where Blender finds another object by the name: objects are identified by name from here on."""
    if object_named(thing.name) != thing:
        raise ObjectError(
            'Object "{object}" is linked from another file, and this file already has an object with that name. Choose that '
            "one, or rename it.",
            object=thing.name,
        )


def animated_datablocks() -> Iterator[Object]:
    """Every datablock of the file that has animation."""
    for name in bpy.data.bl_rna.properties.keys():  # noqa: SIM118 - a Blender collection, not a dict
        collection = getattr(bpy.data, name)
        if isinstance(collection, bpy.types.bpy_prop_collection):
            for datablock in collection:
                if getattr(datablock, "animation_data", None) is not None:
                    yield datablock


NOTHING_CHOSEN = "No {role} is chosen. Choose an object, such as an empty."
MISSING_BONE = '{role} "{bone}" is not in armature "{armature}". Choose one of its bones.'
LOST = '{role} "{object}" is in no scene, as after it was deleted. Add or choose another object.'


def find_object(role: str, name: str, bone: str = "") -> Object:
    """The object that a setting names; raises `ObjectError` where it or its bone does not exist."""
    if not name:
        raise ObjectError(NOTHING_CHOSEN, role=Sentence(role.lower()))
    thing = object_or_none(name)
    if thing is None:
        raise ObjectError(
            '{role} "{object}" is not in this file. Choose an object of this file.', role=Sentence(role), object=name
        )
    if bone and thing.type != "ARMATURE":
        raise ObjectError(
            '{role} "{object}" is not an armature, so it has no bone "{bone}". Clear the bone.',
            role=Sentence(role),
            object=thing.name,
            bone=bone,
        )
    if bone and bone not in thing.data.bones:  # a pose comes with the first evaluation
        raise ObjectError(
            '{role} bone "{bone}" is not in armature "{armature}". Choose one of its bones.',
            role=Sentence(role),
            bone=bone,
            armature=thing.name,
        )
    return thing


def find_armature(name: str, active: Object | None) -> Object:
    """The armature of that name, or the active one where none is named; raises `ObjectError`."""
    armature = object_or_none(name) if name else active
    if armature is None:
        if not name:
            raise ObjectError("No armature is active. Choose the armature that holds the chain.")
        if lost := missing_libraries():
            raise ObjectError(
                'Armature "{armature}" is not in this file, and these libraries are missing: {libraries}. Restore them, or '
                "choose another armature.",
                armature=name,
                libraries=", ".join(lost),
            )
        raise ObjectError('Armature "{armature}" is not in this file. Choose the armature that holds the chain.', armature=name)
    if armature.is_missing:
        raise ObjectError(
            'Armature "{armature}" is missing because {library} is missing. Restore it, or choose another armature.',
            armature=armature.name,
            library=library_of(armature),
        )
    if armature.type != "ARMATURE":
        raise ObjectError('Object "{object}" is not an armature. Choose the armature that holds the chain.', object=armature.name)
    if armature.pose is None:
        raise ObjectError(
            'Armature "{armature}" has no pose until Blender evaluates it. Add it to the scene and update that.',
            armature=armature.name,
        )
    if armature.data.pose_position == "REST":
        raise ObjectError(
            'Armature "{armature}" shows its rest position. Switch it to Pose Position in its data properties.',
            armature=armature.name,
        )
    refuse_namesake(armature)
    return armature


def rotation_values(bone: PoseBone) -> tuple[float, ...]:
    """The four numbers of a pose bone's rotation channel: quaternion, axis-angle, or Euler angles and 0."""
    if bone.rotation_mode == "QUATERNION":
        return tuple(bone.rotation_quaternion)
    if bone.rotation_mode == "AXIS_ANGLE":
        return tuple(bone.rotation_axis_angle)
    return (*bone.rotation_euler, 0.0)


def owner_of(path: str) -> str:
    """Beginning of a data path that identifies its bone; empty without one. Bones that differ only after `"]` share it."""
    return path.partition('"]')[0] if path.startswith(BONES) else ""


def bone_in(path: str) -> str:
    """Name of the bone in a data path; empty without one."""
    return bpy.utils.unescape_identifier(owner_of(path).removeprefix(BONES))


def bone_owner(bone: PoseBone) -> str:
    """Beginning of a bone's data paths, see `owner_of`."""
    return owner_named(bone.name)


def owner_named(bone: str) -> str:
    """Beginning of the data paths of a bone of that name, whether there is one or not."""
    return owner_of(f'{BONES}{bpy.utils.escape_identifier(bone)}"]')


def other_side(name: str) -> str:
    """The name with its side flipped by Blender's rules (`thigh.L` to `thigh.R`); unchanged without a side."""
    return bpy.utils.flip_name(name)


def file_at(path: str) -> Path:
    """Path from a text that may begin with `//` for the folder of the open file."""
    return Path(bpy.path.abspath(path))


def open_file() -> str:
    """Name of the open file without its extension; empty if it was never saved."""
    return Path(bpy.data.filepath).stem
