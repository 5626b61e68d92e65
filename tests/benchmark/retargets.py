"""Pairs of characters made by others, a naive copy of rotations, and measures of ends that ask nothing of the product.

World space, in leg lengths of the character that got the motion unless another unit is said.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
from mathutils import Matrix, Vector

from tests.tasks.checks.targets import curves_of

MOTION = Path("motion")
AXES = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From Y up to Z up."""
SIDES = "LR"
PARTS = ("clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")
NEXT = {"clavicle": "upper_arm", "upper_arm": "forearm", "forearm": "hand", "thigh": "shin", "shin": "foot"}
LIMBS = (("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand"))
LONG, DEEP, PALM = 0.16, 0.09, 0.12
"""Where a ball is that no bone shows, leg lengths before and below the ankle; a palm, arm lengths beyond the wrist."""
FEWEST = 3
"""Frames of a stance that are too few to tell a height of the floor."""
LOW, SLOW, SKATES = 0.06, 0.35, 0.12
"""Leg lengths over the floor, and a second, within which the source's ball stands; a second from which a standing ball skates."""
NEAR = 0.3
"""Arm lengths between palms that touch."""


def roles(trunk, sided, left, right):
    """`{role: bone}`: `trunk` names hips, then the spine, neck and head; `sided` has a bone per part, `-` for none."""
    hips, *rest = trunk.split()
    named = {"hips": hips, **{f"spine{number}": name for number, name in enumerate(rest)}}
    for part, bone in zip(PARTS, sided.split(), strict=True):
        if bone != "-":
            named |= {part + side: bone.format(word) for side, word in zip(SIDES, (left, right), strict=True)}
    return named


BVH = "{}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase"
META = "shoulder.{} upper_arm.{} forearm.{} hand.{} thigh.{} shin.{} foot.{} toe.{}"
CMU = roles("Hips LowerBack Spine Spine1 Neck Head", BVH, "Left", "Right")
OZZ = roles("Pelvis Spine Spine1 Spine2 Spine3 Neck Head", BVH.replace("ToeBase", "FootThumb1"), "Left", "Right") | {
    "handL": "Lefthand"
}


@dataclass(frozen=True)
class Character:
    """How a character is opened, and its bones."""

    file: Path | str
    roles: dict
    splayed: bool = False
    """Its rest pose is none in which one stands, so feet and hands are matched by their links."""
    action: str = ""

    def open(self, folder):
        """Its armature, alone of what the file brought, and its roles."""
        before = set(bpy.data.objects)
        armature = OPENED.get(self.file, imported)(folder, self)
        kept = {armature, armature.parent}
        for thing in set(bpy.data.objects) - before - kept:
            if not thing.name.startswith("WGT"):
                bpy.data.objects.remove(thing)
        if self.action:
            armature.animation_data.action = next(action for action in bpy.data.actions if self.action in action.name)
        known = {role: bone for role, bone in self.roles.items() if bone in armature.data.bones}
        return armature, known


def imported(folder, character):
    path = str(folder / character.file)
    before = set(bpy.data.objects)
    if path.endswith(".bvh"):
        bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=False)
    elif path.endswith(".glb"):
        bpy.ops.import_scene.gltf(filepath=path)
    elif path.endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=path)
    elif path.endswith(".npz"):
        return generated(Path(path))
    else:
        with bpy.data.libraries.load(path) as (held, taken):
            taken.objects = list(held.objects)
        armature = next(thing for thing in taken.objects if thing and thing.type == "ARMATURE")
        bpy.context.scene.collection.objects.link(armature)
        armature.matrix_world = Matrix.Translation((0.0, 0.0, -min(bone.tail_local.z for bone in armature.data.bones)))
        bpy.context.view_layer.update()
        return armature
    new = [thing for thing in set(bpy.data.objects) - before if thing.type == "ARMATURE"]
    return max(new, key=lambda armature: len(armature.data.bones))


def metarig(_folder, _character):
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    return bpy.context.object


def rigify(folder, character):
    """The generated rig, which shows FK."""
    metarig(folder, character)
    bpy.ops.pose.rigify_generate()
    for bone in bpy.context.object.pose.bones:
        if "IK_FK" in bone:
            bone["IK_FK"] = 1.0
    return bpy.context.object


