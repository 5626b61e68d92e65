"""What Plant Feet does to characters: hips, toes, knees and skating over the leg's length, on evaluated bones before and after.

Run, in a Python with bpy: python tests/benchmark/bench_planting.py [--only WORD] [--checkout FOLDER] [--set NAME=VALUE ...]

Independent of the add-on's own report, but for which contacts there are and which frames are out of reach. Recordings and
makers of feet are those of `bench_contacts`; what is absent is skipped, and said. Columns, in parts of the leg's length unless
said: `hips`, the farthest that they were moved; `least`, what the legs' full lengths ask for with every contact at its own
mean; `toes`, the farthest that a ball was moved, and `slide`, the farthest that one was from its mean in a contact; `knee`, the
largest second difference of its angle as a multiple of what it was; `share` of the low frames that slide, before and after;
`far`, frames out of reach; `s`, seconds of CPU; F1 of contacts where the truth is known.
"""

import argparse
import contextlib
import io
import json
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmark.bench_contacts import ALL_SIDES, MOTIONS, SHARED, SKATES, tool

LOW, LOWEST, FAST = 0.056, 0.02, 0.56
RATES = (24, 30, 60, 120)


@dataclass
class Case:
    """A keyed character: names of upper, lower, foot and toe of each leg (a tail where there is no toe), and the root."""

    name: str
    rig: bpy.types.Object
    legs: list
    root: str
    frames: int
    true: np.ndarray | None = None
    """`(C, F)`"""
    on_floor: bool = True
    """Whether the rest pose stands at height 0; else the sole is as high as the toes' head."""


def seen(case, step=1.0):
    """World heads `(F, 3)` of the root, of hip, knee, ankle `(C, F, 3, 3)`, heels and balls `(C, F, 3)`."""
    scene, frames = bpy.context.scene, np.arange(1, case.frames + 1e-6, step)
    root, joints, points = [], [], []
    rest = case.rig.data.bones
    world = np.array(case.rig.matrix_world)
    offsets = []
    for _, _, foot, toe in case.legs:
        matrix = world @ np.array(rest[foot].matrix_local)
        ankle = matrix[:3, 3]
        ball = (world @ np.array([*(rest[toe].head_local if toe else rest[foot].tail_local), 1.0]))[:3]
        heel = np.array([*ankle[:2], 0.0 if case.on_floor else ball[2]])
        offsets.append([np.linalg.inv(matrix) @ [*place, 1.0] for place in (heel, ball)])
    for frame in frames:
        scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
        posed = case.rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world, bones = np.array(posed.matrix_world), posed.pose.bones
        root.append((world @ np.array([*bones[case.root].head, 1.0]))[:3])
        joints.append([[(world @ np.array([*bones[name].head, 1.0]))[:3] for name in leg[:3]] for leg in case.legs])
        points.append(
            [
                [(world @ np.array(bones[leg[2]].matrix) @ at)[:3] for at in both]
                for leg, both in zip(case.legs, offsets, strict=True)
            ]
        )
    joints, points = np.swapaxes(np.array(joints), 0, 1), np.array(points).transpose(1, 2, 0, 3)
    return np.array(root), joints, points[:, 0], points[:, 1]


def share(balls, length, rate):
    low = balls[..., 2] <= np.quantile(balls[..., 2], LOWEST, axis=-1, keepdims=True) + LOW * length
    fast = np.linalg.norm(np.gradient(balls[..., :2], 1 / rate, axis=-2), axis=-1) > FAST * length
    return np.count_nonzero(low & fast), np.count_nonzero(low)


def bends(joints):
    upper, lower = joints[..., 1, :] - joints[..., 0, :], joints[..., 2, :] - joints[..., 1, :]
    angles = np.arctan2(np.linalg.norm(np.cross(upper, lower), axis=-1), np.sum(upper * lower, axis=-1))
    return np.abs(np.diff(angles, 2, axis=-1)).max()


def runs(mask):
    return np.flatnonzero(np.diff(np.concatenate([[0], mask, [0]]).astype(int))).reshape(-1, 2).tolist()


