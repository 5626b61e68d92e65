"""How the time of every task grows: each on a character whose bones, chains, frames, curves or fellow armatures are doubled.

Run: python tests/benchmark/bench_growth.py [--tasks bake_all,plant] [--by frames,bones] [--results FILE]

The character walks, with a target for each foot; beside it are limbs that follow targets, and one on an IK constraint. Each file
is saved once and opened for every task. The table has ratios only: seconds of CPU for the doubled file to those for the single,
the least of some turns each, taken in turn. 2 is linear, 1 independent. Nothing is asserted, for time depends on the machine.
"""

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import bpy
from shots import add_rig, add_target

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon import registration

SIZES = {
    "bones": {"bones": 1000},
    "chains": {"chains": 80},
    "frames": {"frames": 600},
    "curves": {"curves": 3000},
    "armatures": {"armatures": 100},
}
"""What is doubled, and the single size of that."""

FEW = {"bones": 0, "chains": 4, "frames": 60, "curves": 0, "armatures": 0}
"""Sizes of everything else."""

TURNS = 3
CHANNELS = (("location", 3), ("rotation_euler", 3), ("scale", 3))
LEG = {"armature": "Walker", "upper": "thigh.L", "lower": "shin.L", "tip": "foot.L"}

operators = bpy.ops.twobone


def forget_limbs():
    """Empty the list of chains."""
    bpy.data.objects["Walker"].twobone.chains.clear()


TASKS = {
    "find_limbs": lambda: operators.find_limbs(armature="Walker"),
    "find_contacts": lambda: operators.find_contacts(armature="Walker"),
    "plant": lambda: operators.plant(armature="Walker"),
    "fit_root": lambda: operators.fit_root(armature="Walker"),
    "audit": lambda: operators.audit(armature="Walker"),
    "bake": lambda: operators.bake(**LEG, target="Target foot.L"),
    "bake_all": lambda: operators.bake_all(scope="ACTIVE"),
    "bake_all again": lambda: operators.bake_all(scope="ACTIVE"),
    "clear": lambda: operators.clear_baked(**LEG, all_frames=True),
    "give": lambda: operators.bake_target(**LEG, target="Target foot.L"),
    "convert": lambda: operators.convert_ik(armature="Machine"),
    "switch": lambda: operators.switch(armature="Machine", upper="upper0", lower="lower0", to="FK"),
    "nudge": lambda: operators.nudge(armature="Walker", chain="leg.L", frame=20.0, offset=(0.02, 0.0, 0.05)),
    "align": lambda: operators.align_hinge(armature="Walker", upper="upper0", lower="lower0", plane="YZ", plane_space="ARMATURE"),
}
BEFORE = {
    "find_limbs": forget_limbs,
    "bake_all again": TASKS["bake_all"],
    "clear": TASKS["bake_all"],
}
"""What is done before, without counting."""


def main():
    """Measure the growth of all tasks, print the table, and keep it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(TASKS), help="tasks to measure")
    parser.add_argument("--by", default=",".join(SIZES), help="what to double")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each")
    parser.add_argument("--results", type=Path, help="JSON file for the ratios")
    options = parser.parse_args()
    registration.register()
    tasks, sizes = options.tasks.split(","), options.by.split(",")
    with tempfile.TemporaryDirectory() as folder:
        table = {size: growth(folder, size, tasks, options.turns) for size in sizes}
    print("| ratio for twice the | " + " | ".join(sizes) + " |")
    print("| --- |" + " --- |" * len(sizes))
    for task in tasks:
        print(f"| {task} | " + " | ".join(table[size][task] for size in sizes) + " |", flush=True)
    if options.results:
        options.results.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


def growth(folder, size, tasks, turns):
    """Ratio of each task's time in the doubled file to that in the single one, as text."""
    files = []
    for factor in (1, 2):
        build(**{**FEW, **{name: factor * count for name, count in SIZES[size].items()}})
        files.append(f"{folder}/{size}{factor}.blend")
        with silent():
            bpy.ops.wm.save_as_mainfile(filepath=files[-1])
    found = {}
    for task in tasks:
        rounds = [[seconds(file, task) for file in files] for _ in range(turns)]
        single, double = (min(column) for column in zip(*rounds, strict=True))
        found[task] = f"{double / single:.1f}"
        print(f"{size} {task}: {single:.2f} -> {double:.2f} s", flush=True)
    return found


def seconds(file, task):
    """Seconds of CPU of a task in a file."""
    with silent():
        bpy.ops.wm.open_mainfile(filepath=file)
        BEFORE.get(task, bool)()
        start = time.process_time()
        TASKS[task]()
        return time.process_time() - start


def build(*, bones, chains, frames, curves, armatures):
    """A new file with the character."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    walker, _ = build_walker(Walk(frames=frames, slide=0.03, raised=0.02))
    with silent():
        operators.find_limbs(armature=walker.name, targets=True)
    add_bones(walker, chains, strand=bones, keyed=curves // sum(count for _, count in CHANNELS))
    for number in range(chains):
        add_chain(walker, number, frames)
    for number in range(armatures):
        add_fellow(walker, number)
    constraint = add_rig("Machine", [("", (-2, 0, 2), 1)]).pose.bones["lower0"].constraints.new("IK")
    constraint.target, constraint.chain_count = add_target("Goal", (-2, 0, 0.8), frames), 2
    bpy.context.view_layer.objects.active = walker
    walker.select_set(state=True)
    bpy.context.view_layer.update()


def add_bones(walker, chains, *, strand, keyed):
    """Limbs beside the character, strands of fifty bones on its chest, and bones with keys in all channels."""
    bpy.ops.object.mode_set(mode="EDIT")
    made = walker.data.edit_bones
    for number in range(chains):
        x = 2.0 + 0.5 * number
        upper, lower = made.new(f"upper{number}"), made.new(f"lower{number}")
        upper.head, upper.tail = (x, 0, 2), (x, 0.3, 1.2)
        lower.head, lower.tail, lower.parent = (x, 0.3, 1.2), (x, 0, 0.4), upper
    for number in range(strand):
        bone = made.new(f"strand{number}")
        bone.head, bone.tail = (0.01 * number, 2, 0), (0.01 * number, 2, 0.1)
        bone.parent = made["chest" if number % 50 == 0 else f"strand{number - 1}"]
    for number in range(keyed):
        bone = made.new(f"keyed{number}")
        bone.head, bone.tail = (0.01 * number, 3, 0), (0.01 * number, 3, 0.1)
    bpy.ops.object.mode_set(mode="OBJECT")
    for number in range(keyed):
        for channel, _ in CHANNELS:
            walker.pose.bones[f"keyed{number}"].rotation_mode = "XYZ"
            for frame in (1, 12, 24):
                walker.pose.bones[f"keyed{number}"].keyframe_insert(channel, frame=frame)


def add_chain(walker, number, frames):
    """A stored chain for a limb, which follows a target."""
    chain = walker.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.plane = f"limb{number}", f"upper{number}", f"lower{number}", "YZ"
    chain.target = add_target(f"Target{number}", (2.0 + 0.5 * number, 0, 0.8), frames, radius=0.3)


def add_fellow(walker, number):
    """Another character with bones and an action of its own."""
    fellow = walker.copy()
    fellow.name, fellow.data = f"Fellow{number}", walker.data.copy()
    fellow.animation_data.action = walker.animation_data.action.copy()
    fellow.location.x = 5.0 * (number + 1)
    bpy.context.scene.collection.objects.link(fellow)


@contextlib.contextmanager
def silent():
    """Without what operators report on the console."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        yield


if __name__ == "__main__":
    main()
