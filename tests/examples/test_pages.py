"""Every script and command on the pages does what it says, when it is copied from there."""

import importlib.util
import json
import os
import re
import runpy
import shlex
import subprocess
import sys

import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.house.source import ROOT, name_of

# The names of its shots alone: the scene itself needs bpy.
PLAIN, ON_IK, WITH_CONTROLS, RETARGETED = "plain.blend", "on_ik.blend", "with_controls.blend", "retargeted.blend"
RIGIFY, NAMES = "rigify.blend", "names.json"

SCENE = ROOT / "tests" / "examples" / "page_scene.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
JOB_PAGE = ROOT / "docs" / "command_line.md"
# These have a shot of their own: test_recipes.py.
RECIPES = ROOT / "docs" / "recipes.md"
# The extension as it is installed: tests/real_program imports it from there.
INSTALLED = "bl_ext.user_default.twobone"
# What a script or command speaks of: where none of these words is in it, the plain shot has all of it.
# Where Rigify's names are in it, the shot has a human that Rigify made.
SHOT_FOR = {
    r"thigh_fk|\"rig\"|--armature rig\b": RIGIFY,
    r"target_bone=|twobone\.switch|^switch ": WITH_CONTROLS,
    "convert": ON_IK,
    "finish_retarget": RETARGETED,
}

SAVES_NOTHING = {"report", "chains", "audit", "export-contacts"}
JOINTS_IN_SHOT, AS_AT_REST = 4, 0.99
MANY_NAMES = 6

pytestmark = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="there is no Blender in this Python")


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


def numbered(found):
    return [pytest.param(text, id=f"{name_of(page)}-{number}") for number, (page, text) in enumerate(found)]


SCRIPTS = [(page, script) for page in PAGES if page != RECIPES for script in blocks(page, "python")]
ON_SHOT = re.compile(r"^ *blender (?:--background )?shot\.blend --command twobone (.*)$", re.MULTILINE | re.IGNORECASE)
COMMANDS = [(page, command) for page in PAGES for command in ON_SHOT.findall(page.read_text(encoding="utf-8"))]
OF_JOB = re.compile(r"^blender (?:--background )?--command twobone (batch .*)$", re.MULTILINE)
BATCHES = [(page, command) for page in PAGES for command in OF_JOB.findall(page.read_text(encoding="utf-8"))]
# What the scripts for a shell do is tried where a farm is to be had: tests/command_line/batch/test_slurm.py.
FARMS = ROOT / "docs" / "farms.md"


@pytest.fixture(scope="module")
def shots(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shots")
    run([sys.executable, str(SCENE), str(folder)], folder)
    return folder


@pytest.fixture
def folder(shots, tmp_path, monkeypatch, registered_addon):
    """A folder with the job of the page about the command line and a shot for it, in which a script and a command run."""
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots" / "first.blend").write_bytes((shots / PLAIN).read_bytes())
    (tmp_path / "JOB.toml").write_text(blocks(JOB_PAGE, "toml")[0], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))  # There Blender 4.2 starts relative paths, since a shell keeps it up to date.
    return tmp_path


def put_shot(shots, folder, text):
    """Where IK is converted the shot has some; else it would act on top of what is baked. Controls are for who names them."""
    shot = next((shot for words, shot in SHOT_FOR.items() if re.search(words, text)), PLAIN)
    for name in ("shot.blend", "SHOT.blend"):
        (folder / name).write_bytes((shots / shot).read_bytes())


def run(command, folder):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PWD": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_IN_SECONDS
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def command_here(*arguments):
    """The command in this Blender, to which its start adds nothing that is on a page: tests/command_line starts some."""
    from twobone_addon.command_line.command import main

    assert main(list(arguments)) == 0


@pytest.mark.parametrize("script", numbered(SCRIPTS))
def test_a_script_runs_as_it_stands_and_every_bake_in_it_reaches(script, shots, folder):
    put_shot(shots, folder, script)
    path = folder / "script.py"
    here = {"path/to/the/checkout": ROOT.as_posix(), f"from {INSTALLED} import": "import"}
    is_fresh = "twobone_addon" in script
    for there, place in here.items():
        script = script.replace(there, place)
    path.write_text(script, encoding="utf-8")
    # What a script imports of the add-on has to be there in a Blender of its own, where nothing else has imported it.
    joints, report = in_own_blender(folder, path) if is_fresh else in_this_blender(folder, path)
    assert_as_at_rest(joints)
    if re.search(r"(bpy\.ops\.twobone|twobone_addon)\.bake(_all)?\(", script):
        assert report["reached"] == report["frames"] > 0


