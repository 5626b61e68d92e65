"""Rigify's human, generated, its body moving, legs and arms baked: run as a program of its own.

Generating a rig makes some versions of Blender crash or hang when Python ends, so this ends with `os._exit`.
"""

import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).absolute().parents[2]))

import bpy

from tests.baking.checking import BENDS, check
from tests.baking.scenes import Limb, key_channel, set_range
from tests.baking.targets import circling_target
from tests.interface.acting import select_bones
from tests.real.rigs import plane_that_shows
from twobone_addon import registration
from twobone_addon.scene.chain_finding import chain_from_selection

FRAMES = (1, 12)
LIMBS = {
    "thigh_parent.L": Limb("", "thigh_fk.L", "shin_fk.L", carrier="foot_fk.L", at_tail=False),
    "thigh_parent.R": Limb("", "thigh_fk.R", "shin_fk.R", carrier="foot_fk.R", at_tail=False),
    "upper_arm_parent.L": Limb("", "upper_arm_fk.L", "forearm_fk.L", carrier="hand_fk.L", at_tail=False),
    "upper_arm_parent.R": Limb("", "upper_arm_fk.R", "forearm_fk.R", carrier="hand_fk.R", at_tail=False),
}


def generated_human():
    import addon_utils  # can be found once bpy is loaded

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)  # it looks itself up in the preferences
    bpy.ops.object.armature_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    return bpy.context.view_layer.objects.active


def move_body(rig):
    """Turn hips, chest and the whole character, so that every parent of a limb moves."""
    rig.location = (2, -1, 0.3)
    key_channel(rig, "rotation_euler", {1: (0, 0, 0), 12: (0.2, 0.1, 1.5)})
    for name, angles in (("torso", (0.3, 0.4, -0.2)), ("hips", (0.2, -0.3, 0.1)), ("chest", (0.1, 0.4, 0.3))):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {1: (0, 0, 0), 6: angles, 12: (0, 0, 0)})
    key_channel(rig.pose.bones["root"], "scale", {1: (1, 1, 1), 12: (1.3, 1.3, 1.3)})


CLICKED = {
    "{}_fk.L": ("thigh", "shin", "foot"),
    "{}_fk.R": ("upper_arm", "forearm", "hand"),
    "DEF-{}.L": ("thigh", "thigh.L.001", "shin", "shin.L.001", "foot"),
    "DEF-{}.R": ("upper_arm", "upper_arm.R.001", "forearm", "forearm.R.001", "hand"),
}
"""Bones of limbs, by the pattern of their names: controls, and the pieces that carry the skin."""


def click_each_bone(rig):
    """Any one bone of a limb means the limb, to its wrist or ankle."""
    for pattern, parts in CLICKED.items():
        upper, lower, end = (pattern.format(part) for part in (parts[0], parts[len(parts) // 2], parts[-1]))
        for part in parts:
            clicked = pattern[:4] + part if "." in part else pattern.format(part)
            select_bones(rig, clicked)
            found = chain_from_selection(rig)
            assert (found.upper, found.lower) == (upper, lower), f"{clicked}: {found}"
            tip = rig.data.bones[found.tip]
            place = tip.tail_local if found.tip_at_tail else tip.head_local
            assert (place - rig.data.bones[end].head_local).length < 1e-5, f"{clicked}: {found}"
    bpy.ops.object.mode_set(mode="OBJECT")


def main():
    registration.register()
    rig = generated_human()
    click_each_bone(rig)
    set_range(*FRAMES)
    move_body(rig)
    for (switch, limb), bend in zip(LIMBS.items(), BENDS * 2, strict=True):
        rig.pose.bones[switch]["IK_FK"] = 1.0
        named = Limb(rig.name, limb.upper, limb.lower, limb.carrier, at_tail=limb.at_tail)
        plane = plane_that_shows(rig, named)
        target = circling_target(rig, named, plane=plane, frames=FRAMES, name=limb.upper)
        check(rig, target, named, plane=plane, bend=bend)
        shown = rig.pose.bones["DEF-" + limb.lower.replace("_fk", "")]
        assert (shown.head - rig.pose.bones[limb.lower].head).length < 1e-4, f"{limb.lower} does not show"
    print("Rigify's legs and arms are on their targets")


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except (AssertionError, RuntimeError, KeyError):
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)
