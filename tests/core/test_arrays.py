"""What every room does with rows of arrays."""

import numpy as np
import pytest

from twobone_addon.core.arrays import (
    cross,
    dot,
    every_row,
    frame_rows,
    held,
    held_rows,
    largest_component,
    magnitude,
    median,
    path_length,
    shortening,
    still_row,
)


def test_lengths_of_vectors_and_of_the_way_over_joints():
    assert magnitude(np.array([[3.0, 4.0], [0.0, 0.0]])) == pytest.approx([5.0, 0.0])
    joints = np.array([[0.0, 0, 0], [0, 3, 0], [4, 3, 0]])
    assert path_length(np.stack([joints, 2 * joints])) == pytest.approx([7.0, 14.0])


@pytest.mark.parametrize("count", [1, 2, 7, 8])
def test_the_middle_of_some_values_is_that_of_numpy(count):
    values = np.random.default_rng(5).normal(size=(count, 3))
    assert median(values).tolist() == np.median(values, axis=0).tolist()
    assert median(values[:, 0]) == np.median(values[:, 0])


def test_products_of_vectors_and_of_many_at_once():
    first, second = np.random.default_rng(3).normal(size=(2, 4, 5, 3))
    assert cross(first, second) == pytest.approx(np.cross(first, second))
    assert cross(first, second[0, 0]) == pytest.approx(np.cross(first, second[0, 0]))
    assert dot(first, second) == pytest.approx(np.einsum("abi,abi->ab", first, second))
    assert largest_component(np.array([[1.0, -3.0, 2.0]])).tolist() == [3.0]


def test_what_is_too_long_is_shortened_to_its_limit_at_any_size():
    lengths, limits = np.array([0.0, 0.0, 1.0, 2.0, 1e-300, 1e300]), np.array([0.0, 1e9, 2.0, 1.0, 1e300, 1e-3])
    assert shortening(lengths, limits) == pytest.approx([1.0, 1.0, 1.0, 0.5, 1.0, 1e-303])
    assert shortening(np.array([4.0, 8.0]), np.array(2.0)).tolist() == [0.5, 0.25]


def test_rows_that_are_not_valid_hold_the_last_valid_one_and_leading_ones_the_first():
    rows = np.arange(6.0)[:, None] * [1.0, 10.0]
    valid = np.array([False, True, False, False, True, False])
    assert list(held(rows, valid)[:, 0]) == [1, 1, 1, 1, 4, 4]
    assert list(held_rows(np.stack([valid, np.zeros(6, dtype=bool)])).ravel()) == [1, 1, 1, 1, 4, 4, 0, 0, 0, 0, 0, 0]


def test_one_row_stands_for_all_frames():
    still, moving = np.full((4, 3), 2.0), np.arange(12.0).reshape(4, 3)
    assert still_row(still).shape == (1, 3)
    assert still_row(moving) is moving
    back = np.array([[1.0], [2.0], [1.0]])
    assert still_row(back) is back, "ends that are alike are not enough"
    assert frame_rows(still[:1], np.array([2, 3])).shape == (1, 3)
    assert np.array_equal(frame_rows(moving, np.array([2, 3])), moving[2:])
    assert every_row(still[:1], 4).shape == still.shape


def test_no_number_is_not_still():
    assert len(still_row(np.full((3, 1), np.nan))) == 3
