"""What one click switches: values that are off, joint limits, and the side of the bend."""

import math

import bpy
import pytest
from mathutils import Matrix, Vector

from tests.examples.recipe_scene import Walk, make_hero
from tests.interface.acting import joints_world
from tests.interface.recording import drawn
from tests.tasks.scenes import LEG, BoneShape, add_empty, bent, build_armature, leg_with_chain
from twobone_addon.interface import watching
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.sidebar import setting_panels
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains
from twobone_addon.tasks.find_limbs import ahead


@pytest.fixture
def unrolled_leg(empty_file):
    return leg_with_chain(bent(bent(LEG, "upper", roll=0.0), "lower", roll=0.0), plane="YZ", place=(0.1, 0.4, 0.1))


@pytest.mark.parametrize("name", ["softness", "softness_near", "min_distance", "max_distance"])
def test_off_is_an_empty_box_and_a_click_on_it_starts_at_something_to_feel(unrolled_leg, name):
    chain = unrolled_leg.twobone.chains[0]
    chain.reach = "SOFTEN"
    assert name not in drawn(setting_panels.TWOBONE_PT_reach).properties()
    bpy.ops.twobone.switch_setting(setting=name)
    assert name in drawn(setting_panels.TWOBONE_PT_reach).properties()
    assert 0.0 < getattr(chain, name) < 2.0
    bpy.ops.twobone.switch_setting(setting=name)
    assert getattr(chain, name) == 0.0


def test_joint_limits_start_at_what_the_rig_says_and_are_kept_while_off(unrolled_leg):
    chain = unrolled_leg.twobone.chains[0]
    limit = unrolled_leg.pose.bones["lower"].constraints.new("LIMIT_ROTATION")
    limit.owner_space, limit.use_limit_x, limit.min_x, limit.max_x = "LOCAL", True, 0.0, 1.5
    bpy.ops.twobone.switch_setting(setting="use_limits")
    assert chain.use_limits
    assert chain.lower_max - chain.lower_min == pytest.approx(1.5, abs=1e-5)
    chain.lower_max = 1.25
    bpy.ops.twobone.switch_setting(setting="use_limits")
    assert not chain.use_limits
    bpy.ops.twobone.switch_setting(setting="use_limits")
    assert chain.lower_max == 1.25


def test_a_rig_without_limits_leaves_the_whole_turn(unrolled_leg):
    chain = unrolled_leg.twobone.chains[0]
    bpy.ops.twobone.switch_setting(setting="use_limits")
    assert chain.use_limits
    assert (chain.upper_min, chain.lower_max) == pytest.approx((-math.pi, math.pi))


def flip_text():
    return next(named["text"] for name, given, named in drawn(TWOBONE_PT_chains).calls if given == ("twobone.flip",))


@pytest.fixture
def with_foot(empty_file):
    """Makes a leg whose foot points somewhere, carried by hips."""

    def made(toes):
        foot = BoneShape("foot", (0.1, 0.3, -0.7), toes, "lower")
        rig = build_armature((*bent(bent(LEG, "upper", roll=0.0), "lower", roll=0.0), foot))
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target, chain.plane = "Leg", "upper", "lower", add_empty(), "YZ"
        chain.target.location = (0.1, 0.4, 0.1)
        bpy.context.view_layer.update()
        return rig

    yield made
    overlay_data.forget()
    watching.unregister()


@pytest.mark.parametrize("ahead", [-1.0, 1.0])
def test_flip_says_where_the_knee_goes_and_goes_there_whichever_way_the_character_looks(with_foot, ahead):
    unrolled_leg = with_foot((0.1, 0.3 + 0.3 * ahead, -0.8))
    sides = {"Bend Forward Instead": ahead, "Bend Backward Instead": -ahead}
    for _ in range(2):
        wanted = sides[flip_text()]
        bpy.ops.twobone.flip()
        root, knee, tip = overlay_data.update(bpy.context, unrolled_leg).picture.joints
        assert (knee - (root + tip) / 2)[1] * wanted > 0


def test_a_character_that_has_turned_on_its_hips_looks_the_other_way(with_foot):
    unrolled_leg = with_foot((0.1, 0.0, -0.8))
    hips = unrolled_leg.pose.bones["parent"]
    hips.rotation_mode, hips.rotation_euler = "XYZ", (0.0, math.pi, 0.0)
    unrolled_leg.twobone.chains[0].target.location = (-0.1, -0.4, 0.1)
    bpy.context.view_layer.update()
    root, knee, tip = overlay_data.update(bpy.context, unrolled_leg).picture.joints
    is_forward = (knee - (root + tip) / 2)[1] > 0
    assert flip_text() == ("Bend Backward Instead" if is_forward else "Bend Forward Instead")


