"""Objects that tasks create: empties, mirror images with their keys, and stand-ins at the origins of parent spaces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ..core.array_types import Array
from ..errors import WriteError
from .blender_types import Object, Scene
from .keys.reading import is_animated, motion_curves
from .keys.tables import HANDLES, put_keys, read_keys
from .lookup import other_side
from .versions import ensure_curve_bag, new_fcurve
from .writer import at_end, drop_action, make


def add_empty(
    scene: Scene, beside: Object, *, name: str, location: Array, size: float, shape: str, rotation: Array | None = None
) -> Object:
    """Add an empty to a collection of the object `beside`, or to the scene's own where none of these can be used.

    A collection cannot be used if it is not in the scene, or comes from another file, overridden or not.

    location : (3,), rotation : (3, 3) or none, world space
    """
    empty = make(partial(bpy.data.objects.new, name, None), bpy.data.objects.remove)
    empty.location = location
    if rotation is not None:
        empty.rotation_euler = Matrix(rotation.tolist()).to_euler()
    empty.empty_display_type = shape
    empty.empty_display_size = size
    empty.show_in_front = True
    in_scene = {collection.name for collection in scene.collection.children_recursive}
    collections = [
        collection for collection in beside.users_collection if not (collection.library or collection.override_library)
    ]
    homes = [collection for collection in collections if collection.name in in_scene]
    (homes[0] if homes else scene.collection).objects.link(empty)
    return empty


def remove_object(thing: Object) -> None:
    """Remove an object from the file, with its action if nothing else plays it."""
    action = thing.animation_data.action if thing.animation_data else None
    at_end(partial(bpy.data.objects.remove, thing))
    if action is not None:
        drop_action(action)


ACROSS_X = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))

NEARLY = 1e-5
"""Difference of matrices that single precision may cause."""

AXIAL = {"rotation_euler", "delta_rotation_euler"}
"""Channels of rotations about axes, whose signs a mirror changes the other way round than those of locations."""

FOUR = {"rotation_quaternion", "rotation_axis_angle"}
"""Rotation channels with a first number that no mirror changes, before numbers like those of `AXIAL`."""

POLAR = {"location", "delta_location"}
"""Channels of locations."""


def mirror_world(armature: Object) -> Matrix:
    """Matrix of the mirror across the armature's own YZ plane, world space."""
    return armature.matrix_world @ ACROSS_X @ armature.matrix_world.inverted_safe()


def is_plain(thing: Object) -> bool:
    """Whether only its own keys and its parent move an object: no constraints, drivers, strips, samples, modifiers."""
    data = thing.animation_data
    constrained = any(not constraint.mute for constraint in thing.constraints)
    if constrained or thing.rigid_body is not None or thing.parent_type not in {"OBJECT", "BONE"}:
        return False
    if data is None:
        return True
    curves = motion_curves(thing)
    return not data.drivers and not data.nla_tracks and not any(curve.modifiers or curve.sampled_points for curve in curves)


def own_mirror_image(armature: Object, thing: Object) -> bool:
    """Whether a still object lies on the mirror plane and is its own image, apart from the signs of its axes."""
    mirrored = np.array(mirror_world(armature) @ thing.matrix_world)
    world = np.array(thing.matrix_world)
    size = 1.0 + np.abs(world[:3, 3]).max()
    # An axis that is its own image, or the opposite of it, has with it the product that it has with itself.
    axes = np.abs(np.abs(np.einsum("ij,ij->j", mirrored[:3, :3], world[:3, :3])) - np.sum(world[:3, :3] ** 2, axis=0))
    moves = thing.animation_data is not None or thing.parent is not None or len(thing.constraints) > 0
    return not moves and bool(np.abs(mirrored[:3, 3] - world[:3, 3]).max() <= NEARLY * size and axes.max() <= NEARLY)


def mirror_plainly(armature: Object, thing: Object, image: Object, *, armature_is_still: bool) -> bool:
    """Parent and key an empty as the mirror image of a plain object; return whether that was possible, else change nothing.

    It is impossible where the object's parent has no other side, or where the mirror is no change of signs in the
    space of its location.
    """
    parent = _other_parent(armature, thing)
    if parent is None or (parent[0] is None and not armature_is_still):
        return False
    owner, bone = parent
    mirror = mirror_world(armature)
    if owner is None:
        signs, shift = np.diag(np.array(mirror))[:3], np.array(mirror)[:3, 3]
        if np.abs(np.array(mirror)[:3, :3] - np.diag(np.sign(signs))).max() > NEARLY:
            return False
    else:
        image.parent, image.parent_type, image.parent_bone = owner, thing.parent_type, bone
        # The image's own matrix is then the object's between two mirrors: the same channels, some with other signs.
        before = _parent_world(thing.parent, thing.parent_bone) @ thing.matrix_parent_inverse
        image.matrix_parent_inverse = _parent_world(owner, bone).inverted_safe() @ mirror @ before @ ACROSS_X
        signs, shift = np.array([-1.0, 1.0, 1.0]), np.zeros(3)
    _mirror_channels(thing, image, np.sign(signs), shift)
    _mirror_curves(thing, image, np.sign(signs), shift)
    return True


