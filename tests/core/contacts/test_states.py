import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.core.contacts.states import (
    Contact,
    ContactState,
    contacts_of_states,
    on_ball,
    on_heel,
    states_of_contacts,
)


def test_a_step_from_heel_to_toe_is_three_contacts():
    states = np.array([0, 0, 1, 1, 3, 3, 3, 2, 0])
    assert contacts_of_states(states, np.arange(10, 19)) == (
        Contact(12, 13, "HEEL"),
        Contact(14, 16, "BOTH"),
        Contact(17, 17, "BALL"),
    )


def test_a_foot_that_never_stands_has_no_contacts():
    assert contacts_of_states(np.zeros(5, int), np.arange(5)) == ()
    assert contacts_of_states(np.zeros(0, int), np.arange(0)) == ()


def test_frames_outside_all_contacts_have_none():
    states = states_of_contacts([Contact(2, 3, "BALL")], np.arange(1, 6))
    assert states.tolist() == [0, 2, 2, 0, 0]


def test_where_contacts_overlap_the_later_one_counts():
    states = states_of_contacts([Contact(1, 4, "HEEL"), Contact(3, 5, "BOTH")], np.arange(1, 6))
    assert states.tolist() == [1, 1, 3, 3, 3]


@given(st.lists(st.sampled_from(list(ContactState)), min_size=1), st.sampled_from([1.0, 0.5, 2.0]))
def test_states_come_back_from_their_contacts(states, step):
    frames = 7.0 + step * np.arange(len(states))
    assert states_of_contacts(contacts_of_states(np.array(states), frames), frames).tolist() == states


def test_a_foot_on_both_points_stands_on_its_heel_and_on_its_ball():
    states = np.array([ContactState.NONE, ContactState.HEEL, ContactState.BALL, ContactState.BOTH])
    assert on_heel(states).tolist() == [False, True, False, True]
    assert on_ball(states).tolist() == [False, False, True, True]
