"""Characters as other programs and artists build them, drawn by hand, each with its arms and legs."""

from tests.core.limbs.builder import PERSON, Builder, arms, both_sides, fingers, four_legged, legs, person, spine

ALL = {}
"""By name: a function that returns a builder, and the limbs."""


def character(limbs):
    def keep(make):
        ALL[make.__name__] = (make, limbs)
        return make

    return keep


def _named(builder, names):
    """Rename bones; `names` maps what the drawings are called to what the program calls it."""
    builder.names = [names.get(name, name) for name in builder.names]
    return builder


def _both_named(kind, *patterns, left, right):
    return {
        (kind, word, *(pattern.format(spelled) for pattern in patterns)) for word, spelled in (("LEFT", left), ("RIGHT", right))
    }


MIXAMO = {
    "hips": "mixamorig:Hips", "spine": "mixamorig:Spine", "chest": "mixamorig:Spine2", "neck": "mixamorig:Neck",
    "head": "mixamorig:Head",
}  # fmt: skip
PARTS = {
    "thigh": "UpLeg", "shin": "Leg", "foot": "Foot", "toe": "ToeBase", "clavicle": "Shoulder", "upper_arm": "Arm",
    "forearm": "ForeArm", "hand": "Hand",
}  # fmt: skip
MIXAMO |= {
    f"{part}.{side}": f"mixamorig:{word}{name}" for part, name in PARTS.items() for side, word in (("L", "Left"), ("R", "Right"))
}


@character(
    _both_named("LEG", "mixamorig:{}UpLeg", "mixamorig:{}Leg", "mixamorig:{}Foot", left="Left", right="Right")
    | _both_named("ARM", "mixamorig:{}Arm", "mixamorig:{}ForeArm", "mixamorig:{}Hand", left="Left", right="Right")
)
def mixamo():
    """A T-pose with fingers, ends of toes and head, and elbows that are exactly straight."""
    builder = Builder()
    spine(builder)
    builder.bone("HeadTop_End", "head", (0, 0, 1.8))
    legs(builder)
    builder.both("toe.{}", ("toe_end.{}", (0.1, -0.2, 0.02)))
    builder.both(
        "chest", ("clavicle.{}", (0.05, 0, 1.4)), ("upper_arm.{}", (0.18, 0.02, 1.45)), ("forearm.{}", (0.45, 0.02, 1.45)),
        ("hand.{}", (0.72, 0.02, 1.45)),
    )  # fmt: skip
    fingers(builder)
    return _named(builder, MIXAMO)