def _other_parent(armature: Object, thing: Object) -> tuple[Object | None, str] | None:
    """Parent and parent bone of the mirrored object; `None` where these have no other side."""
    parent, bone = thing.parent, thing.parent_bone if thing.parent_type == "BONE" else ""
    if parent is None:
        return None, ""
    flipped = other_side(parent.name)
    owner = parent if flipped == parent.name else bpy.data.objects.get(flipped)
    if owner is None or (owner == parent and parent != armature):
        return None
    if bone:
        other = other_side(bone)
        if other == bone or owner.pose is None or other not in owner.pose.bones:
            return (owner, bone) if other == bone and owner == armature else None
        bone = other
    return owner, bone


def _parent_world(parent: Object, bone: str) -> Matrix:
    """World matrix of the space of a parent's children; for a bone at its tail, at rest."""
    if not bone or parent.pose is None or bone not in parent.data.bones:
        return parent.matrix_world.copy()
    rest = parent.data.bones[bone]
    return parent.matrix_world @ rest.matrix_local @ Matrix.Translation((0.0, rest.length, 0.0))


def _mirror_channels(thing: Object, image: Object, signs: Array, shift: Array) -> None:
    image.rotation_mode = thing.rotation_mode
    for path in (*POLAR, *AXIAL, *FOUR, "scale", "delta_scale"):
        values = np.array(getattr(thing, path), dtype=float)
        changes = [_mirror_change(path, index, signs, shift) for index in range(len(values))]
        setattr(image, path, [factor * value + added for value, (factor, added) in zip(values, changes, strict=True)])


def _mirror_curves(thing: Object, image: Object, signs: Array, shift: Array) -> None:
    curves = motion_curves(thing)
    if not curves:
        return
    bag = ensure_curve_bag(image)
    for curve in curves:
        factor, added = _mirror_change(curve.data_path, curve.array_index, signs, shift)
        table = read_keys(curve)
        for name in ("co", *HANDLES):
            table[name][:, 1] = factor * table[name][:, 1] + added
        made = new_fcurve(bag, curve.data_path, curve.array_index, curve.group.name if curve.group else "Object Transforms")
        put_keys(made, table)
        made.extrapolation, made.color_mode, made.mute = curve.extrapolation, curve.color_mode, curve.mute
        made.update()


def _mirror_change(path: str, index: int, signs: Array, shift: Array) -> tuple[float, float]:
    """Factor and offset that turn a channel's number into its mirror image's."""
    if path in POLAR:
        return float(signs[index]), float(shift[index]) if path == "location" else 0.0
    if path in AXIAL:
        return float(-signs[index]), 0.0
    if path in FOUR and index > 0:
        return float(-signs[index - 1]), 0.0
    return 1.0, 0.0


STAND_IN = ".twobone_stand_in"
"""Name of temporary empties in parent spaces."""


def refuse_constrained(thing: Object) -> None:
    """Raise `WriteError` where keys on an object's location would not be visible."""
    constraints = (constraint for constraint in thing.constraints if not constraint.mute)
    acting = next(
        (
            constraint
            for constraint in constraints
            if constraint.influence > 0.0 or is_animated(thing, f"{constraint.path_from_id()}.influence")
        ),
        None,
    )
    if acting is not None:
        raise WriteError(
            'Object "{object}" has constraint "{constraint}", so keys would not place it. Mute the constraint first.',
            object=thing.name,
            constraint=acting.name,
        )


@contextmanager
def parent_frames(things: list[Object]) -> Iterator[list[str]]:
    """Names of temporary empties that are where each object would be without its own location, rotation and scale."""
    empties = []
    try:
        for thing in things:
            empty = bpy.data.objects.new(STAND_IN, None)
            empties.append(empty)
            empty.parent = thing.parent
            empty.parent_type, empty.parent_bone = thing.parent_type, thing.parent_bone
            empty.parent_vertices = thing.parent_vertices
            empty.matrix_parent_inverse = thing.matrix_parent_inverse
        yield [empty.name for empty in empties]
    finally:
        for empty in empties:
            bpy.data.objects.remove(empty)
