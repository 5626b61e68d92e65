"""Updates the bone names in stored chains when bones are renamed, as Blender does for constraints."""

from typing import Any

import bpy
from bpy.app.handlers import depsgraph_update_post, load_post, persistent, redo_post, undo_post

BONES = ("upper", "lower", "tip", "toe")
"""Properties of a chain that name a bone of its own armature."""

OTHERS = (("target", "target_bone"), ("target", "target_root_bone"), ("pole", "pole_bone"))
"""Properties of a chain that point to an object, and those that name a bone of that object."""

known: dict[str, list[str]] = {}
"""The last known bone names of each armature, by object name; the key "" only marks the dictionary as filled."""


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    if not known:
        _reset()
    if depsgraph.mode != "VIEWPORT" or not depsgraph.id_type_updated("ARMATURE"):
        return
    armatures = [thing for thing in scene.objects if thing.type == "ARMATURE" and thing.mode != "EDIT"]
    for armature in armatures:
        names = [bone.name for bone in armature.data.bones]
        before = known.get(armature.name, names)
        known[armature.name] = names
        changed = [(old, new) for old, new in zip(before, names, strict=False) if old != new]
        # Only a rename keeps the number of bones and removes the old name: not adding, removing or reordering bones.
        if len(before) == len(names) and not {old for old, _ in changed} & set(names):
            for old, new in changed:
                _rename(scene, armature, old, new)


def _rename(scene: bpy.types.Scene, armature: bpy.types.Object, old: str, new: str) -> None:
    """Replace the name of the armature's bone in all stored chains of the scene."""
    for owner in scene.objects:
        for chain in owner.twobone.chains if owner.type == "ARMATURE" and owner.is_editable else ():
            of_chain = BONES if owner == armature else ()
            of_guides = [name for thing, name in OTHERS if getattr(chain, thing) == armature]
            for name in (*of_chain, *of_guides):
                if getattr(chain, name) == old:
                    setattr(chain, name, new)


@persistent
def _reset(*_: Any) -> None:
    """Take the present bone names as known: changes by undo, redo or loading a file are not renames by the user."""
    known.clear()
    known[""] = []
    for armature in bpy.data.objects:
        if armature.type == "ARMATURE" and armature.mode != "EDIT":
            known[armature.name] = [bone.name for bone in armature.data.bones]


HANDLERS = ((depsgraph_update_post, _after_update), (load_post, _reset), (undo_post, _reset), (redo_post, _reset))


def register() -> None:
    """Add the handlers."""
    for functions, function in HANDLERS:
        functions.append(function)


def unregister() -> None:
    """Remove the handlers, and forget the known names."""
    for functions, function in HANDLERS:
        functions.remove(function)
    known.clear()
