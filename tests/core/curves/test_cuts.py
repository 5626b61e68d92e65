"""A cut is where all of a body jumps at once; speed, steps, single limbs and noise are none."""

import numpy as np
import pytest

from twobone_addon.core.curves.frames import cuts

COUNT = 60


def body(speed=0.05):
    """Hip, knee and ankle of a leg of length 1 that walks along X and swings."""
    time = np.arange(COUNT) / 24.0
    hip = np.stack([speed * np.arange(COUNT), 0.0 * time, 1.0 + 0.02 * np.sin(9.0 * time)], axis=-1)
    swing = 0.5 * np.sin(6.0 * time)
    knee = hip + 0.5 * np.stack([np.sin(swing), 0.0 * time, -np.cos(swing)], axis=-1)
    ankle = knee + 0.5 * np.stack([np.sin(0.5 * swing), 0.0 * time, -np.cos(0.5 * swing)], axis=-1)
    return np.stack([hip, knee, ankle], axis=1)


@pytest.mark.parametrize("row", [2, 3, 30, COUNT - 2])
@pytest.mark.parametrize("jump", [0.6, 3.0, 100.0])
def test_a_jump_of_all_is_a_cut(row, jump):
    points = body()
    points[row:] += (0.0, jump, 0.0)
    assert cuts(points, 1.0).tolist() == [row]


def test_several_takes_have_several_cuts():
    points = body()
    for row in (12, 13 + 9, 40):
        points[row:] += (2.0, -1.0, 0.0)
    assert cuts(points, 1.0).tolist() == [12, 22, 40]


@pytest.mark.parametrize("speed", [0.0, 0.05, 0.4, 2.0])
def test_a_steady_motion_has_none_however_fast(speed):
    assert cuts(body(speed), 1.0).tolist() == []


@pytest.mark.parametrize("held", [2, 3, 4])
def test_a_motion_on_twos_threes_or_fours_has_none(held):
    rows = np.arange(COUNT) // held * held
    assert cuts(body(0.4)[rows], 1.0).tolist() == []


def test_a_limb_that_jumps_from_still_hips_is_no_cut():
    points = body()
    points[30:, 1:] += (0.0, 2.0, 0.0)
    assert cuts(points, 1.0).tolist() == []


def test_a_jump_smaller_than_a_step_is_no_cut():
    points = body()
    points[30:] += (0.0, 0.2, 0.0)
    assert cuts(points, 1.0).tolist() == []


@pytest.mark.parametrize("row", [1, COUNT - 1])
def test_a_single_frame_is_no_take(row):
    points = body()
    points[row:] += (0.0, 3.0, 0.0)
    assert cuts(points, 1.0).tolist() == []


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_cuts_do_not_depend_on_the_size_of_the_world(size):
    points = body()
    points[30:] += (0.0, 1.0, 0.0)
    assert cuts(points * size, size).tolist() == [30]
