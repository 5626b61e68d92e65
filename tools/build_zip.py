"""Build the extension's zip: the same bytes from the same files, whenever it is built, and wherever zlib is the usual one.

    python tools/build_zip.py [FOLDER] [--release] [--maintainer "NAME <ADDRESS>"] [--website ADDRESS] [--copyright "YEAR NAME"]

`blender --command extension build` packs the same files, but with their dates, so that two checkouts of one
version differ. What goes in is what the manifest keeps (its patterns that begin with "!"). The usual zlib has
compressed to the same bytes for many years; others, such as zlib-ng in some Pythons, do not: then that is said, and
`--release` builds nothing.

Who publishes gives name, address, website and copyright. With `--release` nothing is built while the maintainer has an address
that nobody can have, or there is no website or copyright.
"""

import argparse
import hashlib
import json
import re
import sys
import tomllib
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "blender_manifest.toml"
EARLIEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
SMALLEST = 9
"""Level of compression."""
PROBE = b"".join(b"%d %s\n" % (number * number, bytes([65 + number % 26]) * (number % 7)) for number in range(3000))
PROBE_COMPRESSED = "98cf361b2bcc2e6e10c73e08e08910d861526a45d9da4e2701d752836607ff9e"
"""SHA-256 of what zlib 1.2.13 makes of the probe."""
READABLE_FILE = 0o100644 << 16
UNIX = 3
NOBODY = re.compile(r"@(?:.+\.)?(?:example\.(?:com|net|org)|(?:example|invalid|localhost|test))>?$", re.IGNORECASE)
"""Matches addresses in domains that are reserved for examples (RFC 2606)."""


def packed_files(root: Path) -> Iterator[Path]:
    """Every file of the extension: the manifest first, then those kept by its patterns, folders sorted by path."""
    manifest = read_manifest(root)
    yield root / MANIFEST
    patterns = manifest["build"]["paths_exclude_pattern"]
    for pattern in patterns:
        if pattern.startswith("!/"):
            kept = root / pattern.removeprefix("!/")
            found = _files_in(kept) if kept.is_dir() else [kept]
            yield from (path for path in found if f"/{path.relative_to(root).as_posix()}" not in patterns)


def _files_in(folder: Path) -> list[Path]:
    """Every file of a folder, sorted by path, without Python's cache."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(found, key=lambda path: path.as_posix())


def read_manifest(root: Path = ROOT) -> dict[str, Any]:
    """The extension's manifest."""
    return tomllib.loads((root / MANIFEST).read_text(encoding="utf-8"))


def published(text: str, maintainer: str, website: str, owner: str = "") -> str:
    """The manifest's text with maintainer, website and copyright of who publishes it, where they are given."""
    if maintainer:
        text = re.sub(r"^maintainer = .*$", lambda _: f"maintainer = {json.dumps(maintainer)}", text, flags=re.MULTILINE)
    added = [f"website = {json.dumps(website)}"] if website else []
    added += [f"copyright = [{json.dumps(owner)}]"] if owner else []
    return text.replace('type = "add-on"', "\n".join([*added, 'type = "add-on"']), 1)


def build(folder: Path, root: Path = ROOT, *, maintainer: str = "", website: str = "", owner: str = "") -> Path:
    """Write ``<id>-<version>.zip`` of the checkout at `root` into the folder, creating it if necessary; return its path."""
    manifest = read_manifest(root)
    folder.mkdir(parents=True, exist_ok=True)
    archive_path = folder / f"{manifest['id']}-{manifest['version']}.zip"
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED, compresslevel=SMALLEST) as archive:
        for path in packed_files(root):
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), EARLIEST_ZIP_DATE)
            entry.external_attr = READABLE_FILE
            entry.create_system = UNIX
            entry.compress_type = zipfile.ZIP_DEFLATED
            content = path.read_bytes()
            if path == root / MANIFEST:
                content = published(content.decode(), maintainer, website, owner).encode()
            archive.writestr(entry, content, compresslevel=SMALLEST)
    return archive_path


def is_usual_zlib() -> bool:
    """Whether this Python compresses to the same bytes as others do."""
    compressor = zlib.compressobj(SMALLEST, zlib.DEFLATED, -zlib.MAX_WBITS)
    compressed = compressor.compress(PROBE) + compressor.flush()
    return hashlib.sha256(compressed).hexdigest() == PROBE_COMPRESSED


def unfit_for_release(manifest: dict[str, Any]) -> str:
    """Why this manifest must not be published, or not from here; empty if it may be."""
    if not is_usual_zlib():
        return "This Python's zlib compresses to other bytes than the usual one: use a Python with zlib 1.2 or 1.3"
    maintainer = manifest["maintainer"]
    if NOBODY.search(maintainer):
        return f'"{maintainer}" is a placeholder: name who publishes it with --maintainer "NAME <ADDRESS>"'
    if not manifest.get("website", "").startswith("https://"):
        return "There is no website: give the address of the project's page with --website https://..."
    if not manifest.get("copyright"):
        return 'There is no copyright: name year and owner with --copyright "YEAR NAME"'
    return ""


def main() -> None:
    """Build into the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Build the extension's zip.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build", help="where it goes (default: build)")
    parser.add_argument("--release", action="store_true", help="build only what may be published")
    parser.add_argument("--maintainer", default="", help="who publishes it, as NAME <ADDRESS>")
    parser.add_argument("--website", default="", help="address of the project's page")
    parser.add_argument("--copyright", default="", help="year and owner, as YEAR NAME")
    options = parser.parse_args()
    named = (options.maintainer, options.website, options.copyright)
    text = published((ROOT / MANIFEST).read_text(encoding="utf-8"), *named)
    hindrance = unfit_for_release(tomllib.loads(text))
    if hindrance and options.release:
        sys.exit(hindrance)
    if hindrance:
        print(f"Not for a release: {hindrance}", file=sys.stderr)
    print(build(options.folder, maintainer=options.maintainer, website=options.website, owner=options.copyright))


if __name__ == "__main__":
    main()
