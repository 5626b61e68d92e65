"""Where results go: nothing that is read is written over, nothing takes another's place, and what is kept is said."""

import json
import os
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import LEG, keys_in, make_shot, save

ROOT = Path(__file__).resolve().parents[3]
posix_only = pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners as POSIX has them")


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def assert_refused(twobone, folder, *words, code=2, hint=""):
    before = contents(folder)
    ended = twobone(*words)
    assert ended.code == code, ended.complained
    assert hint in ended.complained
    assert len(ended.complained.splitlines()) == 1
    assert contents(folder) == before


@pytest.mark.parametrize("flag", ["--save", "--report", "--job", "--file"])
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_name_is_a_variable_that_was_not_set_and_is_refused(twobone, shot, flag, empty):
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, f"{flag}={empty}", hint="empty")


def test_a_folder_is_not_the_shot_itself(twobone, shot, monkeypatch):
    monkeypatch.chdir(shot.parent)
    assert_refused(twobone, shot.parent, "bake", "--file", "shot.blend", *LEG, "--save", ".", code=1, hint="folder")


@pytest.mark.parametrize("command", ["bake", "report", "clear", "target"])
def test_a_report_never_replaces_the_shot(twobone, shot, command):
    assert_refused(twobone, shot.parent, command, "--file", shot, *LEG, "--report", shot, hint="--file")


def test_a_report_never_replaces_another_shot(twobone, shot):
    (shot.parent / "other").write_bytes(shot.read_bytes())
    for name in ("another.blend", "other"):
        words = ["bake", "--file", shot, *LEG, "--report", shot.parent / name]
        assert_refused(twobone, shot.parent, *words, hint="Name another file")


def test_the_shot_never_replaces_what_is_no_shot(twobone, shot):
    (shot.parent / "notes.txt").write_text("keep me")
    words = ["bake", "--file", shot, *LEG, "--save", shot.parent / "notes.txt"]
    assert_refused(twobone, shot.parent, *words, code=1, hint="not a .blend file")


def test_no_output_replaces_the_job(twobone, shot):
    job = shot.parent / "job.json"
    job.write_text(json.dumps({"plane": "XZ"}))
    for flag in ("--report", "--save"):
        assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, "--job", job, flag, job, hint="--job")


@pytest.mark.parametrize("one, other", [("--report", "--save"), ("--save", "--report")])
def test_two_outputs_never_share_a_file(twobone, shot, one, other):
    goal = shot.parent / "new.out"
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, one, goal, other, shot.parent / "." / "new.out", hint=one)


@posix_only
def test_two_outputs_never_share_a_file_through_links(twobone, shot):
    (shot.parent / "link.json").symlink_to("real.json")
    words = ["bake", "--file", shot, *LEG, "--report", shot.parent / "link.json", "--save", shot.parent / "real.json"]
    assert_refused(twobone, shot.parent, *words, hint="--save")
    (shot.parent / "other.json").symlink_to(shot)
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, "--report", shot.parent / "other.json", hint="--file")
    os.link(shot, shot.parent / "hard.json")
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, "--report", shot.parent / "hard.json", hint="--file")


