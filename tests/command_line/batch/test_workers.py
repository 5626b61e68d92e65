"""Several shots in one Blender: the same results as with one each, and one that ends its Blender ends alone."""

import io
import json
import os
import shutil
import signal

import pytest

from tests.command_line.jobs import records, write_job
from tests.command_line.reports import without_times
from tests.command_line.shots import keys_in, make_shot
from twobone_addon.command_line.batch import batch_command
from twobone_addon.command_line.batch.batch_command import Progress
from twobone_addon.command_line.batch.shots import DONE, ShotRecord
from twobone_addon.pipeline import machine
from twobone_addon.pipeline.machine import cores, free_memory


@pytest.fixture
def folder(tmp_path, registered_addon):
    """Three shots that differ, one of them cut off, in the middle."""
    make_shot(tmp_path / "shots" / "a.blend")
    make_shot(tmp_path / "shots" / "c.blend", places={1: (1, 0, 1), 24: (0, 0, 0.5)}, compress=True)
    (tmp_path / "shots" / "b.blend").write_bytes((tmp_path / "shots" / "a.blend").read_bytes()[:5000])
    write_job(tmp_path)
    return tmp_path


def comparable(record):
    """A record without what time makes different; the saved file's SHA-256 is: Blender writes addresses into files."""
    same = {
        key: value
        for key, value in record.items()
        if key not in {"seconds", "log", "output_sha256", "earlier_sha256", "fingerprint"}
    }
    if record["report"]:
        provenance = record["report"]["provenance"] | {"output": None}
        same["report"] = json.dumps(without_times(record["report"]) | {"provenance": provenance}, sort_keys=True)
    return same


def test_one_blender_for_all_gives_the_same_reports_and_keys_as_one_for_each(twobone, folder):
    results = []
    for count in (100, 1):
        words = ["--shots-per-blender", count, "--jobs", 1, "--replace"]
        assert twobone("batch", folder / "job.json", *words).code == 1
        found = {name: comparable(record) for name, record in records(folder).items()}
        results.append((found, [keys_in(folder / "baked" / f"{name}.blend") for name in "ac"]))
    assert [record["state"] for record in results[0][0].values()] == ["done", "failed", "done"]
    assert results[0] == results[1]


@pytest.mark.skipif(os.name != "posix", reason="the crash is a signal")
def test_a_shot_that_kills_its_worker_fails_alone(twobone, folder, monkeypatch):
    from twobone_addon.command_line.batch import workers

    asked, ask = [], workers.Worker.ask

    def die_at_b(worker, arguments, log):
        asked.append(worker.process.pid)
        ask(worker, arguments, log)
        if any(word.endswith("b.blend") for word in arguments):
            os.kill(worker.process.pid, signal.SIGKILL)

    monkeypatch.setattr(workers.Worker, "ask", die_at_b)
    shutil.copy(folder / "shots" / "a.blend", folder / "shots" / "b.blend")
    ended = twobone("batch", folder / "job.json", "--jobs", 1, "--logs", folder / "logs")
    assert ended.code == 1
    assert [record["state"] for record in records(folder).values()] == ["done", "crashed", "done"]
    assert "SIGKILL" in records(folder)["b"]["reason"]
    assert asked[0] == asked[1] != asked[2]
    assert [path.name for path in sorted((folder / "logs").iterdir())] == ["0001.a.log", "0002.b.log", "0003.c.log"]
    assert "SIGKILL" in ended.said
    assert "Saved" in (folder / "logs" / "0001.a.log").read_text()


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_log_is_a_new_file_each_time(twobone, folder):
    logs, precious = folder / "logs", folder / "precious.txt"
    logs.mkdir()
    precious.write_text("my only copy")
    (logs / "0001.a.log").symlink_to(precious)
    (logs / "0001.a.1.log").hardlink_to(precious)
    write_job(folder, shots=["shots/a.blend"])
    assert twobone("batch", folder / "job.json", "--logs", logs).code == 0
    assert precious.read_text() == "my only copy"
    assert "Saved" in (logs / "0001.a.2.log").read_text()


class Closed(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, _text):
        raise BrokenPipeError(32, "Broken pipe")


def test_a_reader_that_goes_ends_nothing():
    progress = Progress(2, stream=Closed())
    progress.skipped(["a"])
    progress.ended("b", ShotRecord("b", "out", state=DONE))
    assert progress.finished == 2


def test_programs_get_events_and_a_long_shot_is_heard_of():
    stream = io.StringIO()
    progress = Progress(3, stream=stream, as_json=True)
    progress.skipped(["a"])
    progress.started("b")
    progress.running(["b"], [59.0])
    progress.running(["b"], [61.0])
    progress.running(["b"], [62.0])
    progress.ended("b", ShotRecord("b", "out", state="failed", reason="No target."))
    events = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [event["event"] for event in events] == ["skipped", "started", "running", "failed"]
    assert [round(event["percent"]) for event in events] == [33, 33, 33, 67]
    assert events[-1]["seconds_left"] is not None
    log = io.StringIO()
    Progress(1, stream=log).running(["b"], [61.0])
    assert log.getvalue() == "b: running for 61 s\n"


@pytest.mark.parametrize(
    "files, count",
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "100000", "cpu/cpu.cfs_period_us": "100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({"job/cpu.max": "300000 100000", "cpu.max": "max 100000"}, 3),
        ({"job/step/cpu.max": "max 100000", "job/cpu.max": "500000 100000", "cpu.max": "400000 100000"}, 4),
        ({}, 8),
    ],
)
def test_a_containers_share_of_the_cores_counts(tmp_path, monkeypatch, files, count):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "own").write_text("1:cpu:/other\n0::/job/step\n")
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert cores() == count


def test_memory_limits_how_many_run(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 64000000 kB\nMemAvailable: 6291456 kB\n")
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "GROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(batch_command, "cores", lambda: 16)
    assert batch_command._shots_at_once() == 6
    (tmp_path / "memory.max").write_text(f"{4 << 30}\n")
    (tmp_path / "memory.current").write_text(f"{1 << 30}\n")
    assert free_memory() == 3 << 30
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "memory.max").write_text(f"{2 << 30}\n")
    (tmp_path / "job" / "memory.current").write_text("1000\n")
    (tmp_path / "own").write_text("0::/job\n")
    assert free_memory() == (2 << 30) - 1000
