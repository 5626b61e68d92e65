"""The result of a bake is marked once it does not tell any more what is there, and not before."""

import json

import bpy
import pytest

from tests.interface.recording import drawn
from tests.tasks.scenes import leg_with_chain
from twobone_addon.interface.sidebar import result_panel
from twobone_addon.scene import versions


@pytest.fixture
def stored_leg(empty_file):
    return leg_with_chain()


def change_target(chain):
    chain.target.location.z += 0.1


def change_parent_of_target(chain):
    chain.target.parent.location.x += 0.1


def change_keys(chain):
    rig = chain.id_data
    rig.pose.bones[chain.upper].keyframe_insert("rotation_quaternion", frame=2.5)


def change_range(_chain):
    bpy.context.scene.frame_end = 3


def change_setting(chain):
    chain.softness = 0.1


def change_constraint_of_target(chain):
    chain.target.constraints["Copy Location"].influence = 0.7


def change_expression(_chain):
    carrier = bpy.data.objects["Carrier"]
    carrier.animation_data.drivers[0].driver.expression = "knob * 2"


def change_what_a_driver_reads(_chain):
    bpy.data.objects["Carrier"]["knob"] = 0.5


def change_strip(_chain):
    bpy.data.objects["Followed"].animation_data.nla_tracks[0].strips[0].influence = 0.5


def change_key_in_strip(_chain):
    strip = bpy.data.objects["Followed"].animation_data.nla_tracks[0].strips[0]
    bag = versions.strip_bag(strip)
    bag.fcurves[0].keyframe_points[1].co[1] += 0.1


def mute_track(_chain):
    bpy.data.objects["Followed"].animation_data.nla_tracks[0].mute = True


def change_keyed_influence(chain):
    chain.keyframe_insert("influence", frame=2)


def move_by_all_means(target):
    """Let a target be moved by a parent with a driver, and by a constraint to something that an NLA strip moves."""
    carrier, followed = bpy.data.objects.new("Carrier", None), bpy.data.objects.new("Followed", None)
    for thing in (carrier, followed):
        bpy.context.scene.collection.objects.link(thing)
    target.parent = carrier
    carrier["knob"] = 0.0
    driver = carrier.driver_add("location", 2).driver
    driver.expression = "knob"
    variable = driver.variables.new()
    variable.name = "knob"
    variable.targets[0].id, variable.targets[0].data_path = carrier, '["knob"]'
    for frame in (1, 4):
        followed.location.x = 0.1 * frame
        followed.keyframe_insert("location", frame=frame)
    action = followed.animation_data.action
    followed.animation_data.action = None
    strip = followed.animation_data.nla_tracks.new().strips.new("Moves", 1, action)
    versions.assign_slot(strip, versions.first_slot(action))
    follow = target.constraints.new("COPY_LOCATION")
    follow.target, follow.influence = followed, 0.1


@pytest.mark.parametrize(
    "change, said",
    [
        (change_constraint_of_target, "The animation has changed since this bake"),
        (change_expression, "The animation has changed since this bake"),
        (change_what_a_driver_reads, "The animation has changed since this bake"),
        (change_strip, "The animation has changed since this bake"),
        (change_key_in_strip, "The animation has changed since this bake"),
        (mute_track, "The animation has changed since this bake"),
        (change_keyed_influence, "The animation has changed since this bake"),
    ],
)
def test_drivers_constraints_strips_and_keyed_settings_count_as_animation(stored_leg, change, said):
    chain, scene = stored_leg.twobone.chains[0], bpy.context.scene
    scene.frame_end = 4
    move_by_all_means(chain.target)
    chain.keyframe_insert("influence", frame=1)
    chain.influence = 0.5
    chain.keyframe_insert("influence", frame=4)
    bpy.context.view_layer.update()
    bpy.ops.twobone.bake()
    report = json.loads(chain.report)
    for frame in (3, 1, 4):
        scene.frame_set(frame)
        assert result_panel.outdated(report, chain, scene) == ""
    change(chain)
    bpy.context.view_layer.update()
    scene.frame_set(2)
    assert result_panel.outdated(report, chain, scene) == said


def test_what_has_nothing_to_do_with_the_chain_does_not_make_its_result_old(stored_leg):
    chain, scene = stored_leg.twobone.chains[0], bpy.context.scene
    scene.frame_end = 4
    other = bpy.data.objects.new("Other", None)
    scene.collection.objects.link(other)
    bpy.ops.twobone.bake()
    other.location.x = 1.0
    other.keyframe_insert("location", frame=2)
    stored_leg.keyframe_insert("hide_viewport", frame=1)
    bpy.context.view_layer.update()
    assert result_panel.outdated(json.loads(chain.report), chain, scene) == ""


@pytest.mark.parametrize(
    "change, said",
    [
        (change_target, "The animation has changed since this bake"),
        (change_parent_of_target, "The animation has changed since this bake"),
        (change_keys, "The animation has changed since this bake"),
        (change_range, "Settings have changed since this bake"),
        (change_setting, "Settings have changed since this bake"),
    ],
)
def test_a_result_is_marked_when_settings_or_animation_have_changed_since(stored_leg, change, said):
    chain, scene = stored_leg.twobone.chains[0], bpy.context.scene
    scene.frame_end = 4
    chain.target.parent = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(chain.target.parent)
    bpy.ops.twobone.bake()
    scene.frame_set(3)
    assert result_panel.outdated(json.loads(chain.report), chain, scene) == ""
    before = drawn(result_panel.TWOBONE_PT_result).texts()
    change(chain)
    bpy.context.view_layer.update()
    assert result_panel.outdated(json.loads(chain.report), chain, scene) == said
    after = drawn(result_panel.TWOBONE_PT_result).texts()
    assert said in " ".join(after)
    assert after[-len(before) :] == before
