"""Rigify's metarigs and the rigs made from them, for programs of their own.

Generating a rig makes some versions of Blender crash or hang when Python ends, so such a program ends with `os._exit`.
"""

import os
import re
import sys
import traceback

import bpy

from tests.tasks.scenes import Limb, key_channel

METARIGS = ("human", "basic_human", "basic_quadruped", "bird", "cat", "horse", "shark", "wolf")

FORWARD_LIMB = re.compile(r"(thigh|upper_arm|front_thigh)_fk\.[LR]")
"""First bones of legs and arms that are turned forwards; the next ones hang from them."""

FORWARD = re.compile(r"\w+_fk\.[LR]")

WINGS_AND_FINS = re.compile(r"(Wing|side_fin)\.[LR]")
"""First bones of what a bird and a shark have instead; the next ones carry a number."""


def generated_rig(metarig):
    """The rig that Rigify makes of a metarig, in a new file."""
    import addon_utils  # can be found once bpy is loaded

    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("rigify", default_set=True)  # it looks itself up in the preferences
    getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
    bpy.ops.pose.rigify_generate()
    return bpy.context.view_layer.objects.active


def limbs_of(rig):
    """Every limb that its own controls turn, told by their names: legs, arms, wings and fins."""
    found = []
    for upper in rig.pose.bones:
        if FORWARD_LIMB.fullmatch(upper.name):
            lower, end = [bone for bone in upper.children_recursive if FORWARD.fullmatch(bone.name)][:2]
            found.append(Limb(rig.name, upper.name, lower.name, carrier=end.name, at_tail=False))
        elif WINGS_AND_FINS.fullmatch(upper.name):
            part, side = upper.name.split(".")
            numbered = {f"{part}.001.{side}", f"{part}.{side}.001"}
            lower = next(bone for bone in upper.children_recursive if bone.name in numbered)
            found.append(Limb(rig.name, upper.name, lower.name, carrier=lower.name))
    return sorted(found, key=lambda limb: limb.upper)


def turn_forwards(rig):
    """Let every limb show what its forward controls say."""
    for bone in rig.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = 1.0


def shown_by(rig, limb):
    """The bone that deforms the mesh where the limb's lower bone is; `None` where it has another name."""
    return rig.pose.bones.get("DEF-" + limb.lower.replace("_fk", ""))


def move_body(rig, last):
    """Turn hips, chest and the whole character, and let it grow, so that every parent of a limb moves."""
    rig.location = (2, -1, 0.3)
    key_channel(rig, "rotation_euler", {1: (0, 0, 0), last: (0.2, 0.1, 1.5)})
    for name, angles in (("torso", (0.3, 0.4, -0.2)), ("hips", (0.2, -0.3, 0.1)), ("chest", (0.1, 0.4, 0.3))):
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        key_channel(bone, "rotation_euler", {1: (0, 0, 0), 1 + last // 2: angles, last: (0, 0, 0)})
    key_channel(rig.pose.bones["root"], "scale", {1: (1, 1, 1), last: (1.3, 1.3, 1.3)})


def run_and_leave(main):
    """Run `main` and end the process at once: with 0, or with 1 and what went wrong."""
    code = 1
    try:
        main()
        code = 0
    except Exception:  # noqa: BLE001  # whatever went wrong, the process ends here and must say what
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
