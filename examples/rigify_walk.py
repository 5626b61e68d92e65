"""Rigify's human walks and waves: two legs and two arms follow targets, baked to its FK bones.

    python examples/rigify_walk.py

Each limb gets a target (an empty with keys) and a chain stored on the rig; one Bake All keys them. The feet copy the
rotation of their targets. Rigify ships with Blender, so nothing else is needed.
"""

import argparse
import contextlib
import io
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
from mathutils import Euler, Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))
import body
import stage

FRAMES_PER_CYCLE, CYCLES = 32, 3
LAST = FRAMES_PER_CYCLE * CYCLES
STRIDE = 1.12
ON_GROUND = 0.6
"""Fraction of a cycle during which a foot stands."""
HIP_DROP = 0.055
"""Distance of the hips below their rest position, in metres: nobody walks with straight knees."""
KEY_EVERY = 2
POSES = (33, 57, 81)
"""Frames shown side by side in the picture."""


@dataclass(frozen=True)
class Limb:
    """One chain of the rig's FK bones and its settings."""

    name: str
    upper: str
    lower: str
    end: str
    colour: tuple[float, float, float]
    settings: dict[str, str]


LEG = {"plane": "POSE", "reference": "POSE", "end_rotation": "TARGET"}
ARM = {"plane": "REST", "bend": "POSITIVE"}
LIMBS = (
    Limb("Left ankle", "thigh_fk.L", "shin_fk.L", "foot_fk.L", stage.ORANGE, LEG),
    Limb("Right ankle", "thigh_fk.R", "shin_fk.R", "foot_fk.R", stage.TEAL, LEG),
    Limb("Left wrist", "upper_arm_fk.L", "forearm_fk.L", "hand_fk.L", stage.YELLOW, ARM),
    Limb("Right wrist", "upper_arm_fk.R", "forearm_fk.R", "hand_fk.R", stage.BLUE, ARM),
)


def make_human() -> bpy.types.Object:
    """Generate Rigify's basic human with its limbs switched to FK."""
    with contextlib.redirect_stdout(io.StringIO()):
        bpy.ops.preferences.addon_enable(module="rigify")
        bpy.ops.object.armature_basic_human_metarig_add()
        metarig = bpy.context.object
        bpy.ops.pose.rigify_generate()
    bpy.data.objects.remove(metarig)
    human = bpy.context.object
    for limb in ("thigh_parent", "upper_arm_parent"):
        for side in "LR":
            human.pose.bones[f"{limb}.{side}"]["IK_FK"] = 1.0
    return human


def walked(frame: float) -> float:
    """Distance walked at a frame, along -Y."""
    return STRIDE * (frame - 1) / FRAMES_PER_CYCLE


def move_body(human: bpy.types.Object) -> None:
    """Key the torso: forward at constant speed, down at each step, with hips and chest turning against each other."""
    torso, chest, hips = (human.pose.bones[name] for name in ("torso", "chest", "hips"))
    for frame in range(1, LAST + 2, KEY_EVERY):
        phase = 2.0 * math.pi * (frame - 1) / FRAMES_PER_CYCLE
        down = HIP_DROP + 0.018 * math.cos(2.0 * phase)
        move_bone(torso, Vector((0.0, -walked(frame), -down)), (math.radians(3.0), 0.0, 0.0), frame)
        turn = math.radians(5.0) * math.cos(phase)
        move_bone(hips, Vector(), (0.0, 0.0, turn), frame)
        move_bone(chest, Vector(), (0.0, 0.0, -1.4 * turn), frame)


def move_bone(bone: bpy.types.PoseBone, way: Vector, turn: tuple[float, float, float], frame: int) -> None:
    """Key a bone with an offset and Euler angles given along the armature's axes."""
    rest = bone.bone.matrix_local.to_3x3()
    bone.location = rest.inverted() @ way
    bone.rotation_quaternion = (rest.inverted() @ Euler(turn).to_matrix() @ rest).to_quaternion()
    bone.keyframe_insert("location", frame=frame)
    bone.keyframe_insert("rotation_quaternion", frame=frame)


