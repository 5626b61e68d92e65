"""Change the roll and the rotation mode of bones together with their channels, so that only their own axes turn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import bpy
import numpy as np
from mathutils import Matrix

from ...core.array_types import Array
from ...core.rig.bones import RestBone
from ...core.rig.channels import STILL_ZERO
from ...errors import WriteError
from ...records import replace
from ...said import Sentence
from ..blender_types import Channel, Constraint, FCurve, Object, PoseBone
from ..bones import rotation_path
from ..edit_mode import switch_edit_mode
from ..keys.ledger import baked_channels
from ..keys.reading import is_animated, motion_curves
from ..keys.writing import ChannelKeys, write_keys
from ..lookup import rotation_values
from ..versions import curve_bag, ensure_curve_bag, present_fcurves
from ..writer import assign, drop_curve, keep, on_failure
from .constraints import reads_bone

LOCAL_SPACES = {"LOCAL", "LOCAL_WITH_PARENT", "LOCAL_OWNER_ORIENT"}
"""Owner spaces of constraints that turn with the bone's roll."""

READS_AXES = {"COPY_ROTATION", "COPY_TRANSFORMS", "CHILD_OF", "ARMATURE", "TRANSFORM", "ACTION", "PIVOT"}
"""Constraints that read the orientation of their target bone, not only its position."""

ROLL_ROUNDS = 3
"""Iterations that set a roll: each but the first removes the rounding error left before; the third finds none."""

EVEN = 1e-6
"""Difference of two scales, or a location, that counts as rounding."""


def refuse_unrollable(armature: Object, name: str) -> None:
    """Raise `WriteError` where a change of the bone's roll would be seen, or cannot be made."""
    data, bone = armature.data, armature.pose.bones[name]
    if not data.is_editable or data.override_library is not None:
        raise WriteError(
            'The bones of "{armature}" are linked from another file, so the roll of "{bone}" cannot change.',
            armature=armature.name,
            bone=name,
        )
    if data.users > 1:
        raise WriteError(
            'Armature data "{armature}" has {users} users. Make it single-user to change the roll of "{bone}".',
            armature=data.name,
            users=data.users,
            bone=name,
        )
    view_layer = bpy.context.view_layer
    if view_layer.objects.get(armature.name) is None or not armature.visible_get():
        raise WriteError(
            'Armature "{armature}" is hidden. Show it to change the roll of "{bone}".', armature=armature.name, bone=name
        )
    reason = _why_visible(armature, bone)
    if reason:
        raise WriteError('Changing the roll of bone "{bone}" would be visible: {reason}.', bone=name, reason=reason)


def change_rolls(armature: Object, changes: Mapping[str, float]) -> None:
    """Add to the rolls of bones, by name, in radians. Locations, custom shapes and children are adapted."""
    # Edit Mode's roll is up to 1e-5 radians off, so the goal is computed from the bone's rest matrix.
    rests = {name: armature.data.bones[name].matrix_local.to_3x3() for name in changes}
    goals = {name: rests[name] @ Matrix.Rotation(change, 3, "Y") for name, change in changes.items()}
    with _edit_mode(armature):
        bones = armature.data.edit_bones
        on_failure(partial(_set_rolls, armature, {name: bones[name].roll for name in goals}))
        for name, goal in goals.items():
            for _ in range(ROLL_ROUNDS):
                # Both differ by a turn about Y only, whose cosine and sine stand in the first row.
                away = bones[name].matrix.to_3x3().transposed() @ goal
                bones[name].roll += math.atan2(away[0][2], away[0][0])
    for name, change in changes.items():
        back = Matrix.Rotation(-change, 3, "Y")
        bone = armature.pose.bones[name]
        # Other locations are along the armature's axes, which no roll turns.
        if bone.bone.use_local_location:
            assign(bone, "location", back @ bone.location)
        assign(bone, "custom_shape_translation", back @ bone.custom_shape_translation)
        turned = (back @ bone.custom_shape_rotation_euler.to_matrix()).to_euler()
        assign(bone, "custom_shape_rotation_euler", turned)
        for child in _carried_objects(armature, name):
            assign(child, "matrix_parent_inverse", back.to_4x4() @ child.matrix_parent_inverse)


def _set_rolls(armature: Object, rolls: Mapping[str, float]) -> None:
    with _edit_mode(armature):
        for name, roll in rolls.items():
            armature.data.edit_bones[name].roll = roll


@contextmanager
def _edit_mode(armature: Object) -> Iterator[None]:
    """Edit the armature's bones in a block; afterwards the active object and the mode are restored."""
    objects = bpy.context.view_layer.objects
    active, mode = objects.active, armature.mode
    if active is not None and active != armature and active.mode != "OBJECT":
        raise WriteError(
            'Leave the mode of "{object}" first: rolls are changed with "{armature}" active.',
            object=active.name,
            armature=armature.name,
        )
    on_failure(partial(_set_mode, armature, mode, active))
    objects.active = armature
    switch_edit_mode(armature, on=True)
    try:
        yield
    finally:
        _set_mode(armature, mode, active)


def _set_mode(armature: Object, mode: str, active: Object | None) -> None:
    objects = bpy.context.view_layer.objects
    if armature.mode != mode:
        objects.active = armature
        switch_edit_mode(armature, on=mode == "EDIT")
        # Edit Mode may be left for another mode than the one before it.
        if armature.mode != mode:
            bpy.ops.object.mode_set(mode=mode)
    objects.active = active


