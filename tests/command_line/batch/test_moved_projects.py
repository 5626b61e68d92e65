"""A project is renamed, mounted elsewhere or its job renamed: batches still know what they have saved, by its contents."""

import json
import re
import subprocess
import sys
import tempfile

import pytest

from tests.command_line.jobs import CHAIN, records, write_job
from tests.command_line.shots import make_shot


def move_folder(folder, job):
    moved = folder.with_name(f"{folder.name}, moved")
    folder.rename(moved)
    return moved, job


def rename_job(folder, job):
    (folder / job).rename(folder / "tonight.json")
    return folder, "tonight.json"


def both(folder, job):
    return rename_job(*move_folder(folder, job))


@pytest.mark.parametrize("change", [move_folder, rename_job, both])
def test_a_moved_project_resumes_and_bakes_over_its_own_outputs(run_here, folder, change):
    assert run_here(folder / "job.json").code == 0
    folder, job = change(folder, "job.json")
    assert "1 of 1 shots are done already" in run_here(folder / job, "--resume").said
    write_job(folder, job, bend="NEGATIVE")
    ended = run_here(folder / job, "--resume")
    assert (ended.code, "already" in ended.said) == (0, False)


@pytest.mark.parametrize("change", [move_folder, rename_job, both])
def test_what_an_artist_has_edited_is_kept_wherever_it_lies_by_then(run_here, folder, change):
    assert run_here(folder / "job.json").code == 0
    folder, job = change(folder, "job.json")
    edited = folder / "baked" / "s0.blend"
    make_shot(edited)
    content = edited.read_bytes()
    assert run_here(folder / job, "--resume").code == 1
    assert edited.read_bytes() == content


def test_records_name_nothing_outside_the_project(run_here, folder):
    assert run_here(folder / "job.json").code == 0
    (path,) = (folder / "job.json.reports").iterdir()
    record = json.loads(path.read_text())
    assert (record["shot"], record["output"]) == ("shots/s0.blend", "baked/s0.blend")


DAMAGES = [("output_sha256", []), ("fingerprint", {}), ("report", 5), ("warnings", 5), ("warnings", [5]), ("state", "fine"),
           ("seconds", True), ("exit_code", "0"), ("shot", None), ("output", 3), ("shot", "\ud800"), ("output", "a\0"),
           ("version", 99)]  # fmt: skip