@character(
    _both_named("LEG", "thigh_{}", "calf_{}", "foot_{}", left="l", right="r")
    | _both_named("ARM", "upperarm_{}", "lowerarm_{}", "hand_{}", left="l", right="r")
)
def mannequin():
    """A root, twist bones beside the joints, and bones for IK that hang from the root."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    builder.bone("pelvis", "root", (0, 0.02, 0.97))
    builder.chain("pelvis", *((f"spine_{n:02}", (0, 0.01, 1.0 + 0.12 * n)) for n in (1, 2, 3)))
    builder.chain("spine_03", ("neck_01", (0, 0, 1.55)), ("head", (0, 0, 1.65)))
    for side, sign in (("l", 1), ("r", -1)):
        builder.chain(
            "spine_03", (f"clavicle_{side}", (sign * 0.04, 0, 1.5)), (f"upperarm_{side}", (sign * 0.18, 0.01, 1.48)),
            (f"lowerarm_{side}", (sign * 0.39, 0.03, 1.28)), (f"hand_{side}", (sign * 0.58, -0.02, 1.09)),
        )  # fmt: skip
        builder.bone(f"upperarm_twist_01_{side}", f"upperarm_{side}", (sign * 0.182, 0.01, 1.478))
        builder.bone(f"lowerarm_twist_01_{side}", f"lowerarm_{side}", (sign * 0.5, 0, 1.17))
        for finger in range(5):
            places = [(sign * (0.64 + 0.03 * n), 0.02 - 0.02 * finger, 1.05 - 0.03 * n) for n in range(3)]
            builder.chain(f"hand_{side}", *((f"finger{finger}_{n}_{side}", place) for n, place in enumerate(places)))
        builder.chain(
            "pelvis", (f"thigh_{side}", (sign * 0.09, 0.01, 0.95)), (f"calf_{side}", (sign * 0.11, 0.0, 0.53)),
            (f"foot_{side}", (sign * 0.13, 0.05, 0.13)), (f"ball_{side}", (sign * 0.14, -0.11, 0.02)),
        )  # fmt: skip
        builder.bone(f"thigh_twist_01_{side}", f"thigh_{side}", (sign * 0.1, 0.005, 0.73))
        builder.bone(f"calf_twist_01_{side}", f"calf_{side}", (sign * 0.12, 0.02, 0.33))
    builder.bone("ik_foot_root", "root", (0, 0, 0))
    builder.bone("ik_hand_root", "root", (0, 0, 0))
    builder.bone("ik_hand_gun", "ik_hand_root", (-0.58, -0.02, 1.09))
    for side, sign in (("l", 1), ("r", -1)):
        builder.bone(f"ik_foot_{side}", "ik_foot_root", (sign * 0.13, 0.05, 0.13))
        builder.bone(f"ik_hand_{side}", "ik_hand_gun", (sign * 0.58, -0.02, 1.09))
    return builder


@character(PERSON)
def avatar():
    """Springs in pairs: hair, twin tails down to the knees, a skirt in three pairs, breasts, sleeves, ears, eyes."""
    builder = person()
    builder.both("head", ("eye.{}", (0.03, -0.08, 1.65)))
    builder.both("head", *((f"bangs{n}.{{}}", (0.05, -0.1, 1.75 - 0.06 * n)) for n in range(3)))
    builder.both("head", *((f"tail{n}.{{}}", (0.12 + 0.01 * n, 0.1, 1.75 - 0.15 * n)) for n in range(9)))
    builder.both("head", ("rabbit.{}", (0.05, 0, 1.8)), ("rabbit_mid.{}", (0.08, 0, 1.95)), ("rabbit_end.{}", (0.1, 0, 2.1)))
    builder.both("chest", ("breast.{}", (0.07, -0.1, 1.3)), ("breast_end.{}", (0.08, -0.15, 1.3)))
    for number, (x, y) in enumerate(((0.08, -0.12), (0.16, 0.0), (0.08, 0.12))):
        joints = ((f"skirt{number}{n}.{{}}", (x * (1 + 0.1 * n), y * (1 + 0.1 * n), 0.95 - 0.13 * n)) for n in range(4))
        builder.both("hips", *joints)
    builder.both("forearm.{}", *((f"sleeve{n}.{{}}", (0.62, 0.02, 1.4 - 0.08 * n)) for n in range(3)))
    return builder


@character(PERSON)
def gown():
    """Strands around the legs that reach the ground."""
    builder = person()
    for number, (x, y) in enumerate(((0.1, -0.15), (0.2, 0.0), (0.1, 0.15))):
        joints = ((f"gown{number}{n}.{{}}", (x * (1 + 0.2 * n), y * (1 + 0.2 * n), 0.95 - 0.18 * n)) for n in range(6))
        builder.both("hips", *joints)
    return builder


@character(PERSON)
def body_model():
    """No fingers, no clavicle's length to speak of, joints named by number."""
    builder = Builder()
    spine(builder)
    legs(builder)
    builder.both(
        "chest", ("collar.{}", (0.08, 0, 1.42)), ("upper_arm.{}", (0.18, 0, 1.44)), ("forearm.{}", (0.44, 0.02, 1.43)),
        ("hand.{}", (0.69, 0.02, 1.44)), ("palm.{}", (0.77, 0.02, 1.43)),
    )  # fmt: skip
    return builder


@character(PERSON)
def hoodie():
    """Arms without fingers, and strings of a hood that hang before them from the same bone."""
    builder = body_model()
    builder.both("chest", *((f"lace{n}.{{}}", (0.05, -0.12 - 0.01 * n, 1.42 - 0.09 * n)) for n in range(4)))
    return builder


