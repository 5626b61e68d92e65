"""The shot that the pages' scripts and commands speak of, and a Blender to run one of their scripts in.

    python page_scene.py FOLDER                    make the shots in it
    python page_scene.py SHOT.blend SCRIPT.py      run a script in it, as `blender --background SHOT.blend --python` does

Two characters with two legs each: "rig" has the names of Rigify's FK bones, "Rig" has short ones and a stored chain. Their
targets step up and down within reach, in the plane of the leg. In the second shot the left leg of "Rig" is on Blender's IK. In
the third both left legs swing on FK, and have controls for an IK that is off. In the fourth "Hero" has a copy of the rotations of
"Mocap", a walker with longer legs. In the fifth "rig" is what Rigify makes of its basic human, on FK, its left leg swinging.
"""

import json
import os
import runpy
import sys
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

FRAMES = 96
CHARACTERS = {
    "rig": ("thigh_fk.{}", "shin_fk.{}", "foot_fk.{}", {"L": ["Ankle L", "Left ankle"], "R": ["Ankle R"]}),
    "Rig": ("thigh.{}", "shin.{}", "foot.{}", {"L": ["Foot.L", "Foot"], "R": ["Foot.R"]}),
}
PLAIN, ON_IK, WITH_CONTROLS, RETARGETED = "plain.blend", "on_ik.blend", "with_controls.blend", "retargeted.blend"
RIGIFY, NAMES = "rigify.blend", "names.json"
PLACES = ((1, -0.2, 0.2), (FRAMES // 2, 0.1, 0.4), (FRAMES, 0.3, 0.25))


def make_shots(folder: Path) -> None:
    from twobone_addon import registration

    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    for name, (upper, lower, foot, targets) in CHARACTERS.items():
        make_legs(name, upper, lower, foot)
        for side, names in targets.items():
            for target in names:
                make_target(target, side)
    stairs = bpy.data.meshes.new("Stairs")
    stairs.from_pydata([(-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0)], [], [(0, 1, 2, 3)])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Stairs", stairs))
    for name in ("Ankle", "Knee"):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, None))
    bpy.data.objects["Knee"].location = (across("L"), -1.0, 0.5)
    rig, foot = bpy.data.objects["Rig"], bpy.data.objects["Foot.L"]
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane = "thigh.L", "shin.L", foot, "YZ"
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / PLAIN))
    make_controls("Rig", "thigh.L", "shin.L", ("foot_ik.L", "thigh_ik_target.L"))
    make_controls("rig", "thigh_fk.L", "shin_fk.L", ("foot_ik.L", "thigh_ik_target.L"))
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / WITH_CONTROLS))
    bpy.ops.wm.open_mainfile(filepath=str(folder / PLAIN))
    rig, foot = bpy.data.objects["Rig"], bpy.data.objects["Foot.L"]
    rig.pose.bones["hips"].keyframe_insert("location", frame=1)
    rig.pose.bones["hips"].keyframe_insert("location", frame=FRAMES)
    constraint = rig.pose.bones["shin.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = foot, 2
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / ON_IK))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    make_retargeted()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / RETARGETED))
    make_rigify()
    bones = {rig.name: sorted(bone.name for bone in rig.data.bones) for rig in bpy.data.objects if rig.type == "ARMATURE"}
    (folder / NAMES).write_text(json.dumps(bones), encoding="utf-8")
    bpy.data.objects.remove(bpy.data.objects["metarig"])
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / RIGIFY))


def make_rigify() -> None:
    """The rig beside the metarig that it is made from, with targets that step in front of and behind the ankles."""
    from tests.real.generated_rigs import generated_rig, turn_forwards

    rig = generated_rig("basic_human")
    turn_forwards(rig)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    for side, names in CHARACTERS["rig"][3].items():
        ankle = rig.data.bones[f"foot_fk.{side}"].head_local
        for name in names:
            target = bpy.data.objects.new(name, None)
            scene.collection.objects.link(target)
            for frame, along, up in PLACES:
                target.location = (ankle.x, ankle.y + 0.5 * along, ankle.z + 0.5 * up)
                target.keyframe_insert("location", frame=frame)
    swing(rig, "thigh_fk.L", "shin_fk.L")


