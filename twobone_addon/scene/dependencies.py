"""What moves what: which objects and bones an object or a bone hangs from.

Followed are parents, constraints, IK that runs through a bone from further down its limb, and drivers. Muted
constraints count as well: they may be unmuted by the next frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


def dependencies(objects: dict[str, Object], starts: list[Node]) -> Dependencies:
    """Follow everything that `starts` hang from; `objects` finds an object by name."""
    found = Dependencies()
    waiting = list(starts)
    while waiting:
        node = waiting.pop()
        if node in found.nodes or node[0] not in objects:
            continue
        found.nodes.add(node)
        thing = objects[node[0]]
        if node[1]:
            bone = thing.pose.bones.get(node[1]) if thing.pose else None
            waiting.append((node[0], ""))
            if bone is not None:
                waiting.extend(_above_bone(thing, bone, found))
        else:
            waiting.extend(_above_object(thing, found))
    return found


def _above_object(thing: Object, found: Dependencies) -> Iterator[Node]:
    if thing.rigid_body is not None or thing.soft_body is not None:
        found.reads_scene = True
    if thing.parent is not None:
        yield thing.parent.name, thing.parent_bone if thing.parent_type == "BONE" else ""
    yield from _above_constraints(thing.constraints, found)
    yield from _above_drivers(thing, lambda path: not path.startswith("pose.bones["), found)


def _above_bone(armature: Object, bone: PoseBone, found: Dependencies) -> Iterator[Node]:
    if bone.parent is not None:
        yield armature.name, bone.parent.name
    yield from _above_constraints(bone.constraints, found)
    for below in bone.children_recursive:
        for constraint in below.constraints:
            if _runs_through(constraint, below, bone):
                yield from _above_constraints([constraint], found)
    own = f'pose.bones["{bone.name}"]'
    yield from _above_drivers(armature, lambda path: path.startswith(own), found)


def _runs_through(constraint: Constraint, carrier: PoseBone, bone: PoseBone) -> bool:
    """Whether an IK constraint further down turns `bone`."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return False
    above = [carrier, *carrier.parent_recursive]
    chain = above[: constraint.chain_count or len(above)]
    return bone in chain


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
