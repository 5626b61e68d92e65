"""Create targets and poles: name them, place them at the tip and beyond the middle joint, and fill in those a chain lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.array_types import Array, KeyFrames
from ...core.arrays import path_length
from ...core.curves.continuity import continuous_quaternions
from ...core.rig.limb_normals import resting_hinge
from ...core.rig.limb_planes import carried_normal, plane_with_normal
from ...core.rig.plane_frames import LETTERS, STRAIGHT, carried_frames, letter_axes
from ...core.rig.rotations import nearest_rotation, to_quaternion, unit
from ...pipeline.motion.plan_motion import points
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import names_of
from ...pipeline.plan.found_chain import chain_found, chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...pipeline.plan.naming import named
from ...pipeline.plan.stored import StoredChain
from ...pipeline.story import Sample, Story
from ...records import replace
from ...scene.blender_types import Object, Scene
from ...scene.bones import ChainNames
from ...scene.graph.rig_graph import Stillness, dependencies
from ...scene.keys.reading import key_frames
from ...scene.keys.replaced import limb_name
from ...scene.keys.tables import ChannelKeys, StraightKeys
from ...scene.keys.writing import Change, write_keys
from ...scene.lookup import find_armature, object_named, objects_by_name, other_side
from ...scene.new_objects import ACROSS_X, add_empty, is_plain, mirror_plainly, own_mirror_image
from ...scene.restoring import as_evaluated
from ...scene.rig.chain_finding import end_name, plain_name
from ...scene.rig.rest_reading import starts_at_tail
from ...scene.sampling.quantities import Quantity
from ...scene.versions import ensure_curve_bag
from ...scene.visible.skin import seen_from
from ...scene.visible.visible_bone import Shown, shown_elsewhere
from ...scene.writer import assign
from ...settings import BakeSettings
from ...settings.options import POLE_SHAPE, TARGET_SHAPE
from .baking import GROUP

GUIDES = (("target", "target_bone"), ("pole", "pole_bone"), ("plane_object", ""))

ROLES = {"target": "Target", "pole": "Pole", "plane_object": "Plane"}

SHAPES = {"target": TARGET_SHAPE, "pole": POLE_SHAPE, "plane_object": "ARROWS"}

AWAY, TURNED = 0.25, 0.87
"""Distance relative to the limb's length, and cosine of a turn (30 degrees), beyond which a character has left its armature's
mirror plane: swaying hips stay below both."""

STILL = 1e-6
"""Movement, relative to the armature's size and distance from the world origin, below which a bone is still: single precision."""

ON_MIRROR = 1e-4
"""Distance from the mirror plane, relative to the bone's length, up to which a bone belongs to neither side."""


def other_guides(
    scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, present: StoredChain | None
) -> dict[str, str]:
    """Setting values that name the mirrored chain's own guides where flipping names found none; missing guides are made.

    settings : the source chain; mirrored : its settings with all names flipped that have another side; present : the other
    side's chain as stored now, if any
    """
    settings, mirrored = _without_leftovers(settings), _without_leftovers(mirrored)
    guides: dict[str, str] = {}
    for role, bone in GUIDES:
        source, stored = _followed(settings, role, bone), _stored(present, role, bone)
        if not source[0] or _followed(mirrored, role, bone) != source or source[0] not in objects_by_name():
            continue
        if stored[0] and stored != source:
            guides |= {role: stored[0], **({bone: stored[1]} if bone else {})}
        elif not _belongs_to_both(armature, role, *source):
            image = _add_image(scene, armature, settings, mirrored, role)
            _give_motion(scene, armature, settings, mirrored, role, image=image)
            guides |= {role: image.name, **({bone: ""} if bone else {})}
    return guides


def _followed(settings: BakeSettings, role: str, bone: str) -> tuple[str, str]:
    """Names of the object and bone that a chain follows in a role."""
    return getattr(settings, role), getattr(settings, bone) if bone else ""


def _stored(chain: StoredChain | None, role: str, bone: str) -> tuple[str, str]:
    """Names of the object and bone that a stored chain follows in a role."""
    followed = getattr(chain, role, None)
    return (followed.name, getattr(chain, bone) if bone else "") if followed else ("", "")


