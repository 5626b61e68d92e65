"""Shots made from other people's rigs, with their own motion on everything but one limb, which gets a target it can reach."""

import bpy

from tests.real.rigs import LIMBS, open_rig, plane_that_shows
from tests.tasks.checks.targets import circling_target

ONE_OF_EACH_FILE = {real.file: real for real in LIMBS}
LONGEST = 48


def make_real_shot(data_folder, real):
    """The limb with a target, stored as a chain of the armature, which is active; returns armature and chain."""
    armature, limb = open_rig(data_folder, real)
    scene = bpy.context.scene
    scene.frame_end = min(scene.frame_end, scene.frame_start + LONGEST)
    return armature, store_with_target(armature, limb)


def store_with_target(armature, limb):
    """Store a limb with a target that circles within its reach, and make its armature the active object."""
    scene = bpy.context.scene
    plane = plane_that_shows(armature, limb)
    target = circling_target(armature, limb, plane=plane, frames=(scene.frame_start, scene.frame_end))
    chain = armature.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.tip, chain.target, chain.plane = (
        "limb", limb.upper, limb.lower, limb.carrier, target, plane,
    )  # fmt: skip
    bpy.context.view_layer.objects.active = armature
    return chain
