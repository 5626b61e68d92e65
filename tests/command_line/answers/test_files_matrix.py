"""Every path that a command writes, and everything that may lie there: it is kept, and what is written is whole."""

import errno
import hashlib
import os
import shutil
import subprocess

import bpy
import pytest

from tests.command_line.shots import LEG, make_shot, save
from tests.command_line.stopped.killing import python
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts
from twobone_addon import files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
SUFFIX = {"save": ".blend", "report": ".json", "picture": ".svg", "contacts": ".npz"}
PRECIOUS = b"my only copy"


def build_walk():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.view_layer.objects.active, states = build_walker(Walk(frames=30))
    key_contacts(bpy.context.view_layer.objects.active, states)
    for chain, side in zip(bpy.context.view_layer.objects.active.twobone.chains, ("LEFT", "RIGHT"), strict=True):
        chain.side = side


@pytest.fixture
def write(twobone, tmp_path, registered_addon):
    """Write to a path of one kind by a command, and return how that ended."""
    build_walk()
    save(tmp_path / "walk.blend")
    make_shot(tmp_path / "leg.blend")

    return lambda kind, goal, *words: twobone(*words_for(kind, goal, tmp_path), *words)


def words_for(kind, goal, place):
    """The command that writes a path of one kind, of a shot in a folder."""
    if kind == "picture":
        return ["audit", "--file", place / "walk.blend", "--picture", goal]
    if kind == "contacts":
        return ["export-contacts", "--file", place / "walk.blend", "--armature", "Walker", "--filepath", goal, "--overwrite"]
    return ["bake", "--file", place / "leg.blend", *LEG, f"--{kind}", goal]


def symbolic_link(goal):
    goal.symlink_to(goal.with_name("precious"))


def dangling_link(goal):
    goal.symlink_to(goal.with_name("nowhere"))


def link_to_an_own_file(goal):
    shutil.copy(goal.with_name(f"own{goal.suffix}"), goal.with_name("target"))
    goal.symlink_to("target")


def foreign_file(goal):
    goal.write_bytes(PRECIOUS)


def hard_link_to_a_foreign_file(goal):
    goal.hardlink_to(goal.with_name("precious"))


def read_only(goal):
    shutil.copy(goal.with_name(f"own{goal.suffix}"), goal)
    goal.chmod(0o444)


def folder(goal):
    goal.mkdir()


def the_shot(goal):
    goal.hardlink_to(goal.with_name("walk.blend" if goal.suffix in {".svg", ".npz"} else "leg.blend"))


HAZARDS = (
    symbolic_link,
    dangling_link,
    link_to_an_own_file,
    foreign_file,
    hard_link_to_a_foreign_file,
    read_only,
    folder,
    the_shot,
)


def contents(place):
    return {
        path.name: (path.is_symlink(), hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "")
        for path in place.iterdir()
    }


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.__name__)
@pytest.mark.parametrize("kind", SUFFIX)
def test_what_may_not_be_replaced_is_kept(write, tmp_path, kind, hazard):
    if (kind, hazard) == ("save", the_shot):
        pytest.skip("to save over the shot is what --save is for")
    (tmp_path / "precious").write_bytes(PRECIOUS)
    assert write(kind, tmp_path / f"own{SUFFIX[kind]}").code == 0
    goal = tmp_path / f"goal{SUFFIX[kind]}"
    hazard(goal)
    before = contents(tmp_path)
    ended = write(kind, goal)
    assert (ended.code in {1, 2}, len(ended.complained.splitlines())) == (True, 1), ended.complained
    assert contents(tmp_path) == before


@pytest.mark.parametrize("kind", ["save", "picture", "contacts"])
def test_a_pipe_is_not_waited_for(write, tmp_path, kind):
    goal = tmp_path / f"goal{SUFFIX[kind]}"
    os.mkfifo(goal)
    assert write(kind, goal).code in {1, 2}
    assert goal.is_fifo()


def after_the_first_look(save, patch):
    look = files.refuse_unwritable

    def looked(goal, *how):
        found = look(goal, *how)
        save()
        return found

    for place in ("files", "command_line.shot_files", "command_line.outputs"):
        patch.setattr(f"twobone_addon.{place}.refuse_unwritable", looked, raising=False)


def while_the_motion_is_sampled(save, patch):
    del patch
    bpy.app.handlers.persistent(save)
    bpy.app.handlers.frame_change_post.append(save)


def when_the_lock_is_made(save, patch):
    before_each(files, "_made", save, patch)


def before_the_draft_is_flushed(save, patch):
    before_each(files, "flush_to_disk", save, patch)


def after_the_draft_is_flushed(save, patch):
    flush = files.flush_to_disk
    patch.setattr(files, "flush_to_disk", lambda handle: (flush(handle), save()))
    patch.setattr("twobone_addon.command_line.shot_files.flush_to_disk", lambda handle: (flush(handle), save()))


def before_the_last_look(save, patch):
    before_each(files.Lock, "is_held", save, patch)


