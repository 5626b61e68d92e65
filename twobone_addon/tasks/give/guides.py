"""Create targets and poles: name them, place them at the tip and beyond the middle joint, and fill in those a chain lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from ...core.array_types import Array
from ...core.arrays import path_length
from ...core.rig.limb_normals import resting_hinge
from ...core.rig.limb_planes import carried_normal, plane_with_normal
from ...core.rig.plane_frames import LETTERS, STRAIGHT, carried_frames, letter_axes
from ...core.rig.rotations import nearest_rotation, unit
from ...pipeline.plan.completing import StoredChain
from ...pipeline.plan.found_chain import chain_found, chain_names
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.lookup import find_armature, object_named
from ...scene.new_objects import add_empty, remove_object
from ...scene.restoring import as_evaluated
from ...scene.rig.chain_finding import is_seen
from ...scene.rig.control_limbs import plain_name
from ...scene.rig.rest_reading import starts_at_tail
from ...scene.visible.skin import seen_from
from ...scene.visible.visible_bone import shown_bone
from ...settings import BakeSettings

TARGET_SIZE = 0.15
"""Size of a target relative to the chain's length: visible beside the bones without hiding them."""

POLE_SIZE = 0.1
"""Size of a pole relative to the chain's length."""

TARGET_SHAPE = "SPHERE"
POLE_SHAPE = "PLAIN_AXES"
POLE_ROLE = "Pole"


@dataclass(frozen=True, slots=True)
class Guide:
    """Placement of a new empty, in world space."""

    location_world: Array
    """`(3,)`"""
    size: float
    """World units."""
    rotation_world: Array | None = None
    """`(3, 3)`; `None` for the world's own axes."""


def target_guide(armature: Object, names: ChainNames) -> Guide:
    """Placement of a target at the posed chain's tip, rotated like the bone that begins there; `armature` is evaluated."""
    joints_world = _joints_world(armature, names)
    return Guide(joints_world[2], TARGET_SIZE * float(path_length(joints_world)), _end_rotation(armature, names))


def seen_target_guide(armature: Object, names: ChainNames) -> Guide:
    """Placement of a target at the visible tip, also where the deforming bones follow something else, such as the rig's IK."""
    guide, shown = target_guide(as_evaluated(armature), names), shown_bone(armature, names)
    if shown is None or shown.follows:
        return guide
    shown_armature = as_evaluated(object_named(shown.armature))
    tip = armature.data.bones[names.tip]
    place = seen_from(armature, shown_armature, shown.bone, tip.tail_local if names.tip_at_tail else tip.head_local)
    tip_world = shown_armature.matrix_world @ shown_armature.pose.bones[shown.bone].matrix @ place
    return replace(guide, location_world=np.array(tip_world))


def add_guide(scene: Scene, beside: Object, guide: Guide, *, name: str, size: float, shape: str) -> Object:
    """Add an empty at a guide's placement, to the collection of the object `beside`."""
    place, turn = guide.location_world, guide.rotation_world
    return add_empty(scene, beside, name=name, location=place, rotation=turn, size=size, shape=shape)


def pole_guide(armature: Object, names: ChainNames, plane: str, bend: str) -> Guide:
    """Placement of a pole one chain length beyond the middle joint, on the side to which the chain bends now.

    A straight chain has no such side: then it is the side to which `bend` would bend it in the armature's letter plane
    `plane`, or about its own hinge, see `resting_hinge`.
    """
    root, mid, tip = joints_world = _joints_world(armature, names)
    along = unit(tip - root)
    length = float(path_length(joints_world))
    aside = (mid - root) - along * ((mid - root) @ along)
    if np.sqrt(aside @ aside) <= STRAIGHT * length:
        aside = _side_of_bend(armature, names, along, plane) * (-1.0 if bend == "NEGATIVE" else 1.0)
    return Guide(mid + unit(aside) * length, POLE_SIZE * length)


