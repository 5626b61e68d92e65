"""`switch`: a limb from FK to its rig's IK and back, as the operator does it."""

import json

import bpy
import numpy as np
import pytest

from tests.command_line.shots import save
from tests.tasks.rigs.control_rig import LAST, LENGTH, control_rig, limb_over_time

LIMB = ["--armature", "Rig", "--upper", "upper", "--lower", "lower", "--tip", "foot"]
WITHIN = ["--frame-start", "6", "--frame-end", "14"]


@pytest.fixture
def shot(tmp_path, empty_file):
    control_rig()
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def seen(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return limb_over_time(bpy.data.objects["Rig"], frames=range(LAST + 3))[0]


def test_a_limb_goes_to_ik_and_back_and_nothing_is_seen_to_move(twobone, shot, tmp_path):
    before, saved, report = seen(shot), tmp_path / "ik.blend", tmp_path / "report.json"
    ended = twobone("switch", "--file", shot, *LIMB, *WITHIN, "--to", "ik", "--save", saved, "--report", report)
    assert ended.code == 0, ended.complained
    assert "upper to lower: Switched to IK, keyed from 6 to 14" in ended.said
    (chain,) = json.loads(report.read_text())["chains"]
    assert (chain["to"], chain["frame_start"], chain["frame_end"], chain["baked"]) == ("IK", 6, 14, True)
    assert np.linalg.norm(seen(saved) - before, axis=-1).max() < 1e-4 * LENGTH
    bpy.context.scene.frame_set(10)
    assert not bpy.data.objects["Rig"].pose.bones["lower"].constraints["IK"].mute
    job = tmp_path / "job.json"
    job.write_text(
        json.dumps({"use": "switch", "to": "fk", "armature": "Rig", "upper": "upper", "lower": "lower", "tip": "foot"})
    )
    ended = twobone("switch", "--file", saved, "--job", job, *WITHIN, "--save")
    assert ended.code == 0, ended.complained
    assert np.linalg.norm(seen(saved) - before, axis=-1).max() < 1e-4 * LENGTH


def test_a_limb_that_is_only_switched_is_said_to_show_its_fk_keys(twobone, shot, tmp_path):
    before, saved = seen(shot), tmp_path / "ik.blend"
    assert twobone("switch", "--file", shot, *LIMB, *WITHIN, "--to", "ik", "--save", saved).code == 0
    ended = twobone("switch", "--file", saved, *LIMB, "--to", "fk", "--motion", "keep", "--save")
    assert "Switched to FK, keyed from 1 to 20; shows the existing FK keys" in ended.said
    assert np.linalg.norm(seen(saved) - before, axis=-1).max() == 0.0


def test_a_limb_without_ik_is_one_sentence_and_the_shot_stays(twobone, shot):
    content = shot.read_bytes()
    ended = twobone("switch", "--file", shot, "--armature", "Rig", "--upper", "lower", "--lower", "foot", "--to", "IK", "--save")
    assert ended.code == 1
    assert "has no IK constraint over its two bones" in ended.complained
    assert shot.read_bytes() == content
