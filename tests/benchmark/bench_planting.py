"""What Plant Feet does to characters: hips, toes, knees and skating over the leg's length, on evaluated bones before and after.

Run, in a Python with bpy: python tests/benchmark/bench_planting.py [--only WORD] [--checkout FOLDER] [--set NAME=VALUE ...]

Independent of the add-on's own report, but for which contacts there are and which frames are out of reach. Recordings and
makers of feet are those of `bench_contacts`; what is absent is skipped, and said. Columns, in parts of the leg's length unless
said: `hips`, the farthest that they were moved; `least`, what the legs' full lengths ask for with every contact at its own
mean; `toes`, the farthest that a ball was moved, and `slide`, the farthest that one was from its mean in a contact; `knee`, the
largest second difference of its angle as a multiple of what it was; `share` of the low frames that slide, before and after;
`far`, frames out of reach; `s`, seconds of CPU; F1 of contacts where the truth is known, of the worse foot. Rows about the
ground add `soles`, the share of frames with a low sole that were found as contacts, or `deep`, how far a sole, at its heel,
ball and toes, is below its ground, before and after. Rows: force plates, generated clips with contacts found (`generated`) and
with their own labels (`labels`), clips that skate and their repair (`skate`), recordings thinned to 30 a second (`studio`),
cycles in place (`cycle`), exact feet, clean and spoiled (`truth`), and dancing (`dance`), a heel behind the ankle (`heelback`),
stairs beside the steps (`beside`), one long clip (`long`).
"""

import argparse
import contextlib
import io
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmark.bench_contacts import ALL_SIDES, CORRUPTIONS, MOTIONS, SHARED, SKATES, f1, tool

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
    scored: np.ndarray | None = None
    """`(F,)` where that is known; `None` where it is everywhere."""
    on_floor: bool = True
    """Whether the rest pose stands at height 0; else the sole is as high as the toes' head."""
    labels: np.ndarray | None = None
    """`(F, 4)`, contacts that are imported."""
    settings: dict = field(default_factory=dict)
    behind: float = 0.0
    """Metres by which the heel is behind the ankle."""
    ground: Callable | None = None
    """Height of the ground at x and y, where soles are held against it."""
    has_soles: bool = False
    """Whether frames with a low sole count: of the mesh if there is one, else of heel and ball."""


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
        heel = np.array([ankle[0], ankle[1] + case.behind, 0.0 if case.on_floor else ball[2]])
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


def deepest(case):
    """How far heel, ball and end of the toes are below the ground at most while the foot truly stands, metres."""
    _, _, heels, balls = seen(case)
    rest, toes = case.rig.data.bones, []
    for frame in range(1, case.frames + 1):
        bpy.context.scene.frame_set(frame)
        bones = case.rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        toes.append([case.rig.matrix_world @ bones[leg[3]].tail for leg in case.legs])
    over = [rest[case.legs[0][3]].head_local.z * case.rig.matrix_world.to_scale().z] * 2
    soles = zip((heels, balls, np.swapaxes(np.array(toes), 0, 1)), (0.0, *over), strict=True)
    return max(case.ground(x, y) - (z - sole) for points, sole in soles for x, y, z in points[case.true])


