"""A batch of shots: each in its own Blender, and none that fails, hangs or crashes harms another."""

import os
import shutil
import signal

import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.command_line.jobs import KEYS, records, states, write_job
from tests.command_line.shots import add_script, keys_in, make_shot, save
from tests.command_line.stopped.killing import is_alive, start, wait_until

# Each shot starts Blender anew, so by default there are few; the full number is for a release: TWOBONE_BATCH_SHOTS=50.
SHOTS = int(os.environ.get("TWOBONE_BATCH_SHOTS", "6"))
TIMEOUT = 20  # Seconds: several times what a shot takes on a busy machine, and what the hanging shot costs the test.


@pytest.fixture
def two_shots(folder):
    shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / "s1.blend")


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
    found = records(tmp_path)
    assert {name: record["state"] for name, record in found.items() if record["state"] != "done"} == {
        "t_corrupt": "failed",
        "t_no_target": "failed",
        "t_crash": "crashed",
        "a_hang": "timed out",
    }
    assert len(found) == SHOTS
    assert '"Target"' in found["t_no_target"]["reason"]
    assert "SIGSEGV" in found["t_crash"]["reason"]
    assert str(TIMEOUT) in found["a_hang"]["reason"]
    assert all(name in ended.said for name in found)
    assert sorted(path.stem for path in (tmp_path / "baked").iterdir()) == [f"s{number:03}" for number in range(SHOTS - 4)]
    assert not leftovers(tmp_path)


def test_the_summary_has_each_shots_report(twobone, folder, two_shots):
    assert twobone("batch", folder / "job.json").code == 0
    assert [record["report"]["chains"][0]["keys"] for record in records(folder).values()] == [KEYS, KEYS]
    assert states(folder) == {"s0": "done", "s1": "done"}
    assert len(keys_in(folder / "baked" / "s1.blend")) == KEYS


def test_resume_does_only_what_is_new_or_changed(batch_here, folder, two_shots):
    batch_here()
    first = modified(folder)
    ended = batch_here("--resume")
    assert ended.code == 0
    assert "done already" in ended.said
    assert modified(folder) == first
    make_shot(folder / "shots" / "s1.blend", places={1: (1, 0, 1), 24: (0, 0, 0.5)})
    assert batch_here("--resume").code == 0
    second = modified(folder)
    assert second["s0"] == first["s0"]
    assert second["s1"] != first["s1"]
    write_job(folder, bend="NEGATIVE")
    assert batch_here("--resume").code == 0
    assert modified(folder)["s0"] != second["s0"]


def test_resume_works_in_place_as_well(batch_here, folder):
    write_job(folder, output=None, in_place=True)
    assert batch_here().code == 0
    before = (folder / "shots" / "s0.blend").stat().st_mtime_ns
    assert "done already" in batch_here("--resume").said
    assert (folder / "shots" / "s0.blend").stat().st_mtime_ns == before


def modified(folder):
    return {path.stem: path.stat().st_mtime_ns for path in (folder / "baked").iterdir()}


def test_a_farm_may_count_the_shots_and_bake_one_of_them(batch_here, folder, two_shots):
    listed = batch_here("--list").said.splitlines()
    assert [line.split()[:2] for line in listed] == [["1", "shots/s0.blend"], ["2", "shots/s1.blend"]]
    assert not (folder / "baked").exists()
    assert batch_here("--shot", 2).code == 0
    assert [path.name for path in (folder / "baked").iterdir()] == ["s1.blend"]
    assert (folder / "job.json.2.summary.json").is_file()
    ended = batch_here("--shot", 3)
    assert (ended.code, "from 1 to 2" in ended.complained) == (2, True)


def test_strict_shots_alone_make_exit_code_3(batch_here, folder, two_shots):
    make_shot(folder / "shots" / "s1.blend", places={1: (1, 0, 1), 24: (9, 0, 2)})
    write_job(folder, strict=True)
    ended = batch_here()
    assert ended.code == 3
    assert states(folder) == {"s0": "done", "s1": "strict"}
    assert not (folder / "baked" / "s1.blend").exists()


@pytest.mark.parametrize(
    "changes",
    [{"shots": None}, {"output": None}, {"output": "../{shot}.blend"}, {"shots": ["none/*.blend"]}, {"step": 0}, {"stop": 1}],
)
def test_a_bad_job_starts_nothing_and_writes_nothing(batch_here, folder, changes):
    write_job(folder, **changes)
    before = sorted(folder.rglob("*"))
    ended = batch_here()
    assert ended.code == 2
    assert len(ended.complained.splitlines()) == 1
    assert sorted(folder.rglob("*")) == before


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_ends_every_blender_and_leaves_no_half_written_file(folder):
    make_shot()
    add_script("import os, time, pathlib\npathlib.Path(os.environ['PIDS'], str(os.getpid())).touch()\ntime.sleep(600)\n")
    for number in range(3):
        save(folder / "shots" / f"s{number}.blend")
    (folder / "pids").mkdir()
    with start("batch", folder / "job.json", "--scripts", "--jobs", "2", PIDS=str(folder / "pids")) as batch:
        assert wait_until(lambda: len(list((folder / "pids").iterdir())) == 2)
        batch.send_signal(signal.SIGINT)
        said = batch.communicate(timeout=PATIENCE_IN_SECONDS)[0]
    assert batch.returncode == 5
    assert "--resume" in said
    assert not [path.name for path in (folder / "pids").iterdir() if is_alive(int(path.name))]
    assert states(folder) == {"s0": "waiting", "s1": "waiting", "s2": "waiting"}
    assert not leftovers(folder)
