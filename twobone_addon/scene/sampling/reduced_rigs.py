"""Reduced rigs for a walk over time: big rigs, left with the bones that are wanted and what they depend on, and their curves.

Blender evaluates an armature as a whole: hundreds of bones, constraints and drivers to know four limbs. A reduced rig has the
rig's own animation, but of its bones only those that reach the wanted ones: the others neither move them nor cost time.
Whether a rig can be reduced is told from what it is made of, and whether it is posed as the rig is, to the last bit, is found
where that costs least: what the user sees is evaluated already, so it is first compared with that, at the present frame. Only
where it differs, such as where something was moved and not keyed, the rig itself is evaluated once more, at several frames.

Edit Mode rounds where bones are at rest: what is not the same afterwards, as in most rigs that were imported, keeps its bones
and is left without the others' curves, which take Blender as long.

Bones are removed in Edit Mode, which is entered and left in a scene of our own, on an object of our own in a collection that is
not shown. So the user's mode, selection and undo steps stay as they are, and Blender evaluates nothing on the way: removing 660
of 700 bones takes 4 ms, or 22 where they are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import bpy
import numpy as np

from ...core.array_types import Array
from ..blender_types import Bone, Constraint, Context, FCurve, Object, PoseBone, Scene
from ..graph.animation_reading import is_mixed, steers_bones
from ..graph.rig_graph import RigGraph, drivers_by_owner, inverse_kinematics
from ..lookup import bone_owner, objects_by_name, owner_of
from ..versions import assign_slot, curve_bag, own_slot
from .probes import is_bare
from .quantities import Quantity
from .stage import UPDATE_HANDLERS, empty_stage, unheard

BARE_NAME = ".twobone_bones"


def with_fewer_bones(armature: Object, kept: Collection[str]) -> Object | None:
    """A copy of an armature object's data without its other bones and without animation of its own.

    `None` where nobody can enter Edit Mode now.
    """
    data = armature.data.copy()
    data.animation_data_clear()
    removed = False
    try:
        with _unseen(data) as bare, unheard(UPDATE_HANDLERS):
            removed = _remove_others(bare, kept)
    finally:
        if not removed:
            bpy.data.armatures.remove(data)
    return data if removed else None


@contextmanager
def _unseen(data: Object) -> Iterator[Object]:
    """An object with this data and nothing else, active in a scene of our own in which nothing is shown."""
    bare = bpy.data.objects.new(BARE_NAME, data)
    collection = bpy.data.collections.new(BARE_NAME)
    try:
        with empty_stage() as stage:
            stage.collection.children.link(collection)
            collection.hide_viewport = True
            collection.objects.link(bare)
            stage.view_layers[0].objects.active = bare
            yield bare
    finally:
        bpy.data.objects.remove(bare)
        bpy.data.collections.remove(collection)


def _remove_others(bare: Object, kept: Collection[str]) -> bool:
    """Whether that was possible."""
    if not _switch(bare, "EDIT"):
        return False
    bones = bare.data.edit_bones
    for bone in [bone for bone in bones if bone.name not in kept]:
        bones.remove(bone)
    return _switch(bare, "OBJECT")


def _switch(bare: Object, mode: str) -> bool:
    """Bring our own object into a mode; what the user has in Edit Mode is not concerned."""
    (stage,) = bare.users_scene
    edited = bare if bare.mode == "EDIT" else None
    own = {"active_object": bare, "object": bare, "selected_objects": [bare], "edit_object": edited}
    context: Context = bpy.context
    with context.temp_override(scene=stage, view_layer=stage.view_layers[0], **own):
        if bpy.ops.object.mode_set.poll():
            bpy.ops.object.mode_set(mode=mode)
    return bare.mode == mode


def parented_to(armature: Object, others: Iterable[Quantity], finder: RigGraph) -> list[list[Object]] | None:
    """The lineage of each object among the quantities that depends on the armature: itself first, up to the armature's child.

    `None` where something depends on it in another way than by parents, so that it cannot depend on something else.
    """
    found = []
    for name, bone in dict.fromkeys((quantity.object, quantity.bone) for quantity in others):
        if all(owner != armature.name for owner, _ in finder.above([(name, bone)]).nodes):
            continue
        lineage = _lineage(finder.objects[name], armature)
        if bone or lineage is None:
            return None
        found.append(lineage)
    return found


def carriers(lineages: Iterable[Sequence[Object]]) -> list[str]:
    """The bones that carry them."""
    return [lineage[-1].parent_bone for lineage in lineages if lineage[-1].parent_type == "BONE"]


def _lineage(thing: Object, armature: Object) -> list[Object] | None:
    """An object and its parents below the armature, where that is all that moves them besides their own keys."""
    found = []
    while thing != armature:
        if thing is None or not _moves_by_parents(thing):
            return None
        found.append(thing)
        thing = thing.parent
    return found


def _moves_by_parents(thing: Object) -> bool:
    data = thing.animation_data
    local = thing.library is None and thing.override_library is None
    moved = data is not None and (is_mixed(data) or len(data.drivers) > 0)
    bare = thing.type == "EMPTY" and thing.parent_type in {"OBJECT", "BONE"} and thing.rigid_body is None
    return local and bare and not moved and not thing.constraints


def copies_parented_to(rig: Object, lineages: Iterable[Sequence[Object]], name: str) -> dict[str, Object]:
    """Copies of what depends on an armature, by the names of the originals, that depend on its reduced rig; `name` is theirs."""
    copies: dict[str, Object] = {}
    for lineage in lineages:
        parent = rig
        for thing in reversed(lineage):
            if thing.name not in copies:
                copy = thing.copy()
                copy.name = name
                inverse = thing.matrix_parent_inverse.copy()
                copy.parent = parent
                copy.parent_type, copy.parent_bone = thing.parent_type, thing.parent_bone
                copy.matrix_parent_inverse = inverse
                copies[thing.name] = copy
            parent = copies[thing.name]
    return copies


def needed_bones(armature: Object, bones: Iterable[str], finder: RigGraph) -> set[str] | None:
    """All bones of an armature that some of them depend on, themselves included; `None` where these might not be enough."""
    if not _is_posed_plainly(armature):
        return None
    kept = _bones_above(armature, set(bones), finder)
    if kept is None or not _is_closed(armature, kept, finder) or _bends(armature, kept):
        return None
    drivers = drivers_by_owner(armature)
    owners = owners_of(armature, kept)
    means_the_same = all(_can_be_kept(armature, fcurve) for owner in owners for fcurve in drivers.get(owner, []))
    return kept if means_the_same else None


def owners_of(armature: Object, bones: Iterable[str]) -> set[str]:
    """What tells in a data path that it belongs to one of the bones, or to the object itself."""
    return {"", *(bone_owner(armature.pose.bones[name]) for name in bones)}


def _is_posed_plainly(armature: Object) -> bool:
    """Whether nothing but the armature's own action, constraints and drivers poses it."""
    data = armature.data
    local = not any((armature.library, armature.override_library, data.library, data.override_library))
    return local and not steers_bones(data) and not is_mixed(armature.animation_data)


