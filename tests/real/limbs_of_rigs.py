"""Arms and legs of rigs made by others, as anybody would name them: uppers, lowers and the bones at whose heads they end."""

FILES = {
    "cmu_02_01_walk.bvh": (("LEG", "{}UpLeg", "{}Leg", "{}Foot"), ("ARM", "{}Arm", "{}ForeArm", "{}Hand")),
    "kaykit_Med_MovementBasic.glb": (
        ("LEG", "upperleg.{}", "lowerleg.{}", "foot.{}"), ("ARM", "upperarm.{}", "lowerarm.{}", "wrist.{}")
    ),
    "ozz_pab_run.fbx": (("LEG", "{}UpLeg", "{}Leg", "{}Foot"), ("ARM", "{}Arm", "{}ForeArm", "{}Hand")),
    "vrm_armature_transform.blend": (
        ("LEG", "upper_leg.{}", "lower_leg.{}", "foot.{}"), ("ARM", "upper_arm.{}", "lower_arm.{}", "hand.{}")
    ),
}  # fmt: skip
"""By file; `{}` is the side, spelled as in that file."""

SPELLED = {
    "cmu_02_01_walk.bvh": ("Left", "Right"),
    "kaykit_Med_MovementBasic.glb": ("l", "r"),
    "ozz_pab_run.fbx": ("Left", "Right"),
    "vrm_armature_transform.blend": ("L", "R"),
}

MISSPELLED = {"LeftHand": "Lefthand"}
"""In the file of ozz-animation."""

FOX = {
    ("LEG", "LEFT", "b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftHand_011"),
    ("LEG", "RIGHT", "b_RightUpperArm_06", "b_RightForeArm_07", "b_RightHand_08"),
    ("LEG", "LEFT", "b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017"),
    ("LEG", "RIGHT", "b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021"),
}

BAKED_FEET = [("LEG", f"{at}UpperLeg.{{}}", f"{at}LowerLeg.{{}}", f"IK{at}Leg.{{}}") for at in ("Front", "Back")]
BEHIND = ("LEG", "Back_Leg_Upper_{}", "Back_Leg_Lower_{}", "Back_Leg_Ankle_{}")

ANIMALS = {
    "Horse.glb": ("LR", BAKED_FEET),
    "Wolf.glb": ("LR", BAKED_FEET),
    "spider-animations.glb": ("lr", [("LEG", f"leg_{leg}_1_{{}}", f"leg_{leg}_2_{{}}", f"leg_{leg}_3_{{}}") for leg in "abcd"]),
    "kaiju-animations.glb": ("LR", (BEHIND, ("ARM", "Front_Leg_Upper_{}", "Front_Leg_Lower_{}", "Hand_{}"))),
}
"""By file in `motion/animals`: how it spells sides, and the limbs from the front. The feet of some are bones beside the legs."""


def of_animal(file):
    """The limbs of an animal."""
    spelled, limbs = ANIMALS[file]
    return _on_both_sides(limbs, spelled)


HUMAN = (("LEG", "thigh{}", "shin{}", "foot{}"), ("ARM", "upper_arm{}", "forearm{}", "hand{}"))
BEAST = (("LEG", "thigh{}", "shin{}", "foot{}"), ("LEG", "front_thigh{}", "front_shin{}", "front_foot{}"))

METARIGS = {
    "human": HUMAN,
    "basic_human": HUMAN,
    "basic_quadruped": BEAST,
    "wolf": BEAST,
    "cat": (("LEG", "thigh{}", "shin{}", "foot{}"), ("LEG", "upper_arm{}", "forearm{}", "hand{}")),
    "horse": (("LEG", "thigh{}", "lower_leg{}", "hind_foot{}"), ("LEG", "upper_arm{}", "forearm{}", "forefoot{}")),
    "bird": (("LEG", "thigh{}", "shin{}", "foot{}"),),
    "shark": (),
}
"""By metarig; `{}` is what stands at the end: the side, in a generated rig `_fk` before it. Wings and fins are neither."""


def of_file(file):
    """The limbs of a file, as `{(kind, side, upper, lower, tip)}`."""
    if file not in FILES:
        return FOX
    limbs = _on_both_sides(FILES[file], SPELLED[file])
    if file.startswith("ozz"):
        return {tuple(MISSPELLED.get(word, word) for word in limb) for limb in limbs}
    return limbs


def of_metarig(metarig, *, generated):
    """The limbs of a metarig, or of the rig that Rigify generates from it."""
    ends = ("_fk.L", "_fk.R") if generated else (".L", ".R")
    return _on_both_sides(METARIGS[metarig], ends)


def _on_both_sides(limbs, spelled):
    return {
        (kind, side, *(name.format(word) for name in names))
        for kind, *names in limbs
        for side, word in zip(("LEFT", "RIGHT"), spelled, strict=True)
    }


LIMBS_OF = {"human": 4, "basic_human": 4, "basic_quadruped": 4, "bird": 4, "cat": 4, "horse": 4, "shark": 2, "wolf": 4}
"""Legs, arms, wings and side fins, counted by looking at the rigs."""
