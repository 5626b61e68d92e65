"""A double of a big rig for a walk over time: the same object, left with what some of its bones hang from.

Blender evaluates an armature as a whole: hundreds of bones, constraints and drivers to know four limbs. A double has the
rig's own animation and all of its bones, but only those constraints and drivers that reach the bones that are wanted; the
others neither move them nor cost time. Whether a rig can be doubled is told from what it is made of, and whoever uses a
double compares it with the rig at some frames first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from ...scene.lookup import BONES, bone_owner, owner_of
from ..blender_types import Constraint, FCurve, Object
from ..lookup import objects_by_name
from ..moves.animation_reading import read_animation, steers_bones
from ..moves.dependencies import DependencyFinder, drivers_by_owner, inverse_kinematics
from .probes import is_bare
from .quantities import Quantity

DOUBLE_NAME = ".twobone_double"

MANY_BONES = 64

WORTH_LEAVING_OUT = 32
"""Constraints and drivers, fewer of which do not pay for a double."""


@dataclass(frozen=True, slots=True)
class Double:
    """Stands in for a rig; its name in the file is its own."""

    thing: Object

    def remove(self) -> None:
        """Leave nothing of it behind."""
        data = self.thing.data
        bpy.data.objects.remove(self.thing)
        bpy.data.armatures.remove(data)


def make_doubles(quantities: list[Quantity]) -> dict[str, Double]:
    """Doubles of the big armatures whose bones are among the quantities, by the armatures' names, where they pay."""
    finder, made = DependencyFinder(objects_by_name()), {}
    for name in dict.fromkeys(quantity.object for quantity in quantities if quantity.bone):
        armature = bpy.data.objects[name]
        own = [quantity for quantity in quantities if quantity.object == name]
        if len(armature.pose.bones) < MANY_BONES or not is_bare(armature):
            continue
        if any(quantity.kind in {"CHANNELS", "VALUE"} for quantity in own):
            continue
        # What else is evaluated may need the armature itself: then a double would only be one more.
        others = [(quantity.object, quantity.bone) for quantity in quantities if quantity.object != name]
        if any(owner == name for owner, _ in finder.above(others).nodes):
            continue
        double = double_of(armature, [quantity.bone for quantity in own if quantity.bone], finder)
        if double is not None:
            made[name] = double
    return made


def double_of(armature: Object, bones: Iterable[str], finder: DependencyFinder) -> Double | None:
    """A double of an armature for some of its bones; `None` where it might differ, or would hardly be faster."""
    if not _is_plain(armature):
        return None
    kept = _needed_bones(armature, list(bones), finder)
    if kept is None or not _is_closed(armature, kept, finder):
        return None
    owners = {"", *(bone_owner(armature.pose.bones[name]) for name in kept)}
    drivers = drivers_by_owner(armature)
    constraints = {bone.name: len(bone.constraints) for bone in armature.pose.bones if bone.name not in kept}
    left_out = sum(len(found) for owner, found in drivers.items() if owner not in owners) + sum(constraints.values())
    if left_out < WORTH_LEAVING_OUT or _touches_left_out(armature, owners):
        return None
    if not all(_can_be_kept(armature, fcurve) for owner in owners for fcurve in drivers.get(owner, [])):
        return None
    thing = armature.copy()
    thing.name = DOUBLE_NAME
    thing.data = armature.data.copy()
    _leave_out(thing, owners, kept)
    point_to_itself(thing, armature)
    return Double(thing)


def _is_plain(armature: Object) -> bool:
    """Whether nothing but the armature's own action, constraints and drivers poses it."""
    data = armature.data
    local = not any((armature.library, armature.override_library, data.library, data.override_library))
    return local and not steers_bones(data) and not read_animation(armature).mixed


def _needed_bones(armature: Object, bones: list[str], finder: DependencyFinder) -> set[str] | None:
    """All bones that these hang from, also by properties that drivers read; `None` where the scene or IK has a say."""
    names = {bone_owner(bone): bone.name for bone in armature.pose.bones}
    drivers, wanted = drivers_by_owner(armature), set(bones)
    while True:
        above = finder.above([(armature.name, name) for name in wanted])
        if above.reads_scene:
            return None
        kept = {bone for owner, bone in above.nodes if owner == armature.name and bone in armature.pose.bones}
        owners = ("", *(bone_owner(armature.pose.bones[name]) for name in kept))
        read = {
            names[owner_of(target.data_path)]
            for owner in owners
            for fcurve in drivers.get(owner, [])
            for variable in fcurve.driver.variables
            for target in variable.targets
            if target.id == armature and owner_of(target.data_path) in names
        }
        if read <= kept:
            return None if kept & inverse_kinematics(armature).keys() else kept
        wanted = kept | read


def _is_closed(armature: Object, kept: set[str], finder: DependencyFinder) -> bool:
    """Whether nothing else that the bones hang from hangs from the armature in turn."""
    above = finder.above([(armature.name, name) for name in kept] or [(armature.name, "")])
    others = {owner for owner, _ in above.nodes if owner != armature.name}
    return not any(owner == armature.name for other in others for owner, _ in finder.above([(other, "")]).nodes)


def _touches_left_out(armature: Object, owners: set[str]) -> bool:
    """Whether curves move constraints of bones that are left out: without these they would lead nowhere."""
    paths = (path for path in read_animation(armature).curves if path.startswith(BONES) and ".constraints[" in path)
    return any(owner_of(path) not in owners for path in paths)


def _can_be_kept(armature: Object, fcurve: FCurve) -> bool:
    """Whether a driver means the same on a double: it names all that it reads."""
    driver = fcurve.driver
    if driver.use_self or (driver.type == "SCRIPTED" and not driver.is_simple_expression):
        return False
    return all(target.id != armature.data for variable in driver.variables for target in variable.targets)


def _leave_out(thing: Object, owners: set[str], kept: set[str]) -> None:
    """Remove the drivers and constraints of all other bones, and what costs time only to be looked at."""
    thing.data.animation_data_clear()
    if thing.animation_data is not None:
        drivers = thing.animation_data.drivers
        for fcurve in [fcurve for fcurve in drivers if owner_of(fcurve.data_path) not in owners]:
            drivers.remove(fcurve)
    for bone in thing.pose.bones:
        bone.custom_shape = None
        if bone.name in kept:
            continue
        for constraint in list(bone.constraints):
            bone.constraints.remove(constraint)
        bone.bone.bbone_segments = min(bone.bone.bbone_segments, 1)


def point_to_itself(thing: Object, armature: Object) -> None:
    """Let what is kept read the double where it reads the rig."""
    for bone in thing.pose.bones:
        for constraint in bone.constraints:
            _redirect(constraint, thing, armature)
    for fcurve in thing.animation_data.drivers if thing.animation_data else ():
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if target.id == armature:
                    target.id = thing


def _redirect(constraint: Constraint, thing: Object, armature: Object) -> None:
    for name, kind in constraint.bl_rna.properties.items():
        if kind.type == "POINTER" and not kind.is_readonly and getattr(constraint, name) == armature:
            setattr(constraint, name, thing)
    for entry in constraint.targets if constraint.type == "ARMATURE" else ():
        if entry.target == armature:
            entry.target = thing
