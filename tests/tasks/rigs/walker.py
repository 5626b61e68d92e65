"""A character whose walk is known: feet that roll from heel to ball exactly in place, and what is done to that on purpose."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Vector

from tests.tasks.scenes import BoneShape, build_armature
from twobone_addon.scene.versions import curve_bag

NONE, HEEL, BALL, BOTH = 0, 1, 2, 3
STANCE = ((HEEL, 0.12), (BOTH, 0.5), (BALL, 1.0))
"""What stands until which part of the time on the ground."""

ON_GROUND = 0.6
"""Part of a round in which a foot stands."""

ANKLE_HEIGHT, BALL_OFFSET = 0.08, np.array([0.14, -0.06])
"""Metres; the ball is so far ahead of the ankle and above it."""

SHAPES = (
    BoneShape("root", (0, 0, 0), (0, 0.3, 0)),
    BoneShape("hips", (0, 0, 0.95), (0.0, 0.05, 1.15), "root", roll=0.4),
    BoneShape("chest", (0, 0.05, 1.15), (0, 0, 1.5), "hips", connected=True),
    *(
        shape
        for side, x in (("L", 0.1), ("R", -0.1))
        for shape in (
            BoneShape(f"thigh.{side}", (x, 0, 0.9), (x, 0.02, 0.5), "hips"),
            BoneShape(f"shin.{side}", (x, 0.02, 0.5), (x, 0, ANKLE_HEIGHT), f"thigh.{side}", connected=True),
            BoneShape(f"foot.{side}", (x, 0, ANKLE_HEIGHT), (x, 0.14, 0.02), f"shin.{side}", connected=True),
            BoneShape(f"toe.{side}", (x, 0.14, 0.02), (x, 0.2, 0.0), f"foot.{side}", connected=True),
        )
    ),
)


@dataclass(frozen=True)
class Walk:
    """How the character walks, and what is wrong with it."""

    frames: int = 60
    rate: float = 24.0
    speed: float = 1.1
    step_time: float = 1.1
    """Seconds of both steps together."""
    slide: float = 0.0
    """Metres by which a foot slides to and fro while it stands."""
    shuffle: float = 0.0
    """Metres by which the left foot goes to and fro in its second stance only."""
    drift: float = 0.0
    """Metres by which it goes on there, in one direction."""
    climb: float = 0.0
    """Metres by which each footprint is higher than the one before, as on stairs."""
    raised: float = 0.0
    """Metres by which the hips are too high."""
    noise: float = 0.0
    heel_behind: float = 0.0
    """Metres by which the heel is behind the ankle: the foot rolls about it, and nothing of the rig shows it."""


def build_walker(walk):
    """The armature, walking, with a stored chain for each leg; and what stands at each frame, by side."""
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = round(walk.rate), 1, walk.frames
    armature = build_armature(SHAPES, "Walker")
    states = {"L": [], "R": []}
    for frame in range(1, walk.frames + 1):
        time = (frame - 1) / walk.rate
        poses = {"hips": _hips(armature, walk, time)}
        for side, phase in (("L", 0.0), ("R", 0.5)):
            state, pitch, ankle = _foot(walk, time, phase)
            ankle = ankle + _faults(walk, time, phase)
            poses_of_leg = _leg(armature.data.bones, side, poses["hips"], pitch, ankle)
            states[side].append(state)
            poses.update(poses_of_leg)
        _key(armature, poses, frame)
    _store_legs(armature)
    return armature, {side: np.array(values) for side, values in states.items()}


def build_stander(rate, places, *, rest, move, interpolation="BEZIER"):
    """A character as keyed by hand: its left foot rests at each of `places` (Y, Z), metres, for `rest` seconds, exactly still.

    It gets from one to the next in `move` seconds; hips and right foot never move. Keys are at both ends of each rest.
    The armature, with a stored chain for each leg, and the first and last frame of each rest.
    """
    scene = bpy.context.scene
    resting, moving = round(rest * rate), max(1, round(move * rate))
    starts = [1 + number * (resting + moving) for number in range(len(places))]
    scene.render.fps, scene.frame_start, scene.frame_end = rate, 1, starts[-1] + resting
    armature = build_armature(SHAPES, "Walker")
    bones = armature.data.bones
    hips = Matrix.Translation((0, 0, -0.03)) @ bones["hips"].matrix_local
    for start, place in zip(starts, places, strict=True):
        poses = {"hips": hips}
        for side, ankle in (("L", place), ("R", (0.0, 0.0))):
            poses.update(_leg(bones, side, hips, 0.0, np.add(ankle, (0.0, ANKLE_HEIGHT))))
        for frame in (start, start + resting):
            _key(armature, poses, frame)
    for curve in curve_bag(armature).fcurves:
        for key in curve.keyframe_points:
            key.interpolation = interpolation
    _store_legs(armature)
    return armature, [(start, start + resting) for start in starts]


def _store_legs(armature):
    for side in "LR":
        chain = armature.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip, chain.toe, chain.limb = (
            f"leg.{side}", f"thigh.{side}", f"shin.{side}", f"foot.{side}", f"toe.{side}", "LEG",
        )  # fmt: skip
    bpy.context.view_layer.objects.active = armature


def key_contacts(armature, states):
    """Key what stands on the stored chains, as an animator does."""
    names = ("NONE", "HEEL", "BALL", "BOTH")
    for side, values in states.items():
        chain = armature.twobone.chains[f"leg.{side}"]
        for frame, state in enumerate(values.tolist(), start=1):
            if frame == 1 or state != values[frame - 2]:
                chain.contact = names[state]
                chain.keyframe_insert("contact", frame=frame)


def _hips(armature, walk, time):
    bob = 0.012 * np.cos(4.0 * np.pi * time / walk.step_time)
    upward = walk.climb * (2.0 * time / walk.step_time - 0.5)
    move = Matrix.Translation((0, walk.speed * time, bob - 0.03 + walk.raised + upward))
    return move @ armature.data.bones["hips"].matrix_local


def _foot(walk, time, phase):
    """State, and pitch and place (Y, Z) of the ankle, of a foot at a time."""
    cycle, part = divmod(time / walk.step_time + phase, 1.0)
    landed = (cycle - phase) * walk.step_time * walk.speed + 0.25
    step = np.array([0.0, walk.climb * 2.0 * (cycle - phase)])
    if part < ON_GROUND:
        stand = part / ON_GROUND
        state = next(state for state, until in STANCE if stand < until)
        pitch, place = _rolled(stand, landed, walk.heel_behind)
        return state, pitch, place + step
    swing = (part - ON_GROUND) / (1.0 - ON_GROUND)
    start, end = _rolled(1.0, landed), _rolled(0.0, landed + walk.step_time * walk.speed, walk.heel_behind)
    smooth = swing * swing * (3.0 - 2.0 * swing)
    pitch, place = start[0] + (end[0] - start[0]) * smooth, start[1] + (end[1] - start[1]) * smooth
    over = 2.0 * walk.climb * smooth + (0.05 + 0.6 * abs(walk.climb)) * np.sin(np.pi * swing)
    return NONE, pitch, place + step + np.array([0.0, over])


def _rolled(stand, landed, behind=0.0):
    """Pitch and ankle of a foot that stands, rolled about its heel, `behind` the ankle, then flat, then about its ball."""
    heel = np.array([landed, 0.0])
    if stand < STANCE[0][1]:
        pitch = 0.25 * (1.0 - stand / STANCE[0][1]) ** 2
        return pitch, heel - [behind, 0.0] + _turned(pitch, np.array([behind, ANKLE_HEIGHT]))
    if stand < STANCE[1][1]:
        return 0.0, heel + np.array([0.0, ANKLE_HEIGHT])
    pitch = -0.9 * ((stand - STANCE[1][1]) / (1.0 - STANCE[1][1])) ** 2
    ball = heel + np.array([0.0, ANKLE_HEIGHT]) + BALL_OFFSET
    return pitch, ball - _turned(pitch, BALL_OFFSET)


def _turned(pitch, vector):
    cosine, sine = np.cos(pitch), np.sin(pitch)
    return np.array([cosine * vector[0] - sine * vector[1], sine * vector[0] + cosine * vector[1]])


def _faults(walk, time, phase):
    """What is wrong with a foot's place (Y, Z) at a time."""
    shake = np.random.default_rng(round(1000 * (time + phase))).normal(size=2) * walk.noise
    return shake + np.array([walk.slide * np.sin(7.0 * time + phase) + _once(walk, time, phase), 0.0])


