"""Animals' legs: hind knees bend forwards and front elbows backwards, whatever bones are as long as theirs."""

import numpy as np
import pytest

from tests.core.limbs.builder import FOUR_LEGGED, Builder, found, moved, renamed
from tests.core.limbs.poses import TURNS
from twobone_addon.core.limbs.finding import find_limbs


def hoofed():
    """A horse: shoulder blades as long as its upper arms, and cannon bones longer than its thighs."""
    builder = Builder()
    builder.bone("hips", "", (0, 0.6, 1.4))
    builder.chain(
        "hips", ("spine", (0, 0.3, 1.4)), ("chest", (0, -0.2, 1.4)), ("neck", (0, -0.6, 1.5)), ("head", (0, -1.0, 2.0)),
        ("jaw", (0, -1.2, 1.9)),
    )  # fmt: skip
    builder.both(
        "hips", ("thigh.{}", (0.15, 0.6, 1.2)), ("shin.{}", (0.15, 0.4, 0.95)), ("foot.{}", (0.15, 0.75, 0.55)),
        ("toe.{}", (0.15, 0.65, 0.1)),
    )  # fmt: skip
    builder.both(
        "chest", ("scapula.{}", (0.1, -0.3, 1.45)), ("front_thigh.{}", (0.15, -0.6, 1.15)), ("front_shin.{}", (0.15, -0.35, 0.9)),
        ("front_foot.{}", (0.15, -0.38, 0.45)), ("front_toe.{}", (0.15, -0.46, 0.1)),
    )  # fmt: skip
    return builder.skeleton()


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("turn", TURNS)
def test_the_joints_of_a_leg_are_those_that_bend_its_way(turn, size):
    linear = size * np.array(TURNS[turn], dtype=float)
    linear *= np.sign(np.linalg.det(linear))
    assert found(moved(hoofed(), linear, offset=(2.0 * size, 5.0 * size, -size))) == FOUR_LEGGED


def test_front_and_back_are_seen_without_names():
    nameless, before = renamed(hoofed(), 2)
    assert {(kind, side, *(before[name] for name in bones)) for kind, side, *bones in found(nameless)} == FOUR_LEGGED
    upper = {before[limb.upper]: (limb.place.number, limb.place.count) for limb in find_limbs(nameless).limbs}
    assert upper == {f"{name}.{side}": (n, 2) for n, name in enumerate(("front_thigh", "thigh")) for side in "LR"}
