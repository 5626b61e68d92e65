"""How much of a nudge there is at a frame, in motion that ends and in motion that goes round."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from twobone_addon.core.nudges import CycledNudge, Nudge, joined_spans, offsets, with_nudge, without_nudge

CYCLE = (1.0, 31.0)


def nudge(frame=14.0, offset=(1.0, 2.0, 3.0), before=6.0, after=8.0, falloff="SMOOTH"):
    return Nudge(frame, offset, before, after, falloff, "AUTO")


@pytest.mark.parametrize("falloff", ["SMOOTH", "LINEAR", "CONSTANT"])
def test_all_of_it_is_at_its_frame_and_nothing_beyond_its_range(falloff):
    shares = nudge(falloff=falloff).weights(np.array([7.0, 8.5, 14.0, 21.5, 23.0]), None)
    assert shares[2] == 1.0
    assert shares[0] == shares[4] == 0.0
    assert np.all(shares[[1, 3]] > 0.0)


@given(st.floats(1.0, 30.99), st.floats(0.5, 29.0), st.floats(0.5, 29.0), st.sampled_from(["SMOOTH", "LINEAR", "CONSTANT"]))
def test_in_a_cycle_the_end_has_as_much_of_it_as_the_beginning(frame, before, after, falloff):
    one = nudge(frame, before=before, after=after, falloff=falloff)
    shares = one.weights(np.array([*CYCLE, frame]), CYCLE)
    assert shares[0] == pytest.approx(shares[1], abs=1e-9)
    assert shares[2] == pytest.approx(1.0)


@given(st.floats(1.0, 30.99), st.floats(0.5, 29.0), st.floats(0.5, 29.0), st.sampled_from(["SMOOTH", "LINEAR", "CONSTANT"]))
@example(27.0, 5.0, 4.03, "LINEAR")  # It ends so little behind the seam that no span begins there.
def test_its_spans_hold_all_of_it(frame, before, after, falloff):
    one = nudge(frame, before=before, after=after, falloff=falloff)
    frames = np.arange(CYCLE[0], CYCLE[1] + 1e-9, 0.25)
    for cycle in (None, CYCLE):
        inside = np.zeros(len(frames), dtype=bool)
        for start, end in one.spans(cycle):
            inside |= (frames >= start - 0.05) & (frames <= end + 0.05)
        assert not one.weights(frames, cycle)[~inside].any()


def test_nudges_add_up_and_one_at_the_same_frame_is_replaced():
    first, second = nudge(), nudge(16.0, (0.5, 0.0, 0.0))
    frames = np.array([14.0, 16.0])
    both = offsets([CycledNudge(first, None), CycledNudge(second, None)], frames)
    np.testing.assert_allclose(both, offsets([CycledNudge(first, None)], frames) + offsets([CycledNudge(second, None)], frames))
    assert with_nudge([first, second], nudge(14.004, (9.0, 0.0, 0.0))) == [nudge(14.004, (9.0, 0.0, 0.0)), second]
    assert without_nudge([first, second], 16.0) == [first]
    assert joined_spans([(5.0, 9.0), (1.0, 3.0), (3.0, 4.0), (8.0, 12.0)]) == [(1.0, 3.0), (3.0, 4.0), (5.0, 12.0)]
