"""What people wait for, in this checkout and in another one, such as an older version's: one table of both.

Run: python tests/benchmark/bench_since.py OTHER_CHECKOUT [--rows live,bakes] [--rounds 3]

Every row is measured in a Python of its own, turn by turn with the other checkout; the least of some rounds of CPU time counts.
Memory is that of Python and NumPy.
Nothing is asserted, for time depends on the machine.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
MEASURED = ("--measured", "--addon")
MILLISECONDS = 1000.0
ROUNDS = 3
MOVES = 24
"""Moves of a target, of which the quickest counts."""
PLAYED = 100
LIMBS = 4
CHAINS = (75, 150, 300)
WALKS = (1000, 3000, 6000, 12000)
REMEMBERED = {"bake": 5000, "convert": 2000, "find_contacts": 2000, "plant": 2000}
"""Frames of the tasks whose memory is measured; the bake is of one limb, with Reduce."""
FEWEST_FRAMES = 60
MEGABYTE = 1 << 20
LONG_ROWS = ("find_limbs", "plant", "memory")
"""Rows that are measured once."""


def main():
    """Measure both checkouts, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, nargs="?", help="folder of the other checkout")
    parser.add_argument("--rows", default=",".join(ROWS), help="rows to measure")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(MEASURED[0], help=argparse.SUPPRESS)
    parser.add_argument(MEASURED[1], type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measured:
        measure_here(options.measured, options.addon)
        return
    print("| | before | now |\n| --- | --- | --- |")
    for row in options.rows.split(","):
        rounds = 1 if row in LONG_ROWS else options.rounds
        turns = [[measured(row, folder) for folder in (options.other.resolve(), ROOT)] for _ in range(rounds)]
        before, now = ({name: min(turn[name] for turn in column) for name in column[0]} for column in zip(*turns, strict=True))
        for name in now:
            print(f"| {name} | {shown(name, before.get(name))} | {shown(name, now[name])} |", flush=True)


def shown(name, value):
    """A value with its unit: seconds, or what the name of the row says."""
    if value is None:
        return ""
    if "modules" in name:
        return f"{value:.0f}"
    if "memory" in name:
        return f"{value:.0f} MB"
    if "times" in name:
        return f"{value:.2f}"
    return f"{value:.2f} s" if value >= 1.0 else f"{MILLISECONDS * value:.1f} ms"


def measured(row, folder):
    """What a row gives with the add-on of a checkout, in a Python of its own."""
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "twobone_addon").symlink_to(folder / "twobone_addon")
        (Path(place) / "rivals.py").symlink_to(
            folder / "tests/benchmark/rivals.py"
        )  # it calls the add-on as that version is called
        command = [sys.executable, str(HERE), MEASURED[0], row, MEASURED[1], place]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{row} of {folder}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure_here(row, place):
    """Print what a row gives as JSON; the add-on is that in the folder `place`."""
    sys.path[:0] = [str(place)]
    import bpy  # noqa: F401 - before time is taken
    import numpy  # noqa: ICN001, F401

    os.environ["PYTHONPATH"] = str(place)
    import twobone_addon  # noqa: F401 - of the other checkout; what is imported next finds this one's beside it

    sys.path.append(str(ROOT))
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        found = ROWS[row]()
    print("\n" + json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


def spent(call):
    """Seconds of CPU that a call takes."""
    start = time.process_time()
    call()
    return time.process_time() - start


def enabling():
    """Registration, as at the start of every Blender."""
    before = len(sys.modules)

    def register():
        from twobone_addon import registration

        registration.register()

    return {"enabling": spent(register), "enabling, modules": len(sys.modules) - before}


def batch():
    """A batch of one shot, beyond what Blender takes to start twice: the batch itself and its worker."""
    from bench_batch import make_job

    with tempfile.TemporaryDirectory() as folder:
        job = make_job(Path(folder), 1)
        blender = least_of_children([sys.executable, "-c", "import bpy"])
        words = ["batch", str(job), "--jobs", "1", "--replace", "--quiet"]
        return {
            "batch of one shot, beyond two Blenders": least_of_children([sys.executable, "-m", "twobone_addon", *words])
            - 2 * blender
        }


def least_of_children(command):
    """Least seconds of CPU of a command."""
    found = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Python finds modules in the folder that it is started in before all others.
        subprocess.run(command, check=True, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def bakes():
    """Bakes of one limb, Rigify's four, and a crowd."""
    import bpy
    from rivals import bake_ours, clear_keys
    from shots import build, hundred_characters, rigify_walk

    from twobone_addon.interface.stored import properties

    properties.register()
    found = {}
    shots = {
        "one limb, 1,000 frames": lambda: build("two bones"),
        "Rigify, four limbs, 250 frames": lambda: rigify_walk(250),
        "crowd, 100 limbs, 50 frames": lambda: hundred_characters(50, 50),
    }
    for name, make in shots.items():
        bpy.ops.wm.read_factory_settings(use_empty=True)
        shot = make()
        for verify in (True, False):
            turns = []
            for _ in range(7):
                turns.append(spent(lambda: bake_ours(shot, verify=verify)))  # noqa: B023 - called at once
                clear_keys(shot)
            found[f"bake, {name}, {'verified' if verify else 'not verified'}"] = min(turns)
    return found


def posed_rig():
    """Rigify's human with stored chains that follow targets."""
    import bpy
    from shots import rigify_walk, store_chains

    from twobone_addon import registration

    registration.register()
    bpy.data.batch_remove(list(bpy.data.objects))
    shot = rigify_walk(PLAYED)
    rig = store_chains(shot)
    return rig, [bpy.data.objects[limb.target] for limb in shot.limbs]


def go_live(rig, number):
    """Let one more chain follow its target live."""
    import bpy

    rig.twobone.active_index = number
    bpy.ops.twobone.live(state="ON")


def live():
    """A target moved with Live on so many limbs, beside a bone of the rig moved."""
    import bpy

    rig, targets = posed_rig()
    layer = bpy.context.view_layer
    for target in targets:
        target.animation_data_clear()
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 0.0
    found = {"Rigify's own IK foot moved": least(layer.update, mover(rig, rig.pose.bones["foot_ik.R"]))}
    rig.pose.bones["thigh_parent.R"]["IK_FK"] = 1.0
    for number in range(LIMBS):
        go_live(rig, number)
        found[f"Live on {number + 1}: a target moved"] = least(layer.update, mover(targets[0], targets[0]))
    found["Live on 4: all targets moved"] = least(layer.update, *[mover(target, target) for target in targets])
    found["Live on 4: the body moved"] = least(layer.update, mover(rig, rig.pose.bones["torso"]))
    return found


def mover(owner, thing):
    """A function of a number that moves an object or bone."""
    base = thing.location.z

    def move(number):
        thing.location.z = base + 0.002 * (1 + number % 10)
        owner.update_tag()

    return move


def least(call, *moves):
    """Least seconds of a call after moves; the first ones do not count."""
    turns = []
    for number in range(MOVES):
        for move in moves:
            move(number)
        turns.append(spent(call))
    return min(turns[2:])


def playback():
    """Frames changed with Live on four limbs, and without."""
    import bpy

    rig, _ = posed_rig()
    scene = bpy.context.scene

    def play():
        for frame in range(1, PLAYED + 1):
            scene.frame_set(frame)

    play()
    without = min(spent(play) for _ in range(ROUNDS)) / PLAYED
    for number in range(LIMBS):
        go_live(rig, number)
    first = spent(play) / PLAYED
    with_live = min(spent(play) for _ in range(ROUNDS)) / PLAYED
    return {
        "playback, a frame": without,
        "playback with Live on 4, a frame of the first loop": first,
        "playback with Live on 4, a frame of later loops": with_live,
        "playback with Live, later loops, times": with_live / without,
    }


def find_limbs():
    """Find Limbs on a character with so many more bones: strands, bones under its hips, and bones without parent."""
    import bench_growth as growth
    import bpy

    from twobone_addon import registration

    registration.register()
    found = {}
    for kind in ("strands", "under the hips", "without parent"):
        for count in (1000, 2000):
            growth.build(**{**growth.FEW, "bones": count if kind == "strands" else 0})
            if kind != "strands":
                add_bones(bpy.data.objects["Walker"], count, "hips" if kind == "under the hips" else "")
            growth.forget_limbs()
            found[f"Find Limbs, {count:,} bones, {kind}"] = spent(growth.TASKS["find_limbs"])
    return found


def add_bones(walker, count, parent):
    """Bones beside a character, each under `parent` or under none."""
    import bpy

    bpy.ops.object.mode_set(mode="EDIT")
    made = walker.data.edit_bones
    for number in range(count):
        bone = made.new(f"loose{number}")
        bone.head, bone.tail = (0.01 * number, 2, 0), (0.01 * number, 2, 0.1)
        bone.parent = made[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")


def bake_all():
    """Bake All of so many stored chains, and pressed again."""
    import bench_growth as growth

    from twobone_addon import registration

    registration.register()
    found, turns = {}, {}
    for count in CHAINS:
        for _ in range(2):
            growth.build(**{**growth.FEW, "chains": count, "frames": 24})
            for name in (f"Bake All, {count} chains", f"Bake All, {count} chains, pressed again"):
                turns.setdefault(name, []).append(spent(growth.TASKS["bake_all"]))
    found |= {name: min(each) for name, each in turns.items()}
    first, last = (found[f"Bake All, {count} chains"] for count in (CHAINS[0], CHAINS[-1]))
    return {**found, "Bake All, 75 to 300 chains, times": last / first}


def plant():
    """Plant Feet and Find Contacts on a walk of so many frames."""
    found = {}
    operator("plant", walk(FEWEST_FRAMES))  # It imports what is needed.
    for frames in WALKS:
        walker = walk(frames)
        found[f"Find Contacts, {frames:,} frames"] = spent(lambda: operator("find_contacts", walker))  # noqa: B023
        walker = walk(frames)
        found[f"Plant Feet, {frames:,} frames"] = spent(lambda: operator("plant", walker))  # noqa: B023
    return found


def memory():
    """Peak memory of tasks beyond what there was before them; a run of a few frames has imported what they need."""
    import bench_growth as growth

    from twobone_addon import registration

    registration.register()
    growth.TASKS["bake"] = lambda: growth.operators.bake(**growth.LEG, target="Target foot.L", keys="REDUCE")
    found = {}
    for name, frames in REMEMBERED.items():
        for count in (FEWEST_FRAMES, frames):
            growth.build(**{**growth.FEW, "chains": 0, "frames": count})
            tracemalloc.start()
            growth.TASKS[name]()
            found[f"memory, {name}, {frames:,} frames"] = tracemalloc.get_traced_memory()[1] / MEGABYTE
            tracemalloc.stop()
    return found


def walk(frames):
    """A new file with a character that walks, its feet sliding, whose limbs are found."""
    import bpy

    from tests.tasks.rigs.walker import Walk, build_walker
    from twobone_addon import registration

    bpy.ops.wm.read_factory_settings(use_empty=True)
    with contextlib.suppress(ValueError):
        registration.register()
    walker, _ = build_walker(Walk(frames=frames, rate=30.0, slide=0.03))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    operator("find_limbs", walker)
    return walker


def operator(name, armature):
    import bpy

    getattr(bpy.ops.twobone, name)(armature=armature.name)


ROWS = {
    "enabling": enabling,
    "batch": batch,
    "bakes": bakes,
    "live": live,
    "playback": playback,
    "find_limbs": find_limbs,
    "bake_all": bake_all,
    "plant": plant,
    "memory": memory,
}
"""What is measured, by name."""


if __name__ == "__main__":
    main()
