"""Reduced keys: the tip stays where it was, contacts stand, and an animator finds few keys."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.curves.motions import (
    LENGTHS,
    SAMPLES,
    SUB_FRAMES,
    TARGETS,
    angles_towards,
    circle,
    drift_from,
    noise,
    smooth_keys,
    square,
    steps,
    tips,
)
from twobone_addon.core.curves.bezier import evaluate
from twobone_addon.core.curves.frames import subframe_grid
from twobone_addon.core.curves.reduction import reduce_keys


def reduced(motion, start, end, tolerance, **options):
    """A motion, angles (N, 2) of times (N,), reduced; with the worst drift at eight sub-frames per frame."""
    times = subframe_grid(np.arange(start, end + 1), SAMPLES)
    result = reduce_keys(times, motion(times), drift_from(motion(times)), tolerance, **options)
    finer = subframe_grid(np.arange(start, end + 1), SUB_FRAMES)
    drifts = np.linalg.norm(tips(values_of(result, finer)) - tips(motion(finer)), axis=-1)
    return result, drifts


def values_of(result, frames):
    return np.stack([evaluate(result.curve(channel), frames) for channel in range(result.values.shape[1])], axis=-1)


def following(target):
    return lambda times: angles_towards(target(times))


def sines(seed):
    rng = np.random.default_rng(seed)
    sizes, speeds, phases = rng.normal(size=(4, 2)) / 3, rng.uniform(0, 0.5, (4, 2)), rng.uniform(0, 6, (4, 2))
    return lambda times: (sizes * np.sin(times[:, None, None] * speeds + phases)).sum(axis=1)


def corners(seed):
    rng = np.random.default_rng(seed)
    frames = np.unique(rng.integers(-100, 100, 60))
    angles = np.cumsum(rng.normal(size=(len(frames), 2)) * 0.2, axis=0)
    return lambda times: np.stack([np.interp(times, frames, channel) for channel in angles.T], axis=-1)


smooth_motions = st.builds(sines, st.integers(0, 10**6))
cornered_motions = st.builds(corners, st.integers(0, 10**6))
tolerances = st.sampled_from([1e-1, 1e-2, 1e-3, 1e-4])


@settings(max_examples=40, deadline=None)
@given(smooth_motions | cornered_motions, st.integers(-60, 30), st.integers(1, 40), tolerances)
@example(sines(564), 2, 14, 1e-4)
def test_the_tip_never_drifts_farther_than_the_tolerance_at_any_sub_frame(motion, start, length, tolerance):
    result, drifts = reduced(motion, start, start + length, tolerance)
    assert drifts.max() <= tolerance
    assert result.worst_drift <= tolerance


@settings(max_examples=25, deadline=None)
@given(smooth_motions | cornered_motions, st.integers(1, 40), tolerances)
def test_keys_are_poses_of_the_motion_on_rising_frames_with_handles_inside_their_segments(motion, length, tolerance):
    result, _ = reduced(motion, 0, length, tolerance)
    assert result.frames[0] == 0
    assert result.frames[-1] == length
    assert np.array_equal(result.values, motion(result.frames))
    spans = np.diff(result.frames)[:, None]
    assert np.all(spans > 0)
    forward = result.right[:-1, :, 0] - result.frames[:-1, None]
    backward = result.frames[1:, None] - result.left[1:, :, 0]
    assert np.all((forward > 0) & (forward < spans) & (backward > 0) & (backward < spans))


@settings(max_examples=25, deadline=None)
@given(smooth_motions | cornered_motions, tolerances)
def test_both_handles_of_the_first_and_the_last_key_lie_on_one_line(motion, tolerance):
    result, _ = reduced(motion, 0, 40, tolerance)
    assert smooth_keys(result)[[0, -1]].all()


@pytest.mark.parametrize("target", TARGETS)
def test_a_key_is_told_smooth_where_its_handles_make_one_line(target):
    result, _ = reduced(following(target), 0, 120, 1e-3)
    assert np.array_equal(result.smooth.all(axis=1), smooth_keys(result))


@pytest.mark.parametrize("target", TARGETS)
def test_a_tenth_of_the_tolerance_costs_less_than_four_times_the_keys(target):
    coarse, _ = reduced(following(target), 0, 120, 1e-2)
    fine, drifts = reduced(following(target), 0, 120, 1e-3)
    assert len(coarse.frames) <= len(fine.frames) < 4 * len(coarse.frames)
    assert drifts.max() <= 1e-3


def test_a_circle_needs_about_two_keys_a_turn():
    result, _ = reduced(following(circle), 0, 250, 0.01)
    assert len(result.frames) <= 2 * 250 / (2 * np.pi * 8) + 2


def test_ten_full_turns_are_two_keys_and_climb_all_the_way():
    result, drifts = reduced(lambda times: np.stack([times / 100 * 20 * np.pi, np.full_like(times, 0.8)], axis=-1), 0, 100, 1e-3)
    assert len(result.frames) == 2
    assert np.all(np.diff(values_of(result, np.linspace(0, 100, 999))[:, 0]) > 0)
    assert drifts.max() < 1e-9


def test_a_standing_foot_stands_exactly():
    result, _ = reduced(following(steps), 0, 128, 0.01)
    for first in (0, 32, 64, 96):
        assert {first, first + 16} <= set(result.frames)
        standing = values_of(result, np.linspace(first, first + 16, 129))
        assert np.array_equal(standing, np.repeat(standing[:1], 129, axis=0))
    at_lift_off = list(result.frames).index(16)
    assert smooth_keys(result)[at_lift_off]
    assert np.array_equal(result.left[at_lift_off, :, 1], result.values[at_lift_off])


def test_a_rest_that_trembles_by_single_precision_is_a_rest():
    def trembling(times):
        return np.float32(0.7) + np.random.default_rng(1).uniform(-2e-7, 2e-7, (len(times), 2))

    times = subframe_grid(np.arange(0, 50), SAMPLES)
    result = reduce_keys(times, trembling(times), drift_from(trembling(times)), 1e-3)
    assert len(result.frames) == 2
    assert np.array_equal(result.values[0], result.values[1])


def test_a_slow_creep_is_not_a_rest():
    result, drifts = reduced(lambda times: np.stack([times * 1e-6, times * 0], axis=-1), 0, 3000, 1e-3)
    assert len(result.frames) == 2
    assert result.values[1, 0] == pytest.approx(3e-3)
    assert drifts.max() < 1e-6


def test_a_limb_that_never_moves_has_two_flat_keys():
    result, drifts = reduced(lambda times: np.full((len(times), 2), 0.4), -5, 5, 1e-6)
    assert result.frames.tolist() == [-5, 5]
    assert np.all(result.left[..., 1] == 0.4)
    assert np.all(result.right[..., 1] == 0.4)
    assert drifts.max() == 0


def test_most_keys_of_a_smooth_motion_are_smooth():
    result, _ = reduced(following(circle), 0, 200, 2e-3)
    assert smooth_keys(result).mean() > 0.5


@pytest.mark.parametrize("tolerance", [1e-2, 1e-3, 1e-4])
def test_slopes_that_are_given_for_the_ends_are_theirs_and_cost_no_more_keys(tolerance):
    """As where a cycle goes on from its end to its start: nothing else than the motion's own slopes is asked for there."""
    motion, own = (lambda times: np.stack([np.sin(0.3 * times), 1.0 + 0.6 * np.cos(0.4 * times)], axis=-1)), []
    slopes = tuple(np.array([0.3 * np.cos(0.3 * t), -0.24 * np.sin(0.4 * t)]) for t in (2.0, 32.0))
    for options in ({}, {"ends": slopes}):
        result, drifts = reduced(motion, 2, 32, tolerance, **options)
        assert drifts.max() <= tolerance
        own.append(result)
    for key, slope in ((0, slopes[0]), (-1, slopes[1])):
        handles = own[1].right[key] - own[1].left[key]
        assert handles[:, 1] / handles[:, 0] == pytest.approx(slope, rel=1e-9)
    assert len(own[1].frames) <= len(own[0].frames) + 1