@character(PERSON)
def with_things():
    """A sword and a shield, a tail, wings, targets and poles for IK at the root, a cape."""
    builder = Builder()
    builder.bone("root", "", (0, 0, 0))
    builder.bone("hips", "root", (0, 0, 1.0))
    builder.chain("hips", ("spine", (0, 0.01, 1.1)), ("chest", (0, 0.02, 1.25)), ("neck", (0, 0.01, 1.5)), ("head", (0, 0, 1.6)))
    legs(builder)
    arms(builder)
    fingers(builder)
    builder.chain("hand.R", ("sword", (-0.75, 0, 1.45)), ("sword_tip", (-0.75, -1.0, 1.45)))
    builder.bone("shield", "forearm.L", (0.6, -0.1, 1.45))
    builder.chain("hips", *((f"tail{n}", (0, 0.1 + 0.12 * n, 0.95 - 0.05 * n)) for n in range(7)))
    builder.chain("chest", *((f"cape{n}", (0, 0.12 + 0.02 * n, 1.4 - 0.2 * n)) for n in range(6)))
    builder.both(
        "chest", ("wing.{}", (0.05, 0.12, 1.4)), ("wing_mid.{}", (0.4, 0.3, 1.8)), ("wing_end.{}", (1.0, 0.4, 1.6)),
        ("wing_tip.{}", (1.6, 0.5, 1.2)),
    )  # fmt: skip
    builder.both("root", ("foot_ik.{}", (0.1, 0.02, 0.08)), ("toe_ik.{}", (0.1, -0.12, 0.02)))
    builder.both("root", ("knee_pole.{}", (0.1, -0.8, 0.5)))
    builder.both("root", ("hand_ik.{}", (0.7, 0, 1.45)))
    return builder


HORSEMAN = both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}") | both_sides(
    "LEG", "front_thigh.{}", "front_shin.{}", "front_foot.{}"
)


@character(HORSEMAN | both_sides("ARM", "upper_arm.{}", "forearm.{}", "hand.{}"))
def centaur():
    """Four legs, and above the front ones a torso with arms."""
    builder = Builder()
    builder.bone("hips", "", (0, 0.4, 0.8))
    builder.chain(
        "hips", ("spine", (0, 0.2, 0.8)), ("withers", (0, -0.1, 0.8)), ("waist", (0, -0.3, 0.95)), ("chest", (0, -0.32, 1.25)),
        ("neck", (0, -0.32, 1.5)), ("head", (0, -0.32, 1.6)),
    )  # fmt: skip
    builder.both(
        "hips", ("thigh.{}", (0.12, 0.34, 0.74)), ("shin.{}", (0.12, 0.27, 0.47)), ("foot.{}", (0.11, 0.48, 0.25)),
        ("toe.{}", (0.11, 0.41, 0.04)),
    )  # fmt: skip
    builder.both(
        "withers", ("front_thigh.{}", (0.12, -0.32, 0.69)), ("front_shin.{}", (0.12, -0.22, 0.44)),
        ("front_foot.{}", (0.11, -0.21, 0.17)), ("front_toe.{}", (0.11, -0.25, 0.04)),
    )  # fmt: skip
    builder.both(
        "chest", ("clavicle.{}", (0.03, -0.32, 1.45)), ("upper_arm.{}", (0.18, -0.32, 1.45)),
        ("forearm.{}", (0.45, -0.31, 1.45)), ("hand.{}", (0.7, -0.32, 1.45)),
    )  # fmt: skip
    for number in range(4):
        joints = ((f"finger{number}{n}.{{}}", (0.78 + 0.03 * n, -0.29 - 0.02 * number, 1.45)) for n in range(3))
        builder.both("hand.{}", *joints)
    return builder


