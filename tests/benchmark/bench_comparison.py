"""What is left behind when a leg follows an ankle through 250 frames: Blender's own IK and bake, Rigify's, and ours.

Run: python tests/benchmark/bench_comparison.py

The farthest that the ankle is from its target, at the frames and at the quarters between them, as Blender evaluates the keys; how
many keys on how many F-Curves; and the time on the clock, the second of two runs. Prints the table of docs/measurements.md.
"""

import time

import bpy
from rivals import bake_native, bake_rigify, clear_keys, leave_native, prepare_native, prepare_rigify
from shots import Shot, rigify_walk, two_bones

from twobone_addon import registration
from twobone_addon.scene.versions import curve_bag

FRAMES = 250
QUARTERS = 4
MILLIMETRES = 1000.0


def main():
    """Measure all, each in a file of its own."""
    registration.register()
    rows = [
        ("Blender's IK, `nla.bake`", *measured(plain_leg, native)),
        ("Blender's IK, `nla.bake`, Clean Curves", *measured(plain_leg, native_cleaned)),
        ("Two-Bone IK, every frame", *measured(plain_leg, ours)),
        ("Two-Bone IK, Euler angles, hinge aligned", *measured(hinged_leg, ours)),
        ("Two-Bone IK, Reduce to 1 mm, hinge aligned", *measured(hinged_leg, ours_reduced)),
        ("Rigify's leg, IK control keyed, then *FK->IK*", *measured(rigify_leg, rigify)),
        ("Rigify's leg, Two-Bone IK", *measured(rigify_leg, ours)),
    ]
    print(f"\nBlender {bpy.app.version_string}, {FRAMES} frames\n")
    print("| one leg | at frames | between frames | keys | F-Curves | time |\n|---|---|---|---|---|---|")
    for name, at, between, keys, curves, seconds in rows:
        print(f"| {name} | {at:.2g} mm | {between:.2g} mm | {keys:,} | {curves} | {seconds:.2g} s |")


def measured(make, bake):
    """Both distances in millimetres, keys, curves and seconds."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    shot = make()
    limb, seconds = shot.limbs[0], 0.0
    for _ in range(2):
        seconds = bake(shot)
        curves = [each for each in curve_bag(bpy.data.objects[limb.armature]).fcurves if is_of(each, limb)]
        at, between = misses(limb)
        found = MILLIMETRES * at, MILLIMETRES * between, sum(len(each.keyframe_points) for each in curves), len(curves), seconds
        clear_keys(shot)
    return found


def is_of(fcurve, limb):
    """Whether a curve rotates the limb and holds keys."""
    return len(fcurve.keyframe_points) > 0 and any(f'"{bone}"' in fcurve.data_path for bone in (limb.upper, limb.lower))


def misses(limb):
    """Farthest that the tip is from the target, at the frames and between them."""
    scene, rig, target = bpy.context.scene, bpy.data.objects[limb.armature], bpy.data.objects[limb.target]
    at = between = 0.0
    for step in range(QUARTERS * (FRAMES - 1) + 1):
        scene.frame_set(1 + step // QUARTERS, subframe=step % QUARTERS / QUARTERS)
        tip = rig.matrix_world @ rig.pose.bones[limb.lower].tail
        miss = (tip - target.matrix_world.translation).length
        at, between = (at, max(between, miss)) if step % QUARTERS else (max(at, miss), between)
    return at, between


def plain_leg():
    """Two bones in Blender's default rotation mode; the knee is bent at rest, as riggers bend it for Blender's IK."""
    return two_bones(FRAMES)


def hinged_leg():
    """The same with Euler angles, the hinge on one of the bones' axes."""
    shot = two_bones(FRAMES)
    limb = shot.limbs[0]
    bpy.ops.twobone.align_hinge(armature=limb.armature, upper=limb.upper, lower=limb.lower, plane=limb.plane, roll=True)
    return shot


def rigify_leg():
    """The left leg of Rigify's human; the torso sways."""
    shot = rigify_walk(FRAMES)
    leg = next(limb for limb in shot.limbs if limb.upper == "thigh_fk.L")
    return Shot([leg], FRAMES)


def native(shot):
    """Seconds of Blender's own bake."""
    prepare_native(shot)
    seconds = timed(lambda: bake_native(shot))
    leave_native(shot)
    return seconds


def native_cleaned(shot):
    """The same with its option to remove keys that repeat their neighbours."""
    prepare_native(shot)
    seconds = timed(lambda: bake_native(shot, clean_curves=True))
    leave_native(shot)
    return seconds


def ours(shot, **settings):
    """Seconds of the operator, with its verification."""
    limb = shot.limbs[0]
    words = {"armature": limb.armature, "upper": limb.upper, "lower": limb.lower, "target": limb.target, "plane": limb.plane}
    return timed(lambda: bpy.ops.twobone.bake(**words, frame_range="CUSTOM", frame_start=1, frame_end=FRAMES, **settings))


def ours_reduced(shot):
    """The same with as few keys as a millimetre allows."""
    return ours(shot, keys="REDUCE", tolerance=0.001)


def rigify(shot):
    """Seconds of Rigify's own bake from IK to FK, whose control has been keyed at every frame."""
    rig, leg = bpy.data.objects[shot.limbs[0].armature], "thigh_parent.L"
    rig.pose.bones[leg]["IK_FK"] = 0.0
    prepare_rigify(shot)
    seconds = timed(lambda: bake_rigify(shot))
    rig.pose.bones[leg]["IK_FK"] = 1.0
    return seconds


def timed(call):
    """Seconds on the clock."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
