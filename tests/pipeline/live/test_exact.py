"""Limbs that Blender's own evaluation poses stand as Bake keys them: each setting, on frames in any order and between frames.

Each case bakes one scene, lets Blender pose the same limb of another, and compares what is seen of it.
"""

import math
import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

import twobone_addon
from tests.pipeline.live.live_scene import (
    EXACT,
    FRAMES,
    LENGTH,
    RENDERED,
    allowed,
    apart,
    bends,
    beyond,
    leg_on_a_body,
    moving_empty,
    needs_nodes,
    new_scene,
    seen,
)
from twobone_addon.errors import TwoBoneError
from twobone_addon.pipeline.live import go_live
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.scene.writer import Transaction
from twobone_addon.settings import BakeSettings

pytestmark = needs_nodes

LEG = {"armature": "Rig", "upper": "up", "lower": "lo", "tip": "foot", "target": "T", "plane": "POSE"}
GIVEN = {"plane_space": "ARMATURE", "bend": "POSITIVE", "depth": "KEEP", "reference": "REST"}
BONES = ["up", "lo", "foot"]


def live(**settings):
    with Transaction() as changes, changes.noting():
        return go_live(bpy.context.scene, BakeSettings(**{**GIVEN, **settings}))


def bent(rig):
    rig.pose.bones["up"].rotation_euler, rig.pose.bones["lo"].rotation_euler = (0.3, 0.5, -0.2), (0.6, 0.1, 0.2)


def with_pole(_rig):
    moving_empty("P", place=(0.4, -1.6, 1.2), radius=0.4, phase=1.0)


def target_lower(_rig):
    bpy.data.objects["T"].delta_location = (0, 0, -0.5)


def with_plane(_rig):
    moving_empty("PO", place=(0, 0, 0)).delta_rotation_euler = (0.2, 1.4, 0.1)


def placed(rig):
    rig.location, rig.rotation_euler = (0.1, 0.2, 0.3), (0.1, 0.2, 0.4)


def scaled(*scale, turned=(0.2, 0.1, 0.3)):
    def change(rig):
        rig.scale, rig.rotation_euler = scale, turned

    return change


def inheriting(flag, hip=1.0):
    def change(rig):
        for name in ("up", "lo"):
            rig.data.bones[name].inherit_scale = flag
        rig.pose.bones["hip"].scale = (hip,) * 3

    return change


def on_a_hip_that_points_up(flag="FULL"):
    """A thigh that points back along its parent, six degrees beside it: there Blender's rest matrices are the least exact."""

    def change(rig):
        bpy.ops.object.mode_set(mode="EDIT")
        hip, thigh = rig.data.edit_bones["hip"], rig.data.edit_bones["up"]
        hip.tail = hip.head - 0.25 * (thigh.vector.normalized() + 0.1 * thigh.x_axis)
        hip.roll = 0.0
        bpy.ops.object.mode_set(mode="OBJECT")
        offset = np.array(rig.data.bones["hip"].matrix_local.inverted() @ rig.data.bones["up"].matrix_local)[:3, :3]
        assert np.abs(offset.T @ offset - np.eye(3)).max() > 1e-5
        for name in ("up", "lo"):
            rig.data.bones[name].inherit_scale = flag
        bent(rig)
        with_pole(rig)

    return change


def hip_keyed_in_scale(rig):
    hip = rig.pose.bones["hip"]
    for frame, scale in ((1, 1.0), (12, 1.2), (24, 0.9)):
        hip.scale = (scale,) * 3
        hip.keyframe_insert("scale", frame=frame)


def moved_upper(rig):
    rig.pose.bones["up"].location, rig.pose.bones["up"].scale = (0.05, -0.1, 0.07), (1.2,) * 3


