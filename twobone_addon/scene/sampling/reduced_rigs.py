"""Reduced rigs: copies of big rigs with only the requested bones, the bones these depend on, and their curves.

Blender evaluates an armature as a whole: hundreds of bones, constraints and drivers to know four limbs. A reduced rig has the
rig's own animation, but only those of its bones that the requested ones depend on: the others neither move them nor cost time.
Whether a rig can be reduced follows from its constraints, drivers and animation. Whether its pose is bit-identical to the rig's
is checked where that costs least: what the user sees is evaluated already, so the pose is first compared with that, at the
present frame. Only where it differs, such as after unkeyed edits, is the rig itself evaluated once more, at several frames.

Edit Mode rounds rest poses: a rig that is not the same afterwards, as most imported ones, keeps all its bones and loses only
the other bones' curves, drivers and constraints, which take Blender as long.

Bones are removed in Edit Mode, which is entered and left in a temporary scene, on a temporary object in a collection that is
not shown. So the user's mode, selection and undo steps stay as they are, and Blender evaluates nothing meanwhile: removing 660
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
from ..edit_mode import switch_edit_mode
from ..graph.animation_reading import is_mixed, steers_bones
from ..graph.rig_graph import Node, RigGraph, drivers_by_owner, inverse_kinematics
from ..lookup import bone_owner, objects_by_name, owner_of
from ..versions import assign_slot, curve_bag, own_slot
from .probes import is_bare
from .quantities import Quantity
from .stage import UPDATE_HANDLERS, empty_stage, unheard

BARE_NAME = ".twobone_bones"


def with_fewer_bones(armature: Object, kept: Collection[str]) -> Object | None:
    """A copy of an armature object's data with only the bones `kept` and without its own animation.

    `None` where Edit Mode cannot be entered now.
    """
    data = armature.data.copy()
    data.animation_data_clear()
    removed = False
    try:
        with _unseen(data) as bare, unheard(UPDATE_HANDLERS):
            if _switch(bare, "EDIT"):
                bones = bare.data.edit_bones
                for bone in [bone for bone in bones if bone.name not in kept]:
                    bones.remove(bone)
                removed = _switch(bare, "OBJECT")
    finally:
        if not removed:
            bpy.data.armatures.remove(data)
    return data if removed else None


@contextmanager
def _unseen(data: Object) -> Iterator[Object]:
    """A temporary object with this data, active in a temporary scene that shows nothing."""
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


def _switch(bare: Object, mode: str) -> bool:
    """Set the temporary object's mode, whatever the user has in Edit Mode; return whether that was possible."""
    (stage,) = bare.users_scene
    edited = bare if bare.mode == "EDIT" else None
    overrides = {"active_object": bare, "object": bare, "selected_objects": [bare], "edit_object": edited}
    context: Context = bpy.context
    with context.temp_override(scene=stage, view_layer=stage.view_layers[0], **overrides):
        switch_edit_mode(bare, on=mode == "EDIT")
    return bare.mode == mode


def parented_to(armature: Object, others: Iterable[Quantity], finder: RigGraph) -> list[list[Object]] | None:
    """The lineage of each object among the quantities that depends on the armature: itself first, up to the armature's child.

    `None` where one depends on it by more than parents, so that a copy of it cannot depend on a reduced rig instead.
    """
    above = []
    for name, bone in dict.fromkeys((quantity.object, quantity.bone) for quantity in others):
        if all(owner != armature.name for owner, _ in finder.above([(name, bone)]).nodes):
            continue
        lineage = _lineage(finder.objects[name], armature)
        if bone or lineage is None:
            return None
        above.append(lineage)
    return above


def carriers(lineages: Iterable[Sequence[Object]]) -> list[str]:
    """Names of the bones that the lineages are parented to."""
    return [lineage[-1].parent_bone for lineage in lineages if lineage[-1].parent_type == "BONE"]


