"""Files whose names begin like flags are taken for files, by batches and by commands."""

import json

from tests.command_line.jobs import states, write_job
from tests.command_line.shots import make_shot


def test_a_job_a_shot_and_a_report_may_be_named_like_flags(twobone, run_here, tmp_path, monkeypatch):
    (tmp_path / "shots").mkdir()
    make_shot(tmp_path / "shots" / "-s.blend")
    monkeypatch.chdir(tmp_path)
    write_job(tmp_path, "-j.json")
    ended = run_here("-j.json")
    assert ended.code == 0, ended.complained
    assert states(tmp_path, "-j.json.summary.json") == {"-s": "done"}
    assert (tmp_path / "baked" / "-s.blend").is_file()
    (tmp_path / "--j.json").write_bytes((tmp_path / "-j.json").read_bytes())
    assert twobone("batch", "--quiet", "--j.json", "--list").code == 0
    monkeypatch.chdir(tmp_path / "shots")
    ended = twobone("chains", "--file", "-s.blend", "--report", "-r.json")
    assert ended.code == 0, ended.complained
    assert json.loads((tmp_path / "shots" / "-r.json").read_text())["chains"] == []


def test_what_is_a_mistyped_flag_is_still_named_as_it_was_typed(twobone):
    ended = twobone("audit", "-file", "shot.blend")
    assert ended.code == 2
    assert "-file" in ended.complained
    assert "./-file" not in ended.complained