def low_soles(case, heels, balls, length):
    """Frames `(C, F)` at which a foot's lowest point is within 2 % of the leg of the lowest it is over the take."""
    lowest = np.minimum(heels[..., 2], balls[..., 2])
    meshes = [each for each in bpy.data.objects if each.type == "MESH" and each.find_armature() == case.rig]
    for leg, heights in zip(case.legs if meshes else (), lowest, strict=bool(meshes)):
        foot = case.rig.data.bones[leg[2]]
        names = {bone.name for bone in (foot, *foot.children_recursive)}
        own = []
        for mesh in meshes:
            groups = {group.index for group in mesh.vertex_groups if group.name in names}
            vertices = mesh.data.vertices
            own.append([v.index for v in vertices if sum(g.weight for g in v.groups if g.group in groups) > 0.5])
        for frame in range(case.frames):
            bpy.context.scene.frame_set(frame + 1)
            shapes = [mesh.evaluated_get(bpy.context.evaluated_depsgraph_get()) for mesh in meshes]
            some = [
                (shape.matrix_world @ shape.data.vertices[at].co).z
                for shape, each in zip(shapes, own, strict=True)
                for at in each
            ]
            heights[frame] = min(some)
    return lowest <= lowest.min(axis=1, keepdims=True) + LOWEST * length


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
    deep = deepest(case) if case.ground else 0.0
    low = low_soles(case, heels, balls, length) if case.has_soles else None
    bpy.context.view_layer.objects.active = case.rig
    with contextlib.redirect_stdout(io.StringIO()), tempfile.TemporaryDirectory() as folder:
        bpy.ops.twobone.find_limbs(armature=case.rig.name)
        if case.labels is not None:
            np.savez(Path(folder) / "labels.npz", foot_contacts=case.labels)
            bpy.ops.twobone.import_contacts(armature=case.rig.name, filepath=str(Path(folder) / "labels.npz"))
        began = time.process_time()
        bpy.ops.twobone.plant(armature=case.rig.name, **case.settings, **settings)
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
    on = heel_on | ball_on
    if case.true is not None:
        scored = np.ones(case.frames, bool) if case.scored is None else case.scored
        found["F1"] = min(f1(*foot) for foot in zip(on[:, scored], case.true[:, scored], strict=True))
    if case.ground:
        found["deep"] = deep, deepest(case)
    if low is not None:
        found["soles"] = np.count_nonzero(on & low) / np.count_nonzero(low)
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
    joints, rate, loaded, known = rigs.force_plate_walk()
    labels = [loaded[side].astype(float) for side in ALL_SIDES]

    def at(name, fps, joints=joints, jitter=0.0):
        begin()
        if not fps:
            return replace(of_joints(name, joints, rate, true=np.array(labels) > 0.5), scored=known)
        thin, *more, scored = rigs.thinned(joints, rate, fps, *labels, known.astype(float))
        case = of_joints(name, rigs.with_jitter(thin, jitter, fps) if jitter else thin, fps, true=np.array(more) > 0.5)
        return replace(case, scored=scored > 0.5)

    for fps in (0, 60, 30, 24):
        yield f"plates {fps or 'native'}", lambda fps=fps: at("", fps)
    slid_joints, _ = rigs.with_slide(joints, (joints["L"][0] + joints["R"][0]) / 2, 0.6)
    yield "plates x0.6 60", lambda: at("", 60, slid_joints)
    yield "plates jitter 30", lambda: at("", 30, jitter=0.02)


def generated(*, imported=False):
    """With their own labels, or found contacts."""
    rigs = tool("motion_rigs")
    for clip in ("01", "03", "05", "07"):

        def made(clip=clip):
            begin()
            joints, pelvis, labels = rigs.generated_clip(clip)
            case = of_joints(clip, joints, 30, pelvis, np.array([labels[:, 0] | labels[:, 1], labels[:, 2] | labels[:, 3]]))
            return replace(case, labels=labels) if imported else case

        yield f"{'labels' if imported else 'generated'} {clip}", made


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


TRUTH_LEGS = [tuple(f"{bone}.{side}" for bone in ("Thigh", "Shin", "Foot", "Toe")) for side in ALL_SIDES]


def truths(motions=MOTIONS):
    evaluated, synth = tool("plant_eval"), tool("synth")

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
        return Case(kind, rig, TRUTH_LEGS, "Hips", bpy.context.scene.frame_end, true)

    def stop(*_):
        raise StopIteration

    whole_sample = evaluated.td.sample
    for fps in RATES:
        for kind in motions:
            yield f"truth clean {fps} {kind}", lambda kind=kind, fps=fps: made(kind, "clean", fps)
    for corruption in CORRUPTIONS:
        for fps in RATES:
            for kind in motions:
                yield (
                    f"truth {corruption} {fps} {kind}",
                    lambda kind=kind, corruption=corruption, fps=fps: made(kind, corruption, fps),
                )


