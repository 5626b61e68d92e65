"""What macOS and Windows do otherwise, with the system's own answers stubbed: no test of the systems themselves."""

import errno
import json
import os
import signal
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.command_line.shots import LEG, make_shot, of_version
from twobone_addon.command_line.batch import processes, work
from twobone_addon.command_line.files import claims, outputs, text_files
from twobone_addon.command_line.outcomes import AgainError

NAME = "Caf\u00e9.blend"


class Windows:
    """The module `os`, but for the name of the system."""

    name = "nt"

    def __getattr__(self, name):
        return getattr(os, name)


@pytest.mark.parametrize("system, same", [("darwin", True), ("linux", False)])
def test_macos_takes_names_that_differ_in_case_or_in_how_accents_are_written_for_one(monkeypatch, tmp_path, system, same):
    monkeypatch.setattr(outputs, "sys", SimpleNamespace(platform=system))
    other = unicodedata.normalize("NFD", NAME.upper())
    assert outputs.is_same(tmp_path / NAME, tmp_path / other) is same


def test_windows_takes_names_that_differ_in_case_for_one_and_leaves_a_drive_that_is_mapped(monkeypatch, tmp_path):
    (tmp_path / "server").mkdir()
    (tmp_path / "Z").symlink_to("server")
    on_windows(monkeypatch)
    assert outputs.is_same(tmp_path / "a.blend", tmp_path / "A.BLEND")
    assert outputs.followed(tmp_path / "Z" / "a.blend") == tmp_path / "Z" / "a.blend"


def on_windows(monkeypatch, *, long_paths=False):
    """Let names and paths be those of Windows, with its setting for long paths."""
    system = SimpleNamespace(platform="win32", stdout=sys.stdout, stderr=sys.stderr)
    library = SimpleNamespace(RtlAreLongPathsEnabled=lambda: long_paths)
    monkeypatch.setattr(outputs, "sys", system)
    monkeypatch.setattr(text_files, "sys", system)
    monkeypatch.setattr(text_files, "ctypes", SimpleNamespace(WinDLL=lambda _: library))


def test_on_a_mapped_drive_a_newer_shot_is_saved_over_only_when_that_is_allowed(monkeypatch, tmp_path, twobone):
    shot = tmp_path / "server" / "a.blend"
    make_shot(shot)
    of_version(shot, 599)
    (tmp_path / "Z").symlink_to("server")
    before = shot.read_bytes()
    on_windows(monkeypatch)
    ended = twobone("bake", "--file", tmp_path / "Z" / "a.blend", *LEG, "--save")
    assert (ended.code, "--upgrade" in ended.complained) == (1, True)
    assert shot.read_bytes() == before


def test_a_file_on_a_mapped_drive_is_reported_by_the_drives_letter(monkeypatch, tmp_path, twobone):
    make_shot(tmp_path / "server" / "a.blend")
    (tmp_path / "Z").symlink_to("server")
    on_windows(monkeypatch)
    report = tmp_path / "report.json"
    assert twobone("bake", "--file", tmp_path / "Z" / "a.blend", *LEG, "--report", report).code == 0
    assert json.loads(report.read_text())["provenance"]["source"]["path"] == str(tmp_path / "Z" / "a.blend")


def folder_of(tmp_path, letters):
    """A folder whose whole path has so many letters."""
    path = tmp_path / ("d" * 200)
    path /= "e" * (letters - len(str(path)) - 1) if letters > len(str(path)) else ""
    path.mkdir(parents=True)
    return path


@pytest.mark.parametrize("long_paths", [False, True])
@pytest.mark.parametrize("flag", ["--file", "--save", "--report"])
def test_a_path_that_is_too_long_for_windows_is_refused_by_its_length(monkeypatch, tmp_path, twobone, flag, long_paths):
    shot = (folder_of(tmp_path, 300) if flag == "--file" else tmp_path) / "a.blend"
    make_shot(shot)
    goal = [] if flag == "--file" else [flag, folder_of(tmp_path, 230) / {"--save": "b.blend", "--report": "b.json"}[flag]]
    on_windows(monkeypatch, long_paths=long_paths)
    ended = twobone("bake", "--file", shot, *LEG, *goal)
    assert ended.code == (0 if long_paths else 1)
    assert ("too long for Windows" in ended.complained) is not long_paths


