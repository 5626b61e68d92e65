"""A first-time user's way: select a bone, Add Target, Bake; and Bake All over one, several and all armatures."""

import json
import math

import bpy
import pytest
from mathutils import Euler, Vector

from tests.interface.acting import joints_world, select_bones
from tests.tasks.scenes import LEG, STRAIGHT_LEG, BoneShape, add_empty, build_armature

ORIENTATIONS = [(0, 0, 0), (90, 0, 0), (0, 0, 90), (30, -50, 110)]
BENT_SIDES = {"forward": (0, 0.25, 0.5), "backward": (0, -0.25, 0.5), "left": (0.25, 0, 0.5), "right": (-0.25, 0, 0.5)}


def limb(middle):
    return (
        BoneShape("hip", (0, 0.1, 1), (0, 0.1, 1.2)),
        BoneShape("thigh.L", (0, 0, 1), middle, "hip"),
        BoneShape("shin.L", middle, (0, 0, 0), "thigh.L", connected=True),
        BoneShape("foot.L", (0, 0, 0), (0, -0.2, 0), "shin.L"),
    )


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("middle", BENT_SIDES.values(), ids=BENT_SIDES)
def test_two_clicks_after_selecting_a_bone_the_limb_follows_and_bends_as_at_rest(empty_file, middle, orientation):
    rig = build_armature(limb(middle))
    rig.matrix_world = Euler([math.radians(angle) for angle in orientation]).to_matrix().to_4x4() @ rig.matrix_world
    rig.location = (3, -2, 1)
    bpy.context.scene.frame_end = 2
    select_bones(rig, "shin.L")
    bpy.ops.twobone.add_target()
    target = bpy.data.objects["Target foot.L"]
    bpy.context.view_layer.update()
    before = joints_world(rig, "thigh.L", "shin.L")
    assert (target.matrix_world.translation - before[2]).length < 1e-5

    # Lift the foot half way to the hip: the knee must go out to the side it has at rest.
    target.location += 0.3 * (before[0] - before[2])
    bpy.ops.twobone.bake()
    root, knee, tip = joints_world(rig, "thigh.L", "shin.L")
    assert (tip - target.matrix_world.translation).length < 1e-5
    out = rig.matrix_world.to_3x3() @ Vector((middle[0], middle[1], 0)).normalized()
    assert (knee - 0.5 * (root + tip)).dot(out) > 0.35


def test_add_target_leaves_mode_selection_and_active_object_alone(empty_file):
    rig = build_armature()
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.add_target(shape="CUBE", size=0.5)
    target = rig.twobone.chains[0].target
    assert (target.empty_display_type, target.empty_display_size) == ("CUBE", 0.5)
    assert bpy.context.mode == "POSE"
    assert bpy.context.view_layer.objects.active == rig
    assert not target.select_get()


def test_the_targets_size_grows_with_the_limb(empty_file):
    rig = build_armature()
    rig.scale = (100, 100, 100)
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.add_target()
    assert rig.twobone.chains[0].target.empty_display_size > 10


@pytest.mark.parametrize("shapes", [LEG, STRAIGHT_LEG], ids=["bent", "straight"])
def test_a_pole_stands_beyond_the_knee_and_the_knee_points_at_it(empty_file, shapes):
    rig = build_armature(shapes)
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.add_target()
    bpy.ops.twobone.add_pole()
    chain = rig.twobone.chains[0]
    assert (chain.plane, chain.bend) == ("POLE", "POSITIVE")
    root, _, tip = joints_world(rig, "upper", "lower")
    chain.target.location += 0.3 * (root - tip)
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake()
    root, knee, tip = joints_world(rig, "upper", "lower")
    across = (tip - root).cross(chain.pole.matrix_world.translation - root).normalized()
    assert abs((knee - root).dot(across)) < 1e-5
    assert (knee - 0.5 * (root + tip)).dot(chain.pole.matrix_world.translation - root) > 0


