"""Contacts that are known: from another armature, out of a file and into one; and files that do not fit."""

import json

import bpy
import numpy as np
import pytest

from tests.core.contacts.gait import WALK, feet_of
from tests.tasks.find_contacts.found import find, states_in
from tests.tasks.find_contacts.walker import evaluated_contact, make_walker

pytestmark = pytest.mark.usefixtures("empty_file")

FRAMES = np.arange(1, 92)
LABELS = {"left_heel": (10, 20), "left_ball": (15, 30), "right_heel": (40, 50), "right_ball": (40, 60)}
"""First and last row, from 0, on the ground."""


def table():
    rows = np.zeros((len(FRAMES), 4), int)
    for column, (first, last) in enumerate(LABELS.values()):
        rows[first : last + 1, column] = 1
    return rows


def states():
    rows = table()
    return np.array([rows[:, 0] + 2 * rows[:, 1], rows[:, 2] + 2 * rows[:, 3]])


def keyed(walker):
    return np.array([evaluated_contact(walker, side, FRAMES) for side in (0, 1)])


def exchange(way, **settings):
    assert getattr(bpy.ops.twobone, f"{way}_contacts")(armature="Walker", **settings) == {"FINISHED"}
    return json.loads(bpy.context.window_manager.twobone_report)


@pytest.mark.parametrize("suffix", ["npz", "csv", "json"])
def test_what_is_exported_is_imported_again(tmp_path, suffix):
    walker, _ = make_walker(rate=30)
    found = find()
    file = tmp_path / f"contacts.{suffix}"
    report = exchange("export", filepath=str(file))
    assert report["kind"] == "export_contacts"
    assert [chain["contacts"] for chain in report["chains"]] == [chain["contacts"] for chain in found["chains"]]
    before = keyed(walker)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    walker, _ = make_walker(rate=30)
    report = exchange("import", filepath=str(file))
    assert report["kind"] == "import_contacts"
    assert np.array_equal(keyed(walker), before)


def test_labels_of_a_generator_are_read(tmp_path):
    walker, _ = make_walker(rate=30)
    np.savez(tmp_path / "made.npz", foot_contacts=table().astype(np.float32), posed_joints=np.zeros(3))
    exchange("import", filepath=str(tmp_path / "made.npz"))
    assert np.array_equal(keyed(walker), states())


def test_columns_may_stand_in_any_order_and_be_called_toes(tmp_path):
    walker, _ = make_walker(rate=30)
    lines = ["frame,Right Toe,Right Heel,left_toe,left_heel"]
    lines += [",".join(map(str, (number, *row[::-1]))) for number, row in enumerate(table().tolist())]
    (tmp_path / "made.csv").write_text("\n".join(lines))
    exchange("import", filepath=str(tmp_path / "made.csv"))
    assert np.array_equal(keyed(walker), states())


def test_labels_of_another_rate_are_those_of_the_same_moments(tmp_path):
    walker, _ = make_walker(rate=30)
    rows = np.repeat(table(), 2, axis=0)[:-1]
    (tmp_path / "made.json").write_text(json.dumps({"fps": 60, "foot_contacts": rows.tolist()}))
    exchange("import", filepath=str(tmp_path / "made.json"))
    assert np.array_equal(keyed(walker), states())


@pytest.mark.parametrize("first, rows, told", [(1, 91, []), (1, 60, ["1 to 60"]), (11, 81, ["11 to 91"])])
def test_frames_that_a_file_does_not_tell_are_said_and_stay_as_they_are(tmp_path, first, rows, told):
    make_walker(rate=30)
    (tmp_path / "made.json").write_text(json.dumps(table()[:rows].tolist()))
    report = exchange("import", filepath=str(tmp_path / "made.json"), frame_start=float(first))
    assert [note for note in report["notes"] if note.startswith("The file covers")] == [
        f"The file covers frames {each}; the action's other frames (1 to 91) are unchanged." for each in told
    ]


