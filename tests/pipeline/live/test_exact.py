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
    FRAMES,
    apart,
    leg_on_a_body,
    mixed,
    moving_empty,
    needs_nodes,
    new_scene,
    points_now,
    seen,
)
from twobone_addon.errors import TwoBoneError
from twobone_addon.pipeline.live import go_live
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.scene.writer import Transaction
from twobone_addon.settings import BakeSettings

pytestmark = needs_nodes

EXACT = 1e-6
"""Greatest distance from Bake, relative to the limb: what single precision leaves."""

TWICE_ROUNDED = 2e-6
"""Where a second transform is rounded as well: a limb below a limb, an armature on another's bone, an object's own plane, a
parent's matrix without its shear."""

NEXT_TO_STRAIGHT = 5e-5
"""Of limbs that are straight or folded at some frames, whose knee hangs on the root of a rounding error."""

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


def hip_keyed_in_scale(rig):
    hip = rig.pose.bones["hip"]
    for frame, scale in ((1, 1.0), (12, 1.2), (24, 0.9)):
        hip.scale = (scale,) * 3
        hip.keyframe_insert("scale", frame=frame)


def moved_upper(rig):
    rig.pose.bones["up"].location, rig.pose.bones["up"].scale = (0.05, -0.1, 0.07), (1.2,) * 3


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
    "target is a bone": (None, {"target": "Rig", "target_bone": "control"}, NEXT_TO_STRAIGHT),
    "YZ of the armature": (placed, {"plane": "YZ"}),
    "XZ of the armature, from the pose": (bent, {"plane": "XZ", "reference": "POSE"}, NEXT_TO_STRAIGHT),
    "YZ of the world": (placed, {"plane": "YZ", "plane_space": "WORLD"}, NEXT_TO_STRAIGHT),
    "YZ of the parent": (None, {"plane": "YZ", "plane_space": "PARENT"}),
    "XY of an object": (with_plane, {"plane": "OBJECT", "plane_object": "PO"}, NEXT_TO_STRAIGHT),
    "soften": (None, {"reach": "SOFTEN", "softness": 0.15, "softness_near": 0.2}),
    "stretch": (None, {"reach": "STRETCH", "softness": 0.1, "stretch_start": 0.95, "compress_min": 0.6, "stretch_max": 1.3}),
    "stretch a little": (target_lower, {"reach": "STRETCH", "stretch_max": 1.1}, NEXT_TO_STRAIGHT),
    "stretch bones that inherit no scale": (inheriting("NONE"), {"reach": "STRETCH"}),
    "offset kept": (None, {"target_offset": "KEEP"}, NEXT_TO_STRAIGHT),
    "influence": (bent, {"influence": 0.4}),
    "end like the target": (None, {"end_rotation": "TARGET"}),
    "end partly like the target": (bent, {"end_rotation": "TARGET", "influence": 0.4}),
    "end kept": (None, {"end_rotation": "KEEP"}),
    "end on its target, what lies between kept": (None, {"end_rotation": "TARGET", "target_offset": "KEEP"}),
    "end kept where the limb stretches": (None, {"end_rotation": "KEEP", "reach": "STRETCH"}),
    "object scaled": (scaled(2, 2, 2), {}, NEXT_TO_STRAIGHT),
    "object scaled unevenly": (scaled(1, 1.5, 0.7), {}),
    "object mirrored": (scaled(-1, 1, 1, turned=(0, 0, 0)), {}),
    "object mirrored unevenly, pole": (lambda rig: (with_pole(rig), scaled(-1, 1.3, 0.8)(rig)), {"plane": "POLE", "pole": "P"}),
    **{f"inherit scale {flag}": (inheriting(flag, 1.3), {}) for flag in ("FULL", "ALIGNED", "AVERAGE", "NONE")},
    "inherit scale FIX_SHEAR": (inheriting("FIX_SHEAR", 1.3), {}, TWICE_ROUNDED),
    "scale keyed above": (hip_keyed_in_scale, {}, NEXT_TO_STRAIGHT),
    "upper bone moved and scaled": (moved_upper, {}),
    "other rotation modes": (in_other_modes, {}),
    "no inherited rotation": (without_rotation, {}),
    "no inherited rotation, pole": (lambda rig: (with_pole(rig), without_rotation(rig)), {"plane": "POLE", "pole": "P"}),
    "played by strips": (played_by_strips, {}, NEXT_TO_STRAIGHT),
    "no bone above": (without_parent, {}, NEXT_TO_STRAIGHT),
    "no bone above, end kept": (without_parent, {"end_rotation": "KEEP"}, NEXT_TO_STRAIGHT),
    "armature on another's bone": (on_another_armature, {}, NEXT_TO_STRAIGHT),
    "keys below": (keyed("XYZ"), {}),
    "keys below, from the pose": (keyed("XYZ"), {"reference": "POSE"}, TWICE_ROUNDED),
    "keys below in another order": (keyed("ZXY"), {"reference": "POSE"}, TWICE_ROUNDED),
    "keys below as quaternions": (keyed("QUATERNION"), {"reference": "POSE"}, TWICE_ROUNDED),
    "keys below, plane of the rest pose": (keyed("XYZ"), {"plane": "REST", "reference": "POSE"}, TWICE_ROUNDED),
    "keys below, YZ from the pose": (keyed("XYZ"), {"plane": "YZ", "reference": "POSE"}, TWICE_ROUNDED),
    "keys below, pole from the pose": (
        lambda rig: (with_pole(rig), keyed("XYZ")(rig)), {"plane": "POLE", "pole": "P", "reference": "POSE"}, TWICE_ROUNDED
    ),
}  # fmt: skip
"""What is done to the rig, the settings, and how near Bake the limb must be if that is not `EXACT`."""


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
    change, settings, *tolerance = CASES[name]
    size = 2.0 if name == "object scaled" else 1.0
    assert apart(*both(change, settings)) / size <= (tolerance or [EXACT])[0]
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
    assert apart(baked, seen(rig, names)) <= NEXT_TO_STRAIGHT
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
sys.path.insert(0, sys.argv[3])
import bpy, numpy
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
assert not hasattr(bpy.types.Object, "twobone")
from tests.pipeline.live.live_scene import seen
numpy.save(sys.argv[2], seen(bpy.data.objects["Rig"], ["up", "lo", "foot"]))
"""


def test_a_file_plays_where_the_addon_is_not_installed(empty_file, tmp_path):
    rig = legged(None)
    twobone_addon.bake(**LEG, **GIVEN)
    baked = seen(rig, BONES)
    legged(None)
    live(**LEG)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", ALONE, str(tmp_path / "leg.blend"), str(tmp_path / "seen.npy"), str(root)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "cycle" not in (done.stdout + done.stderr).casefold()
    assert apart(baked, np.load(tmp_path / "seen.npy")) <= EXACT


def test_a_render_shows_the_limb_at_its_targets(empty_file, tmp_path):
    rig = legged(None)
    twobone_addon.bake(**LEG, **GIVEN)
    frames = [3, 9, 17]
    baked = seen(rig, BONES, frames)
    rig = legged(None)
    live(**LEG)
    scene = bpy.context.scene
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath, found = str(tmp_path / "frame"), {}

    def look(rendered, depsgraph):
        if depsgraph.mode == "RENDER":
            found[rendered.frame_current] = points_now(rig, BONES, depsgraph)

    bpy.app.handlers.frame_change_post.append(look)
    try:
        for frame in mixed(frames):
            scene.frame_start = scene.frame_end = frame
            bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.frame_change_post.remove(look)
    assert sorted(found) == frames
    assert apart(baked, np.array([found[frame] for frame in frames])) <= EXACT


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
    "part of a mirrored limb": (scaled(-1, 1, 1), {"influence": 0.5}, "Influence below 1"),
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