def _bones_above(armature: Object, wanted: set[str], finder: RigGraph) -> set[str] | None:
    """All that the bones depend on, also by IK and by properties that drivers read; `None` where the scene has a say."""
    names = {bone_owner(bone): bone.name for bone in armature.pose.bones}
    drivers, turning = drivers_by_owner(armature), inverse_kinematics(armature)
    carriers = {constraint.as_pointer(): bone.name for bone in armature.pose.bones for constraint in bone.constraints}
    while True:
        above = finder.above([(armature.name, name) for name in wanted])
        if above.reads_scene:
            return None
        kept = {bone for owner, bone in above.nodes if owner == armature.name and bone in armature.pose.bones}
        read = {
            names[owner_of(target.data_path)]
            for owner in owners_of(armature, kept)
            for fcurve in drivers.get(owner, [])
            for variable in fcurve.driver.variables
            for target in variable.targets
            if target.id == armature and owner_of(target.data_path) in names
        }
        turned_by = {carriers[constraint.as_pointer()] for name in kept for constraint in turning.get(name, [])}
        if turned_by and armature.pose.ik_solver != "LEGACY":
            return None  # the other solver goes on from the frame before
        if read | turned_by <= kept:
            return kept
        wanted = kept | read | turned_by


def _is_closed(armature: Object, kept: set[str], finder: RigGraph) -> bool:
    """Whether nothing else that the bones depend on depends on the armature in turn."""
    above = finder.above([(armature.name, name) for name in kept] or [(armature.name, "")])
    others = {owner for owner, _ in above.nodes if owner != armature.name}
    return not any(owner == armature.name for other in others for owner, _ in finder.above([(other, "")]).nodes)


