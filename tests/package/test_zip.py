"""What is in the zip, and what the extensions platform asks of its manifest."""

import re
import tomllib
import zipfile

import pytest

from tools.build_zip import EARLIEST_ZIP_DATE, ROOT, build

LONGEST_TAGLINE = 64
# The platform's tags for add-ons, of which the manifest may name some.
ADDON_TAGS = {
    "3D View", "Add Curve", "Add Mesh", "Animation", "Bake", "Camera", "Compositing", "Development", "Game Engine",
    "Geometry Nodes", "Grease Pencil", "Import-Export", "Lighting", "Material", "Mesh", "Modeling", "Node", "Object",
    "Paint", "Physics", "Pipeline", "Render", "Rigging", "Scene", "Sculpt", "Sequencer", "System", "Text Editor",
    "Tracking", "User Interface", "UV",
}  # fmt: skip
OPTIONAL_LISTS_AND_TABLES = ("permissions", "platforms", "wheels", "copyright")


@pytest.fixture(scope="module")
def manifest():
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def test_the_zip_holds_the_addon_its_manifest_and_licence_and_nothing_else(built_zip):
    names = zipfile.ZipFile(built_zip).namelist()
    outside = [name for name in names if not name.startswith("twobone_addon/")]
    assert sorted(outside) == ["LICENSE", "__init__.py", "blender_manifest.toml"]
    assert all(name.endswith((".py", ".json")) for name in names if name.startswith("twobone_addon/"))
    assert "twobone_addon/registration.py" in names
    assert len(names) == len(set(names))


def test_the_same_files_give_the_same_bytes_whatever_their_dates(built_zip, tmp_path):
    assert {entry.date_time for entry in zipfile.ZipFile(built_zip).infolist()} == {EARLIEST_ZIP_DATE}
    assert build(tmp_path).read_bytes() == built_zip.read_bytes()


def test_the_tagline_is_short_and_has_no_full_stop(manifest):
    assert len(manifest["tagline"]) <= LONGEST_TAGLINE
    assert manifest["tagline"][-1].isalnum()


def test_the_manifest_says_what_it_is(manifest):
    assert (manifest["schema_version"], manifest["type"]) == ("1.0.0", "add-on")
    assert (manifest["id"], manifest["blender_version_min"]) == ("twobone", "4.2.0")
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["tags"]
    assert set(manifest["tags"]) <= ADDON_TAGS


def test_the_manifest_asks_for_no_permission_and_repeats_no_default(manifest):
    assert not set(OPTIONAL_LISTS_AND_TABLES) & set(manifest)


def test_the_manifest_keeps_blenders_own_exclusions(manifest):
    assert {"__pycache__/", ".*", "/*.zip", "*.blend[1-9]"} <= set(manifest["build"]["paths_exclude_pattern"])


def test_the_changelog_speaks_of_this_version(manifest):
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased" or headings[0].startswith(manifest["version"])