def slid(points, stands):
    """Farthest `points` `(C, F, 3)` are from their mean in one row of frames in which they stand."""
    rows = [each[a:b] for each, on in zip(points, stands, strict=True) for a, b in runs(on)]
    return max((np.linalg.norm(row - row.mean(0), axis=1).max() for row in rows), default=0.0)


def least_move(joints, length, stands):
    """What contacts ask of the hips: a point stands where it is on average, the ankle as far from it as now, and no leg is longer
    than it is; the smallest move at each frame, by Dykstra's projections."""
    full = np.linalg.norm(np.diff(joints, axis=2), axis=-1).sum(-1).max(-1)
    moves = np.zeros((joints.shape[1], 3))
    targets, wanted = joints[:, :, 2].copy(), np.zeros(joints.shape[:2], bool)
    for leg in range(len(joints)):
        for points, on in stands:
            for a, b in runs(on[leg]):
                if a < b:
                    targets[leg, a:b] = joints[leg, a:b, 2] + points[leg, a:b].mean(0) - points[leg, a:b]
                    wanted[leg, a:b] = True
    back = np.zeros((len(joints), *moves.shape))
    for _ in range(200):
        for leg in range(len(joints)):
            start = moves + back[leg]
            way = targets[leg] - joints[leg, :, 0] - start
            far = np.linalg.norm(way, axis=-1)
            # A leg that is straighter already may stay as it is.
            reach = np.maximum(full[leg], np.linalg.norm(joints[leg, :, 2] - joints[leg, :, 0], axis=-1))
            part = np.where(wanted[leg] & (far > reach), 1.0 - reach / np.maximum(far, 1e-9), 0.0)
            moves = start + way * part[:, None]
            back[leg] = start - moves
    return np.linalg.norm(moves, axis=-1).max() / length


def measured(case, settings):
    scene = bpy.context.scene
    rate = scene.render.fps / scene.render.fps_base
    root, joints, heels, balls = seen(case)
    length = float(np.linalg.norm(np.diff(joints, axis=2), axis=-1).sum(-1).max(-1).mean())
    bpy.context.view_layer.objects.active = case.rig
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.twobone.find_limbs(armature=case.rig.name)
        began = time.process_time()
        bpy.ops.twobone.plant(armature=case.rig.name, **settings)
    seconds = time.process_time() - began
    report = json.loads(bpy.context.window_manager.twobone_report)
    now_root, now_joints, _, now_balls = seen(case)
    heel_on, ball_on = np.zeros(balls.shape[:2], bool), np.zeros(balls.shape[:2], bool)
    by_bone = {leg[0]: number for number, leg in enumerate(case.legs)}
    for chain in report["chains"]:
        for contact in chain["contacts"] if chain["upper"] in by_bone else ():
            rows = slice(round(contact["first"]) - 1, round(contact["last"]))
            for on, point in ((heel_on, "HEEL"), (ball_on, "BALL")):
                on[by_bone[chain["upper"]], rows] |= contact["point"] in (point, "BOTH")
    far = sum(b - a + 1 for chain in report["chains"] for a, b in chain["out_of_reach"])
    before, after = share(balls, length, rate), share(now_balls, length, rate)
    toes = np.linalg.norm(now_balls - balls, axis=-1)
    found = {
        "hips": np.linalg.norm(now_root - root, axis=-1).max() / length,
        "least": least_move(joints, length, ((heels, heel_on), (balls, ball_on))),
        "toes": toes.max() / length,
        "slide": slid(balls, ball_on) / length,
        "knee": bends(now_joints) / max(bends(joints), 1e-9),
        "share": before,
        "after": after,
        "far": far,
        "s": seconds,
    }
    if case.true is not None:
        on = heel_on | ball_on
        found["F1"] = 2 * np.count_nonzero(on & case.true) / max(1, np.count_nonzero(on) + np.count_nonzero(case.true))
    found["sentence"] = report["sentence"]
    return found


# --- cases


def begin(rate=30):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    from twobone_addon import registration

    with contextlib.suppress(ValueError):
        registration.register()
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = rate, 1.0