def _lineage(thing: Object, armature: Object) -> list[Object] | None:
    """An object and its parents below the armature; `None` where more than these and their own keys moves any of them."""
    lineage = []
    while thing != armature:
        if thing is None or not _moves_by_parents(thing):
            return None
        lineage.append(thing)
        thing = thing.parent
    return lineage


def _moves_by_parents(thing: Object) -> bool:
    data = thing.animation_data
    local = thing.library is None and thing.override_library is None
    moved = data is not None and (is_mixed(data) or len(data.drivers) > 0)
    bare = thing.type == "EMPTY" and thing.parent_type in {"OBJECT", "BONE"} and thing.rigid_body is None
    return local and bare and not moved and not thing.constraints


def copies_parented_to(rig: Object, lineages: Iterable[Sequence[Object]], name: str) -> dict[str, Object]:
    """Copies of an armature's lineages, all called `name`, parented to its reduced rig; by the originals' names."""
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
    """Names of the bones and of all bones of the armature that they depend on; `None` where these might not be enough."""
    if not _is_posed_plainly(armature):
        return None
    above = _nodes_above(armature, set(bones), finder)
    kept = bones_among(armature, above)
    if not kept or not _is_closed(armature, above, finder) or _bends(armature, kept):
        return None
    drivers = drivers_by_owner(armature)
    owners = owners_of(armature, kept)
    can_keep_drivers = all(_can_be_kept(armature, fcurve) for owner in owners for fcurve in drivers.get(owner, []))
    return kept if can_keep_drivers else None


def owners_of(armature: Object, bones: Iterable[str]) -> set[str]:
    """Owners, see `owner_of`, of the data paths of the bones and of the object itself."""
    return {"", *(bone_owner(armature.pose.bones[name]) for name in bones)}


def _is_posed_plainly(armature: Object) -> bool:
    """Whether only its own action, constraints and drivers pose a local armature."""
    data = armature.data
    local = not any((armature.library, armature.override_library, data.library, data.override_library))
    return local and not steers_bones(data) and not is_mixed(armature.animation_data)


def bones_among(armature: Object, nodes: Iterable[Node]) -> set[str]:
    """Names of the armature's bones among objects and bones."""
    return {bone for owner, bone in nodes if owner == armature.name and bone in armature.pose.bones}


def _nodes_above(armature: Object, required: set[str], finder: RigGraph) -> set[Node]:
    """All that these bones depend on, also by IK and by properties that drivers read; nothing where that may not be all."""
    names = {bone_owner(bone): bone.name for bone in armature.pose.bones}
    drivers, turning = drivers_by_owner(armature), inverse_kinematics(armature)
    carriers = {constraint.as_pointer(): bone.name for bone in armature.pose.bones for constraint in bone.constraints}
    while True:
        above = finder.above([(armature.name, name) for name in required])
        if above.reads_scene:
            return set()
        kept = bones_among(armature, above.nodes)
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
            return set()  # the iTaSC solver starts from the previous frame's pose
        if read | turned_by <= kept:
            return above.nodes
        # What drivers read and what IK turns has bones above it in turn, so look again until nothing is new.
        required = kept | read | turned_by


def _is_closed(armature: Object, above: set[Node], finder: RigGraph) -> bool:
    """Whether no other object among what bones depend on depends on their armature in turn."""
    others = {owner for owner, _ in above if owner != armature.name}
    return not any(owner == armature.name for other in others for owner, _ in finder.above([(other, "")]).nodes)


def _bends(armature: Object, kept: set[str]) -> bool:
    """Whether a constraint reads the curve of a bendy bone, which depends on its neighbours: these may be left out."""
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
    """Whether a driver works the same on a reduced rig: it names everything that it reads."""
    driver = fcurve.driver
    if driver.use_self or (driver.type == "SCRIPTED" and not driver.is_simple_expression):
        return False
    return all(target.id != armature.data for variable in driver.variables for target in variable.targets)


REDUCED_NAME = ".twobone_reduced"

MAKING = 1000
"""Minimum cost of making a reduced rig, in evaluations of one part of a rig at one frame."""

