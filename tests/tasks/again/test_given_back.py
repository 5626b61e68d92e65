"""Clear Baked Keys gives the animator's own keys back to the last bit, after any number of bakes; edits made since win."""

import bpy
import pytest

from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.checking import RIG
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.checks.targets import circling_target, curves_of
from tests.tasks.scenes import bake, build_armature, key_channel, set_range
from twobone_addon.scene.versions import all_bags

YZ = {"plane": "YZ", "bend": "POSITIVE"}
MODES = [("BEZIER", "FREE", "BREAKDOWN"), ("ELASTIC", "AUTO", "KEYFRAME"), ("CONSTANT", "VECTOR", "EXTREME")]


def clear(**settings):
    return bpy.ops.twobone.clear_baked(**RIG.names(), **settings)


@pytest.fixture
def animated(empty_file):
    """A limb with keys of its own of all kinds, and a target."""
    set_range()
    rig = build_armature()
    for name in ("upper", "lower"):
        places = {-6: (1, 0, 0, 0), 3: (0.8, 0.6, 0, 0), 9.5: (0.6, 0, 0.8, 0), 20: (0.6, 0, 0, 0.8), 40: (0, 1, 0, 0)}
        key_channel(rig.pose.bones[name], "rotation_quaternion", places)
    key_channel(rig.pose.bones["upper"], "scale", {1: (1, 1, 1), 24: (1.5, 1.5, 1.5)})
    for curve in curves_of(rig):
        for number, key in enumerate(curve.keyframe_points):
            key.interpolation, handles, key.type = MODES[number % len(MODES)]
            key.handle_left_type = key.handle_right_type = handles
            if handles == "FREE":
                key.handle_left.y += 0.1
                key.handle_right.y -= 0.2
            key.easing, key.amplitude, key.back, key.period = "EASE_IN_OUT", 0.3, 2.5, 7.0
            key.select_control_point = bool(number % 2)
        curve.extrapolation = "LINEAR"
        curve.color_mode = "CUSTOM"
    rig.pose.bones["lower"].scale = 1.1, 1.0, 0.9
    return rig, circling_target(rig, RIG)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"keys": "REDUCE"},
        {"interpolation": "BEZIER", "step": 3.0},
        {"keys": "CHAIN_KEYS", "interpolation": "BEZIER"},
        {"key_before": True, "key_after": True},
        {"reach": "STRETCH"},
        {"destination": "NEW_ACTION"},
        {"destination": "NLA"},
    ],
    ids=str,
)
def test_one_bake_or_three_leave_nothing_behind_when_cleared(animated, settings):
    rig, target = animated
    if settings.get("destination") == "NLA":
        rig.animation_data.nla_tracks.new().strips.new("Own", -6, rig.animation_data.action)
        rig.animation_data.action = None
    before = dump_file()
    for _ in range(1 if "destination" in settings else 3):
        bake(RIG, target=target.name, **YZ, **settings)
    assert differences(before, dump_file()) != []
    assert clear(**settings) == {"FINISHED"}
    assert differences(before, dump_file()) == []


@pytest.mark.parametrize("settings", [{}, {"keys": "REDUCE"}, {"destination": "NEW_ACTION"}], ids=str)
def test_keys_that_other_tools_mark_as_generated_are_the_animators(animated, settings):
    rig, target = animated
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.type = "GENERATED"
    before = dump_file()
    clear(all_frames=True)
    assert differences(before, dump_file()) == []
    for _ in range(2):
        bake(RIG, target=target.name, **YZ, **settings)
    clear(all_frames=True)
    assert differences(before, dump_file()) == []


def test_a_strip_of_another_tool_by_the_name_of_the_limb_stays(animated):
    rig, target = animated
    action, rig.animation_data.action = rig.animation_data.action, None
    for curve in curves_of_action(action):
        for key in curve.keyframe_points:
            key.type = "GENERATED"
    track = rig.animation_data.nla_tracks.new()
    track.name = "upper"
    track.strips.new("upper", -6, action).name = "upper"
    before = dump_file()
    clear(destination="NLA")
    assert differences(before, dump_file()) == []
    bake(RIG, target=target.name, **YZ, destination="NLA")
    assert len(rig.animation_data.nla_tracks) == 2
    clear(destination="NLA")
    assert differences(before, dump_file()) == []


