"""Knees: their angle from the way of the ankle, and what is done where they would bend too suddenly."""

import numpy as np
import pytest

from twobone_addon.core.planting.knees import accelerations, calming_moves, gentler, knee_angles

LINKS = np.tile([0.5, 0.4], (60, 1))


def ways_of(angles):
    """Ankles of legs whose knee is bent by `angles`, by forward kinematics."""
    ways = np.zeros((len(angles), 3))
    ways[:, 2] = -np.hypot(0.5 + 0.4 * np.cos(angles), 0.4 * np.sin(angles))
    return ways


def test_the_angle_that_forward_kinematics_bends_the_knee_by():
    angles = np.linspace(0.05, 2.5, 60)
    assert np.allclose(knee_angles(ways_of(angles), LINKS), angles, atol=1e-9)


def test_out_of_reach_is_straight():
    assert knee_angles(np.array([[0.0, 0.0, -2.0]]), LINKS[:1])[0] == 0.0


def test_a_leg_without_a_shin_is_straight():
    assert knee_angles(np.array([[0.0, 0.0, -0.5]]), np.array([[0.5, 0.0]]))[0] == 0.0


def bounds(count, most=0.01):
    return {"low": np.full(count, -most), "high": np.full(count, most)}


def test_a_shaken_knee_is_calmed_by_moves_smaller_than_the_shaking():
    angles = np.full(60, 0.5)
    ways = ways_of(angles)
    ways[30, 2] += 0.01

    def bent(moves):
        return knee_angles(ways + moves[:, None] * np.array([0.0, 0.0, 1.0]), LINKS)[None]

    limit = np.abs(np.diff(bent(np.zeros(60))[0], 2)).max() / 3.0
    moves = calming_moves(bent, np.zeros(60), np.array([limit]), np.ones((1, 60), bool), **bounds(60))
    assert np.abs(np.diff(bent(moves)[0], 2)).max() <= limit
    # To take back two thirds of the shake where it is would do as well.
    assert 0.0 < np.sum(moves**2) < (0.01 * 2.0 / 3.0) ** 2
    assert not moves[:20].any()
    assert not moves[40:].any()


def test_two_knees_that_shake_at_different_times_are_both_calmed():
    ways = np.stack([ways_of(np.full(60, 0.5))] * 2)
    ways[0, 15, 2] += 0.01
    ways[1, 45, 2] += 0.01

    def bent(moves):
        return np.stack([knee_angles(each + moves[:, None] * np.array([0.0, 0.0, 1.0]), LINKS) for each in ways])

    # What calms one of them shakes the other one by as much.
    limits = 0.6 * np.abs(np.diff(bent(np.zeros(60)), 2)).max(axis=1)
    calmed = bent(calming_moves(bent, np.zeros(60), limits, np.ones((2, 60), bool), **bounds(60)))
    assert (np.abs(np.diff(calmed, 2)).max(axis=1) <= limits).all()


def smallest_moves(angles, limit):
    """Moves of least sum of squares that calm angles which they change one to one, by Hildreth's method."""
    second = np.diff(np.eye(len(angles)), 2, axis=0)
    rows, most = np.concatenate([second, -second]), limit - np.concatenate([second @ angles, -second @ angles])
    moves, prices = np.zeros(len(angles)), np.zeros(len(rows))
    for _ in range(200):
        for number, row in enumerate(rows):
            step = max(-prices[number], (row @ moves - most[number]) / (row @ row))
            prices[number] += step
            moves -= step * row
    return moves


def test_no_moves_that_calm_a_knee_are_much_smaller():
    angles = 0.5 + 0.003 * np.sin(np.arange(40.0)) * (np.abs(np.arange(40.0) - 20.0) < 4.0)
    limit = 0.5 * np.abs(np.diff(angles, 2)).max()
    moves = calming_moves(
        lambda moves: (angles + moves)[None], np.zeros(40), np.array([limit]), np.ones((1, 40), bool), **bounds(40)
    )
    assert np.abs(np.diff(angles + moves, 2)).max() <= limit
    assert np.sum(moves**2) < 1.3 * np.sum(smallest_moves(angles, limit) ** 2)


def test_moves_that_do_not_suffice_are_used_as_far_as_they_go():
    shake, most = 0.01, 0.002
    angles = 0.5 + shake * (np.arange(40) == 20)

    def bent(moves):
        return (angles + moves)[None]

    moves = calming_moves(bent, np.zeros(40), np.array([1e-4]), np.ones((1, 40), bool), **bounds(40, most))
    assert np.abs(moves).max() <= most
    # At best the shaken frame goes down, both frames beside it go up, and the bend there is smaller by four moves.
    assert np.abs(np.diff(bent(moves)[0], 2)).max() == pytest.approx(2.0 * shake - 4.0 * most, rel=1e-3)


