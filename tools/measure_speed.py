"""Make the measurements for docs/measurements.md and the README: on an idle machine, half an hour for two Blenders.

python tools/measure_speed.py PYTHON ... [--folder build/bench]     (Pythons with `bpy`, the newest first)
python tools/make_speed_page.py build/bench/*.json                  (writes the pages)
"""

import argparse
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "tests/benchmark"


def main() -> None:
    """Run the scripts in every Python, with one results file per Python; that of the README's table in the first."""
    parser = argparse.ArgumentParser(description="Measure what docs/measurements.md shows.")
    parser.add_argument("pythons", nargs="+", help="Pythons with bpy, the newest first")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/bench", help="where the numbers go")
    counts = ["10", "100", "1000", "10000"]
    parser.add_argument("--counts", nargs="+", default=counts, help="chains of the crowds, the last in the first Python only")
    options = parser.parse_args()
    for number, python in enumerate(options.pythons):
        results = ["--results", str(options.folder / f"{number}.json")]
        counts = options.counts[:-1] if number else options.counts
        start = time.perf_counter()
        subprocess.run([python, str(SCRIPTS / "bench_bake.py"), *results], check=True)
        subprocess.run([python, str(SCRIPTS / "bench_crowd.py"), *results, "--counts", *counts], check=True)
        subprocess.run([python, str(SCRIPTS / "bench_tasks.py"), *results], check=True)
        if number == 0:
            subprocess.run([python, str(SCRIPTS / "bench_readme.py"), *results], check=True)
        print(f"{python}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
