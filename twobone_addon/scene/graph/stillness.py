"""Prove that something does not move: none of its dependencies is animated, simulated or depends on time.

What passes has one pose at all frames, constraints and drivers included, so one evaluation is enough. Whatever is not
known to be still counts as moving.
"""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ..blender_types import Constraint, FCurve, Object, PoseBone
from ..lookup import BONES, bone_owner, object_named, owner_of
from .animation_reading import steers_bones
from .rig_graph import Node, RigGraph, bone_of

TIMELESS_CONSTRAINTS = {
    "COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE", "COPY_TRANSFORMS", "LIMIT_DISTANCE", "LIMIT_LOCATION",
    "LIMIT_ROTATION", "LIMIT_SCALE", "MAINTAIN_VOLUME", "TRANSFORM", "CHILD_OF", "PIVOT", "FLOOR", "ARMATURE",
    "DAMPED_TRACK", "LOCKED_TRACK", "TRACK_TO", "STRETCH_TO", "IK",
}  # fmt: skip
"""Constraints that depend on transforms alone; the others read meshes, curves, caches, actions or clips."""

CHANNELS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale", "influence", "mute")
"""Properties that keep the value they are set to, so that a driver reading them sees a change only if they are animated."""


class Stillness:
    """Tells which objects and bones are still; reads each only once."""

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
        animation = self._graph.animation(thing)
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
        if thing.parent is not None and (thing.parent_type not in {"OBJECT", "BONE"} or thing.parent.type == "CURVE"):
            return False
        own = self._graph.drivers(thing, "")
        return all(_is_timeless(constraint) for constraint in thing.constraints) and all(map(self._holds_driver, own))

    def _bone_is_still(self, armature: Object, bone: PoseBone) -> bool:
        if self._graph.animation(armature).mixed or self._is_steered(armature):
            return False
        key = bone_owner(bone)
        if key in self._bones_with_curves(armature) or bone.name in self._graph.turned(armature):
            return False
        own = self._graph.drivers(armature, key)
        return all(_is_timeless(constraint) for constraint in bone.constraints) and all(map(self._holds_driver, own))

    def _holds_driver(self, curve: FCurve) -> bool:
        """Whether a driver's value follows from still things alone."""
        driver = curve.driver
        if driver.use_self or any(modifier.type != "GENERATOR" for modifier in curve.modifiers):
            return False
        if driver.type == "SCRIPTED" and (not driver.is_simple_expression or "frame" in driver.expression):
            return False
        return all(
            variable.type in {"TRANSFORMS", "ROTATION_DIFF", "LOC_DIFF"}
            or (variable.type == "SINGLE_PROP" and self._holds_property(variable.targets[0]))
            for variable in driver.variables
        )

    def _holds_property(self, target: object) -> bool:
        """Whether nothing animates the property that a driver's variable reads."""
        path = target.data_path
        if target.id is None or isinstance(target.id, bpy.types.Scene):
            return False
        plain = path.endswith('"]') or path.rpartition(".")[2].partition("[")[0] in CHANNELS
        animation = self._graph.animation(target.id)
        animated = (other for paths in (animation.curves, animation.doubtful) for other in paths)
        return plain and not animation.mixed and not any(path.startswith(other) for other in animated)

    def _bones_with_curves(self, armature: Object) -> set[str]:
        if armature.name not in self._animated_bones:
            curves = self._graph.animation(armature).curves
            self._animated_bones[armature.name] = {owner_of(path) for path in curves}
        return self._animated_bones[armature.name]

    def _is_steered(self, armature: Object) -> bool:
        if armature.name not in self._steered:
            self._steered[armature.name] = armature.data.is_editmode or steers_bones(armature.data)
        return self._steered[armature.name]


def _is_timeless(constraint: Constraint) -> bool:
    target = getattr(constraint, "target", None)
    deforms = target is not None and target.type != "ARMATURE" and bool(getattr(constraint, "subtarget", ""))
    return constraint.type in TIMELESS_CONSTRAINTS and not deforms
