"""The Flamenco job type, run in a JavaScript engine against the documented script interface."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPT = HERE.parents[2] / "examples" / "flamenco" / "twobone_bake.js"


@pytest.fixture(scope="module")
def compile_job():
    """Settings to what the Manager gets: the job type and its tasks."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no JavaScript engine: put node on PATH")

    def compiled(**settings):
        command = [node, str(HERE / "flamenco_manager.js"), str(SCRIPT), json.dumps(settings)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return compiled


def words_of(task):
    """The words Blender is started with: the worker puts them together in this order."""
    (command,) = task["commands"]
    parameters = command["parameters"]
    return [parameters["exe"], parameters["exeArgs"], *parameters["argsBefore"], parameters["blendfile"], *parameters["args"]]


def test_each_shot_is_a_task_that_bakes_it(compile_job):
    tasks = compile_job(shots="/p/a.blend; /p/b.v2.blend\n", job_file="/p/walk.toml", output_folder="/p/baked", strict=True)[
        "tasks"
    ]
    assert [(task["name"], task["type"]) for task in tasks] == [("bake-a", "blender"), ("bake-b.v2", "blender")]
    assert words_of(tasks[1]) == [
        "{blender}", "-b -Y", "/p/b.v2.blend", "--command", "twobone", "bake", "--job", "/p/walk.toml", "--strict",
        "--save", "/p/baked/b.v2.blend", "--report", "/p/baked/b.v2.json",
    ]  # fmt: skip


def test_without_a_job_file_the_stored_chains_are_baked(compile_job):
    (task,) = compile_job(shots="/p/a.blend", job_file="", output_folder="/p/baked", strict=False)["tasks"]
    assert "--stored" in words_of(task)
    assert "--job" not in words_of(task)


def test_the_command_line_understands_every_task(compile_job, registered_addon):
    from twobone_addon.command_line.command import parse

    for job_file, strict in (("", False), ("/p/walk.toml", True)):
        (task,) = compile_job(shots="/p/a.blend", job_file=job_file, output_folder="/p/baked", strict=strict)["tasks"]
        found = parse(words_of(task)[5:])
        assert (found.command, found.strict, found.stored) == ("bake", strict, not job_file)


@pytest.mark.parametrize(
    "shot, folder",
    [
        ("/p/a.blend", "/p"),
        ("/p/a.blend", "/p/"),
        ("/p/b/../a.blend", "/p/./"),
        ("C:\\p\\A.blend", "c:/P"),
        ("/p/b.blend;/q/a.blend", "/q"),
    ],
)
def test_a_folder_that_holds_a_shot_is_no_output_folder(compile_job, shot, folder):
    with pytest.raises(AssertionError, match="saved over"):
        compile_job(shots=shot, job_file="", output_folder=folder, strict=False)


@pytest.mark.parametrize(
    "shots, hint",
    [
        ("", "No shots"),
        (" ; ", "No shots"),
        ("/p/a.blend;/q/a.blend", "one file"),
        ("/p/Walk.blend; /q/walk.blend", "one file"),  # On some systems.
        ("D:\\p\\walk.blend; E:\\q\\WALK.blend", "one file"),
    ],
)
def test_jobs_that_cannot_be_are_refused_at_submission(compile_job, shots, hint):
    with pytest.raises(AssertionError, match=hint):
        compile_job(shots=shots, job_file="", output_folder="/p/baked", strict=False)


def test_scripts_run_only_when_somebody_says_so(compile_job):
    for scripts, words in ((False, "-b -Y"), (True, "-b -y")):
        (task,) = compile_job(shots="/p/a.blend", output_folder="/p/baked", scripts=scripts)["tasks"]
        assert words_of(task)[1] == words


def test_every_other_use_is_a_command_that_exists(compile_job, registered_addon):
    from twobone_addon.command_line.command import parse

    found = compile_job(shots="/p/a.blend", output_folder="/p/baked")
    (uses,) = (setting["choices"] for setting in found["type"]["settings"] if setting["key"] == "use")
    for use in uses:
        (task,) = compile_job(shots="/p/a.blend", output_folder="/p/baked", use=use, strict=True)["tasks"]
        assert parse(words_of(task)[5:]).command == use
    assert {"align", "convert", "plant", "contacts", "fit-root"} <= set(uses)
