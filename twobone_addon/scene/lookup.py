"""Objects and bones by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ..errors import ObjectError
from .blender_types import Object, PoseBone
from .libraries import library_of, missing_libraries

BONES = 'pose.bones["'
"""How data paths of bones and their constraints begin."""


@dataclass(slots=True)
class _Memory:
    """What `objects_known` remembers."""

    objects: dict[str, Object]
    """By name; empty outside of its block."""
    in_scenes: set[Object]
    """Objects that any scene has, since somebody has asked."""


_memory = _Memory({}, set())


@contextmanager
def objects_known() -> Iterator[None]:
    """Look at the file's objects once for a block in which none comes, goes or is renamed and nobody else has a turn.

    Blender finds an object by looking at one after the other: for thousands of chains that would take longer than all else.
    """
    before = _memory.objects
    _memory.objects = objects_by_name()
    try:
        yield
    finally:
        _memory.objects = before
        _memory.in_scenes.clear()


def object_named(name: str) -> Object:
    """The object of that name, which is known to be there."""
    return _memory.objects.get(name) or bpy.data.objects[name]


def object_or_none(name: str) -> Object | None:
    """The object of that name, if there is one."""
    return _memory.objects.get(name) or bpy.data.objects.get(name)


def is_in_a_scene(thing: Object) -> bool:
    """Whether any scene has an object. Blender looks through all objects of all scenes to tell."""
    if not _memory.objects:
        return bool(thing.users_scene)
    if not _memory.in_scenes:
        _memory.in_scenes = {each for scene in bpy.data.scenes for each in scene.objects}
    return thing in _memory.in_scenes


def playing_action(thing: Object) -> str:
    """Name of the action that an object plays; empty without one."""
    data = thing.animation_data
    return data.action.name if data is not None and data.action is not None else ""


def objects_by_name() -> dict[str, Object]:
    """Every object of the file; of several that share a name, the one that answers to it: linked ones come last."""
    return _memory.objects or {thing.name: thing for thing in reversed(list(bpy.data.objects))}


def refuse_namesake(thing: Object) -> None:
    """Raise `ObjectError` where another object answers to the name: things are known by their names from here on."""
    if object_named(thing.name) != thing:
        raise ObjectError(
            f'Object "{thing.name}" is linked from another file, and this file already has an object with that name. '
            "Choose that one, or rename it."
        )


def animated_datablocks() -> Iterator[Object]:
    """Every datablock of the file that has animation."""
    for name in bpy.data.bl_rna.properties.keys():  # noqa: SIM118 - a Blender collection, not a dict
        collection = getattr(bpy.data, name)
        if isinstance(collection, bpy.types.bpy_prop_collection):
            for datablock in collection:
                if getattr(datablock, "animation_data", None) is not None:
                    yield datablock


def find_object(role: str, name: str, bone: str = "") -> Object:
    """The object that a setting names, and check its bone; raises `ObjectError`."""
    if not name:
        raise ObjectError(f"No {role.lower()} is chosen. Choose an object, such as an empty.")
    found = object_or_none(name)
    if found is None:
        raise ObjectError(f'{role} "{name}" is not in this file. Choose an object of this file.')
    if bone and found.type != "ARMATURE":
        raise ObjectError(f'{role} "{found.name}" is not an armature, so it has no bone "{bone}". Clear the bone.')
    if bone and bone not in found.data.bones:  # a pose comes with the first evaluation
        raise ObjectError(f'{role} bone "{bone}" is not in armature "{found.name}". Choose one of its bones.')
    return found


def find_armature(name: str, active: Object | None) -> Object:
    """The armature of that name, or the active one where none is named; raises `ObjectError`."""
    found = object_or_none(name) if name else active
    if found is None:
        missing = f'Armature "{name}" is not in this file{_lost()}' if name else "No armature is active"
        raise ObjectError(f"{missing}. Choose the armature that holds the chain.")
    if found.is_missing:
        raise ObjectError(f'Armature "{found.name}" is missing, since {library_of(found)} is. Put that back, or choose another.')
    if found.type != "ARMATURE":
        raise ObjectError(f'Object "{found.name}" is not an armature. Choose the armature that holds the chain.')
    if found.pose is None:
        raise ObjectError(f'Armature "{found.name}" has no pose until Blender evaluates it. Add it to the scene and update that.')
    if found.data.pose_position == "REST":
        raise ObjectError(f'Armature "{found.name}" shows its rest position. Switch it to Pose Position in its data properties.')
    refuse_namesake(found)
    return found


def _lost() -> str:
    """The libraries that are missing, where something else is looked for in vain."""
    lost = missing_libraries()
    return f", and neither is library {' nor '.join(lost)}" if lost else ""


def rotation_values(bone: PoseBone) -> tuple[float, ...]:
    """The four numbers of a pose bone's rotation channel: quaternion, axis-angle, or Euler angles and 0."""
    if bone.rotation_mode == "QUATERNION":
        return tuple(bone.rotation_quaternion)
    if bone.rotation_mode == "AXIS_ANGLE":
        return tuple(bone.rotation_axis_angle)
    return (*bone.rotation_euler, 0.0)


def owner_of(path: str) -> str:
    """What tells the bone in a data path, empty if it is none's; two bones share it if a quote and a bracket differ only."""
    return path.partition('"]')[0] if path.startswith(BONES) else ""


def bone_owner(bone: PoseBone) -> str:
    """The same for a bone."""
    return owner_of(f'{BONES}{bpy.utils.escape_identifier(bone.name)}"]')


def other_side(name: str) -> str:
    """The name with its side flipped, as Blender does it (`thigh.L` to `thigh.R`); the same for a name without one."""
    return bpy.utils.flip_name(name)
