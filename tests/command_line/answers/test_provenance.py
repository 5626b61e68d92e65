"""Every report says where its result comes from; what an error leaves behind is said as well."""

import hashlib
import json
import tomllib
from pathlib import Path

import bpy
import pytest

from tests.command_line.shots import LEG, make_shot

MANIFEST = Path(__file__).resolve().parents[3] / "blender_manifest.toml"
ADDON = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"]


@pytest.fixture
def shot(tmp_path, registered_addon):
    make_shot(tmp_path / "shot.blend")
    return tmp_path / "shot.blend"


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_report_names_files_programs_settings_and_warnings(twobone, shot, tmp_path):
    before, goal, written = sha256(shot), tmp_path / "baked.blend", tmp_path / "report.json"
    ended = twobone("bake", "--file", shot, *LEG, "--influence", "0.5", "--save", goal, "--report", written)
    assert ended.code == 0, ended.complained
    report = json.loads(written.read_text())
    provenance = report["provenance"]
    assert report["version"] == 1
    assert provenance["source"] == {"path": str(shot), "sha256": before}
    assert provenance["output"] == {"path": str(goal), "sha256": sha256(goal)}
    assert (provenance["addon"], provenance["blender"]) == (ADDON, bpy.app.version_string)
    (settings,) = provenance["settings"]
    assert (settings["upper"], settings["influence"], settings["plane"]) == ("upper", 0.5, "XZ")
    assert provenance["warnings"] == []


def test_in_place_the_source_is_told_as_it_was(twobone, shot, tmp_path):
    before = sha256(shot)
    twobone("bake", "--file", shot, *LEG, "--save", "--report", tmp_path / "report.json")
    provenance = json.loads((tmp_path / "report.json").read_text())["provenance"]
    assert provenance["source"]["sha256"] == before
    assert provenance["output"]["sha256"] == sha256(shot) != before


@pytest.mark.parametrize("command", ["bake", "report", "clear", "target", "chains", "dry run"])
def test_every_command_reports_its_version_and_source(twobone, shot, tmp_path, command):
    words = {"chains": ["chains"], "dry run": ["bake", "--dry-run", *LEG]}.get(command, [command, *LEG])
    written = tmp_path / "report.json"
    ended = twobone(words[0], "--file", shot, *words[1:], "--report", written)
    assert ended.code == 0, ended.complained
    report = json.loads(written.read_text())
    assert report["version"] == 1
    assert report["provenance"]["source"]["path"] == str(shot)
    assert report["provenance"]["output"] is None


def test_without_save_it_is_said_that_nothing_was_saved(twobone, shot):
    before = shot.read_bytes()
    ended = twobone("bake", "--file", shot, *LEG)
    assert "Not saved" in ended.said
    assert shot.read_bytes() == before


def test_a_report_that_cannot_be_written_says_what_was_saved_all_the_same(twobone, shot, tmp_path, monkeypatch):
    from twobone_addon.command_line import command
    from twobone_addon.errors import FileError

    def full(*_):
        raise FileError("The disk is full.")

    monkeypatch.setattr(command, "hand_over", full)
    goal = tmp_path / "baked.blend"
    ended = twobone("bake", "--file", shot, *LEG, "--save", goal, "--report", tmp_path / "report.json")
    assert ended.code == 1
    assert ended.complained == f'The disk is full. The shot was saved as "{goal}".'


def test_a_dry_run_fails_where_the_real_run_would_be_too_strict(twobone, tmp_path, registered_addon):
    make_shot(tmp_path / "far.blend", places={1: (1.2, 0.0, 1.0), 24: (9.0, 0.0, 1.6)})
    real = twobone("bake", "--file", tmp_path / "far.blend", *LEG, "--strict")
    rehearsed = twobone("bake", "--file", tmp_path / "far.blend", *LEG, "--strict", "--dry-run")
    assert (real.code, real.complained) == (rehearsed.code, rehearsed.complained)
    assert real.code == 3


def test_the_version_is_told(capsys, registered_addon):
    from twobone_addon.command_line.command import main

    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.strip() == f"twobone {ADDON}, Blender {bpy.app.version_string}"
