"""What curves alone do not tell is left to Blender; what provably stands still is evaluated once."""

import bpy
import numpy as np
import pytest

from tests.scene.movers import add_armature, add_driver, add_empty, animate, animated_armature, animated_empty, curves_of
from tests.scene.sampled import CHANNELS, FRAMES, POSES, THING, assert_ways_agree
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.sampling.evaluate import Quantity

TOE = Quantity("POSE", "Rig", "toe")
ROOT = Quantity("POSE", "Rig", "root")


def follow(holder, target, kind="COPY_TRANSFORMS", **values):
    constraint = holder.constraints.new(kind)
    constraint.target = target
    for name, value in values.items():
        setattr(constraint, name, value)
    return constraint


def test_a_constraint_on_a_moving_thing_is_evaluated_by_blender(scene):
    follow(add_empty(), animated_empty("Leader"))
    assert_ways_agree(scene, [THING], "PROBES")


def test_a_child_of_a_constrained_object_is_evaluated_by_blender(scene):
    parent, thing = add_empty("Parent"), animated_empty()
    follow(parent, animated_empty("Leader"), "COPY_LOCATION")
    thing.parent = parent
    assert_ways_agree(scene, [THING], "PROBES")


def test_constraints_between_things_that_stand_still_are_evaluated_once(scene):
    leader, rig = add_empty("Leader"), add_armature()
    leader.location = (1, 2, 3)
    follow(rig.pose.bones["lower"], leader, "DAMPED_TRACK")
    follow(add_empty(), rig, "COPY_TRANSFORMS", subtarget="toe")
    assert_ways_agree(scene, [THING, *POSES], "STILL")


@pytest.mark.parametrize("path", ["influence", "mute"])
def test_a_constraint_that_is_switched_by_keys_is_no_standstill(scene, path):
    leader = add_empty("Leader")
    leader.location = (1, 2, 3)
    constraint = follow(add_empty(), leader)
    for frame, value in ((0, 0), (20, 1)):
        setattr(constraint, path, value)
        constraint.keyframe_insert(path, frame=frame)
    constraint.mute = True
    assert_ways_agree(scene, [THING], "PROBES")


def test_muted_constraints_do_not_matter(scene):
    rig, leader = animated_armature(), animated_empty("Leader")
    follow(rig.pose.bones["lower"], leader, "IK", mute=True)
    follow(animated_empty(), leader, mute=True)
    assert_ways_agree(scene, [THING, *POSES], "CURVES")


def test_inverse_kinematics_bends_only_the_bones_it_reaches(scene):
    rig = animated_armature()
    follow(rig.pose.bones["toe"], animated_empty("Leader"), "IK", chain_count=2)
    assert_ways_agree(scene, [ROOT, Quantity("POSE", "Rig", "upper"), *CHANNELS], "CURVES")
    assert sample(scene, [Quantity("POSE", "Rig", "lower")], FRAMES).evaluation == "PROBES"
    assert sample(scene, [TOE], FRAMES).evaluation == "PROBES"


def test_inverse_kinematics_that_spares_its_own_bone_reaches_one_further(scene):
    rig = animated_armature()
    follow(rig.pose.bones["toe"], animated_empty("Leader"), "IK", chain_count=2, use_tail=False)
    assert_ways_agree(scene, [ROOT], "CURVES")
    assert sample(scene, [Quantity("POSE", "Rig", "upper")], FRAMES).evaluation == "PROBES"


def test_a_path_to_follow(scene):
    data = bpy.data.curves.new("Path", "CURVE")
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, ((0, 0, 0), (1, 2, 0), (3, 1, 2)), strict=True):
        point.co = (*place, 1)
    data.use_path = True
    path = bpy.data.objects.new("Path", data)
    scene.collection.objects.link(path)
    follow(add_empty(), path, "FOLLOW_PATH", use_curve_follow=True)
    data.eval_time = 10
    data.keyframe_insert("eval_time", frame=0)
    data.eval_time = 90
    data.keyframe_insert("eval_time", frame=30)
    child = add_empty("Child")
    child.parent = path
    assert_ways_agree(scene, [THING, Quantity("WORLD", "Child")], "PROBES")


def test_a_driver_on_the_frame(scene):
    add_driver(add_empty(), "location", 0, "frame / 3")
    assert_ways_agree(scene, [THING], "PROBES")


def test_a_driver_on_something_keyed(scene):
    leader, thing = animated_empty("Leader"), add_empty()
    add_driver(thing, "location", 1, "2 * v", (leader, "location.x"))
    assert_ways_agree(scene, [THING], "PROBES")


def test_a_driver_on_something_driven_by_the_frame(scene):
    leader, thing = add_empty("Leader"), add_empty()
    leader["amount"] = 0.0
    add_driver(leader, '["amount"]', -1, "frame / 3")
    add_driver(thing, "location", 1, "2 * v", (leader, '["amount"]'))
    assert_ways_agree(scene, [THING], "PROBES")