MAKING_A_PART = 8
"""Additional cost for each part of the rig. A part (a bone, a constraint, a driver) takes about 2.5 microseconds a frame."""

COMPARED = 3
"""Frames at which the rig itself is evaluated as well, to compare."""

WORTH_ASKING = MAKING_A_PART + COMPARED
"""Number of frames below which no reduced rig pays, however much is left out."""


@dataclass(frozen=True, slots=True)
class ReducedRig:
    """Stand-in for a rig, or for an empty that depends on one; it has a name of its own in the file."""

    thing: Object
    bones: Collection[str] = ()
    """Names of its bones that are posed as the rig's; none for an empty."""
    parented_to_rig: str = ""
    """Name of the rig whose reduced rig it is parented to; empty for a reduced rig."""

    def has(self, bones: Sequence[str]) -> bool:
        """Whether it poses all of these bones."""
        return all(name in self.bones for name in bones)

    def remove(self) -> None:
        """Remove the object, with its data and action where it is a rig."""
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
    """Reduced rigs of the armatures whose bones are among the quantities, by armature, for a pass over so many frames."""
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
    for name, quantities_of_rig in by_object.items():
        armature = things[name]
        if not any(quantity.bone for quantity in quantities_of_rig):
            continue
        if not pays(armature, set(), frames) or not is_bare(armature):  # Not even if no bones were kept.
            continue
        if any(quantity.kind in {"CHANNELS", "VALUE"} for quantity in quantities_of_rig):
            continue
        # Other quantities may depend on the armature: unless copies can depend on a reduced rig, that would not replace it.
        lineages = parented_to(armature, [quantity for quantity in quantities if quantity.object != name], finder)
        if lineages is None:
            continue
        kept = needed_bones(
            armature, [*(quantity.bone for quantity in quantities_of_rig if quantity.bone), *carriers(lineages)], finder
        )
        if kept is None or not pays(armature, kept, frames):
            continue
        rig = reduced_rig(armature, kept)
        if rig is not None:
            made[name] = rig
            copied = copies_parented_to(rig.thing, lineages, REDUCED_NAME)
            made |= {other: ReducedRig(thing, parented_to_rig=name) for other, thing in copied.items()}


def pays(armature: Object, kept: set[str], frames: int) -> bool:
    """Whether a reduced rig saves more at so many frames than it costs to make.

    The rig's parts are all that Blender evaluates of it: bones, constraints, drivers.
    """
    drivers = drivers_by_owner(armature)
    owners = owners_of(armature, kept)
    parts = 0
    left_out = sum(len(fcurves) for owner, fcurves in drivers.items() if owner not in owners)
    for bone in armature.pose.bones:
        cost = 1 + len(bone.constraints)
        parts += cost
        left_out += 0 if bone.name in kept else cost
    parts += sum(map(len, drivers.values()))
    return left_out * (frames - COMPARED) >= MAKING + MAKING_A_PART * parts


def reduced_rig(armature: Object, kept: set[str], *, plays: bool = True) -> ReducedRig | None:
    """A reduced rig of an armature that poses the bones `kept`; `None` where Edit Mode cannot be entered now.

    plays : it plays the armature's action, in which the other bones' curves are left out; else none
    """
    data = with_fewer_bones(armature, kept)
    if data is None:
        return None
    owners = owners_of(armature, kept)
    thing = armature.copy()
    thing.name = REDUCED_NAME
    # Blender evaluates the objects that bones are drawn as along with a rig.
    for bone in thing.pose.bones:
        bone.custom_shape = bone.custom_shape_transform = None
    # Edit Mode makes rest matrices anew from head, tail and roll. Where one is rounded otherwise than before, all bones stay.
    if all(_is_at_rest_as(bone, armature.data.bones[bone.name]) for bone in data.bones):
        thing.data = data
    else:
        bpy.data.armatures.remove(data)
        for bone in [bone for bone in thing.pose.bones if bone.name not in kept]:
            for constraint in list(bone.constraints):
                bone.constraints.remove(constraint)
    if plays:
        _keep_curves(thing, owners)
    elif thing.animation_data is not None:
        remove_played(thing)
    drivers = thing.animation_data.drivers if thing.animation_data else ()
    for fcurve in [fcurve for fcurve in drivers if owner_of(fcurve.data_path) not in owners]:
        thing.animation_data.drivers.remove(fcurve)
    redirect(thing, armature, thing)
    return ReducedRig(thing, kept)