@pytest.mark.parametrize("key, value", DAMAGES)
def test_a_damaged_record_is_named_and_the_batch_goes_on(run_here, folder, key, value):
    make_shot(folder / "shots" / "s1.blend")
    assert run_here(folder / "job.json").code == 0
    path = next(path for path in (folder / "job.json.reports").iterdir() if path.name.startswith("s0"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    ended = run_here(folder / "job.json", "--resume")
    assert (path.name in ended.complained, f'key "{key}"' in ended.complained) == (True, True)
    states = {name: record["state"] for name, record in records(folder).items()}
    # Without its digest an output may be somebody's work.
    assert states == {"s0": "failed" if key == "output_sha256" else "done", "s1": "done"}
    assert run_here(folder / "job.json", "--resume", "--replace").code == 0
    assert "2 of 2 shots are done already" in run_here(folder / "job.json", "--resume").said


def test_a_number_that_is_too_large_is_named_and_the_batch_goes_on(run_here, folder):
    assert run_here(folder / "job.json").code == 0
    (path,) = (folder / "job.json.reports").iterdir()
    path.write_text(re.sub(r'"seconds": [\d.]+', '"seconds": 1e999', path.read_text(), count=1))
    ended = run_here(folder / "job.json", "--resume")
    assert (ended.code, "holds 1e999, not a valid JSON number" in ended.complained) == (1, True)  # It may be somebody's work now.


def test_that_no_records_can_be_kept_is_said_once(run_here, folder):
    make_shot(folder / "shots" / "s1.blend")
    write_job(folder, use="chains", output=None, **dict.fromkeys(CHAIN))
    (folder / "job.json.reports").write_text("")
    ended = run_here(folder / "job.json")
    assert (ended.code, len(ended.complained.splitlines())) == (0, 1)
    assert "job.json.reports" in ended.complained


def test_jobs_of_one_stem_and_shots_named_by_number_have_summaries_of_their_own(run_here, folder):
    jobs = [("j.json", []), ("j.2.json", []), ("j.json", ["--shot", "s0"]), ("j.s0.json", [])]
    for number, (name, words) in enumerate(jobs):
        write_job(folder, name, output=f"out{number}/{{shot}}.blend")
        assert run_here(folder / name, *words).code == 0
    named = ["j.json.summary.json", "j.2.json.summary.json", "j.json.s0.summary.json", "j.s0.json.summary.json"]
    outputs = [json.loads((folder / name).read_text())["shots"][0]["output"] for name in named]
    assert [f"out{number}" in output for number, output in enumerate(outputs)] == [True] * 4


def test_shots_of_one_name_in_several_folders_go_to_folders_like_their_own(run_here, tmp_path, registered_addon):
    for part in ("a", "b"):
        make_shot(tmp_path / "seq" / part / "anim.blend")
    write_job(tmp_path, shots=["**/*.blend"])
    refused = run_here(tmp_path / "job.json")
    assert (refused.code, "Use {path}/{shot} in it" in refused.complained) == (2, True)
    write_job(tmp_path, shots=["**/*.blend"], output="baked/{path}/{shot}.blend")
    for _ in range(2):  # What the first one has saved is no shot of the second.
        assert run_here(tmp_path / "job.json").code == 0
    assert sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "baked").rglob("*.blend")) == [
        "baked/seq/a/anim.blend",
        "baked/seq/b/anim.blend",
    ]


def test_files_that_are_no_shots_since_they_lie_where_outputs_go_are_said(run_here, folder):
    write_job(folder, shots=["**/*.blend"])
    assert run_here(folder / "job.json").code == 0
    assert "No shots, since they lie where outputs go: 1 files" in run_here(folder / "job.json").said


def test_a_path_seen_from_the_job_is_refused_for_a_shot_outside(run_here, folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "s9.blend"
    make_shot(elsewhere)
    write_job(folder, shots=[str(elsewhere)], output="baked/{path}/{shot}.blend")
    refused = run_here(folder / "job.json")
    assert (refused.code, "outside the folder of the job" in refused.complained) == (2, True)


def test_a_lock_of_another_container_with_the_same_name_and_number_is_not_removed(tmp_path, monkeypatch):
    """Containers often share a host name, and each counts its processes from 1."""
    from twobone_addon import files
    from twobone_addon.errors import AgainError

    goal = tmp_path / "shot.blend"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here = files._place()
    for place, is_removed in ((here, True), (f"{here}0", False)):
        monkeypatch.setattr(files, "owner", lambda place=place: f"{ended.pid} {place}")
        with files.locked(goal) as lock:
            content = lock.path.read_bytes()
        lock.path.write_bytes(content)
        monkeypatch.undo()
        if is_removed:
            with files.locked(goal):
                pass
        else:
            with pytest.raises(AgainError, match="another run"), files.locked(goal):
                pass
        lock.path.unlink(missing_ok=True)


def test_what_a_killed_batch_has_left_in_the_temporary_folder_goes_with_the_next_one(run_here, folder, tmp_path, monkeypatch):
    from twobone_addon import files

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    owners = {"left": f"{ended.pid} {files._place()}", "running": files.owner(), "elsewhere": f"{ended.pid} another/place"}
    for name, owner in owners.items():
        (scratch / f"twobone-batch-{name}").mkdir()
        (scratch / f"twobone-batch-{name}" / "owner").write_text(owner)
    (scratch / "twobone-batch-of nobody known").mkdir()
    assert run_here(folder / "job.json").code == 0
    left = {path.name.removeprefix("twobone-batch-") for path in scratch.iterdir()}
    assert left == {"running", "elsewhere", "of nobody known"}
