"""Which actions are an armature's own."""

import bpy
import pytest

from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.many_actions import make_action
from tests.tasks.scenes import add_empty, build_armature


@pytest.fixture
def rig(empty_file):
    return build_armature()


def names_of(armature):
    from twobone_addon.scene.actions import actions_of

    return [own.name for own in actions_of(armature)]


def test_actions_that_are_played_or_made_for_its_bones_are_found(rig):
    make_action(rig, "Stored")
    strip = make_action(rig, "In a strip", bone="")
    rig.animation_data.nla_tracks.new().strips.new("strip", 1, strip)
    rig.animation_data.action = make_action(rig, "Played", bone="")
    assert names_of(rig) == ["In a strip", "Played", "Stored"]


def test_actions_of_other_things_are_not(rig):
    make_action(add_empty("Prop"), "Prop", bone="")
    key = bpy.data.meshes.new("Face")
    thing = bpy.data.objects.new("Face", key)
    thing.shape_key_add(name="Basis")
    thing.shape_key_add(name="smile").keyframe_insert("value", frame=1)
    other = build_armature(name="Twin")
    played = make_action(other, "Played by the twin")
    strip = make_action(other, "In the twin's strip")
    other.animation_data.nla_tracks.new().strips.new("strip", 1, strip)
    other.animation_data.action = played
    make_action(rig, "Own")
    stranger = make_action(rig, "For another rig")
    for curve in all_curves(stranger):
        curve.data_path = curve.data_path.replace("upper", "tentacle")
    assert names_of(rig) == ["Own"]


def test_what_only_other_objects_play_is_none_of_the_armatures(rig):
    make_action(rig, "Own")
    prop, striped = add_empty("Prop"), add_empty("Striped")
    played, in_strip = make_action(rig, "Played by a prop"), make_action(rig, "In a prop's strip")
    rig.animation_data.action = None
    prop.animation_data_create().action = played
    track = striped.animation_data_create().nla_tracks.new()
    strip = track.strips.new("strip", 1, in_strip)
    if hasattr(strip, "action_slot"):
        prop.animation_data.action_slot, strip.action_slot = played.slots[0], in_strip.slots[0]
    assert names_of(rig) == ["Own"]
    rig.animation_data.action = played
    if hasattr(strip, "action_slot"):
        rig.animation_data.action_slot = played.slots[0]
    assert names_of(rig) == ["Own", "Played by a prop"]


@pytest.mark.skipif("slots" not in bpy.types.Action.bl_rna.properties, reason="this Blender's actions have no slots")
def test_an_action_that_another_object_plays_by_its_own_slot_stays_the_armatures(rig):
    action = make_action(rig, "Run")
    prop = add_empty("Prop")
    prop.animation_data_create().action = action
    prop.animation_data.action_slot = action.slots.new("OBJECT", "Prop")
    rig.animation_data.action = None
    assert names_of(rig) == ["Run"]


def all_curves(action):
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    return [curve for slot in action.slots for curve in action.layers[0].strips[0].channelbag(slot).fcurves]


def test_what_an_action_constraint_plays_is_no_animation(rig):
    pose = make_action(rig, "Smile")
    make_action(rig, "Walk")
    constraint = rig.pose.bones["lower"].constraints.new("ACTION")
    constraint.action = pose
    assert names_of(rig) == ["Walk"]


def test_poses_of_an_asset_library_are_left_out_and_animated_assets_are_not(rig):
    make_action(rig, "Pose", frames=(1,)).asset_mark()
    make_action(rig, "Run").asset_mark()
    make_action(rig, "Hold", frames=(1,))
    assert names_of(rig) == ["Hold", "Run"]


def test_a_range_is_the_actions_own_or_that_of_its_keys(rig):
    from twobone_addon.pipeline.chosen_actions import own_span
    from twobone_addon.scene.actions import own_action

    action = make_action(rig, "Walk", frames=(3, 17))
    assert own_span(own_action(rig, action)) == (3, 17)
    action.use_frame_range, action.frame_start, action.frame_end = True, 5, 9
    assert own_span(own_action(rig, action)) == (5, 9)


def test_playing_leaves_pose_and_strips_as_they_were(rig):
    from twobone_addon.scene.actions import actions_of, staged

    make_action(rig, "Other", bone="lower")
    action = make_action(rig, "Own")
    rig.animation_data.action = action
    track = rig.animation_data.nla_tracks.new()
    track.strips.new("strip", 1, bpy.data.actions["Other"])
    track.is_solo = True
    bpy.context.view_layer.update()
    rig.pose.bones["upper"].location = (1, 2, 3)
    rig.pose.bones["lower"].scale = (2, 2, 2)
    before = [(bone.name, bone.location.copy(), bone.scale.copy()) for bone in rig.pose.bones]
    own = actions_of(rig)
    with staged(bpy.context.scene, rig, own) as stage:
        stage.play(bpy.data.actions["Other"], own[0].slot)
        assert rig.pose.bones["lower"].scale[:] == (1, 1, 1)
        assert rig.pose.bones["upper"].location[:] == (0, 0, 0)
    assert rig.animation_data.action == action
    assert curves_of(rig)
    assert track.is_solo
    assert [(bone.name, bone.location, bone.scale) for bone in rig.pose.bones] == before
