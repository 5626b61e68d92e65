"""Blender's own extension builder and validator, which every bpy module carries, on our manifest and zip."""

import sys
import zipfile
from pathlib import Path

import bpy
import pytest

from tests.blender_program import complaints, run
from tools.build_zip import ROOT


@pytest.fixture(scope="module")
def official_tool():
    """Blender's command-line tool for extensions, as a plain Python script."""
    return Path(bpy.utils.resource_path("LOCAL")) / "scripts" / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"


def extension(official_tool, tmp_path, *arguments):
    done = run([sys.executable, str(official_tool), *map(str, arguments)], tmp_path)
    assert done.returncode == 0, done.stdout
    assert not complaints(done.stdout), done.stdout


def test_blender_accepts_the_zip(official_tool, built_zip, tmp_path):
    extension(official_tool, tmp_path, "validate", built_zip)


def test_blender_builds_a_zip_with_the_same_files_and_bytes_from_the_checkout(official_tool, built_zip, tmp_path):
    extension(official_tool, tmp_path, "build", "--source-dir", ROOT, "--output-dir", tmp_path)
    with zipfile.ZipFile(tmp_path / built_zip.name) as theirs, zipfile.ZipFile(built_zip) as ours:
        assert sorted(theirs.namelist()) == sorted(ours.namelist())
        assert all(theirs.read(name) == ours.read(name) for name in ours.namelist())


def test_blender_leaves_out_what_python_and_others_leave_in_the_checkout(official_tool, built_zip, tmp_path):
    checkout = tmp_path / "checkout"
    with zipfile.ZipFile(built_zip) as ours:
        ours.extractall(checkout)
    for litter in (
        "twobone_addon/__pycache__/a.pyc",
        "twobone_addon/core/__pycache__/b.pyc",
        "tests/c.py",
        "build/d.zip",
        "notes.md",
    ):
        (checkout / litter).parent.mkdir(exist_ok=True)
        (checkout / litter).write_text("litter", encoding="utf-8")
    extension(official_tool, tmp_path, "build", "--source-dir", checkout, "--output-dir", tmp_path)
    with zipfile.ZipFile(tmp_path / built_zip.name) as theirs, zipfile.ZipFile(built_zip) as ours:
        assert sorted(theirs.namelist()) == sorted(ours.namelist())
