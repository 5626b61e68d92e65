"""The frames of a bake are the ones a person would write down by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.curves.frames import NEAR_FRAME, frame_grid, merge_frames, ranges, subframe_grid
from twobone_addon.errors import SettingError


def test_every_frame():
    assert frame_grid(1, 5).tolist() == [1, 2, 3, 4, 5]


def test_a_step_of_a_tenth_meets_whole_frames_exactly():
    frames = frame_grid(-3, 100, 0.1)
    assert len(frames) == 1031
    assert np.isin(np.arange(-3, 101), frames).all()


@pytest.mark.parametrize(
    "start, end, step, expected",
    [
        (1, 10, 4, [1, 5, 9, 10]),
        (-2.5, 0, 1, [-2.5, -1.5, -0.5, 0]),
        (0.8, 2.4, 0.8, [0.8, 1.6, 2.4]),
        (7, 7, 1, [7]),
        (1, 3, 100, [1, 3]),
        (1, 3.004, 1, [1, 2, 3.004]),
    ],
)
def test_the_range_ends_where_it_was_told_to(start, end, step, expected):
    assert frame_grid(start, end, step).tolist() == expected


@given(st.floats(-1e4, 1e4), st.floats(0, 300), st.floats(0.02, 50))
def test_blender_never_merges_two_frames_of_the_grid(start, length, step):
    frames = frame_grid(start, start + length, step)
    assert frames[0] == pytest.approx(start, abs=1e-6)
    assert frames[-1] == pytest.approx(start + length, abs=NEAR_FRAME + 2e-6)
    assert np.all(np.diff(frames) > NEAR_FRAME - 2e-6)
    assert np.all(np.diff(frames) <= step + NEAR_FRAME + 1e-6)


@pytest.mark.parametrize(
    "arguments, said",
    [
        ((5, 1, 1), "ends before"),
        ((1, 5, 0), "Step"),
        ((1, 5, -1), "Step"),
        ((1, 5, 0.005), "merges"),
        ((1, 5, float("nan")), "Step"),
        ((float("nan"), 5, 1), "Start"),
        ((1, float("inf"), 1), "End"),
    ],
)
def test_a_range_without_meaning_is_refused_with_a_sentence(arguments, said):
    with pytest.raises(SettingError, match=said):
        frame_grid(*arguments)


def test_merging_keeps_the_first_lists_frames_and_leaves_none_too_close():
    assert merge_frames([1.004, 7], [1, 2, 3, 7.02], [2.009]).tolist() == [1.004, 2, 3, 7, 7.02]
    assert merge_frames([], [3, 1, 1]).tolist() == [1, 3]
    assert merge_frames([19.995, 20, 20.004, 21], [20, 21.5]).tolist() == [19.995, 21, 21.5]
    assert merge_frames().tolist() == []


@given(st.lists(st.lists(st.integers(0, 60).map(lambda number: number / 200.0), max_size=8), max_size=4))
def test_merged_frames_are_so_far_apart_that_blender_keeps_them_all_and_none_is_far_from_them(lists):
    merged = merge_frames(*lists)
    assert np.all(np.diff(merged) > NEAR_FRAME)
    assert all(np.abs(merged - frame).min() <= NEAR_FRAME for frames in lists for frame in frames)
    assert set(merged) <= {frame for frames in lists for frame in frames}


def test_ranges_of_frames():
    frames = [1, 1.5, 2, 2.5, 3, 3.5]
    assert ranges(frames, [1, 1, 0, 1, 0, 1]) == [[1, 1.5], [2.5, 2.5], [3.5, 3.5]]
    assert ranges(frames, [1] * 6) == [[1, 3.5]]
    assert ranges(frames, [0] * 6) == []
    assert ranges([], []) == []


@given(st.lists(st.booleans(), max_size=30))
def test_ranges_tell_exactly_the_frames_of_the_mask(mask):
    frames = np.arange(len(mask))
    told = [frame for first, last in ranges(frames, mask) for frame in range(int(first), int(last) + 1)]
    assert told == np.flatnonzero(mask).tolist()


def test_sub_frames_contain_the_frames():
    frames = np.array([-1.0, 0.0, 0.3, 5.0])
    assert subframe_grid(frames, 4)[::4].tolist() == frames.tolist()
    assert subframe_grid([0, 1, 3], 2).tolist() == [0, 0.5, 1, 2, 3]
    assert subframe_grid([3, 5], 4).tolist() == [3, 3.5, 4, 4.5, 5]
    assert subframe_grid([2], 4).tolist() == [2]
    assert subframe_grid([], 4).tolist() == []