def curves_of_action(action):
    return [curve for bag in all_bags(action) for curve in bag.fcurves]


@pytest.mark.parametrize(
    "first, second",
    [
        ({"reach": "STRETCH"}, {"reach": "CLAMP"}),
        ({"keys": "REDUCE", "key_before": True}, {"interpolation": "BEZIER", "step": 3.0}),
        ({"influence": 0.5}, {"bend": "KEEP", "reference": "POSE"}),
        ({"interpolation": "CONSTANT"}, {"destination": "NEW_ACTION"}),
    ],
    ids=str,
)
def test_other_settings_count_from_the_beginning(animated, first, second):
    rig, target = animated
    settings = {"target": target.name, "plane": "YZ"}
    bake(RIG, **settings, **second)
    at_first = all_keys(rig), [tuple(bone.scale) for bone in rig.pose.bones]
    clear()
    bake(RIG, **settings, **first)
    assert all_keys(rig) != at_first[0]
    bake(RIG, **settings, **second)
    assert (all_keys(rig), [tuple(bone.scale) for bone in rig.pose.bones]) == at_first


def test_a_bake_begins_with_keys_that_were_edited_and_says_so(animated):
    rig, target = animated
    settings = {"target": target.name, "influence": 0.5, **YZ}
    bake(RIG, **settings)
    once = all_keys(rig)
    curve = curves_of(rig)[0]
    next(key for key in curve.keyframe_points if key.co.x == 5).co.y += 0.25
    curve.update()
    report = bake(RIG, **settings)
    assert any("edited since" in note for note in report["notes"])
    assert all_keys(rig) != once
    twice = all_keys(rig)
    assert not any("edited since" in note for note in bake(RIG, **settings)["notes"])
    assert all_keys(rig) == twice


def test_what_was_made_for_the_keys_goes_with_them(empty_file):
    set_range()
    rig = build_armature()
    rig.pose.bones["upper"].rotation_quaternion = 0.8, 0.6, 0.0, 0.0
    target = circling_target(rig, RIG)
    before = dump_file()
    bake(RIG, target=target.name, **YZ)
    bake(RIG, target=target.name, keys="REDUCE", **YZ)
    clear()
    assert differences(before, dump_file()) == []


def test_what_was_replaced_is_in_the_file(animated, tmp_path):
    rig, target = animated
    own = {curve.data_path: [tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)}
    bake(RIG, target=target.name, **YZ)
    rig.animation_data.action.name = "Renamed"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    clear()
    rig = bpy.data.objects["Rig"]
    assert {curve.data_path: [tuple(key.co) for key in curve.keyframe_points] for curve in curves_of(rig)} == own


def test_cleared_bit_by_bit_all_comes_back(animated):
    _, target = animated
    before = dump_file()
    bake(RIG, target=target.name, **YZ)
    clear(frame_range="CUSTOM", frame_start=8, frame_end=12)
    clear(frame_range="CUSTOM", frame_start=1, frame_end=9)
    clear(frame_range="CUSTOM", frame_start=10, frame_end=24)
    assert differences(before, dump_file()) == []


def test_edits_made_since_win_and_that_is_said(animated, capfd):
    rig, target = animated
    before = dump_file()
    bake(RIG, target=target.name, **YZ)
    curve = curves_of(rig)[0]
    key = next(key for key in curve.keyframe_points if key.co.x == 5)
    key.co.y += 0.25
    curve.update()
    value = key.co.y
    capfd.readouterr()
    clear()
    assert "1 key that was edited since stays" in capfd.readouterr().out
    assert [key.co.y for key in curves_of(rig)[0].keyframe_points if key.co.x == 5] == [value]
    clear()
    assert differences(before, dump_file()) == []


def test_keys_that_were_moved_in_time_are_the_bakes_still(animated):
    rig, target = animated
    bake(RIG, target=target.name, **YZ)
    for curve in curves_of(rig):
        for key in curve.keyframe_points:
            key.co.x += 2.0 if key.type == "GENERATED" else 0.0
        curve.update()
    clear(all_frames=True)
    assert not [key for curve in curves_of(rig) for key in curve.keyframe_points if key.type == "GENERATED"]
