"""Audits from the command line, and of batches: exit codes, and that no file is written that nobody asked for."""

import json

import bpy
import pytest

from tests.command_line.shots import save
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import key_channel


@pytest.fixture
def clips(tmp_path, registered_addon):
    """Two shots: a clean walk, and one whose feet slide."""
    for name, way in (("clean", 0.0), ("slides", 0.9)):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, _ = build_walker(Walk(frames=60))
        if way:
            key_channel(armature, "location", {1: (0.0, 0.0, 0.0), 60: (0.0, way, 0.0)})
        save(tmp_path / f"{name}.blend")
    return tmp_path


def test_strict_fails_where_a_clip_is_not_fine(twobone, clips):
    assert twobone("audit", "--file", clips / "clean.blend", "--strict").code == 0
    assert twobone("audit", "--file", clips / "slides.blend").code == 0
    ended = twobone("audit", "--file", clips / "slides.blend", "--strict", "--report", clips / "report.json")
    assert ended.code == 3
    assert "slide by" in ended.complained
    assert json.loads((clips / "report.json").read_text())["is_fine"] is False


def test_before_and_after_stand_side_by_side(twobone, clips):
    twobone("audit", "--file", clips / "slides.blend", "--report", clips / "before.json")
    ended = twobone("audit", "--file", clips / "clean.blend", "--compare", clips / "before.json")
    assert "leg.L: slide " in ended.said
    assert ended.code == 0


def test_a_batch_audits_every_shot_and_saves_none(twobone, clips):
    picture = str(clips / "{shot}.svg")
    (clips / "job.json").write_text(json.dumps({"use": "audit", "shots": ["*.blend"], "strict": True, "picture": picture}))
    files = {path: path.read_bytes() for path in clips.glob("*.blend")}
    ended = twobone("batch", clips / "job.json", "--quiet", "--jobs", "1")
    summary = json.loads((clips / "job.json.summary.json").read_text())
    assert [shot["state"] for shot in summary["shots"]] == ["done", "strict"], ended
    assert sorted(path.name for path in clips.glob("*.svg")) == ["clean.svg", "slides.svg"]
    assert {path: path.read_bytes() for path in clips.glob("*.blend")} == files