def foot_at(frame: float, later: float) -> tuple[float, float, float]:
    """Distance walked, height and pitch of a foot at a frame; `later` is its phase as a fraction of the cycle."""
    cycle, phase = divmod((frame - 1) / FRAMES_PER_CYCLE + later, 1.0)
    standing = STRIDE * (cycle - later + ON_GROUND / 2.0)
    if phase < ON_GROUND:
        lift = max(0.0, phase / ON_GROUND - 0.7) / 0.3
        return standing + 0.035 * lift**2, 0.07 * lift**2, math.radians(32.0) * lift**2
    swing = (phase - ON_GROUND) / (1.0 - ON_GROUND)
    eased = swing * swing * (3.0 - 2.0 * swing)
    height = 0.07 * (1.0 - eased) + 0.10 * math.sin(math.pi * swing) ** 2
    turn = math.radians(32.0) * math.cos(math.pi * swing / 2.0) ** 2 - math.radians(12.0) * math.sin(math.pi * swing) ** 2
    return standing + 0.035 * (1.0 - eased) + STRIDE * eased, height, turn


def key_foot(target: bpy.types.Object, foot: bpy.types.Bone, later: float, filtered: int) -> None:
    """Key position and rotation of an ankle's target, which at rest is oriented like the foot."""
    target.rotation_mode = "QUATERNION"
    rest = foot.matrix_local.to_3x3()
    for frame in range(1, LAST + 2, KEY_EVERY):
        _, height, turn = foot_at(frame, later)
        near = range(frame - filtered, frame + filtered + 1)
        way = sum(foot_at(other, later)[0] for other in near) / len(near)
        target.location = foot.head_local + Vector((0.0, -way, height))
        target.rotation_quaternion = (Euler((turn, 0.0, 0.0)).to_matrix() @ rest).to_quaternion()
        target.keyframe_insert("location", frame=frame)
        target.keyframe_insert("rotation_quaternion", frame=frame)


def key_swing(target: bpy.types.Object, shoulder: Vector) -> None:
    """Key a wrist that swings with the foot of the other side."""
    side = math.copysign(1.0, shoulder.x)
    for frame in range(1, LAST + 2, KEY_EVERY):
        swing = -side * math.cos(2.0 * math.pi * (frame - 1) / FRAMES_PER_CYCLE)
        way = Vector((0.12 * side, -0.06 - 0.24 * swing, -0.46 + 0.06 * swing))
        target.location = shoulder + way + Vector((0.0, -walked(frame), 0.0))
        target.keyframe_insert("location", frame=frame)


def key_wave(target: bpy.types.Object, shoulder: Vector, *, pace: float = 1.0) -> None:
    """Key the left wrist on a figure eight beside the head; `pace` is the body's speed relative to `walked`."""
    for frame in range(1, LAST + 2, KEY_EVERY):
        phase = 2.0 * math.pi * (frame - 1) / FRAMES_PER_CYCLE
        way = Vector((0.25 + 0.11 * math.sin(phase), -0.14, 0.27 + 0.08 * math.sin(2.0 * phase)))
        target.location = shoulder + way + Vector((0.0, -pace * walked(frame), 0.0))
        target.keyframe_insert("location", frame=frame)


Arms = tuple[Callable[[bpy.types.Object, Vector], None], ...]


def make_targets(human: bpy.types.Object, arms: Arms, filtered: int) -> list[bpy.types.Object]:
    """One keyed empty for each limb; the functions `arms` key those of the arms."""
    rest = human.data.bones
    targets = [stage.add(limb.name, None) for limb in LIMBS]
    for target in targets:
        target.empty_display_size = 0.1
    key_foot(targets[0], rest["foot_fk.L"], 0.0, filtered)
    key_foot(targets[1], rest["foot_fk.R"], 0.5, filtered)
    for target, side, key_arm in zip(targets[2:], "LR", arms, strict=True):
        key_arm(target, rest[f"upper_arm_fk.{side}"].head_local)
    return targets


def store_chains(human: bpy.types.Object, targets: list[bpy.types.Object]) -> None:
    """Store a chain for each limb on the rig."""
    for limb, target in zip(LIMBS, targets, strict=True):
        chain = human.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip, chain.target = limb.name, limb.upper, limb.lower, limb.end, target
        for name, value in limb.settings.items():
            setattr(chain, name, value)
    bpy.context.view_layer.objects.active = human


