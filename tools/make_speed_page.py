"""Write the tables of speed in docs/measurements.md, their plot, and the README's table, from one run on several Blenders.

python tools/make_speed_page.py RESULTS.json ...          (what tools/measure_speed.py wrote, the newest first; no packages)
"""

import argparse
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path

from drawing import BLUE, FAINT, GREY, INK, ORANGE, TEAL, Figure, Frame

ROOT = Path(__file__).resolve().parent.parent
PAGE, PLOT, README = ROOT / "docs/measurements.md", ROOT / "docs/images/speed.svg", ROOT / "README.md"

CLOCK = 0
"""Index of the time that is shown, that on the clock; 1 is CPU time."""

MILLIMETRES = 1000.0
SEEN = 0.01
"""Smallest error that is shown, in millimetres; smaller ones are shown as below it."""

FEW = 10
"""Numbers below this are shown with one decimal."""
SECOND = 1000.0

NAMES = {
    "Rigify walk": "Rigify's human with a body, torso animated, four limbs, 250 frames",
    "Rigify walk, long": "The same walking through the scene, 2,500 frames",
    "hundred characters": "A hundred characters, two legs each, 250 frames",
    "thousand characters": "A thousand characters, two legs each, 100 frames",
    "two bones": "One limb, 1,000 frames",
    "two bones, long": "One limb, 100,000 frames",
    "crowded scene": "One limb beside 200 moving, subdivided objects, 250 frames",
}
TASKS = {
    "plant": ("Plant Feet, two legs, 1,000 frames, verified", "`nla.bake` of all 11 bones, which keeps the sliding"),
    "audit": ("Audit of that walk", "the walk played once, frame by frame"),
    "batch": ("100 shots of one limb, 24 frames, CPU time", "the same with a Blender for each shot"),
}
"""Tasks of bench_tasks.py: description, and description of the alternative it is compared with."""

WAYS = (("native", "nla.bake", GREY), ("proven", "Two-Bone IK, verified", BLUE), ("quick", "not verified", TEAL))


def main() -> None:
    """Read the results, write the tables and the plot."""
    parser = argparse.ArgumentParser(description="Write the tables about speed from measurements.")
    parser.add_argument("results", nargs="+", type=Path)
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in parser.parse_args().results]
    replace_part(PAGE, "bakes", bakes_table(runs))
    replace_part(PAGE, "parts", timed_on_parts(runs))
    replace_part(PAGE, "stages", stages_table(runs))
    replace_part(PAGE, "many", many_table(runs))
    replace_part(PAGE, "tasks", tasks_table(runs))
    plot(runs[0]).save(PLOT)
    if "readme" in runs[0]:
        write_readme(runs[0])


def write_readme(run: dict) -> None:
    """Replace the rows of the README's table and the Blender of the run."""
    page = README.read_text(encoding="utf-8")
    head = "| | Two-Bone IK | instead |\n|---|---|---|\n"
    before, rest = page.split(head)
    after = rest[rest.index("\n\n") + 1 :]
    before = re.sub(r"Measured here with Blender [\d.]+", f"Measured here with Blender {run['blender'].split()[0]}", before)
    rows = "".join(f"| {' | '.join(map(str, row))} |\n" for row in run["readme"])
    README.write_text(f"{before}{head}{rows}{after}", encoding="utf-8")


def replace_part(path: Path, name: str, text: str) -> None:
    """Replace the text between the start and end comments of a name."""
    page = path.read_text(encoding="utf-8")
    start, end = (f"<!-- {name} {side} -->\n" for side in ("start", "end"))
    before, rest = page.split(start)
    _, after = rest.split(end)
    path.write_text(f"{before}{start}{text}{end}{after}", encoding="utf-8")


def table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first row is its head."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def bakes_table(runs: list[dict]) -> str:
    """Times and ratios of every shot on every Blender."""
    rows = [["shot", "Blender", "`nla.bake`", "its tips", "verified", "not verified", "our tips", "ratio", "memory"]]
    for name, shown in NAMES.items():
        for run, shot in named(runs, name):
            native, proven, quick = (duration(shot[way][CLOCK]) for way, _, _ in WAYS)
            ratio = " / ".join(ratio_of(shot, "native", way) for way in ("proven", "quick"))
            errors = [distance(shot[error]) for error in ("native_error", "error")]
            version = run["blender"].split()[0]
            rows.append([shown, version, native, errors[0], proven, quick, errors[1], ratio, f"{shot['memory']} MB"])
    return table(rows)


