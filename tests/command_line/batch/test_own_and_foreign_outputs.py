"""What a batch may replace: only what batches of its job have saved and nobody has touched since."""

import csv
import hashlib
import json
import shutil
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import keys_in, make_shot, save

CHAIN = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}


@pytest.fixture
def folder(tmp_path, registered_addon):
    make_shot(tmp_path / "shots" / "s0.blend")
    write_job(tmp_path)
    return tmp_path


def write_job(folder, name="job.json", **changes):
    job = {"shots": ["shots/*.blend"], "output": "baked/{shot}.blend", **CHAIN} | changes
    (folder / name).write_text(json.dumps({key: value for key, value in job.items() if value is not None}))


def polish(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.data.objects.new("two days of polish", None).use_fake_user = True
    bpy.ops.wm.save_mainfile()
    path.with_suffix(".blend1").unlink(missing_ok=True)


def state(folder, name="job.summary.json"):
    (record,) = json.loads((folder / name).read_text())["shots"]
    return record["state"], record["reason"]


@pytest.mark.parametrize("words", [["--resume"], []])
def test_an_output_that_somebody_has_worked_on_is_replaced_only_when_that_is_said(twobone, folder, words):
    output = folder / "baked" / "s0.blend"
    assert twobone("batch", folder / "job.json").code == 0
    polish(output)
    polished = output.read_bytes()
    assert twobone("batch", folder / "job.json", *words).code == 1
    assert state(folder)[0] == "failed"
    assert "--replace" in state(folder)[1]
    assert output.read_bytes() == polished
    assert twobone("batch", folder / "job.json", *words, "--replace").code == 0
    assert output.read_bytes() != polished


def test_a_file_that_no_batch_has_saved_is_kept_and_a_saved_one_as_well_where_that_is_asked_for(twobone, folder):
    output = folder / "baked" / "s0.blend"
    make_shot(output)
    own = output.read_bytes()
    assert twobone("batch", folder / "job.json").code == 1
    assert output.read_bytes() == own
    output.unlink()
    assert twobone("batch", folder / "job.json").code == 0
    saved = output.read_bytes()
    assert twobone("batch", folder / "job.json", "--no-clobber").code == 1
    assert "--no-clobber" in state(folder)[1]
    assert output.read_bytes() == saved


def test_after_a_kill_the_batch_knows_its_own_output_by_the_journal(twobone, folder):
    """The kill came after the shot was saved and before the summary said so."""
    output = folder / "baked" / "s0.blend"
    assert twobone("batch", folder / "job.json").code == 0
    assert not list(folder.glob(".*"))  # The journal of a batch that has ended is gone.
    (folder / "job.summary.json").unlink()
    digest = hashlib.sha256(output.read_bytes()).hexdigest()
    half_a_line = '["/somewhere/el'
    (folder / ".job.summary.saved").write_text(json.dumps([str(output), digest]) + "\n" + half_a_line)
    assert twobone("batch", folder / "job.json", "--resume").code == 0
    assert not list(folder.glob(".*"))


def test_versions_never_replace_anything_and_resume_knows_the_last_one(twobone, folder):
    write_job(folder, output="baked/{shot}_v{version}.blend")
    for _ in range(2):
        assert twobone("batch", folder / "job.json").code == 0
    names = ["s0_v001.blend", "s0_v002.blend"]
    assert sorted(path.name for path in (folder / "baked").iterdir()) == names
    assert "done already" in twobone("batch", folder / "job.json", "--resume").said
    assert sorted(path.name for path in (folder / "baked").iterdir()) == names


def test_an_incomplete_shot_is_done_only_as_long_as_that_is_allowed(twobone, folder):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shots" / "s0.blend"))
    driver = bpy.data.objects["Target"].driver_add("location", 1).driver
    driver.expression = '__import__("math").sin(frame)'
    bpy.ops.wm.save_mainfile()
    (folder / "shots" / "s0.blend1").unlink(missing_ok=True)
    assert twobone("batch", folder / "job.json", "--allow-incomplete").code == 0
    assert "done already" in twobone("batch", folder / "job.json", "--allow-incomplete", "--resume").said
    ended = twobone("batch", folder / "job.json", "--resume")
    assert (ended.code, "already" in ended.said) == (4, False)


def test_in_place_and_an_output_of_a_shots_own_are_refused_together(twobone, folder):
    before = (folder / "shots" / "s0.blend").read_bytes()
    write_job(folder, output=None, in_place=True, shots=[{"file": "shots/s0.blend", "output": "baked/x.blend"}])
    ended = twobone("batch", folder / "job.json")
    assert (ended.code, "in place" in ended.complained) == (2, True)
    assert (folder / "shots" / "s0.blend").read_bytes() == before


def test_an_end_before_a_start_is_refused_without_a_range_as_well(twobone, folder):
    write_job(folder, frame_start=9, frame_end=2)
    ended = twobone("batch", folder / "job.json", "--list")
    assert (ended.code, "ends before it starts" in ended.complained) == (2, True)


def test_a_shot_that_could_not_be_read_when_the_list_was_frozen_is_never_baked_unseen(twobone, folder):
    write_job(folder, shots=["shots/s0.blend", "shots/late.blend"])
    ended = twobone("batch", folder / "job.json", "--freeze", folder / "list.json")
    assert (ended.code, "late.blend" in ended.complained) == (0, True)
    shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / "late.blend")
    ended = twobone("batch", folder / "job.json", "--frozen", folder / "list.json", "--shot", "#1")
    assert (ended.code, "Freeze" in ended.said) == (1, True)
    assert not (folder / "baked").exists()


