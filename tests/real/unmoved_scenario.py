"""A generated human, its limbs turned by their own controls, baked to targets on their tips: a program of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy
import numpy as np

from tests.real.generated_rigs import generated_rig, limbs_of, move_body, run_and_leave, turn_forwards
from tests.tasks.checks.orientations import UNSEEN, degrees_between, posed, target_on
from tests.tasks.scenes import bake, key_channel, set_range
from twobone_addon import registration

FRAMES = range(1, 9)


def main():
    registration.register()
    rig = generated_rig("human")
    set_range(FRAMES[0], FRAMES[-1])
    move_body(rig, FRAMES[-1])
    turn_forwards(rig)
    chance = np.random.default_rng(6)
    limbs = limbs_of(rig)
    for limb in limbs:
        for name in (limb.upper, limb.lower, limb.carrier):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            key_channel(bone, "rotation_euler", {frame: chance.normal(size=3) * 0.5 for frame in (1, 4, 8)})
    bones = [bone.name for bone in rig.pose.bones if bone.name.startswith("DEF-") or "_fk" in bone.name]
    before = posed(rig, bones, FRAMES)
    for number, limb in enumerate(limbs):
        target = target_on(rig, FRAMES, lambda found, end=limb.carrier: found[end].head, f"Target {number}")
        bake(limb, tip=limb.carrier, target=target.name)
    turned = degrees_between(before, posed(rig, bones, FRAMES))
    worst = bones[int(turned.max(axis=0).argmax())]
    assert turned.max() < UNSEEN, f"{worst} is turned by {turned.max():g} degrees"
    bpy.context.scene.frame_set(1)
    print("nothing has turned")


if __name__ == "__main__":
    run_and_leave(main)
