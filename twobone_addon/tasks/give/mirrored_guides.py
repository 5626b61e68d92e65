"""What a mirrored chain follows: the other side's own target, pole and plane object, made with their motion mirrored.

What is built plainly is mirrored as it is built, with its parents and its keys; of anything else the motion itself is mirrored,
a key on every frame.
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
"""Part of the limb's length, and cosine of a turn by 30 degrees, from which on a character is elsewhere: hips sway less."""

ON_MIRROR = 1e-4
"""Distance from the mirror, relative to the bone's length, up to which a bone belongs to neither side."""


def other_guides(
    scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, present: StoredChain | None
) -> dict[str, str]:
    """By role, the names of what the mirrored chain is to follow where flipped names lead to nothing of its own.

    settings : the chain that is mirrored; mirrored : the same as far as names can be flipped; present : the other side's chain
    as it is, if there is one. What is missing is made.
    """
    settings, mirrored = _without_leftovers(settings), _without_leftovers(mirrored)
    found: dict[str, str] = {}
    made: list[Object] = []
    try:
        for role, bone in GUIDES:
            own, theirs = _followed(settings, role, bone), _stored(present, role, bone)
            if not own[0] or _followed(mirrored, role, bone) != own or own[0] not in objects_by_name():
                continue
            if theirs[0] and theirs != own:
                found |= {role: theirs[0], **({bone: theirs[1]} if bone else {})}
            elif not _belongs_to_both(armature, role, *own):
                made.append(_image(scene, armature, settings, mirrored, role))
                _give_motion(scene, armature, settings, mirrored, role, image=made[-1])
                found |= {role: made[-1].name, **({bone: ""} if bone else {})}
        made.clear()
    finally:
        for image in made:
            remove_object(image)
    return found


def _followed(settings: BakeSettings, role: str, bone: str) -> tuple[str, str]:
    """Names of object and bone that a chain follows."""
    return getattr(settings, role), getattr(settings, bone) if bone else ""


def _stored(chain: StoredChain | None, role: str, bone: str) -> tuple[str, str]:
    """The same of a stored chain."""
    thing = getattr(chain, role, None)
    return (thing.name, getattr(chain, bone) if bone else "") if thing else ("", "")


def _without_leftovers(settings: BakeSettings) -> BakeSettings:
    """The settings without bones of what is no armature: of one that was the target, or the pole, before."""
    objects = objects_by_name()
    things = {bone: objects.get(getattr(settings, role)) for role, bone in GUIDES if bone}
    return replace(settings, **{bone: "" for bone, thing in things.items() if thing is not None and thing.pose is None})


def _belongs_to_both(armature: Object, role: str, own: str, bone: str) -> bool:
    """Whether both sides may follow the same: a bone in the middle, or a still pole or plane that stands on the mirror."""
    thing = object_named(own)
    if bone and bone in thing.data.bones:
        rest = thing.data.bones[bone]
        head = armature.matrix_world.inverted_safe() @ thing.matrix_world @ rest.head_local
        return abs(head.x) <= ON_MIRROR * rest.length
    return not bone and role != "target" and own_mirror_image(armature, thing)


def _image(scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, role: str) -> Object:
    """An empty like the object that a chain follows, without its motion."""
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


def _place_of_mirror(armature: Object, settings: BakeSettings, mirrored: BakeSettings) -> Array:
    """Where what carries both limbs has brought the armature's mirror `(4, 4)`, armature space; nowhere while it stands nearby.

    A character that has walked away from its armature's origin, or turned, has its other side there.
    """
    bones = armature.pose.bones
    own, theirs = (bones[name].parent_recursive for name in (settings.upper, mirrored.upper))
    both = next((bone for bone in own if bone in theirs), None)
    if both is None:
        return np.eye(4)
    posed = np.array(both.matrix) @ np.linalg.inv(np.array(both.bone.matrix_local))
    posed[:3, :3] = nearest_rotation(posed[:3, :3])
    length = bones[settings.upper].bone.length + bones[settings.lower].bone.length
    moved = abs((posed @ np.array([*both.bone.head_local, 1.0]))[0] - both.bone.head_local[0])
    return posed if moved > AWAY * length or posed[0, 0] < TURNED else np.eye(4)


def _give_motion(
    scene: Scene, armature: Object, settings: BakeSettings, mirrored: BakeSettings, role: str, *, image: Object
) -> None:
    thing, bone = object_named(getattr(settings, role)), getattr(settings, f"{role}_bone", "")
    still = Stillness().holds(dependencies(objects_by_name(), [(armature.name, "")]).nodes)
    place = _place_of_mirror(armature, settings, mirrored)
    is_here = np.array_equal(place, np.eye(4))
    if bone or not is_here or not is_plain(thing) or not mirror_plainly(armature, thing, image, armature_is_still=still):
        _mirror_motion(scene, armature, settings, image, Quantity("WORLD", thing.name, bone), place=place)


def _mirror_motion(
    scene: Scene, armature: Object, settings: BakeSettings, image: Object, source: Quantity, *, place: Array
) -> None:
    """Key the image on every frame of the chain's range and of the object's own keys; one that is still gets no keys."""
    start, end = frame_range(scene, settings)
    keyed = key_frames(object_named(source.object), source.bone)
    first, last = min([start, *keyed[:1]]), max([end, *keyed[-1:]])
    frames = np.arange(math.floor(first), math.ceil(last) + 1, dtype=float)
    owner = Quantity("WORLD", armature.name)
    samples = sample(scene, [source, owner], frames)
    carried = samples.every(owner) @ place
    mirror = carried @ np.array(ACROSS_X) @ np.linalg.inv(carried)
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
