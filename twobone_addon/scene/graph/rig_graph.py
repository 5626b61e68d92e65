"""The rig graph: which objects and bones an object or a bone depends on, what animates each, and what does not move.

It follows parents, constraints, IK that runs through a bone from further down its limb, and drivers. Muted
constraints count as well: they may be unmuted at another frame.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import bpy

from ..blender_types import Constraint, FCurve, Object, PoseBone
from ..bones import bones_below
from ..lookup import BONES, absolute_path, bone_owner, is_reading, library_of, object_named, objects_by_name, owner_of, read_once
from ..restoring import component
from .animation_reading import Animation, read_animation, steers_bones

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
        needed = Dependencies()
        waiting = list(starts)
        while waiting:
            node = waiting.pop()
            if node in needed.nodes or node[0] not in self.objects:
                continue
            needed.nodes.add(node)
            thing = self.objects[node[0]]
            bone = bone_of(thing, node)
            # A bone moves with its object.
            if node[1]:
                waiting.append((node[0], ""))
            else:
                waiting.extend(self._above_object(thing, needed))
            if bone is not None:
                waiting.extend(self._above_bone(thing, bone, needed))
        return needed

    def follows(self, constraint: Constraint, node: Node) -> bool:
        """Whether a constraint, muted or not, reads an object or bone, or what depends on it."""
        return node in self.above(list(_above_constraints([constraint], Dependencies()))).nodes

    def _above_object(self, thing: Object, needed: Dependencies) -> Iterator[Node]:
        if thing.rigid_body is not None or thing.soft_body is not None:
            needed.reads_scene = True
        if thing.parent is not None:
            yield thing.parent.name, thing.parent_bone if thing.parent_type == "BONE" else ""
        yield from _above_constraints(thing.constraints, needed)
        yield from _above_drivers(self.drivers(thing, ""), needed)

    def _above_bone(self, armature: Object, bone: PoseBone, needed: Dependencies) -> Iterator[Node]:
        if bone.parent is not None:
            yield armature.name, bone.parent.name
        yield from _above_constraints([*bone.constraints, *self.turned(armature).get(bone.name, [])], needed)
        yield from _above_drivers(self.drivers(armature, bone_owner(bone)), needed)

    def turned(self, armature: Object) -> dict[str, list[Constraint]]:
        """The IK constraints that turn each bone, see `inverse_kinematics`."""
        if armature not in self._turned:
            self._turned[armature] = read_once(inverse_kinematics, armature)
        return self._turned[armature]

    def drivers(self, thing: Object, owner: str) -> list[FCurve]:
        """An object's drivers that belong to a bone, or to the object itself, see `drivers_by_owner`."""
        return self.drivers_of(thing).get(owner, [])

    def drivers_of(self, thing: Object) -> Mapping[str, list[FCurve]]:
        """All drivers of an object, see `drivers_by_owner`."""
        if thing not in self._driven:
            self._driven[thing] = read_once(drivers_by_owner, thing)
        return self._driven[thing]

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
    drivers: dict[str, list[FCurve]] = {}
    for fcurve in data.drivers if data else ():
        drivers.setdefault(owner_of(fcurve.data_path), []).append(fcurve)
    return drivers


def inverse_kinematics(armature: Object) -> dict[str, list[Constraint]]:
    """The IK constraints that turn each bone, by its name, wherever on its limb they are; only bones with any."""
    turned: dict[str, list[Constraint]] = {}
    for carrier in armature.pose.bones:
        for constraint in carrier.constraints:
            for bone in turned_by(carrier, constraint):
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
        if any(turned == bone for turned in turned_by(carrier, constraint))
    ]


def turned_by(carrier: PoseBone, constraint: Constraint) -> list[PoseBone]:
    """The bones that an IK constraint of a bone turns, and those between; none for other constraints."""
    if constraint.type not in {"IK", "SPLINE_IK"}:
        return []
    path = [carrier, *carrier.parent_recursive]
    # Without `use_tail`, IK begins one bone further up.
    skipped = int(not getattr(constraint, "use_tail", True))
    return path[: constraint.chain_count + skipped if constraint.chain_count else len(path)]


def _above_constraints(constraints: Iterable[Constraint], needed: Dependencies) -> Iterator[Node]:
    for constraint in constraints:
        if constraint.type in SCENE_CONSTRAINTS:
            needed.reads_scene = True
        for pointer, bone_name in TARGETS:
            other = getattr(constraint, pointer, None)
            if other is not None:
                yield other.name, getattr(constraint, bone_name, "") if other.type == "ARMATURE" else ""
        if constraint.type == "ARMATURE":
            for entry in constraint.targets:
                if entry.target is not None:
                    yield entry.target.name, entry.subtarget