def test_the_sidebar_stays_with_the_chain_while_its_target_is_active(empty_file):
    rig = build_armature()
    select_bones(rig, "upper", "lower")
    bpy.ops.twobone.add_target()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = rig.twobone.chains[0].target
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake()
    assert json.loads(bpy.context.window_manager.twobone_report)["upper"] == "upper"


def rig_with_chains(name, *, enabled=(True,)):
    rig = build_armature(LEG, name)
    for number, on in enumerate(enabled):
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower = f"{name} {number}", "upper", "lower"
        chain.target, chain.enabled = add_empty(f"{name} target {number}"), on
        chain.target.location = (0.1, 0.5, 0.0)
    return rig


def baked_armatures():
    report = json.loads(bpy.context.window_manager.twobone_report)
    return sorted(chain["armature"] for chain in report["chains"])


def test_bake_all_takes_the_enabled_chains_of_the_scope(empty_file):
    rigs = [rig_with_chains("A"), rig_with_chains("B", enabled=(True, False)), rig_with_chains("C", enabled=())]
    bpy.context.scene.frame_end = 3
    for rig in rigs:
        rig.select_set(rig.name != "A")
    bpy.context.view_layer.objects.active = rigs[0]
    bpy.ops.twobone.bake_all()
    assert baked_armatures() == ["A"]
    bpy.ops.twobone.bake_all(scope="SELECTED")
    assert baked_armatures() == ["B"]
    bpy.ops.twobone.bake_all(scope="SCENE")
    assert baked_armatures() == ["A", "B"]