def _is_at_rest_as(bone: Bone, other: Bone) -> bool:
    """Whether the rest poses of two bones are bit-identical."""
    return all(getattr(bone, name) == getattr(other, name) for name in ("matrix_local", "matrix", "head", "length"))


def remove_played(copied: Object) -> None:
    """Remove actions and strips from a copy; its drivers stay."""
    data = copied.animation_data
    if data is not None:
        # In tweak mode the action of animation data cannot be changed.
        data.use_tweak_mode = False
        data.action = None
        # Removing while walking Blender's own list would skip every other track.
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)


def _keep_curves(thing: Object, owners: Collection[str]) -> None:
    """Assign to a copy of an object a copy of its action with only the curves of these owners."""
    bag = curve_bag(thing)
    if bag is None or all(owner_of(fcurve.data_path) in owners for fcurve in bag.fcurves):
        return
    data = thing.animation_data
    # Where actions have slots, none is chosen for an object of another name than the one that it was made for.
    slot, data.action = own_slot(data), data.action.copy()
    assign_slot(data, slot)
    fcurves = curve_bag(thing).fcurves
    for fcurve in [fcurve for fcurve in fcurves if owner_of(fcurve.data_path) not in owners]:
        fcurves.remove(fcurve)


def redirect(copied: Object, before: Object, after: Object) -> None:
    """Let a copy's drivers and the constraints of its bones read `after` instead of `before`."""
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
    """Bones, by armature name, whose poses in reduced rigs were found identical to the armature's."""

    bones: dict[str, set[str]] = field(default_factory=dict)

    def covers(self, name: str, rig: ReducedRig) -> bool:
        """Whether all bones of a reduced rig were compared before, except those that depend on their parents alone."""
        if name not in self.bones:
            return False
        drivers = drivers_by_owner(rig.thing)
        return all(
            bone.name in self.bones[name] or (not bone.constraints and bone_owner(bone) not in drivers) for bone in _bones_of(rig)
        )

    def add(self, reduced: Mapping[str, ReducedRig]) -> None:
        """Record the bones of reduced rigs that were found identical."""
        for name, rig in reduced.items():
            self.bones.setdefault(name, set()).update(bone.name for bone in _bones_of(rig))


def _bones_of(rig: ReducedRig) -> Iterable[PoseBone]:
    """The bones of a reduced rig that are posed as the rig's."""
    return [rig.thing.pose.bones[name] for name in rig.bones]


def shown_values(scene: Scene, quantities: Iterable[Quantity]) -> dict[Quantity, Array]:
    """World and posed matrices `(1, 4, 4)` as now evaluated in the user's scene; without objects that are not evaluated there."""
    values: dict[Quantity, Array] = {}
    for quantity in quantities:
        shown = _shown(scene, bpy.data.objects[quantity.object])
        if shown is None:
            continue
        matrix = np.array(shown.matrix_world) if quantity.kind == "WORLD" else np.eye(4)
        if quantity.bone:
            matrix = matrix @ np.array(shown.pose.bones[quantity.bone].matrix)
        values[quantity] = matrix[None]
    return values


def _shown(scene: Scene, thing: Object) -> Object | None:
    """An object as last evaluated in a view layer of the scene; `None` where no layer has it."""
    for layer in scene.view_layers:
        evaluated = thing.evaluated_get(layer.depsgraph) if layer.depsgraph else thing
        if evaluated.is_evaluated:
            return evaluated
    return None