def test_moves_that_may_only_go_one_way_do():
    angles = 0.5 + 0.003 * (np.arange(40) == 20)
    limit, low = np.array([0.003]), np.full(40, -0.01)
    moves = calming_moves(
        lambda moves: (angles + moves)[None], np.zeros(40), limit, np.ones((1, 40), bool), low=low, high=np.zeros(40)
    )
    assert moves.max() <= 0.0
    assert np.abs(np.diff(angles + moves, 2)).max() <= 0.003


def test_where_nobody_looks_nothing_is_calmed():
    ways = ways_of(np.where(np.arange(60) == 30, 0.6, 0.5))

    def bent(moves):
        return knee_angles(ways + moves[:, None] * np.array([0.0, 0.0, 1.0]), LINKS)[None]

    moves = calming_moves(bent, np.zeros(60), np.array([0.01]), np.zeros((1, 60), bool), **bounds(60))
    assert not moves.any()


def test_acceleration_is_none_where_a_knee_bends_steadily_and_at_the_ends():
    bends = 0.2 + 0.1 * np.arange(6.0)
    bends[4:] += 0.3
    assert accelerations(bends) == pytest.approx([0.0, 0.0, 0.0, 0.3, -0.3, 0.0])


LETTERS = ".hbF"
"""Of the states, in their order: in the air, on the heel, on the ball, flat."""
GENTLER = {
    "it comes down on its heel": ("....hhhhhFFFFFFFFFFFFFFFFbbbbb....", 9, "....hhhhhhhFFFFFFFFFFFFFFbbbbb...."),
    "it goes on over its ball": ("....hhhhhFFFFFFFFFFFFFFFFbbbbb....", 24, "....hhhhhFFFFFFFFFFFFFFbbbbbbb...."),
    "a short stance": ("....hhhhhFFFFFbbbbb....", 9, "....hhhhhhFFFFbbbbb...."),
    "it comes down on its ball": ("....bbbbbFFFFFFFF....", 9, "....bbbbbbFFFFFFF...."),
    "it comes down flat": ("....FFFFFFFF....", 4, "....hFFFFFFF...."),
    "it leaves flat": ("....FFFFFFFF....", 11, "....FFFFFFFb...."),
    "it leaves by its heel": ("....FFFFFFFFhhhhh....", 11, "....FFFFFFFhhhhhh...."),
    "as it lands": ("....hhhhhFFFFFFFF....", 4, ".....hhhhFFFFFFFF...."),
    "as it takes off": ("....FFFFFFFFbbbbb....", 16, "....FFFFFFFFbbbb....."),
    "a little before it lands": ("....hhhhhFFFFFFFF....", 1, ".....hhhhFFFFFFFF...."),
    "a little after it took off": ("....FFFFFFFFbbbbb....", 19, "....FFFFFFFFbbbb....."),
    "long before it lands": ("....hhhhhFFFFFFFF....", 0, "....hhhhhFFFFFFFF...."),
    "far from every edge": ("....FFFFFFFFFFFF....", 9, "....FFFFFFFFFFFF...."),
    "it stands from the beginning": ("FFFFFFFFbbbbb....", 0, "FFFFFFFFbbbbb...."),
    "it stands to the end": ("....hhhhhFFFFFFFF", 16, "....hhhhhFFFFFFFF"),
    "on its heel from the beginning": ("hhhhhFFFFFFFF....", 0, "hhhhhFFFFFFFF...."),
    "on its ball to the end": ("....FFFFFFFFbbbbb", 16, "....FFFFFFFFbbbbb"),
}
"""By name: a foot's states, the frame at which its knee pops, and how it stands for that."""


@pytest.mark.parametrize("states, pops, expected", GENTLER.values(), ids=GENTLER)
def test_a_foot_rolls_for_longer_comes_later_or_leaves_earlier_where_its_knee_pops(states, pops, expected):
    gentle = gentler(np.array([LETTERS.index(letter) for letter in states]), np.arange(len(states)) == pops)
    assert "".join(LETTERS[state] for state in gentle) == expected


def test_what_is_asked_stays_as_it_is():
    states = np.array([0] * 5 + [2] * 16 + [0] * 5)
    assert np.count_nonzero(gentler(states, np.ones(len(states), bool))) == 14
    assert np.count_nonzero(states) == 16
