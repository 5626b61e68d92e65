"""The overlay in a real viewport: what is seen where, in both kinds of view; it follows its switches and time.

Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import math
import sys
from itertools import pairwise
from pathlib import Path

import bpy
import numpy as np
from mathutils import Euler

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import install_zip, play
from tests.leg_scene import leg_with_target

MODULE = "bl_ext.user_default.twobone.twobone_addon.interface"
FRAMES = 60
GONE = (-2.3, 0, 1.8)
"""A place for the target that the leg does not reach."""

REACHED = 0
"""Code of a frame in reach."""

BESIDE = 130
"""Pixels at the viewport's edges that toolbar, texts and gizmos may cover."""

APART = 15
"""Pixels between places whose colours cannot mix."""


def prepare():
    bpy.data.batch_remove(list(bpy.data.objects))
    rig, target = leg_with_target()
    target.location = GONE
    target.keyframe_insert("location", frame=FRAMES)
    bpy.context.scene.frame_end = FRAMES
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", target
    chain.plane, chain.bend = "XZ", "POSITIVE"
    bpy.ops.object.mode_set(mode="POSE")


def scenario(user):
    data = sys.modules[f"{MODULE}.overlay.data"]
    bpy.context.scene.frame_set(8)
    yield from user.look_from("FRONT")
    user.area().spaces.active.region_3d.view_distance *= 1.7  # all of the way is to be in sight
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(40)
    assert data.shown.path is not None, "the paths did not appear by themselves"
    assert len(data.shown.path.frames) == FRAMES
    yield from user.picture("overlay")

    versions = data.shown.picture_version, data.paths.version
    yield from user.wait(60)
    assert (data.shown.picture_version, data.paths.version) == versions, "the overlay makes itself anew without a reason"
    yield from changes(user, data)
    yield from unkeyed_stays(user, data)

    user.area().spaces.active.show_region_ui = False
    path = data.shown.path
    last_reached = int(np.flatnonzero(path.reach == REACHED)[-1])
    bpy.context.scene.frame_set(int(path.frames[last_reached]))  # the ring comes forward near a limit
    yield from user.wait(20)
    yield from seen(user, data, "orthographic")
    view = user.area().spaces.active.region_3d
    view.view_perspective, view.view_rotation = "PERSP", Euler((math.radians(70), 0, math.radians(25))).to_quaternion()
    yield from user.wait(10)
    assert view.is_perspective
    yield from seen(user, data, "perspective")


def changes(user, data):
    """Another frame changes the chain, another key the paths."""
    joints = data.shown.picture.joints
    bpy.context.scene.frame_set(12)
    yield from user.wait(10)
    assert not np.allclose(data.shown.picture.joints, joints), "another frame does not change the overlay"
    path = data.shown.path
    target = bpy.data.objects["Target"]
    target.location = (0.9, 0, 0.8)
    target.keyframe_insert("location", frame=30)
    yield from user.wait(60)
    assert data.shown.path is not path, "a new key does not change the paths"


def unkeyed_stays(user, data):
    """What the user has changed and not keyed yet is still there once the paths of a chain with keyed settings are made."""
    rig = bpy.data.objects["Rig"]
    chain, lower = rig.twobone.chains[0], rig.pose.bones["lower"]
    path, posed = data.shown.path, lower.location.copy()
    chain.keyframe_insert("bend", frame=1)
    lower.keyframe_insert("location", frame=1)
    yield from user.wait(60)
    assert data.shown.path is not path, "keys of a setting do not change the paths"
    chain.bend, lower.location = "NEGATIVE", (0, 0.1, 0)
    yield from user.wait(60)
    assert chain.bend == "NEGATIVE", "the overlay takes back a bend that is not keyed yet"
    assert lower.location.y > 0.05, "the overlay takes back a pose that is not keyed yet"
    chain.keyframe_delete("bend", frame=1)
    lower.keyframe_delete("location", frame=1)
    chain.bend, lower.location = "POSITIVE", posed
    yield from user.wait(60)


