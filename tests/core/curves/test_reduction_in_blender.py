"""The reduced keys in Blender itself: its own evaluation, and its own decimation beside them."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
from tests.core.curves.blender_curves import FREE, evaluated, written_curves  # noqa: E402
from tests.core.curves.decimating import decimated_keys  # noqa: E402
from tests.core.curves.mocap import needs_walk, walk_limbs  # noqa: E402
from tests.core.curves.motions import SAMPLES, SUB_FRAMES, TARGETS, angles_towards, drift_from, smooth_keys, steps, tips  # noqa: E402
from twobone_addon.core.curves.frames import subframe_grid  # noqa: E402
from twobone_addon.core.curves.reduction import reduce_keys  # noqa: E402

ALIGNED = 3
FRAMES = np.arange(1.0, 201.0)


def curves_of(result):
    return [result.curve(channel) for channel in range(result.values.shape[1])]


@pytest.mark.parametrize("tolerance", [0.01, 0.0005])
@pytest.mark.parametrize("target", TARGETS)
def test_blender_shows_the_tip_within_the_tolerance_at_eight_sub_frames_per_frame(target, tolerance):
    times = subframe_grid(FRAMES, SAMPLES)
    angles = angles_towards(target(times))
    result = reduce_keys(times, angles, drift_from(angles), tolerance)
    shown = subframe_grid(FRAMES, SUB_FRAMES)
    with written_curves(curves_of(result)) as fcurves:
        for types in (np.full(len(result.frames), FREE), np.where(smooth_keys(result), ALIGNED, FREE)):
            for fcurve in fcurves:
                for attribute in ("handle_left_type", "handle_right_type"):
                    fcurve.keyframe_points.foreach_set(attribute, types.tolist())
                fcurve.update()
            seen = tips(evaluated(fcurves, shown))
            assert np.linalg.norm(seen - target(shown), axis=-1).max() <= tolerance


def test_a_standing_foot_stands_exactly_in_blender():
    times = subframe_grid(FRAMES, SAMPLES)
    angles = angles_towards(steps(times))
    result = reduce_keys(times, angles, drift_from(angles), 0.01)
    with written_curves(curves_of(result)) as fcurves:
        for first in (32, 64, 96, 128, 160):
            standing = evaluated(fcurves, subframe_grid([first, first + 16], 128))
            assert np.array_equal(standing, np.repeat(standing[:1], len(standing), axis=0))


@needs_walk
def test_a_quarter_of_the_keys_of_blenders_decimation_for_the_same_drift():
    """In the median over the limbs of a recorded walk, and never more; counted are all keys of all curves."""
    ratios = []
    for angles, lengths in walk_limbs():
        frames = np.arange(1.0, len(angles) + 1)
        times = subframe_grid(frames, SAMPLES)
        dense = np.stack([np.interp(times, frames, channel) for channel in angles.T], axis=-1)
        result = reduce_keys(times, dense, drift_from(dense, lengths), 0.003 * lengths.sum())
        theirs = decimated_keys(angles, times, drift_from(dense, lengths), result.worst_drift)
        ratios.append(theirs / result.values.size)
    assert min(ratios) >= 1
    assert np.median(ratios) >= 4
