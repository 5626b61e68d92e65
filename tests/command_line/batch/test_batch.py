"""A batch of shots: each in its own Blender, and none that fails, hangs or crashes harms another."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import add_script, keys_in, make_shot, save

ROOT = Path(__file__).resolve().parents[3]
# Each shot starts Blender anew, so by default there are few; the full number is for a release: TWOBONE_BATCH_SHOTS=50.
SHOTS = int(os.environ.get("TWOBONE_BATCH_SHOTS", "6"))
CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
TIMEOUT = 20  # Seconds: several times what a shot takes on a busy machine, and what the hanging shot costs the test.


@pytest.fixture
def folder(tmp_path, registered_addon):
    """A folder with a job and two shots."""
    make_shot(tmp_path / "shots" / "s0.blend")
    shutil.copy(tmp_path / "shots" / "s0.blend", tmp_path / "shots" / "s1.blend")
    write_job(tmp_path)
    return tmp_path


def write_job(folder, **changes):
    job = {"shots": ["shots/*.blend"], "output": "baked/{shot}.blend", "chains": [CHAIN]} | changes
    job = {key: value for key, value in job.items() if value is not None}
    (folder / "job.json").write_text(json.dumps(job))


def summary(folder):
    return json.loads((folder / "job.summary.json").read_text())


def states(folder):
    return {Path(record["shot"]).stem: record["state"] for record in summary(folder)["shots"]}


def leftovers(folder):
    return [path for path in folder.rglob("*") if "unfinished" in path.name or path.suffix in {".blend1", ".blend@"}]


@pytest.mark.skipif(os.name != "posix", reason="the crash is a signal")
def test_one_corrupt_one_without_target_one_crash_and_one_hang_leave_the_others_alone(twobone, tmp_path, registered_addon):
    shots = tmp_path / "shots"
    make_shot(shots / "s000.blend")
    for number in range(1, SHOTS - 4):
        shutil.copy(shots / "s000.blend", shots / f"s{number:03}.blend")
    (shots / "t_corrupt.blend").write_bytes((shots / "s000.blend").read_bytes()[:5000])
    _, target = make_shot()
    target.name = "Somebody Else"
    save(shots / "t_no_target.blend")
    make_shot()
    add_script("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    save(shots / "t_crash.blend")
    make_shot()
    add_script("import time\nwhile True: time.sleep(1)\n")
    save(shots / "a_hang.blend")
    write_job(tmp_path)
    ended = twobone("batch", tmp_path / "job.json", "--scripts", "--timeout", TIMEOUT)
    assert ended.code == 1, ended.complained
    found = states(tmp_path)
    assert {name: state for name, state in found.items() if state != "done"} == {
        "t_corrupt": "failed",
        "t_no_target": "failed",
        "t_crash": "crashed",
        "a_hang": "timed out",
    }
    assert len(found) == SHOTS
    reasons = {Path(record["shot"]).stem: record["reason"] for record in summary(tmp_path)["shots"]}
    assert '"Target"' in reasons["t_no_target"]
    assert "SIGSEGV" in reasons["t_crash"]
    assert str(TIMEOUT) in reasons["a_hang"]
    assert all(name in ended.said for name in found)
    assert sorted(path.stem for path in (tmp_path / "baked").iterdir()) == [f"s{number:03}" for number in range(SHOTS - 4)]
    assert not leftovers(tmp_path)


def test_the_summary_tells_each_shots_report_and_is_a_table_too(twobone, folder):
    assert twobone("batch", folder / "job.json").code == 0
    records = summary(folder)["shots"]
    assert [record["report"]["chains"][0]["keys"] for record in records] == [192, 192]
    with (folder / "job.summary.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["state"], row["keys"], row["frames"]) for row in rows] == [("done", "192", "24")] * 2
    assert len(keys_in(folder / "baked" / "s1.blend")) == 192


def test_resume_does_only_what_is_new_or_changed(twobone, folder):
    twobone("batch", folder / "job.json")
    first = modified(folder)
    ended = twobone("batch", folder / "job.json", "--resume")
    assert ended.code == 0
    assert "done already" in ended.said
    assert modified(folder) == first
    make_shot(folder / "shots" / "s1.blend", places={1: (1, 0, 1), 24: (0, 0, 0.5)})
    assert twobone("batch", folder / "job.json", "--resume").code == 0
    second = modified(folder)
    assert second["s0"] == first["s0"]
    assert second["s1"] != first["s1"]
    write_job(folder, bend="NEGATIVE")
    assert twobone("batch", folder / "job.json", "--resume").code == 0
    assert modified(folder)["s0"] != second["s0"]


def test_resume_works_in_place_as_well(twobone, folder):
    write_job(folder, output=None, in_place=True)
    assert twobone("batch", folder / "job.json").code == 0
    before = (folder / "shots" / "s0.blend").stat().st_mtime_ns
    assert "done already" in twobone("batch", folder / "job.json", "--resume").said
    assert (folder / "shots" / "s0.blend").stat().st_mtime_ns == before


def make_library(path, height, linked=None):
    """A file with an animated object "Mover"; with `linked`, its place comes from that file's "Mover" instead."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mover = bpy.data.objects.new("Mover", None)
    bpy.context.scene.collection.objects.link(mover)
    if linked is None:
        mover.location = (0.3, 0.0, height)
        mover.keyframe_insert("location", frame=1)
    else:
        mover.constraints.new("COPY_LOCATION").target = link_mover(linked)
    save(path)


