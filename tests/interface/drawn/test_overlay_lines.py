"""What the overlay shows, as lines and colours; no GPU is needed."""

from dataclasses import fields

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.tasks.scenes import LEG, add_empty, build_armature
from twobone_addon.core.solver import Reach
from twobone_addon.interface.overlay import data as overlay_data
from twobone_addon.interface.overlay.drawing import CONTRAST, readable, theme_palette
from twobone_addon.interface.overlay.lines import (
    FAINT,
    QUIET,
    Palette,
    guide_lines,
    joined,
    miss_lines,
    path_lines,
    plane_lines,
    reach_lines,
    solution_lines,
)
from twobone_addon.pipeline.plan.stored import stored_settings
from twobone_addon.pipeline.pose.pictures import ASIDE, SOFT, PathPicture, chain_picture, limit_bounds, path_picture
from twobone_addon.pipeline.pose.present import present_plan

PALETTE = Palette(*((number / 20, 0.5, 0.25, 1.0) for number in range(len(fields(Palette)))))


@pytest.fixture
def transformed_leg(empty_file):
    rig = build_armature(LEG)
    rig.matrix_world = [[2, 0, 0, 3], [0, 0, -2, 1], [0, 2, 0, 0], [0, 0, 0, 1]]
    target = add_empty()
    chain = rig.twobone.chains.add()
    chain.upper, chain.lower, chain.target, chain.plane = "upper", "lower", target, "YZ"
    target.location = rig.matrix_world.translation
    bpy.context.view_layer.update()
    return rig


def picture_of(rig, **settings):
    chain = rig.twobone.chains[0]
    for name, value in settings.items():
        setattr(chain, name, value)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    return chain_picture(present_plan(bpy.context.scene, stored_settings(rig, chain, {})), bpy.context.scene, depsgraph)


def distance(a, b):
    return float(np.sqrt(np.sum((np.asarray(a) - np.asarray(b)) ** 2)))


def test_both_solutions_meet_at_the_target_with_knees_on_either_side(transformed_leg):
    picture = picture_of(transformed_leg)
    assert distance(picture.joints[-1], picture.target) < 1e-6
    assert distance(picture.other_joints[-1], picture.target) < 1e-6
    middle = (picture.joints[1] + picture.other_joints[1]) / 2
    along = picture.joints[-1] - picture.joints[0]
    assert np.allclose(np.cross(middle - picture.root, along), 0, atol=1e-5)
    assert distance(picture.joints[1], picture.other_joints[1]) > 0.1


def test_the_other_bend_swaps_the_solutions(transformed_leg):
    positive, negative = picture_of(transformed_leg, bend="POSITIVE"), picture_of(transformed_leg, bend="NEGATIVE")
    assert np.allclose(positive.joints, negative.other_joints, atol=1e-6)


def test_the_ring_is_as_wide_as_the_straight_and_the_folded_chain(transformed_leg):
    picture = picture_of(transformed_leg)
    links = [distance(*pair) for pair in zip(picture.joints, picture.joints[1:], strict=False)]
    radii = [distance(bound[0], picture.root) for bound in picture.reach_bounds]
    assert radii == pytest.approx([sum(links), abs(links[0] - links[1])], rel=1e-5)
    assert all(distance(point, picture.root) == pytest.approx(radii[0], rel=1e-5) for point in picture.reach_bounds[0])


def test_the_chain_lies_where_a_bake_puts_it(transformed_leg):
    picture = picture_of(transformed_leg)
    bpy.context.scene.frame_end = 1
    bpy.ops.twobone.bake()
    bones = transformed_leg.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    joints = [transformed_leg.matrix_world @ place for place in (bones["upper"].head, bones["lower"].head, bones["lower"].tail)]
    assert np.allclose(picture.joints, joints, atol=1e-5)


def test_no_pose_within_limits_leaves_the_drawn_bounds():
    random = np.random.default_rng(5)
    lengths, limits = np.array([1.0, 0.7]), np.array([-0.4, 1.1, -2.0, 0.5])
    bounds = np.concatenate(limit_bounds(lengths, limits, 0.3))
    upper, lower = 0.3 + random.uniform(-0.4, 1.1, 4000), random.uniform(-2.0, 0.5, 4000)
    tips = np.stack([np.cos(upper) + 0.7 * np.cos(upper + lower), np.sin(upper) + 0.7 * np.sin(upper + lower)], axis=-1)
    # A point outside the hull of the bounds would be farther along some direction than all of them.
    for angle in np.linspace(0, 2 * np.pi, 32):
        direction = np.array([np.cos(angle), np.sin(angle)])
        assert (tips @ direction).max() <= (bounds @ direction).max() + 1e-3