MOTION_LEGS = [(f"UpLeg{side}", f"Leg{side}", f"Foot{side}", f"Toe{side}") for side in ALL_SIDES]


def of_joints(name, joints, rate, pelvis=None, true=None):
    rig = tool("motion_rigs").rig_from_joints(joints, rate, pelvis)
    return Case(name, rig, MOTION_LEGS, "Hips", bpy.context.scene.frame_end, true)


def plates():
    rigs = tool("motion_rigs")
    joints, rate, loaded, _ = rigs.force_plate_walk()
    labels = [loaded[side].astype(float) for side in ALL_SIDES]

    def at(name, fps, joints=joints, jitter=0.0):
        begin()
        if not fps:
            return of_joints(name, joints, rate, true=np.array(labels) > 0.5)
        thin, *more = rigs.thinned(joints, rate, fps, *labels)
        return of_joints(name, rigs.with_jitter(thin, jitter, fps) if jitter else thin, fps, true=np.array(more) > 0.5)

    for fps in (0, 60, 30, 24):
        yield f"plates {fps or 'native'}", lambda fps=fps: at("", fps)
    slid_joints, _ = rigs.with_slide(joints, (joints["L"][0] + joints["R"][0]) / 2, 0.6)
    yield "plates x0.6 60", lambda: at("", 60, slid_joints)
    yield "plates jitter 30", lambda: at("", 30, jitter=0.02)


def generated():
    rigs = tool("motion_rigs")
    for clip in ("01", "03", "05", "07"):

        def made(clip=clip):
            begin()
            joints, pelvis, labels = rigs.generated_clip(clip)
            return of_joints(clip, joints, 30, pelvis, np.array([labels[:, 0] | labels[:, 1], labels[:, 2] | labels[:, 3]]))

        yield f"generated {clip}", made


def skates():
    for name in SKATES:
        for which in ("raw", "fixed"):

            def made(name=name, which=which):
                begin()
                path = SHARED / "data" / "motion" / f"skate_{name}_{which}.bvh"
                with contextlib.redirect_stdout(io.StringIO()):
                    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_duration=True)
                rig = bpy.context.object
                legs = [(f"{side}UpLeg", f"{side}Leg", f"{side}Foot", f"{side}ToeBase") for side in ("Left", "Right")]
                first, last = rig.animation_data.action.frame_range
                bpy.context.scene.frame_start, bpy.context.scene.frame_end = int(first), int(last)
                return Case(name, rig, legs, "Hips", int(last), on_floor=False)

            yield f"skate {which} {name}", made


def truths():
    evaluated, synth = tool("plant_eval"), tool("synth")
    legs = [tuple(f"{bone}.{side}" for bone in ("Thigh", "Shin", "Foot", "Toe")) for side in ALL_SIDES]

    def made(kind, corruption, fps):
        begin(fps)
        try:
            # It spoils the motion, and stops where it would begin to measure.
            evaluated.td.sample = stop
            with contextlib.suppress(StopIteration):
                evaluated.case(kind, corruption, fps)
        finally:
            evaluated.td.sample = whole_sample
        rig = next(each for each in bpy.data.objects if each.name.startswith("Synth"))
        _, feet, *_ = synth.motion(kind, fps)
        true = np.array([feet[side][3] | feet[side][4] for side in ALL_SIDES])
        return Case(kind, rig, legs, "Hips", bpy.context.scene.frame_end, true)

    def stop(*_):
        raise StopIteration

    whole_sample = evaluated.td.sample
    for fps in RATES:
        for kind in MOTIONS:
            yield f"truth clean {fps} {kind}", lambda kind=kind, fps=fps: made(kind, "clean", fps)
    for corruption in ("slide", "retarget", "float", "noise0.3", "smooth", "tpose", "glitch"):
        for kind in MOTIONS:
            yield f"truth {corruption} 30 {kind}", lambda kind=kind, corruption=corruption: made(kind, corruption, 30)


KAYKIT = [(f"upperleg.{side}", f"lowerleg.{side}", f"foot.{side}", f"toes.{side}") for side in "lr"]
CYCLES = ("Running_A", "Walking_A", "Walking_B")