def guide_name(role: str, armature: Object, names: ChainNames) -> str:
    """`role` followed by the plain name of a bone: the lower bone for a pole, else the bone that begins at the tip.

    If several bones begin there, the first visible one is used; if none does, the bone that ends there.
    """
    if role == POLE_ROLE:
        return f"{role} {plain_name(names.lower)}"
    tip = armature.pose.bones[names.tip]
    starting = [child for child in tip.children if starts_at_tail(child)] if names.tip_at_tail else [tip]
    if starting:
        first = starting[0]
        candidates = [first, *(child for child in first.children_recursive if child.bone.head_local == first.bone.head_local)]
        return f"{role} {plain_name(next((bone for bone in candidates if is_seen(bone)), first).name)}"
    return f"{role} {plain_name(names.tip)}"


def _end_rotation(armature: Object, names: ChainNames) -> Array | None:
    """World rotation `(3, 3)` of the bone at the tip, which copying it leaves unchanged; `None` unless just one begins there."""
    tip = armature.pose.bones[names.tip]
    starting = [child for child in tip.children if starts_at_tail(child)] if names.tip_at_tail else [tip]
    if len(starting) != 1:
        return None
    posed = nearest_rotation(np.array(starting[0].matrix)[:3, :3])
    return nearest_rotation(np.array(armature.matrix_world)[:3, :3] @ posed)


def _side_of_bend(armature: Object, names: ChainNames, along: Array, plane: str) -> Array:
    """Direction, world space, in which a straight chain's middle joint moves when the chain bends to the positive side."""
    linear = np.array(armature.matrix_world)[:3, :3]
    if plane in LETTERS:
        frame = carried_frames(letter_axes(plane), linear)
    else:
        upper = linear @ np.array(armature.pose.bones[names.upper].matrix)[:3, :3]
        normal = carried_normal(resting_hinge(chain_found(armature, names).rest), upper)
        frame = plane_with_normal(normal[None], along[None]).frames[0]
    aside = np.cross(along, frame[:, 2])
    # A chain perpendicular to its plane has no side in it; any direction across the chain will do.
    return aside if np.any(np.abs(aside) > STRAIGHT) else frame[:, 0]


def _joints_world(armature: Object, names: ChainNames) -> Array:
    """Posed root, middle joint and tip, `(3, 3)`, world space."""
    bones = armature.pose.bones
    tip = bones[names.tip].tail if names.tip_at_tail else bones[names.tip].head
    places = (bones[names.upper].head, bones[names.lower].head, tip)
    return np.array([armature.matrix_world @ place for place in places])


@contextmanager
def missing_guides(scene: Scene, wanted: Sequence[BakeSettings], active: Object | None) -> Iterator[list[BakeSettings]]:
    """Create an empty for each target and pole that the settings leave out; raises a `TwoBoneError` for wrong bones.

    If the block succeeds, the empties stay and are assigned to the stored chains that the settings come from; otherwise they
    are removed.
    """
    made: list[Object] = []
    try:
        settings = [_filled(scene, chain, active, made) for chain in wanted]
        yield settings
        for before, after in zip(wanted, settings, strict=True):
            _store(before, after, active)
        made.clear()
    finally:
        for empty in made:
            remove_object(empty)


def _filled(scene: Scene, settings: BakeSettings, active: Object | None, made: list[Object]) -> BakeSettings:
    missing = [role for role in _roles(settings) if not getattr(settings, role)]
    if not missing:
        return settings
    armature = find_armature(settings.armature, active)
    names = chain_names(armature, settings)
    guides: dict[str, tuple[Guide, str]] = {
        "target": (target_guide(armature, names), TARGET_SHAPE),
        "pole": (pole_guide(armature, names, settings.plane, settings.bend), POLE_SHAPE),
    }
    filled = {}
    for role in missing:
        guide, shape = guides[role]
        name = guide_name(role.capitalize(), armature, names)
        made.append(add_guide(scene, armature, guide, name=name, size=guide.size, shape=shape))
        filled[role] = made[-1].name
    return replace(settings, **filled)


def _roles(settings: BakeSettings) -> tuple[str, ...]:
    return ("target", "pole") if settings.plane == "POLE" else ("target",)


def _store(before: BakeSettings, after: BakeSettings, active: Object | None) -> None:
    """Assign the empties made for the settings to the stored chain that they come from, if any."""
    chains = find_armature(after.armature, active).twobone.chains
    chain: StoredChain = chains.get(after.stored) if after.stored else None
    if chain is None:
        return
    for role in _roles(after):
        if not getattr(before, role):
            setattr(chain, role, object_named(getattr(after, role)))
