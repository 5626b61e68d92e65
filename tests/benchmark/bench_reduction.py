"""Our reduced keys against Blender's own `graph.decimate` in error mode, at the same worst drift of the tip.

Run: python tests/benchmark/bench_reduction.py [--data FOLDER] [--case WORD ...] [--table FILE]

Every case is baked at full rate with Bezier keys; that is the motion which both have to keep. Ours is the bake with
reduced keys. Decimate gets the full-rate bake and the largest error margin, found by bisection, with which its worst
drift is not above ours. Drift is what Blender evaluates at the frames of the full-rate keys, which both have to keep;
what is between them, decimate does not know. Keys are counted over all curves, and as frames that have a key.
"""

import argparse
import math
import os
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.real.rigs import KAYKIT, WALKING_LIMBS, RealLimb, open_rig, plane_that_shows
from tests.tasks.scenes import BoneShape, Limb, add_empty, build_armature, key_places, set_range
from twobone_addon import registration
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.pipeline.run import run
from twobone_addon.scene.sampling.quantities import Quantity
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.tasks import BakeAllSettings
from twobone_addon.tasks.bake import BAKE

ROOT = Path(__file__).resolve().parents[2]

TOLERANCES = (0.001, 0.005)
"""Of the limb's length."""

BISECTIONS = 14
SMALLEST_MARGIN, LARGEST_MARGIN = 1e-7, 1.0

LEG = (
    BoneShape("parent", (0, 0, 0), (0, 0, 1)),
    BoneShape("upper", (0, 0, 0), (0, 0, -1), "parent"),
    BoneShape("lower", (0, 0, -1), (0, 0, -2), "upper", connected=True),
)


@dataclass(frozen=True)
class Case:
    """One limb that follows one target."""

    name: str
    rig: object
    limb: Limb
    plane: str
    frames: tuple
    length: float
    tip: np.ndarray = field(repr=False)
    """`(3,)` in the space of the bone that carries the tip."""

    def settings(self, **more):
        return BakeSettings(
            **self.limb.names(),
            target="Target",
            plane=self.plane,
            bend="KEEP" if self.plane == "REST" else "POSITIVE",
            frame_range="CUSTOM",
            frame_start=float(self.frames[0]),
            frame_end=float(self.frames[1]),
            verify=False,
            **more,
        )


def main():
    """Measure what the command line asks for."""
    options = parse()
    registration.register()
    lines, ratios = [], []
    for name, build in cases(options.data).items():
        if options.case and not any(word in name for word in options.case):
            continue
        for share in TOLERANCES:
            bpy.ops.wm.read_factory_settings(use_empty=True)
            ours, theirs, drift, length = compare(build(), share)
            ratios.append([theirs[0] / ours[0], theirs[1] / ours[1]])
            counts = [f"{count} ({columns})" for count, columns in (ours, theirs)]
            lines.append((name, f"{share:.1%}", f"{drift / length:.3%}", *counts, *(f"{ratio:.1f}" for ratio in ratios[-1])))
            print(*lines[-1], sep=" | ", flush=True)
    header = (
        "case",
        "tolerance / length",
        "worst drift / length",
        "our keys (frames)",
        "decimate's",
        "ratio of keys",
        "ratio of frames",
    )
    table = "\n".join(f"| {' | '.join(map(str, row))} |" for row in (header, ["---"] * len(header), *lines)) + "\n"
    summary = f"Blender {bpy.app.version_string}"
    for what, column in zip(("keys", "frames"), zip(*ratios, strict=True), strict=True):
        summary += f"; ratio of {what}: median {statistics.median(column):.1f}, least {min(column):.1f}"
    print(f"\n{table}\n{summary}")
    if options.table:
        options.table.write_text(f"{table}\n{summary}", encoding="utf-8")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = Path(os.environ.get("TWOBONE_TEST_DATA", ROOT.parent / "shared" / "data"))
    parser.add_argument("--data", type=Path, default=folder, help="folder of real rigs")
    parser.add_argument("--case", nargs="+", help="only cases with one of these words in their names")
    parser.add_argument("--table", type=Path, help="file for the table")
    return parser.parse_args()


def compare(case, share):
    """Keys of ours, keys of decimate's (see `key_count`), the worst drift of ours, the limb's length."""
    tolerance = share * case.length
    full = case.settings(interpolation="BEZIER")
    run(bpy.context.scene, BAKE, BakeAllSettings(chains=(full,)))
    motion = tips(case)
    reduced = case.settings(keys="REDUCE", tolerance=tolerance)
    run(bpy.context.scene, BAKE, BakeAllSettings(chains=(reduced,)))
    ours, drift = key_count(case), worst(case, motion)
    fewest = None
    low, high = math.log(SMALLEST_MARGIN), math.log(LARGEST_MARGIN)
    for _ in range(BISECTIONS):
        margin = math.exp(0.5 * (low + high))
        run(bpy.context.scene, BAKE, BakeAllSettings(chains=(full,)))
        decimate(case, margin)
        if worst(case, motion) <= drift:
            low = math.log(margin)
            fewest = min(filter(None, (fewest, key_count(case))))
        else:
            high = math.log(margin)
    return ours, fewest, drift, case.length