def _without_leftovers(settings: BakeSettings) -> BakeSettings:
    """Clear bone names left over from an earlier armature where the target or pole is no armature now."""
    objects = objects_by_name()
    followed_objects = {bone: objects.get(getattr(settings, role)) for role, bone in GUIDES if bone}
    emptied: dict[str, Any] = {
        bone: "" for bone, followed in followed_objects.items() if followed is not None and followed.pose is None
    }
    return replace(settings, **emptied)


def _belongs_to_both(armature: Object, role: str, name: str, bone: str) -> bool:
    """Whether both sides may share a guide: a bone in the middle, or a still pole or plane that is its own mirror image."""
    followed = object_named(name)
    if bone and bone in followed.data.bones:
        rest = followed.data.bones[bone]
        head = armature.matrix_world.inverted_safe() @ followed.matrix_world @ rest.head_local
        return abs(head.x) <= ON_MIRROR * rest.length
    return not bone and role != "target" and own_mirror_image(armature, followed)


def _add_image(scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, role: str) -> Object:
    """Add an empty like the object that a chain follows, without its motion."""
    followed = object_named(getattr(settings, role))
    bone = getattr(settings, f"{role}_bone", "")
    names = chain_names(armature, mirrored)
    flipped, stored = other_side(followed.name), other_side(settings.stored)
    is_empty = followed.type == "EMPTY" and not bone
    return add_empty(
        scene,
        armature if bone else followed,
        name=guide_name(ROLES[role], armature, names, stored) if bone or flipped == followed.name else flipped,
        location=np.zeros(3),
        size=followed.empty_display_size if is_empty else target_guide(armature, names).size,
        shape=followed.empty_display_type if is_empty else SHAPES[role],
    )


def _mirror_placement(armature: Object, settings: BakeSettings, mirrored: BakeSettings) -> Array:
    """Transform `(4, 4)`, armature space, by which the limbs' common ancestor has moved the mirror plane; identity while near.

    A character that has walked away from its armature's origin, or turned, has its plane of symmetry there.
    """
    bones = armature.pose.bones
    source_parents, mirrored_parents = (bones[name].parent_recursive for name in (settings.upper, mirrored.upper))
    ancestor = next((bone for bone in source_parents if bone in mirrored_parents), None)
    if ancestor is None:
        return np.eye(4)
    posed = np.array(ancestor.matrix) @ np.linalg.inv(np.array(ancestor.bone.matrix_local))
    posed[:3, :3] = nearest_rotation(posed[:3, :3])
    length = bones[settings.upper].bone.length + bones[settings.lower].bone.length
    moved = abs((posed @ np.array([*ancestor.bone.head_local, 1.0]))[0] - ancestor.bone.head_local[0])
    return posed if moved > AWAY * length or posed[0, 0] < TURNED else np.eye(4)


def _give_motion(
    scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, role: str, *, image: Object
) -> None:
    followed, bone = object_named(getattr(settings, role)), getattr(settings, f"{role}_bone", "")
    still = Stillness().holds(dependencies(objects_by_name(), [(armature.name, "")]).nodes)
    placement = _mirror_placement(armature, settings, mirrored)
    has_moved = not np.array_equal(placement, np.eye(4))
    if bone or has_moved or not is_plain(followed) or not mirror_plainly(armature, followed, image, armature_is_still=still):
        _mirror_motion(scene, armature, settings, image, Quantity("WORLD", followed.name, bone), placement=placement)


def _mirror_motion(
    scene: Scene, armature: Object, settings: BakeSettings, image: Object, source: Quantity, *, placement: Array
) -> None:
    """Key the image on every frame of the chain's range and of the object's own keys; a still one gets no keys."""
    start, end = frame_range(scene, settings)
    keyed = key_frames(object_named(source.object), source.bone)
    first, last = min([start, *keyed[:1]]), max([end, *keyed[-1:]])
    frames = KeyFrames(np.arange(math.floor(first), math.ceil(last) + 1, dtype=float))
    owner = Quantity("WORLD", armature.name)
    samples = sample(scene, [source, owner], frames)
    plane_world = samples.every(owner) @ placement
    mirror = plane_world @ np.array(ACROSS_X) @ np.linalg.inv(plane_world)
    # Mirrored in its own axes too, or the image would be left-handed.
    worlds = mirror @ samples.every(source) @ np.array(ACROSS_X)
    turns = continuous_quaternions(to_quaternion(nearest_rotation(worlds[:, :3, :3])))
    assign(image, "rotation_mode", "QUATERNION")
    channels = {"location": worlds[:, :3, 3], "rotation_quaternion": turns}
    for path, values in channels.items():
        assign(image, path, values[0])
    moving = {path: values for path, values in channels.items() if np.ptp(values, axis=0).max() > 0.0}
    if moving:
        write_keys(ensure_curve_bag(image), _keys(moving, frames), float(frames[0]), float(frames[-1]))