def own_pose_on_target(_rig):
    """The limb's own pose at the first frame is a ten-thousandth away from that of IK."""
    twobone_addon.bake(**{**LEG, **GIVEN, "frame_range": "CUSTOM", "frame_start": 1, "frame_end": 1})
    rig = bpy.data.objects["Rig"]
    posed = {name: rig.pose.bones[name].rotation_euler.copy() for name in ("up", "lo")}
    twobone_addon.clear_baked(**{name: LEG[name] for name in ("armature", "upper", "lower", "tip")})
    for name, angles in posed.items():
        rig.pose.bones[name].rotation_euler = [angle + 1e-4 for angle in angles]


def in_other_modes(rig):
    rig.pose.bones["up"].rotation_mode, rig.pose.bones["lo"].rotation_mode = "QUATERNION", "AXIS_ANGLE"


def without_rotation(rig):
    rig.data.bones["up"].use_inherit_rotation = False


def played_by_strips(rig):
    """What target and body play is pushed down to strips, of which the target's begins later and is mixed in by a half."""
    for thing, start, influence in ((rig, 1.0, 1.0), (bpy.data.objects["T"], 3.0, 0.5)):
        data = thing.animation_data
        action, data.action = data.action, None
        strip = data.nla_tracks.new().strips.new(action.name, int(start), action)
        strip.action_slot = action.slots[0]
        strip.influence = influence


