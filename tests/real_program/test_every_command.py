"""Every sub-command in Blender's own program, on other people's rigs and on Rigify's: what the operators report there."""

import json
from pathlib import Path

import pytest

from tests.blender_program import find_blender, run

SCENARIO = Path(__file__).with_name("shots_scenario.py")
RIGIFY = "rigify"
SHOTS = (
    RIGIFY,
    "cmu_02_01_walk.bvh",
    "ozz_pab_run.fbx",
    "Fox.glb",
    "kaykit_Med_MovementBasic.glb",
    "vrm_armature_transform.blend",
)


@pytest.fixture(scope="module")
def shots(tmp_path_factory, user_folder, data_folder):
    """Makes a shot in the program, once, and returns its folder."""
    made = {}

    def make(name):
        if name not in made:
            made[name] = tmp_path_factory.mktemp(name.split(".")[0])
            start = [find_blender(), "--background", "--python-exit-code", "1", "--python", str(SCENARIO), "--"]
            done = run([*start, str(made[name]), name, str(data_folder)], user_folder)
            assert done.returncode == 0, done.stdout
        return made[name]

    return make


@pytest.fixture
def twobone(user_folder, tmp_path):
    """Runs ``blender SHOT --command twobone ...`` and returns its report."""

    def command(shot, *words):
        report = tmp_path / "report.json"
        done = run([find_blender(), str(shot), "--command", "twobone", *map(str, words), "--report", str(report)], user_folder)
        assert done.returncode == 0, done.stdout
        return json.loads(report.read_text(encoding="utf-8"))

    return command


def without_times(report):
    chains = [{key: value for key, value in chain.items() if key != "seconds"} for chain in report["chains"]]
    own = {"seconds", "incomplete", "version", "provenance"}
    return {key: value for key, value in report.items() if key not in own} | {"chains": chains}


def assert_as_by_operator(report, folder, name):
    told = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    assert without_times(report) == without_times(told)


def equal_in(one, other, *names):
    return [one[name] for name in names] == [other[name] for name in names]


@pytest.mark.parametrize("name", SHOTS)
def test_every_command_reports_what_the_operators_report(twobone, shots, tmp_path, name):
    folder, baked = shots(name), tmp_path / "baked.blend"
    told = twobone(folder / "keys.blend", "bake", "--stored", "--save", baked)
    assert_as_by_operator(told, folder, "bake")
    assert told["reached"] == told["frames"]
    measured = twobone(baked, "report", "--stored")
    for number in ("max_error", "mean_error", "max_off_plane"):
        assert measured[number] == pytest.approx(told[number], rel=1e-3, abs=1e-7)
    (listed,) = twobone(baked, "chains")["chains"]
    assert equal_in(listed, told, "upper", "lower", "tip", "target")
    assert equal_in(measured, told, "keys", "channels", "reached")
    assert twobone(baked, "clear", "--stored", "--save")["keys_removed"] == told["keys"]
    assert twobone(baked, "report", "--stored")["keys"] == twobone(folder / "keys.blend", "report", "--stored")["keys"]
    assert_as_by_operator(twobone(folder / "keys.blend", "target", "--stored"), folder, "target")
    assert_as_by_operator(twobone(folder / "ik.blend", "convert", *(["--rigify"] if name == RIGIFY else [])), folder, "convert")


def test_a_batch_of_them_all_reports_the_same_again(user_folder, shots, tmp_path):
    folders = [shots(name) for name in SHOTS]
    job = tmp_path / "job.json"
    tables = [{"file": str(folder / "keys.blend"), "output": f"baked/{folder.name}.blend"} for folder in folders]
    job.write_text(json.dumps({"shots": tables, "stored": True}), encoding="utf-8")
    done = run([find_blender(), "--command", "twobone", "batch", str(job)], user_folder)
    assert done.returncode == 0, done.stdout
    records = json.loads((tmp_path / "job.json.summary.json").read_text(encoding="utf-8"))["shots"]
    assert len(records) == len(SHOTS)
    for record in records:
        assert_as_by_operator(record["report"], Path(record["shot"]).parent, "bake")
        assert Path(record["output"]).is_file()