def _keys(channels: Mapping[str, Array], frames: KeyFrames) -> Sequence[ChannelKeys]:
    return [
        StraightKeys(path, index, GROUP, frames, values[:, index], "LINEAR")
        for path, values in channels.items()
        for index in range(values.shape[1])
    ]


TARGET_SIZE = 0.15
"""Size of a target relative to the chain's length: visible beside the bones without hiding them."""

POLE_SIZE = 0.1
"""Size of a pole relative to the chain's length."""

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
    guide, shown = target_guide(as_evaluated(armature), names), shown_elsewhere(armature, names)
    if shown is None:
        return guide
    shown_armature = as_evaluated(object_named(shown.armature))
    carrier = np.array(shown_armature.matrix_world @ shown_armature.pose.bones[shown.bone].matrix)
    return replace(guide, location_world=points(carrier[None], _seen_tip(armature, names, shown))[0])


def _seen_tip(armature: Object, names: ChainNames, shown: Shown) -> Array:
    """The chain's tip at rest, `(3,)`, in the space of the visible bone that carries it along."""
    tip = armature.data.bones[names.tip]
    place = tip.tail_local if names.tip_at_tail else tip.head_local
    return np.array(seen_from(armature, object_named(shown.armature), shown.bone, place))


def seen_motion(chain: StoredChain, shown: Shown, frames: KeyFrames, task: str) -> Story[list[Change]]:
    """Keys of a chain's target with the motion of the visible tip, at `frames` `(K,)`; none if that holds still."""
    carrier = Quantity("WORLD", shown.armature, shown.bone)
    tip = _seen_tip(chain.id_data, names_of(chain), shown)
    samples = yield Sample([carrier], frames)
    places = points(samples.every(carrier), tip)
    if np.ptp(places, axis=0).max() <= STILL * max(np.abs(places).max(), 1.0):
        return []
    keys = _keys({"location": places}, frames)
    within, limb = (float(frames[0]), float(frames[-1])), limb_name(chain.id_data.name, chain.upper)
    return [Change(chain.target.name, keys, within, task, limb, is_from_elsewhere=True)]


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


def guide_name(role: str, armature: Object, names: ChainNames, stored: str = "") -> str:
    """`role` followed by the plain name of the lower bone for a pole, else by the limb's name: that of its `stored` chain."""
    return f"{role} {plain_name(names.lower) if role == POLE_ROLE else stored or end_name(armature, names)}"


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
def added_targets(scene: Scene, chains: Sequence[StoredChain]) -> Iterator[None]:
    """Add an empty at the tip of each stored chain as its target, before a block."""
    for chain in chains:
        armature, names = chain.id_data, names_of(chain)
        guide, name = seen_target_guide(armature, names), guide_name("Target", armature, names, chain.name)
        assign(chain, "target", add_guide(scene, armature, guide, name=name, size=guide.size, shape=TARGET_SHAPE))
    yield


@contextmanager
def missing_guides(scene: Scene, chains: Sequence[BakeSettings], active: Object | None) -> Iterator[list[BakeSettings]]:
    """Create an empty for each target and pole that the settings leave out; raises a `TwoBoneError` for wrong bones.

    They are assigned to the stored chains that the settings come from, so that the run's next action finds them there.
    """
    settings = []
    for chain in chains:
        with named(chain):
            settings.append(_filled(scene, chain, active))
    for before, after in zip(chains, settings, strict=True):
        _store(before, after, active)
    yield settings


def _filled(scene: Scene, settings: BakeSettings, active: Object | None) -> BakeSettings:
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
        name = guide_name(role.capitalize(), armature, names, settings.stored)
        filled[role] = add_guide(scene, armature, guide, name=name, size=guide.size, shape=shape).name
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
            assign(chain, role, object_named(getattr(after, role)))
