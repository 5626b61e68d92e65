"""Retargets finished, beside the naive copy of rotations and beside Plant Feet alone, on characters made by others.

Run: python tests/benchmark/bench_retarget.py [PAIR ...]

PAIR: part of a row's name. Prints the table of `docs/measurements.md`; characters are looked for in `shared/data` beside the
checkout, and pairs of which one is absent are skipped, and said. The last four pairs were looked at for the first time when the
table was made. CPU: seconds of the first call, with its proof.
"""

import argparse
import contextlib
import math
import sys
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import twobone_addon
from tests.benchmark.retargets import CHARACTERS, Judge, Pair, copy_rotations, keys_of
from twobone_addon import registration
from twobone_addon.errors import TwoBoneError

DATA = ROOT.parent / "shared" / "data"

PAIRS = (
    Pair("CMU 02", "KayKit", 343),
    Pair("generated 07", "metarig", 152),
    Pair("CMU 131", "Rigify", 200),
    Pair("ozz", "KayKit"),
    Pair("generated 05", "KayKit", 200, 1.0),
    Pair("CMU 131", "metarig", 240, 0.08),
    Pair("generated 01", "Rigify", 150),
    Pair("generated 01", "VRM", 150),
    Pair("KayKit", "metarig", root=1.0),
    Pair("ozz", "VRM"),
    Pair("CMU 02", "Rigify", 200, 1.0),
    Pair("generated 03", "ozz", 150),
    Pair("suit", "metarig", 300),
    Pair("CMU 02", "VRM", 343),
    Pair("CMU 91", "KayKit"),
    Pair("generated 03", "metarig", 150),
)

HEAD = (
    "| pair | slide, %: source, copy, Plant, finished | soles, %: copy, Plant, finished (over its floor) | wrong bends | speed "
    "| palms, % | CPU | second call | Clear |"
)


def absent(pair):
    """The files of a pair that are not there."""
    files = [CHARACTERS[name].file for name in (pair.source, pair.result)]
    return [str(file) for file in files if "." in str(file) and not (DATA / file).exists()]


def prepared(pair):
    """Source and result, with a copy of the source's rotations, and their judge."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with contextlib.suppress(ValueError):  # it is registered
        registration.register()
    result, source = (CHARACTERS[name].open(DATA) for name in (pair.result, pair.source))
    first, last = source[0].animation_data.action.frame_range
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = math.ceil(first - 1e-3), pair.last or math.floor(last + 1e-3)
    if pair.last:
        scene.frame_start = 1
    frames = np.arange(scene.frame_start, scene.frame_end + 1)
    copy_rotations(source, result, frames, splayed=CHARACTERS[pair.source].splayed, root=pair.root)
    bpy.context.view_layer.objects.active = result[0]
    return source[0], result[0], Judge(source, result, frames)


def finished(source, result):
    """Seconds of the processor, or the sentence with which the call is refused."""
    began = time.process_time()
    try:
        twobone_addon.finish_retarget(armature=result.name, source=source.name)
    except TwoBoneError as error:
        return str(error)
    return time.process_time() - began


def planted(source, result):
    """Whether Plant Feet alone, with the source's contacts, takes the result."""
    try:
        for armature in (source, result):
            twobone_addon.find_limbs(armature=armature.name)
        twobone_addon.plant(armature=result.name, contacts_from=source.name)
    except TwoBoneError as error:
        print(f"Plant refuses: {error}", file=sys.stderr)
        return False
    return True


def blocks():
    return [len(each) for each in (bpy.data.objects, bpy.data.actions, bpy.data.armatures, bpy.data.meshes, bpy.data.texts)]


def row(pair):
    """A line of the table."""
    source, result, judge = prepared(pair)
    naive, keys, left = judge.now(), keys_of(result), blocks()
    seconds = finished(source, result)
    if isinstance(seconds, str):
        return f"| {pair} | refused: {seconds} |"
    done = judge.now()
    finished(source, result)
    again = judge.now()
    moved = float(np.linalg.norm(again["ends"] - done["ends"], axis=-1).max()) / judge.legs[1]
    bpy.ops.twobone.clear_baked(all_frames=True)
    exact = "exact" if keys_of(result) == keys and blocks() == left else "DIFFERS"
    alone = judge.now() if planted(source, result) else None
    plant = {name: "-" if alone is None else percent(alone[name]) for name in ("slides", "soles")}
    slides = ", ".join((percent(judge.skates), percent(naive["slides"]), plant["slides"], percent(done["slides"])))
    soles = ", ".join((percent(naive["soles"]), plant["soles"], f"{percent(done['soles'])} ({percent(done['own'])})"))
    palms = "-" if done["palms"] is None else percent(done["palms"])
    cells = (pair, slides, soles, f"{done['wrong']} of {done['bends']}", f"{done['speed']:.2f}", palms, f"{seconds:.1f}")
    return "| " + " | ".join(map(str, (*cells, f"{moved:.0e}", exact))) + " |"


def percent(part):
    return f"{100.0 * part:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="*", help="parts of the names of pairs; all without")
    wanted = parser.parse_args().pairs
    chosen = [pair for pair in PAIRS if not wanted or any(part in str(pair) for part in wanted)]
    print(HEAD, "|" + "---|" * (HEAD.count("|") - 1), sep="\n")
    for pair in chosen:
        missing = absent(pair)
        print(f"| {pair} | absent: {', '.join(missing)} |" if missing else row(pair), flush=True)


if __name__ == "__main__":
    main()
