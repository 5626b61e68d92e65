"""A leg on IK with a library of two actions."""

from tests.tasks.rigs.many_actions import play
from tests.tasks.scenes import BoneShape, build_armature, key_channel

LAST = 6
LEG = (
    BoneShape("control", (0, 0.05, 0.1), (0, 0.05, 0.3)),
    BoneShape("thigh", (0, 0, 1), (0, -0.03, 0.5)),
    BoneShape("shin", (0, -0.03, 0.5), (0, 0.05, 0.1), "thigh", connected=True),
)


def leg_with_two_actions():
    """A leg on IK that plays one of its two actions; both need the IK."""
    rig = build_armature(LEG)
    ik = rig.pose.bones["shin"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = rig, "control", 2, False
    for name, way in (("Step", 0.1), ("Kick", 0.3)):
        rig.animation_data_create().action = None
        key_channel(rig.pose.bones["control"], "location", {1: (0, 0.05, 0), 3: (0, 0.05 + way, way), LAST: (0, 0.05, 0)})
        rig.animation_data.action.name = name
        rig.animation_data.action.use_fake_user = True
    play(rig, "Kick")
    return rig
