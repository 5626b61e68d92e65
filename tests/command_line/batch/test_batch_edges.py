"""Batches that meet bad names, bad folders, other versions and farms that count: one shot's trouble stays its own."""

import csv
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import add_script, keys_in, make_shot, of_version, save

ROOT = Path(__file__).resolve().parents[3]
CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
posix_only = pytest.mark.skipif(os.name != "posix", reason="file names as POSIX has them")


@pytest.fixture
def folder(tmp_path, registered_addon):
    """A folder with a job and one shot."""
    make_shot(tmp_path / "shots" / "s0.blend")
    write_job(tmp_path)
    return tmp_path


def write_job(folder, **changes):
    job = {"shots": ["shots/*.blend"], "output": "baked/{shot}.blend", **CHAIN} | changes
    (folder / "job.json").write_text(json.dumps(job))


def summary(folder, name="job.summary.json"):
    return json.loads((folder / name).read_text())


def states(folder):
    return {Path(record["shot"]).stem: record["state"] for record in summary(folder)["shots"]}


@posix_only
def test_odd_names_are_baked_or_fail_on_their_own_and_logs_have_one_line_a_shot(twobone, folder):
    names = ["lat\udce9", "new\nline", "x" * 249, "r\u00e9sum\u00e9 \u2603", "-dash"]
    for name in names:
        shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / f"{name}.blend")
    (folder / "shots" / "itself.blend").symlink_to("itself.blend")
    ended = twobone("batch", folder / "job.json", "--jobs", 2)
    found = states(folder)
    assert set(found) == {"s0", *names} or set(found) == {"s0", "itself", *names}
    assert ended.code == (1 if "itself" in found else 0)
    assert {state for name, state in found.items() if name != "itself"} == {"done"}
    assert len(ended.said.splitlines()) == len(found) + 1
    assert all((folder / "baked" / f"{name}.blend").is_file() for name in names)
    assert len((folder / "job.summary.csv").read_text().splitlines()) == len(found) + 1
    assert len(twobone("batch", folder / "job.json", "--list").said.splitlines()) == len(found)


@posix_only
def test_standard_output_that_cannot_show_a_name_ends_nothing(folder):
    (folder / "shots" / "s0.blend").rename(folder / "shots" / "r\u00e9sum\u00e9.blend")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "twobone_addon", "batch", str(folder / "job.json")]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"r\xe9sum\xe9" in done.stdout


def test_an_output_folder_that_cannot_be_fails_its_own_shot(twobone, folder):
    for name in ("d1", "d2"):
        (folder / name).mkdir()
        shutil.copy(folder / "shots" / "s0.blend", folder / name / f"{name}.blend")
    (folder / "d1" / "baked").write_text("a file where a folder should be")
    write_job(folder, shots=["d1/d1.blend", "d2/d2.blend"], output="{folder}/baked/{shot}.blend")
    assert twobone("batch", folder / "job.json").code == 1
    assert states(folder) == {"d1": "failed", "d2": "done"}
    assert "cannot be made" in summary(folder)["shots"][0]["reason"]


def test_ten_thousand_named_shots_are_listed(twobone, folder):
    write_job(folder, shots=[f"seq/sh{number:05}/sh{number:05}_v1.blend" for number in range(10_000)])
    assert len(twobone("batch", folder / "job.json", "--list").said.splitlines()) == 10_000


@posix_only
def test_links_in_a_circle_come_to_an_end(twobone, folder):
    for name in ("one", "two", "three"):
        (folder / "shots" / name).symlink_to("..")
    write_job(folder, shots=["shots/**/*.blend"])
    listed = twobone("batch", folder / "job.json", "--list").said.splitlines()
    assert [line.split()[:2] for line in listed] == [["1", "shots/s0.blend"]]


@pytest.mark.parametrize("spoil", [lambda path: path.write_bytes(b""), lambda path: path.write_bytes(path.read_bytes()[:-9])])
def test_resume_bakes_again_what_is_not_whole(twobone, folder, spoil):
    assert twobone("batch", folder / "job.json").code == 0
    spoil(folder / "baked" / "s0.blend")
    assert "already" not in twobone("batch", folder / "job.json", "--resume").said
    assert len(keys_in(folder / "baked" / "s0.blend")) == 24 * 8
    assert "1 of 1 shots are done already" in twobone("batch", folder / "job.json", "--resume").said


