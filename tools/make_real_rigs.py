"""Write the documentation's table of real rigs from what the tests measured.

On each Blender first, with all of Rigify's rigs:

TWOBONE_ALL_METARIGS=1 python -m pytest tests/real/test_everywhere.py tests/real/test_rigify.py

then: python tools/make_real_rigs.py
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MEASUREMENTS = ROOT / "build" / "real_rigs"
PAGE = ROOT / "docs" / "real_rigs.md"

Bakes = list[dict[str, Any]]
"""What was measured on one rig, bake by bake: see `tests/real/everywhere.py`."""

INTRODUCTION = """# Real rigs

The tests bake rigs made by others every time they run: each limb in every plane (`XY`, `XZ`, `YZ`, `REST`, `POLE`,
`OBJECT`), into the current action, a new action and an NLA strip in turn, and to either side. The target circles the root
joint, near and far. Meanwhile Rigify's rigs rotate, scale and twist their hips and chest; the others play their own motion.
Then Blender evaluates the animation, and the tips are measured.

The numbers are the largest distance of any tip from where it should be, in millionths of the limb length, over all frames in
reach. Single precision alone accounts for 0.1 or more. A limb perpendicular to a plane cannot rotate within it; such frames
do not count as in reach.
"""

HELD = """
Some limbs are also moved by their rig's own constraints, such as fins whose parts each copy the previous one. There the
constraints win: the report names them and has the measured distance.

| rig | limbs | largest distance, in limb lengths |
|---|---|---|
"""


def main() -> None:
    """Write the page and say where it is."""
    PAGE.write_text(page(measured()), encoding="utf-8")
    print(PAGE)


def measured() -> dict[str, dict[str, Bakes]]:
    """What was measured, by rig and by version of Blender, the oldest first."""
    found: dict[str, dict[str, Bakes]] = {}
    for path in sorted(MEASUREMENTS.glob("*.json"), key=lambda path: version_key(path.stem.split(" ")[0])):
        version, rig = path.stem.split(" ", 1)
        found.setdefault(rig, {})[version] = json.loads(path.read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"Nothing in {MEASUREMENTS}: run the tests on real rigs first.")
    return found


def version_key(version: str) -> tuple[int, ...]:
    """What versions are sorted by."""
    return tuple(int(part) for part in version.split("."))


def page(rigs: dict[str, dict[str, Bakes]]) -> str:
    """The whole page; a Blender that has not measured every rig has no column."""
    versions = sorted(set.intersection(*(set(bakes) for bakes in rigs.values())), key=version_key)
    heads = ["rig", "limbs", "bakes", "frames in reach", *(f"Blender {version}" for version in versions)]
    rows = [row for rig in sorted(rigs) for row in free_rows(rig, rigs[rig], versions)]
    held = [row for rig in sorted(rigs) for row in held_rows(rig, rigs[rig])]
    table = [table_line(heads), table_line(["---"] * len(heads)), *rows]
    return "\n".join([INTRODUCTION, *table, *HELD.splitlines(), *held]) + "\n"


def free_rows(rig: str, bakes: dict[str, Bakes], versions: list[str]) -> Iterator[str]:
    """The row of a rig, where it has limbs that only keys turn."""
    newest = [bake for bake in bakes[max(bakes, key=version_key)] if not bake["held"]]
    if newest:
        reached, frames = (sum(bake[name] for bake in newest) for name in ("reached", "frames"))
        offs = [f"{1e6 * farthest(bakes[version], held=False):.2g}" for version in versions]
        yield table_line([rig, str(limbs(newest)), str(len(newest)), f"{reached} of {frames}", *offs])


def held_rows(rig: str, bakes: dict[str, Bakes]) -> Iterator[str]:
    """The row of a rig, where constraints hold some of its limbs."""
    held = [bake for bake in bakes[max(bakes, key=version_key)] if bake["held"]]
    if held:
        yield table_line([rig, str(limbs(held)), f"{max(farthest(each, held=True) for each in bakes.values()):.2g}"])


def farthest(bakes: Bakes, *, held: bool) -> float:
    """The worst of those limbs that constraints hold, or of the others."""
    return max(bake["off"] for bake in bakes if bake["held"] == held)


def limbs(bakes: Bakes) -> int:
    """How many limbs were baked."""
    return len({bake["limb"] for bake in bakes})


def table_line(cells: list[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
