"""Contacts as files: what one kind of file is given, it gives back, and files of others are read by their columns."""

import numpy as np
import pytest

from twobone_addon.core.contacts.labels import labels_as_file, read_labels

STATES = np.array([[0, 1, 2, 3, 0], [3, 2, 0, 1, 1]])


@pytest.mark.parametrize("ending", [".npz", ".json", ".csv"])
def test_a_file_gives_back_the_states_of_both_feet(tmp_path, ending):
    path = tmp_path / f"contacts{ending}"
    path.write_bytes(labels_as_file(path, STATES, 30.0, 1.0))
    found = read_labels(path)
    assert found.states.tolist() == STATES.tolist()
    assert found.fps == (0.0 if ending == ".csv" else 30.0)


@pytest.mark.parametrize("heading", ["", "left_heel,left_toe,right_heel,right_toe\n"], ids=["no heading", "toes"])
def test_four_columns_are_left_heel_and_ball_then_right(tmp_path, heading):
    path = tmp_path / "contacts.csv"
    path.write_text(f"{heading}1,0,0,0\n0,0,0.2,0.9\n", encoding="utf-8")
    assert read_labels(path).states.tolist() == [[1, 0], [0, 2]]
