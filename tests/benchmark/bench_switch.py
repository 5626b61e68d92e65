"""Switch to FK and to IK beside playing the frames once, and beside Rigify's own snapping to FK over the same frames.

Run: python tests/benchmark/bench_switch.py [FRAMES]

Rigify's human on IK, 706 bones, hands and feet keyed. Seconds of the processor, all in one run, so that only the ratios count.
"""

import argparse
import contextlib
import json
import math
import os
import sys
import time
from functools import partial

import bpy

from twobone_addon import registration

FRAMES = 48
STEP = 8
"""Frames from one of an animator's keys to the next."""
PLAYED = 3
"""Times that the frames are played; the quickest counts."""
LIMBS = {
    "thigh": (("thigh", "shin", "foot"), "foot_ik"),
    "upper_arm": (("upper_arm", "forearm", "hand"), "hand_ik"),
}
"""For each kind of limb its bones and its IK control."""


def main():
    """Measure one file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frames", nargs="?", type=int, default=FRAMES)
    frames = parser.parse_args().frames
    registration.register()
    rig = keyed_human(frames)
    bpy.ops.twobone.find_limbs(armature=rig.name)
    once = min(spent(lambda: played(frames)) for _ in range(PLAYED))
    rows = [("playing the frames once", once), ("Rigify's snapping to FK", spent(lambda: snapped_to_fk(rig)))]
    rows += [(f"Switch to {to}", spent(partial(bpy.ops.twobone.switch, scope="ACTIVE", to=to))) for to in ("FK", "IK")]
    print(f"\nBlender {bpy.app.version_string}, {frames} frames, four limbs\n\n| | seconds | times playing |\n|---|---|---|")
    for name, seconds in rows:
        print(f"| {name} | {seconds:.2f} | {seconds / once:.1f} |")


def keyed_human(frames):
    """Rigify's human, generated, with keys on its torso and on the IK controls of hands and feet."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    with contextlib.redirect_stdout(None):
        bpy.ops.pose.rigify_generate()
    rig, scene = bpy.context.object, bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    for frame in range(1, frames + STEP, STEP):
        for number, name in enumerate(("foot_ik.L", "foot_ik.R", "hand_ik.L", "hand_ik.R", "torso")):
            bone, swing = rig.pose.bones[name], math.sin(frame / STEP + 2 * number)
            bone.location = (0.0, 0.12 * swing, 0.05 * swing - (0.06 if name == "torso" else 0.0))
            bone.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    return rig


def spent(call):
    """Seconds of the processor that a call takes."""
    start = time.process_time()
    with contextlib.redirect_stdout(None):
        call()
    return time.process_time() - start


def played(frames):
    """Show each frame once."""
    for frame in range(1, frames + 1):
        bpy.context.scene.frame_set(frame)


def snapped_to_fk(rig):
    """Rigify's bake of its FK bones from IK, limb after limb, as its panel calls it; it leaves the limbs on IK."""
    snap = getattr(bpy.ops.pose, f"rigify_generic_snap_bake_{rig.data['rig_id']}")
    for (upper, lower, end), control, side in limbs_of():
        snap(
            output_bones=json.dumps([f"{bone}_fk{side}" for bone in (upper, lower, end)]),
            input_bones=json.dumps([f"{upper}_ik{side}", f"MCH-{lower}_ik{side}", f"MCH-{upper}_ik_target{side}"]),
            ctrl_bones=json.dumps([control + side]),
        )


def limbs_of():
    """Bones, IK control and side of each limb."""
    return [(*limb, side) for limb in LIMBS.values() for side in (".L", ".R")]


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # some Blenders crash or hang at their end after Rigify has generated