@pytest.fixture
def linking(tmp_path, registered_addon):
    """A shot whose rig hangs from an object of a library."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Car", None))
    save(tmp_path / "car.blend")
    rig, _ = make_shot()
    with bpy.data.libraries.load(str(tmp_path / "car.blend"), link=True) as (_, wanted):
        wanted.objects = ["Car"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    rig.parent = wanted.objects[0]
    save(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


@pytest.mark.parametrize("flag", ["--save", "--report"])
def test_a_library_of_the_shot_is_never_written_over(twobone, linking, flag):
    library = linking.parent / "car.blend"
    words = ["bake", "--file", linking, *LEG, flag, library]
    assert_refused(twobone, linking.parent, *words, code=1 if flag == "--save" else 2, hint="car.blend")


def test_a_missing_folder_is_said_before_anything_is_saved(twobone, shot):
    words = ["bake", "--file", shot, *LEG, "--save", shot.parent / "new.blend", "--report", shot.parent / "none" / "r.json"]
    assert_refused(twobone, shot.parent, *words, code=1, hint="does not exist")


@posix_only
def test_a_pipe_is_written_into_and_stays_a_pipe(twobone, shot):
    pipe = shot.parent / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()), daemon=True)
    reader.start()
    assert twobone("bake", "--file", shot, *LEG, "--report", pipe).code == 0
    reader.join(30)
    assert json.loads(got[0])["frames"] == 24
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, "--save", pipe, hint="stream")


@pytest.mark.skipif(not Path("/dev/null").is_char_device(), reason="no /dev/null")
def test_a_device_is_written_into_and_stays_a_device(twobone, shot):
    assert twobone("bake", "--file", shot, *LEG, "--report", "/dev/null", "--quiet").code == 0
    assert Path("/dev/null").is_char_device()
    assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, "--save", "/dev/null", hint="stream")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets")
@pytest.mark.parametrize("flag", ["--save", "--report"])
def test_a_socket_is_refused(twobone, shot, flag, monkeypatch):
    monkeypatch.chdir(shot.parent)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door")
        assert_refused(twobone, shot.parent, "bake", "--file", shot, *LEG, flag, "door", code=1, hint="socket")


@posix_only
@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
def test_standard_output_is_written_even_where_it_is_a_file(shot, name):
    """As a farm does it: `> report.json`. The file is the shell's and must stay the one it has open.

    Blender 5 names its colours in the environment of what it starts, and greets a process that has such a name.
    """
    colours = next(Path(bpy.utils.system_resource("DATAFILES")).glob("colormanagement/config.ocio"))
    with (shot.parent / "report.json").open("wb") as out:
        command = [sys.executable, "-m", "twobone_addon", "bake", "--file", str(shot), *LEG, "--report", name]
        subprocess.run(command, check=True, stdout=out, env=os.environ | {"PYTHONPATH": str(ROOT), "OCIO": str(colours)})
        assert os.path.samestat(os.fstat(out.fileno()), (shot.parent / "report.json").stat())
    assert json.loads((shot.parent / "report.json").read_text())["frames"] == 24


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_are_kept(twobone, shot):
    os.chown(shot, 1234, 2345)
    shot.chmod(0o2664)
    assert twobone("bake", "--file", shot, *LEG, "--save").code == 0
    kept = shot.stat()
    assert (kept.st_uid, kept.st_gid, stat.S_IMODE(kept.st_mode)) == (1234, 2345, 0o2664)
    assert len(keys_in(shot)) == 24 * 8


@posix_only
def test_an_owner_that_cannot_be_kept_is_said(twobone, shot, monkeypatch):
    def not_allowed(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", not_allowed)
    report = shot.parent / "report.json"
    ended = twobone("bake", "--file", shot, *LEG, "--save", "--report", report)
    assert ended.code == 0
    assert "owner" in ended.complained
    assert any("owner" in warning for warning in json.loads(report.read_text())["provenance"]["warnings"])


def test_other_names_of_the_file_keep_what_was_and_that_is_said(twobone, shot):
    before = shot.read_bytes()
    os.link(shot, shot.with_name("backup.blend"))
    ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert (ended.code, "hard links" in ended.complained) == (0, True)
    assert shot.with_name("backup.blend").read_bytes() == before
    assert len(keys_in(shot)) == 24 * 8


def test_a_file_that_is_there_is_kept_where_that_is_asked_for(twobone, shot):
    words = ["bake", "--file", shot, *LEG, "--no-clobber", "--save"]
    assert_refused(twobone, shot.parent, *words, code=1, hint="--no-clobber")
    assert twobone(*words, shot.parent / "new.blend").code == 0
    assert_refused(twobone, shot.parent, *words, shot.parent / "new.blend", code=1, hint="--no-clobber")