def _above_drivers(drivers: list[FCurve], needed: Dependencies) -> Iterator[Node]:
    for fcurve in drivers:
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if target.id is None:
                    continue
                if isinstance(target.id, bpy.types.Scene):
                    needed.reads_scene = True
                elif hasattr(target.id, "constraints"):
                    yield target.id.name, target.bone_target


HARMLESS = {name for name in dir(math) if not name.startswith("_")} | {
    *("abs", "all", "any", "bool", "divmod", "float", "int", "len", "max", "min", "pow", "round", "sorted", "sum"),
    *("frame", "lerp", "clamp", "smoothstep"),
}
"""Names that an expression may use and still run where scripts may not."""


@dataclass(frozen=True, slots=True, order=True)
class Missing:
    """One thing that is missing or does not work."""

    what: str
    """Its kind and name: `object "Car"`."""
    why: str
    """The missing file, or what keeps it from working."""


def missing_above(objects: Mapping[str, Object], starts: list[Node]) -> list[Missing]:
    """Everything missing among what `starts` depend on, themselves included; sorted, without duplicates.

    Missing are linked data, files, and what drivers that do not run would set. Blender opens such a file, replaces what is
    missing by a placeholder that does not move, and reports nothing afterwards.
    """
    bpy.context.view_layer.update()  # Blender marks drivers as blocked only when they are to run.
    missing = set[Missing]()
    for node in dependencies(objects, starts).nodes:
        thing, bone = objects[node[0]], bone_of(objects[node[0]], node)
        if bone is not None:
            missing.update((*_of_constraints(bone.constraints), *_of_drivers(thing, bone_owner(bone))))
        elif not node[1]:
            missing.update(_of_object(thing))
    return sorted(missing)


def _of_object(thing: Object) -> Iterator[Missing]:
    data = thing.animation_data
    actions = [data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)] if data else []
    reference = thing.override_library.reference if thing.override_library else None
    for kind, datablock in (("object", thing), ("object", reference), ("data", thing.data), *(("action", a) for a in actions)):
        yield from _if_missing(kind, datablock)
    yield from _of_constraints(thing.constraints)
    yield from _of_drivers(thing, "")


def _of_constraints(constraints: Iterable[Constraint]) -> Iterator[Missing]:
    for constraint in constraints:
        for pointer in ("action", "cache_file"):
            yield from _if_missing(pointer.replace("_", " "), getattr(constraint, pointer, None))
        cache = getattr(constraint, "cache_file", None)
        if cache is not None and not absolute_path(cache).exists():
            yield Missing(f'cache file "{cache.name}"', f'"{absolute_path(cache)}" is not there')


def _of_drivers(thing: Object, owner: str) -> Iterator[Missing]:
    for curve in drivers_by_owner(thing).get(owner, []):
        if curve.mute:
            continue
        what = f'driver of "{curve.data_path}" of "{thing.name}"'
        if _is_blocked(curve):
            yield Missing(what, "scripts may not run, see --scripts")
        elif not curve.driver.is_valid:
            yield Missing(what, "it cannot be evaluated")
        for variable in curve.driver.variables:
            for target in variable.targets:
                yield from _if_missing("datablock", target.id)


def _is_blocked(curve: FCurve) -> bool:
    """Whether a driver needs scripts, in a file whose scripts were kept from running.

    Blender reports only the first driver that it blocked. The others count as blocked where their expressions would not pass
    Blender's own check.
    """
    driver = curve.driver
    if driver.type != "SCRIPTED" or driver.is_simple_expression or not bpy.app.autoexec_fail:
        return False
    try:
        code = compile(driver.expression.strip(), "driver", "eval")
    except (SyntaxError, ValueError):
        return False  # It cannot run anywhere, and is not valid.
    names = {variable.name for variable in driver.variables}
    return not set(code.co_names) <= HARMLESS | names


def _if_missing(kind: str, datablock: Any) -> Iterator[Missing]:
    if datablock is not None and datablock.is_missing:
        yield Missing(f'{kind} "{datablock.name}"', f"{library_of(datablock).text()} does not have it, or is not there")


TIMELESS_CONSTRAINTS = {
    "COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE", "COPY_TRANSFORMS", "LIMIT_DISTANCE", "LIMIT_LOCATION",
    "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME", "TRANSFORM", "CHILD_OF", "PIVOT", "FLOOR", "ARMATURE",
    "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO", "STRETCH_TO", "IK",
}  # fmt: skip
"""Constraints that depend on transforms alone; the others read meshes, curves, caches, actions or clips."""

CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale", "influence", "mute")
"""Properties that keep the value they are set to, so that a driver reading them sees a change only if they are animated."""


def holds_still(path: str) -> bool:
    """Whether a property that nothing animates has the same value at all frames, unlike a matrix or the scene's frame."""
    return path.endswith('"]') or path.rpartition(".")[2].partition("[")[0] in CHANNELS


