"""The frame and edits that nobody has keyed are as they were after anything that walks through time."""

import bpy
import pytest

from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.rigs.busy_file import NOW, edit_without_keys, make_busy_file
from twobone_addon.scene.restoring import Edit, apply_edits, frame_and_edits_kept


@pytest.fixture
def edited(scene):
    rig, target = make_busy_file()
    edit_without_keys(rig, target)
    return bpy.context.scene


def test_a_walk_through_time_leaves_frame_and_edits(edited):
    before = dump_file()
    with frame_and_edits_kept(edited):
        for frame in (-30, 0, 12, 40):
            edited.frame_set(frame)
    assert differences(before, dump_file()) == []
    assert (edited.frame_current, edited.frame_subframe) == NOW


def test_a_walk_that_fails_leaves_them_as_well(edited):
    before = dump_file()
    with pytest.raises(ZeroDivisionError), frame_and_edits_kept(edited):  # noqa: PT012 - the walk is what fails
        edited.frame_set(40)
        raise ZeroDivisionError
    assert differences(before, dump_file()) == []


def test_a_curve_of_something_that_is_gone_is_passed_over(scene):
    thing = bpy.data.objects.new("Thing", None)
    scene.collection.objects.link(thing)
    thing["gone"] = 1.0
    thing.keyframe_insert('["gone"]', frame=1)
    thing.keyframe_insert("location", frame=1)
    del thing["gone"]
    thing.location.x = 3
    with frame_and_edits_kept(scene):
        scene.frame_set(20)
    assert thing.location.x == 3


def test_what_a_thing_that_is_gone_held_is_passed_over(scene):
    thing = bpy.data.objects.new("Thing", None)
    apply_edits(
        [Edit(thing, '["gone"]', 0, 1.0), Edit(thing, "twobone.chains[0].contact", 0, "BALL"), Edit(thing, "location", 0, 3.0)]
    )
    assert thing.location.x == 3