def test_limits_draw_their_own_region(transformed_leg):
    free = picture_of(transformed_leg)
    limited = picture_of(transformed_leg, use_limits=True, upper_min=-0.2, upper_max=0.3, lower_min=0.1, lower_max=1.0)
    assert len(limited.reach_bounds) == 4
    assert len(free.reach_bounds) == 2


def test_paths_are_coloured_by_what_becomes_of_each_frame():
    places = np.arange(15.0).reshape(5, 3)
    lines = path_lines(PathPicture(np.arange(5.0), places, places, np.array([0, 1, 2, 3, SOFT], dtype=np.int8), None), PALETTE)
    starts = lines.colors[8::2]
    assert [tuple(color) for color in starts] == [PALETTE.reached, PALETTE.too_far, PALETTE.too_near, PALETTE.too_near]
    assert np.array_equal(lines.points[8::2], places[:-1])
    assert np.array_equal(lines.points[9::2], places[1:])


def test_the_paths_of_a_real_chain_tell_far_from_reached_from_soft(transformed_leg):
    chain, target = transformed_leg.twobone.chains[0], transformed_leg.twobone.chains[0].target
    bpy.context.scene.frame_end = 3
    picture = picture_of(transformed_leg)
    length = distance(picture.axes[:, 0], (0, 0, 0))
    for frame, amount in ((1, 0.5), (2, 0.97), (3, 3.0)):
        target.location = picture.root + np.array([0, amount * length, 0])  # straight down, as the leg hangs
        target.keyframe_insert("location", frame=frame)
    chain.reach, chain.softness = "SOFTEN", 0.1
    path = path_picture(bpy.context.scene, stored_settings(transformed_leg, chain, {}))
    assert path.reach.tolist() == [0, SOFT, 1]
    assert path.targets.shape == path.tips.shape == (3, 3)


def test_the_solution_that_is_not_chosen_is_faint(transformed_leg):
    lines = solution_lines(picture_of(transformed_leg), PALETTE)
    assert sorted(set(lines.colors[:, 3])) == pytest.approx([FAINT * PALETTE.chosen[3], PALETTE.chosen[3]])


def test_every_part_has_two_ends_and_a_colour_for_each(transformed_leg):
    picture = picture_of(transformed_leg)
    whole = joined([plane_lines(picture, PALETTE), reach_lines(picture, PALETTE), solution_lines(picture, PALETTE)])
    assert len(whole.points) == len(whole.colors)
    assert len(whole.points) % 2 == 0
    assert np.isfinite(whole.points).all()
    assert len(joined([]).points) == 0


@pytest.mark.parametrize("settings", [{}, {"use_limits": True, "upper_min": -0.2, "lower_max": 1.0}, {"plane": "REST"}], ids=str)
def test_the_walk_over_time_has_the_chain_of_every_frame_as_the_frame_itself_shows_it(transformed_leg, settings):
    chain, target = transformed_leg.twobone.chains[0], transformed_leg.twobone.chains[0].target
    place = target.location.copy()
    for frame in (1, 4, 8):
        target.location = place + Vector((0.1 * frame, 0.2, -0.1 * frame))
        target.keyframe_insert("location", frame=frame)
        transformed_leg.location.x = 3 + frame
        transformed_leg.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 8
    picture_of(transformed_leg, **settings)
    path = path_picture(bpy.context.scene, stored_settings(transformed_leg, chain, {}))
    assert path.chain_at(4.5) is None
    assert path.chain_at(9) is None
    for frame in (1, 3, 8):
        bpy.context.scene.frame_set(frame)
        walked, here = path.chain_at(frame), picture_of(transformed_leg)
        for name in ("root", "axes", "joints", "other_joints", "target"):
            assert np.allclose(getattr(walked, name), getattr(here, name), atol=1e-5), name
        assert np.allclose(np.concatenate(walked.reach_bounds), np.concatenate(here.reach_bounds), atol=1e-5)


def test_a_parents_pose_that_nobody_keyed_makes_the_paths_old(transformed_leg):
    overlay_data.update(bpy.context, transformed_leg)
    settings = overlay_data.shown.settings
    assert overlay_data.paths.is_current(settings)
    transformed_leg.pose.bones["parent"].rotation_quaternion = (0.9, 0.3, 0, 0)
    bpy.context.view_layer.update()
    assert not overlay_data.paths.is_current(settings)


def test_the_ring_is_faint_unless_the_target_is_near_it_or_missed(transformed_leg):
    def opacity():
        picture = picture_of(transformed_leg)
        return reach_lines(picture, PALETTE).colors[0, 3] / PALETTE.reach[3]

    chain, root = transformed_leg.twobone.chains[0], picture_of(transformed_leg).root
    length = picture_of(transformed_leg).length
    seen = []
    for amount in (0.5, 0.97, 1.5):
        chain.target.location = root + np.array([0, amount * length, 0])
        bpy.context.view_layer.update()
        seen.append(opacity())
    assert seen[0] == pytest.approx(QUIET)
    assert QUIET < seen[1] < 1.0
    assert seen[2] == 1.0