def keyed(kind, fps):
    """A clean character of `feet_truth`, the number of its frames, and when its feet stand."""
    synth = tool("synth")
    begin(fps)
    rig = synth.build()
    times, feet, hips, yaw, _ = synth.motion(kind, fps)
    loc, rot, _ = synth.pose(rig, hips, yaw, feet, fps)
    synth.write(rig, loc, rot)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, len(times)
    return rig, len(times), np.array([feet[side][3] | feet[side][4] for side in ALL_SIDES])


def danced(synth, fps):
    """Side steps, a turn on a ball, a hop on both feet and one on the right; what `synth.motion` returns."""
    step, quarter, out = synth.Step, math.pi / 2, -synth.FWD
    steps = {
        "L": [
            step(0.1, out, 0, -1, -1, 0.8, 0.9),
            step(0.4, out, 0, 1.15, 1.22, 1.75, 1.85, strike="BALL"),
            step(0.7, out, 0, 2.1, 2.17, 2.5, 2.5001, strike="BALL", pitch1=0),
            step(0.7, out, 0, 2.5002, 2.5002, 2.5002, 3.1, yaw1=quarter, pitch1=0.12),
            step(0.7, out, quarter, 3.1001, 3.2, 3.9, 4.0, strike="BALL", pitch0=0.2),
            step(1.0, out, quarter, 4.35, 4.42, 4.75, 4.85, strike="BALL"),
            step(1.2, out, quarter, 5.9, 5.97, 99, 99.1),
        ],
        "R": [
            step(-0.1, out, 0, -1, -1, 1.3, 1.4),
            step(0.2, out, 0, 1.62, 1.69, 2.25, 2.35, strike="BALL"),
            step(0.72, out - 0.2, quarter, 2.85, 2.95, 3.9, 4.0, strike="BALL"),
            step(1.02, out - 0.2, quarter, 4.37, 4.44, 5.2, 5.3, strike="BALL"),
            step(1.07, out - 0.2, quarter, 5.55, 5.62, 6.0, 6.1, strike="BALL"),
            step(1.2, out - 0.2, quarter, 6.4, 6.47, 99, 99.1),
        ],
    }
    times = np.arange(7 * fps) / fps
    feet = {side: synth.feet(each, times) for side, each in steps.items()}
    yaw = quarter * synth.smooth((times - 2.4) / 1.0)
    hips = synth.lowpass((feet["L"][0] + feet["R"][0]) / 2, fps, 1.2)
    highest = np.full(len(times), np.inf)
    for side, x in (("L", synth.HALF), ("R", -synth.HALF)):
        ankles, _, _, heel, ball = feet[side]
        sides = np.stack([np.cos(yaw), np.sin(yaw)], axis=1) * x
        reach = np.where(heel | ball, 0.985, 0.999) * (synth.THIGH + synth.SHIN)
        level = np.linalg.norm(ankles[:, :2] - hips[:, :2] - sides, axis=1)
        highest = np.minimum(highest, ankles[:, 2] + np.sqrt(np.maximum(reach**2 - level**2, 0.02)) + 0.05)
    around = round(0.12 * fps)
    lowest = [highest[max(0, row - around) : row + around + 1].min() for row in range(len(times))]
    hips[:, 2] = synth.lowpass(np.array(lowest)[:, None], fps, 8)[:, 0]
    return times, feet, hips, yaw, steps


def dances():
    synth = tool("synth")
    by_name = {name.removeprefix("truth "): made for name, made in truths(("dance",))}

    def made(name):
        known = synth.motion
        synth.motion = lambda kind, fps: danced(synth, fps) if kind == "dance" else known(kind, fps)
        try:
            return by_name[name]()
        finally:
            synth.motion = known

    for name in by_name:
        yield f"dance {name.removesuffix(' dance')}", lambda name=name: made(name)


