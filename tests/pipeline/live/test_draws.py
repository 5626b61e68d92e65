"""Rigs, poses and settings by the dice: a limb that goes live stands as Bake sets it, and what does not go live says why.

`TWOBONE_LIVE_DRAWS=300` tries that many, other ones every `TWOBONE_LIVE_SEED`.
"""

import math
import os
import random

import bpy
import numpy as np
import pytest
from mathutils import Euler

import twobone_addon
from tests.pipeline.live.live_scene import FRAMES, LENGTH, leg_on_a_body, moving_empty, needs_nodes, new_scene, seen
from tests.pipeline.live.test_exact import EXACT, NEXT_TO_STRAIGHT, live
from twobone_addon.errors import TwoBoneError

pytestmark = needs_nodes

DRAWS = int(os.environ.get("TWOBONE_LIVE_DRAWS", "40"))
SEED = int(os.environ.get("TWOBONE_LIVE_SEED", "1"))
BATCHES = 4
BONES = ["up", "lo", "foot"]
MOST_REFUSED = 0.9
"""Of a batch: two thirds of all draws have one of the settings that are not exact."""

LITTLE = 0.2
"""Sine of a knee's bend below which it hangs on the root of a rounding error."""


def drawn(dice):
    """What is done to the rig, and the settings."""
    settings = {
        "plane": dice.choice(["POSE", "POSE", "REST", "POLE", "XY", "XZ", "YZ", "OBJECT"]),
        "plane_space": dice.choice(["ARMATURE", "WORLD", "PARENT"]),
        "bend": dice.choice(["POSITIVE", "POSITIVE", "NEGATIVE", "KEEP"]),
        "reference": dice.choice(["REST", "POSE"]),
        "depth": dice.choice(["KEEP", "KEEP", "KEEP", "FLATTEN"]),
        "reach": dice.choice(["CLAMP", "CLAMP", "SOFTEN", "STRETCH"]),
        "end_rotation": dice.choice(["NONE", "NONE", "KEEP", "TARGET"]),
        "target_offset": dice.choice(["NONE", "NONE", "KEEP"]),
        "influence": dice.choice([1.0, 1.0, 0.7]),
    }
    if settings["reach"] != "CLAMP":
        settings |= {"softness": dice.uniform(0.0, 0.3), "softness_near": dice.uniform(0.0, 0.3)}
    if settings["reach"] == "STRETCH":
        settings |= {"stretch_max": dice.uniform(1.0, 1.5), "compress_min": dice.uniform(0.5, 1.0)}
    if settings["plane"] == "POLE":
        settings |= {"pole": "P", "pole_angle": dice.choice([0.0, dice.uniform(-1.0, 1.0)])}
    if settings["plane"] == "OBJECT":
        settings["plane_object"] = "P"
    settings |= dice.choice([{"target": "T"}, {"target": "T"}, {"target": "Rig", "target_bone": "control"}])
    pose = [[dice.uniform(-0.3, 0.3) for _ in range(3)] for _ in range(2)]
    scale = dice.choice([(1, 1, 1), (1, 1, 1), (2, 2, 2), (1, 1.3, 0.8), (-1, 1, 1)])
    inherit, mode = dice.choice(["FULL", "FULL", "ALIGNED", "NONE", "AVERAGE"]), dice.choice(["XYZ", "ZXY", "QUATERNION"])
    is_keyed, rolls = dice.random() < 0.3, [dice.uniform(-1.5, 1.5) for _ in range(3)]

    def made():
        new_scene()
        moving_empty("T")
        moving_empty("P", place=(0.4, -1.6, 1.2), radius=0.4, phase=1.0)
        rig = leg_on_a_body(rolls=rolls)
        rig.scale, rig.rotation_euler = scale, (0.1, 0.2, 0.3)
        for name, angles in zip(("up", "lo"), pose, strict=True):
            bone = rig.pose.bones[name]
            bone.bone.inherit_scale = inherit
            bone.rotation_mode = mode
            channel = "rotation_quaternion" if mode == "QUATERNION" else "rotation_euler"
            for frame, factor in ((1, 1.0), (12, 0.6), (24, 0.9)):
                turn = Euler([factor * angle for angle in angles])
                setattr(bone, channel, turn.to_quaternion() if mode == "QUATERNION" else turn.to_quaternion().to_euler(mode))
                if is_keyed:
                    bone.keyframe_insert(channel, frame=frame)
        bpy.context.scene.frame_set(1)
        return rig

    return made, {"armature": "Rig", "upper": "up", "lower": "lo", "tip": "foot", **settings}