def test_required_frames_are_keys():
    wanted = [3, 7, 8, 33]
    result, drifts = reduced(following(circle), 0, 50, 1e-2, required=wanted)
    assert set(wanted) <= set(result.frames)
    assert drifts.max() <= 1e-2


def test_preferred_frames_are_taken_where_they_cost_nothing():
    free, _ = reduced(following(circle), 0, 60, 1e-2)
    wished = free.frames[1:-1] - 1
    result, drifts = reduced(following(circle), 0, 60, 1e-2, preferred=wished)
    assert len(result.frames) == len(free.frames)
    assert np.isin(wished, result.frames).any()
    assert drifts.max() <= 1e-2


def test_keys_stand_on_the_frames_allowed():
    allowed = np.arange(0, 61, 3)
    result, drifts = reduced(following(circle), 0, 60, 1e-2, key_frames=allowed)
    assert np.isin(result.frames, allowed).all()
    assert drifts.max() <= 1e-2


def test_fractional_and_negative_ranges_keep_their_ends():
    times = subframe_grid(np.arange(-7.6, 20, 0.8), SAMPLES)
    angles = angles_towards(circle(times))
    result = reduce_keys(times, angles, drift_from(angles), 1e-2)
    assert result.frames[[0, -1]].tolist() == times[[0, -1]].tolist()
    assert np.all(result.frames[1:-1] == np.round(result.frames[1:-1]))