def test_a_line_leads_to_the_pole_and_from_the_tip_to_a_target_that_is_missed(transformed_leg):
    chain = transformed_leg.twobone.chains[0]
    chain.target.location = picture_of(transformed_leg).joints[-1]
    bpy.context.view_layer.update()
    assert len(guide_lines(picture_of(transformed_leg), PALETTE).points) == 0
    chain.pole = add_empty("Pole")
    chain.pole.location = (1, 2, 3)
    bpy.context.view_layer.update()
    picture = picture_of(transformed_leg, plane="POLE", bend="POSITIVE")
    lines = guide_lines(picture, PALETTE)
    assert np.allclose(lines.points, [picture.joints[1], (1, 2, 3)], atol=1e-5)
    chain.target.location = picture.root + np.array([0, 3 * picture.length, 0])
    bpy.context.view_layer.update()
    picture = picture_of(transformed_leg)
    assert np.allclose(guide_lines(picture, PALETTE).points[2:], [picture.joints[-1], chain.target.location], atol=1e-5)


def test_a_target_beside_the_plane_is_a_miss_where_it_is(transformed_leg):
    """In a letter plane the foot cannot follow a target out of it, though it is in reach there."""
    chain = transformed_leg.twobone.chains[0]
    bpy.context.scene.frame_end = 3
    picture = picture_of(transformed_leg)
    normal = np.cross(*picture.axes.T)
    inside = picture.root + 0.6 * picture.axes[:, 0]
    for frame, aside in ((1, 0.0), (2, 0.2), (3, 0.0)):
        chain.target.location = inside + aside * normal / np.linalg.norm(normal)
        chain.target.keyframe_insert("location", frame=frame)
    path = path_picture(bpy.context.scene, stored_settings(transformed_leg, chain, {}))
    offset = [abs((tip - target) @ normal) for tip, target in zip(path.tips, path.targets, strict=True)]
    assert path.reach.tolist() == [ASIDE if gap > 0.01 else 0 for gap in offset]
    assert ASIDE in path.reach
    lines = miss_lines(path, PALETTE)
    missed = np.flatnonzero(path.reach)
    assert np.allclose(lines.points, np.stack([path.tips[missed], path.targets[missed]], axis=1).reshape(-1, 3))


def test_a_target_that_nobody_has_keyed_is_no_fan_of_lines(transformed_leg):
    chain = transformed_leg.twobone.chains[0]
    bpy.context.scene.frame_end = 10
    for frame, x in ((1, 0.0), (10, 3.0)):
        transformed_leg.location.x = x
        transformed_leg.keyframe_insert("location", frame=frame)
    chain.target.location = (0, 0, -9)
    still = path_picture(bpy.context.scene, stored_settings(transformed_leg, chain, {}))
    assert np.all(still.reach == Reach.TOO_FAR)
    assert not len(miss_lines(still, PALETTE).points)
    for frame in (1, 10):
        chain.target.location.x = 0.1 * frame
        chain.target.keyframe_insert("location", frame=frame)
    assert len(miss_lines(path_picture(bpy.context.scene, stored_settings(transformed_leg, chain, {})), PALETTE).points) == 20


@pytest.mark.parametrize("background", [0.0, 0.22, 0.45, 0.65, 1.0])
@pytest.mark.parametrize("color", [(1.0, 0.2, 0.32), (0.54, 0.86, 0.0), (0.17, 0.56, 1.0), (0.5, 0.5, 0.5), (0, 0, 0), (1, 1, 1)])
def test_every_colour_can_be_told_from_a_light_and_from_a_dark_background(color, background):
    def light(values):
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in values]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    made = readable(color, (background,) * 3, 0.5)
    ratio = light(made[:3]) / light((background,) * 3)
    assert max(ratio, 1 / ratio) >= CONTRAST
    assert made[3] == 0.5
    own = light(color) / light((background,) * 3)
    if max(own, 1 / own) >= CONTRAST:
        assert made[:3] == pytest.approx(color)


def test_only_planes_with_known_axes_show_them_in_their_colours():
    theme = bpy.context.preferences.themes[0]
    red = theme_palette(theme, "XY").axis_u
    assert theme_palette(theme, "OBJECT").axis_u == red
    for plane in ("REST", "POLE", "POSE"):
        palette = theme_palette(theme, plane)
        assert palette.axis_u == palette.axis_v == palette.plane