def test_forward_is_where_the_foot_points_in_the_pose_not_where_it_rests(with_foot):
    """Recordings often rest with all bones along one axis; only the pose tells where such a foot points."""
    unrolled_leg = with_foot((0.1, 0.0, -0.8))
    foot = unrolled_leg.pose.bones["foot"]
    pointing = (unrolled_leg.matrix_world.to_3x3() @ (foot.tail - foot.head))[1]
    foot.rotation_mode, foot.rotation_euler = "XYZ", (math.pi, 0.0, 0.0)
    bpy.context.view_layer.update()
    turned = (unrolled_leg.matrix_world.to_3x3() @ (foot.tail - foot.head))[1]
    assert pointing * turned < 0.0
    root, knee, tip = overlay_data.update(bpy.context, unrolled_leg).picture.joints
    is_forward = (knee - (root + tip) / 2)[1] * turned > 0
    assert flip_text() == ("Bend Backward Instead" if is_forward else "Bend Forward Instead")


@pytest.mark.parametrize("lifted, forward", [("left", -1.0), ("right", 1.0)])
def test_a_runner_faces_where_the_foot_on_the_ground_points(empty_file, lifted, forward):
    """The other one is lifted behind and points backward."""
    rest = [BoneShape(side, (x, 0, 0.1), (x, -0.2, 0.02)) for side, x in (("left", 0.1), ("right", -0.1))]
    runner = build_armature(rest)
    runner.location = (0, 0, -5)
    bones = runner.pose.bones
    bones[lifted].matrix = Matrix.Translation((0, 0.3, 0.5)) @ Matrix.Rotation(math.radians(-150), 4, "X") @ bones[lifted].matrix
    if lifted == "right":
        runner.rotation_euler = (0, 0, math.pi)
    bpy.context.view_layer.update()
    ends = {bone.name: runner.matrix_world.to_3x3() @ (bone.tail - bone.head) for bone in bones}
    assert ends["left"].y * ends["right"].y < 0.0
    assert ahead(runner, [("left", ""), ("right", "")]) == pytest.approx((0.0, forward, 0.0), abs=1e-5)
    assert ahead(runner, [(lifted, "")]) == pytest.approx((0.0, -forward, 0.0), abs=1e-5)


def test_flip_names_the_sides_of_a_person_that_walks_along_y(empty_file):
    """Its knees bend the way it walks, which its feet tell."""
    hero = make_hero("Hero", Walk(frames=3))
    bpy.context.view_layer.objects.active = hero
    chain = hero.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "thigh.L", "shin.L", add_empty()
    chain.plane, chain.target.location = "REST", hero.matrix_world @ hero.pose.bones["foot.L"].head + Vector((0, 0, 0.2))
    bpy.context.view_layer.update()
    root, knee, tip = overlay_data.update(bpy.context, hero).picture.joints
    assert (knee - (root + tip) / 2)[1] > 0
    assert flip_text() == "Bend Backward Instead"
    overlay_data.forget()
    watching.unregister()


def test_without_overlay_or_foot_flip_names_the_sign(unrolled_leg):
    overlay_data.forget()
    overlay_data.update(bpy.context, unrolled_leg)
    assert flip_text() == "Bend Negative Instead", "nothing tells where a leg without a foot looks"
    unrolled_leg.twobone.show_overlay = False
    assert flip_text() == "Bend Negative Instead"
    unrolled_leg.twobone.chains[0].bend = "KEEP"
    assert not bpy.ops.twobone.flip.poll()
    overlay_data.forget()
    watching.unregister()


def test_flip_keys_a_keyed_side_with_auto_keying(unrolled_leg):
    chain = unrolled_leg.twobone.chains[0]
    chain.keyframe_insert("bend", frame=1)
    bpy.context.scene.frame_set(5)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.ops.twobone.flip()
    bpy.context.scene.frame_set(1)
    assert chain.bend == "POSITIVE"
    bpy.context.scene.frame_set(5)
    assert chain.bend == "NEGATIVE"


def test_the_letter_plane_that_fits_is_one_click_away(unrolled_leg):
    chain = unrolled_leg.twobone.chains[0]
    assert "twobone.fit_plane" not in drawn(TWOBONE_PT_chains).buttons()
    chain.plane, chain.reference, chain.bend = "POSE", "POSE", "NEGATIVE"
    assert "twobone.fit_plane" in drawn(TWOBONE_PT_chains).buttons()
    bpy.ops.twobone.fit_plane()
    assert (chain.plane, chain.plane_space, chain.reference) == ("YZ", "ARMATURE", "REST")
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake()
    root, knee, tip = joints_world(unrolled_leg, "upper", "lower")
    upper, lower = (unrolled_leg.data.bones[name] for name in ("upper", "lower"))
    rest = [upper.head_local, lower.head_local, lower.tail_local]
    now, then = ((b - a).cross(c - b).x for a, b, c in ((root, knee, tip), rest))
    assert now * then > 0, "it bends to the other side than at rest"