def test_shots_whose_paths_are_too_long_for_windows_are_listed_and_a_goals_folder_is_not_made(monkeypatch, tmp_path, twobone):
    """Windows has their names, but says that there are no such files."""
    folder = folder_of(tmp_path, 257)
    for name in ("a", "long"):
        (folder / f"{name}.blend").touch()
    job = tmp_path / "job.json"
    words = {"output": f"{tmp_path}/{'f' * 250}/{{shot}}.blend", "stored": True}
    job.write_text(json.dumps({"shots": [f"{folder.relative_to(tmp_path)}/*.blend"], **words}))
    on_windows(monkeypatch)
    is_file = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: len(str(path)) < 260 and is_file(path))
    listed = twobone("batch", job, "--list")
    assert (listed.code, len(listed.said.splitlines())) == (0, 2)
    ended = twobone("batch", job)
    assert (ended.code, ended.said.count("too long for Windows")) == (1, 2)
    assert not list(tmp_path.glob("f*"))


@pytest.mark.parametrize("knows", [True, False])
def test_macos_flushes_the_drive_itself_where_the_file_system_can(monkeypatch, tmp_path, knows):
    import fcntl

    asked = []

    def answer(*arguments):
        asked.append(arguments)
        if not knows:
            raise OSError(errno.ENOTTY, "not here")

    monkeypatch.setattr(text_files, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", answer)
    monkeypatch.setattr(os, "fsync", lambda handle: asked.append((handle, "fsync")))
    text_files.flush_to_disk(7)
    assert asked == [(7, 51)] if knows else asked == [(7, 51), (7, "fsync")]


@pytest.mark.parametrize("tries", [3, 10_000])
def test_windows_tries_again_to_replace_what_another_program_has_open_and_then_says_so(monkeypatch, tmp_path, tries):
    refused, replace = [], text_files.Path.replace

    def answer(draft, goal):
        refused.append(draft)
        if len(refused) < tries:
            raise PermissionError(errno.EACCES, "in use")
        return replace(draft, goal)

    monkeypatch.setattr(text_files, "os", Windows())
    monkeypatch.setattr(text_files.Path, "replace", answer)
    monkeypatch.setattr(text_files, "PATIENCE", 0.5)
    goal = tmp_path / "job.summary.csv"
    if tries == 3:
        text_files.write_text(goal, "shot,state\n")
        assert (goal.read_text(), len(refused)) == ("shot,state\n", 3)
        return
    with pytest.raises(AgainError, match="open in another program"):
        text_files.write_text(goal, "shot,state\n")
    assert list(tmp_path.iterdir()) == []


def test_windows_locks_a_claim_where_nobody_reads_and_says_who_has_it(monkeypatch, tmp_path):
    locked = []

    def locking(handle, mode, count):
        place = os.lseek(handle, 0, os.SEEK_CUR)
        if locked:
            raise OSError(errno.EACCES, "locked")
        locked.append((mode, place, count))

    monkeypatch.setattr(claims, "sys", SimpleNamespace(platform="win32"))
    monkeypatch.setattr(claims, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2), raising=False)
    with claims.claimed(tmp_path / "a.blend") as sure:
        assert (sure, locked) == (True, [(2, claims.LOCKED_BYTE, 1)])
        with pytest.raises(AgainError, match=f"process {os.getpid()} on "), claims.claimed(tmp_path / "a.blend"):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "code, said", [(0xC0000005, "an access violation"), (-1073741571, "a stack overflow"), (3, "exit code 3")]
)
def test_windows_crashes_are_told_in_words(monkeypatch, code, said):
    monkeypatch.setattr(work, "sys", SimpleNamespace(platform="win32"))
    assert work._ending(code) == said


def test_windows_is_asked_to_end_by_a_break_to_the_group_that_was_made_for_it(monkeypatch):
    got = []
    process = SimpleNamespace(send_signal=got.append, kill=lambda: got.append("killed"))
    monkeypatch.setattr(processes, "os", Windows())
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)
    processes._signal_group(process, force=False)
    processes._signal_group(process, force=True)
    assert got == [1, "killed"]


def test_a_log_on_windows_is_read_in_the_systems_own_encoding(monkeypatch):
    monkeypatch.setattr(processes, "os", Windows())
    monkeypatch.setattr(processes.locale, "getpreferredencoding", lambda **_: "cp1252")
    assert processes._decoded("Café".encode("cp1252")) == "Café"
    assert processes._decoded("Café".encode()) == "Café"


@pytest.mark.parametrize("text, below", [("  2 1\n  3 2\n  4 3\n  9 8\n", [2, 3, 4]), ("", [])])
def test_macos_tells_what_a_process_has_started_by_its_list_of_processes(monkeypatch, text, below):
    monkeypatch.setattr(processes, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(processes, "_ps", lambda *_: text.splitlines())
    assert sorted(processes.descendants(1)) == below
