"""Every way of sampling tells the same: curves in NumPy, probes in a temporary scene, and the user's scene."""

import bpy
import pytest

from tests.scene.movers import (
    SKEWED,
    TURNED,
    add_armature,
    add_driver,
    add_empty,
    animate,
    animate_bone,
    animate_rotation,
    animated_armature,
    animated_empty,
    curves_of,
    group_curves,
)
from tests.scene.sampled import CHANNELS, FRAMES, POSES, THING, assert_ways_agree
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.sampling.evaluate import Quantity

MODES = ("QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


@pytest.mark.parametrize("mode", MODES)
def test_an_object_with_all_channels_and_deltas_in_every_rotation_mode(scene, mode):
    thing = add_empty()
    thing.rotation_mode = mode
    for name, values in (
        ("location", (1, 2, 3)),
        ("scale", (1.5, 0.8, -2)),
        ("delta_location", (0, 5, 1)),
        ("delta_scale", (2, 1, 1)),
    ):
        animate(thing, name, values)
    animate_rotation(thing, "")
    animate_rotation(thing, "delta_")
    assert_ways_agree(scene, [THING], "CURVES")


@pytest.mark.parametrize("mode", MODES)
def test_an_object_with_unkeyed_deltas(scene, mode):
    thing = animated_empty()
    thing.rotation_mode = mode
    thing.delta_location, thing.delta_scale = (1, 2, 3), (0.5, 2, 1)
    thing.delta_rotation_euler, thing.delta_rotation_quaternion = (0.3, 0.2, 0.1), TURNED
    assert_ways_agree(scene, [THING], "CURVES")


def test_what_nothing_moves_is_still_wherever_its_parents_put_it(scene):
    parent, thing = add_empty("Parent"), add_empty()
    parent.matrix_world = SKEWED
    thing.parent, thing.matrix_parent_inverse, thing.location = parent, SKEWED.inverted(), (1, 2, 3)
    assert_ways_agree(scene, [THING, Quantity("WORLD", "Parent")], "STILL")


def test_a_line_of_moving_parents_with_parent_inverses(scene):
    above = None
    for name in ("First", "Second", "Third", "Thing"):
        thing = animated_empty(name)
        thing.parent, thing.matrix_parent_inverse = above, SKEWED
        above = thing
    assert_ways_agree(scene, [THING, Quantity("WORLD", "Second")], "CURVES")


@pytest.mark.parametrize("relative", [False, True])
def test_an_object_that_hangs_from_a_moving_bone(scene, relative):
    rig, thing = animated_armature(), animated_empty()
    animate(rig, "location", (3, 2, 1))
    rig.data.bones["lower"].use_relative_parent = relative
    thing.parent, thing.parent_type, thing.parent_bone, thing.matrix_parent_inverse = rig, "BONE", "lower", SKEWED
    assert_ways_agree(scene, [THING], "CURVES")


def test_a_bone_of_a_rig_that_hangs_from_a_bone_of_another_rig(scene):
    carrier, rig = animated_armature("Carrier"), animated_armature()
    rig.parent, rig.parent_type, rig.parent_bone = carrier, "BONE", "toe"
    assert_ways_agree(scene, [Quantity("WORLD", "Rig", "toe"), *POSES], "CURVES")


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize("inherit_scale", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_bones_under_every_way_to_inherit_scale(scene, inherit_scale, connected):
    rig = animated_armature(connected=connected)
    for bone in rig.data.bones:
        bone.inherit_scale = inherit_scale
    assert_ways_agree(scene, [*POSES, *CHANNELS], "CURVES")


def test_bones_that_take_neither_rotation_nor_location_from_their_parents(scene):
    rig = animated_armature()
    rig.data.bones["upper"].use_inherit_rotation = False
    rig.data.bones["lower"].use_local_location = False
    assert_ways_agree(scene, [*POSES, *CHANNELS], "CURVES")


@pytest.mark.parametrize("modes", [MODES[:4], MODES[4:]])
def test_channels_and_poses_in_every_rotation_mode(scene, modes):
    animated_armature(modes=modes)
    assert_ways_agree(scene, [*POSES, *CHANNELS], "CURVES")


def test_only_some_components_have_curves(scene):
    rig, thing = animated_armature(), animated_empty()
    for owner, path, index in (
        (thing, "location", 1),
        (rig, 'pose.bones["root"].rotation_quaternion', 0),
        (rig, 'pose.bones["upper"].scale', 2),
    ):
        curves_of(owner).remove(curves_of(owner).find(path, index=index))
    assert_ways_agree(scene, [THING, *POSES, *CHANNELS], "CURVES")


def test_muted_curves_do_nothing(scene):
    rig, thing = animated_armature(), animated_empty()
    curves_of(thing).find("location", index=0).mute = True
    curves_of(rig).find('pose.bones["upper"].rotation_euler', index=2).mute = True
    thing.location.x = 12
    assert_ways_agree(scene, [THING, *POSES, *CHANNELS], "CURVES")


def test_muted_groups_are_left_to_blender_which_heeds_them_only_in_old_versions(scene):
    thing = animated_empty()
    group_curves(thing, "Muted").mute = True
    assert_ways_agree(scene, [THING], "PROBES")


def test_curves_with_modifiers_samples_and_all_interpolations(scene):
    thing = animated_empty()
    x, y, z = (curves_of(thing).find("location", index=index) for index in range(3))
    x.modifiers.new("CYCLES")
    y.modifiers.new("NOISE").strength = 3
    z.convert_to_samples(-5, 31)
    for fcurve, kinds in zip(
        (curves_of(thing).find("scale", index=index) for index in range(3)),
        (("CONSTANT", "LINEAR", "BACK"), ("ELASTIC", "BOUNCE", "SINE"), ("BEZIER", "EXPO", "CIRC")),
        strict=True,
    ):
        fcurve.extrapolation = "LINEAR"
        for key, kind in zip(fcurve.keyframe_points, kinds, strict=False):
            key.interpolation = kind
    assert_ways_agree(scene, [THING], "CURVES")


def test_time_remapping(scene):
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 73
    animated_armature()
    animated_empty()
    assert_ways_agree(scene, [THING, *POSES], "CURVES")


def test_a_target_that_is_hidden_excluded_or_in_no_scene(scene):
    hidden, excluded, nowhere = (animated_empty(name) for name in ("Hidden", "Excluded", "Nowhere"))
    hidden.hide_viewport = True
    collection = bpy.data.collections.new("Out")
    scene.collection.children.link(collection)
    collection.objects.link(excluded)
    for thing in (excluded, nowhere):
        scene.collection.objects.unlink(thing)
    bpy.context.view_layer.layer_collection.children["Out"].exclude = True
    assert_ways_agree(scene, [Quantity("WORLD", name) for name in ("Hidden", "Excluded", "Nowhere")], "CURVES")


def test_numbers_of_an_object_by_curve_clamped_to_their_limits_and_unkeyed(scene):
    thing = add_empty()
    for frame, size in ((0, 0.5), (5, -2.0), (30, 3.0)):
        thing.keyframe_insert("empty_display_size", frame=frame)
        curves_of(thing)[0].keyframe_points[-1].co[1] = size
    curves_of(thing)[0].update()
    size = Quantity("VALUE", "Thing", path="empty_display_size")
    assert_ways_agree(scene, [size], "CURVES")
    assert sample(scene, [size], FRAMES)[size].min() >= 0.0
    thing.animation_data_clear()
    assert_ways_agree(scene, [size], "STILL")


def test_a_number_by_driver_is_left_to_blender(scene):
    add_driver(add_empty(), "empty_display_size", -1, "1 + frame / 7")
    assert_ways_agree(scene, [Quantity("VALUE", "Thing", path="empty_display_size")], "PROBES")


def test_a_custom_property_is_left_to_blender(scene):
    thing = add_empty()
    thing["reach"] = 0.5
    animate_property(thing, '["reach"]', 0.5, 2.5)
    assert_ways_agree(scene, [Quantity("VALUE", "Thing", path='["reach"]')], "PROBES")


def animate_property(thing, path, first, last):
    for frame, value in ((0, first), (30, last)):
        thing[path[2:-2]] = value
        thing.keyframe_insert(path, frame=frame)


def test_bones_of_a_rig_in_rest_position(scene):
    animated_armature().data.pose_position = "REST"
    assert_ways_agree(scene, CHANNELS, "CURVES")
    assert sample(scene, POSES, FRAMES).evaluation == "PROBES"
    assert_ways_agree(scene, POSES, "PROBES")


def test_frames_at_which_a_chain_does_not_move_are_one_evaluation(scene):
    add_armature().location = (1, 2, 3)
    assert_ways_agree(scene, [*POSES, *CHANNELS, Quantity("WORLD", "Rig"), Quantity("WORLD", "Rig", "toe")], "STILL")


def test_each_object_says_how_it_was_found(scene):
    add_armature()
    animated_empty()
    follower = add_empty("Follower")
    follower.constraints.new("COPY_LOCATION").target = bpy.data.objects["Thing"]
    found = sample(scene, [THING, POSES[0], Quantity("WORLD", "Follower")], FRAMES)
    assert found.evaluation == {"Thing": "CURVES", "Rig": "STILL", "Follower": "PROBES"}


def test_a_bone_name_with_quotes_and_brackets(scene):
    rig = add_armature(bones=('a"]b', "plain\\"))
    for bone in rig.pose.bones:
        animate_bone(bone)
    assert_ways_agree(
        scene, [Quantity(kind, "Rig", name) for kind in ("POSE", "CHANNELS") for name in ('a"]b', "plain\\")], "CURVES"
    )


def test_a_target_that_is_hidden_by_keys_for_a_while(scene):
    thing = animated_empty()
    for frame, hidden in ((1, False), (5, True), (20, False)):
        thing.hide_viewport = hidden
        thing.keyframe_insert("hide_viewport", frame=frame)
    assert_ways_agree(scene, [THING], "CURVES")


def test_an_empty_that_stands_for_a_collection(scene):
    collection = bpy.data.collections.new("Props")
    collection.objects.link(animated_empty("Inside"))
    thing = animated_empty()
    thing.instance_type, thing.instance_collection = "COLLECTION", collection
    assert_ways_agree(scene, [THING], "CURVES")


def test_a_mesh_a_light_and_a_camera_are_targets_as_any_other(scene):
    things = [
        bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh")),
        bpy.data.objects.new("Light", bpy.data.lights.new("Light", "POINT")),
        bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")),
    ]
    for thing in things:
        scene.collection.objects.link(thing)
        animate(thing, "location", (1, 2, 3))
    assert_ways_agree(scene, [Quantity("WORLD", thing.name) for thing in things], "CURVES")