def link_mover(library):
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.objects = ["Mover"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def test_resume_bakes_again_what_links_a_library_that_links_one_that_has_changed(twobone, folder):
    library, linked = folder / "assets" / "mover.blend", folder / "assets" / "deep" / "more.blend"
    make_library(library, 0.7)
    make_library(linked, 0.0, library)
    _, target = make_shot(folder / "shots" / "s1.blend")
    target.animation_data_clear()
    target.constraints.new("COPY_LOCATION").target = link_mover(linked)
    save(folder / "shots" / "s1.blend")
    assert twobone("batch", folder / "job.json").code == 0
    first, keys = modified(folder), keys_in(folder / "baked" / "s1.blend")
    assert "2 of 2 shots are done already" in twobone("batch", folder / "job.json", "--resume").said
    make_library(library, 1.1)
    assert "1 of 2 shots are done already" in twobone("batch", folder / "job.json", "--resume").said
    second = modified(folder)
    assert second["s0"] == first["s0"]
    assert second["s1"] != first["s1"]
    assert keys_in(folder / "baked" / "s1.blend") != keys


@pytest.mark.parametrize("lost", [False, True])
def test_a_frozen_shot_whose_library_has_changed_is_refused_and_the_others_are_baked(twobone, folder, lost):
    """One that was missing when the list was frozen has changed as well, once it is there."""
    library = folder / "assets" / "mover.blend"
    make_library(library, 0.7)
    _, target = make_shot(folder / "shots" / "s1.blend")
    target.animation_data_clear()
    target.constraints.new("COPY_LOCATION").target = link_mover(library)
    save(folder / "shots" / "s1.blend")
    if lost:
        library.unlink()
    assert twobone("batch", folder / "job.json", "--freeze", folder / "list.json").code == 0
    if not lost:
        frozen = ["batch", folder / "job.json", "--frozen", folder / "list.json"]
        assert twobone(*frozen, "--shot", "s1").code == 0
    make_library(library, 1.1)
    ended = twobone("batch", folder / "job.json", "--frozen", folder / "list.json")
    assert (ended.code, "mover.blend" in ended.said) == (1, True)
    assert {Path(entry["shot"]).stem: entry["state"] for entry in summary(folder)["shots"]} == {"s0": "done", "s1": "failed"}


def modified(folder):
    return {path.stem: path.stat().st_mtime_ns for path in (folder / "baked").iterdir()}


def test_a_farm_may_count_the_shots_and_bake_one_of_them(twobone, folder):
    listed = twobone("batch", folder / "job.json", "--list").said.splitlines()
    assert [line.split()[:2] for line in listed] == [["1", "shots/s0.blend"], ["2", "shots/s1.blend"]]
    assert not (folder / "baked").exists()
    assert twobone("batch", folder / "job.json", "--shot", 2).code == 0
    assert [path.name for path in (folder / "baked").iterdir()] == ["s1.blend"]
    assert (folder / "job.2.summary.json").is_file()
    ended = twobone("batch", folder / "job.json", "--shot", 3)
    assert (ended.code, "from 1 to 2" in ended.complained) == (2, True)


def test_strict_shots_alone_make_exit_code_3(twobone, folder):
    make_shot(folder / "shots" / "s1.blend", places={1: (1, 0, 1), 24: (9, 0, 2)})
    write_job(folder, strict=True)
    ended = twobone("batch", folder / "job.json")
    assert ended.code == 3
    assert states(folder) == {"s0": "done", "s1": "strict"}
    assert not (folder / "baked" / "s1.blend").exists()


@pytest.mark.parametrize(
    "changes",
    [{"shots": None}, {"output": None}, {"output": "../{shot}.blend"}, {"shots": ["none/*.blend"]}, {"step": 0}, {"stop": 1}],
)
def test_a_bad_job_starts_nothing_and_writes_nothing(twobone, folder, changes):
    write_job(folder, **changes)
    before = sorted(folder.rglob("*"))
    ended = twobone("batch", folder / "job.json")
    assert ended.code == 2
    assert len(ended.complained.splitlines()) == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("text", ["nonsense", "{}", '{"shots": [{"what": 1}]}', '{"shots": ["shots/*.blend"]}'])
def test_resuming_from_something_that_is_no_summary_is_refused(twobone, folder, text):
    (folder / "job.summary.json").write_text(text)
    ended = twobone("batch", folder / "job.json", "--resume")
    assert ended.code == 2
    assert "--summary" in ended.complained


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_ends_every_process_and_leaves_no_half_written_file(folder):
    make_shot()
    add_script("import os, time, pathlib\npathlib.Path(os.environ['PIDS'], str(os.getpid())).touch()\ntime.sleep(600)\n")
    for number in range(3):
        save(folder / "shots" / f"s{number}.blend")
    pids = folder / "pids"
    pids.mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PIDS": str(pids)}
    command = [sys.executable, "-m", "twobone_addon", "batch", str(folder / "job.json"), "--scripts", "--jobs", "2"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as batch:
        guard = threading.Timer(120, batch.kill)
        guard.start()
        wait_until(lambda: len(list(pids.iterdir())) == 2 or batch.poll() is not None)
        batch.send_signal(signal.SIGINT)
        said = batch.communicate()[0]
        guard.cancel()
    assert batch.returncode == 5
    assert "--resume" in said
    assert not [path.name for path in pids.iterdir() if is_alive(int(path.name))]
    assert states(folder) == {"s0": "waiting", "s1": "waiting", "s2": "waiting"}
    assert not leftovers(folder)


def wait_until(holds, patience=60.0):
    end = time.monotonic() + patience
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
