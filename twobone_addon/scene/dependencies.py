"""What moves what: which objects and bones an object or a bone hangs from.

Followed are parents, constraints, IK that runs through a bone from further down its limb, and drivers. Muted
constraints count as well: they may be unmuted by the next frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import bpy

from .blender_types import Constraint, Object, PoseBone

SCENE_CONSTRAINTS = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}
"""Constraints that read the scene itself: its camera or its active clip."""

TARGETS = (("target", "subtarget"), ("pole_target", "pole_subtarget"), ("space_object", "space_subtarget"))
"""How constraints name the objects and bones they read."""

Node = tuple[str, str]
"""Name of an object and of a bone in it, or an empty name for the object itself."""


@dataclass(slots=True)
class Dependencies:
    """All that a set of objects and bones hangs from, themselves included."""

    nodes: set[Node] = field(default_factory=set)
    reads_scene: bool = False
    """Something in between reads a scene or is simulated, so it is right in the user's own scene only."""


def dependencies(objects: Mapping[str, Object], starts: list[Node]) -> Dependencies:
    """Follow everything that `starts` hang from; `objects` finds an object by name."""
    found = Dependencies()
    turning: dict[str, dict[str, list[Constraint]]] = {}
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node in found.nodes or node[0] not in objects:
            continue
        found.nodes.add(node)
        name, bone_name = node
        thing = objects[name]
        if not bone_name:
            waiting.extend(_above_object(thing, found))
            continue
        waiting.append((name, ""))
        bone = thing.pose.bones.get(bone_name) if thing.pose else None
        if bone is not None:
            if name not in turning:
                turning[name] = inverse_kinematics(thing)
            waiting.extend(_above_bone(thing, bone, turning[name].get(bone_name, []), found))
    return found


def inverse_kinematics(armature: Object) -> dict[str, list[Constraint]]:
    """The IK constraints that turn each bone, wherever on its limb they stand; only bones that have some."""
    turned: dict[str, list[Constraint]] = {}
    for carrier in armature.pose.bones:
        for constraint in carrier.constraints:
            if constraint.type in {"IK", "SPLINE_IK"}:
                path = [carrier, *carrier.parent_recursive]
                # An IK that spares its own bone begins one bone further up.
                spared = int(not getattr(constraint, "use_tail", True))
                for bone in path[: constraint.chain_count + spared if constraint.chain_count else len(path)]:
                    turned.setdefault(bone.name, []).append(constraint)
    return turned


def _above_object(thing: Object, found: Dependencies) -> Iterator[Node]:
    if thing.rigid_body is not None or thing.soft_body is not None:
        found.reads_scene = True
    if thing.parent is not None:
        yield thing.parent.name, thing.parent_bone if thing.parent_type == "BONE" else ""
    yield from _above_constraints(thing.constraints, found)
    yield from _above_drivers(thing, lambda path: not path.startswith("pose.bones["), found)


def _above_bone(armature: Object, bone: PoseBone, turned_by: list[Constraint], found: Dependencies) -> Iterator[Node]:
    if bone.parent is not None:
        yield armature.name, bone.parent.name
    yield from _above_constraints([*bone.constraints, *turned_by], found)
    own = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
    yield from _above_drivers(armature, lambda path: path.startswith(own), found)


def _above_constraints(constraints: Iterable[Constraint], found: Dependencies) -> Iterator[Node]:
    for constraint in constraints:
        if constraint.type in SCENE_CONSTRAINTS:
            found.reads_scene = True
        for pointer, bone_name in TARGETS:
            other = getattr(constraint, pointer, None)
            if other is not None:
                yield other.name, getattr(constraint, bone_name, "") if other.type == "ARMATURE" else ""
        if constraint.type == "ARMATURE":
            for entry in constraint.targets:
                if entry.target is not None:
                    yield entry.target.name, entry.subtarget


def _above_drivers(thing: Object, concerns: Callable[[str], bool], found: Dependencies) -> Iterator[Node]:
    data = thing.animation_data
    for fcurve in data.drivers if data else ():
        if not concerns(fcurve.data_path):
            continue
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if target.id is None:
                    continue
                if isinstance(target.id, bpy.types.Scene):
                    found.reads_scene = True
                elif hasattr(target.id, "constraints"):
                    yield target.id.name, target.bone_target
