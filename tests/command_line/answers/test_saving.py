"""What lies on disk is always whole: the old file or the new one, never a part, and no litter beside it."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import LEG, keys_in, make_shot, save

ROOT = Path(__file__).resolve().parents[3]
# Each round starts Blender anew; the full number is for a release: TWOBONE_KILL_ROUNDS=100.
ROUNDS = int(os.environ.get("TWOBONE_KILL_ROUNDS", "3"))
ZSTANDARD, PLAIN = b"\x28\xb5\x2f\xfd", b"BLENDER"

# Saves the same file over and over, each time with one more object than before.
SAVE_FOREVER = """
import sys, itertools, bpy
from pathlib import Path
from twobone_addon.command_line.shot_files import save_shot
from twobone_addon.files import content_of, locked
goal = Path(sys.argv[1])
bpy.ops.wm.open_mainfile(filepath=str(goal))
print("ready", flush=True)
for number in itertools.count():
    bpy.data.scenes[0]["number"] = number
    with locked(goal) as lock:
        save_shot(lock, content_of(goal), lambda content: None)
"""


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def names_beside(path):
    return sorted(entry.name for entry in path.parent.iterdir())


def test_save_alone_saves_over_the_shot_and_leaves_no_backup(twobone, shot):
    assert twobone("bake", "--file", shot, *LEG, "--save").code == 0
    assert names_beside(shot) == ["shot.blend"]
    assert len(keys_in(shot)) == 24 * 8


def test_without_save_the_shot_stays_as_it_is(twobone, shot):
    before = shot.read_bytes()
    assert twobone("bake", "--file", shot, *LEG).code == 0
    assert shot.read_bytes() == before


@pytest.mark.parametrize("compress, magic", [(True, ZSTANDARD), (False, PLAIN)])
def test_compression_is_kept(twobone, tmp_path, registered_addon, compress, magic):
    make_shot(tmp_path / "shot.blend", compress=compress)
    assert twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--save", tmp_path / "new.blend").code == 0
    assert (tmp_path / "new.blend").read_bytes().startswith(magic)


def test_paths_in_the_shot_still_lead_where_they_led(twobone, tmp_path, registered_addon):
    make_shot()
    save(tmp_path / "shot.blend")
    picture = bpy.data.images.new("picture", 1, 1)
    picture.source, picture.filepath, picture.use_fake_user = "FILE", "//pictures/a.png", True
    save(tmp_path / "shot.blend")
    (tmp_path / "below").mkdir()
    twobone("bake", "--file", tmp_path / "shot.blend", *LEG, "--save", tmp_path / "below" / "new.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "below" / "new.blend"))
    assert Path(bpy.path.abspath(bpy.data.images["picture"].filepath)).resolve() == tmp_path / "pictures" / "a.png"


def test_a_link_stays_a_link_and_permissions_stay_as_they_are(twobone, shot):
    link = shot.with_name("link.blend")
    link.symlink_to(shot)
    shot.chmod(0o640)
    assert twobone("bake", "--file", link, *LEG, "--save").code == 0
    assert link.is_symlink()
    assert shot.stat().st_mode & 0o777 == 0o640
    assert len(keys_in(shot)) == 24 * 8


def test_a_read_only_shot_is_refused_before_baking(twobone, shot):
    shot.chmod(0o444)
    ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert ended.code == 1
    assert "read-only" in ended.complained
    assert names_beside(shot) == ["shot.blend"]


@pytest.mark.parametrize("goal, hint", [("none/new.blend", "does not exist"), (".", "folder")])
def test_a_goal_that_cannot_be_is_refused(twobone, shot, goal, hint):
    ended = twobone("bake", "--file", shot, *LEG, "--save", f"{shot.parent}/{goal}" if goal != "." else f"{shot.parent}/.")
    assert ended.code == 1
    assert hint in ended.complained


def test_save_alone_needs_a_file_that_was_opened(twobone, registered_addon):
    make_shot()
    ended = twobone("bake", *LEG, "--save")
    assert ended.code == 2
    assert "after --save" in ended.complained


def test_a_full_disk_leaves_the_old_file(twobone, shot, monkeypatch):
    before = shot.read_bytes()

    def no_space(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    ended = twobone("bake", "--file", shot, *LEG, "--save")
    assert ended.code == 6  # Try again.
    assert "disk is full" in ended.complained
    assert shot.read_bytes() == before
    assert names_beside(shot) == ["shot.blend"]


@pytest.fixture
def small_disk(tmp_path):
    """A folder that is a disk of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=False, capture_output=True).returncode:
        pytest.skip("mounts a disk, which only root can")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.skipif(shutil.which("mount") is None or not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounts a disk")
def test_a_disk_that_fills_up_while_the_shot_is_written_is_told_by_that(twobone, shot, small_disk):
    (small_disk / "fill").write_bytes(bytes((2 << 20) - shot.stat().st_size // 2))
    ended = twobone("bake", "--file", shot, *LEG, "--save", small_disk / "baked.blend")
    assert (ended.code, "disk is full" in ended.complained) == (6, True), ended.complained
    assert names_beside(small_disk / "fill") == ["fill"]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_at_any_moment_the_file_is_whole(shot):
    """A process that saves without pause is killed: Blender must read the file, old or new, each time."""
    chance = random.Random(6)  # noqa: S311 - moments, not secrets
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for _ in range(ROUNDS):
        command = [sys.executable, "-c", SAVE_FOREVER, str(shot)]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as saver:
            assert any(b"ready" in line for line in saver.stdout)
            time.sleep(chance.uniform(0.0, 0.3))
            saver.send_signal(signal.SIGKILL)
        bpy.ops.wm.open_mainfile(filepath=str(shot))
        assert {"Rig", "Target"} <= set(bpy.data.objects.keys())
