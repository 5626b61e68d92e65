"""Rounds of a cycle, one beside the other."""

import numpy as np
import pytest

from twobone_addon.core.planting.cycles import SAME, Rounds, round_way, stance_beside


@pytest.mark.parametrize("count, beside", [(2, 1), (2, 3), (5, 3), (5, 4), (5, 11)])
def test_rounds_follow_one_another_without_a_moment_twice_or_missing(count, beside):
    """A motion that is a function of time, the same in each round but for the way it has gone, goes on."""
    rounds, way = Rounds(count, beside), 0.7
    times = rounds.times(first=3.0, step=0.5)
    assert np.diff(times) == pytest.approx(np.full(2 * beside + count - 1, 0.5))
    assert rounds.middle(times) == pytest.approx(3.0 + 0.5 * np.arange(count))
    length = 0.5 * (count - 1)

    def place(time):
        return np.sin(2.0 * np.pi * time / length) + way / length * time

    one = place(3.0 + 0.5 * np.arange(count))
    assert one[rounds.rows()] + way * rounds.numbers() == pytest.approx(place(times))


def test_the_round_that_is_meant_keeps_its_own_ends():
    rounds = Rounds(4, 7)
    assert rounds.middle(rounds.rows()).tolist() == [0, 1, 2, 3]
    assert rounds.middle(rounds.numbers()).tolist() == [0, 0, 0, 0]


def test_what_stands_at_one_end_stands_at_the_other():
    """The heel at the end, the ball at the beginning: it is the same moment."""
    states = Rounds(4, 3).states(np.array([2, 0, 0, 1]))
    assert states.tolist() == [3, 0, 0, 3, 0, 0, 3, 0, 0, 3]


def test_a_motion_is_a_cycle_where_all_points_have_gone_the_same_way():
    gone = np.tile([1.0, 2.0, 0.0], (5, 1))
    assert round_way(gone, 1.0) == pytest.approx([1.0, 2.0, 0.0])
    gone[2, 2] += 1.5 * SAME
    assert round_way(gone, 1.0) is None
    assert round_way(gone, 2.0) is not None


def test_what_is_looked_at_beside_a_round_holds_the_stances_that_go_over_its_ends():
    one, other = np.array([1, 1, 0, 0, 2, 3, 3]), np.array([0, 1, 1, 1, 1, 1, 0])
    assert stance_beside([one, other]) == 3
    assert stance_beside([other]) == 0
    assert stance_beside([np.full(7, 3)]) == 0
