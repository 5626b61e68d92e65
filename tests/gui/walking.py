"""The walk on which buttons are pressed: both legs are limbs, one of them with a target, in Pose Mode."""

import bpy

from tests.tasks.rigs.walker import Walk, build_walker


def prepare_walk(frames):
    """Make it in an empty file, at the first frame."""
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, _ = build_walker(Walk(slide=0.02, frames=frames))
    for chain in rig.twobone.chains:
        chain.limb = "LEG"
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.twobone.add_target()