def seen(user, data, view):
    """Each part is seen at its places in its colour, and gone with its switch."""
    options = bpy.data.objects["Rig"].twobone
    options.show_overlay = False
    user.area().tag_redraw()
    yield from user.wait(10)
    without = yield from user.look(f"overlay_{view}_without")
    options.show_overlay = True
    user.area().tag_redraw()
    yield from user.wait(10)
    shown = yield from user.look(f"overlay_{view}")
    strong, faint = strong_places(user, data.shown), faint_places(user, data.shown)
    assert all(len(places) >= 3 for _, places in strong.values()), strong
    assert all(len(places) >= 3 for places in faint.values()), faint
    if shown is None:
        return  # no pictures can be taken here
    for part, (color, places) in strong.items():
        assert all(shown.shows(color, place) for place in places), f"{part} is not seen everywhere: {view}"
        assert not any(without.shows(color, place) for place in places), f"{part} stays when the overlay is off: {view}"
    for part, places in faint.items():
        assert all(shown.differs(without, place) for place in places), f"{part} is not seen everywhere: {view}"

    space = user.area().spaces.active
    space.overlay.show_overlays = False
    user.area().tag_redraw()
    yield from user.wait(10)
    off = yield from user.look(f"overlay_{view}_off")
    space.overlay.show_overlays = True
    for part, (color, places) in strong.items():
        assert not any(off.shows(color, place) for place in places), f"{part} stays without the viewport's overlays: {view}"


def strong_places(user, shown):
    """Colour of the theme, and places in the window, of what is drawn without transparency."""
    theme = bpy.context.preferences.themes[0]
    path, joints = shown.path, shown.picture.joints
    links = [first + part * (last - first) for first, last in pairwise(joints) for part in (0.3, 0.5, 0.8)]
    far = [place for place, reach in zip(path.targets, path.reach, strict=True) if reach == 1]
    near = [place for place, reach in zip(path.targets[::3], path.reach[::3], strict=True) if reach == REACHED]
    return {
        "the chosen solution": (tuple(theme.view_3d.bone_pose), visible(user, links)),
        "the way in reach": (tuple(theme.user_interface.axis_y), beside_links(user, shown, visible(user, near))),
        "the way out of reach": (tuple(theme.user_interface.axis_x), visible(user, far[1:])),
    }


def beside_links(user, shown, places):
    """Those places that the links, which are drawn over the ways, leave free."""
    parts = np.linspace(0, 1, 40)
    solutions = (shown.picture.joints, shown.picture.other_joints)
    links = [first + part * (last - first) for joints in solutions for first, last in pairwise(joints) for part in parts]
    covered = np.array([user.place_of(tuple(point)) for point in links])
    return [place for place in places if np.hypot(*(covered - place).T).min() > APART]


def faint_places(user, shown):
    """Places of what lets the viewport shine through."""
    picture = shown.picture
    other = picture.other_joints
    return {
        "the other solution": visible(user, [other[1] + part * (other[2] - other[1]) for part in (0.3, 0.5, 0.7)]),
        "the outer ring": visible(user, picture.reach_bounds[0][::8]),
        "the inner ring": visible(user, picture.reach_bounds[1][::16]),
        "an axis": visible(user, [picture.root + part * picture.axes[:, 0] for part in (0.3, 0.4, 0.6, 0.7)]),
    }


def visible(user, points):
    """Where points of the world are seen in the viewport, but for its edges."""
    region = user.region("WINDOW")
    places = [user.place_of(tuple(point)) for point in points]
    return [
        (x, y)
        for x, y in places
        if region.x + BESIDE < x < region.x + region.width - 2 * BESIDE
        and region.y + BESIDE / 2 < y < region.y + region.height - BESIDE
    ]


install_zip()
prepare()
play(scenario)
