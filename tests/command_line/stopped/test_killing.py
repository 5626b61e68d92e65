"""Runs that are stopped or killed at any moment: every file is whole, and after the next run nothing is left."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import bpy
import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.command_line.jobs import KEYS, write_job
from tests.command_line.shots import LEG, add_script, keys_in, make_shot, save
from tests.command_line.stopped.killing import alive_with, children_of, is_alive, python, start, wait_until
from tests.promises.tasks_under_test import TASKS
from tests.tasks.checks.targets import curves_of
from twobone_addon.command_line.job import READS_ONLY

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="sends signals, and reads /proc")
# Each round starts Blender anew; the full numbers are for a release: see docs/contributing.md.
ROUNDS = int(os.environ.get("TWOBONE_KILL_ROUNDS", "2"))
BATCH_ROUNDS = int(os.environ.get("TWOBONE_BATCH_KILL_ROUNDS", "1"))
STOPPED = 5

# Bakes and saves the same shot over and over.
BAKE_FOREVER = """
import faulthandler, os, signal, sys
from twobone_addon import registration
registration.register()
from twobone_addon.command_line.command import main
faulthandler.register(signal.SIGUSR1)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # Under nohup it would be ignored, as it should.
print("ready", flush=True)
try:
    while not (code := main(sys.argv[1:])): pass
except KeyboardInterrupt:
    code = 1
os._exit(code)  # As the command itself ends: 4.2 crashes on its way out.
"""

HOLD = """
import sys, time
from pathlib import Path
from twobone_addon.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shots" / "shot.blend")
    return tmp_path / "shots" / "shot.blend"


def names_in(folder):
    return sorted(entry.name for entry in folder.iterdir())


@contextmanager
def bake_forever(shot):
    words = ["bake", "--file", str(shot), *LEG, "--save", "--report", str(shot.parent / "report.json"), "--quiet"]
    with python(["-c", BAKE_FOREVER, *words], stderr=subprocess.PIPE) as process:
        assert any("ready" in line for line in process.stdout)
        yield process


def said_at_its_end(baking):
    """What a bake complains of until it ends; of one that goes on for a minute, where all its threads are."""
    try:
        return baking.communicate(timeout=PATIENCE_IN_SECONDS)[1]
    except subprocess.TimeoutExpired:
        baking.send_signal(signal.SIGUSR1)
        time.sleep(1.0)
        baking.kill()
        return baking.communicate()[1]


