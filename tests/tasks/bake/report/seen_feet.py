"""Feet that are seen elsewhere than their keyed bones, measured as the scene shows them."""

import math

import bpy

from tests.tasks.scenes import Limb, add_empty, key_places, set_range
from twobone_addon.scene.rig.chain_finding import chain_from_names

FIRST, LAST = 1, 24
LEG = Limb("Rig", "thigh_fk", "shin_fk")
ON_TARGET = 1e-5


def names(rig):
    return chain_from_names(rig, "thigh_fk", "shin_fk", "", "AUTO")


def add_target():
    target = add_empty()
    places = [(0, 0.5 * math.sin(frame / 4), 0.4 + 0.2 * math.cos(frame / 4)) for frame in range(FIRST, LAST + 1)]
    key_places(target, places, first=FIRST)
    set_range(FIRST, LAST)
    return target


def visible_misses(rig, target, bone="foot_def"):
    """Distance of the visible foot from the target at each frame, as the scene shows it."""
    found = {}
    for frame in range(FIRST, LAST + 1):
        bpy.context.scene.frame_set(frame)
        seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found[frame] = (seen.matrix_world @ seen.pose.bones[bone].head - target.matrix_world.translation).length
    return found


def kinds(report):
    return [statement["kind"] for statement in report["statements"]]
