"""What is in the zip, and what the extensions platform asks of its manifest."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
import zlib
from datetime import date

import pytest

from tools.build_zip import EARLIEST_ZIP_DATE, ROOT, build, is_usual_zlib, packed_files, read_manifest, unfit_for_release

LONGEST_TAGLINE = 64
# The platform's tags for add-ons, of which the manifest may name some.
ADDON_TAGS = {
    "3D View", "Add Curve", "Add Mesh", "Animation", "Bake", "Camera", "Compositing", "Development", "Game Engine",
    "Geometry Nodes", "Grease Pencil", "Import-Export", "Lighting", "Material", "Mesh", "Modeling", "Node", "Object",
    "Paint", "Physics", "Pipeline", "Render", "Rigging", "Scene", "Sculpt", "Sequencer", "System", "Text Editor",
    "Tracking", "User Interface", "UV",
}  # fmt: skip
OPTIONAL_LISTS_AND_TABLES = ("platforms", "wheels", "copyright")
LONGEST_REASON = 64


@pytest.fixture(scope="module")
def manifest():
    return read_manifest()


def test_the_zip_holds_the_addon_its_manifest_and_licence_and_nothing_else(built_zip):
    names = zipfile.ZipFile(built_zip).namelist()
    outside = [name for name in names if not name.startswith("twobone_addon/")]
    assert sorted(outside) == ["LICENSE", "__init__.py", "blender_manifest.toml"]
    unknown = [name for name in names if name.startswith("twobone_addon/") and not name.endswith((".py", ".json"))]
    assert unknown == ["twobone_addon/__init__.pyi", "twobone_addon/interface/help.html"]
    assert "twobone_addon/registration.py" in names
    assert len(names) == len(set(names))


def test_another_checkout_of_the_same_files_gives_the_same_bytes(built_zip, tmp_path):
    """Other dates, other rights, written in another order, with Python's caches between them."""
    checkout = tmp_path / "checkout"
    for age, path in enumerate(reversed(list(packed_files(ROOT)))):
        copy = checkout / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        copy.chmod(0o755 if age % 2 else 0o600)
        os.utime(copy, (1e9 + age, 1e9 + age))
    cache = checkout / "twobone_addon" / "__pycache__"
    cache.mkdir()
    (cache / "errors.cpython-311.pyc").write_bytes(b"")
    assert build(tmp_path / "elsewhere", checkout).read_bytes() == built_zip.read_bytes()


def test_nothing_in_the_zip_depends_on_the_day_and_every_file_is_compressed(built_zip):
    entries = zipfile.ZipFile(built_zip).infolist()
    assert {entry.date_time for entry in entries} == {EARLIEST_ZIP_DATE}
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_DEFLATED}
    assert built_zip.stat().st_size < 0.5 * sum(entry.file_size for entry in entries)


def test_a_zlib_that_finds_other_bytes_is_told_apart_and_builds_no_release(manifest, monkeypatch):
    fit = manifest | {"maintainer": "A <a@b.cd>", "website": "https://b.cd", "copyright": ["2026 A"]}
    assert is_usual_zlib()
    assert unfit_for_release(fit) == ""
    usual = zlib.compressobj
    monkeypatch.setattr(zlib, "compressobj", lambda _, *more: usual(1, *more))
    assert "zlib" in unfit_for_release(fit)


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


def test_the_manifest_asks_to_use_files_says_why_and_asks_for_nothing_else(manifest):
    assert list(manifest["permissions"]) == ["files"]
    reason = manifest["permissions"]["files"]
    assert len(reason) <= LONGEST_REASON
    assert reason[-1].isalnum()


def test_the_manifest_names_somebody_to_write_to_and_no_site_that_does_not_exist(manifest):
    assert re.fullmatch(r"[^<>]+ <[^<>@\s]+@[^<>@\s]+>", manifest["maintainer"])
    assert "website" not in manifest, "who publishes names it: build_zip.py --website"


@pytest.mark.parametrize("address", ["two-bone-ik@example.org", "me@mail.example.com", "me@somewhere.invalid", "root@localhost"])
def test_no_release_is_built_with_an_address_that_nobody_can_have(manifest, address):
    assert address in unfit_for_release(manifest | {"maintainer": f"Somebody <{address}>"})


@pytest.mark.parametrize("address", ["someone@blender.org", "me@example.dev", "example.org@posteo.de"])
def test_a_release_is_built_with_the_address_of_an_account(manifest, address):
    somebody = manifest | {"maintainer": f"Somebody <{address}>"}
    assert "--website" in unfit_for_release(somebody)
    on_the_web = somebody | {"website": "https://somewhere.dev/two-bone-ik"}
    assert "--copyright" in unfit_for_release(on_the_web)
    assert not unfit_for_release(on_the_web | {"copyright": ["2026 Somebody"]})


def test_who_publishes_is_named_in_the_zip(tmp_path):
    who = ["--maintainer", "Somebody <someone@blender.org>", "--website", "https://somewhere.dev/two-bone-ik"]
    who += ["--copyright", "2026 Somebody"]
    command = [sys.executable, str(ROOT / "tools" / "build_zip.py"), str(tmp_path), "--release", *who]
    subprocess.run(command, capture_output=True, text=True, check=True)
    (path,) = tmp_path.glob("*.zip")
    with zipfile.ZipFile(path) as archive:
        found = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert (found["maintainer"], found["website"], found["copyright"]) == (who[1], who[3], [who[5]])


@pytest.mark.parametrize("arguments", [[], ["--release"]])
def test_the_placeholder_of_a_checkout_is_named_and_kept_out_of_releases(arguments, manifest, tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "build_zip.py"), str(tmp_path), *arguments]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    hindrance = unfit_for_release(manifest)
    assert hindrance in built.stderr
    assert bool(list(tmp_path.glob("*.zip"))) == (built.returncode == 0) == (not (hindrance and arguments))


def test_what_only_the_bpy_module_needs_is_not_shipped(built_zip):
    assert "twobone_addon/__main__.py" not in zipfile.ZipFile(built_zip).namelist()


def test_the_manifest_repeats_no_default(manifest):
    assert not set(OPTIONAL_LISTS_AND_TABLES) & set(manifest)


def test_the_manifest_keeps_blenders_own_exclusions(manifest):
    assert {"__pycache__/", ".*", "/*.zip", "*.blend[1-9]"} <= set(manifest["build"]["paths_exclude_pattern"])


def test_the_changelog_begins_with_this_version_and_the_day_it_came_out(manifest):
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    version, day = next(heading for heading in headings if heading != "Unreleased").split(" - ")
    assert version == manifest["version"]
    assert date.fromisoformat(day)


def test_the_readme_installs_the_zip_that_is_built(manifest):
    named = re.findall(r"twobone-\d[\w.]*\.zip", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(named) == {f"twobone-{manifest['version']}.zip"}
