"""The release as Blender's own program sees it: built, validated, installed, listed."""

import zipfile

import pytest

from tests.blender_program import complaints, find_blender, run
from tools.build_zip import ROOT


@pytest.fixture
def extension(tmp_path):
    """Runs ``blender --command extension ...`` and returns its log; anything but success without complaint fails."""
    blender = find_blender()

    def command(*arguments):
        done = run([blender, "--command", "extension", *map(str, arguments)], tmp_path)
        assert done.returncode == 0, done.stdout
        assert not complaints(done.stdout), done.stdout
        return done.stdout

    return command


def test_the_program_accepts_the_zip(extension, built_zip):
    extension("validate", built_zip)


def test_the_program_builds_the_same_from_the_checkout(extension, built_zip, tmp_path):
    extension("build", "--source-dir", ROOT, "--output-dir", tmp_path)
    with zipfile.ZipFile(tmp_path / built_zip.name) as theirs, zipfile.ZipFile(built_zip) as ours:
        assert sorted(theirs.namelist()) == sorted(ours.namelist())
        assert all(theirs.read(name) == ours.read(name) for name in ours.namelist())


def test_the_program_installs_enables_and_lists_it_without_a_policy_violation(extension, built_zip, tmp_path):
    extension("install-file", "--repo", "user_default", "--enable", built_zip)
    assert (tmp_path / "extensions" / "user_default" / "twobone" / "blender_manifest.toml").is_file()
    assert "Two-Bone IK" in extension("list")
