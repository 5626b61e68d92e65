"""Long takes: what a bake keeps in memory, and that looking at a take part by part finds what looking at all of it finds."""

import math
import tracemalloc

import numpy as np
import pytest

from tests.tasks.scenes import LEG, Limb, add_empty, bake, build_armature, set_range
from twobone_addon.pipeline.report import between
from twobone_addon.pipeline.report.twist import largest_twists
from twobone_addon.tasks import bake as bake_task

MOST = 2400
"""Bytes that Python and NumPy may hold for a frame: with Blender's own keys (600) a hundred thousand stay below 300 MB."""


MOST_OF_A_SAMPLE = 450
"""The same for a sample of a motion whose keys are reduced."""


@pytest.fixture
def rarely_keyed_leg(empty_file):
    """A leg, and a target with a key now and then."""
    rig, target = build_armature(LEG), add_empty()
    for number in range(30):
        target.location = (0.1, 0.2 + 0.5 * math.sin(number), -0.3 + 0.2 * math.cos(number))
        target.keyframe_insert("location", frame=1 + 300 * number)
    return rig, target


def most_held(rarely_keyed_leg, frames, **settings):
    """Bytes that a bake of so many frames holds at most."""
    set_range(1, frames)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        bake(Limb(rarely_keyed_leg[0].name), target=rarely_keyed_leg[1].name, **settings)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_an_hour_of_film_fits_into_memory(rarely_keyed_leg):
    most_held(rarely_keyed_leg, 30)  # Modules are imported when they are first used.
    rarely_keyed_leg[0].animation_data_clear()
    assert most_held(rarely_keyed_leg, 9000) < MOST * 9000


@pytest.mark.parametrize("plane", ["XZ", "POSE"])
def test_an_hour_of_film_with_few_keys_fits_into_memory(rarely_keyed_leg, plane):
    """A hundred thousand frames are 600,000 samples; here each frame has eight. What parts take is there once."""
    most_held(rarely_keyed_leg, 30, keys="REDUCE", plane=plane, verify=False)  # Modules are imported when they are first used.
    rarely_keyed_leg[0].animation_data_clear()
    short = most_held(rarely_keyed_leg, 6000, keys="REDUCE", plane=plane, verify=False)
    rarely_keyed_leg[0].animation_data_clear()
    long = most_held(rarely_keyed_leg, 12_000, keys="REDUCE", plane=plane, verify=False)
    assert long - short < MOST_OF_A_SAMPLE * 8 * 6000


def test_what_the_report_needs_does_not_grow_with_the_take(rarely_keyed_leg, monkeypatch):
    held = []

    def watched(*arguments):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        found = largest_twists(*arguments)
        held.append(tracemalloc.get_traced_memory()[1] - before)
        return found

    monkeypatch.setattr(bake_task, "largest_twists", watched)
    for frames in (3000, 9000):
        most_held(rarely_keyed_leg, frames, step=0.125, verify=False)
    assert held[1] < 1.5 * held[0]


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT"])
@pytest.mark.parametrize("knows_targets", [True, False])
def test_the_worst_of_all_parts_are_the_worst_of_the_whole(monkeypatch, interpolation, knows_targets):
    numbers = np.random.default_rng(5)
    track = between.Track(np.arange(400.0), numbers.normal(size=(400, 3, 3)), numbers.normal(size=(400, 3)))
    targets = numbers.normal(size=(399, 2, 3)) if knows_targets else None
    whole = between.worst_intervals(track, targets, interpolation=interpolation, count=20)
    for at_once in (1, 7, 398):
        monkeypatch.setattr(between, "INTERVALS_AT_ONCE", at_once)
        assert np.array_equal(between.worst_intervals(track, targets, interpolation=interpolation, count=20), whole)
