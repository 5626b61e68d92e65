"""Build the extension's zip: the same bytes from the same files, whenever and wherever it is built.

    python tools/build_zip.py [FOLDER]

`blender --command extension build` packs the same files, but with their dates, so that two checkouts of one
version differ. What goes in is what the manifest keeps (its patterns that begin with "!"). It is stored, not
compressed: one version of zlib finds other bytes than the next, and Python on Windows comes with another.
"""

import argparse
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "blender_manifest.toml"
EARLIEST_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
READABLE_FILE = 0o100644 << 16
UNIX = 3


def packed_files(root: Path) -> Iterator[Path]:
    """Every file of the extension, the manifest first, then in the order of their names."""
    manifest = read_manifest(root)
    yield root / MANIFEST
    patterns = manifest["build"]["paths_exclude_pattern"]
    for pattern in patterns:
        if pattern.startswith("!/"):
            kept = root / pattern.removeprefix("!/")
            found = _files_in(kept) if kept.is_dir() else [kept]
            yield from (path for path in found if f"/{path.relative_to(root).as_posix()}" not in patterns)


def _files_in(folder: Path) -> list[Path]:
    """Every file of a folder, but for what Python leaves there."""
    found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(found, key=lambda path: path.as_posix())


def read_manifest(root: Path = ROOT) -> dict[str, Any]:
    """What the extension says of itself."""
    return tomllib.loads((root / MANIFEST).read_text(encoding="utf-8"))


def build(folder: Path, root: Path = ROOT) -> Path:
    """Write ``<id>-<version>.zip`` of the checkout at `root` into the folder, which is made if need be; return its path."""
    manifest = read_manifest(root)
    folder.mkdir(parents=True, exist_ok=True)
    archive_path = folder / f"{manifest['id']}-{manifest['version']}.zip"
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_STORED) as archive:
        for path in packed_files(root):
            entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), EARLIEST_ZIP_DATE)
            entry.external_attr = READABLE_FILE
            entry.create_system = UNIX
            archive.writestr(entry, path.read_bytes())
    return archive_path


def main() -> None:
    """Build into the folder named on the command line."""
    parser = argparse.ArgumentParser(description="Build the extension's zip.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build", help="where it goes (default: build)")
    print(build(parser.parse_args().folder))


if __name__ == "__main__":
    main()