@posix_only
def test_a_pipe_that_is_called_like_a_shot_is_no_shot_and_is_not_waited_for(twobone, folder):
    os.mkfifo(folder / "shots" / "pipe.blend")
    write_job(folder, shots=["shots/s0.blend", "shots/pipe.blend"])
    assert twobone("batch", folder / "job.json").code == 1
    assert states(folder) == {"pipe": "failed", "s0": "done"}
    assert twobone("batch", folder / "job.json", "--freeze", folder / "list.json").code == 0
    assert "1 of 2 shots are done already" in twobone("batch", folder / "job.json", "--resume").said


def test_a_frozen_list_counts_on_when_a_shot_is_published(twobone, folder):
    words = ["batch", folder / "job.json", "--frozen", folder / "list.json"]
    assert twobone("batch", folder / "job.json", "--freeze", folder / "list.json").code == 0
    shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / "a_new.blend")
    assert [line.split()[1] for line in twobone(*words, "--list").said.splitlines()] == ["shots/s0.blend"]
    assert twobone(*words, "--shot", 1).code == 0
    assert [path.name for path in (folder / "baked").iterdir()] == ["s0.blend"]
    assert (twobone(*words, "--shot", 2).code, (folder / "job.1.summary.json").is_file()) == (2, True)
    make_shot(folder / "shots" / "s0.blend", places={1: (1, 0, 1), 24: (0, 0, 0.5)})
    ended = twobone(*words, "--shot", "shots/s0.blend")
    assert (ended.code, "SHA-256" in ended.said) == (1, True)
    write_job(folder, bend="NEGATIVE")
    ended = twobone(*words, "--shot", 1)
    assert (ended.code, "has changed" in ended.complained) == (2, True)


def test_a_number_without_a_list_is_warned_of_and_a_name_is_not(twobone, folder):
    assert "--freeze" in twobone("batch", folder / "job.json", "--shot", 1).complained
    for name in ("shots/s0.blend", "s0.blend", "s0"):
        ended = twobone("batch", folder / "job.json", "--shot", name)
        assert (ended.code, ended.complained) == (0, "")
    ended = twobone("batch", folder / "job.json", "--shot", "s9")
    assert (ended.code, "--list" in ended.complained) == (2, True)


@pytest.mark.parametrize("words", [("--retries", "9" * 5000), ("--jobs", "1e9"), ("--timeout", "soon")])
def test_what_is_no_number_is_refused_in_one_short_sentence(twobone, folder, words):
    ended = twobone("batch", folder / "job.json", *words, "--list")
    assert (ended.code, "number" in ended.complained, len(ended.complained) < 200) == (2, True, True)


LINKED = '{"shots": [{"path": "a", "output": "b", "name": "a", "sha256": "", "linked": []}], "job_sha256": ""}'


@pytest.mark.parametrize("text", ["nonsense", "{}", '{"shots": [{}], "job_sha256": ""}', '{"shots": 3}', LINKED])
def test_what_is_no_frozen_list_is_refused(twobone, folder, text):
    (folder / "list.json").write_text(text)
    ended = twobone("batch", folder / "job.json", "--frozen", folder / "list.json")
    assert (ended.code, "--freeze" in ended.complained) == (2, True)


def test_the_summary_never_replaces_the_job_or_a_shot(twobone, folder):
    before = (folder / "job.json").read_bytes()
    assert twobone("batch", folder / "job.json", "--summary", folder / "job.json").code == 2
    assert twobone("batch", folder / "job.json", "--freeze", folder / "job.json").code == 2
    assert twobone("batch", folder / "job.json", "--freeze", folder / "shots" / "s0.blend").code == 2
    assert twobone("batch", folder / "job.json", "--summary=").code == 2
    for words in (["--resume"], ["--dry-run"], ["--resume", "--dry-run"]):
        assert twobone("batch", folder / "job.json", "--summary", folder / "job.json", *words).code == 2
    assert (folder / "job.json").read_bytes() == before


def test_the_summary_goes_to_standard_output(twobone, folder):
    ended = twobone("batch", folder / "job.json", "--summary", "-")
    assert (ended.code, json.loads(ended.said)["done"]) == (0, 1)
    assert not list(folder.glob("*.summary.*"))


