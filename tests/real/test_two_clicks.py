"""Rigs made by others: click any bone of a limb, Add Target, Bake, and the limb bends as it does in its own motion."""

import bpy
import numpy as np
import pytest

from tests.interface.acting import joints_world, select_bones
from tests.real.rigs import LIMBS, WALKING_LIMBS, open_rig
from tests.tasks.checks.measuring import evaluate
from tests.tasks.scenes import Limb

ONE_OF_EACH = list({(real.file, real.upper): real for real in (*LIMBS, *WALKING_LIMBS)}.values())
TELLING = 0.3
"""Sine of a limb's bend, on average over its motion, that says to which side it bends."""

TIP_TOLERANCE = 1e-5
"""Relative to the limb's length, its distance from the world's origin included: single precision."""


@pytest.mark.parametrize("real", ONE_OF_EACH, ids=str)
def test_any_bone_of_a_limb_then_two_clicks(empty_file, data_folder, real):
    armature, limb = open_rig(data_folder, real)
    for clicked in (real.upper, real.lower, real.end):
        armature.twobone.chains.clear()
        select_bones(armature, clicked)
        bpy.ops.twobone.add_target()
        chain = armature.twobone.chains[0]
        assert (chain.upper, chain.lower) == (real.upper, real.lower), clicked
    own = np.cross(*own_links(armature, limb, real.frames)).mean(axis=0)

    root, _, tip = joints_world(armature, real.upper, real.lower, real.end)
    chain.target.location += 0.2 * (root - tip)
    bpy.context.scene.frame_end = bpy.context.scene.frame_start
    bpy.ops.twobone.bake()
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)
    root, middle, tip = joints_world(armature, real.upper, real.lower, real.end)
    length = (middle - root).length + (tip - middle).length + root.length
    aim = chain.target.matrix_world.translation
    assert (tip - aim).length <= TIP_TOLERANCE * length

    now = np.cross(*links(armature, limb))
    if np.linalg.norm(own) > TELLING:
        assert now @ own > 0, "the limb bends to the other side than in its own motion"


def own_links(armature, limb, frames):
    """Directions of both links over the rig's own motion, armature space."""
    found = evaluate(armature, limb, range(frames[0], frames[1] + 1)).links
    return (found / np.linalg.norm(found, axis=-1, keepdims=True)).swapaxes(0, 1)


def links(armature, limb: Limb):
    return own_links(armature, limb, (bpy.context.scene.frame_start,) * 2)[:, 0]
