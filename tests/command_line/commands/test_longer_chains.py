"""Chains of more than two bones by flags, by job and stored: the same as by the operator."""

import json

import bpy
import pytest

from tests.command_line.reports import without_times
from tests.command_line.shots import keys_in, keys_of, save
from tests.tasks.rigs.tail import LAST, TAIL, circle
from tests.tasks.scenes import add_empty, build_armature, key_places, set_range

CHAIN = {"armature": "Rig", "upper": "a", "lower": "d", "target": "Target", "plane": "YZ", "joints": "ALL"}
FLAGS = [word for name, value in CHAIN.items() for word in (f"--{name}", value)]
LIMITS = [[-3.0, 3.0], [0.0, 0.5], [-0.2, 0.9], [0.1, 1.4]]


@pytest.fixture
def shot(tmp_path, registered_addon):
    """A tail of four bones and a target that circles within its reach."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    build_armature(TAIL)
    key_places(add_empty(), circle(0.6))
    set_range(1, LAST)
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def by_operator(shot, **settings):
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    bpy.ops.twobone.bake(**CHAIN, **settings)
    return keys_of(bpy.data.objects["Rig"]), without_times(json.loads(bpy.context.window_manager.twobone_report))


@pytest.mark.parametrize("method", ["AUTO", "SPRING", "CCD"])
def test_flags_bake_every_joint_as_the_operator_does(twobone, shot, tmp_path, method):
    keys, report = by_operator(shot, method=method)
    ended = twobone("bake", "--file", shot, *FLAGS, "--method", method, "--save", tmp_path / "baked.blend", "--report", "-")
    assert ended.code == 0, ended.complained
    assert without_times(json.loads(ended.said)) == report
    assert report["channels"] == 16
    assert keys_in(tmp_path / "baked.blend") == keys


def test_a_job_holds_the_limits_of_each_joint(twobone, shot, tmp_path):
    pairs = [{"name": "", "minimum": least, "maximum": greatest} for least, greatest in LIMITS]
    keys, report = by_operator(shot, use_limits=True, limits=pairs)
    assert keys != by_operator(shot)[0]
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"use_limits": True, "chains": [{**CHAIN, "limits": LIMITS}]}))
    ended = twobone("bake", "--file", shot, "--job", job, "--save", tmp_path / "baked.blend", "--report", "-")
    assert ended.code == 0, ended.complained
    told = without_times(json.loads(ended.said))
    assert told["reached"] == report["reached"]
    assert keys_in(tmp_path / "baked.blend") == pytest.approx(keys, abs=1e-6)


def test_limits_for_another_number_of_joints_are_one_sentence(twobone, shot, tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps({**CHAIN, "use_limits": True, "limits": LIMITS[:3]}))
    ended = twobone("bake", "--file", shot, "--job", job)
    assert (ended.code, len(ended.complained.splitlines())) == (1, 1)
    assert "has 4 joints, but limits for 3" in ended.complained


def test_a_dry_run_tells_every_links_length_and_a_report_measures_what_was_baked(twobone, shot):
    plan = json.loads(twobone("bake", "--file", shot, *FLAGS, "--dry-run", "--report", "-").said)["chains"][0]
    assert (len(plan["lengths"]), len(plan["curves"])) == (4, 16)
    twobone("bake", "--file", shot, *FLAGS, "--save")
    measured = json.loads(twobone("report", "--file", shot, *FLAGS, "--report", "-").said)
    assert (measured["keys"], measured["reached"]) == (16 * LAST, LAST)
    assert measured["max_error"] < 1e-5
    assert json.loads(twobone("clear", "--file", shot, *FLAGS, "--report", "-").said)["keys_removed"] == 16 * LAST
