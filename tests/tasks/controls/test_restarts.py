"""Where the search for a switched knee's place restarts."""

import numpy as np

from twobone_addon.tasks.give.controls.steering import BaseTrial

KICK = 0.08


def trial(shape, off):
    """A trial with these shapes `(F, 2)` and errors along and across the limb `(F, 2)`."""
    count = len(shape)
    errors = np.concatenate([np.array(off, dtype=float), np.zeros((count, 2))], axis=1)
    return BaseTrial(np.array(shape, dtype=float), np.zeros(count), np.zeros((count, 3)), errors, np.zeros((count, 3)), {})


def test_a_restart_goes_on_to_where_the_error_would_vanish():
    before, best = (
        trial([[0.0, 0.6], [0.0, 0.6]], [[3e-4, 0.0], [0.0, -4e-4]]),
        trial([[0.01, 0.8], [0.0, 0.7]], [[1e-4, 0.0], [0.0, 2e-4]]),
    )
    np.testing.assert_allclose(best.shape + best.onward(before, KICK), [[0.015, 0.9], [0.0, 0.6 + 0.1 * 4 / 6]])


def test_a_restart_is_a_kick_where_nothing_tells_how_to_go_on():
    start = trial([[0.0, 0.6]] * 3, [[3e-4, 0.0]] * 3)
    # As before; farther off than before; and so little nearer that it would be far away.
    best = trial([[0.0, 0.6], [0.0, 0.7], [0.0, 0.7]], [[3e-4, 0.0], [4e-4, 0.0], [2.9e-4, 0.0]])
    np.testing.assert_allclose(best.onward(start, KICK), [[0.0, KICK]] * 3)
