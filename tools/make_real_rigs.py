"""Write the documentation's tables of real rigs from the tests' measurements.

First run the tests on each Blender, with all of Rigify's rigs:

TWOBONE_ALL_METARIGS=1 python -m pytest tests/real/test_everywhere.py tests/real/test_rigify.py

Then: python tools/make_real_rigs.py
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from make_speed_page import replace_part, table

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS = ROOT / "build" / "real_rigs"
PAGE = ROOT / "docs" / "measurements.md"

Bakes = list[dict[str, Any]]
"""Measurements of one rig, one entry per bake: see `tests/real/everywhere.py`."""


def main() -> None:
    """Write the tables and print the path of their page."""
    free, held = tables(measured())
    replace_part(PAGE, "rigs", free)
    replace_part(PAGE, "held", held)
    print(PAGE)


def measured() -> dict[str, dict[str, Bakes]]:
    """Measurements by rig and by Blender version, oldest first."""
    found: dict[str, dict[str, Bakes]] = {}
    for path in sorted(MEASUREMENTS.glob("*.json"), key=lambda path: version_key(path.stem.split(" ")[0])):
        version, rig = path.stem.split(" ", 1)
        found.setdefault(rig, {})[version] = json.loads(path.read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"Nothing in {MEASUREMENTS}: run the tests on real rigs first.")
    return found


def version_key(version: str) -> tuple[int, ...]:
    """Sort key of a version."""
    return tuple(int(part) for part in version.split("."))


def tables(rigs: dict[str, dict[str, Bakes]]) -> tuple[str, str]:
    """Tables of limbs that only keys move, and of limbs held by constraints; a Blender without all rigs has no column."""
    versions = sorted(set.intersection(*(set(bakes) for bakes in rigs.values())), key=version_key)
    heads = ["rig", "limbs", "bakes", "frames in reach", *(f"Blender {version}" for version in versions)]
    rows = [row for rig in sorted(rigs) for row in free_rows(rig, rigs[rig], versions)]
    held = [row for rig in sorted(rigs) for row in held_rows(rig, rigs[rig])]
    return table([heads, *rows]), table([["rig", "limbs", "largest distance, in limb lengths"], *held])


def free_rows(rig: str, bakes: dict[str, Bakes], versions: list[str]) -> Iterator[list[str]]:
    """The row of a rig, if it has limbs that only keys move."""
    newest = [bake for bake in bakes[max(bakes, key=version_key)] if not bake["held"]]
    if newest:
        reached, frames = (sum(bake[name] for bake in newest) for name in ("reached", "frames"))
        offs = [f"{1e6 * farthest(bakes[version], held=False):.2g}" for version in versions]
        yield [rig, str(limbs(newest)), str(len(newest)), f"{reached} of {frames}", *offs]


def held_rows(rig: str, bakes: dict[str, Bakes]) -> Iterator[list[str]]:
    """The row of a rig, if constraints hold some of its limbs."""
    held = [bake for bake in bakes[max(bakes, key=version_key)] if bake["held"]]
    if held:
        yield [rig, str(limbs(held)), f"{max(farthest(each, held=True) for each in bakes.values()):.2g}"]


def farthest(bakes: Bakes, *, held: bool) -> float:
    """The largest error of the limbs that constraints hold, or of the others."""
    return max(bake["off"] for bake in bakes if bake["held"] == held)


def limbs(bakes: Bakes) -> int:
    """Number of limbs that were baked."""
    return len({bake["limb"] for bake in bakes})


if __name__ == "__main__":
    main()