def heelback():
    synth = tool("synth")

    def made(fps):
        synth.HEELBACK = 0.045
        try:
            rig, count, true = keyed("walk", fps)
        finally:
            synth.HEELBACK = 0.0
        return Case("", rig, TRUTH_LEGS, "Hips", count, true, behind=0.045, ground=lambda *_: 0.0)

    for fps in RATES:
        yield f"heelback {fps}", lambda fps=fps: made(fps)


def beside():
    rise, tread, start, steps = 0.17, 0.3, -0.2, 14

    def made(shift, longer):
        rig, count, true = keyed("stairs", 30)
        length = tread * longer
        edges = [start + shift - length * step for step in range(steps - 1)]
        corners = [
            (2.0, 0.0),
            *((y, rise * (step + up)) for step, y in enumerate(edges) for up in (0, 1)),
            (-9.0, rise * (steps - 1)),
        ]
        mesh = bpy.data.meshes.new("Stairs")
        vertices = [(x, y, z) for y, z in corners for x in (-1.0, 1.0)]
        mesh.from_pydata(vertices, [], [(at, at + 1, at + 3, at + 2) for at in range(0, len(vertices) - 2, 2)])
        bpy.context.scene.collection.objects.link(bpy.data.objects.new("Stairs", mesh))
        rig_settings = {"ground": "OBJECT", "ground_object": "Stairs"}

        def ground(x, y):
            return rise * sum(y < edge for edge in edges)

        return Case("", rig, TRUTH_LEGS, "Hips", count, true, settings=rig_settings, ground=ground)

    leg = tool("synth").THIGH * 2
    for name, shift, longer in (
        ("0", 0, 1),
        ("+10%", 0.1 * leg, 1),
        ("-10%", -0.1 * leg, 1),
        ("longer", 0, 1.1),
        ("shorter", 0, 0.9),
    ):
        yield f"beside {name}", lambda shift=shift, longer=longer: made(shift, longer)


STUDIO = {
    "cmu_02_01_walk": ("UpLeg", "Leg", "Foot", "ToeBase"),
    "cmu_131_01_walk": ("Hip", "Knee", "Ankle", "Toe"),
}


def studio():
    """Recordings at 120 a second of which every fourth frame is left."""
    for name, bones in STUDIO.items():

        def made(name=name, bones=bones):
            begin(30)
            path = next(
                each for each in (SHARED / "data" / f"{name}.bvh", SHARED / "data" / "motion" / f"{name}.bvh") if each.exists()
            )
            with contextlib.redirect_stdout(io.StringIO()):
                bpy.ops.import_anim.bvh(filepath=str(path), update_scene_duration=True)
            rig = bpy.context.object
            for curve in tool("synth").td_curves(rig):
                for key in reversed(curve.keyframe_points):
                    if (key.co.x - 1) % 4:
                        curve.keyframe_points.remove(key, fast=True)
                for key in curve.keyframe_points:
                    key.co.x, key.interpolation = (key.co.x - 1) / 4 + 1, "LINEAR"
                curve.update()
            last = int(rig.animation_data.action.frame_range[1])
            bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
            legs = [tuple(side + bone for bone in bones) for side in ("Left", "Right")]
            return Case(name, rig, legs, "Hips", last, on_floor=False)

        yield f"studio {name}", made


KAYKIT = [(f"upperleg.{side}", f"lowerleg.{side}", f"foot.{side}", f"toes.{side}") for side in "lr"]
FOX = [
    ("b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftHand_011", ""),
    ("b_RightUpperArm_06", "b_RightForeArm_07", "b_RightHand_08", ""),
    ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018"),
    ("b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021", "b_RightFoot02_022"),
]
OZZ = [tuple(side + bone for bone in ("UpLeg", "Leg", "Foot", "FootThumb1")) for side in ("Left", "Right")]
KAYKIT_FILE = "kaykit_Med_MovementBasic.glb"
CYCLES = (
    *(
        (f"{action} {fps}", KAYKIT_FILE, f"Rig_Medium|{action}", fps, KAYKIT, "hips")
        for fps in (30, 24)
        for action in ("Running_A", "Walking_A", "Walking_B")
    ),
    ("Fox Walk 24", "Fox.glb", "Walk", 24, FOX, "b_Hip_01"),
    ("Fox Run 24", "Fox.glb", "Run", 24, FOX, "b_Hip_01"),
    ("ozz run 30", "ozz_pab_run.fbx", "Hips|run|run:BaseAnimation", 30, OZZ, "Pelvis"),
)
JUMP = "Jump_Full_Long 30", KAYKIT_FILE, "Rig_Medium|Jump_Full_Long", 30, KAYKIT, "hips"


