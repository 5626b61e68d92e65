"""What reports say, beside what Blender's evaluation shows: our own measurement of each task's main numbers."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from tests.promises.refused_calls import armature
from tests.promises.tasks_under_test import TaskUnderTest
from tests.promises.ways import operator
from tests.tasks.checks.measuring import evaluate
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import Limb

Told = tuple[str, Any, Any, float]
"""What it is, what the report says, what was measured, and how far these may be apart."""

CLOSE = 2e-6
REDUCED = {"keys": "REDUCE", "tolerance": 0.03}
"""Settings with which something is left to be measured."""


def frames() -> range:
    return range(bpy.context.scene.frame_start, bpy.context.scene.frame_end + 1)


def report_of(task: TaskUnderTest, **given: Any) -> dict[str, Any]:
    ended = operator(task, given)
    assert ended.done, ended.said
    return ended.report or {}


def baked(task: TaskUnderTest) -> Iterator[Told]:
    """How far the tip is from its target's projection on the plane."""
    chains = armature().twobone.chains
    for name, value in REDUCED.items():
        setattr(chains[0], name, value)
    report = report_of(task, **(REDUCED if task.name == "bake" else {}))["chains"][0]
    seen = evaluate(armature(), Limb("Rig"), frames(), target=bpy.data.objects["Target"])
    yield "frames", report["frames"], len(frames()), 0
    yield "max_error", report["max_error"], seen.errors.max(), CLOSE
    yield "mean_error", report["mean_error"], seen.errors.mean(), CLOSE
    yield "keys", report["keys"], keys_on(armature(), ("upper", "lower"), frames()), 0
    assert report["max_error"] > CLOSE, "nothing was left to be measured"


def given_to_target(task: TaskUnderTest) -> Iterator[Told]:
    """How far the target is from the tip."""
    report = report_of(task, **REDUCED)["chains"][0]
    tips, places = [], []
    for frame in frames():
        bpy.context.scene.frame_set(frame)
        rig = armature().evaluated_get(bpy.context.evaluated_depsgraph_get())
        tips.append((rig.matrix_world @ rig.pose.bones["lower"].tail)[:])
        places.append(bpy.data.objects["Target"].matrix_world.translation[:])
    yield "max_error", report["max_error"], np.linalg.norm(np.subtract(tips, places), axis=1).max(), CLOSE


def converted(task: TaskUnderTest) -> Iterator[Told]:
    """How far the limb's bones move: their heads, and points beside them, as far away as the longer bone is long."""
    before = points_around(("upper", "lower"))
    report = report_of(task, **REDUCED)["chains"][0]
    moved = np.linalg.norm(points_around(("upper", "lower")) - before, axis=-1).max()
    yield "max_moved", report["max_moved"], moved, 1e-5


def switched(task: TaskUnderTest) -> Iterator[Told]:
    """How far joints are seen to move."""
    before = ends(("upper", "lower"))
    report = report_of(task)["chains"][0]
    yield "max_moved", report["max_moved"], np.linalg.norm(ends(("upper", "lower")) - before, axis=-1).max(), CLOSE


def found_contacts(task: TaskUnderTest) -> Iterator[Told]:
    """What is keyed on the chains, frame by frame."""
    report = report_of(task)
    for chain in report["chains"]:
        said = ["NONE"] * len(frames())
        for first, last, point in chain["contacts"]:
            for frame in range(int(first), int(last) + 1):
                said[frame - frames()[0]] = point
        shown = []
        for frame in frames():
            bpy.context.scene.frame_set(frame)
            shown.append(armature().twobone.chains[chain["chain"]].contact)
        assert said == shown, chain["chain"]
        yield (
            "contacts",
            len(chain["contacts"]),
            sum(1 for a, b in zip(["NONE", *shown], shown, strict=False) if b not in ("NONE", a)),
            0,
        )


