"""A leg as riggers build it: FK controls, IK controls, and bones that deform and follow the one or the other."""

import bpy

from tests.tasks.scenes import BoneShape, add_empty, build_armature

HIP, KNEE, ANKLE, TOE = (0, 0, 2), (0, -0.1, 1), (0, 0, 0), (0, -0.3, 0)


def shapes():
    limbs = []
    for kind in ("fk", "ik", "def"):
        limbs.append(BoneShape(f"thigh_{kind}", HIP, KNEE, "hip"))
        limbs.append(BoneShape(f"shin_{kind}", KNEE, ANKLE, f"thigh_{kind}", connected=True))
        limbs.append(BoneShape(f"foot_{kind}", ANKLE, TOE, f"shin_{kind}", connected=True))
    return (BoneShape("hip", (0, 0, 2), (0, 0, 2.5)), *limbs)


def switched_leg(switch="FK_IK", on_ik=1.0, *, control=False):
    """The rig; its property `switch` of "hip" is 1 for IK and 0 for FK, or for an empty name the influences are bare.

    Its IK follows an empty, or with `control` the bone "goal".
    """
    rig = build_armature((*shapes(), BoneShape("goal", ANKLE, (0, 0.3, 0)))) if control else build_armature(shapes())
    bones = rig.pose.bones
    ik = bones["shin_ik"].constraints.new("IK")
    ik.chain_count = 2
    if control:
        ik.target, ik.subtarget = rig, "goal"
    else:
        ik.target = add_empty("IK goal")
        ik.target.location = (0, -0.2, 0.2)
    for bone in rig.data.bones:
        bone.use_deform = bone.name.endswith("_def")
    if switch:
        bones["hip"][switch] = on_ik
    for part in ("thigh", "shin", "foot"):
        for kind in ("fk", "ik"):
            copy = bones[f"{part}_def"].constraints.new("COPY_TRANSFORMS")
            copy.name, copy.target, copy.subtarget = kind, rig, f"{part}_{kind}"
        copy.influence = on_ik
        if switch:
            drive(copy, "influence", rig, f'pose.bones["hip"]["{switch}"]')
    bpy.context.view_layer.update()
    return rig


def drive(owner, channel, rig, path):
    driver = owner.driver_add(channel).driver
    driver.type = "SUM"
    target = driver.variables.new().targets[0]
    target.id, target.data_path = rig, path