def cycles():
    for action in CYCLES:

        def made(action=action):
            begin(30)
            with contextlib.redirect_stdout(io.StringIO()):
                bpy.ops.import_scene.gltf(filepath=str(SHARED / "data" / "kaykit_Med_MovementBasic.glb"))
            rig = next(each for each in bpy.data.objects if each.type == "ARMATURE")
            for track in rig.animation_data.nla_tracks:
                track.mute = True
            rig.animation_data.action = bpy.data.actions[f"Rig_Medium|{action}"]
            if hasattr(rig.animation_data, "action_slot") and rig.animation_data.action_slot is None:
                rig.animation_data.action_slot = rig.animation_data.action.slots[0]
            last = int(rig.animation_data.action.frame_range[1])
            bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
            return Case(action, rig, KAYKIT, "hips", last)

        yield f"cycle {action}", made


def long():
    def made():
        begin(120)
        with contextlib.redirect_stdout(io.StringIO()):
            bpy.ops.import_anim.bvh(filepath=str(SHARED / "data" / "motion" / "cmu_131_01_walk.bvh"), update_scene_duration=True)
        legs = [(f"{side}Hip", f"{side}Knee", f"{side}Ankle", f"{side}Toe") for side in ("Left", "Right")]
        return Case("", bpy.context.object, legs, "Hips", bpy.context.scene.frame_end, on_floor=False)

    yield "1,000 frames (cmu_131)", made


GROUPS = {"plates": plates, "generated": generated, "skate": skates, "cycle": cycles, "truth": truths, "long": long}


def told(name, found):
    (slides, low), (slides_after, low_after) = found["share"], found["after"]
    true = f" F1 {found['F1']:.3f}" if "F1" in found else ""
    return (
        f"{name:28} hips {found['hips']:.4f} least {found['least']:.4f} toes {found['toes']:.4f} slide {found['slide']:.4f} "
        f"knee {found['knee']:5.2f} share {slides / low:.2f} > {slides_after / low_after:.2f} far {found['far']:3.0f} "
        f"{found['s']:.2f} s{true}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose Plant Feet is measured")
    parser.add_argument("--only", default="", help="rows with this word")
    parser.add_argument("--set", nargs="*", default=(), help="settings of Plant Feet, NAME=VALUE")
    parser.add_argument("--say", action="store_true", help="the report's sentence as well")
    options = parser.parse_args()
    sys.path.insert(0, str(options.checkout))
    settings = {}
    for name, value in (each.split("=") for each in options.set):
        settings[name] = (
            float(value) if value.replace(".", "").isdigit() else value == "True" if value in ("True", "False") else value
        )
    for group, rows in GROUPS.items():
        try:
            pooled = {}
            for name, made in rows():
                if options.only not in name:
                    continue
                found = measured(made(), settings)
                print(told(name, found), *([found["sentence"]] if options.say else []), flush=True)
                pooled.setdefault(" ".join(name.split()[: 3 if group == "truth" else 2]), []).append(found)
            for name, each in pooled.items():
                if len(each) > 1:
                    print(summary(name, each), flush=True)
        except (FileNotFoundError, ModuleNotFoundError, StopIteration, KeyError) as absent:
            print(f"{group}: skipped, data are absent ({absent!r})")
    sys.stdout.flush()
    os._exit(0)


def summary(name, each):
    pooled = [np.sum([found[when] for found in each], axis=0) for when in ("share", "after")]
    worst = {key: max(found[key] for found in each) for key in ("hips", "toes", "slide", "knee", "far")}
    shares = " > ".join(f"{slides / low:.3f}" for slides, low in pooled)
    true = f" F1 {np.mean([found['F1'] for found in each]):.3f}" if "F1" in each[0] else ""
    return (
        f"= {name:26} hips {worst['hips']:.4f} (median {np.median([found['hips'] for found in each]):.4f}) "
        f"toes {worst['toes']:.4f} slide {worst['slide']:.4f} knee {worst['knee']:.2f} share {shares} far {worst['far']}{true}"
    )


if __name__ == "__main__":
    main()