def planted(task: TaskUnderTest) -> Iterator[Told]:
    """How far the hips moved, how hard knees are bent, and that no ball that stands gets farther than its slide."""
    hips = ends(("hips",))[:, 0]
    report = report_of(task)
    yield "max_move", report["root"]["max_move"], np.linalg.norm(ends(("hips",))[:, 0] - hips, axis=1).max(), 1e-5
    for leg in report["chains"]:
        knees = knee_angles(leg["upper"], leg["lower"])
        fastest = np.abs(np.diff(knees, 2)).max() * bpy.context.scene.render.fps**2
        yield f"knee of {leg['chain']}", leg["knee_acceleration_after"], fastest, 0.01 * fastest
        toes = ends((leg["tip"].replace("foot", "toe"),))[:, 0]
        for contact in leg["contacts"]:
            stood = toes[int(contact["first"]) - frames()[0] : int(contact["last"]) - frames()[0] + 1]
            apart = max(math.dist(one, other) for one in stood for other in stood)
            assert contact["point"] == "HEEL" or apart <= 2.0 * contact["slide_after"] + CLOSE, contact
    assert any(contact["point"] != "HEEL" for leg in report["chains"] for contact in leg["contacts"])


def finished(task: TaskUnderTest) -> Iterator[Told]:
    """How far the hips moved, and that balls that stand are where the source has them: still, and on the floor."""
    hips = ends(("hips",))[:, 0]
    report = report_of(task)
    yield "max_move", report["max_move"], np.linalg.norm(ends(("hips",))[:, 0] - hips, axis=1).max(), 1e-5
    yield "scale", report["scale"], 1.0, 1e-5
    for leg in report["chains"]:
        assert leg["slide_between"] <= 2e-4, leg
        assert leg["contacts"] > 0, leg
        assert leg["sole_after"] < leg["sole_before"], leg


def root_fitted(task: TaskUnderTest) -> Iterator[Told]:
    """How far the hips moved, and at how many frames the leg is long enough."""
    hips = ends(("hips",))[:, 0]
    report = report_of(task)
    bone, (chain,) = report["root"]["bone"], report["chains"]
    yield "max_move", report["root"]["max_move"], np.linalg.norm(ends((bone,))[:, 0] - hips, axis=1).max(), 1e-5
    length = sum(armature().data.bones[name].length for name in ("thigh.L", "shin.L"))
    target = []
    for frame in frames():
        bpy.context.scene.frame_set(frame)
        target.append(bpy.data.objects["Target.L"].matrix_world.translation[:])
    away = np.linalg.norm(ends(("thigh.L",))[:, 0] - target, axis=1)
    yield "reached", chain["reached"], int((away <= length + CLOSE).sum()), 0


def keys_taken_back(task: TaskUnderTest) -> Iterator[Told]:
    """How many keys were there, and are there."""
    before = keys_on(armature(), ("upper", "lower"), frames())
    report = report_of(task)
    yield "keys_removed", report.get("keys_removed"), before - keys_on(armature(), ("upper", "lower"), frames()), 0


def limbs_found(task: TaskUnderTest) -> Iterator[Told]:
    """Every limb that is told is listed, under that name, and each foot is below its knee."""
    report = report_of(task)
    listed = {chain.name: (chain.upper, chain.lower) for chain in armature().twobone.chains}
    yield "limbs", {limb["chain"]: (limb["upper"], limb["lower"]) for limb in report["limbs"]}, listed, 0
    legs = {limb["upper"] for limb in report["limbs"] if limb["kind"] == "LEG"}
    yield "legs", sorted(legs), ["thigh.L", "thigh.R"], 0


def audited(task: TaskUnderTest) -> Iterator[Told]:
    """How long legs are, how hard knees are bent, and how far balls get along while they stand."""
    report = report_of(task)
    for leg in report["chains"]:
        side = leg["chain"].rpartition(".")[2]
        bones = (f"thigh.{side}", f"shin.{side}")
        yield "length", leg["length"], sum(armature().data.bones[name].length for name in bones), CLOSE
        step = round(bpy.context.scene.render.fps / 30) or 1
        knees = knee_angles(*bones)
        second = np.abs(knees[2 * step :] - 2 * knees[step:-step] + knees[: -2 * step])
        scale = (bpy.context.scene.render.fps / 30 / step) ** 2
        yield "knee", leg["knee_pop_worst"], scale * second.max(), 1e-4
        toes = ends((f"toe.{side}",))[:, 0]
        for contact in leg["contacts"]:
            stood = toes[int(contact["first"]) - frames()[0] : int(contact["last"]) - frames()[0] + 1]
            assert contact["slide"] <= np.linalg.norm(np.ptp(stood, axis=0)) + CLOSE, contact


