"""Things that have no arms and no legs, drawn by hand."""

from tests.core.limbs.builder import Builder

NONE = {}
"""By name: a function that returns a builder."""


def thing(make):
    NONE[make.__name__] = make
    return make


@thing
def snake():
    builder = Builder()
    builder.bone("body0", "", (0, 0, 0))
    builder.chain("body0", *((f"body{n}", (0.1 * (n % 2), 0.2 * n, 0)) for n in range(1, 20)))
    builder.bone("jaw", "body19", (0, 3.9, 0))
    return builder


@thing
def rope():
    builder = Builder()
    builder.bone("rope0", "", (0, 0, 2))
    builder.chain("rope0", *((f"rope{n}", (0, 0, 2 - 0.1 * n)) for n in range(1, 15)))
    return builder


@thing
def rope_ladder():
    builder = Builder()
    builder.bone("top", "", (0, 0, 2))
    builder.both("top", *((f"rope{n}.{{}}", (0.2, 0, 2 - 0.15 * n)) for n in range(10)))
    return builder


@thing
def chest_with_lid():
    builder = Builder()
    builder.bone("box", "", (0, 0, 0))
    builder.chain("box", ("lid", (0, 0.5, 0.5)), ("latch", (0, -0.5, 0.6)))
    builder.both("box", ("handle.{}", (0.5, 0, 0.4)))
    return builder


@thing
def car():
    builder = Builder()
    builder.bone("body", "", (0, 0, 0.5))
    for which, y in (("front", -1.2), ("rear", 1.2)):
        builder.both("body", (f"axle_{which}.{{}}", (0.6, y, 0.4)), (f"wheel_{which}.{{}}", (0.8, y, 0.4)))
    builder.both("body", ("door.{}", (0.8, -0.5, 0.8)))
    return builder


@thing
def fish():
    builder = Builder()
    builder.bone("body", "", (0, 0, 0))
    builder.chain("body", *((f"tail{n}", (0, 0.2 * n, 0)) for n in range(1, 5)))
    builder.both("body", ("fin.{}", (0.1, -0.1, -0.05)), ("fin_end.{}", (0.3, 0.0, -0.15)), ("fin_tip.{}", (0.5, 0.1, -0.22)))
    return builder


@thing
def hand():
    """Fingers in a row, all alike."""
    builder = Builder()
    builder.bone("palm", "", (0, 0, 0))
    for number in range(4):
        builder.chain("palm", *((f"finger{number}{n}", (0.02 * number, 0.08 + 0.04 * n, 0)) for n in range(4)))
    builder.chain("palm", *((f"thumb{n}", (-0.03 - 0.01 * n, 0.02 + 0.03 * n, 0)) for n in range(3)))
    return builder


@thing
def face():
    builder = Builder()
    builder.bone("head", "", (0, 0, 0))
    builder.chain("head", ("jaw", (0, -0.02, -0.02)), ("chin", (0, -0.08, -0.07)))
    builder.both("head", ("eye.{}", (0.03, -0.08, 0.05)), ("lid.{}", (0.03, -0.09, 0.06)))
    builder.both("head", *((f"brow{n}.{{}}", (0.02 + 0.015 * n, -0.1, 0.08 + 0.004 * n)) for n in range(4)))
    builder.both("head", *((f"lip{n}.{{}}", (0.0 + 0.012 * n, -0.1 + 0.003 * n, -0.03)) for n in range(4)))
    builder.both("head", *((f"cheek{n}.{{}}", (0.05, -0.08 + 0.01 * n, 0.02 - 0.02 * n)) for n in range(3)))
    builder.both("head", ("ear.{}", (0.08, 0, 0.02)), ("ear_top.{}", (0.09, 0, 0.06)), ("ear_low.{}", (0.08, 0, -0.01)))
    return builder
