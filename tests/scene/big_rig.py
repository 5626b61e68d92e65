"""A rig of which little is wanted."""

import numpy as np

from tests.scene.movers import add_armature, add_driver, animate, animate_bone
from twobone_addon.scene.sampling.evaluate import Quantity

FRAMES = np.concatenate([np.arange(1.0, 81.0), [90.5]])
LIMB = ("root", "upper", "lower")
OTHERS = tuple(f"other{number}" for number in range(70))
WANTED = [Quantity("WORLD", "Rig"), *(Quantity("POSE", "Rig", name) for name in LIMB)]


def big_rig():
    """A limb in motion, under seventy bones that look at it, each by a constraint and a driver."""
    rig = add_armature(bones=(*LIMB, *OTHERS), connected=False)
    animate(rig, "location", (1, 2, 3))
    for name in LIMB:
        animate_bone(rig.pose.bones[name])
    for name in OTHERS:
        bone = rig.pose.bones[name]
        look = bone.constraints.new("DAMPED_TRACK")
        look.target, look.subtarget = rig, "upper"
        add_driver(bone, "location", 0, "v", (rig, 'pose.bones["lower"].location[1]'))
    return rig
