"""Feet on the ground that they are put down on, and above it on their way."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from tests.tasks.checks.seen_walk import SIDES, SLIDE, Seen, plant, quarters, whole_frames, worst_slide
from tests.tasks.rigs import terrain
from tests.tasks.rigs.walker import Walk, build_walker, key_contacts


@pytest.mark.parametrize(
    "walk", [Walk(slide=0.01, raised=0.06), Walk(frames=120, rate=60.0, slide=0.05, raised=0.05)], ids=lambda walk: walk.rate
)
def test_lowered_hips_take_no_foot_into_the_ground(empty_file, walk):
    armature, states = build_walker(walk)
    key_contacts(armature, states)
    before = Seen(armature, quarters())
    report = plant()
    after = Seen(armature, quarters())
    assert report["root"]["max_move"] > 0.04
    for side, leg in zip(SIDES, report["chains"], strict=True):
        assert leg["penetration_after"] <= leg["penetration_before"]
        for bit, *seen in ((1, before.heels, after.heels), (2, before.balls, after.balls)):
            old, new = (np.array(points[side])[:, 2] for points in seen)
            stands = np.repeat(states[side] & bit != 0, 4)[: len(new)]
            assert new.min() >= min(old.min(), new[stands].min()) - 1e-4


def test_feet_are_put_down_on_a_ground_of_given_height(empty_file):
    armature, states = build_walker(Walk(slide=0.01))
    key_contacts(armature, states)
    plant(ground="HEIGHT", ground_height=-0.01)
    seen = Seen(armature, whole_frames())
    for side in SIDES:
        heels = np.array(seen.heels[side])[states[side] & 1 != 0]
        assert heels[:, 2] == pytest.approx(-0.01, abs=SLIDE)


def bumpy_ground():
    """A mesh with bumps of a few centimetres under the whole walk, and what tells its height at a place."""
    size, cells = 0.05, np.arange(-20, 100)
    corners = [
        (size * x, size * y, 0.02 * np.sin(2.3 * size * y) + 0.01 * np.cos(9.0 * size * x)) for x in range(-8, 9) for y in cells
    ]
    firsts = [row * len(cells) + column for row in range(16) for column in range(len(cells) - 1)]
    faces = [(first, first + 1, first + 1 + len(cells), first + len(cells)) for first in firsts]
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(corners, [], faces)
    ground = bpy.data.objects.new("Ground", mesh)
    bpy.context.scene.collection.objects.link(ground)
    tree = BVHTree.FromPolygons(corners, faces)
    return ground, lambda place: tree.ray_cast(Vector((place[0], place[1], 5.0)), Vector((0.0, 0.0, -1.0)))[0].z


def test_feet_are_put_down_on_uneven_ground(empty_file):
    armature, states = build_walker(Walk(slide=0.01))
    key_contacts(armature, states)
    ground, height = bumpy_ground()
    report = plant(ground="OBJECT", ground_object=ground.name)
    seen = Seen(armature, whole_frames())
    assert worst_slide(seen, states) < SLIDE
    assert all(chain["out_of_reach"] == [] for chain in report["chains"])
    for side in SIDES:
        for places, bit, over in ((seen.heels[side], 1, 0.0), (seen.balls[side], 2, 0.02)):
            for place in np.array(places)[states[side] & bit != 0]:
                assert place[2] - over == pytest.approx(height(place), abs=1e-3)


def test_feet_stand_still_on_a_platform_that_moves_and_turns(empty_file):
    armature, states = build_walker(Walk(slide=0.02))
    key_contacts(armature, states)
    platform, _ = terrain.slope(0.0)
    for frame, turn in ((1, 0.0), (30, 0.8), (60, 0.3)):
        platform.location, platform.rotation_euler = (turn, -turn, 0.5 * turn), (0.0, 0.0, turn)
        platform.keyframe_insert("location", frame=frame)
        platform.keyframe_insert("rotation_euler", frame=frame)
    armature.parent = platform
    report = plant(ground="OBJECT", ground_object=platform.name)
    assert all(chain["out_of_reach"] == [] for chain in report["chains"])
    seen = Seen(armature, whole_frames())
    for row, frame in enumerate(whole_frames()):
        bpy.context.scene.frame_set(int(frame))
        away = platform.matrix_world.inverted()
        for places in (seen.heels, seen.balls):
            for side in SIDES:
                places[side][row] = away @ Vector(places[side][row])
    assert worst_slide(seen, states) < SLIDE


def test_a_foot_that_has_no_ground_below_it_is_named(empty_file):
    armature, states = build_walker(Walk(slide=0.01))
    key_contacts(armature, states)
    ground, _ = terrain.ground_of([(x, y, 0.0) for y in (-3.0, 1.0) for x in (-3.0, 3.0)], [(0, 1, 3, 2)])
    report = plant(ground="OBJECT", ground_object=ground.name)
    assert any('There is no ground below "leg.L"' in note for note in report["chains"][0]["notes"])
    assert worst_slide(Seen(armature, whole_frames()), states) < SLIDE


def test_a_foot_across_an_edge_stays_on_its_side_and_that_is_said(empty_file):
    """A block as high as a step begins under the ball of one stance: the foot is not lifted onto it."""
    armature, states = build_walker(Walk(slide=0.01))
    key_contacts(armature, states)
    before = Seen(armature, whole_frames())
    balls, on = np.array(before.balls["L"]), states["L"] & 2 != 0
    first = int(np.flatnonzero(np.diff(on.astype(int)) == 1)[0]) + 1
    rows = slice(first, first + int(np.argmin(on[first:])))
    y = balls[rows, 1]
    near, far = (y.min() - 0.02, y.max() + 0.3) if balls[-1, 1] > balls[0, 1] else (y.max() + 0.02, y.min() - 0.3)
    floor = [(x, y, 0.0) for y in (-9.0, 9.0) for x in (-3.0, 3.0)]
    top = [(x, y, 0.17) for y in sorted((near, far)) for x in (-3.0, 3.0)]
    ground, _ = terrain.ground_of([*floor, *top], [(0, 1, 3, 2), (4, 5, 7, 6)])
    report = plant(ground="OBJECT", ground_object=ground.name)
    after = np.array(Seen(armature, whole_frames()).balls["L"])
    assert np.abs(after[rows, 2] - balls[rows, 2]).max() < 0.02
    said = [note for leg in report["chains"] for note in leg["notes"] if "partly inside the ground" in note]
    assert any(f"at frame {first + 1}," in note for note in said)


@pytest.mark.parametrize("climb, is_floor", [(0.002, True), (0.05, False)])
def test_a_floor_that_nobody_named_has_one_height_and_stairs_have_theirs(empty_file, climb, is_floor):
    armature, states = build_walker(Walk(slide=0.02, climb=climb))
    key_contacts(armature, states)
    before = Seen(armature, whole_frames())
    plant()
    after = Seen(armature, whole_frames())
    spreads = []
    for seen in (before, after):
        heels = [np.array(seen.heels[side])[states[side] & 1 != 0, 2] for side in SIDES]
        spreads.append(np.ptp(np.concatenate(heels)))
    assert spreads[0] > 2 * climb
    assert (spreads[1] < 1e-4) == is_floor
