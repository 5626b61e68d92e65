"""Folders that others may write to: nothing that they put there makes the command write anywhere else."""

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.command_line.shots import LEG, make_shot

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and owners as POSIX has them")


@pytest.fixture
def shot(tmp_path, registered_addon):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "precious.txt").write_text("my only copy")
    make_shot(tmp_path / "shared" / "shot.blend")
    return tmp_path / "shared" / "shot.blend"


def lock_of(goal):
    """Where the documented hidden file lies: its name can be worked out by anybody."""
    return goal.with_name(f".twobone-{hashlib.sha256(goal.name.encode()).hexdigest()[:16]}.lock")


@pytest.mark.parametrize("plant", [Path.symlink_to, Path.hardlink_to])
@pytest.mark.parametrize("flag", ["--save", "--report"])
def test_a_link_in_place_of_the_lock_is_refused_and_what_it_leads_to_is_kept(twobone, shot, plant, flag):
    precious = shot.parent.parent / "home" / "precious.txt"
    goal = shot if flag == "--save" else shot.with_name("report.json")
    plant(lock_of(goal), precious)
    before = shot.read_bytes()
    ended = twobone("bake", "--file", shot, *LEG, flag, goal)
    assert (ended.code, "link" in ended.complained) == (1, True)
    assert precious.read_text() == "my only copy"
    assert shot.read_bytes() == before


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_pipe_in_place_of_the_lock_is_not_waited_for_and_a_folder_is_named(twobone, shot, make):
    make(lock_of(shot))
    ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert (ended.code, str(lock_of(shot)) in ended.complained) == (1, True)


def test_properties_of_a_file_are_never_given_to_what_lies_in_its_drafts_place(tmp_path):
    from twobone_addon.files import content_of, locked, publish

    precious, goal = tmp_path / "precious.txt", tmp_path / "shot.blend"
    for path in (precious, goal):
        path.touch()
    precious.chmod(0o600)
    goal.chmod(0o666)
    with locked(goal) as lock:
        lock.draft.symlink_to(precious)
        with pytest.raises(OSError, match="symbolic links"):
            publish(lock, content_of(goal))
    assert stat.S_IMODE(precious.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="becomes another user, which only root can")
def test_a_folder_without_the_right_to_write_is_told_by_that_before_anything_is_saved(twobone, registered_addon):
    with tempfile.TemporaryDirectory() as place:  # Others may not look into pytest's own.
        shot, open_folder = Path(place, "home", "shot.blend"), Path(place, "open")
        make_shot(shot)
        secret = shot.with_name("secret.blend")
        secret.touch(0o600)
        open_folder.mkdir()
        os.chown(open_folder, 65534, 65534)
        for folder in (Path(place), shot.parent):
            folder.chmod(0o755)
        try:
            os.seteuid(65534)
            for words in (["--save"], ["--save", open_folder / "a.blend", "--report", shot.with_name("report.json")]):
                ended = twobone("bake", "--file", shot, *LEG, *words)
                assert (ended.code, "may not be written" in ended.complained) == (1, True), ended.complained
            ended = twobone("bake", "--file", secret, *LEG)
            assert (ended.code, "lacks permission" in ended.complained) == (1, True), ended.complained
        finally:
            os.seteuid(0)
        assert not list(open_folder.iterdir())


@pytest.mark.parametrize(
    "refusal",
    [(28, "disk is full", 6), (13, "lacks permission", 1), (30, "read-only", 1), (5, "Input/output error", 1)],
)
def test_what_the_system_refuses_is_said_in_its_own_words(twobone, shot, monkeypatch, refusal):
    number, words, code = refusal

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("twobone_addon.files.flush_to_disk", refuse)
    ended = twobone("bake", "--file", shot, *LEG, "--report", shot.with_name("report.json"))
    assert (ended.code, words in ended.complained) == (code, True), ended.complained
    assert sorted(path.name for path in shot.parent.iterdir()) == ["shot.blend"]


def run(words, shell_words):
    command = f'exec "$0" -m twobone_addon "$@" {shell_words}'
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, *map(str, words)], env=environment, capture_output=True, text=True, check=False
    )


def test_a_report_to_standard_error_is_added_to_the_log_that_it_goes_to(shot):
    log = shot.with_name("log.txt")
    log.write_text("line one of the log\n")
    assert run(["report", "--file", shot, *LEG, "--report", "/dev/stderr"], f"2>> '{log}'").returncode == 0
    text = log.read_text()
    assert text.startswith("line one of the log\n")
    assert '"provenance"' in text


def test_a_closed_stream_is_no_error_and_nothing_is_printed_into_a_file_of_ours(shot):
    assert run(["--version"], ">&-").returncode == 0
    assert run(["bake", "--file", shot, *LEG, "--save", "--report", shot.with_name("r.json")], ">&- 2>&- <&-").returncode == 0
    assert shot.read_bytes()[:4] in {b"BLEN", b"\x28\xb5\x2f\xfd"}
