"""Plant Feet pressed again after contacts or settings were changed: as if it had been so from the beginning."""

import bpy
import pytest

from tests.blank import empty
from tests.promises.promises import add_action, play_action
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.seen_walk import key_values, plant
from tests.tasks.checks.targets import curves_of
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon.pipeline.run import run, run_steps
from twobone_addon.scene.versions import strip_bag
from twobone_addon.settings.feet import PlantSettings
from twobone_addon.tasks.plant import solve
from twobone_addon.tasks.plant.task import PLANT

PART = {"frame_range": "CUSTOM", "frame_start": 1, "frame_end": 30}
REST = {"frame_range": "CUSTOM", "frame_start": 31, "frame_end": 60}
OTHER_SETTINGS = ({"ease": 9}, {"keys": "REDUCE", "tolerance": 0.002}, {"max_lower": 0.01}, {"use_root": False})


def walker():
    armature, states = build_walker(Walk(slide=0.03, raised=0.03))
    key_contacts(armature, states)
    return armature, states


def take_away_contact(armature, states, first=28, last=43):
    """The animator sees that the left foot does not stand there, and keys that."""
    fewer = {side: values.copy() for side, values in states.items()}
    assert fewer["L"][first - 1 : last].all()
    fewer["L"][first - 1 : last] = 0
    for curve in [curve for curve in curves_of(armature) if "contact" in curve.data_path]:
        curve.keyframe_points.clear()
    key_contacts(armature, fewer)


def told_of(report):
    return "earlier planting kept: removed contacts stay planted" in report["sentence"]


@pytest.mark.parametrize("destination", ["ACTION", "NEW_ACTION"])
def test_a_contact_that_is_taken_away_stands_no_more(empty_file, destination):
    armature, states = walker()
    plant(destination=destination)
    take_away_contact(armature, states)
    again = plant()
    keys = all_keys(armature)
    empty()
    armature, states = walker()
    take_away_contact(armature, states)
    assert plant()["sentence"] == again["sentence"]
    assert all_keys(armature) == keys
    assert not told_of(again)
    assert again["is_anew"]


@pytest.mark.parametrize("settings", OTHER_SETTINGS, ids=str)
def test_other_settings_count_from_the_beginning(empty_file, settings):
    armature, _ = walker()
    plant()
    plant(**settings)
    keys = all_keys(armature)
    empty()
    armature, _ = walker()
    plant(**settings)
    assert all_keys(armature) == keys


def test_it_can_be_taken_back_as_after_the_first_time(empty_file):
    armature, states = walker()
    before = all_keys(armature)
    plant()
    take_away_contact(armature, states)
    plant()
    assert bpy.ops.twobone.clear_baked(armature="Walker", upper="thigh.L", lower="shin.L") == {"FINISHED"}
    assert all_keys(armature) == before


def test_clearing_one_action_leaves_another_to_be_planted_anew(empty_file):
    armature, states = walker()
    add_action()
    before = {}
    for name in ("First", "Second"):
        play_action(name)
        before[name] = all_keys(armature)
        plant()
    assert bpy.ops.twobone.clear_baked(armature="Walker", upper="thigh.L", lower="shin.L") == {"FINISHED"}
    assert all_keys(armature) == before["Second"]
    play_action("First")
    take_away_contact(armature, {side: values * 0 for side, values in states.items()}, 0, 0)
    plant()
    assert all_keys(armature) == before["First"]


def test_without_any_contact_left_the_motion_is_the_one_from_before(empty_file):
    armature, states = walker()
    before = all_keys(armature)
    plant()
    take_away_contact(armature, {side: values * 0 for side, values in states.items()}, 0, 0)
    report = plant()
    assert report["sentence"] == "No contacts left; the earlier planting was removed"
    assert all_keys(armature) == before
    assert plant()["sentence"] == "No foot contacts found; nothing was changed"


def test_a_part_of_the_motion_is_planted_again_alone(empty_file):
    armature, states = walker()
    before = key_values(armature)
    plant(**PART)
    plant(**REST)
    keys = key_values(armature)
    take_away_contact(armature, states, 28, 30)
    report = plant(**PART)
    assert (report["is_anew"], told_of(report)) == (True, False)
    after = key_values(armature)
    for path, values in after.items():
        assert values[30:] == pytest.approx(keys[path][30:], abs=1e-6), path
    moved = max(abs(after[path][:30] - before[path][:30]).max() for path in before if ".L" in path[0])
    assert moved > 0.01


TOUCHED = 35.0
"""A frame at which the left foot stands."""


def touch(armature):
    curve = next(curve for curve in curves_of(armature) if "shin.L" in curve.data_path)
    next(key for key in curve.keyframe_points if key.co.x == TOUCHED).co[1] += 0.01
    curve.update()


