"""Rigs of several layers: the chain found is the one that is turned forwards, whichever bones deform."""

import pytest

from tests.core.limbs.builder import Builder, both_sides, found, person
from twobone_addon.core.limbs.finding import find_limbs

LIMBS = {"thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand"}
TURNED_BY_IK = {"thigh", "shin", "upper_arm", "forearm"}

TOES = (("thigh", "FK-toe.{}"), ("upper_arm", ""))

FORWARD = both_sides("LEG", "FK-thigh.{}", "FK-shin.{}", "FK-foot.{}") | both_sides(
    "ARM", "FK-upper_arm.{}", "FK-forearm.{}", "FK-hand.{}"
)


def layered(*, all_deform, loose):
    """A person's bones that deform copy controls, on the limbs an IK and an FK layer; all begin at the same joints."""
    builder, plain = Builder(), person()
    builder.bone("root", "", (0, 0, 0), deform=all_deform)
    above = {name: plain.names[parent] if parent >= 0 else "" for name, parent in zip(plain.names, plain.parents, strict=True)}
    places = dict(zip(plain.names, zip(plain.heads, plain.tails, strict=True), strict=True))
    part = {name: name.partition(".")[0] for name in plain.names}
    body = [name for name in plain.names if part[name] not in LIMBS and not name.startswith("finger")]
    for name in body:
        builder.bone(f"C-{name}", f"C-{above[name]}" if above[name] else "root", *places[name], deform=all_deform)
    for layer in ("IK", "FK"):
        for name in (each for each in plain.names if part[each] in LIMBS):
            over = f"{layer}-{above[name]}" if part[above[name]] in LIMBS else f"C-{above[name]}"
            builder.bone(f"{layer}-{name}", over, *places[name], deform=all_deform)
            if layer == "IK" and part[name] in TURNED_BY_IK:
                builder.bound.add(builder.names.index(f"{layer}-{name}"))
    for name in ("foot", "hand"):
        builder.both("root", (f"{name}_target.{{}}", places[f"{name}.L"][0]), deform=all_deform)
    for name in plain.names:
        builder.bone(f"DEF-{name}", "root" if loose or not above[name] else f"DEF-{above[name]}", *places[name])
        sources = [f"FK-{name}", f"IK-{name}"] if part[name] in LIMBS else [f"C-{name}"] if name in body else []
        for source in sources:
            builder.follow(f"DEF-{name}", source)
    return builder.skeleton()


@pytest.mark.parametrize("loose", [False, True])
@pytest.mark.parametrize("all_deform", [False, True])
def test_the_forward_layer_is_the_chain(all_deform, loose):
    skeleton = layered(all_deform=all_deform, loose=loose)
    assert found(skeleton) == FORWARD
    toes = {limb.upper: limb.toe for limb in find_limbs(skeleton).limbs}
    assert toes == {f"FK-{upper}.{side}": toe.format(side) for upper, toe in TOES for side in "LR"}