def test_a_driver_on_something_that_stands_still(scene):
    leader, thing = add_empty("Leader"), add_empty()
    leader["amount"] = 1.5
    add_driver(thing, "location", 1, "2 * v", (leader, '["amount"]'))
    assert_ways_agree(scene, [THING], "STILL")


def test_a_driver_on_a_keyed_custom_property_of_a_bone(scene):
    rig, thing = add_armature(), add_empty()
    bone = rig.pose.bones["toe"]
    bone["amount"] = 1.5
    bone.keyframe_insert('["amount"]', frame=1)
    bone["amount"] = 4.5
    bone.keyframe_insert('["amount"]', frame=20)
    add_driver(thing, "location", 1, "2 * v", (rig, 'pose.bones["toe"]["amount"]'))
    assert_ways_agree(scene, [THING], "PROBES")


def test_a_driver_on_the_scene_needs_the_scene_itself(scene):
    add_driver(add_empty(), "location", 0, "v", (scene, "frame_current"))
    found = sample(scene, [THING], np.arange(1.0, 5.0))
    assert found.evaluation == "SCENE"
    np.testing.assert_allclose(found[THING][:, 0, 3], [1, 2, 3, 4])


def test_only_what_needs_the_scene_is_sampled_in_it(scene):
    add_driver(add_empty(), "location", 0, "v", (scene, "frame_current"))
    animated_empty("Leader")
    found = sample(scene, [THING, Quantity("WORLD", "Leader")], np.arange(1.0, 5.0))
    assert found.evaluation == {"Thing": "SCENE", "Leader": "CURVES"}


def test_what_needs_the_scene_is_right_beside_what_needs_it_not(scene):
    add_driver(add_empty(), "location", 0, "v", (scene, "frame_current"))
    add_driver(add_empty("Follower"), "location", 1, "2 * v", (animated_empty("Leader"), "location.x"))
    found = sample(scene, [THING, Quantity("WORLD", "Follower")], np.arange(1.0, 5.0))
    np.testing.assert_allclose(found[THING][:, 0, 3], [1, 2, 3, 4])


def test_a_keyed_rotation_mode(scene):
    rig, thing = animated_armature(), animated_empty()
    for holder in (rig.pose.bones["root"], thing):
        for frame, mode in ((0, "XYZ"), (12, "ZYX")):
            holder.rotation_mode = mode
            holder.keyframe_insert("rotation_mode", frame=frame)
    assert_ways_agree(scene, [THING, ROOT], "PROBES")


@pytest.mark.parametrize("name,value", [("action_influence", 0.4), ("action_blend_type", "ADD")])
def test_an_action_that_is_mixed(scene, name, value):
    setattr(animated_empty().animation_data, name, value)
    assert_ways_agree(scene, [THING], "PROBES")


def test_an_action_on_top_of_strips(scene):
    thing = animated_empty()
    data = thing.animation_data
    data.nla_tracks.new().strips.new("Base", 3, data.action)
    curves_of(thing).remove(curves_of(thing).find("location", index=0))
    assert_ways_agree(scene, [THING], "PROBES")


def test_strips_alone(scene):
    data = animated_empty().animation_data
    strip = data.nla_tracks.new().strips.new("Base", 3, data.action)
    strip.scale = 0.7
    data.action = None
    assert_ways_agree(scene, [THING], "PROBES")


def test_channels_of_a_bone_under_drivers_and_strips(scene):
    rig = animated_armature()
    add_driver(rig.pose.bones["upper"], "location", 0, "frame / 3")
    assert_ways_agree(scene, [Quantity("CHANNELS", "Rig", "upper")], "PROBES")
    data = rig.animation_data
    data.nla_tracks.new().strips.new("Base", 3, data.action)
    assert_ways_agree(scene, CHANNELS, "PROBES")


def test_an_object_that_hangs_from_corners_of_a_mesh(scene):
    mesh = bpy.data.meshes.new("Mesh")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    surface, thing = bpy.data.objects.new("Mesh", mesh), animated_empty()
    scene.collection.objects.link(surface)
    animate(surface, "location", (1, 2, 3))
    thing.parent, thing.parent_type, thing.parent_vertices = surface, "VERTEX_3", (0, 1, 2)
    assert_ways_agree(scene, [THING], "PROBES")


def test_flags_of_bones_that_are_driven(scene):
    rig = animated_armature()
    add_driver(rig.data.bones["upper"], "use_inherit_rotation", -1, "frame > 5")
    assert_ways_agree(scene, POSES, "PROBES")


def test_drivers_on_how_bones_look_do_not_matter(scene):
    rig = animated_armature()
    add_driver(rig.data.bones["upper"], "bbone_easein", -1, "frame / 3")
    rig.data.bones["upper"].bbone_segments = 4
    assert_ways_agree(scene, POSES, "CURVES")