def decimate(case, margin):
    """Blender's own operator on the chain's curves, in a Graph Editor that takes the place of any area."""
    window = bpy.data.window_managers[0].windows[0]
    area = window.screen.areas[0]
    area.type = "GRAPH_EDITOR"
    area.spaces.active.dopesheet.show_only_selected = False
    for fcurve in all_curves():
        fcurve.select = False
        for key in fcurve.keyframe_points:
            key.select_control_point = False
    for fcurve in chain_curves(case):
        fcurve.select = True
        for key in fcurve.keyframe_points:
            key.select_control_point = True
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        assert bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=margin) == {"FINISHED"}


def tips(case):
    """`(F, 3)` world space, as Blender evaluates the animation."""
    first, last = case.frames
    frames = np.arange(first, last + 1.0)
    carrier = Quantity("WORLD", case.limb.armature, case.limb.carrier)
    world = sample(bpy.context.scene, [carrier], frames, evaluation="PROBES")[carrier]
    return world[:, :3, :3] @ case.tip + world[:, :3, 3]


def worst(case, motion):
    return float(np.linalg.norm(tips(case) - motion, axis=-1).max())


def key_count(case):
    """Keys over all curves, and frames that have one."""
    frames = [key.co.x for fcurve in chain_curves(case) for key in fcurve.keyframe_points]
    return len(frames), len({round(frame, 2) for frame in frames})


def chain_curves(case):
    wanted = tuple(f'pose.bones["{bone}"].rotation_' for bone in (case.limb.upper, case.limb.lower))
    return [fcurve for fcurve in curves_of(case.rig) if fcurve.data_path.startswith(wanted)]


def all_curves():
    return [fcurve for thing in bpy.data.objects for fcurve in curves_of(thing)]


def curves_of(thing):
    data = thing.animation_data
    if data is None or data.action is None:
        return []
    if not hasattr(data.action, "layers"):
        return list(data.action.fcurves)
    bags = [strip.channelbag(data.action_slot) for layer in data.action.layers for strip in layer.strips]
    return [fcurve for bag in bags if bag for fcurve in bag.fcurves]


def cases(folder):
    """Name to what builds it."""
    made = {}
    for mode in ("XYZ", "QUATERNION"):
        for name, path in PATHS.items():
            made[f"{name}, {mode.title() if mode == 'QUATERNION' else 'Euler'}"] = lambda mode=mode, path=path: drawn(mode, path)
    if folder.is_dir():
        kaykit = [
            RealLimb(KAYKIT, upper, lower, end, frames, action)
            for action, frames in (("Running_A", (1, 20)), ("Walking_A", (1, 25)))
            for upper, lower, end in (("upperleg.l", "lowerleg.l", "foot.l"), ("upperarm.r", "lowerarm.r", "wrist.r"))
        ]
        for real in (*WALKING_LIMBS, *kaykit):
            made[str(real)] = lambda real=real: captured(folder, real)
    return made


def circle(frame):
    return 0.9 * math.cos(frame / 12), 0.9 * math.sin(frame / 12) - 0.6


def figure_eight(frame):
    return 0.9 * math.sin(frame / 15), -1.2 + 0.5 * math.sin(2 * frame / 15)


NOISE = np.random.default_rng(7).normal(scale=0.02, size=(400, 2))


def noisy(frame):
    return tuple(np.array(circle(frame)) + NOISE[frame])


PATHS = {"circle": circle, "figure of eight": figure_eight, "noisy circle": noisy}


def drawn(mode, path):
    """A leg of two metres that follows a drawn path."""
    frames = (1, 150)
    set_range(*frames)
    rig = build_armature(LEG)
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    key_places(add_empty(), [(0, *path(frame)) for frame in range(frames[0], frames[1] + 1)], frames[0])
    return Case("", rig, Limb(rig.name), "YZ", frames, 2.0, np.array([0.0, 1.0, 0.0]))


def captured(folder, real):
    """A limb of a real rig that follows where its own end was."""
    rig, limb = open_rig(folder, real)
    end = Quantity("WORLD", rig.name, real.end)
    frames = np.arange(real.frames[0], real.frames[1] + 1.0)
    places = sample(bpy.context.scene, [end], frames, evaluation="PROBES")[end][:, :3, 3]
    key_places(add_empty(), places.tolist(), real.frames[0])
    bones = rig.data.bones
    joints = np.array([bones[name].head_local for name in (real.upper, real.lower, real.end)])
    scale = float(np.cbrt(abs(np.linalg.det(np.array(rig.matrix_world)[:3, :3]))))
    length = scale * float(np.linalg.norm(np.diff(joints, axis=0), axis=1).sum())
    return Case("", rig, limb, plane_that_shows(rig, limb), real.frames, length, np.zeros(3))


if __name__ == "__main__":
    main()
