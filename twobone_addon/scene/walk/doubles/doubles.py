"""A double of a big rig for a walk over time: the same object, left with the bones that are wanted and what they hang from.

Blender evaluates an armature as a whole: hundreds of bones, constraints and drivers to know four limbs. A double has the
rig's own animation, but of its bones only those that reach the wanted ones: the others neither move them nor cost time.
Whether a rig can be doubled is told from what it is made of, and whoever uses a double compares it with the rig at some
frames first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import bpy

from ...blender_types import Constraint, Object
from ...lookup import objects_by_name, owner_of
from ...moves.dependencies import DependencyFinder, drivers_by_owner
from ..probes import is_bare
from ..quantities import Quantity
from .fewer_bones import with_fewer_bones
from .hanging import carriers, hanging_from, hung_from
from .needed_bones import needed_bones, owners_of

DOUBLE_NAME = ".twobone_double"

MAKING = 1000
"""What making a double costs at least, in parts of a rig that Blender could evaluate at a frame in the same time."""

MAKING_A_PART = 8
"""What it costs for each part of the rig. A part (a bone, a constraint, a driver) takes about 2.5 microseconds a frame."""

COMPARED = 3
"""Frames at which the rig is evaluated all the same."""

WORTH_ASKING = MAKING_A_PART + COMPARED
"""Frames; with fewer no double pays, however much is left out."""


@dataclass(frozen=True, slots=True)
class Double:
    """Stands in for a rig, or for an empty that hangs from one; its name in the file is its own."""

    thing: Object
    hangs_from: str = ""
    """Name of the rig whose double carries it."""

    def has(self, bones: Sequence[str]) -> bool:
        """Whether it poses all of these bones."""
        return all(name in self.thing.pose.bones for name in bones)

    def remove(self) -> None:
        """Leave nothing of it behind."""
        data = self.thing.data
        bpy.data.objects.remove(self.thing)
        if not self.hangs_from:
            bpy.data.armatures.remove(data)


@contextmanager
def doubles_of(quantities: Sequence[Quantity], frames: int) -> Iterator[dict[str, Double]]:
    """Doubles of the armatures whose bones are among the quantities, by the armatures' names, for a walk over `frames`."""
    made: dict[str, Double] = {}
    try:
        if frames >= WORTH_ASKING:
            _make(made, quantities, frames)
        yield made
    finally:
        for double in made.values():
            double.remove()


def _make(made: dict[str, Double], quantities: Sequence[Quantity], frames: int) -> None:
    things = objects_by_name()
    finder = DependencyFinder(things)
    by_object: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        by_object.setdefault(quantity.object, []).append(quantity)
    for name, own in by_object.items():
        armature = things[name]
        if not any(quantity.bone for quantity in own):
            continue
        if not _may_pay(armature, frames) or not is_bare(armature):
            continue
        if any(quantity.kind in {"CHANNELS", "VALUE"} for quantity in own):
            continue
        # What else is evaluated may need the armature itself: then a double would only be one more, unless it can be moved.
        lineages = hanging_from(armature, [quantity for quantity in quantities if quantity.object != name], finder)
        if lineages is None:
            continue
        kept = needed_bones(armature, [*(quantity.bone for quantity in own if quantity.bone), *carriers(lineages)], finder)
        if kept is None or not pays(armature, kept, frames):
            continue
        double = double_of(armature, kept)
        if double is not None:
            made[name] = double
            hung = hung_from(double.thing, lineages, DOUBLE_NAME)
            made |= {other: Double(thing, name) for other, thing in hung.items()}


def _may_pay(armature: Object, frames: int) -> bool:
    """Whether a double might pay if next to nothing were kept: told without a look at what hangs from what."""
    return pays(armature, set(), frames)


def pays(armature: Object, kept: set[str], frames: int) -> bool:
    """Whether what a double saves at so many frames is more than what it costs to make it.

    The rig's parts are all that Blender evaluates of it: bones, constraints, drivers.
    """
    drivers = drivers_by_owner(armature)
    owners = owners_of(armature, kept)
    parts = 0
    left_out = sum(len(found) for owner, found in drivers.items() if owner not in owners)
    for bone in armature.pose.bones:
        own = 1 + len(bone.constraints)
        parts += own
        left_out += 0 if bone.name in kept else own
    parts += sum(map(len, drivers.values()))
    return left_out * (frames - COMPARED) >= MAKING + MAKING_A_PART * parts


def double_of(armature: Object, kept: set[str]) -> Double | None:
    """A double of an armature that has only the bones `kept`; `None` where Blender does not let us make it now."""
    data = with_fewer_bones(armature, kept)
    if data is None:
        return None
    owners = owners_of(armature, kept)
    thing = armature.copy()
    thing.name = DOUBLE_NAME
    for bone in thing.pose.bones:
        bone.custom_shape = bone.custom_shape_transform = None
    thing.data = data
    drivers = thing.animation_data.drivers if thing.animation_data else ()
    for fcurve in [fcurve for fcurve in drivers if owner_of(fcurve.data_path) not in owners]:
        thing.animation_data.drivers.remove(fcurve)
    redirect(thing, armature, thing)
    return Double(thing)


def redirect(copied: Object, before: Object, after: Object) -> None:
    """Let the constraints of a copy's bones and its drivers read `after` where they read `before`."""
    for bone in copied.pose.bones if getattr(copied, "pose", None) else ():
        for constraint in bone.constraints:
            _redirect(constraint, before, after)
    for fcurve in copied.animation_data.drivers if copied.animation_data else ():
        for variable in fcurve.driver.variables:
            for target in variable.targets:
                if target.id == before:
                    target.id = after


def _redirect(constraint: Constraint, before: Object, after: Object) -> None:
    for name, kind in constraint.bl_rna.properties.items():
        if kind.type == "POINTER" and not kind.is_readonly and getattr(constraint, name) == before:
            setattr(constraint, name, after)
    for entry in constraint.targets if constraint.type == "ARMATURE" else ():
        if entry.target == before:
            entry.target = after
