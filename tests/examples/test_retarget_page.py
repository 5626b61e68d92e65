"""The script about retargeting, on a recorded walk: what it says of feet is true of where Blender shows them."""

import re

import numpy as np
import pytest

from tests.house.source import ROOT

bpy = pytest.importorskip("bpy", reason="there is no Blender in this Python")

from tests.tasks.rigs.retargeted import recorded_pair  # noqa: E402

RECORDING = "cmu_02_01_walk.bvh"
FIRST, LAST = 100, 340
STILL = 0.25
"""Metres a second: a ball that is slower stands."""


def balls(rig):
    """World positions `(2, F, 3)` of the balls of both feet."""
    scene, places = bpy.context.scene, []
    for frame in range(FIRST, LAST + 1):
        scene.frame_set(frame)
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append([(posed.matrix_world @ posed.pose.bones[f"{side}ToeBase"].head)[:] for side in ("Left", "Right")])
    return np.array(places).transpose(1, 0, 2)


def speeds(places):
    """Metres a second of the balls `(2, F - 1)` over the floor."""
    return 120.0 * np.linalg.norm(np.diff(places, axis=1)[..., :2], axis=-1)


def test_feet_of_a_recorded_walk_stand_where_the_page_says_so(empty_file, data_folder):
    page = (ROOT / "docs" / "retarget.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    source, hero = recorded_pair(data_folder / RECORDING, first=FIRST, last=LAST)
    source.name = "Mocap"
    recorded, copied = balls(source), balls(hero)
    stands = speeds(recorded) < STILL
    floor = (hero.matrix_world @ hero.data.bones["LeftToeBase"].head_local).z
    # What the page says is wrong with a copy: standing feet slide, and float far above the floor of the character's rest pose.
    assert np.percentile(speeds(copied)[stands], 90) > 0.1
    assert copied[:, 1:][stands, 2].min() - floor > 0.5
    exec(compile(script, "retarget.md", "exec"), {})  # noqa: S102 - the page's own script
    finished = balls(hero)
    assert np.percentile(speeds(finished)[stands], 90) < 0.01
    assert np.abs(np.median(finished[:, 1:][stands, 2]) - floor) < 0.02
    assert np.abs(balls(source) - recorded).max() == 0.0