def in_own_blender(folder, script):
    """How well each joint bends as at rest after a script, and the last report."""
    told = run([sys.executable, str(SCENE), "shot.blend", str(script)], folder)
    (joints,), (report,) = (re.findall(rf"^{name} (.+)$", told, re.MULTILINE) for name in ("SEEN", "LAST REPORT:"))
    return json.loads(joints), json.loads(report)


def in_this_blender(folder, script):
    """The same, here."""
    import bpy

    open_file(folder / "shot.blend")
    runpy.run_path(str(script))
    return seen_joints(), json.loads(bpy.context.window_manager.twobone_report or "null")


def open_file(path):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))


def seen_joints():
    from tests.examples.seen import characters

    return [cosine for character in characters().values() for cosine in character["joints"].values()]


@pytest.mark.parametrize("command", numbered(COMMANDS))
def test_a_command_on_a_shot_succeeds_as_it_stands(command, shots, folder):
    put_shot(shots, folder, command)
    name, *flags = shlex.split(command)
    if "--save" not in flags and name not in SAVES_NOTHING:
        flags += ["--save", "saved.blend"]
    command_here(name, "--file", "shot.blend", *flags)
    assert_joints_bend_as_at_rest(max(folder.glob("*.blend"), key=lambda path: path.stat().st_mtime_ns))


def assert_joints_bend_as_at_rest(path):
    """Knees bend about the axis of the rest pose, forwards, and neither bone is twisted in the joint, at every frame."""
    open_file(path)
    assert_as_at_rest(seen_joints())


def assert_as_at_rest(joints):
    assert len(joints) == JOINTS_IN_SHOT
    assert min(joints) > AS_AT_REST


@pytest.mark.parametrize("command", numbered(BATCHES))
def test_a_batch_bakes_the_shots_of_the_job_on_the_page(command, folder):
    for variable, value in {"#NUMBER": "#1", "$SLURM_ARRAY_TASK_ID": "1", "$JOB": "JOB.toml"}.items():
        command = command.replace(variable, value)
    run([sys.executable, "-m", "twobone_addon", *shlex.split(command)], folder)
    assert_joints_bend_as_at_rest(folder / "baked" / "first.blend")


def test_the_job_with_a_shot_that_differs_bakes_it_too(folder):
    import bpy

    (folder / "JOB.toml").write_text(blocks(JOB_PAGE, "toml")[1], encoding="utf-8")
    open_file(folder / "shots" / "first.blend")
    bpy.data.objects["Rig"].name = "Rig.002"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shots" / "sh020.blend"))
    run([sys.executable, "-m", "twobone_addon", "batch", "JOB.toml"], folder)
    for shot in ("first", "sh020"):
        assert_joints_bend_as_at_rest(folder / "baked" / f"{shot}.blend")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_of_a_page_is_tried(page):
    """Here, in the tests of the recipes, or with a farm."""
    tried = {("python", script) for _, script in SCRIPTS} | {("toml", job) for job in blocks(JOB_PAGE, "toml")}
    tried |= {("python", script) for script in blocks(RECIPES, "python")} | {("bash", script) for script in blocks(FARMS, "bash")}
    for language, text in fenced(page):
        lines = text.splitlines() if not language else []
        assert (language, text) in tried or lines, (page, text)
        assert [line for line in lines if not ON_SHOT.fullmatch(line) and not OF_JOB.fullmatch(line)] == []


def test_bones_of_rigs_on_the_pages_are_those_of_real_rigs(shots):
    """Rigify's human, and the rig that Rigify makes of it; recipes have characters of their own."""
    real = json.loads((shots / NAMES).read_text(encoding="utf-8"))
    words = r"upper|lower|tip|toe|bone|target_bone|pole_bone"
    told = [text for page in PAGES if page != RECIPES for _, text in fenced(page)]
    told += [command for _, command in COMMANDS]
    found = {name for text in told for name in re.findall(rf"\b(?:{words}) ?= ?\"([^\"{{]+)\"", text)}
    found |= {name for text in told for name in re.findall(r"--(?:upper|lower|tip) (\S+)", text)}
    assert len(found) > MANY_NAMES
    assert found <= {name for bones in real.values() for name in bones}


def fenced(page):
    """Language and text of each block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def test_the_command_for_two_legs_bends_both_knees_forwards(shots, folder):
    page = JOB_PAGE.read_text(encoding="utf-8")
    (flags,) = re.findall(r"^blender SHOT.blend --command twobone (bake .* --chain .* --chain .*)$", page, re.MULTILINE)
    put_shot(shots, folder, flags)
    command_here(*shlex.split(flags), "--file", "SHOT.blend", "--save", "two.blend")
    assert_joints_bend_as_at_rest(folder / "two.blend")


def test_the_solvers_script_prints_what_its_comments_say():
    (script,) = [text for _, text in SCRIPTS if "solve_two_bone" in text]
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "'TOO_FAR']" in told