def _why_visible(armature: Object, bone: PoseBone) -> Sentence | None:
    """Why a change of roll would be visible, as the end of a sentence; `None` if it would not."""
    if bone.bone.bbone_segments > 1:
        return Sentence("it bends in segments")
    scales, locations = [], []
    for fcurve in motion_curves(armature, bone.name):
        channel = fcurve.data_path.rpartition(".")[2]
        values = [key.co.y for key in fcurve.keyframe_points]
        # Roll turns about Y, so what lies along Y stays where it is.
        if channel == "scale" and fcurve.array_index != 1:
            scales.extend(values)
        if channel == "location" and fcurve.array_index != 1 and bone.bone.use_local_location and not bone.bone.use_connect:
            locations.extend(values)
    scales.extend([bone.scale.x, bone.scale.z])
    if np.ptp(scales) > EVEN:
        return Sentence("it is scaled unevenly")
    if locations and np.abs(locations).max() > EVEN:
        return Sentence("its location is animated")
    in_own_space = [constraint.name for constraint in bone.constraints if getattr(constraint, "owner_space", "") in LOCAL_SPACES]
    others = [
        constraint.name
        for constraint in _all_constraints()
        if constraint.type in READS_AXES and reads_bone(constraint, armature, bone.name)
    ]
    names = [*in_own_space, *others]
    return Sentence('constraint "{constraint}" works in its axes', {"constraint": names[0]}) if names else None


def _all_constraints() -> Iterator[Constraint]:
    for thing in bpy.data.objects:
        yield from thing.constraints
        for bone in thing.pose.bones if thing.pose else ():
            yield from bone.constraints


def _carried_objects(armature: Object, bone: str) -> Iterator[Object]:
    """Objects parented to the bone, except by Relative Parenting: these follow its deformation, which does not change."""
    relative = armature.data.bones[bone].use_relative_parent
    for thing in bpy.data.objects:
        if thing.parent == armature and thing.parent_type == "BONE" and thing.parent_bone == bone and not relative:
            yield thing


ROTATIONS = ("rotation_quaternion", "rotation_axis_angle", "rotation_euler")


@dataclass(frozen=True, slots=True)
class RotationChannels:
    """The rotation property of one bone."""

    path: str
    values: tuple[float, ...]
    """Present values: quaternion, axis-angle, or Euler angles and 0."""
    curves: dict[int, FCurve]
    """Curves of the present action, by channel index."""
    opaque: bool
    """Whether strips or drivers, but no curves of the action, animate the rotation, so that keys do not tell its values."""
    baked: frozenset[int]
    """Indices of the channels with baked keys."""

    @property
    def animated(self) -> bool:
        """Whether anything animates the rotation."""
        return bool(self.curves) or self.opaque

    def turns_beside(self, channel: int) -> bool:
        """Whether any Euler channel other than this one is, or becomes, nonzero."""
        others = [index for index in range(3) if index != channel]
        return self.opaque or any(
            _leaves_zero(self.curves[index]) if index in self.curves else abs(self.values[index]) > STILL_ZERO for index in others
        )


def read_rotation_channels(armature: Object, bone: RestBone) -> RotationChannels:
    """The channels of the bone's present rotation mode."""
    path = rotation_path(bone)
    curves = {fcurve.array_index: fcurve for fcurve in present_fcurves(armature) if fcurve.data_path == path}
    return RotationChannels(
        path,
        rotation_values(armature.pose.bones[bone.name]),
        curves,
        opaque=is_animated(armature, path) and not curves,
        baked=frozenset(index for _, index in baked_channels(armature, {path})) if curves else frozenset(),
    )


def set_rotation_mode(
    armature: Object, bone: str, mode: str, *, value: Array, keys: Sequence[ChannelKeys], types: Array, paths: Sequence[str]
) -> None:
    """Give a bone an Euler rotation mode with the angles `value` `(3,)` and these keys.

    types : (K,) type of each key
    paths : data paths whose curves are replaced
    """
    pose_bone = armature.pose.bones[bone]
    for channel in ROTATIONS:  # Blender converts all of them when the mode changes.
        keep(pose_bone, channel)
    assign(pose_bone, "rotation_mode", mode)
    assign(pose_bone, "rotation_euler", value)
    if keys:
        write_keys(ensure_curve_bag(armature), keys, -np.inf, np.inf)
    bag = curve_bag(armature)
    keyed = {channel.channel for channel in keys}
    for fcurve in list(bag.fcurves) if bag else ():
        if Channel.of(fcurve) in keyed:
            fcurve.keyframe_points.foreach_set("type", types)
        elif fcurve.data_path in paths:
            drop_curve(bag, fcurve)


def euler_path(bone: RestBone) -> str:
    """Data path of the bone's Euler angles, whatever its rotation mode."""
    return rotation_path(replace(bone, rotation_mode="XYZ"))


def _leaves_zero(fcurve: FCurve) -> bool:
    if fcurve.sampled_points or fcurve.modifiers:
        return True
    # Handles of a flat curve are flat as well, unless somebody has pulled them.
    return any(
        abs(point.y) > STILL_ZERO for key in fcurve.keyframe_points for point in (key.co, key.handle_left, key.handle_right)
    )