class Stillness:
    """Tells which objects and bones are still; reads each only once.

    What passes has one pose at all frames, constraints and drivers included, so one evaluation is enough. Whatever is not
    known to be still counts as moving.
    """

    def __init__(self, graph: RigGraph | None = None) -> None:
        """Take an existing graph, if there is one."""
        self._graph = graph or RigGraph()
        self._animated_bones: dict[str, set[str]] = {}
        self._steered: dict[str, bool] = {}
        self._known: dict[Node, bool] = {}

    def holds(self, nodes: Iterable[Node]) -> bool:
        """Whether none of `nodes` moves; these must be all dependencies of something."""
        return all(self._is_still(node) for node in nodes)

    def keeps(self, thing: Object, path: str) -> bool:
        """Whether a property of an object has one value at all frames."""
        animation, path = self._graph.animation(thing), component(path).path
        driven = (fcurve for fcurve in self._graph.drivers(thing, owner_of(path)) if fcurve.data_path == path)
        return not animation.mixed and path not in animation.curves and all(map(self._holds_driver, driven))

    def _is_still(self, node: Node) -> bool:
        if node not in self._known:
            thing = object_named(node[0])
            bone = bone_of(thing, node)
            self._known[node] = self._object_is_still(thing) if bone is None else self._bone_is_still(thing, bone)
        return self._known[node]

    def _object_is_still(self, thing: Object) -> bool:
        animation = self._graph.animation(thing)
        if animation.mixed or thing.rigid_body is not None or thing.soft_body is not None:
            return False
        if any(not path.startswith(BONES) for path in animation.curves):
            return False
        if not parent_is_rigid(thing):
            return False
        drivers = self._graph.drivers(thing, "")
        return all(is_by_transforms(constraint) for constraint in thing.constraints) and all(map(self._holds_driver, drivers))

    def _bone_is_still(self, armature: Object, bone: PoseBone) -> bool:
        if self._graph.animation(armature).mixed or self._is_steered(armature):
            return False
        key = bone_owner(bone)
        if key in self._bones_with_curves(armature) or bone.name in self._graph.turned(armature):
            return False
        drivers = self._graph.drivers(armature, key)
        return all(is_by_transforms(constraint) for constraint in bone.constraints) and all(map(self._holds_driver, drivers))

    def _holds_driver(self, curve: FCurve) -> bool:
        """Whether a driver's value follows from still things alone."""
        return is_simple_driver(curve) and all(
            variable.type in {"TRANSFORMS", "ROTATION_DIFF", "LOC_DIFF"}
            or (variable.type == "SINGLE_PROP" and self._holds_property(variable.targets[0]))
            for variable in curve.driver.variables
        )

    def _holds_property(self, target: object) -> bool:
        """Whether nothing animates the property that a driver's variable reads."""
        path = target.data_path
        if target.id is None or isinstance(target.id, bpy.types.Scene):
            return False
        animation = self._graph.animation(target.id)
        animated = (other for paths in (animation.curves, animation.doubtful) for other in paths)
        return holds_still(path) and not animation.mixed and not any(path.startswith(other) for other in animated)

    def _bones_with_curves(self, armature: Object) -> set[str]:
        if armature.name not in self._animated_bones:
            curves = self._graph.animation(armature).curves
            self._animated_bones[armature.name] = {owner_of(path) for path in curves}
        return self._animated_bones[armature.name]

    def _is_steered(self, armature: Object) -> bool:
        if armature.name not in self._steered:
            self._steered[armature.name] = armature.data.is_editmode or steers_bones(armature.data)
        return self._steered[armature.name]


def is_simple_driver(curve: FCurve) -> bool:
    """Whether a driver's value follows from its variables alone, at whatever frame."""
    driver = curve.driver
    if driver.use_self or any(modifier.type != "GENERATOR" for modifier in curve.modifiers):
        return False
    return driver.type != "SCRIPTED" or (driver.is_simple_expression and "frame" not in driver.expression)


def parent_is_rigid(thing: Object) -> bool:
    """Whether an object has no parent, or one that carries it as a whole: no vertices, lattice or path."""
    return thing.parent is None or (thing.parent_type in {"OBJECT", "BONE"} and thing.parent.type != "CURVE")


def is_by_transforms(constraint: Constraint) -> bool:
    """Whether a constraint depends on transforms alone, not on vertices, caches, actions or the time."""
    target = getattr(constraint, "target", None)
    # Such a constraint follows the vertices of a group.
    deforms = target is not None and target.type != "ARMATURE" and bool(getattr(constraint, "subtarget", ""))
    return constraint.type in TIMELESS_CONSTRAINTS and not deforms