def timed_on_parts(runs: list[dict]) -> str:
    """A sentence on those of Blender's own bakes that took too long to be timed as a whole."""
    parts = {}
    for name, shown in NAMES.items():
        for _, shot in named(runs[:1], name):
            if shot["native_frames"] < shot["frames"]:
                parts[shown] = shot["native_frames"], shot["frames"] / shot["native_frames"]
    listed = [f'of "{shown}" on {frames} frames, multiplied by {times:g}' for shown, (frames, times) in parts.items()]
    return f"`nla.bake` is timed {'; '.join(listed)}.\n" if listed else ""


def tasks_table(runs: list[dict]) -> str:
    """Times of other tasks, compared with the alternatives without them."""
    rows = [["task", "Blender", "takes", "beside it", "takes", "ratio"]]
    for task, (shown, other) in TASKS.items():
        for run in runs:
            for line in (line for line in run.get("tasks", []) if line["task"] == task):
                times = duration(line["ours"]), other, duration(line["other"])
                rows.append([shown, run["blender"].split()[0], *times, number(line["other"] / line["ours"])])
    return table(rows)


def many_table(runs: list[dict]) -> str:
    """Time per chain, for many chains."""
    runs = [run for run in runs if "many" in run]
    counts = sorted({line["chains"] for run in runs for line in run["many"]})
    heads = [f"Blender {run['blender'].split()[0]}, {way}" for run in runs for way in ("verified", "not verified")]
    rows = [["chains", *heads]]
    for count in counts:
        found = [next((line for line in run["many"] if line["chains"] == count), None) for run in runs]
        cells = [f"{line[way]:.1f}" if line else "" for line in found for way in ("verified", "quick")]
        rows.append([f"{count:,}", *cells])
    return table(rows)


def stages_table(runs: list[dict]) -> str:
    """Shares of our own time, on the first Blender, verified."""
    stages = list(runs[0]["shots"][0]["stages"])
    rows = [["percent", *stages]]
    for name, shown in NAMES.items():
        for _, shot in named(runs[:1], name):
            whole = sum(shot["stages"].values())
            rows.append([shown, *(f"{100 * shot['stages'][stage] / whole:.0f}" for stage in stages)])
    return table(rows)


def named(runs: list[dict], name: str) -> list[tuple[dict, dict]]:
    """The shot of that name in every run, with the run."""
    return [(run, shot) for run in runs for shot in run["shots"] if shot["shot"] == name]


def ratio_of(shot: dict, above: str, below: str) -> str:
    """The ratio of two times on the clock."""
    return number(shot[above][CLOCK] / shot[below][CLOCK])


def number(value: float) -> str:
    """A number with one decimal below `FEW`, else without."""
    return f"{value:.1f}" if value < FEW else f"{value:,.0f}"


def distance(metres: float) -> str:
    """A distance in millimetres."""
    shown = metres * MILLIMETRES
    return f"{shown:.2g} mm" if shown >= SEEN else f"< {SEEN:g} mm"


def duration(milliseconds: float) -> str:
    """A duration in seconds or milliseconds."""
    if milliseconds >= SECOND:
        return f"{milliseconds / SECOND:,.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= FEW else f"{milliseconds:.1f} ms"


def plot(run: dict) -> Figure:
    """Bars on a logarithmic scale."""
    shots = [shot for name in NAMES for _, shot in named([run], name)]
    figure = Figure(860, 60 + 92 * len(shots) + 56)
    lowest, highest = 0, 6
    frame = Frame(30, 50, 800, 92 * len(shots), (lowest, 0), (highest, 1))
    for power in range(lowest, highest + 1):
        figure.line(frame, [(power, 0), (power, 1)], FAINT, 1.0)
        figure.words((frame.place((power, 0))[0], frame.top + frame.height + 20), duration(10.0**power), GREY, size=12)
    for place, (_, label, colour) in enumerate(WAYS):
        figure.parts.append(f'<rect x="{30 + 190 * place}" y="16" width="14" height="14" fill="{colour}"/>')
        figure.words((50 + 190 * place, 28), label, INK, size=13, anchor="start")
    for row, shot in enumerate(shots):
        top = frame.top + 92 * row
        figure.words((frame.left, top + 16), NAMES[shot["shot"]], INK, size=13, anchor="start")
        for place, (way, _, colour) in enumerate(WAYS):
            length = frame.place((max(lowest, math.log10(shot[way][CLOCK])), 0))[0] - frame.left
            y = top + 24 + 19 * place
            figure.parts.append(f'<rect x="{frame.left}" y="{y}" width="{length:.1f}" height="15" fill="{colour}"/>')
            figure.words((frame.left + length + 6, y + 12), duration(shot[way][CLOCK]), INK, size=11, anchor="start")
    figure.words((frame.left + frame.width, 28), f"Blender {run['blender'].split()[0]}", ORANGE, size=12, anchor="end")
    return figure


if __name__ == "__main__":
    main()
