"""Make the target, pole and plane object of a mirrored chain, with mirrored motion.

Plain objects are mirrored with their parent and keys; of all others the sampled motion is mirrored, with a key on every frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...core.array_types import Array
from ...core.curves.continuity import continuous_quaternions
from ...core.rig.rotations import nearest_rotation, to_quaternion
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import StoredChain
from ...pipeline.plan.found_chain import chain_names
from ...pipeline.plan.frame_choice import frame_range
from ...scene.blender_types import Object, Scene
from ...scene.graph.rig_graph import dependencies
from ...scene.graph.stillness import Stillness
from ...scene.keys.reading import key_frames
from ...scene.keys.writing import ChannelKeys, write_keys
from ...scene.lookup import object_named, objects_by_name, other_side
from ...scene.new_objects import ACROSS_X, add_empty, is_plain, mirror_plainly, own_mirror_image, remove_object
from ...scene.sampling.quantities import Quantity
from ...scene.versions import ensure_curve_bag
from ...settings import BakeSettings
from .guides import POLE_SHAPE, TARGET_SHAPE, guide_name, target_guide
from .keys import GROUP

GUIDES = (("target", "target_bone"), ("pole", "pole_bone"), ("plane_object", ""))

ROLES = {"target": "Target", "pole": "Pole", "plane_object": "Plane"}

SHAPES = {"target": TARGET_SHAPE, "pole": POLE_SHAPE, "plane_object": "ARROWS"}

AWAY, TURNED = 0.25, 0.87
"""Distance relative to the limb's length, and cosine of a turn (30 degrees), beyond which a character has left its armature's
mirror plane: swaying hips stay below both."""

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
    found: dict[str, str] = {}
    made: list[Object] = []
    try:
        for role, bone in GUIDES:
            source, stored = _followed(settings, role, bone), _stored(present, role, bone)
            if not source[0] or _followed(mirrored, role, bone) != source or source[0] not in objects_by_name():
                continue
            if stored[0] and stored != source:
                found |= {role: stored[0], **({bone: stored[1]} if bone else {})}
            elif not _belongs_to_both(armature, role, *source):
                made.append(_add_image(scene, armature, settings, mirrored, role))
                _give_motion(scene, armature, settings, mirrored, role, image=made[-1])
                found |= {role: made[-1].name, **({bone: ""} if bone else {})}
        made.clear()
    finally:
        for image in made:
            remove_object(image)
    return found


def _followed(settings: BakeSettings, role: str, bone: str) -> tuple[str, str]:
    """Names of the object and bone that a chain follows in a role."""
    return getattr(settings, role), getattr(settings, bone) if bone else ""


def _stored(chain: StoredChain | None, role: str, bone: str) -> tuple[str, str]:
    """Names of the object and bone that a stored chain follows in a role."""
    thing = getattr(chain, role, None)
    return (thing.name, getattr(chain, bone) if bone else "") if thing else ("", "")


def _without_leftovers(settings: BakeSettings) -> BakeSettings:
    """Clear bone names left over from an earlier armature where the target or pole is no armature now."""
    objects = objects_by_name()
    things = {bone: objects.get(getattr(settings, role)) for role, bone in GUIDES if bone}
    return replace(settings, **{bone: "" for bone, thing in things.items() if thing is not None and thing.pose is None})


def _belongs_to_both(armature: Object, role: str, name: str, bone: str) -> bool:
    """Whether both sides may share a guide: a bone in the middle, or a still pole or plane that is its own mirror image."""
    thing = object_named(name)
    if bone and bone in thing.data.bones:
        rest = thing.data.bones[bone]
        head = armature.matrix_world.inverted_safe() @ thing.matrix_world @ rest.head_local
        return abs(head.x) <= ON_MIRROR * rest.length
    return not bone and role != "target" and own_mirror_image(armature, thing)


def _add_image(scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, role: str) -> Object:
    """Add an empty like the object that a chain follows, without its motion."""
    thing = object_named(getattr(settings, role))
    bone = getattr(settings, f"{role}_bone", "")
    names = chain_names(armature, mirrored)
    flipped = other_side(thing.name)
    is_empty = thing.type == "EMPTY" and not bone
    return add_empty(
        scene,
        armature if bone else thing,
        name=guide_name(ROLES[role], armature, names) if bone or flipped == thing.name else flipped,
        location=np.zeros(3),
        size=thing.empty_display_size if is_empty else target_guide(armature, names).size,
        shape=thing.empty_display_type if is_empty else SHAPES[role],
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
    thing, bone = object_named(getattr(settings, role)), getattr(settings, f"{role}_bone", "")
    still = Stillness().holds(dependencies(objects_by_name(), [(armature.name, "")]).nodes)
    placement = _mirror_placement(armature, settings, mirrored)
    has_moved = not np.array_equal(placement, np.eye(4))
    if bone or has_moved or not is_plain(thing) or not mirror_plainly(armature, thing, image, armature_is_still=still):
        _mirror_motion(scene, armature, settings, image, Quantity("WORLD", thing.name, bone), placement=placement)


def _mirror_motion(
    scene: Scene, armature: Object, settings: BakeSettings, image: Object, source: Quantity, *, placement: Array
) -> None:
    """Key the image on every frame of the chain's range and of the object's own keys; a still one gets no keys."""
    start, end = frame_range(scene, settings)
    keyed = key_frames(object_named(source.object), source.bone)
    first, last = min([start, *keyed[:1]]), max([end, *keyed[-1:]])
    frames = np.arange(math.floor(first), math.ceil(last) + 1, dtype=float)
    owner = Quantity("WORLD", armature.name)
    samples = sample(scene, [source, owner], frames)
    plane_world = samples.every(owner) @ placement
    mirror = plane_world @ np.array(ACROSS_X) @ np.linalg.inv(plane_world)
    worlds = mirror @ samples.every(source) @ np.array(ACROSS_X)
    turns = continuous_quaternions(to_quaternion(nearest_rotation(worlds[:, :3, :3])))
    image.rotation_mode = "QUATERNION"
    channels = {"location": worlds[:, :3, 3], "rotation_quaternion": turns}
    for path, values in channels.items():
        setattr(image, path, values[0])
    moving = {path: values for path, values in channels.items() if np.ptp(values, axis=0).max() > 0.0}
    if moving:
        write_keys(ensure_curve_bag(image), _keys(moving, frames), float(frames[0]), float(frames[-1]))


def _keys(channels: Mapping[str, Array], frames: Array) -> list[ChannelKeys]:
    return [
        ChannelKeys(path, index, GROUP, frames, values[:, index], "LINEAR")
        for path, values in channels.items()
        for index in range(values.shape[1])
    ]