SPINE = ["Hips", "Spine1", "Spine2", "Chest", "Neck1", "Neck2", "Head", "Jaw", "LeftEye", "RightEye"]
ARM, LEG = ("Shoulder", "Arm", "ForeArm", "Hand", "HandThumbEnd", "HandMiddleEnd"), ("Leg", "Shin", "Foot", "ToeBase")
JOINTS = SPINE + [side + joint for joints in (ARM, LEG) for side in ("Left", "Right") for joint in joints]
PARENTS = (None, 0, 1, 2, 3, 4, 5, 6, 6, 6, 3, 10, 11, 12, 13, 13, 3, 16, 17, 18, 19, 19, 0, 22, 23, 24, 0, 26, 27, 28)


def generated(path):
    """A generator's skeleton, keyed with one of its clips."""
    clip = np.load(path)
    places, turns = clip["posed_joints"] @ AXES.T, AXES @ clip["global_rot_mats"] @ AXES.T
    rest = np.zeros((len(JOINTS), 3))
    for joint, parent in enumerate(PARENTS):
        if parent is not None:
            offsets = np.einsum("fji,fj->fi", turns[:, parent], places[:, joint] - places[:, parent])
            rest[joint] = rest[parent] + offsets.mean(axis=0)
    rest[:, 2] -= rest[:, 2].min()
    armature = bpy.data.objects.new("Generated", bpy.data.armatures.new("Generated"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for joint, (name, parent) in enumerate(zip(JOINTS, PARENTS, strict=True)):
        bone = armature.data.edit_bones.new(name)
        child = next((child for child, of in enumerate(PARENTS) if of == joint), None)
        points = child is not None and np.linalg.norm(rest[child] - rest[joint]) > 0.02
        bone.head, bone.tail = rest[joint], rest[child] if points else rest[joint] + [0.0, 0.0, 0.05]
        bone.parent = None if parent is None else armature.data.edit_bones[JOINTS[parent]]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.scene.render.fps = 30
    world = {}
    for joint, name in enumerate(JOINTS):
        world[name] = np.repeat(np.eye(4)[None], len(places), axis=0)
        world[name][:, :3, :3] = turns[:, joint] @ np.array(armature.data.bones[name].matrix_local)[:3, :3]
        world[name][:, :3, 3] = places[:, joint]
    key_world(armature, world, np.arange(1, len(places) + 1), "Hips")
    return armature


OPENED = {"metarig": metarig, "rigify": rigify}

CHARACTERS = {
    "CMU 02": Character("cmu_02_01_walk.bvh", CMU, splayed=True),
    "CMU 131": Character(
        MOTION / "cmu_131_01_walk.bvh",
        roles(
            "Hips LowerBack Spine Spine1 Neck Head",
            "{}Collar {}Shoulder {}Elbow {}Wrist {}Hip {}Knee {}Ankle {}Toe",
            "Left",
            "Right",
        ),
        splayed=True,
    ),
    "CMU 91": Character(
        MOTION / "cmu_91_50_leaf_feet.fbx",
        roles("hip abdomen chest neck head", "{}Collar {}Shldr {}ForeArm {}Hand {}Thigh {}Shin {}Foot -", "l", "r"),
        splayed=True,
    ),
    "suit": Character(MOTION / "suit_dance_100fps.bvh", CMU | {"spine2": "Spine2"}, splayed=True),
    "KayKit": Character(
        "kaykit_Med_MovementBasic.glb",
        roles("hips spine chest head", "- upperarm.{} lowerarm.{} wrist.{} upperleg.{} lowerleg.{} foot.{} toes.{}", "l", "r"),
        action="Walking_B",
    ),
    "ozz": Character("ozz_pab_run.fbx", OZZ),
    "VRM": Character(
        "vrm_armature_transform.blend",
        roles("hips spine chest neck head", "- upper_arm.{} lower_arm.{} hand.{} upper_leg.{} lower_leg.{} foot.{} -", "L", "R"),
    ),
    "metarig": Character("metarig", roles("spine spine.001 spine.002 spine.003 spine.004 spine.006", META, "L", "R")),
    "Rigify": Character(
        "rigify",
        roles(
            "torso spine_fk.001 spine_fk.002 spine_fk.003 neck head",
            "shoulder.{} upper_arm_fk.{} forearm_fk.{} hand_fk.{} thigh_fk.{} shin_fk.{} foot_fk.{} toe_fk.{}",
            "L",
            "R",
        ),
    ),
} | {
    f"generated {path.name[7:9]}": Character(
        MOTION / path.name,
        roles(
            "Hips Spine1 Spine2 Chest Neck1 Head",
            "{}Shoulder {}Arm {}ForeArm {}Hand {}Leg {}Shin {}Foot {}ToeBase",
            "Left",
            "Right",
        ),
        splayed=True,
    )
    for path in map(
        Path,
        (
            "kimodo_01_single_text_prompt.npz",
            "kimodo_03_full_body_keyframes.npz",
            "kimodo_05_root_path.npz",
            "kimodo_07_mixed_constraints.npz",
        ),
    )
}


@dataclass(frozen=True)
class Pair:
    """A source, the character that gets its motion, the frames, and the scale of the root that the copy has."""

    source: str
    result: str
    last: int | None = None
    root: float | str = "legs"
    """`legs`: the ratio of leg lengths."""

    def __str__(self):
        return f"{self.source} to {self.result}"


def key_world(armature, world, frames, located):
    """Key bones so that their world rotations are those of `world`, and the place of `located`; others stay at rest."""
    data = armature.animation_data_create()
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    data.action = bpy.data.actions.new(f"Copied to {armature.name}")
    from_world, pose = np.linalg.inv(np.array(armature.matrix_world)), {}
    for bone in armature.data.bones:
        rest = np.array(bone.matrix_local)
        parent = None if bone.parent is None else bone.parent
        base = np.repeat(rest[None], len(frames), axis=0)
        if parent is not None:
            base = pose[parent.name] @ (np.linalg.inv(np.array(parent.matrix_local)) @ rest)
        pose[bone.name] = base
        if bone.name not in world:
            continue
        wanted, posed = from_world @ world[bone.name], base.copy()
        posed[:, :3, :3] = turn_of(wanted)
        if bone.name == located:
            posed[:, :3, 3] = wanted[:, :3, 3]
        pose[bone.name], own = posed, np.linalg.inv(base) @ posed
        armature.pose.bones[bone.name].rotation_mode = "QUATERNION"
        turns = np.array([Matrix(matrix[:3, :3]).to_quaternion() for matrix in own])
        signs = np.where(np.sum(turns[1:] * turns[:-1], axis=1) < 0.0, -1.0, 1.0)
        turns[1:] *= np.cumprod(signs)[:, None]
        path = f'pose.bones["{bone.name}"].'
        key_curves(armature, path + "rotation_quaternion", turns, frames)
        if bone.name == located:
            key_curves(armature, path + "location", own[:, :3, 3], frames)


def key_curves(armature, path, values, frames):
    action = armature.animation_data.action
    for index, column in enumerate(values.T):
        if hasattr(action, "fcurve_ensure_for_datablock"):
            curve = action.fcurve_ensure_for_datablock(armature, path, index=index)
        else:
            curve = action.fcurves.new(path, index=index)
        curve.keyframe_points.add(len(frames))
        curve.keyframe_points.foreach_set("co", np.stack([frames, column], axis=1).ravel())
        curve.keyframe_points.foreach_set("interpolation", [1] * len(frames))
        curve.update()


def seen(armature, named, frames):
    """World matrices `{role: (F, 4, 4)}`."""
    found = {role: np.empty((len(frames), 4, 4)) for role in named}
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for role, bone in named.items():
            found[role][row] = posed.matrix_world @ posed.pose.bones[bone].matrix
    return found


def at_rest(armature, named):
    return {role: np.array(armature.matrix_world @ armature.data.bones[bone].matrix_local) for role, bone in named.items()}


def heads(matrices):
    return matrices[..., :3, 3]


def turn_of(matrices):
    left, _, right = np.linalg.svd(matrices[..., :3, :3])
    return left @ right


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def facing(rest):
    across = heads(rest["thighL"]) - heads(rest["thighR"])
    return math.atan2(across[1], across[0])


def about_up(angle):
    return np.array(Matrix.Rotation(angle, 3, "Z"))


def length(rest, limb):
    links = list(pairwise(limb))
    return sum(
        np.mean([np.linalg.norm(heads(rest[end + side]) - heads(rest[start + side])) for side in SIDES]) for start, end in links
    )


def copy_rotations(source, result, frames, *, splayed, root):
    """Key the source's world rotations on the result, as offsets from rest poses that are matched link by link."""
    (armature, named), (hero, own) = source, result
    theirs, ours, motion = at_rest(armature, named), at_rest(hero, own), seen(armature, named, frames)
    turn = about_up(facing(ours) - facing(theirs))
    scale = length(ours, LIMBS[0]) / length(theirs, LIMBS[0]) if root == "legs" else root

    def link(rest, start, end):
        return Vector(heads(rest[end]) - heads(rest[start]))

    world = {}
    for role, bone in own.items():
        if role not in named:
            continue
        part, side, match = role[:-1], role[-1], np.eye(3)
        shown = (role, NEXT[part] + side) if part in NEXT else None
        if part == "hand" or (part in ("foot", "toe") and splayed):
            shown = ("forearm" + side, "hand" + side) if part == "hand" else ("shin" + side, "foot" + side)
        if shown and all(end in named and end in own for end in shown):
            wanted = Vector(turn @ link(theirs, *shown))
            match = np.array(link(ours, *shown).rotation_difference(wanted).to_matrix())
        world[bone] = np.repeat(np.eye(4)[None], len(frames), axis=0)
        offsets = turn @ turn_of(motion[role]) @ turn_of(theirs[role]).T @ turn.T
        world[bone][:, :3, :3] = offsets @ match @ turn_of(ours[role])
    hips = heads(motion["hips"])
    place = scale * (hips @ turn.T)
    place[:, 2] = heads(ours["hips"])[2] + scale * (hips[:, 2] - (hips[0, 2] if splayed else heads(theirs["hips"])[2]))
    place[:, :2] += np.array([2.0, 0.5]) - place[0, :2]
    world[own["hips"]][:, :3, 3] = place
    key_world(hero, world, frames, own["hips"])


class Judge:
    """What the source does, and how far a result is from it."""

    def __init__(self, source, result, frames):
        self.result, self.named, self.frames = *result, frames
        self.rate = bpy.context.scene.render.fps / bpy.context.scene.render.fps_base
        self.theirs, self.ours = at_rest(*source), at_rest(*result)
        self.motion, self.turn = seen(*source, frames), about_up(facing(self.ours) - facing(self.theirs))
        self.legs, self.arms = ([length(rest, limb) for rest in (self.theirs, self.ours)] for limb in LIMBS)
        self.scale, self.reach = self.legs[1] / self.legs[0], self.arms[1] / self.arms[0]
        self.deep = [self.depth(*each) for each in ((source[0], self.theirs), (result[0], self.ours))]
        balls = {side: self.ball(self.motion, side, 0) for side in SIDES}
        floor, ankles = np.percentile(np.concatenate([ball[:, 2] for ball in balls.values()]), 4), []
        self.low = {}
        for side, ball in balls.items():
            speed = np.linalg.norm(np.gradient(ball, axis=0), axis=1) * self.rate / self.legs[0]
            low = self.low[side] = (speed < SLOW) & ((ball[:, 2] - floor) / self.legs[0] < LOW)
            ankle = heads(self.motion["foot" + side])[:, 2]
            ankles += ankle[low & (ankle < np.percentile(ankle[low], 60))].tolist() if low.any() else []
        stands = np.median(ankles) if ankles else floor
        lows = [ball[self.low[side], 2] for side, ball in balls.items()]
        stood = np.median(np.concatenate(lows)) if any(map(len, lows)) else floor
        self.clear = {
            side: np.minimum(heads(self.motion["foot" + side])[:, 2] - stands, ball[:, 2] - stood) for side, ball in balls.items()
        }
        self.over_floor = {side: clear - self.floor_under(clear, self.low[side]) for side, clear in self.clear.items()}
        self.skates = self.skating(balls, self.legs[0])
        up = {side: heads(self.ours["foot" + side])[2] for side in SIDES}
        lower = min(up, key=up.get)
        # A rest pose that is a frame of a run has one foot in the air: the lower one shows how feet stand.
        uneven = abs(up["L"] - up["R"]) > 0.05 * self.legs[1]
        still = {role: matrix[None] for role, matrix in self.ours.items()}
        self.ankle = up[lower] if uneven else np.mean(list(up.values()))
        self.ball_at = {side: self.ball(still, lower if uneven else side, 1)[0, 2] for side in SIDES}
        self.before = self.speeds(seen(self.result, self.named, frames))

    def depth(self, armature, rest):
        """How far below its lower ankle a ball can be that no bone shows: no deeper than the lowest joint."""
        ends = [armature.matrix_world @ end for bone in armature.data.bones for end in (bone.head_local, bone.tail_local)]
        return min(heads(rest["foot" + side])[2] for side in SIDES) - min(end.z for end in ends)

    def ball(self, motion, side, which):
        if "toe" + side in motion:
            return heads(motion["toe" + side])
        rest, leg = (self.theirs, self.ours)[which], self.legs[which]
        foot, ahead = rest["foot" + side], about_up(facing(rest) - math.pi / 2.0)[:, 0]
        over = heads(foot)[2] - min(heads(rest["foot" + each])[2] for each in SIDES) + self.deep[which]
        point = heads(foot) + LONG * leg * ahead - [0.0, 0.0, min(DEEP * leg, over)]
        return (motion["foot" + side] @ (np.linalg.inv(foot) @ [*point, 1.0]))[:, :3]

    def palm(self, motion, side, which):
        """A point half a hand beyond the wrist, along the forearm at rest."""
        rest = (self.theirs, self.ours)[which]
        hand = rest["hand" + side]
        point = heads(hand) + PALM * self.arms[which] * unit(heads(hand) - heads(rest["forearm" + side]))
        return (motion["hand" + side] @ (np.linalg.inv(hand) @ [*point, 1.0]))[:, :3]

    @staticmethod
    def floor_under(clear, low):
        """Height `(F,)` of the source's own floor: that of each of its stances, and from one to the next in between."""
        edges = np.flatnonzero(np.diff([0, *low.astype(int), 0])).reshape(-1, 2)
        stances = [(first, end - 1) for first, end in edges if end - first > FEWEST]
        heights = [float(np.median(clear[first : last + 1])) for first, last in stances]
        return np.interp(np.arange(len(clear)), np.ravel(stances), np.repeat(heights, 2)) if stances else np.zeros(len(clear))

    def skating(self, balls, leg):
        """Share of the source's contact frames at which the ball moves."""
        fast = [
            np.linalg.norm(np.gradient(balls[side], axis=0)[low, :2], axis=1) * self.rate / leg > SKATES
            for side, low in self.low.items()
        ]
        return float(np.concatenate(fast).mean()) if any(map(len, fast)) else 0.0

    def speeds(self, motion):
        """Radians a second that 99.5 % of the frames keep, by joint."""
        found = []
        for part in ("thigh", "shin", "upper_arm", "forearm"):
            for side in SIDES:
                turns = turn_of(motion[part + side])
                between = np.einsum("fji,fjk->fik", turns[:-1], turns[1:])
                found.append(np.arccos(np.clip((np.trace(between, axis1=1, axis2=2) - 1.0) / 2.0, -1.0, 1.0)) * self.rate)
        return np.percentile(np.stack(found), 99.5, axis=1)

    def bends(self, motion, limb, side):
        start, middle, end = (heads(motion[part + side]) for part in limb)
        along, bend = unit(end - start), middle - start
        return bend - np.sum(bend * along, axis=1, keepdims=True) * along

    def now(self):
        """What the result does now: `slides`, `soles`, `own`, `wrong` and `bends`, `speed`, `palms`.

        own : soles over the source's own floor
        """
        motion, leg = seen(self.result, self.named, self.frames), self.legs[1]
        balls = {side: self.ball(motion, side, 1) for side in SIDES}
        soles, own, wrong, bends = [], [], 0, 0
        for side, ball in balls.items():
            clear = np.minimum(heads(motion["foot" + side])[:, 2] - self.ankle, ball[:, 2] - self.ball_at[side])
            soles.append(np.abs(clear - self.scale * self.clear[side]) / leg)
            own.append(np.abs(clear - self.scale * self.over_floor[side]) / leg)
            for limb in LIMBS:
                theirs, ours = self.bends(self.motion, limb, side) @ self.turn.T, self.bends(motion, limb, side)
                bent = (np.linalg.norm(theirs, axis=1) > 0.05 * self.legs[0]) & (np.linalg.norm(ours, axis=1) > 0.03 * leg)
                wrong += int(np.count_nonzero((np.sum(theirs * ours, axis=1) < 0.0) & bent))
                bends += int(np.count_nonzero(bent))
        palms = [
            self.palm(self.motion, "L", 0) - self.palm(self.motion, "R", 0),
            self.palm(motion, "L", 1) - self.palm(motion, "R", 1),
        ]
        near = np.linalg.norm(palms[0], axis=1) < NEAR * self.arms[0]
        off = np.linalg.norm(palms[1] - self.reach * (palms[0] @ self.turn.T), axis=1) / self.arms[1]
        return {
            "slides": self.skating(balls, leg),
            "soles": float(np.percentile(np.concatenate(soles), 95)),
            "own": float(np.percentile(np.concatenate(own), 95)),
            "wrong": wrong,
            "bends": bends,
            "speed": float((self.speeds(motion) / np.maximum(self.before, 0.5)).max()),
            "palms": float(np.median(off[near])) if near.any() else None,
            "ends": np.stack([heads(matrices) for role, matrices in motion.items() if role[:-1] in PARTS]),
        }


def keys_of(armature):
    """All keys of an armature, to be compared."""
    return {
        (curve.data_path, curve.array_index): [
            (*key.co, *key.handle_left, *key.handle_right, key.interpolation) for key in curve.keyframe_points
        ]
        for curve in curves_of(armature)
    }
