"""Left is told from right by whatever points forwards: of nameless people whose toes, knees, elbows or heads are all there is."""

import numpy as np
import pytest

from tests.core.limbs.builder import Builder, found, moved, renamed

FORWARDS = {
    "knees": {"knee": -0.06},
    "elbows": {"elbow": 0.08},
    "feet": {"foot_tail": -0.15},
    "head": {"head": -0.3},
}
"""By what tells: how far that is along Y, where everything else is straight. The figure faces -Y."""


def figure(*, knee=0.0, elbow=0.0, foot_tail=0.0, head=0.0):
    builder = Builder()
    builder.bone("hips", "", (0, 0, 1.0))
    builder.chain("hips", ("chest", (0, 0, 1.25)), ("neck", (0, 0, 1.5)), ("head", (0, head, 1.6)))
    for side, x in (("L", 1.0), ("R", -1.0)):
        builder.chain("hips", (f"thigh.{side}", (0.1 * x, 0, 0.95)), (f"shin.{side}", (0.1 * x, knee, 0.5)))
        builder.bone(f"foot.{side}", f"shin.{side}", (0.1 * x, 0, 0.08), (0.1 * x, foot_tail, 0.03))
        builder.chain(
            "chest", (f"upper_arm.{side}", (0.18 * x, 0, 1.45)), (f"forearm.{side}", (0.45 * x, elbow, 1.45)),
            (f"hand.{side}", (0.7 * x, 0, 1.45)),
        )  # fmt: skip
    return builder.skeleton()


def sides(skeleton, seed=1):
    """What each limb's own side is taken for, after all names are gone."""
    nameless, before = renamed(skeleton, seed)
    return {(before[upper], side) for _, side, upper, *_ in found(nameless)}


RIGHT = {(f"{name}.{side}", word) for name in ("thigh", "upper_arm") for side, word in (("L", "LEFT"), ("R", "RIGHT"))}


@pytest.mark.parametrize("size", [1.0, 100.0])
@pytest.mark.parametrize("angle", [0.0, 1.0, np.pi])
@pytest.mark.parametrize("what", FORWARDS)
def test_what_points_forwards_tells_left_from_right(what, angle, size):
    turn = size * np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    assert sides(moved(figure(**FORWARDS[what]), turn, offset=(7.0 * size, -5.0 * size, size))) == RIGHT


def test_where_nothing_points_forwards_a_figure_faces_as_figures_usually_do():
    assert sides(figure()) == RIGHT
    y_up = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert sides(moved(figure(), y_up)) == RIGHT