def imported(file, action, fps):
    """The armature of a file at one of its actions, with the scene's range over it."""
    begin(fps)
    with contextlib.redirect_stdout(io.StringIO()):
        (bpy.ops.import_scene.gltf if file.endswith("glb") else bpy.ops.import_scene.fbx)(filepath=str(SHARED / "data" / file))
    rig = next(each for each in bpy.data.objects if each.type == "ARMATURE")
    for track in rig.animation_data.nla_tracks:
        track.mute = True
    rig.animation_data.action = bpy.data.actions[action]
    if hasattr(rig.animation_data, "action_slot") and rig.animation_data.action_slot is None:
        rig.animation_data.action_slot = rig.animation_data.action.slots[0]
    bpy.context.scene.render.fps = fps
    last = int(rig.animation_data.action.frame_range[1] + 1e-3)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    return rig, last


def cycles():
    def made(name, file, action, fps, *bones):
        rig, last = imported(file, action, fps)
        return Case(name, rig, *bones, last, on_floor=file != "ozz_pab_run.fbx", has_soles=True)

    for row in (*CYCLES, JUMP):
        yield f"{'jump' if row is JUMP else 'cycle'} {row[0]}", lambda row=row: made(*row)


def long():
    def made():
        begin(120)
        with contextlib.redirect_stdout(io.StringIO()):
            bpy.ops.import_anim.bvh(filepath=str(SHARED / "data" / "motion" / "cmu_131_01_walk.bvh"), update_scene_duration=True)
        legs = [(f"{side}Hip", f"{side}Knee", f"{side}Ankle", f"{side}Toe") for side in ("Left", "Right")]
        return Case("", bpy.context.object, legs, "Hips", bpy.context.scene.frame_end, on_floor=False)

    yield "1,000 frames (cmu_131)", made


GROUPS = {
    "plates": plates,
    "generated": generated,
    "labels": lambda: generated(imported=True),
    "skate": skates,
    "studio": studio,
    "cycle": cycles,
    "heelback": heelback,
    "beside": beside,
    "truth": truths,
    "dance": dances,
    "long": long,
}


def told(name, found):
    (slides, low), (slides_after, low_after) = found["share"], found["after"]
    more = f" F1 {found['F1']:.3f}" if "F1" in found else ""
    more += f" soles {found['soles']:.2f}" if "soles" in found else ""
    more += " deep {:.4f} > {:.4f} m".format(*found["deep"]) if "deep" in found else ""
    return (
        f"{name:28} hips {found['hips']:.4f} least {found['least']:.4f} toes {found['toes']:.4f} slide {found['slide']:.4f} "
        f"knee {found['knee']:5.2f} share {slides / low:.2f} > {slides_after / low_after:.2f} far {found['far']:3.0f} "
        f"{found['s']:.2f} s{more}"
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
    scores = [found["F1"] for found in each if "F1" in found]
    true = f" F1 {np.mean(scores):.3f} worst {min(scores):.3f}" if scores else ""
    return (
        f"= {name:26} hips {worst['hips']:.4f} (median {np.median([found['hips'] for found in each]):.4f}) "
        f"toes {worst['toes']:.4f} slide {worst['slide']:.4f} knee {worst['knee']:.2f} share {shares} far {worst['far']}{true}"
    )


if __name__ == "__main__":
    main()
