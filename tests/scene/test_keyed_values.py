"""Curves of a recording are read at once: to the last bit what Blender evaluates, or left to Blender."""

from itertools import product

import numpy as np
import pytest

from tests.scene.movers import add_empty, curves_of
from twobone_addon.scene.graph.animation_reading import keyed_values

STRAIGHT, SMOOTH, MIXED = ("LINEAR",), ("BEZIER",), ("CONSTANT", "LINEAR", "ELASTIC", "BEZIER")
# Keys that are nearer than a hundredth of a frame become one: too few to be read where they are not linear.
CURVES = [(0.002, STRAIGHT), *product((1.0, 0.37, 0.02), (STRAIGHT, SMOOTH, MIXED))]


def keyed(frames, values, interpolations=STRAIGHT):
    thing = add_empty()
    for frame, value in zip(frames, values, strict=True):
        thing.location.x = value
        thing.keyframe_insert("location", index=0, frame=frame)
    (fcurve,) = curves_of(thing)
    for number, key in enumerate(fcurve.keyframe_points):
        key.interpolation = interpolations[number % len(interpolations)]
    return fcurve


@pytest.mark.parametrize("spacing, interpolations", CURVES, ids=str)
@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
def test_values_between_on_beside_and_outside_keys_are_blenders_own(scene, spacing, size, interpolations):
    chance = np.random.default_rng(1)
    frames = np.cumsum(chance.uniform(0.7, 1.6, 60)) * spacing
    fcurve = keyed(frames.tolist(), (size * chance.normal(size=60)).tolist(), interpolations)
    beside = frames + chance.uniform(-2e-4, 2e-4, 60)
    times = np.concatenate([chance.uniform(-3, frames[-1] + 3, 500), frames, beside]).astype(np.float32)
    for some in np.array_split(chance.permutation(times), 19):
        np.testing.assert_array_equal(keyed_values(fcurve, some), [fcurve.evaluate(time) for time in some.tolist()])


def test_few_keys_that_are_not_linear_are_left_to_blender(scene):
    assert keyed_values(keyed(range(10), np.sin(range(10)), SMOOTH), np.linspace(-3, 14, 50)) is None


@pytest.mark.parametrize("change", ["a modifier", "samples", "going on"])
def test_other_curves_are_left_to_blender(scene, change):
    fcurve, times = keyed(range(10), np.sin(range(10))), np.linspace(-3, 14, 50)
    assert keyed_values(fcurve, times) is not None
    if change == "a modifier":
        fcurve.modifiers.new("CYCLES")
    elif change == "samples":
        fcurve.convert_to_samples(0, 10)
    else:
        fcurve.extrapolation = "LINEAR"
    assert keyed_values(fcurve, times) is None