def test_killed_bakes_leave_nothing_after_the_next_one(twobone, shot):
    chance = random.Random(6)  # noqa: S311 - moments, not secrets
    for _ in range(ROUNDS):
        with bake_forever(shot) as baking:
            time.sleep(chance.uniform(0.0, 0.4))
            baking.kill()
        bpy.ops.wm.open_mainfile(filepath=str(shot))
        assert {"Rig", "Target"} <= set(bpy.data.objects.keys())
    assert twobone("bake", "--file", shot, *LEG, "--save", "--report", shot.parent / "report.json").code == 0
    assert names_in(shot.parent) == ["report.json", "shot.blend"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_bake_that_is_asked_to_end_leaves_nothing(shot, number):
    chance = random.Random(number)  # noqa: S311 - moments, not secrets
    for _ in range(ROUNDS):
        with bake_forever(shot) as baking:
            time.sleep(chance.uniform(0.2, 0.6))
            baking.send_signal(number)
            complained = said_at_its_end(baking)
        assert baking.returncode in {STOPPED, -number, 1}, complained  # Between two bakes Python's own way holds.
        assert not [name for name in names_in(shot.parent) if name.startswith(".")]


def test_a_stop_during_a_script_of_the_shot_is_a_stop(shot):
    """Blender catches whatever ends a script, and would go on, bake and save."""
    make_shot()
    add_script("import os, time, pathlib\npathlib.Path(os.environ['HERE']).touch()\ntime.sleep(600)\n")
    save(shot)
    here = shot.parent.parent / "here"
    words = ["bake", "--file", shot, *LEG, "--scripts", "--save", shot.parent / "baked.blend"]
    with start(*words, HERE=str(here)) as baking:
        assert wait_until(here.exists)
        baking.send_signal(signal.SIGTERM)
        assert baking.wait(60) == STOPPED
    assert names_in(shot.parent) == ["shot.blend"]


def test_two_runs_never_write_one_shot(twobone, shot):
    from twobone_addon.files import locked

    before = shot.read_bytes()
    with locked(shot) as lock:
        ended = twobone("bake", "--file", shot, *LEG, "--save")
        lock.draft.write_text("being written")
        assert twobone("bake", "--file", shot, *LEG, "--save", shot.parent / "other.blend").code == 0
        assert lock.draft.exists()
    assert (ended.code, str(lock.path) in ended.complained) == (6, True)
    assert shot.read_bytes() == before
    assert names_in(shot.parent) == ["other.blend", "shot.blend"]


def test_a_shot_whose_run_is_about_to_end_is_waited_for(twobone, shot):
    """A worker whose batch was killed lets go of its shot a moment later: the next run need not be started twice."""
    with python(["-c", HOLD.replace("600", "2"), str(shot)]) as holding:
        holding.stdout.readline()
        ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert ended.code == 0, ended.complained
    assert names_in(shot.parent) == ["shot.blend"]


def test_a_killed_run_that_its_parent_has_not_fetched_holds_no_shot(twobone, shot):
    """As in a container whose first process fetches nobody: what was killed there stays in the table of processes."""
    with python(["-c", HOLD, str(shot)]) as holding:
        holding.stdout.readline()
        holding.kill()
        assert wait_until(lambda: not is_alive(holding.pid))
        ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert ended.code == 0, ended.complained
    assert names_in(shot.parent) == ["shot.blend"]


@pytest.fixture
def folder(shot):
    """A job and three shots, of which the last two wait in a script when scripts run."""
    make_shot()
    add_script(
        "import os, time\n"
        "open(os.path.join(os.environ['HERE'], str(os.getpid())), 'w').close()\n"
        "time.sleep(float(os.environ['WAIT']))\n"
    )
    for name in ("wait1", "wait2"):
        save(shot.parent / f"{name}.blend")
    root = shot.parent.parent
    (root / "pids").mkdir()
    write_job(root)
    return root


def batch(folder, *words, wait="600"):
    more = {"HERE": str(folder / "pids"), "WAIT": wait}
    return start("batch", folder / "job.json", "--scripts", "--jobs", "3", *words, temporary=folder / "tmp", **more)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_batch_takes_its_blenders_with_it(run_here, folder, monkeypatch, number):
    for _ in range(BATCH_ROUNDS):
        with batch(folder) as running:
            assert wait_until(lambda: len(names_in(folder / "pids")) == 2)
            running.send_signal(number)
            running.communicate(timeout=PATIENCE_IN_SECONDS)
        assert wait_until(lambda: not alive_with(folder / "shots"), 20)
        for path in (folder / "pids").iterdir():
            path.unlink()
    monkeypatch.setenv("HERE", str(folder / "pids"))
    monkeypatch.setenv("WAIT", "0")
    ended = run_here(folder / "job.json", "--scripts")
    assert ended.code == 0, ended.said
    assert names_in(folder / "baked") == ["shot.blend", "wait1.blend", "wait2.blend"]
    assert names_in(folder) == ["baked", "job.json", "job.json.reports", "job.json.summary.json", "pids", "shots", "tmp"]
    assert len(keys_in(folder / "baked" / "wait1.blend")) == KEYS


def test_a_second_batch_with_one_summary_says_so(folder):
    shutil.rmtree(folder / "tmp", ignore_errors=True)
    with batch(folder) as first:
        assert wait_until(lambda: len(names_in(folder / "pids")) == 2)
        with batch(folder) as second:
            said = second.communicate(timeout=PATIENCE_IN_SECONDS)[0]
        assert (second.returncode, "job.json.summary.json" in said, "another run" in said) == (6, True, True)
        with batch(folder, "--summary", folder / "other.json") as third:
            said = third.communicate(timeout=PATIENCE_IN_SECONDS)[0]
        assert third.returncode == 6  # One shot is done, and the others can be tried again.
        assert said.count("another run") == 2
        assert first.poll() is None
        first.terminate()
        first.communicate(timeout=PATIENCE_IN_SECONDS)
    assert first.returncode == STOPPED


def test_a_worker_whose_batch_is_gone_begins_no_shot(shot):
    """It hears of both at once, where the batch is killed before the worker's Blender has started."""
    before = shot.read_bytes()
    arguments = ["bake", "--file", str(shot), *LEG, "--save", str(shot)]
    for _ in range(ROUNDS):
        ways = {"stdin": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with python(["-m", "twobone_addon", "worker"], {"TWOBONE_TOKEN": "answer"}, **ways) as worker:
            said = worker.communicate(json.dumps(arguments) + "\n", timeout=PATIENCE_IN_SECONDS)[0]
        assert worker.returncode != 0, said
        assert shot.read_bytes() == before


def test_a_worker_whose_batch_goes_during_a_shot_does_not_end_as_done(shot):
    """Also where the shot itself takes the stop, and nothing else ends the process."""
    make_shot()
    add_script("import os, time, pathlib\npathlib.Path(os.environ['HERE']).touch()\ntime.sleep(600)\n")
    save(shot)
    before, here = shot.read_bytes(), shot.parent.parent / "here"
    arguments = ["bake", "--file", str(shot), *LEG, "--scripts", "--save", str(shot)]
    more = {"TWOBONE_TOKEN": "answer", "HERE": str(here)}
    with python(["-m", "twobone_addon", "worker"], more, stdin=subprocess.PIPE, stderr=subprocess.STDOUT) as worker:
        worker.stdin.write(json.dumps(arguments) + "\n")
        worker.stdin.flush()
        assert wait_until(here.exists)
        said = worker.communicate(timeout=PATIENCE_IN_SECONDS)[0]
    assert worker.returncode != 0, said
    assert shot.read_bytes() == before


VICTIMS = ("worker", "batch", "both")
# How a batch keeps shots is the same for all tasks: a few of them, with each victim in turn, where no more rounds are asked for.
WRITING_TASKS = [task for task in TASKS if task.command not in READS_ONLY]
KILLED_TASKS = WRITING_TASKS if "TWOBONE_BATCH_KILL_ROUNDS" in os.environ else WRITING_TASKS[::4]


def keys_of_all():
    """The keys of everything in the open file."""
    return {
        (thing.name, curve.data_path, curve.array_index): [tuple(key.co) for key in curve.keyframe_points]
        for thing in bpy.data.objects
        for curve in curves_of(thing)
    }


@pytest.mark.parametrize("number, task", list(enumerate(KILLED_TASKS)), ids=[task.name for task in KILLED_TASKS])
def test_whoever_is_killed_resuming_ends_as_if_nobody_had_been(twobone, run_here, tmp_path, number, task):
    """Of each task, in place, with a worker for several shots: the worker, its batch, or both, in turn."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    task.build()
    names = [f"{letter}.blend" for letter in "abcd"]
    for name in names:
        save(tmp_path / "shots" / name)
    job = {"use": task.command, "shots": ["shots/*.blend"], "in_place": True, **task.job, **task.call}
    (tmp_path / "job.json").write_text(json.dumps(job))
    assert twobone(task.command, *task.words, "--job", tmp_path / "job.json", "--save", tmp_path / "undisturbed.blend").code == 0
    wanted = keys_of_all()
    chance, words = random.Random(number), ("batch", tmp_path / "job.json", "--jobs", "1")  # noqa: S311 - moments, not secrets
    for turn in range(BATCH_ROUNDS):
        with start(*words, "--resume", temporary=tmp_path / "tmp") as running:
            assert wait_until(lambda batch=running: children_of(batch) or batch.poll() is not None)
            time.sleep(chance.uniform(0.0, 3.0))
            workers, victim = children_of(running), VICTIMS[(number + turn) % len(VICTIMS)]
            for pid in [*(workers if victim != "batch" else []), *([running.pid] if victim != "worker" else [])]:
                with suppress(ProcessLookupError):  # It has just ended by itself.
                    os.kill(pid, signal.SIGKILL)
            running.communicate(timeout=PATIENCE_IN_SECONDS)
        assert wait_until(lambda left=workers: not any(map(is_alive, left)), 20)
        for name in names:
            bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shots" / name))
    ended = run_here(tmp_path / "job.json", "--resume")
    assert ended.code == 0, ended.said
    assert names_in(tmp_path / "shots") == names
    for name in names:
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shots" / name))
        assert keys_of_all() == wanted
