"""Keeps stored chains true, as Blender does constraints: renamed bones are named anew, deleted objects are let go."""

from typing import Any

import bpy
from bpy.app.handlers import depsgraph_update_post, load_post, persistent, redo_post, redo_pre, undo_post, undo_pre

from ...pipeline.plan.stored import GUIDES
from ...scene.sampling.stage import STAGE_NAME
from .live_limbs import is_live, setting_changed

BONES = ("upper", "lower", "tip", "toe")
"""Properties of a chain that name a bone of its own armature."""

OTHERS = (("target", "target_bone"), ("target", "target_root_bone"), ("pole", "pole_bone"))
"""Properties of a chain that point to an object, and those that name a bone of that object."""

known: dict[str, list[str]] = {}
"""The last known bone names of each armature, by object name; the key "" only marks the dictionary as filled."""

present: dict[str, set[str]] = {}
"""Names of each scene's objects when its chains were last searched for deleted ones, by the scene's name."""

cleared: dict[tuple[str, str, str], str] = {}
"""Names of deleted objects, by the armature, the chain and the property that had pointed to them."""


@persistent
def _after_update(scene: bpy.types.Scene, depsgraph: Any) -> None:
    if not known:
        _reset()
    if depsgraph.mode != "VIEWPORT" or scene.name.startswith(STAGE_NAME):
        return
    # To compare numbers is cheap enough for every update; names are compared only where these differ.
    is_changed = depsgraph.id_type_updated("SCENE") or depsgraph.id_type_updated("COLLECTION")
    if is_changed and len(present.get(scene.name, ())) != len(scene.objects):
        _let_go(scene)
    if not depsgraph.id_type_updated("ARMATURE"):
        return
    armatures = [rig for rig in scene.objects if rig.type == "ARMATURE" and rig.mode != "EDIT"]
    for armature in armatures:
        names = armature.data.bones.keys()
        before = known.get(armature.name, names)
        known[armature.name] = names
        if names == before:  # As after each move of a pose.
            continue
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
            of_guides = [name for pointer, name in OTHERS if getattr(chain, pointer) == armature]
            for name in (*of_chain, *of_guides):
                if getattr(chain, name) == old:
                    setattr(chain, name, new)


def _let_go(scene: bpy.types.Scene) -> None:
    """Clear guides that were deleted, which the chains' pointers alone would keep in the file; note the name of a target.

    An object that was in no scene before either may be about to be linked by a script.
    """
    before, present[scene.name] = present.get(scene.name), {thing.name for thing in scene.objects}
    for armature in scene.objects:
        for chain in armature.twobone.chains if armature.type == "ARMATURE" and armature.is_editable else ():
            for name in GUIDES:
                guide = getattr(chain, name)
                if guide is not None and (before is None or guide.name in before) and not guide.users_scene:
                    chain.lost_target = guide.name if name == "target" else chain.lost_target
                    cleared[armature.name, chain.name, name] = guide.name
                    setattr(chain, name, None)
            if chain.target is None and is_live(chain):  # Removed by a script: Blender has cleared the pointer already.
                setting_changed(chain, bpy.context)
            if chain.target is not None and chain.lost_target:
                chain.lost_target = ""


@persistent
def _take_back(*_: Any) -> None:
    """Before undo or redo: the fields as the last undo step has them, which takes unchanged data-blocks as they are in memory."""
    for (owner, stored, name), deleted in cleared.items():
        armature, guide = bpy.data.objects.get(owner), bpy.data.objects.get(deleted)
        chain = armature.twobone.chains.get(stored) if armature is not None else None
        if chain is not None and guide is not None and getattr(chain, name) is None:
            setattr(chain, name, guide)
            chain.lost_target = ""
    cleared.clear()


@persistent
def _reset(*_: Any) -> None:
    """Take the present bone names as known: changes by undo, redo or loading a file are not renames by the user."""
    known.clear()
    present.clear()
    cleared.clear()
    known[""] = []
    for armature in bpy.data.objects:
        if armature.type == "ARMATURE" and armature.mode != "EDIT":
            known[armature.name] = armature.data.bones.keys()


HANDLERS = (
    (depsgraph_update_post, _after_update),
    (undo_pre, _take_back),
    (redo_pre, _take_back),
    *((functions, _reset) for functions in (load_post, undo_post, redo_post)),
)


def register() -> None:
    """Add the handlers."""
    for functions, function in HANDLERS:
        functions.append(function)


def unregister() -> None:
    """Remove the handlers, and forget the known names."""
    for functions, function in HANDLERS:
        functions.remove(function)
    known.clear()
    present.clear()