def tolerance(baked, rig):
    """What single precision leaves of a limb, at its knee's least bend and its rest matrices."""
    joints = np.stack([baked[:, 0, 0], baked[:, 1, 0], baked[:, 2, 0]], axis=1)
    upper, lower = (np.diff(joints, axis=1)[:, row] for row in range(2))
    sine = np.linalg.norm(np.cross(upper, lower), axis=-1) / (np.linalg.norm(upper, axis=-1) * np.linalg.norm(lower, axis=-1))
    rests = [np.array(bone.matrix_local)[:3, :3] for bone in rig.data.bones]
    inexact = max(np.abs(rest.T @ rest - np.eye(3)).max() for rest in rests)
    return (NEXT_TO_STRAIGHT if sine.min() < LITTLE else 2.0 * EXACT) + 2.0 * inexact


ALIKE = 1.0 - 1e-4
"""Cosine of half an angle from which on Blender mixes two quaternions along a line, which leaves the result too short."""


def own_rotations(rig):
    """The rotations of the limb's own channels at each frame, `(F, 2, 4)`."""
    rows = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rows.append([rig.pose.bones[name].matrix_basis.to_quaternion() for name in BONES[:2]])
    return np.array(rows)


def mixed_along_a_line(own, baked, influence):
    """How far Blender's mix by an influence takes a limb from its place, at each frame, `(F,)`, relative to it.

    Mixed along a line at `t`, two quaternions with half an angle `a` between them have the length `1 - t (1 - t) a^2 / 2`. As a
    matrix, that of a quaternion of length `n` is `n^2 R + (1 - n^2) I`, which is `1 - n^2` of `I - R` away from the rotation `R`.
    """
    if influence == 1.0:
        return np.zeros(len(own))
    # The baked rotation is so much of the way from the own one to that of the whole influence.
    halves = np.arccos(np.minimum(np.abs(np.sum(own * baked, axis=-1)), 1.0)) / influence
    missing = np.where(np.cos(halves) > ALIKE, influence * (1.0 - influence) * halves**2, 0.0)
    return np.sum(missing * 2.0 * np.linalg.norm(baked[..., 1:], axis=-1), axis=1)


def refusal(settings):
    """Why a limb with these settings does not go live; `None` if it does."""
    try:
        live(**settings)
    except TwoBoneError as error:
        return str(error)
    return None


@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_drawn_limb_is_exact_or_refused(empty_file, capfd, batch):
    refused = 0
    for number in range(batch, DRAWS, BATCHES):
        made, settings = drawn(random.Random(f"{SEED}/{number}"))  # noqa: S311 - the same dice every time
        rig = made()
        size = math.prod(abs(side) for side in rig.scale) ** (1 / 3) * LENGTH
        own = own_rotations(rig)
        twobone_addon.bake(**settings)
        baked, mixed = seen(rig, BONES), mixed_along_a_line(own, own_rotations(rig), settings["influence"])
        rig = made()
        if (why := refusal(settings)) is not None:
            assert "Bake" in why, (number, why)
            refused += 1
            continue
        allowed = tolerance(baked, rig) + mixed
        away = np.linalg.norm(baked - seen(rig, BONES), axis=-1).max(axis=(1, 2)) / size
        assert (away <= allowed).all(), (number, away, allowed, settings)
    assert "cycle" not in "".join(capfd.readouterr()).casefold()
    assert refused <= MOST_REFUSED * DRAWS / BATCHES


def test_drawn_limbs_move(empty_file):
    made, settings = drawn(random.Random("1/0"))  # noqa: S311 - the same dice every time
    rig = made()
    twobone_addon.bake(**settings)
    assert np.ptp(seen(rig, BONES, range(1, FRAMES + 1, 6)), axis=0).max() > 0.1
