"""What the overlay shows of contacts: ways in the contact's colours, outlines where feet stand, and their frames."""

from dataclasses import fields

import bpy
import numpy as np
import pytest

from tests.tasks.find_contacts.walker import make_walker
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data
from twobone_addon.interface.overlay.lines import Palette
from twobone_addon.tasks.find_contacts.task import FootPicture, Footprint

PALETTE = Palette(*((number / 20, 0.5, 0.25, 1.0) for number in range(len(fields(Palette)))))


@pytest.fixture
def walker(empty_file):
    rig, feet = make_walker(rate=30)
    yield rig, feet
    watching.unregister()


def shown(rig):
    """What is shown after a pause."""
    data.feet_of(rig)
    watching.catch_up()
    return data.feet_of(rig)


def test_without_contacts_nothing_is_shown(walker):
    assert shown(walker[0]) == []
    assert not len(data.foot_lines([], PALETTE).points)


def test_footprints_are_where_the_feet_stand_with_their_frames(walker):
    rig, feet = walker
    bpy.ops.twobone.find_contacts()
    found = shown(rig)
    assert len(found) == 2
    for side, picture in enumerate(found):
        assert picture.paths == pytest.approx(feet.points[side], abs=1e-4)
        for place in picture.prints:
            middle = int((place.first + place.last) / 2) - 1
            flat = feet.points[side, :, middle]
            assert place.ends == pytest.approx(flat, abs=0.05)
    labels = data.foot_labels(found, 1.0)
    states = found[0].states
    first = int(np.flatnonzero(states == 0)[0])
    assert labels[0][1] in {f"1\u2013{first}", "1"} or states[0] == 0
    assert len(labels) == sum(len(picture.prints) for picture in found)


def test_ways_have_the_colour_of_the_contact(walker):
    rig, _ = walker
    bpy.ops.twobone.find_contacts()
    lines = data.foot_lines(shown(rig), PALETTE)
    colors = {tuple(np.round(color, 6)) for color in lines.colors}
    for color in (PALETTE.too_near, PALETTE.soft, PALETTE.reached, PALETTE.chosen):
        assert tuple(np.round(color, 6)) in colors
    assert len(lines.points) == len(lines.colors)


def test_an_outline_is_closed_and_goes_around_heel_and_ball():
    ends = np.array([[1.0, 2.0, 0.1], [1.5, 2.0, 0.1]])
    line = data.outline(ends, 0.2)
    assert line[0] == pytest.approx(line[-1])
    distances = [min(distance_to_segment(point, ends) for point in line), max(distance_to_segment(point, ends) for point in line)]
    assert distances == pytest.approx([0.2, 0.2])


def distance_to_segment(point, ends):
    along = ends[1] - ends[0]
    part = np.clip((point - ends[0]) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(point - ends[0] - part * along)


def test_edited_keys_change_what_is_shown(walker):
    rig, _ = walker
    bpy.ops.twobone.find_contacts()
    before = shown(rig)
    assert shown(rig) is before
    for curve in curves_of_contacts(rig):
        for key in curve.keyframe_points:
            key.co_ui[1] = 0.0
        curve.update()
    data.feet.doubt()  # what Blender's own notice of a changed action does in a window
    assert not any(picture.prints for picture in shown(rig))


def curves_of_contacts(rig):
    from twobone_addon.scene.versions import curve_bag

    return [curve for curve in curve_bag(rig).fcurves if curve.data_path.endswith("contact")]


def test_a_changed_action_is_noticed(walker):
    rig, _ = walker
    bpy.ops.twobone.find_contacts()
    shown(rig)
    assert data.feet.is_current(rig.name)
    rig.pose.bones["hips"].keyframe_insert("location", frame=3)
    bpy.context.view_layer.update()
    assert not data.feet.is_current(rig.name)


def listening():
    return list(bpy.app.handlers.depsgraph_update_post)


def test_afterwards_nobody_listens(walker):
    rig, _ = walker
    watching.unregister()
    before = listening()
    data.feet_of(rig)
    assert listening() != before
    watching.unregister()
    assert listening() == before
    assert not bpy.app.timers.is_registered(watching.catch_up)


def test_of_a_long_take_only_the_steps_around_the_present_frame_are_shown():
    frames = np.arange(1.0, 3001.0)
    ways = np.zeros((2, 3000, 3))
    ways[1, :, 1] = 0.2
    prints = tuple(Footprint(first, first + 20.0, np.zeros((2, 3))) for first in range(1, 3000, 40))
    picture = FootPicture(frames, ways, np.zeros(3000, int), prints)
    (near,) = data.pictures_around([picture], 1490.0)
    assert near.frames[[0, -1]].tolist() == [1481.0 - 8.0, 1501.0 + 8.0]
    assert len(near.prints) == 3
    assert any(place.first <= 1490.0 <= place.last for place in near.prints)
    assert data.pictures_around([picture], 9000.0) == []


def test_frames_are_written_where_they_can_be_read_the_present_step_first():
    prints = tuple(Footprint(first, first + 9.0, np.zeros((2, 3))) for first in (1.0, 21.0, 41.0))
    picture = FootPicture(np.arange(1.0, 51.0), np.zeros((2, 50, 3)), np.zeros(50, int), prints)
    texts = [text for _, text in data.foot_labels([picture], 25.0)]
    assert texts[0] == "21\u201330"
    assert data.with_room([(0, 0)] * 3, [(30, 9)] * 3) == [0]
    assert data.with_room([(0, 0), (20, 5), (31, 0)], [(30, 9)] * 3) == [0, 2]
    assert data.with_room([], []) == []
