"""Which intervals between frames have keys inside, where a curve may turn unseen."""

import numpy as np

from twobone_addon.pipeline.report.between import keyed_intervals


def test_intervals_with_keys_inside_are_looked_at_and_keys_at_and_beside_the_frames_tell_of_none():
    frames, keyed = np.arange(1.0, 7.0), np.array([-3.0, 0.5, 1.0, 1.6, 2.4, 3.9996, 4.0, 4.0004, 5.5, 5.7, 6.0, 9.0])
    assert keyed_intervals(frames, keyed).tolist() == [0, 1, 4]