def test_every_chain_keeps_the_report_of_its_own_bake(empty_file):
    rig = rig_with_chains("A")
    bpy.context.scene.frame_end = 3
    rig.twobone.chains[0].target.location = (0, 50, 0)
    bpy.ops.twobone.bake_all()
    report = json.loads(rig.twobone.chains[0].report)
    assert report["out_of_reach"] == [[1.0, 3.0]]
    bpy.ops.twobone.make_markers()
    bpy.ops.twobone.make_markers()
    assert [(marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers] == [("A 0 out of reach", 1)]
    bpy.ops.twobone.jump_to_frame(frame=2.5)
    assert bpy.context.scene.frame_current_final == pytest.approx(2.5)


def test_bake_all_that_fails_says_which_chain_and_changes_nothing(empty_file):
    rigs = [rig_with_chains("A"), rig_with_chains("B")]
    rigs[1].twobone.chains[0].lower = "gone"
    with pytest.raises(RuntimeError, match='Chain "B 0" of "B": Lower bone "gone"'):
        bpy.ops.twobone.bake_all(scope="SCENE")
    assert all(rig.animation_data is None for rig in rigs)


def test_bake_all_without_chains_says_what_to_do(empty_file):
    build_armature()
    with pytest.raises(RuntimeError, match="Add a chain in the sidebar"):
        bpy.ops.twobone.bake_all()


def test_a_second_bake_of_another_chain_remembers_nothing_of_the_first(empty_file):
    rig = rig_with_chains("A", enabled=(True, True))
    bpy.context.scene.frame_end = 3
    rig.twobone.chains[0].bend = "NEGATIVE"
    bpy.ops.twobone.bake()
    rig.twobone.active_index = 1
    bpy.ops.twobone.bake()
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert report["target"] == "A target 1"


def test_a_keyed_influence_of_the_stored_chain_is_read_at_every_frame(empty_file):
    rig = rig_with_chains("A")
    chain = rig.twobone.chains[0]
    bpy.context.scene.frame_end = 3
    for frame, value in ((1, 0.0), (3, 1.0)):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
    bpy.ops.twobone.bake()
    bpy.context.scene.frame_set(1)
    off = joints_world(rig, "upper", "lower")[2]
    bpy.context.scene.frame_set(3)
    on = joints_world(rig, "upper", "lower")[2]
    assert abs((on - chain.target.location).z) < 1e-5
    assert abs((off - chain.target.location).z) > 0.1


def two_legs():
    shapes = [BoneShape("hip", (0, 0.1, 1), (0, 0.1, 1.2))]
    for side, x in (("L", 0.2), ("R", -0.2)):
        shapes += [
            BoneShape(f"thigh.{side}", (x, 0, 1), (x, -0.1, 0.5), "hip"),
            BoneShape(f"shin.{side}", (x, -0.1, 0.5), (x, 0, 0), f"thigh.{side}", connected=True),
            BoneShape(f"foot.{side}", (x, 0, 0), (x, -0.2, 0), f"shin.{side}"),
        ]
    return build_armature(shapes)


def test_the_second_limb_takes_two_clicks_as_well(empty_file):
    rig = two_legs()
    bpy.context.scene.frame_end = 2
    for side in "LR":
        select_bones(rig, f"foot.{side}")
        bpy.ops.twobone.add_target()
        bpy.ops.twobone.bake()
        assert json.loads(bpy.context.window_manager.twobone_report)["upper"] == f"thigh.{side}"
    assert [chain.target.name for chain in rig.twobone.chains] == ["Target foot.L", "Target foot.R"]


def test_a_pole_goes_to_the_stored_chain_whose_bone_is_selected(empty_file):
    rig = two_legs()
    for side in "LR":
        select_bones(rig, f"shin.{side}")
        bpy.ops.twobone.chain_add()
    for bone in ("thigh.L", "foot.L"):
        select_bones(rig, bone)
        rig.twobone.active_index = 1
        bpy.ops.twobone.add_pole()
        assert [chain.plane for chain in rig.twobone.chains] == ["POLE", "POSE"]
        assert rig.twobone.active_index == 0


def test_the_button_beside_a_chains_target_means_that_chain_whatever_is_selected(empty_file):
    rig = two_legs()
    select_bones(rig, "shin.L")
    bpy.ops.twobone.chain_add()
    select_bones(rig, "shin.R")
    bpy.ops.twobone.add_target(stored="foot.L")
    assert [chain.target.name for chain in rig.twobone.chains] == ["Target foot.L"]


@pytest.mark.parametrize("selected", [("hip",), ("thigh.L", "foot.R"), ()], ids=str)
def test_what_is_no_other_limb_leaves_the_active_chain_meant(empty_file, selected):
    rig = two_legs()
    select_bones(rig, "shin.L")
    bpy.ops.twobone.chain_add()
    select_bones(rig, *selected)
    bpy.ops.twobone.add_target()
    assert [(chain.upper, chain.target.name) for chain in rig.twobone.chains] == [("thigh.L", "Target foot.L")]


def test_a_redo_with_another_bend_leaves_its_result_on_the_chain(empty_file):
    rig = rig_with_chains("A")
    bpy.context.scene.frame_end = 3
    bpy.ops.twobone.bake()
    given = json.loads(rig.twobone.chains[0].report)
    names = {name: given[name] for name in ("armature", "upper", "lower", "target")}
    bpy.ops.twobone.bake(**names, stored="A 0", frame_range="CUSTOM", frame_start=2, frame_end=3, bend="NEGATIVE")
    assert json.loads(rig.twobone.chains[0].report)["frames"] == 2


@pytest.mark.parametrize("keyed, range_baked", [((), (1, 30)), ((7,), (1, 30)), ((7, 19), (7, 19))], ids=str)
def test_the_range_is_that_of_the_targets_keys_where_it_has_several(empty_file, keyed, range_baked):
    rig = two_legs()
    bpy.context.scene.frame_end = 30
    select_bones(rig, "shin.L")
    bpy.ops.twobone.add_target()
    target = rig.twobone.chains[0].target
    for frame in keyed:
        target.location.z += 0.01
        target.keyframe_insert("location", frame=frame)
    bpy.ops.twobone.bake()
    report = json.loads(rig.twobone.chains[0].report)
    assert (report["frame_start"], report["frame_end"]) == range_baked
    bpy.ops.twobone.bake_target()
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert (report["chains"][0]["frame_start"], report["chains"][0]["frame_end"]) == (1, 30)