BAD = {
    "shape": (lambda: [[0, 1, 1]] * 90, "shape"),
    "no rows": (list, "shape"),
    "too long": (lambda: [[0, 0, 1, 1]] * 120, "but the action ends at 91"),
    "beyond 1": (lambda: [[0, 0, 1, 2]] * 90, "between 0"),
    "words": (lambda: [["up", "down", "up", "down"]], "cannot be read as contacts"),
    "columns": (lambda: {"columns": ["a", "b", "c", "d"], "foot_contacts": [[0, 0, 1, 1]]}, "It needs left_heel"),
    "other keys": (lambda: {"feet": []}, "It needs foot_contacts"),
    "rates": (lambda: {"fps": 30, "foot_contacts": [[0, 0, 1, 1]]}, "not 60"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_that_does_not_fit_is_refused_in_a_sentence_and_nothing_changes(tmp_path, what):
    walker, _ = make_walker(rate=30)
    make, said = BAD[what]
    (tmp_path / "bad.json").write_text(json.dumps(make()))
    with pytest.raises(RuntimeError, match=said):
        exchange("import", filepath=str(tmp_path / "bad.json"), fps=60.0 if what == "rates" else 0.0)
    assert not keyed(walker).any()


@pytest.mark.parametrize("name, said", [("none.npz", "cannot be read"), ("made.txt", "ends in .npz"), ("", "No file is named")])
def test_a_file_that_is_not_there_is_said(tmp_path, name, said):
    make_walker(rate=30)
    with pytest.raises(RuntimeError, match=said):
        exchange("import", filepath=str(tmp_path / name) if name else "")


def test_no_file_is_replaced_unless_that_is_asked_for(tmp_path):
    make_walker(rate=30)
    file = tmp_path / "contacts.json"
    with pytest.raises(RuntimeError, match="has no contacts yet"):
        exchange("export", filepath=str(file))
    find()
    file.write_text("mine")
    with pytest.raises(RuntimeError, match="already exists"):
        exchange("export", filepath=str(file))
    assert file.read_text() == "mine"
    with pytest.raises(RuntimeError, match="not a contacts file"):
        exchange("export", filepath=str(file), overwrite=True)
    assert file.read_text() == "mine"
    file.unlink()
    exchange("export", filepath=str(file))
    exchange("export", filepath=str(file), overwrite=True)
    assert len(json.loads(file.read_text())["foot_contacts"]) == len(FRAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["contacts.json"]


def test_another_armature_tells_when_feet_stand():
    """The source walks; the one that took its motion over skates, so that its own motion tells nothing."""
    source, _ = make_walker(rate=30)
    source.name = "Source"
    told = find(armature="Source")
    skating = feet_of(WALK, rate=30, seconds=3.0)
    skating.points[..., 1] += 1.5 * np.arange(skating.points.shape[2]) / 30
    make_walker(rate=30, feet=skating)
    frames = FRAMES
    report = find(armature="Walker", contacts_from="Source")
    for side in (0, 1):
        assert np.array_equal(states_in(report, side, frames), states_in(told, side, frames))
    assert max(report["chains"][0]["travel"]) > 0.3
    with pytest.raises(RuntimeError, match="cannot be its own source of contacts"):
        find(armature="Walker", contacts_from="Walker")


def test_contacts_of_a_file_are_planted_to_their_last_frame(tmp_path):
    """They hold feet that swing, so that knees would be calmer with shorter ones. A second run plants the same."""
    walker, _ = make_walker(rate=30)
    (tmp_path / "made.json").write_text(json.dumps(table().tolist()))
    exchange("import", filepath=str(tmp_path / "made.json"))
    for _ in range(2):
        assert bpy.ops.twobone.plant(armature="Walker", max_repair=0.0) == {"FINISHED"}
        report = json.loads(bpy.context.window_manager.twobone_report)
        assert np.array_equal(keyed(walker), states())
        assert [chain["left"] for chain in report["chains"]] == [[], []]


def test_contacts_of_another_armature_are_planted_to_their_last_frame():
    source, _ = make_walker(rate=30)
    source.name = "Source"
    told = find(armature="Source")
    skating = feet_of(WALK, rate=30, seconds=3.0)
    skating.points[..., 1] += 0.5 * np.arange(skating.points.shape[2]) / 30
    walker, _ = make_walker(rate=30, feet=skating)
    assert bpy.ops.twobone.plant(armature="Walker", contacts_from="Source", max_repair=0.0) == {"FINISHED"}
    assert np.array_equal(keyed(walker), [states_in(told, side, FRAMES) for side in (0, 1)])