def test_keys_that_were_changed_by_hand_stay_and_that_is_said(empty_file):
    armature, states = walker()
    plant()
    touch(armature)
    assert not told_of(plant())
    more = {side: values.copy() for side, values in states.items()}
    more["L"][26] = 1
    key_contacts(armature, more)
    assert not told_of(plant())
    take_away_contact(armature, states)
    report = plant()
    assert (report["is_anew"], told_of(report)) == (False, True)


def test_a_bake_that_was_planted_is_where_the_next_planting_begins(empty_file):
    armature, states = walker()
    for curve in curves_of(armature):
        for key in curve.keyframe_points:
            key.type = "GENERATED"
    before = all_keys(armature)
    plant()
    take_away_contact(armature, states)
    report = plant()
    assert (report["is_anew"], told_of(report)) == (True, False)
    take_away_contact(armature, {side: values * 0 for side, values in states.items()}, 0, 0)
    plant()
    assert all_keys(armature) == before


def test_strips_that_were_planted_are_planted_anew_unless_they_were_edited(empty_file):
    armature, states = walker()
    take_away_contact(armature, {side: values * 0 for side, values in states.items()}, 0, 0)
    data, track = armature.animation_data, armature.animation_data.nla_tracks.new()
    track.strips.new("walk", 1, data.action)
    data.action = None
    key_contacts(armature, states)
    plant(destination="NLA")
    assert not told_of(plant(destination="NLA"))
    take_away_contact(armature, states)
    report = plant(destination="NLA")
    assert (report["is_anew"], told_of(report)) == (True, False)
    key_contacts(armature, states)
    plant(destination="NLA")
    strip = next(track.strips[0] for track in data.nla_tracks if track.name == "leg.L")
    curve = next(curve for curve in strip_bag(strip).fcurves if "shin.L" in curve.data_path)
    curve.keyframe_points[20].co.y += 0.01
    curve.update()
    take_away_contact(armature, states, 43, 43)
    assert told_of(plant(destination="NLA"))
    assert bpy.ops.twobone.clear_baked(armature="Walker", upper="thigh.L", lower="shin.L", all_frames=True) == {"FINISHED"}
    key_contacts(armature, states)
    assert not told_of(plant(destination="NLA"))


def test_another_range_over_it_is_said_where_contacts_are_others(empty_file, capfd):
    armature, states = walker()
    plant()
    assert not told_of(plant(**PART))
    take_away_contact(armature, states)
    capfd.readouterr()
    assert told_of(plant(**PART))
    assert "Warning: " in capfd.readouterr().out


def fail(*_):
    raise RuntimeError


def failed(armature, monkeypatch):
    monkeypatch.setattr(solve, "solve_takes", fail)
    with pytest.raises(RuntimeError):
        run(bpy.context.scene, PLANT, PlantSettings(armature=armature.name))


def given_up(armature, _monkeypatch):
    steps = run_steps(bpy.context.scene, PLANT, PlantSettings(armature=armature.name, evaluation="SCENE"))
    next(steps)
    steps.close()


@pytest.mark.parametrize("ended", [failed, given_up])
def test_what_was_planted_is_there_again_when_it_fails_or_is_given_up(empty_file, monkeypatch, ended):
    armature, states = walker()
    plant()
    take_away_contact(armature, states)
    keys, kept = all_keys(armature), armature.animation_data.action.twobone_replaced
    ended(armature, monkeypatch)
    assert all_keys(armature) == keys
    assert armature.animation_data.action.twobone_replaced == kept
    monkeypatch.undo()
    assert plant()["is_anew"]


def test_a_second_press_starts_from_the_same_contacts_as_the_first(empty_file, monkeypatch):
    """What planting has shortened for the knees' sake, and keyed, is not shortened once more."""
    build_walker(Walk(frames=120, rate=60.0, slide=0.06, raised=0.05))
    started = []
    solved = solve.solve_takes

    def watched(footing, standing):
        started.append([states.tolist() for states in standing.states])
        return solved(footing, standing)

    monkeypatch.setattr(solve, "solve_takes", watched)
    reports = [plant() for _ in range(3)]
    planted = [[(each["first"], each["last"]) for chain in report["chains"] for each in chain["contacts"]] for report in reports]
    assert len(started) == 3
    assert started[0] == started[1] == started[2]
    assert planted[0] == planted[1] == planted[2]


@pytest.mark.parametrize("slide", [0.0, 0.02, 0.03])
def test_each_of_several_actions_is_planted_again_as_it_was(empty_file, slide):
    """Both have the same legs and frames, and contacts of their own, which planting shortens."""
    armature, _ = build_walker(Walk(frames=24, slide=slide, raised=0.03))
    add_action()
    seen = []
    for _ in range(2):
        plant(actions="ALL")
        keys = {}
        for name in ("First", "Second"):
            play_action(name)
            keys |= {(name, *channel): values for channel, values in all_keys(armature).items()}
        seen.append(keys)
    assert seen[0] == seen[1]
