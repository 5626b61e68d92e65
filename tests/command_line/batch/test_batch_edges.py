"""Batches that meet bad names, bad folders, other versions and farms that count: one shot's trouble stays its own."""

import json
import os
import shutil
import struct
import sys

import bpy
import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.command_line.jobs import KEYS, records, states, write_job
from tests.command_line.shots import LEG, add_script, keys_in, make_shot, of_version, save
from tests.command_line.stopped.killing import start

posix_only = pytest.mark.skipif(os.name != "posix", reason="file names as POSIX has them")


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
    assert len(twobone("batch", folder / "job.json", "--list").said.splitlines()) == len(found)


@posix_only
def test_standard_output_that_cannot_show_a_name_ends_nothing(folder):
    (folder / "shots" / "s0.blend").rename(folder / "shots" / "r\u00e9sum\u00e9.blend")
    with start("batch", folder / "job.json", PYTHONIOENCODING="ascii") as batch:
        said = batch.communicate(timeout=PATIENCE_IN_SECONDS)[0]
    assert batch.returncode == 0, said
    assert r"r\xe9sum\xe9" in said


def test_an_output_folder_that_cannot_be_fails_its_own_shot(batch_here, folder):
    for name in ("d1", "d2"):
        (folder / name).mkdir()
        shutil.copy(folder / "shots" / "s0.blend", folder / name / f"{name}.blend")
    (folder / "d1" / "baked").write_text("a file where a folder should be")
    write_job(folder, shots=["d1/d1.blend", "d2/d2.blend"], output="{folder}/baked/{shot}.blend")
    assert batch_here().code == 1
    assert states(folder) == {"d1": "failed", "d2": "done"}
    assert "cannot be made" in records(folder)["d1"]["reason"]


def test_ten_thousand_named_shots_are_listed(batch_here, folder):
    write_job(folder, shots=[f"seq/sh{number:05}/sh{number:05}_v1.blend" for number in range(10_000)])
    assert len(batch_here("--list").said.splitlines()) == 10_000


@posix_only
def test_patterns_come_to_an_end_in_circles_of_links_and_in_rows_of_stars(batch_here, folder):
    for name in ("one", "two", "three"):
        (folder / "shots" / name).symlink_to("..")
    deep = folder / "deep" / "/".join("abcdefghijklmnop")
    deep.mkdir(parents=True)
    shutil.copy(folder / "shots" / "s0.blend", deep / "s1.blend")
    for pattern, name in (
        ("shots/**/*.blend", "shots/s0.blend"),
        ("deep/**/**/**/**/**/**/*.blend", "s1.blend"),
        ("deep/**", "s1"),
    ):
        write_job(folder, shots=[pattern])
        (line,) = batch_here("--list").said.splitlines()
        assert name in line


@posix_only
def test_a_pipe_that_is_called_like_a_shot_is_no_shot_and_is_not_waited_for(batch_here, folder):
    os.mkfifo(folder / "shots" / "pipe.blend")
    write_job(folder, shots=["shots/s0.blend", "shots/pipe.blend"])
    assert batch_here().code == 1
    assert states(folder) == {"pipe": "failed", "s0": "done"}
    assert "1 of 2 shots are done already" in batch_here("--resume").said


@pytest.mark.parametrize("words", [("--shots-per-blender", "9" * 5000), ("--jobs", "1e9"), ("--timeout", "soon")])
def test_what_is_no_number_is_refused_in_one_short_sentence(batch_here, folder, words):
    ended = batch_here(*words, "--list")
    assert (ended.code, "number" in ended.complained, len(ended.complained) < 200) == (2, True, True)


def test_the_summary_never_replaces_the_job_or_a_shot(batch_here, folder):
    before = (folder / "job.json").read_bytes()
    assert batch_here("--summary", folder / "job.json").code == 2
    assert batch_here("--summary=").code == 2
    for words in (["--resume"], ["--dry-run"], ["--resume", "--dry-run"]):
        assert batch_here("--summary", folder / "job.json", *words).code == 2
    assert (folder / "job.json").read_bytes() == before


def test_the_summary_goes_to_standard_output(batch_here, folder):
    ended = batch_here("--summary", "-")
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
def test_shots_run_scripts_as_blender_was_told_and_what_was_blocked_is_said(batch_here, folder, monkeypatch, words, blocked):
    blender, flags = words
    scripted(folder)
    monkeypatch.setattr(sys, "argv", ["blender", "--background", *blender, "--command", "twobone"])
    assert batch_here(*flags).code == 0
    record = records(folder)["s0"]
    assert any("--scripts" in warning for warning in record["warnings"]) == blocked
    assert record["warnings"] == record["report"]["provenance"]["warnings"]


def test_a_file_of_a_newer_blender_is_saved_over_only_when_that_is_allowed(twobone, batch_here, folder):
    shot = folder / "shots" / "s0.blend"
    of_version(shot, 599)
    before = shot.read_bytes()
    words = ["bake", "--file", shot, *LEG]
    ended = twobone(*words, "--save")
    assert (ended.code, "5.99" in ended.complained, "--upgrade" in ended.complained) == (1, True, True)
    assert shot.read_bytes() == before
    ended = twobone(*words, "--save", folder / "new.blend")
    assert (ended.code, "5.99" in ended.complained) == (0, True)
    write_job(folder, in_place=True, output="")
    assert batch_here().code == 1
    assert batch_here("--upgrade").code == 0
    assert len(keys_in(shot)) == KEYS


def test_a_file_too_old_to_be_read_by_its_own_version_afterwards_is_refused_too(twobone, folder, monkeypatch):
    from twobone_addon.pipeline import completeness

    monkeypatch.setattr(completeness, "own_version", lambda: (9, 9))
    monkeypatch.setattr(completeness, "oldest_reader", lambda: (9, 8))
    words = ["bake", "--file", folder / "shots" / "s0.blend", *LEG]
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