def nudged(task: TaskUnderTest) -> Iterator[Told]:
    """How far the tip moved, at the frame and at most, and how many keys that took."""
    before = ends(("lower",))[:, 1]
    report = report_of(task, before=2.0, after=3.0)
    moved = ends(("lower",))[:, 1] - before
    yield "nudged_by", report["nudged_by"], list(moved[int(report["frame"]) - frames()[0]]), CLOSE
    own = [frame for first, last in report["ranges"] for frame in range(int(first), int(last) + 1)]
    seen = [frame for frame, way in zip(frames(), np.linalg.norm(moved, axis=1), strict=True) if way > CLOSE]
    assert set(seen) <= set(own), "it moved at other frames"
    yield "keys", report["keys"], keys_on(armature(), ("upper", "lower", "foot"), range(own[0], own[-1] + 1)), 0
    yield "max_error", report["max_error"], 0.0, CLOSE


def hinges_aligned(task: TaskUnderTest) -> Iterator[Told]:
    """Which bones turn about a single axis now."""
    report = report_of(task)
    modes = sorted(bone.name for bone in armature().pose.bones if bone.rotation_mode != "QUATERNION")
    yield "aligned", sorted(report.get("changed", [])), modes, 0


def ends(names: tuple[str, ...]) -> np.ndarray:
    """World places `(F, 2 B, 3)` of heads and tails."""
    found = []
    for frame in frames():
        bpy.context.scene.frame_set(frame)
        rig = armature().evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = [rig.pose.bones[name] for name in names]
        found.append([(rig.matrix_world @ place)[:] for bone in bones for place in (bone.head, bone.tail)])
    return np.array(found)


def points_around(names: tuple[str, ...]) -> np.ndarray:
    """World places `(F, 4 B, 3)` of heads, and of points along the bones' axes."""
    size = max(armature().data.bones[name].length for name in names)
    offsets = [Vector(), *(size * axis for axis in Matrix.Identity(3))]
    found = []
    for frame in frames():
        bpy.context.scene.frame_set(frame)
        rig = armature().evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([(rig.matrix_world @ rig.pose.bones[name].matrix @ place)[:] for name in names for place in offsets])
    return np.array(found)


def knee_angles(upper: str, lower: str) -> np.ndarray:
    """Angle between two bones at every frame."""
    thighs, shins = (np.diff(ends((name,)), axis=1)[:, 0] for name in (upper, lower))
    return np.arctan2(np.linalg.norm(np.cross(thighs, shins), axis=1), np.sum(thighs * shins, axis=1))


def keys_on(rig: bpy.types.Object, bones: tuple[str, ...], within: range) -> int:
    """Baked keys on the rotation of bones."""
    curves = [curve for curve in curves_of(rig) if "rotation" in curve.data_path and curve.data_path.split('"')[1] in bones]
    baked_keys = [key for curve in curves for key in curve.keyframe_points if key.type == "GENERATED"]
    return sum(1 for key in baked_keys if within[0] <= key.co.x <= within[-1])


MEASURES: dict[str, Callable[[TaskUnderTest], Iterator[Told]]] = {
    "bake": baked,
    "bake_all": baked,
    "convert_ik": converted,
    "bake_target": given_to_target,
    "switch": switched,
    "find_limbs": limbs_found,
    "find_contacts": found_contacts,
    "import_contacts": found_contacts,
    "export_contacts": found_contacts,
    "plant": planted,
    "finish_retarget": finished,
    "fit_root": root_fitted,
    "nudge": nudged,
    "audit": audited,
    "align_hinge": hinges_aligned,
    "clear_baked": keys_taken_back,
}
