"""Two legs below a hip, by hand."""

from tests.tasks.scenes import BoneShape, build_armature

SIDES = {"L": 1.0, "R": -1.0}


def legs(*, straight=False):
    """Two legs that hang from a hip and bend forward, mirror images of one another."""
    shapes = [BoneShape("hip", (0, 0, 1), (0, 0, 1.2))]
    for side, sign in SIDES.items():
        knee = (0.1 * sign, 0.0 if straight else -0.1, 0.5)
        shapes.append(BoneShape(f"thigh.{side}", (0.1 * sign, 0, 1), knee, "hip"))
        shapes.append(BoneShape(f"shin.{side}", knee, (0.1 * sign, 0, 0), f"thigh.{side}", connected=True))
        shapes.append(BoneShape(f"foot.{side}", (0.1 * sign, 0, 0), (0.1 * sign, -0.2, 0), f"shin.{side}"))
    return build_armature(shapes)
