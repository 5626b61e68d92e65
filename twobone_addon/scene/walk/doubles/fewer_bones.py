"""A copy of an armature's bones with some of them removed, which Blender does in Edit Mode only.

Edit Mode is entered and left in a scene of our own, on an object of our own in a collection that is not shown. So the
user's mode, selection and undo steps stay as they are, and Blender evaluates nothing on the way: removing 660 of 700 bones
takes 4 ms, or 22 where they are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import bpy

from ...blender_types import Context, Object
from ..stage import UPDATE_HANDLERS, empty_stage, unheard

BARE_NAME = ".twobone_bones"


def with_fewer_bones(armature: Object, kept: Collection[str]) -> Object | None:
    """A copy of an armature object's data without its other bones and without animation of its own.

    `None` where nobody can enter Edit Mode now.
    """
    data = armature.data.copy()
    data.animation_data_clear()
    removed = False
    try:
        with _unseen(data) as bare, unheard(UPDATE_HANDLERS):
            removed = _remove_others(bare, kept)
    finally:
        if not removed:
            bpy.data.armatures.remove(data)
    return data if removed else None


@contextmanager
def _unseen(data: Object) -> Iterator[Object]:
    """An object with this data and nothing else, active in a scene of our own in which nothing is shown."""
    bare = bpy.data.objects.new(BARE_NAME, data)
    collection = bpy.data.collections.new(BARE_NAME)
    try:
        with empty_stage() as stage:
            stage.collection.children.link(collection)
            collection.hide_viewport = True
            collection.objects.link(bare)
            stage.view_layers[0].objects.active = bare
            yield bare
    finally:
        bpy.data.objects.remove(bare)
        bpy.data.collections.remove(collection)


def _remove_others(bare: Object, kept: Collection[str]) -> bool:
    """Whether that was possible."""
    if not _switch(bare, "EDIT"):
        return False
    bones = bare.data.edit_bones
    for bone in [bone for bone in bones if bone.name not in kept]:
        bones.remove(bone)
    return _switch(bare, "OBJECT")


def _switch(bare: Object, mode: str) -> bool:
    """Bring our own object into a mode; what the user has in Edit Mode is not concerned."""
    (stage,) = bare.users_scene
    edited = bare if bare.mode == "EDIT" else None
    own = {"active_object": bare, "object": bare, "selected_objects": [bare], "edit_object": edited}
    context: Context = bpy.context
    with context.temp_override(scene=stage, view_layer=stage.view_layers[0], **own):
        if bpy.ops.object.mode_set.poll():
            bpy.ops.object.mode_set(mode=mode)
    return bare.mode == mode