def scripted(folder):
    make_shot()
    add_script("import bpy\nbpy.data.objects['Target'].location.x += 0\n")
    bpy.context.scene.driver_add("gravity", 0).driver.expression = '__import__("math").sin(frame)'
    save(folder / "shots" / "s0.blend")


@pytest.mark.parametrize(
    "words, blocked",
    [
        (([], []), True),
        ((["-y"], []), False),
        ((["-y", "-Y"], []), True),
        ((["-Y"], ["--scripts"]), False),
        ((["-y"], ["--no-scripts"]), True),
    ],
)
def test_shots_run_scripts_as_blender_was_told_and_what_was_blocked_is_said(twobone, folder, monkeypatch, words, blocked):
    blender, flags = words
    scripted(folder)
    monkeypatch.setattr(sys, "argv", ["blender", "--background", *blender, "--command", "twobone"])
    assert twobone("batch", folder / "job.json", *flags).code == 0
    (record,) = summary(folder)["shots"]
    assert any("--scripts" in warning for warning in record["warnings"]) == blocked
    assert record["warnings"] == record["report"]["provenance"]["warnings"]
    (row,) = csv.DictReader((folder / "job.summary.csv").open())
    assert ("--scripts" in row["warnings"]) == blocked


def test_a_file_of_a_newer_blender_is_saved_over_only_when_that_is_allowed(twobone, folder):
    shot = folder / "shots" / "s0.blend"
    of_version(shot, 599)
    before = shot.read_bytes()
    words = ["bake", "--file", shot, *(word for key, value in CHAIN.items() for word in (f"--{key}", value))]
    ended = twobone(*words, "--save")
    assert (ended.code, "5.99" in ended.complained, "--upgrade" in ended.complained) == (1, True, True)
    assert shot.read_bytes() == before
    ended = twobone(*words, "--save", folder / "new.blend")
    assert (ended.code, "5.99" in ended.complained) == (0, True)
    write_job(folder, in_place=True, output="")
    assert twobone("batch", folder / "job.json").code == 1
    assert twobone("batch", folder / "job.json", "--upgrade").code == 0
    assert len(keys_in(shot)) == 24 * 8


def test_a_file_too_old_to_be_read_by_its_own_version_afterwards_is_refused_too(twobone, folder, monkeypatch):
    from twobone_addon.pipeline import completeness

    monkeypatch.setattr(completeness, "own_version", lambda: (9, 9))
    monkeypatch.setattr(completeness, "oldest_reader", lambda: (9, 8))
    words = ["bake", "--file", folder / "shots" / "s0.blend", *(w for key, value in CHAIN.items() for w in (f"--{key}", value))]
    ended = twobone(*words, "--save")
    assert (ended.code, "no longer be read" in ended.complained) == (1, True)
    assert twobone(*words, "--save", "--upgrade").code == 0
    ended = twobone(*words, "--save", folder / "new.blend")
    assert (ended.code, "no longer be read" in ended.complained) == (0, True)


def test_what_blender_writes_says_which_versions_read_it(folder):
    """In the file itself, two numbers of the block `GLOB`, behind the header and that of the block."""
    from twobone_addon.scene.versions import oldest_reader, own_version

    data = (folder / "shots" / "s0.blend").read_bytes()
    short = data[7:8] in b"-_"
    assert divmod(int(data[9:12] if short else data[13:17]), 100) == own_version()
    _, oldest = struct.unpack_from("<hh", data, data.index(b"GLOB") + (24 if short else 32) + 4)
    assert divmod(oldest, 100) == oldest_reader()


@posix_only
def test_endless_logs_memory_and_crashes_are_bounded(twobone, folder):
    make_shot()
    add_script("import os\nprint('x' * 5_000_000)\nfor n in range(20_000): print('line', n)\nos._exit(7)\n")
    save(folder / "shots" / "s0.blend")
    ended = twobone("batch", folder / "job.json", "--scripts", "--retries", 2)
    assert (ended.code, ended.said.count("Trying again")) == (1, 2)
    (record,) = summary(folder)["shots"]
    assert record["state"] == "crashed"
    assert len(json.dumps(record["log"])) < 100_000
    make_shot()
    add_script("import time\nheld = bytearray(3 << 30)\ntime.sleep(600)\n")
    save(folder / "shots" / "s0.blend")
    assert twobone("batch", folder / "job.json", "--scripts", "--memory", "2").code == 1
    assert "2 GB" in summary(folder)["shots"][0]["reason"]
