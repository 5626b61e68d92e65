"""Every joint after a bake, as Blender evaluates it, is where the exact solution has it: two circles, in extended precision.

The links' lengths are those of the limb before the bake, the plane comes from the settings and the objects alone. So nothing
that is compared was made by the add-on. `TWOBONE_RANDOM_RIGS=2000` tries that many, other ones every `TWOBONE_RANDOM_SEED`.
"""

import os
import random

import bpy
import numpy as np
import pytest

from tests.blank import empty
from tests.tasks.checks.measuring import LETTER_AXES, PROMISE, Evaluated, evaluate
from tests.tasks.rigs.random_rig import FRAMES, build_random_rig, build_random_target
from tests.tasks.scenes import add_empty, sentence_of

BATCHES = 10
CASES = int(os.environ.get("TWOBONE_RANDOM_RIGS", "60"))
SEED = int(os.environ.get("TWOBONE_RANDOM_SEED", "1"))

CLEAR = 0.05
"""Sine of the angle between the line to the target and the pole, or the plane, from which a plane is well told."""


def across(vectors, line):
    return vectors - line * np.sum(vectors * line, axis=-1, keepdims=True)


def unit(vectors):
    return vectors / np.linalg.norm(vectors.astype(float), axis=-1, keepdims=True)


def exact_joints(root, target, lengths, away, *, stretches):
    """Middle joint and tip `(F, 3)` of the triangle with sides `lengths` `(F, 2)` that bends towards `away` `(F, 3)`.

    And its height `(F,)`, of the middle joint over the line. Beyond the links' reach they lie on one line, or are longer in
    proportion if the limb `stretches`.
    """
    root, target, lengths, away = (np.asarray(each, dtype=np.longdouble) for each in (root, target, lengths, away))
    line = target - root
    distance = np.sqrt(np.sum(line * line, axis=-1))
    line, (first, second) = line / distance[:, None], lengths.T
    if stretches:
        ratio = np.maximum(distance / (first + second), 1)
        first, second = first * ratio, second * ratio
    reached = np.clip(distance, np.abs(first - second), first + second)
    along = (reached**2 + first**2 - second**2) / (2 * reached)
    height = np.sqrt(np.maximum(first**2 - along**2, 0))
    away = across(away, line)
    away = away / np.sqrt(np.sum(away * away, axis=-1))[:, None]
    middle = root + along[:, None] * line + height[:, None] * away
    return middle, root + reached[:, None] * line, height


def drawn_settings(dice):
    plane = dice.choice(("XY", "XZ", "YZ", "POLE", "POLE", "OBJECT"))
    settings = {
        "plane": plane,
        "plane_space": dice.choice(("WORLD", "ARMATURE", "PARENT")),
        "bend": dice.choice(("POSITIVE", "NEGATIVE")),
        "depth": "FLATTEN",
        "reference": dice.choice(("REST", "POSE")) if plane == "POLE" else "REST",
        "reach": dice.choice(("CLAMP", "CLAMP", "STRETCH")),
        "stretch_max": 10.0,
    }
    for name, role in (("Pole", "pole"), ("Spanning", "plane_object")):
        if plane == {"pole": "POLE", "plane_object": "OBJECT"}[role]:
            thing = add_empty(name)
            thing.location = [dice.uniform(-4, 4) for _ in range(3)]
            thing.rotation_euler = [dice.uniform(-3, 3) for _ in range(3)]
            settings[role] = name
    return settings


def asked(baked, settings):
    """Goals of the tip and directions into which a positive bend puts the middle joint, `(F, 3)`; and where both are clear."""
    root, line = baked.joints[:, 0], baked.targets - baked.joints[:, 0]
    if settings["plane"] == "POLE":
        pole = np.array([*bpy.data.objects["Pole"].matrix_world.translation, 1.0])
        towards = np.array([np.linalg.solve(world, pole)[:3] for world in baked.worlds]) - root
        return baked.targets, towards, np.linalg.norm(np.cross(unit(line), unit(towards)), axis=-1) > CLEAR
    if settings["plane"] == "OBJECT":
        spanning = np.array(bpy.data.objects["Spanning"].matrix_world)[:3, :3]
        axes = np.linalg.inv(baked.worlds)[:, :3, :3] @ spanning[:, :2]
        baked = Evaluated(baked.frames, baked.joints, baked.worlds, axes, baked.targets)
    seen = baked.targets_plane
    goals = root + np.einsum("fij,fj->fi", baked.plane[:, :, :2], seen)
    # Counter-clockwise from the first link to the second: the joint between them is on the right of the way.
    right = np.stack([seen[:, 1], -seen[:, 0]], axis=-1)
    flat = np.linalg.norm(seen, axis=-1) > CLEAR * np.linalg.norm(line, axis=-1)
    return goals, np.einsum("fij,fj->fi", baked.plane[:, :, :2], right), flat


def check_case(name):
    dice = random.Random(name)  # noqa: S311 - the same dice every time
    empty()
    rig, limb, even = build_random_rig(dice)
    target = build_random_target(rig, limb, dice)
    settings = drawn_settings(dice)
    if not even:
        return 0
    frames = range(FRAMES[0], FRAMES[1] + 1)
    lengths = np.linalg.norm(evaluate(rig, limb, frames).links, axis=-1)
    named = {**limb.names(), "tip": limb.carrier, "tip_end": "TAIL", "target": target.name}
    whole = {"frame_range": "CUSTOM", "frame_start": float(FRAMES[0]), "frame_end": float(FRAMES[1])}
    try:
        bpy.ops.twobone.bake(**named, **whole, **settings)
    except RuntimeError as error:
        sentence_of(error)
        return 0
    letters = settings["plane"] if settings["plane"] in LETTER_AXES else "XY"
    baked = evaluate(rig, limb, frames, target=target, plane=letters, plane_space=settings["plane_space"])
    goals, away, clear = asked(baked, settings)
    distance = np.linalg.norm(goals - baked.joints[:, 0], axis=-1)
    clear &= distance > CLEAR * lengths.sum(axis=-1)
    side = 1.0 if settings["bend"] == "POSITIVE" else -1.0
    rows = np.flatnonzero(clear)
    if not rows.size:
        return 0
    solved = exact_joints(
        baked.joints[rows, 0], goals[rows], lengths[rows], side * away[rows], stretches=settings["reach"] == "STRETCH"
    )
    middle, tip, height = (each.astype(float) for each in solved)
    size = baked.scales[rows]
    # Near its limits a limb makes much of what single precision leaves open: the less, the higher its middle joint stands.
    open_ = 2 * PROMISE * size / CLEAR
    open_ = np.minimum(open_ * np.maximum(size / np.maximum(height, 1e-12), 1.0), np.sqrt(open_ * size) + open_)
    assert np.all(np.linalg.norm(baked.joints[rows, 2] - tip, axis=-1) <= 2 * PROMISE * size), (name, settings)
    off = np.linalg.norm(baked.joints[rows, 1] - middle, axis=-1)
    assert np.all(off <= open_), (name, settings, off, open_)
    return rows.size


@pytest.mark.parametrize("batch", range(BATCHES))
def test_joints_are_where_the_exact_solution_has_them(registered_addon, batch):
    compared = sum(check_case(f"exact/{SEED}/{number}") for number in range(batch, CASES, BATCHES))
    assert compared > CASES / BATCHES
