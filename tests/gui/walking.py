"""What scenarios begin with: a walk, or one leg with its target."""

import bpy

from tests.leg_scene import leg_with_target
from tests.tasks.rigs.walker import Walk, build_walker

LONG = 480
"""Frames of a walk that no machine plants before an operator shows progress."""

LANGUAGES = ("de_DE", "fr_FR", "es", "ja_JP", "zh_HANS")


def prepare_leg():
    """Make a leg that is a chain with a target that moves."""
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", target, "XZ"


def prepare_walk(frames):
    """Make a walk at its first frame, in Pose Mode; both legs are chains, one of them with a target."""
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, _ = build_walker(Walk(slide=0.02, frames=frames))
    for chain in rig.twobone.chains:
        chain.limb = "LEG"
    rig.select_set(state=True)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.twobone.add_target()
