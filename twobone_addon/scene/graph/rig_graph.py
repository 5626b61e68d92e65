"""The rig graph: which objects and bones an object or a bone depends on, and what animates each.

It follows parents, constraints, IK that runs through a bone from further down its limb, and drivers. Muted
constraints count as well: they may be unmuted at another frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import bpy

from ..blender_types import Constraint, FCurve, Object, PoseBone
from ..bones import bones_below
from ..lookup import bone_owner, is_reading, objects_by_name, owner_of, read_once
from .animation_reading import Animation, read_animation

SCENE_CONSTRAINTS = {"FOLLOW_TRACK", "CAMERA_SOLVER", "OBJECT_SOLVER"}
"""Constraints that read the scene itself: its camera or its active clip."""

TARGETS = (("target", "subtarget"), ("pole_target", "pole_subtarget"), ("space_object", "space_subtarget"))
"""Properties that name the objects and bones that constraints read."""

Node = tuple[str, str]
"""Name of an object and of a bone in it, or an empty name for the object itself."""


@dataclass(slots=True)
class Dependencies:
    """Everything that some objects and bones depend on, themselves included."""

    nodes: set[Node] = field(default_factory=set)
    reads_scene: bool = False
    """Whether any of it reads a scene or is simulated, so that it is right in the user's own scene only."""


def dependencies(objects: Mapping[str, Object], starts: list[Node]) -> Dependencies:
    """Everything that `starts` depend on; `objects` are objects by name."""
    return RigGraph(objects).above(starts)


class RigGraph:
    """Finds dependencies; reads the drivers, the IK and the animation of each object only once."""

    def __init__(self, objects: Mapping[str, Object] | None = None) -> None:
        """Take `objects` by name; by default all of the file."""
        if objects is not None:
            self.objects = objects
        self._turned: dict[Object, dict[str, list[Constraint]]] = {}
        self._driven: dict[Object, dict[str, list[FCurve]]] = {}
        self._animations: dict[Object, Animation] = {}

    @cached_property
    def objects(self) -> Mapping[str, Object]:
        """Objects by name."""
        return objects_by_name()

    def above(self, starts: list[Node]) -> Dependencies:
        """Everything that `starts` depend on."""
        found = Dependencies()
        waiting = list(starts)
        while waiting:
            node = waiting.pop()
            if node in found.nodes or node[0] not in self.objects:
                continue
            found.nodes.add(node)
            thing = self.objects[node[0]]
            bone = bone_of(thing, node)
            if node[1]:
                waiting.append((node[0], ""))
            else:
                waiting.extend(self._above_object(thing, found))
            if bone is not None:
                waiting.extend(self._above_bone(thing, bone, found))
        return found

    def _above_object(self, thing: Object, found: Dependencies) -> Iterator[Node]:
        if thing.rigid_body is not None or thing.soft_body is not None:
            found.reads_scene = True
        if thing.parent is not None:
            yield thing.parent.name, thing.parent_bone if thing.parent_type == "BONE" else ""
        yield from _above_constraints(thing.constraints, found)
        yield from _above_drivers(self.drivers(thing, ""), found)

    def _above_bone(self, armature: Object, bone: PoseBone, found: Dependencies) -> Iterator[Node]:
        if bone.parent is not None:
            yield armature.name, bone.parent.name
        yield from _above_constraints([*bone.constraints, *self.turned(armature).get(bone.name, [])], found)
        yield from _above_drivers(self.drivers(armature, bone_owner(bone)), found)

    def turned(self, armature: Object) -> dict[str, list[Constraint]]:
        """The IK constraints that turn each bone, see `inverse_kinematics`."""
        if armature not in self._turned:
            self._turned[armature] = read_once(inverse_kinematics, armature)
        return self._turned[armature]

    def drivers(self, thing: Object, owner: str) -> list[FCurve]:
        """An object's drivers that belong to a bone, or to the object itself, see `drivers_by_owner`."""
        if thing not in self._driven:
            self._driven[thing] = read_once(drivers_by_owner, thing)
        return self._driven[thing].get(owner, [])

    def animation(self, datablock: Object) -> Animation:
        """All that animates a datablock, see `read_animation`."""
        if datablock not in self._animations:
            self._animations[datablock] = read_animation(datablock)
        return self._animations[datablock]


def bone_of(thing: Object, node: Node) -> PoseBone | None:
    """The pose bone of a node of an object; `None` for the object itself, or for a bone that does not exist."""
    return thing.pose.bones.get(node[1]) if node[1] and thing.pose else None


def drivers_by_owner(thing: Object) -> dict[str, list[FCurve]]:
    """An object's drivers by the bone they belong to (see `owner_of`); those of the object itself by an empty name."""
    data = thing.animation_data
    found: dict[str, list[FCurve]] = {}
    for fcurve in data.drivers if data else ():
        found.setdefault(owner_of(fcurve.data_path), []).append(fcurve)
    return found


def inverse_kinematics(armature: Object) -> dict[str, list[Constraint]]:
    """The IK constraints that turn each bone, by its name, wherever on its limb they are; only bones with any."""
    turned: dict[str, list[Constraint]] = {}
    for carrier in armature.pose.bones:
        for constraint in carrier.constraints:
            for bone in _turned_by(carrier, constraint):
                turned.setdefault(bone.name, []).append(constraint)
    return turned


def turning(bone: PoseBone) -> list[Constraint]:
    """The IK constraints that turn one bone: those of `inverse_kinematics`, looked for on the bone and below it only."""
    if is_reading():
        return read_once(inverse_kinematics, bone.id_data).get(bone.name, [])
    bones = bone.id_data.pose.bones
    carriers = [bones[rest.name] for rest in (bone.bone, *bones_below(bone.bone))]
    return [
        constraint
        for carrier in carriers
        for constraint in carrier.constraints
        if any(turned == bone for turned in _turned_by(carrier, constraint))
    ]


def _turned_by(carrier: PoseBone, constraint: Constraint) -> list[PoseBone]:
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return []
    path = [carrier, *carrier.parent_recursive]
    # Without `use_tail`, IK begins one bone further up.
    skipped = int(not getattr(constraint, "use_tail", True))
    return path[: constraint.chain_count + skipped if constraint.chain_count else len(path)]


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


def _above_drivers(drivers: list[FCurve], found: Dependencies) -> Iterator[Node]:
    for fcurve in drivers:
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if target.id is None:
                    continue
                if isinstance(target.id, bpy.types.Scene):
                    found.reads_scene = True
                elif hasattr(target.id, "constraints"):
                    yield target.id.name, target.bone_target
