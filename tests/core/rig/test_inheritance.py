"""How a bone follows its parent, against Blender's own arithmetic and against what the manual says."""

from itertools import product

import numpy as np
import pytest

from tests.core.rig.matrices import affine, rotations
from twobone_addon.core.rig.bones import BoneChannels, RestBone
from twobone_addon.core.rig.inheritance import local_basis, parent_transform, pose_bone, pose_with_channels

SINGLE = 1e-5
"""Of matrices whose entries are up to about ten, in Blender's single precision."""

DOUBLE = 1e-9

SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
KINDS = ("rotated", "scaled", "uneven", "mirrored", "sheared")
FLAGS = list(product(SCALES, (True, False), (True, False)))
COUNT = 12

each_flags = pytest.mark.parametrize("inherit_scale, rotation, location", FLAGS)


def bone_with(rng, inherit_scale, rotation, location):
    parent_rest, rest = affine(rng), affine(rng)
    return RestBone("bone", rest, parent_rest, 1.0, "XYZ", inherit_scale, rotation, location)


def channels_of(rng):
    scale = rng.uniform(0.5, 2, (COUNT, 3)) * np.where(rng.random((COUNT, 3)) < 0.2, -1, 1)
    return BoneChannels(rng.normal(size=(COUNT, 3)), rotations(rng, COUNT), scale)


@pytest.mark.parametrize("kind", KINDS)
@each_flags
def test_a_posed_bone_is_where_blender_puts_it(rng, inherit_scale, rotation, location, kind):
    pytest.importorskip("bpy")
    bone = bone_with(rng, inherit_scale, rotation, location)
    parents, channels = affine(rng, COUNT, kind=kind), channels_of(rng)
    ours = pose_with_channels(bone, parents, channels)
    theirs = np.array([posed_by_blender(bone, parents[row], channels, row) for row in range(COUNT)])
    size = np.abs(theirs).max(axis=(-2, -1), keepdims=True)
    assert (np.abs(ours - theirs) / size).max() <= SINGLE


def posed_by_blender(bone, parent, channels, row):
    import bpy
    from mathutils import Matrix

    data = bpy.data.armatures.get("Flags") or new_armature()
    flagged = data.bones["bone"]
    flagged.inherit_scale = bone.inherit_scale
    flagged.use_inherit_rotation, flagged.use_local_location = bone.inherit_rotation, bone.local_location
    local = np.eye(4)
    local[:3, :3] = channels.rotation[row] * channels.scale[row]
    local[:3, 3] = channels.location[row]
    return flagged.convert_local_to_pose(
        Matrix(local), Matrix(bone.rest), parent_matrix=Matrix(parent), parent_matrix_local=Matrix(bone.parent_rest)
    )


def new_armature():
    """Flags belong to bones of a file, and only a bone with a parent has them heeded."""
    import bpy

    data = bpy.data.armatures.new("Flags")
    thing = bpy.data.objects.new("Flags", data)
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.objects.active = thing
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("parent", "bone"):
        data.edit_bones.new(name).tail = (0, 0, 1)
    data.edit_bones["bone"].parent = data.edit_bones["parent"]
    bpy.ops.object.mode_set(mode="OBJECT")
    return data


@pytest.mark.parametrize("kind", KINDS)
@each_flags
def test_the_channels_of_a_posed_bone_are_found_again(rng, inherit_scale, rotation, location, kind):
    bone = bone_with(rng, inherit_scale, rotation, location)
    parents, channels = affine(rng, COUNT, kind=kind), channels_of(rng)
    found_location, linear = local_basis(bone, parents, pose_with_channels(bone, parents, channels))
    assert np.abs(found_location - channels.location).max() <= DOUBLE
    assert np.abs(linear - channels.rotation * channels.scale[:, None, :]).max() <= DOUBLE


def test_a_bone_without_parent_is_its_rest_matrix_times_its_own(rng):
    bone = RestBone("root", affine(rng), None, 1.0, "XYZ")
    channels = channels_of(rng)
    own = np.zeros((COUNT, 4, 4))
    own[:, :3, :3], own[:, :3, 3], own[:, 3, 3] = channels.rotation * channels.scale[:, None, :], channels.location, 1
    assert np.abs(pose_with_channels(bone, None, channels) - bone.rest @ own).max() <= DOUBLE


@each_flags
def test_under_a_resting_parent_every_flag_gives_the_rest_pose(rng, inherit_scale, rotation, location):
    bone = bone_with(rng, inherit_scale, rotation, location)
    transform = parent_transform(bone, bone.parent_rest[None])
    posed = pose_bone(transform, np.zeros(3), np.eye(3), np.ones(3))
    assert np.abs(posed - bone.rest).max() <= DOUBLE


@pytest.mark.parametrize("inherit_scale", ["NONE", "AVERAGE", "ALIGNED", "FIX_SHEAR"])
def test_what_promises_no_shear_has_none(rng, inherit_scale):
    bone = bone_with(rng, inherit_scale, rotation=True, location=True)
    axes = parent_transform(bone, affine(rng, COUNT, kind="uneven")).turn_and_scale
    normal = axes / np.linalg.norm(axes, axis=-2, keepdims=True)
    shear = np.swapaxes(normal, -1, -2) @ normal - np.eye(3)
    assert np.abs(shear).max() <= 1e-4  # Blender leaves axes alone that are that near to a right angle


@each_flags
def test_a_parent_scaled_to_nothing_gives_finite_numbers(inherit_scale, rotation, location, rng):
    bone = bone_with(rng, inherit_scale, rotation, location)
    nothing = np.zeros((1, 4, 4))
    nothing[:, 3, 3] = 1
    assert np.all(np.isfinite(pose_bone(parent_transform(bone, nothing), np.zeros(3), np.eye(3), np.ones(3))))