def _once(walk, time, phase):
    """What is wrong in one stance of the left foot alone, and in the swing after it."""
    cycle, part = divmod(time / walk.step_time + phase, 1.0)
    if phase or cycle != 1.0:
        return 0.0
    stand, swing = min(part / ON_GROUND, 1.0), max(part - ON_GROUND, 0.0) / (1.0 - ON_GROUND)
    return walk.shuffle * np.sin(4.0 * np.pi * stand) + walk.drift * (stand - swing)


def _leg(bones, side, hips, pitch, ankle):
    """The poses of one leg's bones, the knee bent forwards by the cosine rule."""
    thigh, shin, foot = (bones[f"{name}.{side}"] for name in ("thigh", "shin", "foot"))
    hip = (hips @ bones["hips"].matrix_local.inverted() @ thigh.matrix_local).translation
    way = ankle - np.array([hip.y, hip.z])
    first, second = thigh.length, shin.length
    distance = min(np.linalg.norm(way), 0.9995 * (first + second))
    inner = np.arccos((first**2 + distance**2 - second**2) / (2.0 * first * distance))
    direction = np.arctan2(way[1], way[0])
    knee = np.array([hip.y, hip.z]) + first * np.array([np.cos(direction + inner), np.sin(direction + inner)])
    end = np.array([hip.y, hip.z]) + distance * way / np.linalg.norm(way)
    toe = end + _turned(pitch, BALL_OFFSET)
    places = [(hip.y, hip.z), knee, end, toe]
    poses = {}
    for bone, start, stop in zip((thigh, shin, foot), places[:-1], places[1:], strict=True):
        poses[bone.name] = _along(bone, hip.x, start, stop)
    return poses


def _along(bone, x, start, stop):
    """Pose of a bone that lies along a line in a plane across X, turned there from its rest about X alone."""
    rest = bone.tail_local - bone.head_local
    turn = np.arctan2(stop[1] - start[1], stop[0] - start[0]) - np.arctan2(rest.z, rest.y)
    pose = Matrix.Rotation(turn, 4, "X") @ bone.matrix_local
    pose.translation = Vector((x, start[0], start[1]))
    return pose


def _key(armature, poses, frame):
    """Key the bones so that they are posed like this, parents first."""
    for name, pose in poses.items():
        bone = armature.pose.bones[name]
        above = bone.parent
        parent = poses.get(above.name, above.bone.matrix_local)
        basis = bone.bone.convert_local_to_pose(
            pose, bone.bone.matrix_local, parent_matrix=parent, parent_matrix_local=above.bone.matrix_local, invert=True
        )
        if name == "hips":
            bone.location = basis.translation
            bone.keyframe_insert("location", frame=frame)
        bone.rotation_quaternion = basis.to_quaternion()
        bone.keyframe_insert("rotation_quaternion", frame=frame)