def test_shots_that_are_called_by_numbers_are_meant_by_their_names(folder):
    from twobone_addon.command_line.batch.shots import chosen_shot, find_shots
    from twobone_addon.command_line.job import load_job
    from twobone_addon.command_line.outcomes import UsageError

    for name in ("010", "020", "1", "2"):
        (folder / "shots" / f"{name}.blend").touch()
    write_job(folder)
    job = load_job(folder / "job.json")
    shots = find_shots(job)
    names = [shot.path.stem for shot in shots]
    assert names == ["010", "020", "1", "2", "s0"]
    assert [chosen_shot(job, shots, asked).path.stem for asked in ("010", "020", "#1", "#3", "5")] == [
        "010",
        "020",
        "010",
        "1",
        "s0",
    ]
    for asked in ("1", "2"):
        with pytest.raises(UsageError, match="name of"):
            chosen_shot(job, shots, asked)
    with pytest.raises(UsageError) as refused:
        chosen_shot(job, shots, "9" * 5000)
    assert len(str(refused.value)) < 1000


def test_names_with_dollars_and_brackets_can_be_written(twobone, folder):
    for name in ("a[1]", "cost$5"):
        shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / f"{name}.blend")
    write_job(folder, shots=["shots/a[1].blend", "shots/cost$$5.blend"])
    listed = twobone("batch", folder / "job.json", "--list")
    assert [Path(line.split()[1]).stem for line in listed.said.splitlines()] == ["a[1]", "cost$5"], listed.complained


@pytest.mark.parametrize("flag, name", [("--summary", "list.json"), ("--summary", "notes.json"), ("--freeze", "notes.json")])
def test_what_is_no_earlier_output_of_the_same_kind_is_never_replaced(twobone, folder, flag, name):
    assert twobone("batch", folder / "job.json", "--freeze", folder / "list.json").code == 0
    (folder / "notes.json").write_text('{"shots": ["keep me"]}')
    before = (folder / name).read_bytes()
    words = ["--frozen", folder / "list.json"] if flag == "--summary" else []
    ended = twobone("batch", folder / "job.json", *words, flag, folder / name)
    assert ended.code == 2, ended.said
    assert (folder / name).read_bytes() == before


def test_a_table_of_somebodys_is_never_replaced_and_a_report_replaces_reports_only(twobone, folder):
    (folder / "mine.csv").write_text("shot,artist\ns0,Ann\n")
    ended = twobone("batch", folder / "job.json", "--summary", folder / "mine.json")
    assert (ended.code, "mine.csv" in ended.complained) == (2, True)
    (folder / "notes.txt").write_text("keep me")
    words = ["chains", "--file", folder / "shots" / "s0.blend", "--report"]
    assert twobone(*words, folder / "notes.txt").code == 2
    assert (folder / "notes.txt").read_text() == "keep me"
    for _ in range(2):
        assert twobone(*words, folder / "report.json").code == 0


def test_a_list_goes_to_standard_output(twobone, folder, monkeypatch):
    monkeypatch.chdir(folder)
    ended = twobone("batch", "job.json", "--freeze", "-")
    assert (ended.code, [shot["name"] for shot in json.loads(ended.said)["shots"]]) == (0, ["shots/s0.blend"])
    assert not (folder / "-").exists()


def test_no_cell_of_the_table_is_a_formula(tmp_path):
    from twobone_addon.command_line.batch.summary import ShotRecord, Summary

    wild = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"]
    Summary(tmp_path / "s.json", tmp_path / "job.toml", [ShotRecord(text, "out", reason=text) for text in wild]).write()
    with (tmp_path / "s.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert not [cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t"))]
    assert all(text.strip() in row["reason"] for text, row in zip(wild[:4], rows, strict=False))


def test_keys_of_the_first_version_still_resume(twobone, folder):
    """A summary of 2.0.0 has just the keys that it had then."""
    assert twobone("batch", folder / "job.json").code == 0
    assert len(keys_in(folder / "baked" / "s0.blend")) == 24 * 8
    summary = json.loads((folder / "job.summary.json").read_text())
    assert {"shot", "output", "state", "fingerprint", "output_sha256", "linked"} <= summary["shots"][0].keys()
    summary["shots"][0]["added_later"] = 1
    (folder / "job.summary.json").write_text(json.dumps(summary))
    assert "done already" in twobone("batch", folder / "job.json", "--resume").said


def test_a_killed_batch_that_converts_in_place_comes_to_an_end(twobone, folder):
    """The shot was saved, and the kill came before the summary said so."""
    rig, target = make_shot()
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    save(folder / "shots" / "s0.blend")
    convert = {"use": "convert", "shots": ["shots/*.blend"], "in_place": True, "armature": "Rig"}
    (folder / "job.json").write_text(json.dumps(convert))
    assert twobone("batch", folder / "job.json").code == 0
    converted = keys_in(folder / "shots" / "s0.blend")
    (folder / "job.summary.json").unlink()
    assert twobone("batch", folder / "job.json", "--resume").code == 0
    assert keys_in(folder / "shots" / "s0.blend") == converted
    assert "done already" in twobone("batch", folder / "job.json", "--resume").said
    make_shot(folder / "shots" / "s0.blend")
    assert twobone("batch", folder / "job.json").code == 1  # There is no IK at all.
