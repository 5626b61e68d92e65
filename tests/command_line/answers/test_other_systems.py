"""What macOS and Windows do otherwise, with the system's own answers stubbed: no test of the systems themselves."""

import errno
import os
import signal
import unicodedata
from types import SimpleNamespace

import pytest

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
    monkeypatch.setattr(outputs, "sys", SimpleNamespace(platform="win32"))
    assert outputs.is_same(tmp_path / "a.blend", tmp_path / "A.BLEND")
    assert outputs.followed(tmp_path / "Z" / "a.blend") == tmp_path / "Z" / "a.blend"


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
