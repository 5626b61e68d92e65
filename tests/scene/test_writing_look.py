"""Written keys look as if each had been set by hand, whichever way is the fast one."""

import bpy
import numpy as np
import pytest

from tests.scene.movers import add_empty, curves_of
from twobone_addon.scene.keys.tables import WIDTHS, SmoothKeys, StraightKeys, read_keys
from twobone_addon.scene.keys.writing import write_keys
from twobone_addon.scene.versions import ensure_curve_bag

FRAMES = np.arange(1.0, 40.0)
VALUES = np.sin(FRAMES / 5)


def written(interpolation):
    thing = add_empty()
    keys = StraightKeys("location", 0, "Thing", FRAMES, VALUES, interpolation)
    write_keys(ensure_curve_bag(thing), [keys], 1, 39)
    return curves_of(thing)[0]


@pytest.mark.parametrize("interpolation", ["LINEAR", "CONSTANT"])
def test_handles_and_everything_else_as_blender_makes_them_one_by_one(scene, interpolation):
    fcurve = written(interpolation)
    for key, frame, value in zip(fcurve.keyframe_points, FRAMES, VALUES, strict=True):
        np.testing.assert_allclose(key.co, (frame, value), rtol=1e-6)
        assert (key.interpolation, key.type, key.easing) == (interpolation, "GENERATED", "AUTO")
        assert (key.handle_left_type, key.handle_right_type) == ("VECTOR", "VECTOR")
        assert [key.select_control_point, key.select_left_handle, key.select_right_handle] == [False] * 3
        np.testing.assert_allclose((key.amplitude, key.back, key.period), (0.8, 1.70158, 4.1), rtol=1e-6)
    by_hand = add_empty("Other")
    bag = ensure_curve_bag(by_hand)
    other = bag.fcurves.new("location", index=0)
    for frame, value in zip(FRAMES, VALUES, strict=True):
        key = other.keyframe_points.insert(frame, value)
        key.handle_left_type = key.handle_right_type = "VECTOR"
        key.interpolation = interpolation
    other.update()
    for name in ("handle_left", "handle_right"):
        np.testing.assert_allclose(read_keys(fcurve)[name], read_keys(other)[name], atol=1e-5)


def test_handles_stay_to_the_last_bit_where_they_are_broken_and_are_one_line_where_they_are_smooth(scene):
    slopes, broken = np.cos(FRAMES / 5) / 5, np.arange(len(FRAMES)) % 3 == 1
    left = np.stack([FRAMES - 0.3, VALUES - 0.3 * slopes], axis=-1)
    right = np.stack([FRAMES + 0.3, VALUES + 0.3 * slopes + 1e-5 * broken], axis=-1)
    thing = add_empty()
    keys = SmoothKeys("location", 0, "Thing", FRAMES, VALUES, left, right, smooth=~broken)
    write_keys(ensure_curve_bag(thing), [keys], 1, 39)
    fcurve = curves_of(thing)[0]
    kinds = ["FREE" if each else "ALIGNED" for each in broken]
    assert [key.handle_left_type for key in fcurve.keyframe_points] == kinds
    assert [key.handle_right_type for key in fcurve.keyframe_points] == kinds
    for name, wanted in (("handle_left", left), ("handle_right", right)):
        found = read_keys(fcurve)[name]
        np.testing.assert_array_equal(found[broken], wanted[broken].astype(np.float32))
        np.testing.assert_allclose(found, wanted, atol=2e-6)


def test_whole_numbers_and_switches_are_read_as_blender_has_them(scene):
    fcurve = written("LINEAR")
    kinds = ("BACK", "BOUNCE", "ELASTIC", "SINE", "CONSTANT")
    for number, key in enumerate(fcurve.keyframe_points):
        key.interpolation, key.easing = kinds[number % 5], ("EASE_IN", "EASE_OUT")[number % 2]
        key.select_control_point = number % 3 == 0
        key.type = ("EXTREME", "JITTER")[number % 2]
    table = read_keys(fcurve)
    for name in WIDTHS:
        plain = [0] * len(table[name].ravel())
        fcurve.keyframe_points.foreach_get(name, plain)
        np.testing.assert_array_equal(table[name].ravel(), plain)
    assert bpy.data.objects["Thing"].animation_data.action is not None
