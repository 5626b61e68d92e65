"""What a batch may replace: only what batches of its job have saved and nobody has touched since."""

import gzip
import json
import shutil
from pathlib import Path

import bpy
import pytest

from tests.command_line.jobs import KEYS, records, write_job
from tests.command_line.shots import keys_in, make_shot, save


def polish(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.data.objects.new("two days of polish", None).use_fake_user = True
    bpy.ops.wm.save_mainfile()
    path.with_suffix(".blend1").unlink(missing_ok=True)


def reason(folder):
    return records(folder)["s0"]["reason"]


@pytest.mark.parametrize("words", [["--resume"], []])
def test_an_output_that_somebody_has_worked_on_is_replaced_only_when_that_is_said(batch_here, folder, words):
    output = folder / "baked" / "s0.blend"
    assert batch_here().code == 0
    polish(output)
    polished = output.read_bytes()
    assert batch_here(*words).code == 1
    assert records(folder)["s0"]["state"] == "failed"
    assert "--replace" in reason(folder)
    assert output.read_bytes() == polished
    assert batch_here(*words, "--replace").code == 0
    assert output.read_bytes() != polished


def test_a_file_that_no_batch_has_saved_is_kept_and_a_saved_one_as_well_where_that_is_asked_for(batch_here, folder):
    output = folder / "baked" / "s0.blend"
    make_shot(output)
    own = output.read_bytes()
    assert batch_here().code == 1
    assert output.read_bytes() == own
    output.unlink()
    assert batch_here().code == 0
    saved = output.read_bytes()
    assert batch_here("--no-clobber").code == 1
    assert "--no-clobber" in reason(folder)
    assert output.read_bytes() == saved


def record_of(folder):
    (path,) = (folder / "job.json.reports").iterdir()
    return path


def test_after_a_kill_at_any_moment_the_batch_knows_its_own_output(batch_here, folder):
    """The record says what is about to be saved; the kill came before, or after, the draft was moved into place."""
    output = folder / "baked" / "s0.blend"
    assert batch_here().code == 0
    begun = {"state": "waiting", "fingerprint": "", "report": None}
    for is_moved in (True, False):
        record = json.loads(record_of(folder).read_text()) | begun
        known = {} if is_moved else {"output_sha256": "0" * 64, "earlier_sha256": record["output_sha256"]}
        record_of(folder).write_text(json.dumps(record | known))
        assert batch_here("--resume").code == 0
        assert "done already" in batch_here("--resume").said
    record_of(folder).write_text(json.dumps(record | {"output_sha256": "0" * 64}))
    saved = output.read_bytes()
    assert batch_here("--resume").code == 1
    assert output.read_bytes() == saved


@pytest.mark.parametrize("other", ["jj.json", "job.2.json", "ob.json"])
def test_what_another_job_has_saved_is_kept(batch_here, folder, other):
    output = folder / "baked" / "s0.blend"
    write_job(folder, other, bend="NEGATIVE")
    assert batch_here(job=other).code == 0
    saved = output.read_bytes()
    assert batch_here().code == 1
    assert output.read_bytes() == saved


@pytest.mark.parametrize("torn", [b"BLENDER" + b"x" * 100, gzip.compress(b"BLENDER", mtime=0), b"\x28\xb5\x2f\xfd" + b"x" * 99])
def test_what_looks_torn_may_be_somebodys_and_is_kept(batch_here, folder, torn):
    output = folder / "baked" / "s0.blend"
    output.parent.mkdir()
    output.write_bytes(torn)
    assert batch_here("--resume").code == 1
    assert output.read_bytes() == torn
    output.write_bytes(b"")
    assert batch_here("--resume").code == 0
    assert len(keys_in(output)) == KEYS


@pytest.mark.parametrize("text", ["nonsense", '{"shot": 1, "output": 2}', "[" * 100_000])
def test_a_record_that_is_none_is_no_record_and_is_kept(batch_here, folder, text):
    assert batch_here().code == 0
    record_of(folder).write_text(text)
    ended = batch_here("--resume", "--replace")
    assert (ended.code, "not a record of a shot" in ended.said) == (1, True)
    assert record_of(folder).read_text() == text


def test_every_flag_that_may_change_the_result_counts_for_resume(batch_here, folder):
    assert batch_here().code == 0
    harmless = ["--timeout", 600, "--jobs", 1, "--shots-per-blender", 3, "--logs", folder / "logs"]
    assert "done already" in batch_here("--resume", *harmless).said
    for flag in ("--user-addons", "--upgrade", "--scripts", "--allow-incomplete"):
        ended = batch_here("--resume", flag)
        assert (ended.code, "already" in ended.said) == (0, False), flag
        assert "already" in batch_here("--resume", flag).said


def test_versions_never_replace_anything_and_resume_knows_the_last_one(batch_here, folder):
    write_job(folder, output="baked/{shot}_v{version}.blend")
    for _ in range(2):
        assert batch_here().code == 0
    names = ["s0_v001.blend", "s0_v002.blend"]
    assert sorted(path.name for path in (folder / "baked").iterdir()) == names
    assert "done already" in batch_here("--resume").said
    assert sorted(path.name for path in (folder / "baked").iterdir()) == names


def test_an_incomplete_shot_is_done_only_as_long_as_that_is_allowed(batch_here, folder):
    bpy.ops.wm.open_mainfile(filepath=str(folder / "shots" / "s0.blend"))
    driver = bpy.data.objects["Target"].driver_add("location", 1).driver
    driver.expression = '__import__("math").sin(frame)'
    bpy.ops.wm.save_mainfile()
    (folder / "shots" / "s0.blend1").unlink(missing_ok=True)
    assert batch_here("--allow-incomplete").code == 0
    assert "done already" in batch_here("--allow-incomplete", "--resume").said
    ended = batch_here("--resume")
    assert (ended.code, "already" in ended.said) == (4, False)


def test_in_place_and_an_output_of_a_shots_own_are_refused_together(batch_here, folder):
    before = (folder / "shots" / "s0.blend").read_bytes()
    write_job(folder, output=None, in_place=True, shots=[{"file": "shots/s0.blend", "output": "baked/x.blend"}])
    ended = batch_here()
    assert (ended.code, "in place" in ended.complained) == (2, True)
    assert (folder / "shots" / "s0.blend").read_bytes() == before


def test_an_end_before_a_start_is_refused_without_a_range_as_well(batch_here, folder):
    write_job(folder, frame_start=9, frame_end=2)
    ended = batch_here("--list")
    assert (ended.code, "ends before it starts" in ended.complained) == (2, True)


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


def test_names_with_dollars_and_brackets_can_be_written(batch_here, folder):
    for name in ("a[1]", "cost$5"):
        shutil.copy(folder / "shots" / "s0.blend", folder / "shots" / f"{name}.blend")
    write_job(folder, shots=["shots/a[1].blend", "shots/cost$$5.blend"])
    listed = batch_here("--list")
    assert [Path(line.split()[1]).stem for line in listed.said.splitlines()] == ["a[1]", "cost$5"], listed.complained


def test_a_killed_batch_that_converts_in_place_comes_to_an_end(batch_here, folder):
    """The shot was saved, and the kill came before the summary said so."""
    rig, target = make_shot()
    constraint = rig.pose.bones["lower"].constraints.new("IK")
    constraint.target, constraint.chain_count = target, 2
    save(folder / "shots" / "s0.blend")
    of_bake = dict.fromkeys(("output", "upper", "lower", "target", "plane"))
    write_job(folder, use="convert", in_place=True, **of_bake)
    assert batch_here().code == 0
    converted = keys_in(folder / "shots" / "s0.blend")
    shutil.rmtree(folder / "job.json.reports")
    assert batch_here("--resume").code == 0
    assert keys_in(folder / "shots" / "s0.blend") == converted
    assert "done already" in batch_here("--resume").said
    make_shot(folder / "shots" / "s0.blend")
    assert batch_here().code == 1  # There is no IK at all.