def without_parent(rig):
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["up"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")


def on_another_armature(rig):
    carrier = leg_on_a_body(name="Carrier")
    rig.parent, rig.parent_type, rig.parent_bone = carrier, "BONE", "hip"
    rig.matrix_parent_inverse = Matrix.Translation((0, 0, -2))
    bpy.context.view_layer.objects.active = rig


def keyed(mode):
    """Keys that turn both bones, about as a person walks."""

    def change(rig):
        for name, size, bend in (("up", (0.3, 0.4, 0.2), 0.0), ("lo", (0.3, 0.1, 0.1), 1.0)):
            bone = rig.pose.bones[name]
            bone.rotation_mode, before = mode, None
            for frame in range(1, FRAMES + 1, 3):
                angles = (bend + size[0] * math.sin(frame), size[1] * math.cos(frame), size[2] * math.sin(2 * frame))
                turn = Euler(angles).to_quaternion()
                if before is not None:
                    turn.make_compatible(before)
                before = turn
                if mode == "QUATERNION":
                    bone.rotation_quaternion = turn
                    bone.keyframe_insert("rotation_quaternion", frame=frame)
                else:
                    bone.rotation_euler = turn.to_euler(mode)
                    bone.keyframe_insert("rotation_euler", frame=frame)

    return change


CASES = {
    "plane of the pose": (None, {}),
    "plane of a bent pose": (bent, {}),
    "plane of the pose, from the pose": (bent, {"reference": "POSE"}),
    "bend negative": (None, {"bend": "NEGATIVE"}),
    "bend keep in the plane of the pose": (bent, {"bend": "KEEP"}),
    "plane of the rest pose": (None, {"plane": "REST"}),
    "pole": (with_pole, {"plane": "POLE", "pole": "P"}),
    "pole from the pose": (lambda rig: (bent(rig), with_pole(rig)), {"plane": "POLE", "pole": "P", "reference": "POSE"}),
    "pole with an angle": (with_pole, {"plane": "POLE", "pole": "P", "pole_angle": 0.6}),
    "pole, bend negative": (with_pole, {"plane": "POLE", "pole": "P", "bend": "NEGATIVE"}),
    "pole is a bone": (None, {"plane": "POLE", "pole": "Rig", "pole_bone": "knee"}),
    "target is a bone": (None, {"target": "Rig", "target_bone": "control"}),
    "YZ of the armature": (placed, {"plane": "YZ"}),
    "XZ of the armature, from the pose": (bent, {"plane": "XZ", "reference": "POSE"}),
    "YZ of the world": (placed, {"plane": "YZ", "plane_space": "WORLD"}),
    "YZ of the parent": (None, {"plane": "YZ", "plane_space": "PARENT"}),
    "XY of an object": (with_plane, {"plane": "OBJECT", "plane_object": "PO"}),
    "soften": (None, {"reach": "SOFTEN", "softness": 0.15, "softness_near": 0.2}),
    "stretch": (None, {"reach": "STRETCH", "softness": 0.1, "stretch_start": 0.95, "compress_min": 0.6, "stretch_max": 1.3}),
    "stretch a little": (target_lower, {"reach": "STRETCH", "stretch_max": 1.1}),
    "stretch bones that inherit no scale": (inheriting("NONE"), {"reach": "STRETCH"}),
    "offset kept": (None, {"target_offset": "KEEP"}),
    "influence": (bent, {"influence": 0.4}),
    "influence where the own pose is that of IK at the first frame": (own_pose_on_target, {"influence": 0.7}),
    "influence on a limb that stretches": (target_lower, {"influence": 0.6, "reach": "STRETCH", "stretch_max": 1.3}),
    "influence on a mirrored object": (lambda rig: (bent(rig), scaled(-1, 1, 1)(rig)), {"influence": 0.5}),
    "influence on an uneven object": (lambda rig: (bent(rig), scaled(1, 1.5, 0.7)(rig)), {"influence": 0.5}),
    "end partly like a target that it is on at the first frame": (
        bent, {"end_rotation": "TARGET", "target_offset": "KEEP", "influence": 0.7}
    ),
    "end like the target": (None, {"end_rotation": "TARGET"}),
    "end partly like the target": (bent, {"end_rotation": "TARGET", "influence": 0.4}),
    "end kept": (None, {"end_rotation": "KEEP"}),
    "end on its target, what lies between kept": (None, {"end_rotation": "TARGET", "target_offset": "KEEP"}),
    "end kept where the limb stretches": (None, {"end_rotation": "KEEP", "reach": "STRETCH"}),
    "object scaled": (scaled(2, 2, 2), {}),
    "object scaled unevenly": (scaled(1, 1.5, 0.7), {}),
    "object mirrored": (scaled(-1, 1, 1, turned=(0, 0, 0)), {}),
    "object mirrored unevenly, pole": (lambda rig: (with_pole(rig), scaled(-1, 1.3, 0.8)(rig)), {"plane": "POLE", "pole": "P"}),
    **{f"inherit scale {flag}": (inheriting(flag, 1.3), {}) for flag in ("FULL", "ALIGNED", "AVERAGE", "NONE")},
    "inherit scale FIX_SHEAR": (inheriting("FIX_SHEAR", 1.3), {}),
    "thigh on a hip that points up": (on_a_hip_that_points_up(), {}),
    "thigh, pole with an angle": (on_a_hip_that_points_up(), {"plane": "POLE", "pole": "P", "pole_angle": 0.6}),
    "thigh, XZ of the world": (on_a_hip_that_points_up(), {"plane": "XZ", "plane_space": "WORLD", "reference": "POSE"}),
    "thigh that stretches": (on_a_hip_that_points_up(), {"plane": "REST", "reach": "STRETCH", "stretch_start": 0.8}),
    "thigh, end partly like the target": (on_a_hip_that_points_up(), {"end_rotation": "TARGET", "influence": 0.4}),
    **{
        f"thigh, shin inherits scale {flag}": (on_a_hip_that_points_up(flag), {"end_rotation": end, **settings})
        for flag, end, settings in (
            ("ALIGNED", "TARGET", {}),
            ("AVERAGE", "KEEP", {"plane": "POLE", "pole": "P", "reach": "SOFTEN", "softness": 0.2}),
            ("NONE", "NONE", {"plane": "YZ"}),
            ("NONE_LEGACY", "TARGET", {"reference": "POSE"}),
            ("FIX_SHEAR", "NONE", {"plane": "OBJECT", "plane_object": "P", "reference": "POSE"}),
        )
    },
    "scale keyed above": (hip_keyed_in_scale, {}),
    "upper bone moved and scaled": (moved_upper, {}),
    "other rotation modes": (in_other_modes, {}),
    "no inherited rotation": (without_rotation, {}),
    "no inherited rotation, pole": (lambda rig: (with_pole(rig), without_rotation(rig)), {"plane": "POLE", "pole": "P"}),
    "played by strips": (played_by_strips, {}),
    "no bone above": (without_parent, {}),
    "no bone above, end kept": (without_parent, {"end_rotation": "KEEP"}),
    "armature on another's bone": (on_another_armature, {}),
    "keys below": (keyed("XYZ"), {}),
    "keys below, from the pose": (keyed("XYZ"), {"reference": "POSE"}),
    "keys below in another order": (keyed("ZXY"), {"reference": "POSE"}),
    "keys below as quaternions": (keyed("QUATERNION"), {"reference": "POSE"}),
    "influence on keys below": (keyed("ZXY"), {"influence": 0.6}),
    "influence on keys below as quaternions": (keyed("QUATERNION"), {"influence": 0.6}),
    "keys below, plane of the rest pose": (keyed("XYZ"), {"plane": "REST", "reference": "POSE"}),
    "keys below, YZ from the pose": (keyed("XYZ"), {"plane": "YZ", "reference": "POSE"}),
    "keys below, pole from the pose": (
        lambda rig: (with_pole(rig), keyed("XYZ")(rig)), {"plane": "POLE", "pole": "P", "reference": "POSE"}
    ),
}  # fmt: skip
"""What is done to the rig, and the settings."""


def legged(change):
    new_scene()
    moving_empty("T")
    rig = leg_on_a_body()
    if change is not None:
        change(rig)
    bpy.context.scene.frame_set(1)
    return bpy.data.objects["Rig"]


def both(change, settings, frames=range(1, FRAMES + 1), **of_bake):
    """What is seen of the baked limb, and of the one that Blender poses."""
    rig = legged(change)
    twobone_addon.bake(**{**LEG, **GIVEN, **settings}, **of_bake)
    baked = seen(rig, BONES, frames)
    rig = legged(change)
    live(**{**LEG, **settings})
    return baked, seen(rig, BONES, frames)


@pytest.mark.parametrize("name", CASES)
def test_a_limb_stands_as_bake_sets_it(empty_file, capfd, name):
    change, settings = CASES[name]
    baked, posed = both(change, settings)
    assert beyond(baked, posed, bpy.data.objects["Rig"], {**LEG, **GIVEN, **settings}) <= 1.0
    assert "cycle" not in "".join(capfd.readouterr()).casefold()


def test_a_limb_follows_between_frames_and_not_only_on_them(empty_file):
    frames = np.arange(1.0, FRAMES, 0.5)
    baked, posed = both(None, {}, frames, step=0.5)
    assert apart(baked, posed) <= EXACT
    # Half a frame is seen: from key to key the limb would cut corners.
    by_frame, _ = both(None, {}, frames)
    assert apart(by_frame, posed) > 100 * EXACT


def test_keys_on_influence_and_bend_of_the_chain_play(empty_file):
    def with_keys(rig):
        bent(rig)
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.tip, chain.target = "Leg", "up", "lo", "foot", bpy.data.objects["T"]
        chain.plane, chain.end_rotation = "POSE", "TARGET"
        for frame, influence, bend in ((1, 0.0, "POSITIVE"), (8, 1.0, "POSITIVE"), (14, 0.5, "NEGATIVE"), (24, 1.0, "POSITIVE")):
            chain.influence, chain.bend = influence, bend
            chain.keyframe_insert("influence", frame=frame)
            chain.keyframe_insert("bend", frame=frame)

    rig = legged(with_keys)
    twobone_addon.bake(armature="Rig", stored="Leg")
    baked = seen(rig, BONES)
    rig = legged(with_keys)
    with Transaction() as changes, changes.noting():
        go_live(bpy.context.scene, stored_settings(rig, rig.twobone.chains[0], {}))
    assert apart(baked, seen(rig, BONES)) <= EXACT


def test_one_limb_below_another(empty_file, capfd):
    names = ["up", "lo", "foot", "up2", "lo2"]
    below = {"upper": "up2", "lower": "lo2", "tip": "lo2", "target": "T2"}

    def with_target(_rig):
        moving_empty("T2", place=(0.25, -0.5, -0.1), radius=0.15, phase=2.0)

    rig = legged(with_target)
    for settings in ({}, below):
        twobone_addon.bake(**{**LEG, **GIVEN, **settings})
    baked = seen(rig, names)
    rig = legged(with_target)
    for settings in ({}, below):
        live(**{**LEG, **settings})
    posed = seen(rig, names)
    assert beyond(baked[:, :3], posed[:, :3], rig, LEG) <= 1.0
    # What the knee above is off moves the root below, which moves the knee there, beside what that is off by itself.
    tip = np.repeat(baked[:, 4:, 1:2], 4, axis=2)
    sines = bends(baked, None) * bends(np.concatenate([baked[:, 3:], tip], axis=1), None)
    assert (np.linalg.norm(baked - posed, axis=-1).max(axis=(1, 2)) / LENGTH <= 2.0 * allowed(sines)).all()
    assert "cycle" not in "".join(capfd.readouterr()).casefold()


def spider():
    new_scene()
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    body = rig.data.edit_bones.new("body")
    body.head, body.tail = (0, 0, 1), (0, 0.5, 1)
    for leg in range(8):
        angle = (leg + 0.5) / 8 * 2 * math.pi
        out, up = np.array([math.cos(angle), math.sin(angle), 0.0]), np.array([0.0, 0.0, 1.0])
        upper, lower = (rig.data.edit_bones.new(f"{part}{leg}") for part in ("upper", "lower"))
        upper.head, upper.tail, upper.parent = up + 0.3 * out, 1.7 * up + out, body
        lower.head, lower.tail, lower.parent = upper.tail, 1.9 * out, upper
    bpy.ops.object.mode_set(mode="OBJECT")
    bone = rig.pose.bones["body"]
    for frame in (1, 8, 16, 24):
        bone.location = (0.1 * math.sin(frame), 0.05, 0.15 * math.cos(frame))
        bone.keyframe_insert("location", frame=frame)
    for leg in range(8):
        angle = (leg + 0.5) / 8 * 2 * math.pi
        moving_empty(f"T{leg}", place=(1.7 * math.cos(angle), 1.7 * math.sin(angle), 0.1), radius=0.12, phase=leg)
    bpy.context.scene.frame_set(1)
    return rig


def test_eight_legs_of_a_spider(empty_file, capfd):
    names = [f"{part}{leg}" for leg in range(8) for part in ("upper", "lower")]
    legs = [{**LEG, "upper": f"upper{leg}", "lower": f"lower{leg}", "tip": "", "target": f"T{leg}"} for leg in range(8)]
    rig = spider()
    for leg in legs:
        twobone_addon.bake(**leg, **GIVEN)
    baked = seen(rig, names)
    rig = spider()
    for leg in legs:
        live(**leg)
    assert apart(baked, seen(rig, names)) <= EXACT
    assert "cycle" not in "".join(capfd.readouterr()).casefold()


ALONE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import bpy, numpy
from tests.pipeline.live.live_scene import FRAMES, rendered, seen
bones = ["up", "lo", "foot"]
for path in sorted(Path(sys.argv[1]).glob("*.blend")):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert not hasattr(bpy.types.Object, "twobone")
    rig = bpy.data.objects["Rig"]
    every = seen(rig, bones, numpy.arange(1.0, FRAMES + 0.5, 0.5))
    numpy.savez(path.with_suffix(".npz"), seen=every, rendered=rendered(rig, bones, path.parent))
"""
"""Opens files in a Blender without the add-on, plays them on frames and between, and renders them."""

FEW_ROWS = (
    *("pole", "YZ of the armature", "stretch", "influence on keys below", "end partly like the target"),
    *("no inherited rotation, pole", "keys below as quaternions"),
)
"""Rows of `CASES` with all kinds of nodes; `TWOBONE_LIVE_ROWS=all` looks at each of them."""


def test_a_file_plays_and_renders_where_the_addon_is_not_installed(empty_file, tmp_path):
    frames, baked = np.arange(1.0, FRAMES + 0.5, 0.5), {}
    for number, name in enumerate(CASES if os.environ.get("TWOBONE_LIVE_ROWS") == "all" else FEW_ROWS):
        change, settings = CASES[name]
        rig = legged(change)
        twobone_addon.bake(**{**LEG, **GIVEN, **settings}, step=0.5)
        baked[number, name] = seen(rig, BONES, frames)
        legged(change)
        live(**{**LEG, **settings})
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / f"{number}.blend"), copy=True)
    command = [sys.executable, "-c", ALONE, str(tmp_path), str(Path(__file__).parents[3])]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cycle" not in (done.stdout + done.stderr).casefold()
    away = {}
    for (number, name), limb in baked.items():
        change, settings = CASES[name]
        rig, posed, settings = legged(change), np.load(tmp_path / f"{number}.npz"), {**LEG, **GIVEN, **settings}
        played = beyond(limb, posed["seen"], rig, settings, frames)
        shown = beyond(limb[[2 * (frame - 1) for frame in RENDERED]], posed["rendered"], rig, settings, RENDERED)
        away[name] = max(played, shown)
    assert {name: times for name, times in away.items() if times > 1.0} == {}


def uneven_hip(rig):
    rig.pose.bones["hip"].scale = (1.2, 0.8, 1.1)


def uneven_upper(rig):
    rig.pose.bones["up"].scale = (1.2, 0.9, 1.1)


def uneven_target(_rig):
    bpy.data.objects["T"].scale = (1, 2, 0.5)


def copying(rig):
    rig.pose.bones["lo"].constraints.new("COPY_ROTATION").target = bpy.data.objects["T"]


def keyed_location(rig):
    for frame, place in ((1, 0.0), (12, 0.2)):
        rig.pose.bones["up"].location = (place, 0, 0)
        rig.pose.bones["up"].keyframe_insert("location", frame=frame)


def through_straight(rig):
    for frame, angle in ((1, -1.0), (12, 1.0), (24, -1.0)):
        rig.pose.bones["lo"].rotation_euler = (angle, 0, 0)
        rig.pose.bones["lo"].keyframe_insert("rotation_euler", frame=frame)


REFUSED = {
    "joint limits": (None, {"use_limits": True, "lower_max": 1.0}, "Joint Limits"),
    "distances": (None, {"min_distance": 0.5}, "Minimum Distance"),
    "flatten": (None, {"plane": "YZ", "depth": "FLATTEN"}, "Depth Flatten"),
    "keep": (None, {"plane": "YZ", "bend": "KEEP"}, "Bend Keep"),
    "uneven above": (uneven_hip, {}, "uneven scale"),
    "uneven limb": (uneven_upper, {}, "uneven scale"),
    "uneven target": (uneven_target, {"end_rotation": "TARGET"}, "Copy Target"),
    "mirrored end": (scaled(-1, 1, 1), {"end_rotation": "TARGET"}, "Copy Target"),
    "constraints": (copying, {}, 'Constraint "Copy Rotation"'),
    "location keyed": (keyed_location, {}, "location or scale"),
    "straight at some frame": (through_straight, {}, "straight|both sides"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_exact_is_refused_with_bake_as_the_remedy(empty_file, name):
    change, settings, words = REFUSED[name]
    legged(change)
    before = {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "node_groups", "actions")}
    with pytest.raises(TwoBoneError, match=words) as refused:
        live(**{**LEG, **settings})
    assert "Bake" in str(refused.value)
    assert {kind: len(getattr(bpy.data, kind)) for kind in before} == before


def test_a_baked_limb_is_refused_since_live_would_start_from_its_keys(empty_file):
    legged(None)
    twobone_addon.bake(**LEG, **GIVEN)
    with pytest.raises(TwoBoneError, match="Clear Baked Keys"):
        live(**LEG)
