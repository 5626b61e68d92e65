"""Every sub-command on shots made from other people's rigs, with their own motion on everything but the baked limb."""

import json

import bpy
import pytest

from tests.blender_program import find_blender, run
from tests.command_line.shots import save
from tests.real.shots import ONE_OF_EACH_FILE, make_real_shot


def save_shot(data_folder, real, path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    make_real_shot(data_folder, real)
    save(path)


def judged(report):
    return {key: value for key, value in report["chains"][0].items() if key != "seconds"}


@pytest.mark.parametrize("real", ONE_OF_EACH_FILE.values(), ids=list(ONE_OF_EACH_FILE))
def test_every_sub_command_on_a_real_rig_agrees_with_the_operator(twobone, data_folder, tmp_path, registered_addon, real):
    shot, baked = tmp_path / "shot.blend", tmp_path / "baked.blend"
    save_shot(data_folder, real, shot)
    bpy.ops.twobone.bake()
    by_operator = judged(json.loads(bpy.context.window_manager.twobone_report))
    ended = twobone("bake", "--file", shot, "--stored", "--save", baked, "--report", "-")
    assert ended.code == 0, ended.complained
    assert judged(json.loads(ended.said)) == by_operator
    there = judged(json.loads(twobone("report", "--file", baked, "--stored", "--report", "-").said))
    for measured in ("max_error", "mean_error", "max_off_plane"):
        assert there[measured] == pytest.approx(by_operator[measured], rel=1e-3, abs=1e-7)
    assert (there["keys"], there["reached"]) == (by_operator["keys"], by_operator["reached"])
    (listed,) = json.loads(twobone("chains", "--file", baked, "--report", "-").said)["chains"]
    assert (listed["upper"], listed["tip"]) == (real.upper, real.end)
    removed = json.loads(twobone("clear", "--file", baked, "--stored", "--report", "-").said)["keys_removed"]
    assert removed == by_operator["keys"]


def test_blenders_own_program_bakes_a_batch_of_them(user_folder, data_folder, tmp_path, registered_addon):
    blender = find_blender()
    for real in ONE_OF_EACH_FILE.values():
        save_shot(data_folder, real, tmp_path / "shots" / f"{real.file.split('.')[0]}.blend")
    job = tmp_path / "job.toml"
    job.write_text('shots = ["shots/*.blend"]\noutput = "baked/{shot}.blend"\nstored = true\nmax_error = 1e-3\n')
    done = run([blender, "--command", "twobone", "batch", str(job)], user_folder)
    assert done.returncode == 0, done.stdout
    records = json.loads((tmp_path / "job.toml.summary.json").read_text())["shots"]
    assert [record["state"] for record in records] == ["done"] * len(ONE_OF_EACH_FILE)
    assert all(record["report"]["reached"] == record["report"]["frames"] for record in records)