RADII = {
    "spine": (0.105, 0.10), "spine.001": (0.10, 0.105), "spine.002": (0.11, 0.125), "spine.003": (0.13, 0.09),
    "spine.004": (0.05, 0.045), "spine.005": (0.045, 0.05), "spine.006": (0.078, 0.092),
    "shoulder": (0.042, 0.056), "upper_arm": (0.054, 0.047), "upper_arm.001": (0.046, 0.042), "forearm": (0.042, 0.038),
    "forearm.001": (0.037, 0.029), "hand": (0.036, 0.03), "thigh": (0.092, 0.076), "thigh.001": (0.074, 0.060),
    "shin": (0.060, 0.054), "shin.001": (0.050, 0.038), "foot": (0.045, 0.042), "toe": (0.040, 0.030),
}  # fmt: skip
HEAD_INSET = 0.055


def dress(human: bpy.types.Object) -> bpy.types.Object:
    """Give the deforming bones a body; baked limbs get the colours of their targets."""
    skin = stage.material("Body", stage.SAND, roughness=0.55)
    colours = {limb.upper.replace("_fk", ""): stage.material(limb.name, limb.colour, roughness=0.4) for limb in LIMBS}
    above = {"thigh": "thigh", "shin": "thigh", "upper_arm": "upper_arm", "forearm": "upper_arm"}
    parts = {}
    for bone in human.data.bones:
        name = bone.name.removeprefix("DEF-")
        side = next((mark for mark in (".L", ".R") if mark in name), "")
        kind = name.replace(side, "") if side else name
        if bone.name.startswith("DEF-") and kind in RADII:
            limb = above.get(kind.removesuffix(".001"))
            flatness = 0.72 if kind.startswith("spine.00") and kind < "spine.004" else 1.0
            inset = HEAD_INSET if kind == "spine.006" else 0.0
            parts[bone.name] = body.Part(RADII[kind], colours[limb + side] if limb else skin, flatness, inset)
    human.data.pose_position = "REST"
    made = body.grow(human, parts)
    human.data.pose_position = "POSE"
    return made


def make_scene(*, arms: Arms = (key_wave, key_swing), filtered: int = 0) -> tuple[bpy.types.Object, list[bpy.types.Object]]:
    """The human with body, targets and light, not yet baked.

    filtered : frames to both sides over which the feet's way is averaged
    """
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    human = make_human()
    move_body(human)
    targets = make_targets(human, arms, filtered)
    dress(human)
    stage.light_and_ground()
    return human, targets


def show_paths(targets: list[bpy.types.Object]) -> None:
    """Draw the paths of the targets."""
    for limb, target in zip(LIMBS, targets, strict=True):
        stage.show_target(target, limb.colour, range(1, LAST + 1))


def look_at_frame(frame: int, way: tuple[float, float, float], *, height: float = 0.98, lens: float = 50.0) -> None:
    """Point the camera at the human's position at a frame, from the offset `way`."""
    centre = Vector((0.0, 0.15 - walked(frame), height))
    stage.look(centre + Vector(way), centre, lens=lens)


def show_walk(arguments: argparse.Namespace) -> None:
    """Render three moments of the walk side by side, and one cycle of it as a film."""
    cycle = range(FRAMES_PER_CYCLE + 1, 2 * FRAMES_PER_CYCLE + 1, 2)
    stage.film(arguments, "walk", cycle, height=0.8, follow=lambda frame: look_at_frame(frame, (4.1, -2.6, 0.5), lens=58.0))
    body.leave_poses(bpy.data.objects["Body"], POSES[:-1])
    look_at_frame(POSES[1], (5.6, -3.4, 1.1))
    stage.picture(arguments, "walk", POSES[-1], height=0.55)


def main(arguments: argparse.Namespace) -> None:
    """Make, bake, save, show."""
    human, targets = make_scene()
    store_chains(human, targets)
    bpy.ops.twobone.bake_all(scope="ACTIVE")
    stage.report()
    show_paths(targets)
    stage.save(arguments, "rigify_walk")
    show_walk(arguments)


if __name__ == "__main__":
    stage.run(main, "rigify_walk")