@character(set().union(*(both_sides("LEG", f"femur{n}.{{}}", f"tibia{n}.{{}}", f"tarsus{n}.{{}}") for n in range(4))))
def spider():
    """Eight legs around one bone."""
    builder = Builder()
    builder.bone("body", "", (0, 0, 0.3))
    builder.bone("abdomen", "body", (0, 0.3, 0.35))
    for number, (across, along) in enumerate(((0.5, -0.8), (0.8, -0.3), (0.8, 0.3), (0.5, 0.8))):
        builder.both(
            "body", (f"femur{number}.{{}}", (0.15 * across, 0.15 * along, 0.3)),
            (f"tibia{number}.{{}}", (0.6 * across, 0.6 * along, 0.6)), (f"tarsus{number}.{{}}", (across, along, 0.3)),
            (f"claw{number}.{{}}", (1.2 * across, 1.2 * along, 0.0)),
        )  # fmt: skip
    return builder


@character(set().union(*(both_sides("LEG", f"femur{n}.{{}}", f"tibia{n}.{{}}", f"tarsus{n}.{{}}") for n in range(4))))
def low_spider():
    """The legs of each side on a stub of one bone, and hips as low as the feet: the knees alone are high."""
    builder = Builder()
    builder.bone("hips", "", (0, 0.17, 0.107))
    builder.chain("hips", ("thorax", (0, 0.03, 0.105)), ("head", (0, -0.234, 0.114)), ("head_tip", (0, -0.48, 0.133)))
    builder.chain("hips", *((f"tail{n}", (0, 0.23 + 0.14 * n, 0.11 + 0.02 * n)) for n in range(4)))
    builder.both("thorax", ("anchor.{}", (0.01, -0.1, 0.109)), ("thorax_side.{}", (0.074, -0.1, 0.109)))
    for number, (across, along) in enumerate(((0.76, -1.36), (1.3, -0.98), (1.48, -0.09), (1.2, 0.77))):
        builder.both(
            "thorax_side.{}", (f"femur{number}.{{}}", (0.15, -0.2 + 0.08 * number, 0.13)),
            (f"tibia{number}.{{}}", (0.45 * across, 0.42 * along, 0.5)),
            (f"tarsus{number}.{{}}", (0.8 * across, 0.8 * along, 0.4)),
            (f"claw{number}.{{}}", (across, along, 0.01)), (f"claw_tip{number}.{{}}", (1.25 * across, 1.25 * along, 0.01)),
        )  # fmt: skip
    return builder


@character(
    both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}") | both_sides("LEG", "front_thigh.{}", "front_shin.{}", "front_foot.{}")
)
def dragon():
    """A four-legged animal with wings that fan out."""
    builder = four_legged()
    builder.both("chest", ("wing.{}", (0.08, 0.0, 0.95)), ("wing_mid.{}", (0.6, 0.2, 1.4)), ("wing_hand.{}", (1.1, 0.0, 1.3)))
    for number in range(3):
        joints = ((f"wing{number}{n}.{{}}", (1.4 + 0.4 * n, 0.2 * number + 0.2 * n, 1.2)) for n in range(3))
        builder.both("wing_hand.{}", *joints)
    return builder


@character(both_sides("LEG", "thigh.{}", "shin.{}", "foot.{}") | both_sides("ARM", "upper_arm.{}", "forearm.{}", "hand.{}"))
def chibi():
    """A big head on short limbs, with clavicles as long as arms are thick."""
    builder = Builder()
    builder.bone("hips", "", (0, 0, 0.25))
    builder.chain("hips", ("chest", (0, 0, 0.35)), ("head", (0, 0, 0.5)), ("head_end", (0, 0, 1.0)))
    builder.both(
        "hips", ("thigh.{}", (0.08, 0, 0.24)), ("shin.{}", (0.08, -0.005, 0.15)), ("foot.{}", (0.08, 0.005, 0.05)),
        ("toe.{}", (0.08, -0.07, 0.01)),
    )  # fmt: skip
    builder.both(
        "chest", ("clavicle.{}", (0.03, 0, 0.46)), ("upper_arm.{}", (0.1, 0, 0.46)), ("forearm.{}", (0.19, 0.003, 0.44)),
        ("hand.{}", (0.28, 0, 0.42)),
    )  # fmt: skip
    return builder
