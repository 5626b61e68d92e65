"""A person of boxes: limbs with hands, feet and toes."""

from tests.tasks.scenes import BoneShape, build_armature

SIDES = {"L": 1.0, "R": -1.0}


def person(*, without=()):
    """Legs with feet and toes, arms with hands, a head."""
    shapes = [
        BoneShape("hips", (0, 0, 1), (0, 0, 1.25)),
        BoneShape("chest", (0, 0, 1.25), (0, 0, 1.5), "hips", connected=True),
        BoneShape("head", (0, 0, 1.5), (0, 0, 1.8), "chest", connected=True),
    ]
    for side, sign in SIDES.items():
        limbs = {
            "hips": (("thigh", 0.1, 0.0, 0.95), ("shin", 0.1, -0.02, 0.5), ("foot", 0.1, 0.02, 0.08), ("toe", 0.1, -0.12, 0.02)),
            "chest": (("upper_arm", 0.18, 0.0, 1.45), ("forearm", 0.45, 0.01, 1.45), ("hand", 0.7, 0.0, 1.45)),
        }
        for parent, joints in limbs.items():
            ends = [joint[1:] for joint in joints[1:]] + [(joints[-1][1] + 0.08, -0.12, joints[-1][3])]
            above = parent
            for (name, x, y, z), end in zip(joints, ends, strict=True):
                if name not in without:
                    shapes.append(BoneShape(f"{name}.{side}", (sign * x, y, z), (sign * end[0], end[1], end[2]), above))
                    above = f"{name}.{side}"
    return build_armature(shapes)
