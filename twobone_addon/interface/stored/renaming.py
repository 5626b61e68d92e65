"""Stored chains follow bones that are renamed, as constraints do."""

from typing import Any

import bpy
from bpy.app.handlers import depsgraph_update_post, load_post, persistent, redo_post, undo_post

BONES = ("upper", "lower", "tip", "toe")
"""Settings of a chain that name a bone of its own armature."""

OTHERS = (("target", "target_bone"), ("target", "target_root_bone"), ("pole", "pole_bone"))
"""Objects of a chain, and the settings that name a bone of theirs."""

known: dict[str, list[str]] = {}
"""Names of the bones of each armature in the scene, by its object's name, as they were last."""


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    if not known:
        _forget()
    if depsgraph.mode != "VIEWPORT" or not depsgraph.id_type_updated("ARMATURE"):
        return
    chained = [thing for thing in scene.objects if thing.type == "ARMATURE" and thing.mode != "EDIT"]
    for armature in chained:
        names = [bone.name for bone in armature.data.bones]
        before = known.get(armature.name, names)
        known[armature.name] = names
        changed = [(old, new) for old, new in zip(before, names, strict=False) if old != new]
        # Bones that were added, removed or put elsewhere have not been renamed.
        if len(before) == len(names) and not {old for old, _ in changed} & set(names):
            for old, new in changed:
                _follow(scene, armature, old, new)


def _follow(scene: bpy.types.Scene, armature: bpy.types.Object, old: str, new: str) -> None:
    for owner in scene.objects:
        for chain in owner.twobone.chains if owner.type == "ARMATURE" and owner.is_editable else ():
            own = BONES if owner == armature else ()
            theirs = [name for thing, name in OTHERS if getattr(chain, thing) == armature]
            for name in (*own, *theirs):
                if getattr(chain, name) == old:
                    setattr(chain, name, new)


@persistent
def _forget(*_: Any) -> None:
    """Names that undo or another file have brought were not typed by anybody."""
    known.clear()
    known[""] = []
    for armature in bpy.data.objects:
        if armature.type == "ARMATURE" and armature.mode != "EDIT":
            known[armature.name] = [bone.name for bone in armature.data.bones]


HANDLERS = ((depsgraph_update_post, _after_update), (load_post, _forget), (undo_post, _forget), (redo_post, _forget))


def register() -> None:
    """Notice from now on what is renamed."""
    for functions, function in HANDLERS:
        functions.append(function)


def unregister() -> None:
    """Notice nothing any more."""
    for functions, function in HANDLERS:
        functions.remove(function)
    known.clear()