def test_motion_too_quick_for_whole_frames_gets_keys_between_them():
    result, _ = reduced(lambda times: np.stack([np.cos(2 * np.pi * times), np.sin(6 * times)], axis=-1), 0, 4, 1e-3)
    assert result.worst_drift <= 1e-3
    assert np.any(result.frames % 1 != 0)


def test_a_jump_between_two_samples_is_kept_as_a_jump():
    times = subframe_grid(np.arange(0, 21), SAMPLES)
    angles = np.where(times[:, None] < 9.9, 0.2, 1.5) + np.zeros((1, 2))
    result = reduce_keys(times, angles, drift_from(angles), 1e-3)
    assert result.worst_drift <= 1e-3


def test_tolerance_may_differ_from_frame_to_frame():
    times = subframe_grid(np.arange(0, 81), SAMPLES)
    angles = angles_towards(noise(times))
    tolerance = np.where(times < 40, 0.05, 0.0005)
    result = reduce_keys(times, angles, drift_from(angles), tolerance)
    drifts = np.linalg.norm(tips(values_of(result, times)) - tips(angles), axis=-1)
    assert np.all(drifts <= tolerance)
    assert np.count_nonzero(result.frames < 40) < 0.7 * np.count_nonzero(result.frames > 40)


def test_quaternion_channels_are_judged_by_the_rotation_they_make():
    times = subframe_grid(np.arange(0, 61), SAMPLES)
    half = 0.5 * np.stack([np.sin(times / 9) + times / 7, np.cos(times / 5)], axis=-1)

    def rotations(values):
        pairs = values.reshape(-1, 2, 4)
        pairs = pairs / np.linalg.norm(pairs, axis=-1, keepdims=True)
        return 2 * np.arctan2(pairs[..., 1], pairs[..., 0])

    channels = np.zeros((len(times), 8))
    channels[:, [0, 4]], channels[:, [1, 5]] = np.cos(half), np.sin(half)
    right = tips(rotations(channels))
    result = reduce_keys(
        times, channels, lambda values, indices: np.linalg.norm(tips(rotations(values)) - right[indices], axis=-1), 1e-3
    )
    assert result.worst_drift <= 1e-3
    assert len(result.frames) < 20
    lengths = np.linalg.norm(values_of(result, times).reshape(-1, 2, 4), axis=-1)
    assert lengths.min() > 0.5


def test_a_chain_whose_tip_nothing_moves_needs_only_its_ends():
    times = subframe_grid(np.arange(0, 11), SAMPLES)
    result = reduce_keys(times, noise(times), lambda _, indices: np.zeros(len(indices)), 1e-3)
    assert len(result.frames) == 2
    assert np.isfinite(result.right).all()


@pytest.mark.parametrize("scale", [1e-3, 1e4])
def test_units_do_not_matter(scale):
    times = subframe_grid(np.arange(0, 61), SAMPLES)
    angles = angles_towards(square(times))
    metres = reduce_keys(times, angles, drift_from(angles), 1e-3)
    other = reduce_keys(times, angles, drift_from(angles, scale * LENGTHS), scale * 1e-3)
    assert other.frames.tolist() == metres.frames.tolist()
    assert np.allclose(other.right, metres.right, atol=1e-6)


def test_one_frame_is_one_key():
    result = reduce_keys([7.5], [[1.0, 2.0]], drift_from(np.array([[1.0, 2.0]])), 1e-3)
    assert result.frames.tolist() == [7.5]


@pytest.mark.parametrize(
    "times, options",
    [
        ([], {}),
        ([1, 1], {}),
        ([2, 1], {}),
        ([1, 2], {"required": [1.5]}),
        ([1, 2], {"preferred": [9]}),
        ([1, 2], {"key_frames": [0]}),
    ],
)
def test_frames_that_cannot_be_are_refused(times, options):
    angles = np.zeros((len(times), 2))
    with pytest.raises(ValueError, match="Expected"):
        reduce_keys(times, angles, drift_from(angles), 1e-3, **options)