def before_each(place, name, save, patch):
    own = getattr(place, name)

    def called(*what):
        save()
        return own(*what)

    patch.setattr(place, name, called)
    patch.setattr(f"twobone_addon.command_line.shot_files.{name}", called, raising=False)


MOMENTS = (
    after_the_first_look,
    while_the_motion_is_sampled,
    when_the_lock_is_made,
    before_the_draft_is_flushed,
    after_the_draft_is_flushed,
    before_the_last_look,
)


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
@pytest.mark.parametrize("kind", SUFFIX)
def test_what_is_saved_meanwhile_is_kept_and_so_is_the_result(request, write, kind, moment, is_there):
    """Somebody saves over the goal, from the first look at it to the last one before it is replaced."""
    tmp_path, monkeypatch = request.getfixturevalue("tmp_path"), request.getfixturevalue("monkeypatch")
    goal, saved = tmp_path / f"goal{SUFFIX[kind]}", []
    if is_there:
        assert write(kind, goal).code == 0

    def save_once(*_):
        if not saved:
            saved.append(goal.write_bytes(PRECIOUS))

    try:
        with monkeypatch.context() as patch:
            moment(save_once, patch)
            ended = write(kind, goal)
    finally:
        if save_once in bpy.app.handlers.frame_change_post:
            bpy.app.handlers.frame_change_post.remove(save_once)
    if not saved:
        pytest.skip("this command does not come by there")
    assert goal.read_bytes() == PRECIOUS
    assert ended.code in {1, 2, 6}, (ended.said, ended.complained)
    assert len(ended.complained.splitlines()) == 1, ended.complained
    for kept in tmp_path.glob(f"{goal.name}.unsaved-*"):
        assert (ended.code, str(kept) in ended.complained) == (6, True)
        assert kept.stat().st_size > len(PRECIOUS)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("kind", SUFFIX)
def test_a_full_disk_is_said_and_nothing_is_lost(write, tmp_path, monkeypatch, kind, is_there):
    goal = tmp_path / f"goal{SUFFIX[kind]}"
    if is_there:
        assert write(kind, goal).code == 0
    before = contents(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    for place in ("files", "command_line.shot_files"):
        monkeypatch.setattr(f"twobone_addon.{place}.flush_to_disk", full)
    ended = write(kind, goal)
    assert (ended.code, len(ended.complained.splitlines()), "disk is full" in ended.complained) == (6, 1, True), ended.complained
    assert contents(tmp_path) == before


KILLED = """
import os, signal, sys
from twobone_addon import files, registration
registration.register()
from twobone_addon.command_line.command import main
from twobone_addon.command_line import shot_files
def killed(*_): os.kill(os.getpid(), signal.SIGKILL)
files.publish = shot_files.publish = killed
main(sys.argv[1:])
"""


@pytest.mark.parametrize("kind, is_there", zip(SUFFIX, [True, False, True, False], strict=True))
def test_killed_between_draft_and_rename_the_goal_is_as_before_and_the_next_run_tidies(write, tmp_path, kind, is_there):
    goal = tmp_path / f"goal{SUFFIX[kind]}"
    if is_there:
        assert write(kind, goal).code == 0
    before = contents(tmp_path)
    with python(["-c", KILLED, *map(str, words_for(kind, goal, tmp_path))], stderr=subprocess.PIPE) as process:
        process.communicate(timeout=120)
    assert process.returncode == -9
    after = contents(tmp_path)
    left = after.keys() - before.keys()
    assert left
    assert all(name.startswith(".twobone-") for name in left)
    assert {name: after[name] for name in before} == before
    assert write(kind, goal).code == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", ["save", "picture"])
def test_a_dry_run_writes_nothing(write, tmp_path, kind):
    before = contents(tmp_path)
    assert write(kind, tmp_path / f"goal{SUFFIX[kind]}", "--dry-run").code == 0
    assert contents(tmp_path) == before


def test_two_outputs_and_a_job_never_share_a_file(write, twobone, tmp_path):
    for words in (["--report", tmp_path / "a.svg"], ["--job", tmp_path / "a.svg"]):
        before = contents(tmp_path)
        assert write("picture", tmp_path / "a.svg", *words).code == 2
        assert contents(tmp_path) == before
    job = tmp_path / "job.json"
    job.write_text('{"use": "audit", "picture": "job.json"}')
    assert twobone("audit", "--file", tmp_path / "walk.blend", "--job", job).code != 0
    assert job.read_text() == '{"use": "audit", "picture": "job.json"}'


@pytest.mark.parametrize("name", ["..", ".", "../../evil", "a/b"])
def test_no_name_of_an_action_leads_out_of_the_folder(write, tmp_path, name):
    build_walk()
    bpy.data.actions[0].name = name
    save(tmp_path / "walk.blend")
    place = tmp_path / "pictures" / "deep"
    place.mkdir(parents=True)
    assert write("picture", place / "{action}" / "p.svg").code == 0
    assert [path.is_relative_to(place) for path in tmp_path.rglob("*.svg")] == [True]
