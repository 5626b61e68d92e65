"""From which frame to which something moves, where plain keys alone move it; elsewhere its motion has no ends of its own."""

import bpy
import numpy as np
import pytest

from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.scene.graph.motion_span import motion_span, within_motion


def key(thing, frames, path="location"):
    for frame in frames:
        thing.keyframe_insert(path, frame=frame)


@pytest.fixture
def leg(empty_file):
    return build_armature(LEG)


def span_of_leg():
    return motion_span([("Rig", "lower")])


def test_what_has_no_keys_has_no_span(leg):
    assert span_of_leg() is None


def test_the_keys_of_bones_parents_and_constraint_targets_count_together(leg):
    key(leg.pose.bones["upper"], (5, 20), "rotation_quaternion")
    assert span_of_leg() == (5.0, 20.0)
    platform = add_empty("Platform")
    key(platform, (2, 12))
    leg.parent = platform
    assert span_of_leg() == (2.0, 20.0)
    hand = add_empty("Hand")
    key(hand, (9, 31.5))
    leg.pose.bones["lower"].constraints.new("COPY_ROTATION").target = hand
    assert span_of_leg() == (2.0, 31.5)


def test_what_moves_other_bones_does_not_count(leg):
    key(leg.pose.bones["upper"], (5, 20), "rotation_quaternion")
    key(leg.pose.bones["lower"], (1, 90), "rotation_quaternion")
    assert motion_span([("Rig", "upper")]) == (5.0, 20.0)


def cycle(thing):
    curves_of(thing)[0].modifiers.new("CYCLES")


def slope(thing):
    curve = curves_of(thing)[0]
    curve.keyframe_points[1].co[1] += 1.0
    curve.extrapolation = "LINEAR"


def push_down(thing):
    data = thing.animation_data
    track = data.nla_tracks.new()
    track.strips.new("clip", 5, data.action)
    data.action = None


def drive_by_frame(thing):
    driver = thing.driver_add("rotation_euler", 0).driver
    driver.expression = "frame / 10"


@pytest.mark.parametrize("change", [cycle, slope, push_down, drive_by_frame])
def test_motion_beyond_keys_has_no_ends(leg, change):
    platform = add_empty("Platform")
    key(platform, (5, 20))
    leg.parent = platform
    assert span_of_leg() == (5.0, 20.0)
    change(platform)
    assert span_of_leg() is None


def test_a_driver_that_reads_a_keyed_property_moves_as_long_as_that(leg):
    slider = add_empty("Slider")
    slider["amount"] = 0.0
    key(slider, (3, 44), '["amount"]')
    driver = leg.pose.bones["upper"].driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = slider, '["amount"]'
    driver.expression = variable.name
    assert span_of_leg() == (3.0, 44.0)


def test_a_path_that_is_followed_has_no_ends(leg):
    key(leg.pose.bones["upper"], (5, 20), "rotation_quaternion")
    curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    bpy.context.scene.collection.objects.link(curve)
    leg.constraints.new("FOLLOW_PATH").target = curve
    assert span_of_leg() is None


@pytest.mark.parametrize(
    "span, wanted", [(None, (1, 250)), ((1, 80), (1, 80)), ((0.8, 79.2), (1, 80)), ((-20, 900), (1, 250)), ((300, 400), (1, 250))]
)
def test_the_scenes_range_is_a_bound_not_content(span, wanted):
    assert within_motion(span, (1.0, 250.0)) == wanted
    assert np.isfinite(within_motion(span, (1.0, 250.0))).all()