def make_retargeted() -> None:
    from tests.tasks.rigs.retargeted import made_pair

    source, _, _ = made_pair()
    source.name = "Mocap"


def across(side: str) -> float:
    return 0.1 if side == "L" else -0.1


def make_legs(name: str, *parts: str) -> None:
    character = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(character)
    bpy.context.view_layer.objects.active = character
    bpy.ops.object.mode_set(mode="EDIT")
    joints = ((0.0, 1.0), (-0.04, 0.55), (0.0, 0.1), (-0.15, 0.0))
    hips = character.data.edit_bones.new("hips")
    hips.head, hips.tail = (0.0, 0.0, 1.0), (0.0, 0.0, 1.2)
    for side in "LR":
        above = hips
        for part, head, tail in zip(parts, joints, joints[1:], strict=False):
            bone = character.data.edit_bones.new(part.format(side))
            bone.head, bone.tail, bone.parent = (across(side), *head), (across(side), *tail), above
            above = bone
    bpy.ops.object.mode_set(mode="OBJECT")


def make_target(name: str, side: str) -> None:
    target = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(target)
    for frame, along, up in PLACES:
        target.location = (across(side), along, up)
        target.keyframe_insert("location", frame=frame)


def make_controls(name: str, upper: str, lower: str, controls: tuple[str, str]) -> None:
    """Add bones for target and pole, an IK without influence, and a swing of the leg."""
    character = bpy.data.objects[name]
    bpy.context.view_layer.objects.active = character
    bpy.ops.object.mode_set(mode="EDIT")
    for control, (along, up) in zip(controls, ((0.0, 0.1), (-1.0, 0.55)), strict=True):
        bone = character.data.edit_bones.new(control)
        bone.head, bone.tail = (across("L"), along, up), (across("L"), along + 0.1, up)
    bpy.ops.object.mode_set(mode="OBJECT")
    ik = character.pose.bones[lower].constraints.new("IK")
    ik.target, ik.subtarget, ik.pole_target, ik.pole_subtarget = character, controls[0], character, controls[1]
    ik.chain_count, ik.influence = 2, 0.0
    swing(character, upper, lower)


def swing(character: bpy.types.Object, upper: str, lower: str) -> None:
    """Key a leg that goes back and forth."""
    for frame, angle in ((1, -0.2), (FRAMES // 2, 0.5), (FRAMES, 0.1)):
        for part, turn in ((upper, angle), (lower, 0.3 + 0.5 * angle)):
            bone = character.pose.bones[part]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler.x = turn
            bone.keyframe_insert("rotation_euler", frame=frame)


def run_in_shot(shot: Path, script: Path) -> None:
    """Run the script with the add-on on, unless it turns that on itself, and print what is seen and what was last reported.

    What is seen is the least cosine between the axis of each limb's joint and that at rest, over the scene's frames.
    """
    from twobone_addon import registration

    if "registration.register()" not in script.read_text(encoding="utf-8"):
        registration.register()
        bpy.ops.wm.open_mainfile(filepath=str(shot))
    runpy.run_path(str(script))
    from tests.examples.seen import characters

    joints = [cosine for character in characters().values() for cosine in character["joints"].values()]
    print("SEEN", json.dumps(joints))
    print("LAST REPORT:", bpy.context.window_manager.twobone_report.replace("\n", " ") or "null", flush=True)


if __name__ == "__main__":
    given = [Path(argument).resolve() for argument in sys.argv[1:]]
    make_shots(*given) if len(given) == 1 else run_in_shot(*given)
    os._exit(0)  # Blender 4.2 crashes at a tidy exit once properties have been registered