def _bends(armature: Object, kept: set[str]) -> bool:
    """Whether a constraint reads how a bone is bent between its ends: that depends on its neighbours, which may be left out."""
    bones = armature.pose.bones
    bent = {name for name in kept if bones[name].bone.bbone_segments > 1}
    return bool(bent) and any(bent & _read_along(armature, bones[name]) for name in kept)


def _read_along(armature: Object, bone: PoseBone) -> set[str]:
    """Bones of the armature that a bone's constraints may read between head and tail."""
    read = set()
    for constraint in bone.constraints:
        if constraint.type == "ARMATURE":
            read |= {entry.subtarget for entry in constraint.targets if entry.target == armature}
        elif getattr(constraint, "use_bbone_shape", False) and constraint.target == armature:
            read.add(constraint.subtarget)
    return read


def _can_be_kept(armature: Object, fcurve: FCurve) -> bool:
    """Whether a driver means the same on a reduced rig: it names all that it reads."""
    driver = fcurve.driver
    if driver.use_self or (driver.type == "SCRIPTED" and not driver.is_simple_expression):
        return False
    return all(target.id != armature.data for variable in driver.variables for target in variable.targets)


REDUCED_NAME = ".twobone_reduced"

MAKING = 1000
"""What making a reduced rig costs at least, in parts of a rig that Blender could evaluate at a frame in the same time."""

MAKING_A_PART = 8
"""What it costs for each part of the rig. A part (a bone, a constraint, a driver) takes about 2.5 microseconds a frame."""

COMPARED = 3
"""Frames at which the rig is evaluated all the same."""

WORTH_ASKING = MAKING_A_PART + COMPARED
"""Frames; with fewer no reduced rig pays, however much is left out."""


@dataclass(frozen=True, slots=True)
class ReducedRig:
    """Stands in for a rig, or for an empty that depends on one; its name in the file is its own."""

    thing: Object
    bones: Collection[str] = ()
    """Names of those that are posed as the rig's are; of an empty none."""
    parented_to_rig: str = ""
    """Name of the rig whose reduced rig carries it."""

    def has(self, bones: Sequence[str]) -> bool:
        """Whether it poses all of these bones."""
        return all(name in self.bones for name in bones)

    def remove(self) -> None:
        """Leave nothing of it behind."""
        data, animation = self.thing.data, self.thing.animation_data
        action = animation.action if animation else None
        bpy.data.objects.remove(self.thing)
        if self.parented_to_rig:
            return
        if not data.users:
            bpy.data.armatures.remove(data)
        if action and not action.users:
            bpy.data.actions.remove(action)


@contextmanager
def reduced_rigs(quantities: Sequence[Quantity], frames: int) -> Iterator[dict[str, ReducedRig]]:
    """Reduced rigs of the armatures whose bones are among the quantities, by the armatures' names, for a walk over `frames`."""
    made: dict[str, ReducedRig] = {}
    try:
        if frames >= WORTH_ASKING:
            _make(made, quantities, frames)
        yield made
    finally:
        for rig in made.values():
            rig.remove()


def _make(made: dict[str, ReducedRig], quantities: Sequence[Quantity], frames: int) -> None:
    things = objects_by_name()
    finder = RigGraph(things)
    by_object: dict[str, list[Quantity]] = {}
    for quantity in quantities:
        by_object.setdefault(quantity.object, []).append(quantity)
    for name, own in by_object.items():
        armature = things[name]
        if not any(quantity.bone for quantity in own):
            continue
        if not pays(armature, set(), frames) or not is_bare(armature):  # Not even if next to nothing were kept.
            continue
        if any(quantity.kind in {"CHANNELS", "VALUE"} for quantity in own):
            continue
        # What else is evaluated may need the armature itself: then a reduced rig would only be one more, unless it can be moved.
        lineages = parented_to(armature, [quantity for quantity in quantities if quantity.object != name], finder)
        if lineages is None:
            continue
        kept = needed_bones(armature, [*(quantity.bone for quantity in own if quantity.bone), *carriers(lineages)], finder)
        if kept is None or not pays(armature, kept, frames):
            continue
        rig = reduced_rig(armature, kept)
        if rig is not None:
            made[name] = rig
            copied = copies_parented_to(rig.thing, lineages, REDUCED_NAME)
            made |= {other: ReducedRig(thing, parented_to_rig=name) for other, thing in copied.items()}


