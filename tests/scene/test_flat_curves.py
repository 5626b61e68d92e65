"""Curves that hold one value at all times are as good as none; what only looks like it is evaluated."""

import itertools

import pytest

from tests.scene.movers import add_empty, curves_of
from tests.scene.sampled import THING, assert_ways_agree


def hold(thing, interpolation):
    """Key the same place and the same turn twice."""
    thing.location, thing.rotation_euler = (1, 2, 3), (0.3, -0.8, 1.9)
    for channel, frame in itertools.product(("location", "rotation_euler"), (-5, 30)):
        thing.keyframe_insert(channel, frame=frame)
    for fcurve in curves_of(thing):
        for key in fcurve.keyframe_points:
            key.interpolation = interpolation


@pytest.mark.parametrize("interpolation", ["CONSTANT", "LINEAR", "BEZIER"])
def test_keys_that_hold_one_pose_are_still(scene, interpolation):
    hold(add_empty(), interpolation)
    assert_ways_agree(scene, [THING], "STILL")


def test_a_pulled_handle_moves_a_curve_between_equal_keys(scene):
    thing = add_empty()
    hold(thing, "BEZIER")
    curves_of(thing)[1].keyframe_points[0].handle_right = (5, 9)
    assert_ways_agree(scene, [THING], "CURVES")


@pytest.mark.parametrize("interpolation", ["ELASTIC", "BACK"])
def test_easing_between_equal_keys_is_not_taken_for_rest(scene, interpolation):
    thing = add_empty()
    hold(thing, interpolation)
    assert_ways_agree(scene, [THING], "CURVES")


def test_a_modifier_moves_a_flat_curve(scene):
    thing = add_empty()
    hold(thing, "LINEAR")
    curves_of(thing)[0].modifiers.new("NOISE")
    assert_ways_agree(scene, [THING], "CURVES")
