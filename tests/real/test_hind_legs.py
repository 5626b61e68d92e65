"""Hind legs of real animals: a fox that looks about, walks and runs, and the legs that Rigify's metarigs have."""

import json

import bpy
import numpy as np
import pytest

from tests.real.own_python import run
from tests.real.rigs import FOX, RealLimb, open_rig
from tests.tasks.scenes import add_empty, bake, key_places

LEG = ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018")
ACTIONS = {"Survey": 82, "Walk": 17, "Run": 27}
KNEE_OFF = 12.0
"""Degrees, root of the mean square, that the knee of a leg with one factor for all joints may be off the walk it came from."""


def joints_of(armature, frames):
    """World places of the leg's joints, `(F, 4, 3)`."""
    rows = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        rows.append([armature.matrix_world @ armature.pose.bones[name].head for name in LEG])
    return np.array(rows)


def bends_of(joints):
    """Bends of knee and hock as seen from the side, degrees, `(F, 2)`."""
    links = np.diff(joints, axis=1)
    across = np.cross(links[:, :-1], links[:, 1:])[..., 0]
    return np.degrees(np.arctan2(across, np.sum(links[:, :-1] * links[:, 1:], axis=-1)))


def walked_and_baked(data_folder, action, **settings):
    """Bends of the leg as it is animated, and as it is baked onto where its own tip went."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    last = ACTIONS[action]
    armature, _ = open_rig(data_folder, RealLimb(FOX, LEG[0], LEG[1], LEG[2], (0, last), action))
    frames = range(last + 1)
    before = joints_of(armature, frames)
    key_places(add_empty(), before[:, -1], first=0)
    report = bake(
        armature=armature.name,
        upper=LEG[0],
        lower=LEG[2],
        tip=LEG[3],
        target="Target",
        joints="ALL",
        plane_space="WORLD",
        **settings,
    )
    assert report["reached"] == len(frames)
    after = joints_of(armature, frames)
    assert np.abs(after[:, -1, 1:] - before[:, -1, 1:]).max() <= 1e-6 * 100
    return bends_of(before), bends_of(after)


@pytest.mark.parametrize("method", ["AUTO", "SPRING"])
@pytest.mark.parametrize("plane", ["YZ", "POSE"])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_foxs_leg_never_jumps_and_keeps_its_zigzag(empty_file, data_folder, action, plane, method):
    for bend in ("POSITIVE", "NEGATIVE", "KEEP"):
        for reference in ("REST", "POSE"):
            before, after = walked_and_baked(data_folder, action, plane=plane, bend=bend, reference=reference, method=method)
            steps = [np.abs(np.diff(bends, axis=0)).max() for bends in (before, after)]
            assert steps[1] <= 1.2 * steps[0], (bend, reference)
            assert np.all(np.sign(after) == np.sign(before) * (-1.0 if bend == "NEGATIVE" else 1.0))


@pytest.mark.parametrize("plane", ["YZ", "REST", "POSE"])
@pytest.mark.parametrize("reference, off", [("REST", KNEE_OFF), ("POSE", 0.05)])
def test_one_factor_for_all_joints_is_near_to_how_a_fox_walks(empty_file, data_folder, plane, reference, off):
    before, after = walked_and_baked(data_folder, "Walk", plane=plane, reference=reference, method="SPRING")
    assert np.sqrt(np.mean((after - before)[:, 0] ** 2)) <= off


@pytest.mark.parametrize("metarig", ["horse", "cat", "wolf"])
def test_the_legs_of_rigifys_animals_spring(metarig, tmp_path):
    measured = json.loads(run("spring_scenario.py", tmp_path, metarig).splitlines()[-1])
    assert {each["joints"] for each in measured} == {2, 3}
    for each in measured:
        assert each["reached"] == each["frames"], each
        assert each["tip_off"] <= 1e-5, each
        assert each["factors_apart"] <= 1e-3, each
        assert each["largest_step"] <= 15.0, each