def pays(armature: Object, kept: set[str], frames: int) -> bool:
    """Whether what a reduced rig saves at so many frames is more than what it costs to make it.

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


def reduced_rig(armature: Object, kept: set[str]) -> ReducedRig | None:
    """A reduced rig of an armature that poses the bones `kept`; `None` where Blender does not let us make it now."""
    data = with_fewer_bones(armature, kept)
    if data is None:
        return None
    owners = owners_of(armature, kept)
    thing = armature.copy()
    thing.name = REDUCED_NAME
    for bone in thing.pose.bones:
        bone.custom_shape = bone.custom_shape_transform = None
    if all(_is_at_rest_as(bone, armature.data.bones[bone.name]) for bone in data.bones):
        thing.data = data
    else:
        bpy.data.armatures.remove(data)
        for bone in [bone for bone in thing.pose.bones if bone.name not in kept]:
            for constraint in list(bone.constraints):
                bone.constraints.remove(constraint)
    _keep_curves(thing, owners)
    drivers = thing.animation_data.drivers if thing.animation_data else ()
    for fcurve in [fcurve for fcurve in drivers if owner_of(fcurve.data_path) not in owners]:
        thing.animation_data.drivers.remove(fcurve)
    redirect(thing, armature, thing)
    return ReducedRig(thing, kept)


def _is_at_rest_as(bone: Bone, other: Bone) -> bool:
    """Whether two bones are at rest alike, to the last bit."""
    return all(getattr(bone, name) == getattr(other, name) for name in ("matrix_local", "matrix", "head", "length"))


def _keep_curves(thing: Object, owners: Collection[str]) -> None:
    """Let a copy of an object play a copy of its action that has the curves of these owners alone."""
    bag = curve_bag(thing)
    if bag is None or all(owner_of(fcurve.data_path) in owners for fcurve in bag.fcurves):
        return
    data = thing.animation_data
    slot, data.action = own_slot(data), data.action.copy()
    assign_slot(data, slot)
    fcurves = curve_bag(thing).fcurves
    for fcurve in [fcurve for fcurve in fcurves if owner_of(fcurve.data_path) not in owners]:
        fcurves.remove(fcurve)


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


@dataclass(slots=True)
class Verified:
    """Bones of each armature, by its name, that reduced rigs were found to pose as the armature does."""

    bones: dict[str, set[str]] = field(default_factory=dict)

    def covers(self, name: str, rig: ReducedRig) -> bool:
        """Whether all bones of a reduced rig were compared, but for those that depend on their parents alone."""
        if name not in self.bones:
            return False
        drivers = drivers_by_owner(rig.thing)
        return all(
            bone.name in self.bones[name] or (not bone.constraints and bone_owner(bone) not in drivers) for bone in _bones_of(rig)
        )

    def add(self, reduced: Mapping[str, ReducedRig]) -> None:
        """Remember what was compared."""
        for name, rig in reduced.items():
            self.bones.setdefault(name, set()).update(bone.name for bone in _bones_of(rig))


def _bones_of(rig: ReducedRig) -> Iterable[PoseBone]:
    """Those of its bones that are posed as the rig's are."""
    return [rig.thing.pose.bones[name] for name in rig.bones]


def shown_values(scene: Scene, quantities: Iterable[Quantity]) -> dict[Quantity, Array]:
    """World and posed matrices `(1, 4, 4)` as they are evaluated in the user's scene now; without those that are not."""
    found: dict[Quantity, Array] = {}
    for quantity in quantities:
        shown = _shown(scene, bpy.data.objects[quantity.object])
        if shown is None:
            continue
        matrix = np.array(shown.matrix_world) if quantity.kind == "WORLD" else np.eye(4)
        if quantity.bone:
            matrix = matrix @ np.array(shown.pose.bones[quantity.bone].matrix)
        found[quantity] = matrix[None]
    return found


def _shown(scene: Scene, thing: Object) -> Object | None:
    """An object as a view layer of the scene has evaluated it last."""
    for layer in scene.view_layers:
        evaluated = thing.evaluated_get(layer.depsgraph) if layer.depsgraph else thing
        if evaluated.is_evaluated:
            return evaluated
    return None
