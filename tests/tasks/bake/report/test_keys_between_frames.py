"""Which intervals between frames are worth a look: where a target moves most unlike its frames, or a curve may turn unseen."""

import numpy as np
import pytest

from twobone_addon.pipeline.report.between import Track, keyed_intervals, worst_intervals


@pytest.mark.parametrize("bump", [3, 20, 36])
def test_the_interval_in_which_a_target_passes_a_bump_is_the_worst_wherever_in_the_world_that_is(bump):
    """On target at all frames, while its way rises and falls again half-way from the frame of the bump to the next one."""
    frames = np.arange(41.0)
    targets = np.stack([100.0 + frames, 0.5 * np.exp(-((frames - bump - 0.5) ** 2)), 0.0 * frames], axis=-1)
    joints = np.stack([targets - [1.0, 0.0, 1.0], targets - [1.0, 0.0, 0.0], targets], axis=1)
    assert worst_intervals(Track(frames, joints, targets), None, interpolation="LINEAR", count=2).tolist() == [bump]


def test_intervals_with_keys_inside_are_looked_at_and_keys_at_and_beside_the_frames_tell_of_none():
    frames, keyed = np.arange(1.0, 7.0), np.array([-3.0, 0.5, 1.0, 1.6, 2.4, 3.9996, 4.0, 4.0004, 5.5, 5.7, 6.0, 9.0])
    assert keyed_intervals(frames, keyed).tolist() == [0, 1, 4]
